"""The shape of an array, its number of axes and of elements: what is known of it by its type."""

from __future__ import annotations

import numpy as np

from . import arguments
from .elementwise import broadcast
from .rewritten import Rewritten
from .value import value


class BroadcastShapes(Rewritten):
    name = "broadcast_shapes"
    calls = np.broadcast_shapes

    def rewrite(*args):
        return broadcast(*map(arguments.shape, args))


class ShapeOf(Rewritten):
    name = "shape"
    calls = np.shape

    def rewrite(a):
        return value(a).shape


class SizeOf(Rewritten):
    name = "size"
    calls = np.size

    def rewrite(a, axis=None):
        a = value(a)
        return a.size if axis is None else a.shape[arguments.axis(axis, a.ndim)]


class RankOf(Rewritten):
    name = "ndim"
    calls = np.ndim

    def rewrite(a):
        return value(a).ndim
