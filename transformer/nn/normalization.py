"""Activations with mean 0 and variance 1, along one axis or another.

    x = nn.layer_norm(x, params["scale"], params["offset"])

`scale` and `offset` are what is learned; None leaves them out.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def layer_norm(x: Any, scale: Any = None, offset: Any = None, axis: Any = -1, eps: float = 1e-5) -> Any:
    """Normalises each example to mean 0 and variance 1 along one or several axes, then multiplies by `scale` and adds
    `offset`, which broadcast. Source: https://arxiv.org/abs/1607.06450; `eps` is PyTorch's.

    >>> layer_norm(np.array([[1.0, 3.0]]), eps=0.0)
    array([[-1.,  1.]])
    """
    centered = x - np.mean(x, axis=axis, keepdims=True)
    variance = np.mean(centered * centered, axis=axis, keepdims=True)
    return affine(centered / np.sqrt(variance + eps), scale, offset)


def rms_norm(x: Any, scale: Any = None, axis: Any = -1, eps: float = 1e-6) -> Any:
    """Normalises the mean square to 1 along one or several axes, then multiplies by `scale`. Source:
    https://arxiv.org/abs/1910.07467.

    >>> rms_norm(np.array([3.0, 3.0]), eps=0.0)
    array([1., 1.])
    """
    return affine(x / np.sqrt(np.mean(x * x, axis=axis, keepdims=True) + eps), scale, None)


def batch_norm(x: Any, scale: Any = None, offset: Any = None, mean: Any = None, variance: Any = None, axis: int = -1,
               eps: float = 1e-5) -> Any:
    """Normalises each channel to mean 0 and variance 1 over all other axes, then multiplies by `scale` and adds
    `offset`.

    `axis` is that of the channels; `scale` and `offset` have shape (channels,). `mean` and `variance`, of that shape,
    replace those of `x`: in evaluation, running averages of `batch_moments` from training. Source:
    https://arxiv.org/abs/1502.03167; `eps` is PyTorch's.

    >>> batch_norm(np.array([[1.0, 5.0], [3.0, 5.0]]), eps=1e-12)
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    if (mean is None) != (variance is None):
        raise TypeError("nn.batch_norm expects both mean and variance, or neither")
    if mean is None:
        mean, variance = batch_moments(x, axis)
    normal = (x - along(mean, x, axis)) / np.sqrt(along(variance, x, axis) + eps)
    return affine(normal, along(scale, x, axis), along(offset, x, axis))


def batch_moments(x: Any, axis: int = -1) -> tuple[Any, Any]:
    """The mean and the variance of each channel, over all other axes, both of the shape (channels,).

    >>> batch_moments(np.array([[1.0, 5.0], [3.0, 5.0]]))
    (array([2., 5.]), array([1., 0.]))
    """
    others = tuple([k for k in range(np.ndim(x)) if k != axis % np.ndim(x)])
    mean = np.mean(x, axis=others, keepdims=True)
    centered = x - mean
    return np.squeeze(mean, others), np.mean(centered * centered, axis=others)


def along(values: Any, x: Any, axis: int) -> Any:
    """Values of each channel in a shape that broadcasts to `x`."""
    if values is None or axis in (-1, np.ndim(x) - 1):
        return values
    return np.reshape(values, (-1, *[1] * (np.ndim(x) - 1 - axis % np.ndim(x))))


def affine(x: Any, scale: Any, offset: Any) -> Any:
    """``x * scale + offset``, without what is None."""
    if scale is not None:
        x = x * scale
    return x if offset is None else x + offset
