"""`sum`, `min`, `max`, `any`, `all` and products of sequences that hold dynamic values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ...core.errors import NotSupported
from ...core.grammar import Const, Var
from ...core.sizes import Size, greatest, least
from ...ops.elementwise import result_dtype
from ...ops.table import ops
from ...ops.value import Value, value
from ..branches.branches import choose
from ..branches.casts import cast
from ..branches.conditions import branch, joined, negated, truth
from ..branches.joins import is_rounded
from ..branches.mixed import note_class
from ..branches.structures import Node, Slot
from ..calls.applying import apply_op, emit_named, prepared
from ..calls.array_calls import result_type
from ..library import first_items
from ..library.calls import call_library
from ..library.first_items import greatest_item, itself, least_item
from ..lists.joining import in_arrays
from ..lists.order_keys import keys_of, place_of_extreme
from ..lists.recorded import Part, RecordedList, all_parts_of, recorded
from ..objects.containers import iterated
from ..objects.in_order import are_sequences, compared_items
from ..objects.object_order import is_ordered_by_methods, ordering_key
from ..operators import binary
from ..raising.demand import static
from ..requests import Request
from ..values import DynamicRange, Lazy, contained, has_dynamic, is_number, stripped
from .ahead import Ahead
from .comprehensions import all_hold, collect, folded, listed, summed
from .iteration import Iteration, iteration_of
from .next_items import has_effects, key_of
from .producers import Producer

if TYPE_CHECKING:
    from ..findings import Findings
    from ..reader import Reader


def sum_of(reader: Reader, iterable: Any, start: Any = 0) -> Any:
    """`sum`."""
    if isinstance(iterable, Lazy | Producer):
        return summed(reader, iterable, start)
    if isinstance(iterable, DynamicRange):
        return _folded_in_order(reader, iterable, operator.add, start)
    iterable = listed(reader, iterable)
    if pieces := _of_several_types(reader, iterable):
        return reduce(lambda total, piece: sum_of(reader, piece, total), pieces, start)
    whole = None if isinstance(start, (list, tuple, RecordedList)) else as_whole(reader, iterable)
    if whole is not None:
        return _sum_of_whole(reader, whole, start)
    items = iterated(reader, iterable)
    if _is_zero(start) and len(items) > 1 and not _is_truth(items[0]):
        start, items = items[0], items[1:]
    for item in items:
        start = binary(reader, operator.add, start, item)
    return start


def _of_several_types(reader: Reader, items: Any) -> list[Any]:
    """The parts of a list with numbers of several dtypes or classes, of which an array would make one; else none."""
    parts = [part for part in all_parts_of(reader, items) if part != ()] if isinstance(items, RecordedList) else []
    types = {kind for part in parts for kind in _types_in(part)}
    if len(types) < 2 or None in types:
        return []
    return [recorded(reader, (part,)) if isinstance(part, Part) else part for part in parts]


def _types_in(part: tuple[Any, ...] | Part) -> set[Any]:
    """The dtypes of the numbers in a part, and whether they are Python's; None for what is no number."""
    if isinstance(part, Part):
        templates = [part.template.type if isinstance(part.template, Slot) else None]
    else:
        templates = [value(item).type if is_number(item) else None for item in part]
    return {None if type is None or type.sizes else (type.dtype, type.weak) for type in templates}


def _sum_of_whole(reader: Reader, whole: Value | RecordedList, start: Any) -> Any:
    array = _array_of(reader, whole)
    if array.ndim and array.shape[0] == 0:
        return start                                                 # whatever the items would be
    if _may_leave_64_bits(reader, array, whole):
        return _folded_in_order(reader, whole, operator.add, start)
    options = ({"axis": 0} if array.ndim > 1 else {}) | _folded_as_items(reader, np.sum, array, whole, start)
    total = _of_their_class(reader, apply_op(reader, np.sum, (array,), options), whole)
    return total if _is_zero(start) else binary(reader, operator.add, start, total)


def _folded_in_order(reader: Reader, items: Any, function: Callable[..., Any], start: Any) -> Any:
    return folded(reader, iteration_of(reader, items), partial(binary, reader, function), start)


def _may_leave_64_bits(reader: Reader, array: Value, whole: Value | RecordedList) -> bool:
    """Whether items are integers of Python's, which NumPy would let wrap around."""
    return array.dtype.kind == "i" and array.ndim == 1 and all_are_pythons(reader, whole)


