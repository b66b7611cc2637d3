"""Ops that hand a value on: the value itself, or the value without its derivative."""

from __future__ import annotations

from ..core.types import ArrayType
from .base import Op
from .value import apply


class Same(Op):
    """Another name for a value. It stands for no operation and is gone after copy propagation."""

    linear = "x"

    def types(x: ArrayType) -> ArrayType:
        return x

    def element(at, x):
        return x[at]

    def vjp(dy, x):
        return dy

    def run(x):
        return x

    def batch(lead, x):
        return x

    def domain(rng):
        return [((rng.normal(size=shape),), {}) for shape in ((), (3,), (2, 3))]


class Again(Op):
    """The value, to compute from it a second time: what rests on it is not shared with what rests on the
    value itself. It is gone when the function is written.
    """

    linear = "x"

    def types(x: ArrayType, serial=0) -> ArrayType:
        return x

    def element(at, x, serial=0):
        return x[at]

    def vjp(dy, x, serial=0):
        return dy

    def run(x, serial=0):
        return x

    def batch(lead, x, serial=0):
        return x

    def domain(rng):
        return [((rng.normal(size=shape),), {}) for shape in ((), (3,), (2, 3))]


def stop_gradient(x):
    """`x`, taken as a constant by every derivative.

    >>> stop_gradient(2.5)
    2.5
    """
    return x


class StopGradient(Op):
    """See `stop_gradient`."""

    name = "stop_gradient"
    calls = (stop_gradient,)
    derivative = None, "the user asked for it: stop_gradient"

    def types(x: ArrayType) -> ArrayType:
        return x

    def element(at, x):
        return x[at]

    def run(x):
        return x

    def batch(lead, x):
        return apply(StopGradient, (x,), {})

    def domain(rng):
        return [((rng.normal(size=shape),), {}) for shape in ((), (3,))]
