"""Functions that have a meaning of their own while a function is read: `len`, `range`, `isinstance`, …"""

from __future__ import annotations

import functools
import math
import operator
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import tree
from ..core.errors import BadArgument, NotSupported
from ..core.grammar import Const
from ..core.sizes import Size
from ..ops import indexing
from ..ops.value import Value
from .applying import apply_op, prepared
from .attributes import attribute, has_attribute, set_attribute, static_type
from .comprehensions import collect, collected, folded
from .conditions import truth
from .containers import iterated
from .demand import need, static
from .effects import print_call, warn_call
from .errors import as_user_error
from .folds import all_of, any_of, greatest_of, least_of, product_of, sum_of
from .iteration import Iteration, enumerated, iteration_of, made_range, turned, zipped
from .recorded import RecordedList, Recording
from .texts import as_text, formatted, text_of
from .values import (
    UNKNOWN,
    ArrayMethod,
    Closure,
    ContainerMethod,
    DynamicRange,
    Lazy,
    Text,
    has_dynamic,
    known_of,
    stripped,
)

if TYPE_CHECKING:
    from .reader import Reader


def length(reader: Reader, value: Any) -> Any:
    """`len`."""
    if isinstance(value, Value):
        if not value.ndim:
            raise TypeError("len() of unsized object")
        return value.shape[0]
    if isinstance(value, (RecordedList, Recording)):
        return value.length(reader)
    if isinstance(value, DynamicRange | Iteration):
        return iteration_of(reader, value).length
    user = getattr(type(value), "__len__", None)
    return reader.call(user, (value,), {}) if hasattr(user, "__code__") else len(value)


def is_instance(reader: Reader, value: Any, kinds: Any) -> bool:
    """`isinstance`; of a dynamic value by its type."""
    if isinstance(value, (Value, Size)):
        kind = static_type(value)
        return issubclass(kind, kinds) or kind is np.bool_ and issubclass(bool, kinds)
    if isinstance(value, (RecordedList, Recording)):
        return issubclass(list, kinds)
    if isinstance(value, Text):
        return issubclass(str, kinds)
    if isinstance(value, (Closure, ContainerMethod, ArrayMethod)):
        return issubclass(type(length), kinds)
    return isinstance(value, kinds)


def type_of_value(reader: Reader, value: Any) -> Any:
    return static_type(value) if isinstance(value, (Value, Size)) else type(value)


def get_attribute(reader: Reader, value: Any, name: Any, *default: Any) -> Any:
    """`getattr`."""
    name = static(reader, name, "the name of an attribute")
    if default and not has_attribute(reader, value, name):
        return default[0]
    return attribute(reader, value, name)


def asked_attribute(reader: Reader, value: Any, name: Any) -> bool:
    """`hasattr`."""
    return has_attribute(reader, value, static(reader, name, "the name of an attribute"))


def store_attribute(reader: Reader, owner: Any, name: Any, value: Any) -> None:
    set_attribute(reader, owner, static(reader, name, "the name of an attribute"), value)


def absolute(reader: Reader, value: Any) -> Any:
    """`abs`."""
    if isinstance(value, Size) and reader.assumptions.certainly_at_least(value, 0):
        return value
    return apply_op(reader, abs, (value,), {})


def _number(kind: type) -> Callable[..., Any]:
    def convert(reader: Reader, *args: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], Value) and known_of(args[0]) is UNKNOWN:
            return truth(reader, args[0]) if kind is bool else _to_python(reader, kind, args[0])
        if len(args) == 1 and isinstance(args[0], Size):
            return args[0] if kind is int else apply_op(reader, kind, args, {})
        if args and isinstance(args[0], (Lazy, RecordedList)) or kind is bool and args:
            return truth(reader, args[0])
        if UNKNOWN in map(known_of, args):
            parts = "complex(re, im)" if kind is complex else f"{kind.__name__} of {len(args)} arguments"
            raise NotSupported(parts, instead="Write re + 1j * im." if kind is complex else None)
        return _printable(kind(*map(known_of, args)))

    return convert