def _folded_as_items(reader: Reader, function: Any, array: Value, whole: Value | RecordedList, start: Any
                    ) -> dict[str, Any]:
    """The dtype to fold in, if it is not NumPy's choice for the array: that of the start and an item, which neither get
    wider by themselves nor wrap around before they meet."""
    if all_are_pythons(reader, whole) or not is_number(start) and not isinstance(start, Value):
        return {}
    dtype = result_type(reader, start, array)
    return {} if dtype in (np.bool_, result_dtype(function, (array.dtype,))) else {"dtype": dtype}


def _is_zero(start: Any) -> bool:
    return isinstance(start, int) and start == 0


def _is_truth(item: Any) -> bool:
    """Whether an item is a truth value, or an array of them: 0 + True is an integer."""
    return isinstance(item, (bool, np.bool_)) or isinstance(item, Value) and item.dtype.kind == "b"


def as_whole(reader: Reader, iterable: Any) -> Value | RecordedList | None:
    """All items in arrays, where they are in some or more than can be listed."""
    if isinstance(iterable, (Value, RecordedList)):
        return iterable
    if isinstance(iterable, (list, tuple)):
        return None
    if isinstance(iterable, DynamicRange):
        return RecordedList.from_row(reader, True, prepared(reader, iterable))
    if isinstance(iterable, Iteration) and iterable.is_static:
        return None
    iteration = iteration_of(reader, iterable)
    if not isinstance(iteration.length, int):
        return reader.usable(collect(reader, iteration))
    return None


def _array_of(reader: Reader, whole: Value | RecordedList) -> Value:
    return whole if isinstance(whole, Value) else whole.array(reader)


def _of_their_class(reader: Reader, number: Value, whole: Value | RecordedList) -> Value:
    """What NumPy made of items: a number of Python's, as Python makes it, if all of them are."""
    if number.ndim or not all_are_pythons(reader, whole):
        return number
    return Value(cast(reader, number.atom, replace(number.type, weak=True)))


def all_are_pythons(reader: Reader, items: Any) -> bool:
    """Whether items are numbers of Python's, all of them."""
    return not isinstance(items, Value) and all(map(_are_pythons, all_parts_of(reader, items)))


def _are_pythons(part: tuple[Any, ...] | Part) -> bool:
    if isinstance(part, Part):
        return isinstance(part.template, Slot) and part.template.type.weak
    return all(value(item).type.weak for item in part)


def product_of(reader: Reader, iterable: Any, *, start: Any = 1) -> Any:
    """`math.prod`."""
    if isinstance(iterable, DynamicRange):
        return _folded_in_order(reader, iterable, operator.mul, start)
    iterable = listed(reader, iterable)
    if pieces := _of_several_types(reader, iterable):
        return reduce(lambda product, piece: product_of(reader, piece, start=product), pieces, start)
    whole = None if isinstance(iterable, Value) else as_whole(reader, iterable)
    if whole is not None and (array := _array_of(reader, whole)).ndim == 1:
        if _may_leave_64_bits(reader, array, whole):
            return _folded_in_order(reader, whole, operator.mul, start)
        product = apply_op(reader, np.prod, (array,), _folded_as_items(reader, np.prod, array, whole, start))
        return binary(reader, operator.mul, start, _of_their_class(reader, product, whole))
    for item in iterated(reader, iterable):
        start = binary(reader, operator.mul, start, item)
    return start


def any_of(reader: Reader, iterable: Any) -> Any:
    return _tested(reader, iterable, np.any, False)


def all_of(reader: Reader, iterable: Any) -> Any:
    return _tested(reader, iterable, np.all, True)


def _tested(reader: Reader, iterable: Any, function: Callable[..., Any], is_all: bool) -> Any:
    """All items are computed, unless it matters that Python stops at the first that decides: where one binds or changes
    something, or may raise an error."""
    is_generator = isinstance(iterable, Lazy | Producer)
    if is_generator and (key_of(iterable) in reader.findings.stopping or _binds(iterable)):
        hold = all_hold(reader, iterable, is_all)
        return hold if is_all else negated(reader, hold)
    ahead, block, start = Ahead(reader, (iterable,)), reader.builder.block, len(reader.builder.block)
    result = _joined(reader, listed(reader, iterable), function, is_all)
    if not is_generator:
        ahead.check_computed()
    elif ahead.has_changed() or has_effects(reader, block[start:]):
        raise Stops(key_of(iterable))
    return result


