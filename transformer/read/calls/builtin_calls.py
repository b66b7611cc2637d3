"""Functions that have a meaning of their own while a function is read: `len`, `range`, `isinstance`, …"""

from __future__ import annotations

import copy
import functools
import math
import operator
import types
import warnings
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.grammar import Const
from ...core.sizes import Size
from ...ops.value import Value
from .. import ratios
from ..branches.asked_classes import note_question
from ..branches.conditions import negated, truth
from ..kinds import python_type, stands_for_another, type_name
from ..library.calls import call_library
from ..library.numbers import power_modulo
from ..lists.item_places import check_filled
from ..lists.recorded import RecordedList, Recording
from ..loops.comprehensions import collect, collected, folded, listed
from ..loops.folds import all_of, any_of, greatest_of, least_of, product_of, sum_of
from ..loops.iteration import Iteration, behind, enumerated, iteration_of, iterator, runs_once, turned, zipped
from ..loops.iterators import ITERATORS
from ..loops.next_items import next_item
from ..loops.producers import Producer, collected_items
from ..loops.ranges import made_range
from ..objects import copying, records
from ..objects.attributes import (
    attribute,
    attributes_of,
    delete_attribute,
    drop_attribute,
    has_attribute,
    no_such_rule,
    set_attribute,
)
from ..objects.containers import iterated
from ..objects.deques import made_deque
from ..objects.keys import ITEM, KEY, hashed
from ..objects.objects import hold_dynamic
from ..objects.selections import filtered, ordered
from ..raising import logs
from ..raising.demand import need, static
from ..raising.effects import breakpoint_call, print_call, warn_call
from ..raising.texts import as_text, formatted, text_of
from ..sharing import share_memory
from ..values import (
    UNKNOWN,
    ArrayMethod,
    ContainerMethod,
    DynamicRange,
    ExceptionValue,
    Lazy,
    OrNone,
    Text,
    has_dynamic,
    known_of,
    stripped,
)
from . import clocks
from .applying import apply_op
from .array_calls import add_at, copy_to, hypotenuse, is_scalar, rank_of, result_type, shape_of, size_of
from .operator_calls import OPERATORS
from .tree_calls import TREES

if TYPE_CHECKING:
    from ..reader import Reader


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
    if isinstance(value, Text):
        return need(reader, value, "a string whose length is used")
    if isinstance(value, Value) and not value.ndim or isinstance(value, Size):
        raise TypeError(f"object of type '{type_name(value)}' has no len()")
    user = getattr(type(value), "__len__", None)
    return reader.call(user, (value,), {}) if hasattr(user, "__code__") else len(value)


def is_instance(reader: Reader, value: Any, kinds: Any) -> bool:
    """`isinstance`; of a dynamic value by its type."""
    kind, found = python_type(value), isinstance(value, kinds)
    if stands_for_another(value) and not found and not _are_of_others(kinds):
        raise no_such_rule(reader, value, "the class")
    note_question(reader, value, "isinstance", lambda each: issubclass(each, kinds))
    return found if kind is type(value) else issubclass(kind, kinds) or _are_on_devices(kind, kinds)


def _are_of_others(kinds: Any) -> bool:
    """Whether no object of SciPy's, of which some are dictionaries, is of these classes."""
    return all(each is not dict and getattr(each, "__module__", "") in ("builtins", "numpy")
               for each in (kinds if isinstance(kinds, tuple) else (kinds,)))


def _isinstance(reader: Reader, value: Any, kinds: Any) -> Any:
    if not isinstance(value, OrNone):
        return is_instance(reader, value, kinds)
    found, of_none = is_instance(reader, value.item, kinds), isinstance(None, kinds)
    return found if found == of_none else negated(reader, value.there) if of_none else value.there


def _are_on_devices(kind: Any, kinds: Any) -> bool:
    """Whether arrays on devices are meant: a program is read for them as for NumPy's."""
    return issubclass(kind, (np.ndarray, np.generic)) and any(
        getattr(each, "is_on_device", False) for each in (kinds if isinstance(kinds, tuple) else (kinds,)))


