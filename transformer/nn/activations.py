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

from ..core.halves import is_half
from ..taking import taking_arrays

Axis = int | tuple[int, ...] | None


def relu(x: Any) -> Any:
    """``max(x, 0)``, with the derivative 0 at 0.

    >>> relu(np.array([-1.0, 0.0, 2.0]))
    array([0., 0., 2.])
    """
    return np.where(x <= 0, 0, x)


def leaky_relu(x: Any, negative_slope: float = 0.01) -> Any:
    """`x` above 0, and `negative_slope` times `x` below.

    >>> leaky_relu(np.array([-1.0, 0.0, 2.0]))
    array([-0.01,  0.  ,  2.  ])
    """
    return np.where(x >= 0, x, negative_slope * x)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """`x` above 0, and ``alpha * (exp(x) - 1)`` below. Source: https://arxiv.org/abs/1511.07289.

    >>> elu(np.array([0.0, 2.0]))
    array([0., 2.])
    """
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x)))


def selu(x: Any) -> Any:
    """`elu`, scaled so that activations keep mean 0 and variance 1. Source: https://arxiv.org/abs/1706.02515.

    >>> selu(np.array([0.0, 2.0]))
    array([0.        , 2.10140197])
    """
    return 1.0507009873554805 * elu(x, 1.6732632423543772)


def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``: `scipy.special.expit`, in the dtype of `x`.

    >>> sigmoid(np.array([-1000.0, 0.0, 1000.0]))
    array([0. , 0.5, 1. ])
    """
    return _as_wide(scipy.special.expit(x), x)


def tanh(x: Any) -> Any:
    """`np.tanh`."""
    return np.tanh(x)


def identity(x: Any) -> Any:
    """`x` itself."""
    return x


def softplus(x: Any) -> Any:
    """``log(1 + exp(x))``.

    >>> softplus(1000.0)
    np.float64(1000.0)
    """
    return np.logaddexp(x, 0)


def silu(x: Any) -> Any:
    """``x * sigmoid(x)``, also called swish. Source: https://arxiv.org/abs/1702.03118.

    >>> silu(np.array([-1000.0, 0.0, 1000.0]))
    array([  -0.,    0., 1000.])
    """
    return x * sigmoid(x)


def log_sigmoid(x: Any) -> Any:
    """``log(sigmoid(x))``: `scipy.special.log_expit`.

    >>> log_sigmoid(-1000.0)
    np.float64(-1000.0)
    """
    return -np.logaddexp(-x, 0)


def celu(x: Any, alpha: float = 1.0) -> Any:
    """`x` above 0, and ``alpha * (exp(x / alpha) - 1)`` below. Source: https://arxiv.org/abs/1704.07483.

    >>> celu(np.array([0.0, 2.0]))
    array([0., 2.])
    """
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x) / alpha))


def relu6(x: Any) -> Any:
    """`x`, but not below 0 nor above 6, with the derivative 0 at both. Source: https://arxiv.org/abs/1704.04861.

    >>> relu6(np.array([-1.0, 2.0, 7.0]))
    array([0., 2., 6.])
    """
    return np.where(x >= 6, 6, np.where(x <= 0, 0, x))


def hard_sigmoid(x: Any) -> Any:
    """``relu6(x + 3) / 6``: the sigmoid as three straight lines.

    >>> hard_sigmoid(np.array([-3.0, 0.0, 1.5]))
    array([0.  , 0.5 , 0.75])
    """
    return relu6(x + 3) / 6


def hard_silu(x: Any) -> Any:
    """``x * hard_sigmoid(x)``, also called hard swish. Source: https://arxiv.org/abs/1905.02244.

    >>> hard_silu(np.array([-3.0, 0.0, 3.0]))
    array([-0.,  0.,  3.])
    """
    return x * hard_sigmoid(x)


def hard_tanh(x: Any) -> Any:
    """`x`, but not below -1 nor above 1.

    >>> hard_tanh(np.array([-2.0, 0.5, 2.0]))
    array([-1. ,  0.5,  1. ])
    """
    return np.where(x > 1, 1, np.where(x < -1, -1, x))


def soft_sign(x: Any) -> Any:
    """``x / (1 + abs(x))``.

    >>> soft_sign(np.array([-1.0, 0.0, 3.0]))
    array([-0.5 ,  0.  ,  0.75])
    """
    return x / (np.abs(x) + 1)


def mish(x: Any) -> Any:
    """``x * tanh(softplus(x))``. Source: https://arxiv.org/abs/1908.08681.

    >>> mish(np.array([0.0, 1000.0]))
    array([   0., 1000.])
    """
    return x * np.tanh(np.logaddexp(x, 0))


def squareplus(x: Any, b: float = 4.0) -> Any:
    """``(x + sqrt(x**2 + b)) / 2``, a `softplus` without exponentials. Source: https://arxiv.org/abs/2112.11687.

    >>> squareplus(np.array([0.0, 1.5]))
    array([1., 2.])
    """
    return (x + np.sqrt(x * x + b)) / 2


def glu(x: Any, axis: int = -1) -> Any:
    """The first half along an axis times the `sigmoid` of the second. Source: https://arxiv.org/abs/1612.08083. Raises
    `ValueError` for an axis of odd length.

    >>> glu(np.array([3.0, 4.0, 0.0, 0.0]))
    array([1.5, 2. ])
    """
    if x.shape[axis] % 2:
        raise ValueError(f"nn.glu: the axis has length {x.shape[axis]}, which is odd")
    first, second = np.split(x, 2, axis=axis)
    return first * sigmoid(second)


def gelu(x: Any, approximate: bool = True) -> Any:
    """`x` times the distribution function of the normal distribution; by a hyperbolic tangent if `approximate`, which
    differs by less than 0.0005. Source: https://arxiv.org/abs/1606.08415.

    >>> gelu(np.array([-1000.0, 0.0, 1000.0]))
    array([  -0.,    0., 1000.])
    """
    if approximate:
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + _as_wide(scipy.special.erf(x / math.sqrt(2)), x))


def _as_wide(y: Any, x: Any) -> Any:
    """What SciPy computes of `x`, in 16 bits where `x` has as many: it would be float64."""
    return y.astype(x.dtype) if hasattr(x, "dtype") and is_half(x.dtype) else y


@taking_arrays
def softmax(x: Any, axis: Axis = -1) -> Any:
    """Exponentials as shares of their sum along an axis: `scipy.special.softmax`.

    >>> softmax(np.array([1000.0, 1000.0]))
    array([0.5, 0.5])
    """
    return scipy.special.softmax(x, axis=axis)


@taking_arrays
def log_softmax(x: Any, axis: Axis = -1) -> Any:
    """The logarithm of `softmax`: `scipy.special.log_softmax`.

    >>> log_softmax(np.array([0.0, -1000.0]))
    array([    0., -1000.])
    """
    return scipy.special.log_softmax(x, axis=axis)


@taking_arrays
def logsumexp(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The logarithm of the sum of exponentials: `scipy.special.logsumexp`.

    >>> logsumexp(np.array([1000.0, -1000.0]))
    np.float64(1000.0)
    """
    return scipy.special.logsumexp(x, axis=axis, keepdims=keepdims)