class Stops(Request):
    """It matters that `any` or `all` stop within the generator with this key."""

    def note(self, findings: Findings) -> None:
        findings.stopping.add(self.key)


def _binds(items: Lazy | Producer) -> bool:
    return isinstance(items, Lazy) and any(isinstance(part, gast.NamedExpr) for part in gast.walk(items.node))


def _joined(reader: Reader, iterable: Any, function: Callable[..., Any], is_all: bool) -> Any:
    whole = as_whole(reader, iterable)
    if whole is not None:
        return apply_op(reader, bool, (apply_op(reader, function, (_array_of(reader, whole),), {}),), {})
    result: Any = is_all
    for item in iterated(reader, iterable):
        result = joined(reader, result, truth(reader, item), is_all)
    is_numpys = isinstance(result, Value) and not result.type.weak
    return apply_op(reader, bool, (result,), {}) if is_numpys else result


def least_of(reader: Reader, *args: Any, **options: Any) -> Any:
    return _extreme(reader, args, options, min)


def greatest_of(reader: Reader, *args: Any, **options: Any) -> Any:
    return _extreme(reader, args, options, max)


def _extreme(reader: Reader, args: tuple[Any, ...], options: dict[str, Any], function: Any) -> Any:
    """`min` or `max`, of the arguments or of the items of the only one."""
    if len(args) == 1 and "default" in options:
        return _extreme_if_any(reader, listed(reader, args[0]), options, function)
    if options.get("key") is not None:
        return _extreme_by_key(reader, args[0] if len(args) == 1 else list(args), options, function)
    given = args if len(args) == 1 else (list(args),)
    objects = listed(reader, given[0])
    if is_ordered_by_methods(reader, objects):
        return call_library(reader, least_item if function is min else greatest_item, (objects,), {})
    key = ordering_key(reader, objects, None)
    if key is not None:
        return _extreme_by_key(reader, objects, {**options, "key": key}, function)
    args = (objects,) if len(args) == 1 else args
    whole = as_whole(reader, args[0]) if len(args) == 1 else None
    if whole is not None and (array := _array_of(reader, whole)).ndim == 1:
        extreme = apply_op(reader, np.min if function is min else np.max, (array,), {})
        return _of_their_class(reader, extreme, whole)
    if isinstance(whole, RecordedList) and _are_sequences(reader, whole):
        return _extreme_by_key(reader, whole, {**options, "key": itself}, function)
    items = iterated(reader, args[0]) if len(args) == 1 else list(args)
    if not has_dynamic(items) or options:
        known = [static(reader, item, f"an argument of {function.__name__}") for item in items]
        return function(known, **_as_functions(reader, options))
    return _folded(reader, items, function)


def _are_sequences(reader: Reader, items: RecordedList) -> bool:
    """Whether items are tuples or lists, of which the first numbers that differ decide."""
    return all(_is_sequence(part.template if isinstance(part, Part) else part[0])
               for part in all_parts_of(reader, items) if part != ())


def _is_sequence(item: Any) -> bool:
    return issubclass(item.cls, (tuple, list)) if isinstance(item, Node) else isinstance(item, (tuple, list))


def extreme_of_more(reader: Reader, function: Any, args: list[Any], starred: Any) -> Any:
    """``max(a, *items)``, with as many items as the program finds."""
    return call_library(reader, first_items.extreme_of_more, (function, args, starred), {})


def _extreme_if_any(reader: Reader, items: Any, options: dict[str, Any], function: Any) -> Any:
    """The extreme of items, or the default where there are none, which the program may have to find."""
    options = dict(options)
    default, length = options.pop("default"), iteration_of(reader, items).length
    found = partial(_extreme, reader, (items,), options, function)
    assumptions = reader.assumptions
    if length == 0 or not isinstance(length, int) and assumptions.at_least(0, length):
        return default
    if isinstance(length, int) or assumptions.at_least(length, 1):
        return found()
    return choose(reader, truth(reader, binary(reader, operator.gt, length, 0)), found, lambda: default)


