"""Operators on static values, sizes, dynamic values and objects of user classes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ..core.errors import BadArgument, NotSupported, as_raised
from ..core.halves import NumpyNumber
from ..core.sizes import Size, quotient
from ..ops.value import Value
from .branches.or_none import needed, settled
from .calls.applying import apply_op
from .kinds import type_name
from .lists.recorded import RecordedList, Recording, combined
from .objects.equality import compared_objects
from .objects.in_order import are_mappings, are_sequences, compared_items, compared_mappings
from .objects.keys import hashed
from .objects.objects import ATTRIBUTES, made_of
from .objects.special_methods import answered_by_class, users_special, users_unary
from .raising.blame import advice, as_numpy_raises
from .raising.demand import Unroll, static
from .raising.errors import as_user_error
from .raising.percent import filled, is_made_here
from .values import (
    UNKNOWN,
    DynamicRange,
    Lazy,
    OrNone,
    Producer,
    Text,
    cell_of,
    contained,
    has_dynamic,
    is_array,
    is_number,
    known_of,
    stripped,
)

if TYPE_CHECKING:
    from .reader import Reader

BINARY: dict[type, Callable[[Any, Any], Any]] = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
}
UNARY: dict[type, Callable[[Any], Any]] = {
    gast.USub: operator.neg,
    gast.UAdd: operator.pos,
    gast.Invert: operator.invert,
}
COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
}
COMPARISONS = frozenset(COMPARE.values())
ORDERS = {operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">="}

NUMERIC = (bool, int, float, complex, NumpyNumber)


def binary(reader: Reader, function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """`left op right`."""
    left, right = needed(reader, left), needed(reader, right)
    done = compared_objects(reader, function, left, right) if function in COMPARISONS else UNKNOWN
    if done is not UNKNOWN:
        return done
    done = answered_by_class(reader, function, left, right)
    if done is not UNKNOWN:
        return done
    if function in (operator.eq, operator.ne) and are_mappings(left, right):
        return compared_mappings(reader, function, left, right)
    if isinstance(left, Text) or isinstance(right, Text):
        return _on_dynamic_text(reader, function, left, right)
    if function is operator.mod and isinstance(left, str) and any(map(is_made_here, contained(right))):
        return filled(reader, left, right)
    if isinstance(left, (RecordedList, list, tuple)) or isinstance(right, (RecordedList, list, tuple)):
        return _on_sequences(reader, function, left, right)
    if isinstance(left, str) or isinstance(right, str):
        return _on_text(reader, function, left, right)
    if isinstance(left, Size) or isinstance(right, Size):
        done = on_sizes(reader, function, left, right)
        if done is not UNKNOWN:
            return done
    if function in ORDERS and _is_pythons_complex(left) and _is_pythons(right) or (
            function in ORDERS and _is_pythons_complex(right) and _is_pythons(left)):
        raise _not_ordered(reader, function, left, right)
    if isinstance(left, Value) or isinstance(right, Value) or _is_symbolic(left, right):
        return apply_op(reader, function, (left, right), {})
    return on_static(reader, function, left, right)


def _not_ordered(reader: Reader, function: Callable[..., Any], left: Any, right: Any) -> Exception:
    names = " and ".join(repr(type_name(operand)) for operand in (left, right))
    text = f"'{ORDERS[function]}' not supported between instances of {names}"
    return as_raised(TypeError(text), reader.builder.origin, "Compare real parts, or absolute values.")


def _is_pythons(operand: Any) -> bool:
    return operand.type.weak if isinstance(operand, Value) else isinstance(operand, NUMERIC[:4])


def _is_pythons_complex(operand: Any) -> bool:
    return _is_pythons(operand) and (operand.dtype.kind == "c" if isinstance(operand, Value)
                                     else isinstance(operand, complex))


def _on_dynamic_text(reader: Reader, function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """Texts with dynamic parts can be joined; for all else they must be known."""
    if function is operator.add and all(isinstance(value, (str, Text)) for value in (left, right)):
        return function(left, right)
    return function(*(static(reader, value, "a string that is used like this") for value in (left, right)))


def _on_text(reader: Reader, function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """Operators on strings, of what is known; `*` with what is not needs it."""
    try:
        left, right = (
            static(reader, value, "an operand of a string") if isinstance(value, (Value, Size)) else value
            for value in (left, right)
        )
    except NotSupported as error:
        raise as_numpy_raises(reader, error, function, (left, right), {}) from None
    with as_user_error(reader):
        return function(left, right)


def unary(reader: Reader, function: Callable[[Any], Any], operand: Any) -> Any:
    """`op operand`."""
    operand = needed(reader, operand)
    method = users_unary(function, operand)
    if method is not None:
        return reader.call(method, (operand,), {})
    if isinstance(operand, Size) and function in (operator.neg, operator.pos):
        return function(operand) if function is operator.neg else operand
    if isinstance(operand, (Value, Size)):
        return apply_op(reader, function, (operand,), {})
    return on_static(reader, function, operand)


def _is_symbolic(left: Any, right: Any) -> bool:
    return isinstance(left, Size) or isinstance(right, Size)


def on_static(reader: Reader, function: Callable[..., Any], *operands: Any) -> Any:
    """An operator on Python objects. Floats stay an expression, so that they are printed as written."""
    if all(isinstance(operand, int) for operand in operands) and function is not operator.truediv:
        with as_user_error(reader):
            result = function(*operands)
        if isinstance(result, int):
            return result
    if all(isinstance(operand, NUMERIC) for operand in operands):
        return apply_op(reader, function, operands, {})
    return _on_objects(reader, function, *operands)


def _on_objects(reader: Reader, function: Callable[..., Any], *operands: Any) -> Any:
    try:
        with as_user_error(reader):
            result = function(*operands)
    except BadArgument as error:
        error.instead = advice(operands)
        raise
    return reader.own(result) if isinstance(result, (list, dict, set)) else result


def on_sizes(reader: Reader, function: Callable[..., Any], left: Any, right: Any) -> Any:
    """Arithmetic and comparison of sizes, where they stay sizes or are decided; else UNKNOWN."""
    left, right = _whole(left), _whole(right)
    if not isinstance(left, (int, Size)) or not isinstance(right, (int, Size)):
        return UNKNOWN
    if function in (operator.add, operator.sub, operator.mul):
        return function(left, right)
    if function in COMPARISONS:
        decided = compared(reader, function, left, right)
        return UNKNOWN if decided is None else decided
    if function is operator.floordiv and (not isinstance(right, int) or right > 0):
        return function(left, right)
    if function is operator.mod and quotient(left, right) is not None:
        return 0
    if function is operator.pow and isinstance(right, int) and 0 <= right <= 8:
        return _power(left, right)
    return UNKNOWN


def _whole(operand: Any) -> Any:
    known = known_of(operand)
    return known if isinstance(known, int) and not isinstance(known, bool) else operand


def _power(base: Any, exponent: int) -> Any:
    result: Any = 1
    for _ in range(exponent):
        result = result * base
    return result


def compared(reader: Reader, function: Callable[..., Any], left: Any, right: Any) -> bool | None:
    """A comparison of sizes where it is decided for every call of this kind."""
    normal, lower = reader.assumptions.normal, reader.assumptions.lower_bound
    difference = normal(left) - normal(right)
    if isinstance(difference, int):
        return bool(function(difference, 0))
    low, negated = lower(difference), lower(difference * -1)
    if low is not None and low >= 1:
        return bool(function(1, 0))
    if negated is not None and negated >= 1:
        return bool(function(-1, 0))
    if low is not None and low >= 0 and function in (operator.ge, operator.lt):
        return function is operator.ge
    if negated is not None and negated >= 0 and function in (operator.le, operator.gt):
        return function is operator.le
    return None


def compare(reader: Reader, op: Any, left: Any, right: Any) -> Any:
    """One comparison of a chain."""
    if isinstance(left, OrNone) and isinstance(op, OF_NONE):
        return _compared_or_none(reader, op, left, right, lambda one: compare(reader, op, one, right))
    if isinstance(right, OrNone) and isinstance(op, SYMMETRIC):
        return _compared_or_none(reader, op, right, left, lambda one: compare(reader, op, left, one))
    left, right = needed(reader, left), needed(reader, right)
    match op:
        case gast.Is():
            return is_one(reader, left, right)
        case gast.IsNot():
            return not is_one(reader, left, right)
        case gast.In():
            return contains(reader, right, left)
        case gast.NotIn():
            found = contains(reader, right, left)
            return apply_op(reader, operator.not_, (found,), {}) if isinstance(found, Value) else not found
    function = COMPARE[type(op)]
    if function in (operator.eq, operator.ne) and _of_other_kinds(left, right):
        return function is operator.ne
    if are_sequences(left, right):
        return compared_items(reader, function, left, right)
    return binary(reader, function, left, right)


SYMMETRIC = gast.Is, gast.IsNot, gast.Eq, gast.NotEq
OF_NONE = *SYMMETRIC, gast.In, gast.NotIn                # what is answered for None as well


def _compared_or_none(reader: Reader, op: Any, tested: OrNone, other: Any, compared: Callable[[Any], Any]) -> Any:
    """What a comparison with `other` gives for what may be None: what it gives for the item, or for None."""
    from .branches.branches import choose

    found = settled(reader, tested)
    if found is not tested:
        return compared(reader.usable(found))
    if other is None and isinstance(op, SYMMETRIC):
        equal = apply_op(reader, operator.not_, (tested.there,), {})
    elif is_number(tested.item) and is_number(other) and isinstance(op, gast.Eq | gast.NotEq):
        same = binary(reader, operator.eq, tested.item, other)
        equal = apply_op(reader, np.logical_and, (tested.there, same), {})
    else:
        return choose(reader, tested.there, lambda: compared(reader.usable(tested.item)), lambda: compared(None))
    return apply_op(reader, operator.not_, (equal,), {}) if isinstance(op, gast.IsNot | gast.NotEq) else equal


def is_one(reader: Reader, left: Any, right: Any) -> bool:
    """`left is right`."""
    known, other = known_of(left), known_of(right)
    if isinstance(known, bool) and isinstance(other, bool):
        return known is other
    if left is not right and _may_be_one(reader, left, right):
        refusal = NotSupported(
            "whether these are the same object is not known when the function is transformed",
            reader.builder.origin,
            instead="Compare values with == and !=, or keep a flag.",
        )
        raise Unroll(reader.loops[-1].plan.key, refusal) if reader.loops else refusal
    return left is right


def _may_be_one(reader: Reader, left: Any, right: Any) -> bool:
    """Whether two values that are not the same here may be one object when the function runs."""
    if not (isinstance(left, Value | Size) or isinstance(right, Value | Size)):
        return reader.aliases.are_related(left, right)
    arrays = [is_array(value) for value in (left, right)]
    if all(arrays):
        return cell_of(left) is not cell_of(right) and reader.aliases.are_related(left, right)
    numbers = (bool, int, float, complex, np.generic, Value, Size)
    return not any(arrays) and isinstance(left, numbers) and isinstance(right, numbers)


def _of_other_kinds(left: Any, right: Any) -> bool:
    """Whether a number or array is compared for equality with what is none, such as None or a string."""
    kinds = (type(None), str, bytes)
    return (
        isinstance(left, (Value, Size))
        and isinstance(right, kinds)
        or (isinstance(right, (Value, Size)) and isinstance(left, kinds))
    )


def contains(reader: Reader, container: Any, item: Any) -> Any:
    """`item in container`."""
    from .lists.finding import is_among
    from .loops.iteration import Iteration

    if id(container) in reader.lists.views:
        from .objects.containers import iterated

        container = iterated(reader, container)
    if isinstance(container, Value):
        raise BadArgument("`in` on an array is not supported", reader.builder.origin,
                          instead="Write np.any(x == value).")
    if isinstance(container, Lazy | Producer | Iteration):
        raise NotSupported("`in` on an iterator is not supported", reader.builder.origin,
                           instead="Build a list of its items: list(...).")
    if isinstance(container, DynamicRange) or isinstance(container, range) and known_of(item) is UNKNOWN:
        return _in_range(reader, container, item)
    user = users_special(container, "__contains__")
    if user is not None:
        return reader.call(user, (container, item), {})
    if isinstance(container, RecordedList):
        return is_among(reader, container, item)
    if isinstance(container, Recording):
        raise container.cannot_change(reader, "`in` of a list that the loop appends to")
    numbers = isinstance(item, (bool, int, float, complex, np.generic, Value, tuple, list, dict))
    open_to_both = numbers and has_dynamic((item, container)) or made_of(type(item)) is ATTRIBUTES
    held = (reader.usable(each) for each in contained((item, container)))
    if any(isinstance(each, RecordedList) for each in held):
        open_to_both = True
    if isinstance(container, (tuple, list)) and (known_of(item) is UNKNOWN or open_to_both):
        return _dynamic_contains(reader, container, item)
    known = hashed if isinstance(container, dict | set | frozenset) else static
    key = known(reader, item, "the left operand of `in`")
    with as_user_error(reader):
        return key in (stripped(container) if isinstance(container, (tuple, list)) else container)


def _in_range(reader: Reader, numbers: range | DynamicRange, item: Any) -> Any:
    from .library.calls import call_library
    from .library.steps import is_in_range

    return call_library(reader, is_in_range, (item, numbers.start, numbers.stop, numbers.step), {})


def _dynamic_contains(reader: Reader, container: Any, item: Any) -> Any:
    found: Any = False
    for other in container:
        equal = item is other or are_equal(reader, item, other)
        if equal is True:
            return True
        if isinstance(equal, Value) and equal.ndim:
            raise NotSupported("`in` on a list of arrays is not supported", reader.builder.origin,
                               instead="Compare the items in a loop.")
        if equal is not False:
            found = equal if found is False else apply_op(reader, np.logical_or, (found, equal), {})
    return apply_op(reader, bool, (found,), {}) if isinstance(found, Value) and not found.type.weak else found


def are_equal(reader: Reader, one: Any, other: Any) -> Any:
    """`one == other`; where that is known, as a truth value of Python's."""
    equal = compare(reader, gast.Eq(), one, other)
    return bool(equal) if isinstance(equal, np.bool_) else equal