@taking_arrays
def logmeanexp(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The logarithm of the mean of exponentials: `logsumexp`, less the logarithm of how many there are.

    >>> logmeanexp(np.array([2.0, 2.0]))
    np.float64(2.0)
    """
    total = scipy.special.logsumexp(x, axis=axis, keepdims=keepdims)
    return total - math.log(x.size // max(np.size(total), 1))


def log1mexp(x: Any) -> Any:
    """``log(1 - exp(-x))``, exact for small and for large positive `x`. Source: Mächler, "Accurately computing
    log(1 - exp(-|a|))", 2012.

    >>> log1mexp(np.array([1e-20, 50.0]))
    array([-4.60517019e+01, -1.92874985e-22])
    """
    near = x < math.log(2)
    return np.where(near, np.log(-np.expm1(-np.where(near, x, 1.0))), np.log1p(-np.exp(-np.where(near, 1.0, x))))


def standardize(x: Any, axis: Axis = -1, mean: Any = None, variance: Any = None, epsilon: float = 1e-5) -> Any:
    """`x` less its mean, over ``sqrt(variance + epsilon)``, along an axis; both are those of `x`, unless given.

    >>> standardize(np.array([1.0, 3.0]), epsilon=0.0)
    array([-1.,  1.])
    """
    if mean is None:
        mean = np.mean(x, axis=axis, keepdims=True)
    if variance is None:
        variance = np.mean(np.square(x), axis=axis, keepdims=True) - np.square(mean)
    return (x - mean) / np.sqrt(variance + epsilon)


swish, hard_swish = silu, hard_silu
