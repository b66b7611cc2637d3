"""Arrays with a border: `np.pad`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import NotSupported, ShapeError
from ..core.sizes import Extent
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Bound, Kwargs
from .base import Op
from .creation import arange
from .elements import both, choose, is_below
from .shape import along, arrays_of, from_here
from .value import Value, value

Pair = tuple[Extent, Extent]


class Pad(Op):
    """A border of one constant number. `pad_width` is as short as NumPy understands it: a number, a
    pair for all axes, or a pair for each. Borders of other modes are indexed from the array."""

    calls = np.pad
    makes_array = "always"

    def front(args, kwargs, spelling):
        array, width, mode, options = _parsed(*args, **kwargs)
        pairs = width_pairs(width, array.ndim)
        fill = options.get("constant_values", 0)
        if mode == "constant" and isinstance(fill, (tuple, list)):
            return _sided(array, pairs, _of_numbers, width_pairs(fill, array.ndim, _pair_of_numbers))
        if mode == "constant" and not arguments.is_dynamic(fill):
            return None
        if mode == "constant":
            return _filled(array, pairs, fill)
        is_side = mode in STATISTICS or mode == "linear_ramp"
        if is_side and any(size == 0 and pair != (0, 0) for size, pair in zip(array.shape, pairs)):
            raise ValueError("can't extend an empty axis using modes other than 'constant' or 'empty'")
        if mode in STATISTICS and not options and (array.dtype.kind == "f" or mode != "mean"):
            return _sided(array, pairs, _of_statistic, STATISTICS[mode])
        if mode == "linear_ramp" and options.keys() <= {"end_values"} and array.dtype.kind == "f":
            ends = width_pairs(options.get("end_values", 0), array.ndim, _pair_of_numbers)
            return _sided(array, pairs, _of_ramp, ends)
        if mode not in POSITIONS or options:
            raise NotSupported(f"np.pad with mode={mode!r} and options {sorted(options)} is not supported",
                               instead="Build the border with np.concatenate.")
        return _indexed(array, pairs, mode)

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        array, width, _, options = _parsed(*args, **kwargs)
        fill = options.get("constant_values", 0)
        attrs = {"pad_width": shortest(width_pairs(width, array.ndim))}
        fill = arguments.known(fill, "constant_values")
        return (array,), {**attrs, "constant_values": fill} if fill != 0 else attrs

    def types(array: ArrayType, pad_width=None, *, constant_values=0) -> ArrayType:
        pairs = width_pairs(pad_width, array.rank)
        sizes = tuple(n + a + b for n, (a, b) in zip(array.sizes, pairs, strict=True))
        return ArrayType(array.dtype, sizes)

    def element(at, array, pad_width=None, constant_values=0):
        place, inside = [], True
        for k, size, (before, _) in zip(at, array.shape, width_pairs(pad_width, array.ndim), strict=True):
            inside = both(inside, is_below(before - 1, k))
            inside = both(inside, is_below(k, size + before))
            place.append(k - before)
        return choose(inside, lambda: array[tuple(place)], lambda: array.dtype.type(constant_values))

    def jvp(t, array, y, pad_width=None, constant_values=0):
        return np.pad(t, pad_width)

    def vjp(dy, array, y, pad_width=None, constant_values=0):
        pairs = width_pairs(pad_width, array.ndim)
        return dy[tuple(_inner(n, *pair) for n, pair in zip(array.shape, pairs, strict=True))]

    def batch(lead, array, pad_width=None, constant_values=0):
        pairs = ((0, 0), *width_pairs(pad_width, array.ndim - 1))
        return np.pad(array, pairs, constant_values=constant_values)

    def domain(rng):
        return arrays_of(rng, ((3,), {"pad_width": (1, 2)}),
                         ((2, 3), {"pad_width": ((0, 1), (2, 0))}),
                         ((2, 3), {"pad_width": 1, "constant_values": 1.5}))


def _parsed(array: Any, pad_width: Any, mode: Any = "constant", **options: Any
            ) -> tuple[Value, Any, Any, dict[str, Any]]:
    return value(array), pad_width, mode, options


def width_pairs(width: Any, rank: int, pair: Callable[[Any], Any] | None = None) -> tuple[Pair, ...]:
    """Border widths before and after, for each axis, from any of NumPy's forms; or other pairs of such forms."""
    _pair = pair or _pair_of_widths
    if rank == 0:
        return ()
    if isinstance(width, Value) and width.ndim:
        arguments.known(width, "the widths of a border")
    if isinstance(width, dict):
        given = {arguments.axis(k, rank): _pair(item) for k, item in width.items()}
        return tuple(given.get(k, (0, 0)) for k in range(rank))
    if not isinstance(width, (tuple, list)):
        return (_pair(width),) * rank
    if not any(isinstance(item, (tuple, list)) for item in width):
        return (_pair(width),) * rank
    if len(width) not in (1, rank):
        raise ShapeError(f"operands could not be broadcast together with remapped shapes "
                         f"[original->remapped]: ({len(width)},2)  and requested shape ({rank},2)")
    return tuple(map(_pair, width)) * (rank if len(width) == 1 else 1)