def _on_sequences(reader: Reader, function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if isinstance(left, Value) or isinstance(right, Value):
        number = left if isinstance(left, Value) else right
        if number.ndim or is_array(number) or function is not operator.mul and not number.type.weak:
            return apply_op(reader, function, (left, right), {})
        if function is not operator.mul or not is_count(number):
            return _on_objects(reader, function, _example(left), _example(right))
    if isinstance(left, RecordedList) or isinstance(right, RecordedList):
        return combined(reader, function, left, right)
    if function is operator.mul:
        return _repeated(reader, left, right)
    return _on_objects(reader, function, left, right)


def is_count(number: Value) -> bool:
    """Whether `sequence * number` repeats, as it does for integers, and for truth values of Python's."""
    return number.dtype.kind in "iu" or number.dtype.kind == "b" and number.type.weak


def _example(operand: Any) -> Any:
    """A number or sequence of the same kind, to see what Python says of it."""
    if isinstance(operand, Value):
        number = operand.dtype.type(1)
        return number.item() if operand.type.weak else number
    return () if isinstance(operand, tuple) else []


def _repeated(reader: Reader, left: Any, right: Any) -> Any:
    from .lists.opening import repeated

    sequence, count = (left, right) if isinstance(left, (list, tuple)) else (right, left)
    if isinstance(sequence, list) and known_of(count) is UNKNOWN:
        made = repeated(reader, sequence, count)
        if made is not None:
            return made
    count = static(
        reader, count, "the number of repetitions of a sequence", "Use np.zeros or np.full for an array of that length."
    )
    return _on_objects(reader, operator.mul, sequence, count)
