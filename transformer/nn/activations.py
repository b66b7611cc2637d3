"""Functions that are applied to each element, or to rows: what stands between the layers of a network.

    hidden = nn.gelu(x @ params["w"] + params["b"])
    shares = nn.softmax(scores)

Names and defaults are those of `jax.nn`; what NumPy or SciPy has under another name is theirs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special

from ..taking import taking_arrays

Axis = int | tuple[int, ...] | None


def relu(x: Any) -> Any:
    """``max(x, 0)``, with the derivative 0 at 0.

    >>> relu(np.array([-1.0, 0.0, 2.0]))
    array([0., 0., 2.])
    """
    return np.where(x <= 0, 0, x)


def leaky_relu(x: Any, negative_slope: float = 0.01) -> Any:
    """`x` above 0, and `negative_slope` times `x` below."""
    return np.where(x >= 0, x, negative_slope * x)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """`x` above 0, and ``alpha * (exp(x) - 1)`` below. Source: https://arxiv.org/abs/1511.07289."""
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def selu(x: Any) -> Any:
    """`elu`, scaled so that activations keep mean 0 and variance 1. Source: https://arxiv.org/abs/1706.02515."""
    return 1.0507009873554805 * elu(x, 1.6732632423543772)


def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``: `scipy.special.expit`."""
    return scipy.special.expit(x)


def softplus(x: Any) -> Any:
    """``log(1 + exp(x))``.

    >>> softplus(1000.0)
    np.float64(1000.0)
    """
    return np.logaddexp(x, 0)


def silu(x: Any) -> Any:
    """``x * sigmoid(x)``, also called swish. Source: https://arxiv.org/abs/1702.03118."""
    return x * scipy.special.expit(x)


def gelu(x: Any, approximate: bool = True) -> Any:
    """`x` times the distribution function of the normal distribution; by a hyperbolic tangent if `approximate`, which
    differs by less than 0.0005. Source: https://arxiv.org/abs/1606.08415."""
    if approximate:
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + scipy.special.erf(x / math.sqrt(2)))


@taking_arrays
def softmax(x: Any, axis: Axis = -1) -> Any:
    """Exponentials as shares of their sum along an axis: `scipy.special.softmax`.

    >>> softmax(np.array([1000.0, 1000.0]))
    array([0.5, 0.5])
    """
    return scipy.special.softmax(x, axis=axis)


@taking_arrays
def log_softmax(x: Any, axis: Axis = -1) -> Any:
    """The logarithm of `softmax`: `scipy.special.log_softmax`."""
    return scipy.special.log_softmax(x, axis=axis)


@taking_arrays
def logsumexp(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The logarithm of the sum of exponentials: `scipy.special.logsumexp`."""
    return scipy.special.logsumexp(x, axis=axis, keepdims=keepdims)