def type_of_value(reader: Reader, value: Any) -> Any:
    if stands_for_another(value):
        raise no_such_rule(reader, value, "the class")
    note_question(reader, value, "type", lambda each: each)
    return python_type(value)


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
    from ..assignment import assign_attribute

    name = static(reader, name, "the name of an attribute")
    if isinstance(owner, Value):
        assign_attribute(reader, owner, name, value)
    else:
        set_attribute(reader, owner, name, value)


def remove_attribute(reader: Reader, owner: Any, name: Any) -> None:
    delete_attribute(reader, owner, static(reader, name, "the name of an attribute"))


def nothing_to_set(reader: Reader, owner: Any, /) -> None:
    """`object.__init__`, as `super().__init__()` calls it."""


def absolute(reader: Reader, value: Any) -> Any:
    """`abs`."""
    if isinstance(value, Size) and reader.assumptions.certainly_at_least(value, 0):
        return value
    return apply_op(reader, abs, (value,), {})


def _number(kind: type) -> Callable[..., Any]:
    def convert(reader: Reader, *args: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], Value) and known_of(args[0]) is UNKNOWN:
            return _to_python(reader, kind, args[0])
        if len(args) == 1 and isinstance(args[0], Size):
            return args[0] if kind is int else apply_op(reader, kind, args, {})
        if args and isinstance(args[0], (Lazy, RecordedList)) or kind is bool and args:
            return truth(reader, args[0])
        if UNKNOWN in map(known_of, args):
            if kind is complex and len(args) == 2:
                return apply_op(reader, complex, args, {})
            args = tuple(static(reader, arg, f"an argument of {kind.__name__}") for arg in args)
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
    size = ratios.whole(reader, value) if kind is int else None
    return apply_op(reader, kind, (value,), {}) if size is None else size


def text(reader: Reader, value: Any = "") -> Any:
    """`str`."""
    is_known = not (has_dynamic(value) or isinstance(value, (Text, ExceptionValue)) or hold_dynamic(value))
    return str(stripped(value)) if is_known else as_text(value)


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
    if isinstance(args[0], Producer):
        return collected_items(reader, args[0])
    if isinstance(args[0], Iteration) and args[0].items is not None:
        return listed(reader, args[0])
    iteration = iteration_of(reader, args[0])
    if iteration.is_static or isinstance(iteration.length, int):
        return reader.own(iterated(reader, iteration))
    if isinstance(args[0], DynamicRange) and iteration.counts:
        return RecordedList.from_row(reader, True, apply_op(reader, np.arange, (iteration.length,), {}))
    return collect(reader, iteration)


def made_tuple(reader: Reader, *args: Any) -> Any:
    return tuple(iterated(reader, args[0])) if args else ()


def made_set(reader: Reader, *args: Any) -> Any:
    items = iterated(reader, args[0]) if args else []
    return reader.own({hashed(reader, item, ITEM) for item in items})


def made_dict(reader: Reader, *args: Any, **items: Any) -> Any:
    """`dict`."""
    made: dict[Any, Any] = {}
    if args and isinstance(args[0], dict):
        made.update({key: attribute_item(reader, args[0], key) for key in args[0]})
    elif args:
        for pair in iterated(reader, args[0]):
            key, value = iterated(reader, pair)
            made[hashed(reader, key, KEY)] = value
    made.update(items)
    return reader.own(made)


def attribute_item(reader: Reader, container: Any, key: Any) -> Any:
    from ..objects.containers import item

    return item(reader, container, key)


def mapped(reader: Reader, function: Any, *iterables: Any) -> Iteration:
    """`map`."""
    parts = iteration_of(reader, zipped(reader, *iterables))
    return Iteration(
        parts.length, lambda k: reader.call(function, parts.element(k), {}), parts.is_static, held=(parts, function)
    )


