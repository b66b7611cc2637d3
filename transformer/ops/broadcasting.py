"""Arrays over more axes, or longer ones: broadcasting, and standing vectors up."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import ShapeError
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Bound, Kwargs
from .base import Op
from .elements import spread
from .elementwise import broadcast, shape_text
from .rewritten import Rewritten
from .shape import Sizes, arrays_of, reshaped, widened
from .value import call, value


class BroadcastTo(Op):
    name = "broadcast_to"
    calls = np.broadcast_to
    makes_array = "always"
    sized = True
    view = True
    linear = "array"

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        (array,), attrs = super().bind(args, kwargs)
        array, sizes = value(array), arguments.shape(attrs["shape"])
        _check_broadcast(array.shape, sizes)
        return (array,), {"shape": sizes}

    def types(array: ArrayType, shape=None) -> ArrayType:
        return array.strong().with_sizes(shape)

    def element(at, array, shape=None):
        return spread(array, at)

    def vjp(dy, array, shape=None):
        return dy

    def batch(lead, array, shape=None):
        return np.broadcast_to(widened(array, len(shape) + 1 - array.ndim), (array.shape[0], *shape))

    def domain(rng):
        return arrays_of(rng, ((3,), {"shape": (2, 3)}), ((2, 1), {"shape": (2, 3)}),
                         ((), {"shape": (2,)}))


def _check_broadcast(own: Sizes, sizes: Sizes) -> None:
    assumptions = current().assumptions
    if len(own) > len(sizes):
        raise ShapeError("input operand has more dimensions than allowed by the axis remapping")
    for a, b in zip(own[::-1], sizes[::-1], strict=False):
        if a != 1 and not assumptions.equal(a, b) and not assumptions.is_one(a):
            raise ShapeError("operands could not be broadcast together with remapped shapes "
                             f"[original->remapped]: {shape_text(own)}  and requested shape "
                             f"{shape_text(sizes)}")


class BroadcastArrays(Rewritten):
    name = "broadcast_arrays"
    calls = np.broadcast_arrays

    def rewrite(*args):
        arrays = [value(a) for a in args]
        sizes = broadcast(*(a.shape for a in arrays))
        return tuple(np.broadcast_to(a, sizes) if a.shape != sizes else call(np.asarray, (a,), {}) if a.type.weak else a
                     for a in arrays)


def _each(rewrite: Any, arrays: tuple[Any, ...]) -> Any:
    return arguments.alone(tuple(rewrite(value(a)) for a in arrays))


class AtLeast1D(Rewritten):
    name = "atleast_1d"
    calls = np.atleast_1d

    def rewrite(*arys):
        return _each(lambda a: a if a.ndim else np.reshape(a, (1,)), arys)


class AtLeast2D(Rewritten):
    name = "atleast_2d"
    calls = np.atleast_2d

    def rewrite(*arys):
        return _each(lambda a: reshaped(a, standing_2d(a.shape)), arys)


class AtLeast3D(Rewritten):
    name = "atleast_3d"
    calls = np.atleast_3d

    def rewrite(*arys):
        return _each(lambda a: reshaped(a, standing_3d(a.shape)), arys)


def standing_1d(sizes: Sizes) -> Sizes:
    """The shape that `np.atleast_1d` gives an array of these sizes."""
    return sizes or (1,)


def standing_2d(sizes: Sizes) -> Sizes:
    """The shape that `np.atleast_2d` gives an array of these sizes."""
    return (1,) * (2 - len(sizes)) + sizes


def standing_3d(sizes: Sizes) -> Sizes:
    """The shape that `np.atleast_3d` gives an array of these sizes."""
    return {0: (1, 1, 1), 1: (1, *sizes, 1), 2: (*sizes, 1)}.get(len(sizes), sizes)
