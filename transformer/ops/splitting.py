"""Splitting arrays: every part is a slice."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import ShapeError
from ..core.sizes import Extent, divided
from . import arguments
from .rewritten import Rewritten
from .shape import from_here
from .value import Value, value


def _parts(x: Value, bounds: list[Extent], axis: int) -> list[Value]:
    """The slices of `x` between bounds."""
    edges = [None, *bounds, None]
    return [x[from_here(axis, slice(a, b))] for a, b in zip(edges, edges[1:], strict=False)]


def _split(x: Value, sections: Any, axis: int, even: bool) -> list[Value]:
    if isinstance(sections, (tuple, list)):
        return _parts(x, [arguments.extent(bound, "an index") for bound in sections], axis)
    count = arguments.whole(sections, "the number of sections")
    if count <= 0:
        raise ShapeError("number sections must be larger than 0.")
    size = x.shape[axis]
    if even and not current().assumptions.equal(divided(size, count) * count, size):
        raise ShapeError("array split does not result in an equal division")
    spare = 0 if even else count - 1
    lengths = [divided(size + max(spare - i, 0), count) for i in range(count)]
    bounds: list[Extent] = [sum(lengths[:i], start=0) for i in range(1, count)]
    return _parts(x, bounds, axis)


class Split(Rewritten):
    calls = np.split

    def rewrite(ary, indices_or_sections, axis=0):
        x = value(ary)
        return _split(x, indices_or_sections, arguments.axis(axis, x.ndim), even=True)


class ArraySplit(Rewritten):
    name = "array_split"
    calls = np.array_split

    def rewrite(ary, indices_or_sections, axis=0):
        x = value(ary)
        return _split(x, indices_or_sections, arguments.axis(axis, x.ndim), even=False)


class Vsplit(Rewritten):
    calls = np.vsplit

    def rewrite(ary, indices_or_sections):
        x = value(ary)
        if x.ndim < 2:
            raise ShapeError("vsplit only works on arrays of 2 or more dimensions")
        return _split(x, indices_or_sections, 0, even=True)


class Hsplit(Rewritten):
    calls = np.hsplit

    def rewrite(ary, indices_or_sections):
        x = value(ary)
        if x.ndim == 0:
            raise ShapeError("hsplit only works on arrays of 1 or more dimensions")
        return _split(x, indices_or_sections, min(x.ndim - 1, 1), even=True)


class Dsplit(Rewritten):
    calls = np.dsplit

    def rewrite(ary, indices_or_sections):
        x = value(ary)
        if x.ndim < 3:
            raise ShapeError("dsplit only works on arrays of 3 or more dimensions")
        return _split(x, indices_or_sections, 2, even=True)