def _pair_of_numbers(item: Any) -> Any:
    items = _one_or_two(item)
    return items[0], items[-1]


def _one_or_two(item: Any) -> tuple[Any, ...]:
    items = tuple(item) if isinstance(item, (tuple, list)) else (item,)
    if len(items) not in (1, 2):
        raise ValueError(f"operands could not be broadcast together: {len(items)} numbers for the two sides of an axis")
    return items


def _pair_of_widths(item: Any) -> Pair:
    items = _one_or_two(item)
    before, after = (arguments.extent(size, "a border") for size in (items[0], items[-1]))
    if any(isinstance(size, int) and size < 0 for size in (before, after)):
        raise ShapeError("index can't contain negative values")
    return before, after


def shortest(pairs: tuple[Pair, ...]) -> Any:
    """Border widths in the shortest form."""
    if len(set(pairs)) != 1:
        return pairs
    before, after = pairs[0]
    return before if before == after else pairs[0]


def _inner(size: Extent, before: Extent, after: Extent) -> slice:
    """What is not border, along one axis."""
    if after == 0:
        return slice(before or None, None)
    return slice(before or None, -after if isinstance(after, int) else before + size)


def _filled(array: Any, pairs: Any, fill: Any) -> Any:
    """With a border of a number that the program computes."""
    inside = np.pad(np.ones(array.shape, np.dtype(bool), like=array), pairs)
    return np.where(inside, np.pad(array, pairs), fill.astype(array.dtype))


def _sided(array: Any, pairs: tuple[Pair, ...], border: Callable[..., Any], how: Any) -> Any:
    """With what `border` gives before and behind the array, along one axis after the other."""
    for axis, (before, after) in enumerate(pairs):
        parts = [array]
        if before != 0:
            parts.insert(0, border(array, axis, before, 0, how))
        if after != 0:
            parts.append(border(array, axis, after, 1, how))
        array = np.concatenate(parts, axis=axis) if len(parts) > 1 else array
    return np.copy(array) if all(pair == (0, 0) for pair in pairs) else array


def _of_numbers(array: Any, axis: int, size: Extent, side: int, numbers: Any) -> Any:
    shape = (*array.shape[:axis], size, *array.shape[axis + 1:])
    return np.full(shape, numbers[axis][side], array.dtype, like=array)


def _of_statistic(array: Any, axis: int, size: Any, side: int, function: Any) -> Any:
    shape = (*array.shape[:axis], size, *array.shape[axis + 1:])
    return np.broadcast_to(function(array, axis=axis, keepdims=True), shape)


def _of_ramp(array: Any, axis: int, size: Any, side: int, ends: Any) -> Any:
    """A line from the number at the end to the first or last elements, which it does not contain."""
    edge = array[from_here(axis, slice(0, 1) if side == 0 else slice(-1, None))]
    shape: Any = along(size, axis, array.ndim)
    steps = np.reshape(arange(size), shape)
    end = ends[axis][side]
    places = steps if side == 0 else size - 1 - steps
    return (places * ((edge - end) / size) + end).astype(array.dtype)


STATISTICS = {"mean": np.mean, "maximum": np.max, "minimum": np.min}


def _indexed(array: Value, pairs: tuple[Pair, ...], mode: str) -> Any:
    """With a border that shows the array itself."""
    axes = [axis for axis, pair in enumerate(pairs) if pair != (0, 0)]
    for axis in axes:
        array = array[from_here(axis, _positions(mode, array.shape[axis], *pairs[axis]))]
    return array if axes else np.copy(array)


def _positions(mode: str, size: Extent, before: Extent, after: Extent) -> Any:
    """For each place along a bordered axis, the place of the array that it shows."""
    if size == 0:
        raise ShapeError("can't extend empty axis 0 using modes other than 'constant' or 'empty'")
    return POSITIONS[mode](arange(-before, size + after), size)


def _reflected(places: Any, size: Extent) -> Any:
    """Without repeating the ends: period 2 (n - 1)."""
    if size == 1:
        return places * 0
    return size - 1 - np.abs(size - 1 - places % (2 * size - 2))


def _mirrored(places: Any, size: Extent) -> Any:
    """With the ends repeated: period 2 n."""
    turn = places % (2 * size)
    return np.minimum(turn, 2 * size - 1 - turn)


POSITIONS = {
    "edge": lambda places, size: np.clip(places, 0, size - 1),
    "wrap": lambda places, size: places % size,
    "reflect": _reflected,
    "symmetric": _mirrored,
}