def _printable(number: Any) -> Any:
    """The number; `inf` and `nan` with a name that stands for them in source."""
    if type(number) is float and not math.isfinite(number):
        name = "np.nan" if math.isnan(number) else "np.inf" if number > 0 else "-np.inf"
        return Value(Const(number, name=name), known=number)
    return number


def _to_python(reader: Reader, kind: type, value: Value) -> Any:
    if value.ndim and all(size == 1 for size in value.shape):
        value = apply_op(reader, operator.getitem, (value, (0,) * value.ndim), {})
    return apply_op(reader, kind, (value,), {})


def text(reader: Reader, value: Any = "") -> Any:
    """`str`."""
    return as_text(value) if has_dynamic(value) or isinstance(value, Text) else str(stripped(value))


def representation(reader: Reader, value: Any) -> Any:
    return text_of([formatted(value, "r")])


def format_value(reader: Reader, value: Any, spec: str = "") -> Any:
    return text_of([formatted(value, "", spec)])


def made_list(reader: Reader, *args: Any) -> Any:
    """`list`."""
    if not args:
        return reader.own([])
    if isinstance(args[0], Lazy):
        return collected(reader, args[0])
    iteration = iteration_of(reader, args[0])
    if iteration.is_static or isinstance(iteration.length, int):
        return reader.own(iterated(reader, iteration))
    return collect(reader, iteration)


def made_tuple(reader: Reader, *args: Any) -> Any:
    return tuple(iterated(reader, args[0])) if args else ()


def made_set(reader: Reader, *args: Any) -> Any:
    items = iterated(reader, args[0]) if args else []
    return reader.own({static(reader, item, "an item of a set") for item in items})


def made_dict(reader: Reader, *args: Any, **items: Any) -> Any:
    """`dict`."""
    made: dict[Any, Any] = {}
    if args and isinstance(args[0], dict):
        made.update({key: attribute_item(reader, args[0], key) for key in args[0]})
    elif args:
        for pair in iterated(reader, args[0]):
            key, value = iterated(reader, pair)
            made[static(reader, key, "a key of a dictionary")] = value
    made.update(items)
    return reader.own(made)


def attribute_item(reader: Reader, container: Any, key: Any) -> Any:
    from .containers import item

    return item(reader, container, key)


def mapped(reader: Reader, function: Any, *iterables: Any) -> Iteration:
    """`map`."""
    parts = iteration_of(reader, zipped(reader, *iterables))
    return Iteration(
        parts.length, lambda k: reader.call(function, parts.element(k), {}), parts.is_static, held=(parts, function)
    )


def filtered(reader: Reader, function: Any, iterable: Any) -> Any:
    """`filter`, by conditions that are known."""
    kept = []
    for item in iterated(reader, iterable):
        cond = truth(reader, item if function is None else reader.call(function, (item,), {}))
        if static(reader, cond, "the condition of `filter`", "Use a boolean mask: x[x > 0]."):
            kept.append(item)
    return reader.own(kept)


def ordered(reader: Reader, iterable: Any, *, key: Any = None, reverse: Any = False) -> Any:
    """`sorted`, of what is known."""
    if isinstance(iterable, Value):
        return apply_op(reader, np.sort, (iterable,), {})
    items = iterated(reader, iterable)
    keys = items if key is None else [reader.call(key, (item,), {}) for item in items]
    keys = [
        static(reader, item, "what is sorted", "Use np.sort on an array.")
        if not isinstance(item, tuple)
        else _known_tuple(reader, item)
        for item in keys
    ]
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=bool(known_of(reverse)))
    return reader.own([items[k] for k in order])


def _known_tuple(reader: Reader, item: Any) -> Any:
    if has_dynamic(item):
        need(reader, next(part for part in item if known_of(part) is UNKNOWN), "what is sorted")
    return stripped(item)


def reduced(reader: Reader, function: Any, iterable: Any, *start: Any) -> Any:
    """`functools.reduce`."""
    whole = rest = iteration_of(reader, iterable)
    if not start:
        if isinstance(whole.length, int) and not whole.length:
            raise TypeError("reduce() of empty iterable with no initial value")
        rest = Iteration(whole.length - 1, lambda k: whole.element(_next(reader, k)), whole.is_static, held=(whole,))
        start = (whole.element(0),)
    return folded(reader, rest, lambda a, b: reader.call(function, (a, b), {}), start[0])


