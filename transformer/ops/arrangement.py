"""Elements in another arrangement: reversed, rolled, repeated, with a border, on a grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import BadArgument, NotSupported, ShapeError
from ..core.sizes import Extent, product
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Bound, Kwargs
from .base import Op
from .elements import choose, flat_place, is_below, moved, number, place_of, regrouped
from .elementwise import size_text
from .rewritten import Rewritten
from .shape import Sizes, arrays_of, from_here, later, reshaped
from .value import call, value


class Flip(Op):
    """`axis` is left out when it is all axes."""

    calls = np.flip
    linear = "m"
    view = True

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        (m,), attrs = super().bind(args, kwargs)
        m = value(m)
        axis = arguments.reduced_axes(attrs.get("axis"), m.ndim)
        return (m,), {} if axis is None else {"axis": axis}

    def types(m: ArrayType, axis=None) -> ArrayType:
        return m.strong()

    def element(at, m, axis=None):
        turned = range(m.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        return m[tuple(n - 1 - k if axis in turned else k
                       for axis, (k, n) in enumerate(zip(at, m.shape, strict=True)))]

    def vjp(dy, m, axis=None):
        return np.flip(dy, axis)

    def batch(lead, m, axis=None):
        return np.flip(m, tuple(range(1, m.ndim)) if axis is None else later(axis))

    def write_back(base, part, axis=None):
        return np.flip(part, axis)

    def domain(rng):
        return arrays_of(rng, ((4,), {}), ((2, 3), {"axis": 1}), ((2, 3, 2), {"axis": (0, 2)}),
                         ((2, 3), {}))


class Fliplr(Rewritten):
    calls = np.fliplr

    def rewrite(m):
        m = value(m)
        if m.ndim < 2:
            raise ShapeError("Input must be >= 2-d.")
        return np.flip(m, 1)


class Flipud(Rewritten):
    calls = np.flipud

    def rewrite(m):
        m = value(m)
        if m.ndim < 1:
            raise ShapeError("Input must be >= 1-d.")
        return np.flip(m, 0)


class Rot90(Rewritten):
    calls = np.rot90

    def rewrite(m, k=1, axes=(0, 1)):
        m = value(m)
        first, second = arguments.axes(axes, m.ndim, "Axes must be different.")
        turns = arguments.whole(k, "k") % 4
        if turns == 0:
            return m[...]
        if turns == 2:
            return np.flip(m, (first, second))
        return np.swapaxes(np.flip(m, second), first, second) if turns == 1 \
            else np.flip(np.swapaxes(m, first, second), second)


class Roll(Op):
    """Along one axis, or with none through the flattened array. `shift` may be symbolic."""

    calls = np.roll
    makes_array = "always"
    linear = "a"

    def front(args, kwargs, spelling):
        return _rolled_often(*args, **kwargs)

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        (a,), attrs = super().bind(args, kwargs)
        a, shift = value(a), arguments.extent(attrs["shift"], "a shift")
        if attrs.get("axis") is None or a.ndim == 1 and arguments.axis(attrs["axis"], 1) == 0:
            return (a,), {"shift": shift}
        return (a,), {"shift": shift, "axis": arguments.axis(attrs["axis"], a.ndim)}

    def types(a: ArrayType, shift=None, axis=None) -> ArrayType:
        return a.strong()

    def element(at, a, shift=None, axis=None):
        if a.ndim == 0:
            return a[at]
        if axis is None and a.ndim > 1:
            return a[place_of(_rolled_back(flat_place(at, a.shape), shift, a.size), a.shape)]
        return _rolled(at, a, shift, axis or 0)

    def vjp(dy, a, shift=None, axis=None):
        return np.roll(dy, -shift, axis)

    def batch(lead, a, shift=None, axis=None):
        if axis is not None:
            return np.roll(a, shift, axis + 1)
        flat = reshaped(a, (a.shape[0], product(a.shape[1:])))
        return reshaped(np.roll(flat, shift, 1), a.shape)

    def domain(rng):
        return arrays_of(rng, ((5,), {"shift": 2}), ((2, 3), {"shift": -1, "axis": 1}),
                         ((2, 3), {"shift": 4}))


def _rolled(at: Any, a: Any, shift: Any, axis: int) -> Any:
    """The element at a place of an array that was rolled along an axis; not by a division where at most once around."""
    k, size = at[axis], a.shape[axis]
    is_once = isinstance(shift, int) and (abs(shift) <= 1 or isinstance(size, int) and abs(shift) <= size)
    if not is_once:
        return a[moved(at, axis, _rolled_back(k, shift, size))]
    if shift == 0:
        return a[at]
    first, near, far = (shift, size - shift, -shift) if shift > 0 else (size + shift, -shift, -shift - size)
    return choose(is_below(k, first), lambda: a[moved(at, axis, k + near)], lambda: a[moved(at, axis, k + far)])


def _rolled_back(k: Any, shift: Any, size: Any) -> Any:
    """Where the element comes from that is at place `k` of an axis that was rolled."""
    return (k - number(shift)) % number(size)


def _rolled_often(a: Any, shift: Any, axis: Any = None) -> Any:
    """Several shifts are made one after another; None for a single one."""
    if not isinstance(shift, (tuple, list)) and not isinstance(axis, (tuple, list)):
        return None
    shifts = tuple(shift) if isinstance(shift, (tuple, list)) else (shift,)
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    if 1 not in (len(shifts), len(axes)) and len(shifts) != len(axes):
        raise ShapeError("shape mismatch: objects cannot be broadcast to a single shape")
    count = max(len(shifts), len(axes))
    for k in range(count):
        a = np.roll(value(a), shifts[k % len(shifts)], axes[k % len(axes)])
    return a


class Tile(Op):
    """`reps` has an entry for each axis of the result; a number for a vector."""

    calls = np.tile
    makes_array = "always"
    sized = True
    linear = "A"

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        (a,), attrs = super().bind(args, kwargs)
        a, reps = value(a), arguments.shape(attrs["reps"])
        reps = (1,) * (a.ndim - len(reps)) + reps
        return (a,), {"reps": arguments.alone(reps)}

    def types(A: ArrayType, reps=None) -> ArrayType:
        own, times = _common_rank(A.sizes, reps)
        return ArrayType(A.dtype, tuple(n * r for n, r in zip(own, times, strict=True)))

    def element(at, A, reps=None):
        own, times = _common_rank(A.shape, reps)
        place = tuple(k if r == 1 else 0 if n == 1 else k % number(n) for k, n, r in zip(at, own, times, strict=True))
        return A[place[len(place) - A.ndim:]]

    def vjp(dy, A, reps=None):
        split: list[Extent] = []
        summed = []
        for n, r in zip(*_common_rank(A.shape, reps), strict=True):
            if r != 1:
                summed.append(len(split))
                split.append(r)
            if n != 1 or r == 1:
                split.append(n)
        total = np.sum(reshaped(dy, tuple(split)), axis=tuple(summed)) if summed else dy
        return reshaped(total, A.shape)

    def batch(lead, A, reps=None):
        own, times = _common_rank(A.shape[1:], reps)
        return np.tile(reshaped(A, (A.shape[0], *own)), (1, *times))

    def domain(rng):
        return arrays_of(rng, ((3,), {"reps": 2}), ((2, 3), {"reps": (2, 2)}), ((), {"reps": 3}),
                         ((3,), {"reps": (2, 1)}), ((2, 3), {"reps": (3, 1, 2)}))


def _common_rank(sizes: Sizes, reps: Any) -> tuple[Sizes, Sizes]:
    """The shape and the repetitions, both with as many entries as the longer has."""
    reps = reps if isinstance(reps, tuple) else (reps,)
    return (1,) * (len(reps) - len(sizes)) + tuple(sizes), (1,) * (len(sizes) - len(reps)) + reps


class Repeat(Op):
    """Every element `repeats` times, along one axis or through the flattened array."""

    calls = np.repeat
    methods = ("repeat",)
    sized = True
    linear = "a"

    def front(args, kwargs, spelling):
        return _repeated_unevenly(*args, **kwargs)

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        (a,), attrs = super().bind(args, kwargs)
        a, repeats = value(a), attrs["repeats"]
        if isinstance(repeats, (tuple, list)) and len(repeats) == 1:
            repeats = repeats[0]
        if isinstance(repeats, (tuple, list)) or getattr(repeats, "ndim", 0) > 0:
            raise NotSupported("np.repeat with computed repeat counts is not supported",
                               why="The shape of the result depends on their values.",
                               instead="Pass the counts as a list of Python integers.")
        attrs = {"repeats": arguments.shape(repeats)[0], "axis": attrs.get("axis")}
        if attrs["axis"] is None or a.ndim == 1 and arguments.axis(attrs["axis"], 1) == 0:
            return (a,), {"repeats": attrs["repeats"]}
        return (a,), {"repeats": attrs["repeats"], "axis": arguments.axis(attrs["axis"], a.ndim)}

    def types(a: ArrayType, repeats=None, axis=None) -> ArrayType:
        if axis is None:
            return ArrayType(a.dtype, (a.elements * repeats,))
        return ArrayType(a.dtype, (*a.sizes[:axis], a.sizes[axis] * repeats, *a.sizes[axis + 1:]))

    def element(at, a, repeats=None, axis=None):
        k = 0 if axis is None else axis
        place = moved(at, k, at[k] // number(repeats))
        return a[place if axis is not None else regrouped(place, (a.size,), a.shape)]

    def vjp(dy, a, repeats=None, axis=None):
        k, sizes = (0, (product(a.shape),)) if axis is None else (axis, tuple(a.shape))
        groups = np.reshape(dy, (*sizes[:k + 1], repeats, *sizes[k + 1:]))
        return reshaped(np.sum(groups, axis=k + 1), a.shape)

    def batch(lead, a, repeats=None, axis=None):
        if axis is not None:
            return np.repeat(a, repeats, axis + 1)
        return np.repeat(reshaped(a, (a.shape[0], product(a.shape[1:]))), repeats, 1)

    def domain(rng):
        return arrays_of(rng, ((3,), {"repeats": 2}), ((2, 3), {"repeats": 3, "axis": 1}),
                         ((2, 3), {"repeats": 2}))


def _repeated_unevenly(a: Any, repeats: Any, axis: Any = None) -> Any:
    """Elements by their positions, for a list of numbers of repeats; None for a single number."""
    if not isinstance(repeats, (tuple, list)) or len(repeats) == 1:
        return None
    a = value(a)
    if axis is None:
        a, axis = reshaped(a, (a.size,)), 0
    axis = arguments.axis(axis, a.ndim)
    counts = [arguments.whole(count, "a number of repeats") for count in repeats]
    if not current().assumptions.equal(a.shape[axis], len(counts)):
        raise ShapeError(f"operands could not be broadcast together with shape "
                         f"({size_text(a.shape[axis])},) ({len(counts)},)")
    if any(count < 0 for count in counts):
        raise ShapeError("repeats may not contain negative values.")
    positions = np.repeat(np.arange(len(counts)), counts)
    return a[from_here(axis, positions.tolist())]


class Take(Rewritten):
    """An index: `np.take(x, i, axis=1)` is `x[:, i]`."""

    calls = np.take
    methods = ("take",)

    def rewrite(a, indices, axis=None, *, mode="raise"):
        a = value(a)
        if axis is None:
            a, axis = reshaped(a, (a.size,)), 0
        axis = arguments.axis(axis, a.ndim)
        if mode != "raise":
            indices = brought_inside(indices, a.shape[axis], mode)
        part = a[from_here(axis, indices)]
        is_view = not isinstance(indices, (tuple, list)) and getattr(indices, "ndim", 0) == 0
        return np.copy(part) if is_view and part.ndim else part


def brought_inside(indices: Any, size: Any, mode: Any) -> Any:
    """Places inside of an axis for those that are given: the nearest, or counted around."""
    if mode not in ("wrap", "clip"):
        raise BadArgument("clipmode must be one of 'clip', 'raise', or 'wrap' (got " + repr(mode) + ")")
    places: Any = value(call(np.array, (list(indices),), {}) if isinstance(indices, (tuple, list)) else indices)
    return places % size if mode == "wrap" else np.clip(places, 0, size - 1)


class Meshgrid(Rewritten):
    """Vectors broadcast over a grid."""

    calls = np.meshgrid

    def rewrite(*xi, copy=True, sparse=False, indexing="xy"):
        if indexing not in ("xy", "ij"):
            raise BadArgument("Valid values for `indexing` are 'xy' and 'ij'.")
        vectors = [reshaped(v, (v.size,)) for v in map(value, xi)]
        places = list(range(len(vectors)))
        if indexing == "xy" and len(places) > 1:
            places[:2] = 1, 0
        sizes: list[Extent] = [1] * len(vectors)
        for v, k in zip(vectors, places, strict=True):
            sizes[k] = v.size
        lying = [v[tuple(slice(None) if axis == k else None for axis in range(len(sizes)))]
                 for v, k in zip(vectors, places, strict=True)]
        grids = lying if sparse else [np.broadcast_to(v, tuple(sizes)) for v in lying]
        return tuple(np.copy(grid) if copy else grid for grid in grids)
