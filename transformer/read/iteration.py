"""What a `for` loop runs over: how many items there are, and which one stands at a position.

Every iterable becomes an `Iteration`. Ranges and arrays give loops of Core; `zip`, `enumerate` and
`reversed` of them do, too. Where an iterable holds Python objects (`is_static`), the loop is unrolled.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..core.errors import BadArgument, NotSupported, ShapeError
from ..core.sizes import Extent, Size, greatest, least
from ..ops.integers import affine
from ..ops.value import Value
from .applying import apply_op
from .demand import Unroll, static
from .errors import as_user_error
from .kinds import described, type_name
from .operators import binary
from .producers import Producer, collected_items
from .recorded import RecordedList, Recording, refusal
from .values import UNKNOWN, DynamicRange, Lazy, known_of

if TYPE_CHECKING:
    from .reader import Reader


@dataclass(frozen=True, eq=False)
class Iteration:
    """`length` items; `element(k)` is the one at position k, an int or a `Value`. `held` are the
    containers and arrays that it keeps hold of."""

    __tree_leaf__: ClassVar[bool] = True
    length: Extent
    element: Callable[[Any], Any]
    is_static: bool = False
    counts: bool = False  # `element(k)` is k itself
    held: tuple[Any, ...] = ()
    independent: bool = False  # no item's turn depends on another's: the user says so


def iteration_of(reader: Reader, value: Any) -> Iteration:
    """How a value is iterated over."""
    if isinstance(value, Iteration):
        return value
    if isinstance(value, (range, DynamicRange)):
        return _over_range(reader, value.start, value.stop, value.step)
    if isinstance(value, Value):
        return _over_array(reader, value)
    if isinstance(value, np.ndarray):
        raise AssertionError("arrays from outside are lifted")
    if isinstance(value, RecordedList):
        return Iteration(value.length(reader), lambda k: value.item(reader, k), held=(value,))
    if isinstance(value, Recording):
        raise Unroll(value.loop, refusal(reader, "iteration over a list that the loop appends to"))
    if isinstance(value, Producer):
        return iteration_of(reader, collected_items(reader, value))
    if isinstance(value, Lazy):
        from .comprehensions import collected

        return iteration_of(reader, reader.usable(collected(reader, value)))
    return _over_objects(reader, value)


def _over_range(reader: Reader, start: Any, stop: Any, step: int) -> Iteration:
    first, last = affine(start), affine(stop)
    span = last - first if step > 0 else first - last
    length = non_negative(reader, (span + abs(step) - 1) // abs(step))
    counts = isinstance(start, int) and start == 0 and step == 1

    def element(k: Any) -> Any:
        if counts:
            return k
        offset = binary(reader, operator.mul, step, k) if step not in (1, -1) else k
        if step == -1:
            return binary(reader, operator.sub, start, offset)
        return offset if isinstance(start, int) and start == 0 else binary(reader, operator.add, start, offset)

    return Iteration(length, element, counts=counts)


def non_negative(reader: Reader, length: Extent) -> Extent:
    """A length, or 0 where it may come out negative."""
    if isinstance(length, int):
        return max(0, length)
    if reader.assumptions.certainly_at_least(length, 0):
        return length
    return greatest(length, 0)


def _over_array(reader: Reader, array: Value) -> Iteration:
    if not array.ndim:
        name = type_name(array)
        instead = "Write range(n) to count to a number n." if array.dtype.kind in "iu" else None
        raise BadArgument(f"'{name}' object is not iterable", reader.builder.origin, instead=instead)
    return Iteration(array.shape[0], lambda k: apply_op(reader, operator.getitem, (array, k), {}), held=(array,))


def _over_objects(reader: Reader, value: Any) -> Iteration:
    user = getattr(type(value), "__iter__", None)
    if hasattr(user, "__code__"):
        return iteration_of(reader, reader.call(user, (value,), {}))
    if isinstance(value, (list, tuple)):
        from .containers import item

        return Iteration(len(value), lambda k: item(reader, value, k), is_static=True, held=(value,))
    if isinstance(value, (dict, str, bytes, set, frozenset, Iterator)) or hasattr(value, "__iter__"):
        with as_user_error(reader):
            items = list(value)
        return Iteration(len(items), lambda k: items[k], is_static=True, held=(value,))
    if hasattr(type(value), "__getitem__"):
        raise NotSupported(
            f"iteration over {described(value)} that has a __getitem__ alone",
            reader.builder.origin,
            instead="Give its class an __iter__, or loop over its positions.",
        )
    raise BadArgument(f"'{type_name(value)}' object is not iterable", reader.builder.origin)


def zipped(reader: Reader, *values: Any, strict: bool = False) -> Any:
    """`zip`."""
    parts = [iteration_of(reader, value) for value in values]
    if not parts:
        return []
    length = parts[0].length
    for part in parts[1:]:
        length = _shorter(reader, length, part.length, strict)
    return Iteration(
        length,
        lambda k: tuple(part.element(k) for part in parts),
        any(part.is_static for part in parts),
        held=tuple(parts),
    )


def _shorter(reader: Reader, one: Extent, other: Extent, strict: bool) -> Extent:
    if isinstance(one, int) and isinstance(other, int):
        if strict and one != other:
            raise ShapeError("zip() has arguments of different lengths", reader.builder.origin)
        return min(one, other)
    if not strict and (isinstance(one, int) or isinstance(other, int)):
        for least_of_both, most in (
            ((one, other), (other, one)) if isinstance(one, int) else ((other, one), (one, other))
        ):
            if reader.assumptions.at_least(most, least_of_both):
                return least_of_both
    if reader.assumptions.equal(one, other):
        return reader.assumptions.normal(one)
    if strict:
        raise ShapeError("zip() has arguments of different lengths", reader.builder.origin)
    return least(one, other)


def enumerated(reader: Reader, iterable: Any, start: Any = 0) -> Iteration:
    """`enumerate`."""
    part = iteration_of(reader, iterable)

    def element(k: Any) -> Any:
        number = k if known_of(start) == 0 and not isinstance(start, Value) else binary(reader, operator.add, start, k)
        return number, part.element(k)

    return Iteration(part.length, element, part.is_static, held=(part,))


def turned(reader: Reader, iterable: Any) -> Iteration:
    """`reversed`."""
    part = iteration_of(reader, iterable)
    last = part.length - 1

    def element(k: Any) -> Any:
        return part.element(binary(reader, operator.sub, last, k))

    return Iteration(part.length, element, part.is_static, held=(part,))


def made_range(reader: Reader, *args: Any) -> Any:
    """`range`, of numbers known or not."""
    args = tuple(int(arg) if isinstance(arg, np.integer) else arg for arg in args)
    if all(isinstance(known_of(arg), int) for arg in args):
        with as_user_error(reader):
            return range(*map(known_of, args))
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    for bound in (start, stop):
        _check_whole(reader, bound)
    step = static(reader, step, "the step of a range")
    if step == 0:
        raise ShapeError("range() arg 3 must not be zero", reader.builder.origin)
    return DynamicRange(start, stop, step)


def _check_whole(reader: Reader, bound: Any) -> None:
    if isinstance(bound, (int, Size)):
        return
    if isinstance(bound, Value) and not bound.ndim and bound.dtype.kind in "iub":
        return
    with as_user_error(reader):
        raise TypeError(f"'{type_name(bound)}' object cannot be interpreted as an integer")


def item_of_range(reader: Reader, value: Any, index: Any) -> Any:
    """`range(...)[k]`, `range(...)[a:b]`."""
    iteration = iteration_of(reader, value)
    if isinstance(index, slice):
        return _part_of_range(reader, value, iteration.length, index)
    if known_of(index) is not UNKNOWN and known_of(index) < 0:
        index = iteration.length + known_of(index)
    return iteration.element(index)


def _part_of_range(reader: Reader, value: Any, length: Extent, cut: slice) -> DynamicRange:
    """A slice of a range: it begins behind as many elements as stand before the start of the slice."""
    step = 1 if cut.step is None else static(reader, cut.step, "the step of a slice")
    if step < 0:
        raise NotSupported("a slice of a range that runs backwards", reader.builder.origin,
                           instead="Write reversed(range(...)), or a range with a negative step.")
    axis = apply_op(reader, np.zeros, (length,), {})

    def counted(part: slice) -> Extent:
        return apply_op(reader, operator.getitem, (axis, part), {}).shape[0]

    begin = 0 if cut.start is None else counted(slice(None, cut.start))
    first = affine(value.start) + begin * value.step
    return DynamicRange(first, first + counted(slice(cut.start, cut.stop)) * value.step, value.step * step)