def reduced(reader: Reader, function: Any, iterable: Any, *start: Any) -> Any:
    """`functools.reduce`."""
    whole = rest = iteration_of(reader, iterable)
    if not start:
        check_filled(reader, whole.length, TypeError, "reduce() of empty iterable with no initial value")
        rest = behind(reader, whole, 1)
        start = (whole.element(0),)
    return folded(reader, rest, lambda a, b: reader.call(function, (a, b), {}), start[0])


def made_named_tuple(reader: Reader, cls: Any, items: Any = ()) -> Any:
    """`tuple.__new__`, with which named tuples are made and replaced."""
    return tuple.__new__(cls, iterated(reader, items))


def is_callable(reader: Reader, value: Any) -> bool:
    return callable(value) or isinstance(value, (ArrayMethod, ContainerMethod))


def made_vectorize(reader: Reader, pyfunc: Any, otypes: Any = None, doc: Any = None, **options: Any) -> Any:
    """`np.vectorize`, of a function that is read."""
    return np.vectorize(pyfunc, otypes=otypes, **options)


def made_slice(reader: Reader, *parts: Any) -> slice:
    return slice(*parts)


def _from_keys(reader: Reader, keys: Any, value: Any = None) -> Any:
    """`dict.fromkeys`."""
    return reader.own({hashed(reader, key, KEY): value for key in iterated(reader, keys)})


def power(reader: Reader, base: Any, exp: Any, mod: Any = None) -> Any:
    """`pow`."""
    if mod is None:
        return apply_op(reader, pow, (base, exp), {})
    if not all(issubclass(python_type(number), int) for number in (base, exp, mod)):
        raise TypeError("pow() 3rd argument not allowed unless all arguments are integers")
    return call_library(reader, power_modulo, (base, exp, mod), {})


BUILTINS: dict[Any, Callable[..., Any]] = {
    **{function: runs_once(make, function) for function, make in ITERATORS.items()},
    **OPERATORS,
    np.vectorize: made_vectorize,
    deque: made_deque,
    math.hypot: hypotenuse,
    dict.fromkeys: _from_keys,
    len: length,
    isinstance: _isinstance,
    type: type_of_value,
    getattr: get_attribute,
    object.__getattribute__: get_attribute,
    hasattr: asked_attribute,
    setattr: store_attribute,
    object.__setattr__: store_attribute,
    delattr: remove_attribute,
    object.__delattr__: drop_attribute,
    BaseException.__setattr__: store_attribute,
    types.SimpleNamespace.__setattr__: store_attribute,
    object.__init__: nothing_to_set,
    abs: absolute,
    pow: power,
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
    slice: made_slice,
    zip: runs_once(zipped, zip),
    enumerate: runs_once(enumerated, enumerate),
    reversed: runs_once(turned),
    map: runs_once(mapped, map),
    filter: runs_once(filtered, filter),
    sorted: ordered,
    functools.reduce: reduced,
    sum: sum_of,
    min: least_of,
    max: greatest_of,
    any: any_of,
    all: all_of,
    math.prod: product_of,
    math.floor: ratios.floor,
    math.ceil: ratios.ceil,
    print: print_call,
    breakpoint: breakpoint_call,
    warnings.warn: warn_call,
    iter: iterator,
    next: next_item,
    callable: is_callable,
    **records.CALLS,
    **logs.CALLS,
    **clocks.CALLS,
    vars: attributes_of,
    copy.copy: copying.shallow,
    copy.deepcopy: copying.deep,
    tuple.__new__: made_named_tuple,
    np.copyto: copy_to,
    np.add.at: add_at,
    np.shape: shape_of,
    np.ndim: rank_of,
    np.isscalar: is_scalar,
    np.size: size_of,
    np.result_type: result_type,
    np.shares_memory: share_memory,
    np.may_share_memory: share_memory,
    **TREES,
}