def _extreme_by_key(reader: Reader, items: Any, options: dict[str, Any], function: Any) -> Any:
    """The first item for which the key is the least or greatest."""
    is_least = function is min
    if isinstance(items, Iteration):
        items = reader.usable(collect(reader, iteration_of(reader, items)))
    whole = iteration_of(reader, items)
    if not isinstance(whole.length, int) or isinstance(items, Value) and whole.length:
        return _at(reader, whole, place_of_extreme(reader, keys_of(reader, whole, options["key"]), is_least))
    if not whole.length:
        return function([])
    found = iterated(reader, whole)
    keys = [reader.call(options["key"], (item,), {}) for item in found]  # once for each item: a key may have effects
    if not has_dynamic(keys):
        return found[keys.index(function(map(stripped, keys)))]
    columns = in_arrays(reader, keys)
    if columns is None:
        raise NotSupported(f"{function.__name__} by keys of different types is not supported", reader.builder.origin,
                           instead="Convert the keys to one type.")
    return _at(reader, whole, place_of_extreme(reader, columns, is_least))


def _at(reader: Reader, whole: Iteration, place: Any) -> Any:
    if not whole.is_static:
        return whole.element(place)
    items = iterated(reader, whole)
    rows = in_arrays(reader, items, objects=True)
    if rows is not None:
        return rows.item(reader, place)
    if any(isinstance(item, str) for item in contained(items)):
        raise NotSupported(
            "a string that is selected by computed values is not supported",
            reader.builder.origin,
            why="Strings, such as the keys of a dictionary, must be known when the function is transformed.",
            instead="Select among the values, max(d.values()), or use their position: np.argmax(list(d.values())).",
        )
    return reader.call(np.array, (items,), {})[place]


def _as_functions(reader: Reader, options: dict[str, Any]) -> dict[str, Any]:
    key = options.get("key")
    called = {"key": lambda item: stripped(reader.call(key, (item,), {}))} if key is not None else {}
    return {**options, **called}


def _folded(reader: Reader, items: list[Any], function: Any) -> Any:
    result = items[0]
    for item in items[1:]:
        if are_sequences(result, item):
            result = _first_of(reader, operator.lt if function is min else operator.gt, item, result)
        elif all(isinstance(value, (int, Size)) for value in (result, item)):
            result = (least if function is min else greatest)(result, item)
        else:
            name = "minimum" if function is min else "maximum"
            given = [value(result).atom, value(item).atom]
            pair = _of_one_type(reader, name, function.__name__, (result, item))
            result = _scalar(reader, emit_named(name, pair, function.__name__))
            if isinstance(result.atom, Var):
                note_class(reader, result.atom, *given)
    return result


def _first_of(reader: Reader, order: Callable[..., Any], item: Any, result: Any) -> Any:
    """The item if it comes before the result so far in this order."""
    return branch(reader, compared_items(reader, order, item, result), lambda: item, lambda: result)


def _of_one_type(reader: Reader, name: str, function: str, pair: tuple[Any, Any]) -> tuple[Any, ...]:
    """Two numbers, of which Python would hand on one as it is: if one is NumPy's, both become so, unless that
    changes a number. Of two of NumPy's the dtype would depend on which is handed on."""
    operands = [value(item) for item in pair]
    if not any(operand.type.weak or operand.ndim for operand in operands) and operands[0].dtype != operands[1].dtype:
        raise NotSupported(f"{function} of {operands[0].type} and {operands[1].type} is not supported",
                           reader.builder.origin,
                           why="Python returns one of the operands unchanged, so the dtype of the result would depend "
                               "on their values.", instead=f"Write np.{name}, or convert one operand: np.float64(x).")
    if any(operand.ndim for operand in operands) or all(operand.type.weak for operand in operands):
        return pair
    common = ops()[name].types(*(operand.type for operand in operands))
    rounded = [operand.atom for operand in operands if is_rounded(operand.atom, common)]
    if rounded and reader.guessing.now and not any(isinstance(atom, Const) for atom in rounded):
        reader.guessing.allowed = True                                   # it may be NumPy's in the end
    elif rounded:
        raise NotSupported(f"{function} of {operands[0].type} and {operands[1].type} is not supported",
                           reader.builder.origin,
                           why=f"Python returns one of the operands unchanged, and {common} cannot represent the "
                               "Python number exactly.",
                           instead=f"Write np.{name}, or convert the Python number: np.float32(0.1).")
    return tuple(Value(cast(reader, operand.atom, common)) for operand in operands)


def _scalar(reader: Reader, result: Value) -> Value:
    if result.ndim:
        truth(reader, result)  # raises as Python does: the comparison is ambiguous
    return result
