"""Attention: each place takes a mean of the values of other places, weighted by how well their keys fit.

    x = x + nn.multi_head_attention(x @ p["q"], x @ p["k"], x @ p["v"], heads=4, causal=True) @ p["out"]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

from ..core.halves import finfo
from ..taking import taking_arrays


@taking_arrays
def attention(query: Any, key: Any, value: Any, mask: Any = None, causal: bool = False,
              scale: float | None = None) -> Any:
    """``softmax(query @ key.T * scale) @ value`` along the last two axes. Source: https://arxiv.org/abs/1706.03762.

    Args:
        query: (…, places, features). Leading axes, such as examples and heads, broadcast.
        key: (…, others, features).
        value: (…, others, any).
        mask: broadcasts to (…, places, others), and is true where a place may attend. A place that may attend nowhere
            takes the mean of all.
        causal: a place attends to itself and to what is before it.
        scale: by default ``1 / sqrt(features)``.

    Raises `ValueError` where one of `query`, `key` and `value` has less than two axes.

    >>> x = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> attention(x, x, np.array([[2.0], [4.0]]), causal=True)[0]
    array([2.])
    """
    if np.ndim(query) < 2 or np.ndim(key) < 2 or np.ndim(value) < 2:
        raise ValueError("nn.attention: query, key and value must have at least 2 axes (positions and features); "
                         f"their shapes are {np.shape(query)}, {np.shape(key)} and {np.shape(value)}")
    return _attended(query, key, value, None, mask, causal, scale)


def _attended(query: Any, key: Any, value: Any, bias: Any, mask: Any, causal: bool, scale: float | None) -> Any:
    scores = query @ np.swapaxes(key, -1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if bias is not None:
        scores = scores + bias
    least = 0.7 * float(finfo(scores.dtype).min)
    if mask is not None:
        scores = np.where(mask, scores, least)
    if causal:
        scores = np.where(np.arange(scores.shape[-1]) <= np.arange(scores.shape[-2])[:, np.newaxis], scores, least)
    return scipy.special.softmax(scores, axis=-1) @ value


def multi_head_attention(query: Any, key: Any, value: Any, heads: int, mask: Any = None, causal: bool = False) -> Any:
    """`attention` of parts of the features, side by side.

    All are (…, places, features). `heads` divides the features, and `mask` broadcasts to (…, heads, places, others).

    >>> multi_head_attention(*[np.ones((2, 3, 4))] * 3, heads=2).shape
    (2, 3, 4)
    """
    result = attention(split_heads(query, heads), split_heads(key, heads), split_heads(value, heads), mask, causal)
    return merge_heads(result)


@taking_arrays
def dot_product_attention(query: Any, key: Any, value: Any, bias: Any = None, mask: Any = None, *,
                          scale: float | None = None, is_causal: bool = False) -> Any:
    """`attention` with the axes of `jax.nn.dot_product_attention`: (…, places, heads, features).

    `key` and `value` may have fewer heads, which divide those of `query`: neighbouring heads share one. `bias` is
    added to the scores, which are (…, heads, places, others), and `mask` is true where a place may attend; both
    broadcast to them.

    >>> dot_product_attention(np.ones((3, 4, 2)), np.ones((5, 2, 2)), np.ones((5, 2, 2))).shape
    (3, 4, 2)
    """
    query, key, value = (np.swapaxes(x, -3, -2) for x in (query, key, value))
    shared = query.shape[-3] // key.shape[-3]
    if shared > 1:
        key, value = np.repeat(key, shared, axis=-3), np.repeat(value, shared, axis=-3)
    return np.swapaxes(_attended(query, key, value, bias, mask, is_causal, scale), -3, -2)


def split_heads(x: Any, heads: int) -> Any:
    """(…, places, features) as (…, heads, places, features / heads). Raises `ValueError` where `heads` does not divide
    the features.

    >>> split_heads(np.ones((3, 8)), 2).shape
    (2, 3, 4)
    """
    if x.shape[-1] % heads:
        raise ValueError(f"nn.split_heads: {x.shape[-1]} features cannot be divided into {heads} heads")
    return np.swapaxes(x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads), -2, -3)


def merge_heads(x: Any) -> Any:
    """(…, heads, places, features) as (…, places, heads * features).

    >>> merge_heads(np.ones((2, 3, 4))).shape
    (3, 8)
    """
    places = np.swapaxes(x, -2, -3)
    return places.reshape(*places.shape[:-2], places.shape[-2] * places.shape[-1])


def embedding(table: Any, indices: Any) -> Any:
    """Rows of a table, (…, features), by integers of the shape (…). Raises `TypeError` for other indices.

    >>> embedding(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([1, 0, 1]))
    array([[2., 3.],
           [0., 1.],
           [2., 3.]])
    """
    if indices.dtype.kind not in "iu":
        raise TypeError(f"nn.embedding: indices are {indices.dtype}, expected integers")
    return table[indices]
