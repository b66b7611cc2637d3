"""Initial weights: functions ``initial(key, shape, dtype)``, of a key of `transformer.random`.

    initial = nn.initializers.he_normal()
    params = {"w": initial(key, (64, 32)), "b": np.zeros(32)}

Names, arguments and numbers are those of `jax.nn.initializers`, but for the dtype, which is NumPy's if none is given.
`in_axis` and `out_axis` of a shape are what a layer takes and gives; what is left of its axes, such as the height and
width of a kernel, counts for both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import random

Initializer = Callable[..., Any]
TRUNCATED = 0.87962566103423978  # the standard deviation of the normal distribution between -2 and 2


def zeros(key: Any, shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
    """Zeros; the key is not looked at."""
    return np.zeros(shape, dtype)


def ones(key: Any, shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
    """Ones; the key is not looked at."""
    return np.ones(shape, dtype)


def constant(value: Any, dtype: Any = np.float64) -> Initializer:
    """A value everywhere, or one that broadcasts."""

    def initial(key: Any, shape: tuple[int, ...], dtype: Any = dtype) -> Any:
        return np.full(shape, value, dtype)

    return initial


def uniform(scale: float = 1e-2, dtype: Any = np.float64) -> Initializer:
    """Between 0 and `scale`."""

    def initial(key: Any, shape: tuple[int, ...], dtype: Any = dtype) -> Any:
        return random.uniform(key, shape, dtype) * scale

    return initial


def normal(stddev: float = 1e-2, dtype: Any = np.float64) -> Initializer:
    """Normally distributed about 0."""

    def initial(key: Any, shape: tuple[int, ...], dtype: Any = dtype) -> Any:
        return random.normal(key, shape, dtype) * stddev

    return initial


def truncated_normal(stddev: float = 1e-2, lower: float = -2.0, upper: float = 2.0,
                     dtype: Any = np.float64) -> Initializer:
    """Normally distributed between `lower` and `upper`, then times `stddev`."""

    def initial(key: Any, shape: tuple[int, ...], dtype: Any = dtype) -> Any:
        return random.truncated_normal(key, lower, upper, shape, dtype) * stddev

    return initial


def variance_scaling(scale: float, mode: str, distribution: str, in_axis: int = -2, out_axis: int = -1,
                     dtype: Any = np.float64) -> Initializer:
    """Random numbers of the variance ``scale / n``, where n is how many numbers a layer sums up (`mode` is
    ``"fan_in"``), how many it gives (``"fan_out"``), or the mean of both (``"fan_avg"``). `distribution` is
    ``"normal"``, ``"uniform"``, or ``"truncated_normal"``, which ends at two standard deviations."""

    def initial(key: Any, shape: tuple[int, ...], dtype: Any = dtype) -> Any:
        variance = scale / fan(mode, shape, in_axis, out_axis)
        if distribution == "normal":
            return random.normal(key, shape, dtype) * math.sqrt(variance)
        if distribution == "uniform":
            return random.uniform(key, shape, dtype, -1) * math.sqrt(3 * variance)
        if distribution == "truncated_normal":
            return random.truncated_normal(key, -2, 2, shape, dtype) * (math.sqrt(variance) / TRUNCATED)
        raise ValueError(f"nn.initializers: the distribution is {distribution!r}, expected 'normal', 'uniform' or "
                         f"'truncated_normal'")

    return initial


def fan(mode: str, shape: tuple[int, ...], in_axis: int, out_axis: int) -> float:
    """How many numbers a layer with weights of this shape takes, gives, or both on average."""
    if len(shape) < 2:
        raise ValueError(f"nn.initializers: weights of shape {shape} do not have one axis for the inputs of a layer "
                         "and one for its outputs; use zeros, normal or uniform for a single axis")
    field = math.prod(shape) / (shape[in_axis] * shape[out_axis])
    fans = {"fan_in": shape[in_axis] * field, "fan_out": shape[out_axis] * field,
            "fan_avg": (shape[in_axis] + shape[out_axis]) * field / 2}
    if mode not in fans:
        raise ValueError(f"nn.initializers: the mode is {mode!r}, expected 'fan_in', 'fan_out' or 'fan_avg'")
    return fans[mode]


def glorot_uniform(in_axis: int = -2, out_axis: int = -1, dtype: Any = np.float64) -> Initializer:
    """Source: Glorot and Bengio, http://proceedings.mlr.press/v9/glorot10a.html."""
    return variance_scaling(1.0, "fan_avg", "uniform", in_axis, out_axis, dtype)


def glorot_normal(in_axis: int = -2, out_axis: int = -1, dtype: Any = np.float64) -> Initializer:
    """Source as for `glorot_uniform`; truncated."""
    return variance_scaling(1.0, "fan_avg", "truncated_normal", in_axis, out_axis, dtype)


def lecun_uniform(in_axis: int = -2, out_axis: int = -1, dtype: Any = np.float64) -> Initializer:
    """Source: LeCun et al., http://yann.lecun.com/exdb/publis/pdf/lecun-98b.pdf."""
    return variance_scaling(1.0, "fan_in", "uniform", in_axis, out_axis, dtype)


def lecun_normal(in_axis: int = -2, out_axis: int = -1, dtype: Any = np.float64) -> Initializer:
    """Source as for `lecun_uniform`; truncated."""
    return variance_scaling(1.0, "fan_in", "truncated_normal", in_axis, out_axis, dtype)


def he_uniform(in_axis: int = -2, out_axis: int = -1, dtype: Any = np.float64) -> Initializer:
    """For layers behind which there is a `relu`. Source: He et al., https://arxiv.org/abs/1502.01852."""
    return variance_scaling(2.0, "fan_in", "uniform", in_axis, out_axis, dtype)


def he_normal(in_axis: int = -2, out_axis: int = -1, dtype: Any = np.float64) -> Initializer:
    """Source as for `he_uniform`; truncated."""
    return variance_scaling(2.0, "fan_in", "truncated_normal", in_axis, out_axis, dtype)


def orthogonal(scale: float = 1.0, column_axis: int = -1, dtype: Any = np.float64) -> Initializer:
    """Columns (or rows, if there are fewer of them) that are orthogonal and of the length `scale`; `column_axis` is
    that of the columns, all others are rows. Source: Saxe et al., https://arxiv.org/abs/1312.6120."""

    def initial(key: Any, shape: tuple[int, ...], dtype: Any = dtype) -> Any:
        if len(shape) < 2:
            raise ValueError(f"nn.initializers.orthogonal: weights of shape {shape} are not a matrix")
        columns = shape[column_axis]
        rows = math.prod(shape) // columns
        q, r = np.linalg.qr(random.normal(key, (max(rows, columns), min(rows, columns)), dtype))
        q = q * np.sign(np.diagonal(r))  # which makes all orthogonal matrices as likely
        matrix = q.T if rows < columns else q
        others = [length for axis, length in enumerate(shape) if axis != column_axis % len(shape)]
        return scale * np.moveaxis(matrix.reshape(*others, columns), -1, column_axis)

    return initial


xavier_uniform, xavier_normal = glorot_uniform, glorot_normal
kaiming_uniform, kaiming_normal = he_uniform, he_normal