def _next(reader: Reader, k: Any) -> Any:
    return k + 1 if isinstance(k, int) else apply_op(reader, operator.add, (k, 1), {})


def copy_to(reader: Reader, dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """`np.copyto`."""
    from .assignment import check_cast, write_item

    if where is not True:
        raise NotSupported("np.copyto with where", instead="Write x[mask] = y[mask].")
    source = prepared(reader, src)
    if isinstance(source, Value):
        check_cast(reader, source, dst.dtype, casting)
    write_item(reader, dst, ..., source)


def add_at(reader: Reader, array: Any, index: Any, values: Any) -> None:
    """`np.add.at`."""
    if not isinstance(array, Value):
        raise BadArgument("np.add.at on what is not an array", reader.builder.origin)
    with as_user_error(reader):
        new = indexing.add_at(Value(array.atom), prepared(reader, values), prepared(reader, index))
    reader.write(array, new.atom)


def shape_of(reader: Reader, value: Any) -> Any:
    """`np.shape`."""
    value = prepared(reader, value)
    if isinstance(value, Value):
        return value.shape
    return (
        ()
        if isinstance(value, Size)
        else np.shape(value)
        if not has_dynamic(value)
        else apply_op(reader, np.array, (value,), {}).shape
    )


def rank_of(reader: Reader, value: Any) -> int:
    return len(shape_of(reader, value))


def size_of(reader: Reader, value: Any, axis: Any = None) -> Any:
    """`np.size`."""
    shape = shape_of(reader, value)
    return math.prod(shape) if axis is None else shape[static(reader, axis, "an axis")]


def result_type(reader: Reader, *args: Any) -> Any:
    """`np.result_type`, of dynamic values by their types."""
    from ..ops.elementwise import weak_or_dtype

    python = {int: 0, float: 0.0, complex: 0j}
    kinds = [weak_or_dtype(arg.type) if isinstance(arg, Value) else 0 if isinstance(arg, Size) else arg for arg in args]
    return np.result_type(*(python.get(kind, kind) if isinstance(kind, type) else kind for kind in kinds))


def map_tree(reader: Reader, function: Any, first: Any, *rest: Any) -> Any:
    """`transformer.tree.map`."""
    return tree.map(lambda *parts: reader.call(function, parts, {}), first, *rest)


def next_item(reader: Reader, *args: Any) -> Any:
    raise NotSupported("`next`", reader.builder.origin, instead="Index the sequence: xs[0].")


def made_named_tuple(reader: Reader, cls: Any, items: Any = ()) -> Any:
    """`tuple.__new__`, with which named tuples are made and replaced."""
    return tuple.__new__(cls, iterated(reader, items))


def is_callable(reader: Reader, value: Any) -> bool:
    return callable(value) or isinstance(value, (ArrayMethod, ContainerMethod))


BUILTINS: dict[Any, Callable[..., Any]] = {
    len: length,
    isinstance: is_instance,
    type: type_of_value,
    getattr: get_attribute,
    hasattr: asked_attribute,
    setattr: store_attribute,
    object.__setattr__: store_attribute,
    abs: absolute,
    operator.abs: absolute,
    int: _number(int),
    float: _number(float),
    complex: _number(complex),
    bool: _number(bool),
    str: text,
    repr: representation,
    format: format_value,
    list: made_list,
    tuple: made_tuple,
    set: made_set,
    dict: made_dict,
    range: made_range,
    zip: zipped,
    enumerate: enumerated,
    reversed: turned,
    map: mapped,
    filter: filtered,
    sorted: ordered,
    functools.reduce: reduced,
    sum: sum_of,
    min: least_of,
    max: greatest_of,
    any: any_of,
    all: all_of,
    math.prod: product_of,
    print: print_call,
    warnings.warn: warn_call,
    iter: lambda reader, value: value,
    next: next_item,
    callable: is_callable,
    tuple.__new__: made_named_tuple,
    np.copyto: copy_to,
    np.add.at: add_at,
    np.shape: shape_of,
    np.ndim: rank_of,
    np.size: size_of,
    np.result_type: result_type,
    tree.map: map_tree,
}
