"""Joining arrays and taking them apart: each part has a place along one axis of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import NotSupported, ShapeError
from ..core.halves import promoted
from ..core.sizes import Extent, product
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Bound, Kwargs
from .arithmetic import converted
from .base import Op
from .broadcasting import standing_1d, standing_2d, standing_3d
from .creation import zeros_for
from .elements import choose, is_below, moved, regrouped
from .rewritten import Rewritten
from .shape import Sizes, expanded, from_here, reshaped
from .value import value

UNEQUAL = ("all the input array dimensions except for the concatenation axis must match exactly, "
           "but along dimension {0}, the array at index 0 has size {2} and the array at index {1} "
           "has size {3}")
OTHER_RANK = ("all the input arrays must have same number of dimensions, but the array at index 0 "
              "has {1} dimension(s) and the array at index {0} has {2} dimension(s)")


class Joining(Op):
    """Operands are given a common rank, and stand one after another along an axis."""

    variadic = True
    operands = ("arrays",)
    linear = "arrays"

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        kwargs = dict(kwargs)
        dtype, casting = kwargs.pop("dtype", None), kwargs.pop("casting", "same_kind")
        arrays, attrs = super().bind(args, kwargs)
        values = [value(a) for a in arrays]
        if casting != "same_kind":
            raise NotSupported(f"{cls.name} with casting={casting!r} is not supported", instead="Cast with astype.")
        if dtype is not None:
            values = [a.astype(arguments.dtype(dtype)) for a in values]
        return tuple(values), attrs

    @classmethod
    def tangent(cls, given: Any, *arrays: Any, **attrs: Any) -> Any:
        return cls.applied(*filled_tangents(given, arrays), **attrs)


def filled_tangents(given: Any, operands: tuple[Any, ...]) -> list[Any]:
    """The tangents of operands, with zeros for those that have none."""
    return [zeros_for(x) if t is None else t for t, x in zip(given, operands, strict=True)]


def joined(types: list[ArrayType], shapes: list[Sizes], axis: int) -> ArrayType:
    """The type of arrays of these shapes one after another; other sizes must be equal."""
    first, *others = shapes
    for i, sizes in enumerate(others, start=1):
        if len(sizes) != len(first):
            raise ShapeError(OTHER_RANK.format(i, len(first), len(sizes)))
        for k, (a, b) in enumerate(zip(first, sizes, strict=True)):
            if k != axis and not current().assumptions.equal(a, b):
                raise ShapeError(UNEQUAL.format(k, i, a, b))
    length: Extent = sum((sizes[axis] for sizes in shapes), start=0)
    dtype = promoted(type.dtype for type in types)
    return ArrayType(dtype, (*first[:axis], length, *first[axis + 1:]))


def element_of_parts(at: Any, parts: Any, shapes: list[Sizes], axis: int) -> Any:
    """The element at a place of parts that stand one after another; `shapes` are theirs there."""
    part, own, size = parts[0], shapes[0], shapes[0][axis]

    def first() -> Any:
        return part[regrouped(at, own, tuple(part.shape))]

    if len(parts) == 1:
        return first()
    rest = moved(at, axis, at[axis] - size)
    return choose(is_below(at[axis], size), first,
                  lambda: element_of_parts(rest, parts[1:], shapes[1:], axis))


def in_one_dtype(arrays: tuple[Any, ...]) -> list[Any]:
    """The arrays; a number of Python's among them takes the dtype that the others make with it, as an array of one
    element does: integers wrap around."""
    if not any(a.type.weak for a in arrays):
        return list(arrays)
    common = promoted(a.dtype.type(0).item() if a.type.weak else a.dtype for a in arrays)
    return [converted(converted(a, a.dtype), common) if a.type.weak else a for a in arrays]


def piece(whole: Any, i: int, shapes: list[Sizes], axis: int) -> Any:
    """The part of `whole` that part `i` has become."""
    start: Extent = sum((sizes[axis] for sizes in shapes[:i]), start=0)
    stop = start + shapes[i][axis]
    return whole[from_here(axis, slice(start or None, stop if i < len(shapes) - 1 else None))]


def lanes(lead: Any, arrays: tuple[Any, ...]) -> list[Any]:
    """The operands, all with the batch axis that some of them have."""
    count = next(a.shape[0] for a, on in zip(arrays, lead, strict=True) if on)
    return [a if on else np.broadcast_to(a, (count, *np.shape(a)))
            for a, on in zip(arrays, lead, strict=True)]


def shapes_of(arrays: Any) -> list[Sizes]:
    return [tuple(a.shape) for a in arrays]


class Concatenate(Joining):
    calls = np.concatenate

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        arrays, attrs = super().bind(args, kwargs)
        if not arrays:
            raise ShapeError("need at least one array to concatenate")
        axis = arguments.known(attrs.pop("axis", 0), "an axis")
        if axis is None:
            return tuple(reshaped(a, (a.size,)) for a in in_one_dtype(arrays)), attrs
        if any(a.ndim == 0 for a in arrays):
            raise ShapeError("zero-dimensional arrays cannot be concatenated")
        axis = arguments.axis(axis, arrays[0].ndim)
        return arrays, {**attrs, "axis": axis} if axis else attrs

    def types(arrays: list[ArrayType], axis=0) -> ArrayType:
        return joined(arrays, [a.sizes for a in arrays], axis)

    def element(at, *arrays, axis=0):
        return element_of_parts(at, arrays, shapes_of(arrays), axis)

    def vjp(dy, i, *arrays, axis=0):
        return piece(dy, i, shapes_of(arrays), axis)

    def batch(lead, *arrays, axis=0):
        return np.concatenate(lanes(lead, arrays), axis=axis + 1)

    def domain(rng):
        wide = tuple(rng.normal(size=(2, n)) for n in (3, 1, 2))
        return [((rng.normal(size=3), rng.normal(size=2)), {}), (wide, {"axis": 1})]


class Stack(Joining):
    calls = np.stack

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        arrays, attrs = super().bind(args, kwargs)
        if not arrays:
            raise ShapeError("need at least one array to stack")
        axis = arguments.axis(attrs.pop("axis", 0), arrays[0].ndim + 1)
        return arrays, {**attrs, "axis": axis} if axis else attrs

    def types(arrays: list[ArrayType], axis=0) -> ArrayType:
        first, *others = (a.sizes for a in arrays)
        equal = current().assumptions.equal
        if not all(len(first) == len(sizes) and all(map(equal, first, sizes)) for sizes in others):
            raise ShapeError("all input arrays must have the same shape")
        return joined(arrays, [expanded(a.sizes, axis) for a in arrays], axis)

    def element(at, *arrays, axis=0):
        return element_of_parts(at, arrays, [expanded(x.shape, axis) for x in arrays], axis)

    def vjp(dy, i, *arrays, axis=0):
        return dy[from_here(axis, i)]

    def batch(lead, *arrays, axis=0):
        return np.stack(lanes(lead, arrays), axis=axis + 1)

    def domain(rng):
        return [((rng.normal(size=3), rng.normal(size=3)), {}),
                ((rng.normal(size=(2, 3)), rng.normal(size=(2, 3))), {"axis": 2})]


class Standing(Joining):
    """Vectors and scalars are first given more axes.

    `stand` gives the shape that a shape becomes, `axis` the axis along which arrays of a rank are
    joined.
    """

    stand: Any
    axis: Any

    def __init_subclass__(cls) -> None:
        def types(arrays: list[ArrayType]) -> ArrayType:
            shapes = [cls.stand(a.sizes) for a in arrays]
            return joined(arrays, shapes, cls.axis(len(shapes[0])))

        def vjp(dy, i, *arrays):
            shapes = [cls.stand(sizes) for sizes in shapes_of(arrays)]
            return pulled(dy, i, shapes_of(arrays)[i], shapes, cls.axis(len(shapes[0])))

        def element(at: Any, *arrays: Any) -> Any:
            shapes = [cls.stand(sizes) for sizes in shapes_of(arrays)]
            return element_of_parts(at, arrays, shapes, cls.axis(len(shapes[0])))

        cls.types, cls.vjp, cls.element = types, (vjp,), element
        super().__init_subclass__()

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        arrays, attrs = super().bind(args, kwargs)
        if not arrays:
            raise ShapeError("need at least one array to concatenate")
        return arrays, attrs

    @classmethod
    def batch(cls, lead: Any, *arrays: Any) -> Any:
        whole = lanes(lead, arrays)
        stood = [reshaped(a, (a.shape[0], *cls.stand(tuple(a.shape[1:])))) for a in whole]
        return np.concatenate(stood, axis=cls.axis(stood[0].ndim - 1) + 1)


def pulled(whole: Any, i: int, own: Sizes, shapes: list[Sizes], axis: int) -> Any:
    """The part of `whole` that part `i`, of shape `own`, has become as one of `shapes`."""
    if (*own[:axis], 1, *own[axis:]) != shapes[i]:
        return reshaped(piece(whole, i, shapes, axis), own)
    place = sum((sizes[axis] for sizes in shapes[:i]), start=0)
    return whole[from_here(axis, place)]


def _mixed_cases(*shapes: tuple[int, ...]) -> Any:
    return lambda rng: [(tuple(rng.normal(size=shape) for shape in shapes), {}),
                        ((rng.normal(size=3), rng.normal(size=3)), {})]


class Vstack(Standing):
    calls = np.vstack
    stand = standing_2d
    domain = _mixed_cases((2, 3), (3,), (1, 3))

    def axis(rank):
        return 0


class Hstack(Standing):
    calls = np.hstack
    stand = standing_1d
    domain = _mixed_cases((2, 3), (2, 1))

    def axis(rank):
        return 0 if rank == 1 else 1


class Dstack(Standing):
    calls = np.dstack
    stand = standing_3d
    domain = _mixed_cases((2, 3), (2, 3, 2))

    def axis(rank):
        return 2


class ColumnStack(Standing):
    name = "column_stack"
    calls = np.column_stack
    domain = _mixed_cases((3,), (3, 2))

    def stand(sizes):
        return sizes if len(sizes) >= 2 else (product(sizes), 1)

    def axis(rank):
        return 1


class Append(Rewritten):
    calls = np.append

    def rewrite(arr, values, axis=None):
        parts = [value(arr), value(values)]
        if axis is None:                       # a number of Python's is an array of its own dtype, then
            parts = [reshaped(part, (part.size,)) for part in parts]
        return np.concatenate(parts, axis=axis or 0)
