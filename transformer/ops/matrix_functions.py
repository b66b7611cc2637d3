"""Functions of square matrices by `scipy.linalg`.

The derivative of an exponential in a direction stands in a corner of the exponential of a larger matrix:

    expm([[a, t], [0, a]]) == [[expm(a), dexpm(a)(t)], [0, expm(a)]]

(R. Mathias, "A chain rule for matrix functions and applications", 1996), so that it has all orders.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.types import ArrayType
from .base import callable_of
from .creation import zeros_for
from .matrices import MatrixOp, checked
from .products import transposed
from .value import Value, apply


def expm(a: Any) -> Any:
    """`scipy.linalg.expm` in rules."""
    return apply(Expm, (a,), {}) if isinstance(a, Value) else callable_of("scipy.linalg.expm")(a)


def _in_direction(a: Any, t: Any) -> Any:
    """The derivative of `expm` at `a` in the direction `t`."""
    n = a.shape[-1]
    above, below = np.concatenate((a, t), axis=-1), np.concatenate((zeros_for(a), a), axis=-1)
    return expm(np.concatenate((above, below), axis=-2))[..., :n, n:]


class Expm(MatrixOp):
    """The exponential of a matrix."""

    calls = "scipy.linalg.expm", expm
    jvp = (lambda t, a, y: _in_direction(a, t),)
    vjp = (lambda dy, a, y: _in_direction(transposed(a), dy),)

    def types(A: ArrayType) -> ArrayType:
        return ArrayType(checked(A), A.sizes)

    def batch(lead, A):
        return expm(A)

    def domain(rng):
        return [((0.5 * rng.normal(size=shape),), {}) for shape in ((3, 3), (2, 2), (2, 3, 3))]
