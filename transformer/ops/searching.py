"""Where elements are: positions of true elements, of a value in sorted ones, lengths of slices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import BadArgument, NotSupported, ShapeError
from ..core.grammar import Carry, Const, If, Loop, Var, raising
from ..core.sizes import Extent
from ..core.types import INT, ArrayType
from . import arguments
from .arithmetic import converted
from .base import Op
from .creation import zeros
from .elements import flat_place
from .elementwise import FLAT, where
from .index_places import clipped_number
from .integers import count_of
from .regions import Slot, filled
from .rewritten import Rewritten
from .value import Value, atom, call, emit, value

POSITION = np.dtype(np.int64)


def ragged(what: str) -> NotSupported:
    return NotSupported(f"{what} cannot be batched",
                        why="The number of elements differs between lanes.",
                        instead="Use np.where with the condition.")


class Positions(Op):
    """Positions of the elements that are not zero. `size` is how many there are."""

    derivative = FLAT
    silent = ("size",)

    @classmethod
    def front(cls, args: Any, kwargs: Any, spelling: str | None) -> Any:
        (a,), _ = cls.bind(args, kwargs)
        a = value(a)
        return emit(cls, (a.atom,), {"size": count_of(a)}, spelling)

    @classmethod
    def run(cls, a: Any, size: Any = None) -> Any:
        return cls.calls[0](a)

    def batch(lead, a, size=None):
        raise ragged("the positions of true elements")

    def domain(rng):
        found = rng.integers(0, 2, (5,)), rng.integers(0, 2, (2, 3))
        return [((a,), {"size": int(np.count_nonzero(a))}) for a in found]


class Nonzero(Positions):
    """One array of positions for every axis."""

    calls = (np.nonzero,)
    methods = ("nonzero",)

    def found(at, sizes):
        return [(axis, (), k) for axis, k in enumerate(at)]

    def types(a: ArrayType, size: Extent = 0) -> tuple[ArrayType, ...]:
        if not a.rank:
            raise ShapeError("Calling nonzero on 0d arrays is not allowed. "
                             "Use np.atleast_1d(scalar).nonzero() instead.")
        return (ArrayType(POSITION, (size,)),) * a.rank


class Argwhere(Positions):
    """One row for every element: its position along all axes."""

    calls = (np.argwhere,)

    def found(at, sizes):
        return [(0, (axis,), k) for axis, k in enumerate(at)]

    def types(a: ArrayType, size: Extent = 0) -> ArrayType:
        return ArrayType(POSITION, (size, a.rank))


class Flatnonzero(Positions):
    """Positions in the flattened array."""

    calls = (np.flatnonzero,)

    def found(at, sizes):
        return [(0, (), flat_place(at, sizes))]

    def types(a: ArrayType, size: Extent = 0) -> ArrayType:
        return ArrayType(POSITION, (size,))


def slice_length(size, *bounds, cut):
    """How many elements a slice takes from an axis.

    >>> from .regions import Slot
    >>> slice_length(5, -2, cut=slice(Slot(0), None))
    2
    """
    return len(range(size)[filled((cut,), bounds)[0]])


class SliceLength(Op):
    """``len(range(size)[cut])``, where `cut` has slots for bounds that the program computes."""

    name = "slice_length"
    calls = (slice_length,)
    operands = ("size",)
    derivative = FLAT

    def types(size: ArrayType, *bounds: ArrayType, cut: slice) -> ArrayType:
        return INT

    def element(at, size, *bounds, cut):
        step, size = cut.step or 1, size[()]
        low, high = (0, size) if step > 0 else (-1, size - 1)
        ends = [clipped_number(bounds[bound.k][()] if isinstance(bound, Slot) else bound, size, low, high)
                if bound is not None else end
                for bound, end in ((cut.start, low if step > 0 else high), (cut.stop, high if step > 0 else low))]
        span = np.maximum((ends[1] - ends[0]) * (1 if step > 0 else -1), 0)
        return (span + abs(step) - 1) // abs(step)

    def batch(lead, size, *bounds, cut):
        raise ragged("slices whose bounds are computed")

    def domain(rng):
        return [((5, np.int64(-2)), {"cut": slice(Slot(0), None)}),
                ((5, np.int64(3), np.int64(-1)), {"cut": slice(Slot(0), Slot(1), -1)})]


def is_before(x: Any, y: Any) -> Any:
    """Whether a number stands before another one where they are sorted: nan stands behind all others, and of complex
    numbers, as NumPy sorts them, those with a part that is nan behind those with none."""
    if x.dtype.kind == "c":
        (a, b), (c, d) = ((np.real(each), np.imag(each)) for each in (x, y))
        same = (a == c) | (a != a) & (c != c)
        return where(a < c, (b == b) | (d != d),
                     where(a > c, (d != d) & (b == b), where(same, is_before(b, d), c != c)))
    return (x < y) | (y != y) & (x == x) if x.dtype.kind == "f" else x < y


def searched(a: Any, v: Any, side: str) -> Any:
    """Where values belong in a sorted array, for all values at a time: of the `count` places behind `low`, half are
    left in each step, or one more than are needed, so that the count is the same for all."""
    builder, place, (a, v) = current(), ArrayType(POSITION, v.shape), _in_one_dtype(a, v)
    low, count, places = Var(place, "low"), Var(INT, "count"), Var(place)
    with builder.nested() as test:
        goes_on = np.greater(Value(count), 0)
    with builder.nested() as body:
        left = np.floor_divide(Value(count), 2)
        behind = np.add(Value(low), np.subtract(Value(count), left))
        found = np.take(a, behind - 1, mode="clip")
        next_low = where(_has_behind(found, v, side), behind, Value(low))
    carries = [Carry(low, zeros(place).atom, atom(next_low), places),
               Carry(count, atom(a.shape[0]), atom(left), Var(INT))]
    builder.emit(Loop(Var(INT), None, carries, body, test=test, cond=atom(goes_on), origin=builder.origin))
    return Value(places)


def searched_alone(a: Any, item: Any, side: str) -> Any:
    """Where one value belongs in a sorted array: of the places that are left, half go in each step.

    >>> int(searched_alone(np.array([1.0, 2.0, 2.0]), np.float64(2.0), "left"))
    1
    """
    if not isinstance(item, Value):
        return np.searchsorted(a, item, side=side)  # type: ignore[call-overload]
    builder, dtype = current(), np.promote_types(a.dtype, item.dtype)
    item, low, count, place = converted(item, dtype), Var(INT, "low"), Var(INT, "count"), Var(INT, "place")
    with builder.nested() as test:
        goes_on = np.greater(Value(count), 0)
    with builder.nested() as body:
        half = np.floor_divide(Value(count), 2)
        middle = np.add(Value(low), half)
        found = converted(a[(middle,)], dtype)
        is_behind = _has_behind(found, item, side)
        next_low = where(is_behind, np.add(middle, 1), Value(low))
        left = where(is_behind, np.subtract(np.subtract(Value(count), half), 1), half)
    carries = [Carry(low, Const(0), atom(next_low), place), Carry(count, atom(a.shape[0]), atom(left), Var(INT))]
    builder.emit(Loop(Var(INT), None, carries, body, test=test, cond=atom(goes_on), origin=builder.origin))
    return Value(place)


def _in_one_dtype(*arrays: Any) -> list[Any]:
    dtype = np.result_type(*(each.dtype for each in arrays))
    return [converted(each, dtype) for each in arrays]


def _has_behind(found: Any, v: Any, side: str) -> Any:
    """Whether a value belongs behind an element that is found, on this side of those that equal it."""
    return is_before(found, v) if side == "left" else np.logical_not(is_before(v, found))


class Searchsorted(Op):
    """Where values belong in a sorted array."""

    calls = (np.searchsorted,)
    methods = ("searchsorted",)
    derivative = FLAT
    alone_on_gpus = True

    def types(a: ArrayType, v: ArrayType, side: str = "left") -> ArrayType:
        if a.rank != 1:
            raise ShapeError("object too deep for desired array")
        return ArrayType(POSITION, v.sizes)

    def definition(a, v, side="left"):
        return searched(a, v, side)

    def element(at, a, v, side="left"):
        return searched_alone(a, v[at], side)

    def batch(lead, a, v, side="left"):
        if not lead[0]:
            return np.searchsorted(a, v, side=side)
        inner = v.ndim - lead[1]
        a, v = _in_one_dtype(a, v)
        a = a[(slice(None), *[None] * inner, slice(None))]
        v = v[..., None] if lead[1] else v[(None, ..., None)] if inner else v
        return np.sum(_has_behind(a, v, side), axis=-1)

    def domain(rng):
        a = np.sort(rng.normal(size=5))
        return [((a, rng.normal(size=shape)), attrs) for shape in ((), (3,), (2, 3))
                for attrs in ({}, {"side": "right"})]


class Digitize(Op):
    """The numbers of the bins that values are in; bounds of bins rise, or fall."""

    calls = (np.digitize,)
    derivative = FLAT

    def definition(x, bins, right=False):
        falls = _falling(bins)
        place = np.searchsorted(where(falls, bins[::-1], bins), x, side="left" if right else "right")
        return where(falls, bins.shape[0] - place, place)

    def types(x: ArrayType, bins: ArrayType, right: bool = False) -> ArrayType:
        if x.dtype.kind == "c":
            raise BadArgument("x may not be complex")
        if bins.rank != 1:
            raise ShapeError("object too deep for desired array")
        return ArrayType(POSITION, x.sizes)

    def batch(lead, x, bins, right=False):
        """How many bounds of its lane a value has behind it."""
        if not lead[1]:
            return np.digitize(x, bins, right=right)
        inner = (slice(None), *[None] * (x.ndim - lead[0]), slice(None))
        falls, bins, x = _falling(bins)[:, None][inner], bins[inner], x[..., None]
        bins, x = _in_one_dtype(bins, x)
        return np.sum(np.not_equal(falls, _has_behind(bins, x, "left" if right else "right")), axis=-1)

    def domain(rng):
        bins = np.sort(rng.normal(size=5))
        return [((rng.normal(size=shape), ordered), attrs) for shape in ((), (3,), (2, 3))
                for ordered in (bins, bins[::-1]) for attrs in ({}, {"right": True})]


def _falling(bins: Any) -> Any:
    """Whether bounds of bins fall; in each lane, if there are lanes. Emits a test that they do or rise."""
    before, after = bins[..., :-1], bins[..., 1:]
    falls = np.any(after < before, axis=-1)
    in_neither = falls & np.any(after > before, axis=-1)
    _refuse(np.any(in_neither) if falls.ndim else in_neither,
            "bins must be monotonically increasing or decreasing")
    return falls


def _refuse(condition: Any, message: str) -> None:
    """Emits what raises ValueError where a condition holds."""
    if isinstance(condition, Value):
        origin = current().origin
        current().emit(If(condition.atom, [raising(ValueError, message, origin)], [], [], origin))
    elif condition:
        raise ValueError(message)


class TakeAlongAxis(Rewritten):
    """Elements at positions that are given for every line along an axis."""

    name = "take_along_axis"
    calls = (np.take_along_axis,)

    def rewrite(arr, indices, axis=-1):
        arr, indices = value(arr), value(indices)
        if axis is None:
            return np.ravel(arr)[indices]
        axis = arguments.axis(axis, arr.ndim)
        if indices.ndim != arr.ndim:
            raise ShapeError("`indices` and `arr` must have the same number of dimensions")
        return arr[tuple(indices if k == axis else _along(size, k, arr.ndim)
                         for k, size in enumerate(arr.shape))]


class OpenMesh(Rewritten):
    """Integer arrays for the rows, columns, … that together select a grid."""

    name = "ix_"
    calls = (np.ix_,)

    def rewrite(*sequences):
        items = [item if isinstance(item, Value) else call(np.array, (list(item),), {})
                 for item in sequences]
        if any(item.ndim != 1 for item in items):
            raise ShapeError("Cross index must be 1 dimensional")
        items = [np.nonzero(item)[0] if item.dtype.kind == "b" else item for item in items]
        return tuple(item[_axis_among(k, len(items))] for k, item in enumerate(items))


def _along(size: Extent, axis: int, rank: int) -> Value:
    """0, 1, 2, … along one of `rank` axes."""
    return call(np.arange, (size,), {})[_axis_among(axis, rank)]


def _axis_among(axis: int, rank: int) -> tuple[Any, ...]:
    return tuple(slice(None) if k == axis else None for k in range(rank))
