"""Reductions that leave NaN out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.types import ArrayType
from .elementwise import FLAT, result_dtype, where
from .reduction import (
    Axis,
    Position,
    Reduction,
    apart_cases,
    are_inner,
    as_float,
    cases_of,
    extreme_type,
    folded,
    kept,
    position_cases,
    position_type,
)


def _cases(rng: Any) -> Any:
    """Every form of `axis`, with a NaN in each array that has axes."""
    found = cases_of(apart_cases)(rng)
    for (a,), _ in found:
        if a.ndim:
            a[(0,) * a.ndim] = np.nan
    return found


def _tangent(t, a, y, axis=None, keepdims=False):
    """The mean of the tangents of the elements that are extreme."""
    at = a == kept(y, axis, keepdims)
    count = as_float(np.sum(at, axis=axis, keepdims=keepdims), a)
    return np.sum(where(at, t, 0.0), axis=axis, keepdims=keepdims) / count


def _cotangent(dy, a, y, axis=None, keepdims=False):
    """Elements that are extreme get equal shares."""
    at = a == kept(y, axis, keepdims)
    count = as_float(np.sum(at, axis=axis, keepdims=keepdims or are_inner(axis)), a)
    return where(at, kept(dy, axis, keepdims) / count, 0.0)


def count_of_numbers(a: Any, axis: Axis, keepdims: bool) -> Any:
    return as_float(np.sum(~np.isnan(a), axis=axis, keepdims=keepdims), a)


class NanSum(Reduction):
    name = "nansum"
    calls = (np.nansum,)
    domain = _cases

    def init(a, **attrs):
        return 0

    def step(total, item, k):
        return total + where(np.isnan(item), 0, item)

    def types(a: ArrayType, axis=None, *, keepdims=False) -> ArrayType:
        return folded(a, axis, keepdims, result_dtype(np.nansum, (a.dtype,)))

    def jvp(t, a, y, axis=None, keepdims=False):
        return np.sum(where(np.isnan(a), 0.0, t), axis=axis, keepdims=keepdims)

    def vjp(dy, a, y, axis=None, keepdims=False):
        return where(np.isnan(a), 0.0, kept(dy, axis, keepdims))


class NanMean(Reduction):
    name = "nanmean"
    calls = (np.nanmean,)
    domain = _cases

    def definition(a, axis=None, keepdims=False):
        a = a if a.dtype.kind in "fc" else a.astype(float)
        return np.nansum(a, axis=axis, keepdims=keepdims) / count_of_numbers(a, axis, keepdims)

    def types(a: ArrayType, axis=None, *, keepdims=False) -> ArrayType:
        return folded(a, axis, keepdims, result_dtype(np.nanmean, (a.dtype,)))

    def jvp(t, a, y, axis=None, keepdims=False):
        total = np.sum(where(np.isnan(a), 0.0, t), axis=axis, keepdims=keepdims)
        return total / count_of_numbers(a, axis, keepdims)

    def vjp(dy, a, y, axis=None, keepdims=False):
        share = dy / count_of_numbers(a, axis, keepdims)
        return where(np.isnan(a), 0.0, kept(share, axis, keepdims))


class NanMax(Reduction):
    """Equal extremes share their derivative equally."""

    name = "nanmax"
    calls = (np.nanmax,)
    jvp = _tangent
    vjp = _cotangent
    domain = _cases

    def step(extreme, item, k):
        return np.fmax(extreme, item)

    def types(a: ArrayType, axis=None, *, keepdims=False) -> ArrayType:
        return extreme_type(a, axis, keepdims, "fmax")


class NanMin(Reduction):
    """Equal extremes share their derivative equally."""

    name = "nanmin"
    calls = (np.nanmin,)
    jvp = _tangent
    vjp = _cotangent
    domain = _cases

    def step(extreme, item, k):
        return np.fmin(extreme, item)

    def types(a: ArrayType, axis=None, *, keepdims=False) -> ArrayType:
        return extreme_type(a, axis, keepdims, "fmin")


def best_number(best: Any, item: Any, k: Any, is_better: Any) -> Any:
    """The best item so far and its position; any number is better than nan."""
    own, place = best
    better = is_better(item, own) | (own != own) & (item == item)
    return where(better, item, own), where(better, k, place)


def all_nan(best: Any) -> Any:
    return best[0] != best[0], np.full(1, np.nan)


class NanArgmax(Position):
    name = "nanargmax"
    calls = (np.nanargmax,)
    derivative = FLAT
    domain = position_cases

    def step(best, item, k):
        return best_number(best, item, k, np.greater)

    def undefined(best):
        return all_nan(best)

    def types(a: ArrayType, axis=None, *, keepdims=False) -> ArrayType:
        return position_type(a, axis, keepdims, "argmax")


class NanArgmin(Position):
    name = "nanargmin"
    calls = (np.nanargmin,)
    derivative = FLAT
    domain = position_cases

    def step(best, item, k):
        return best_number(best, item, k, np.less)

    def undefined(best):
        return all_nan(best)

    def types(a: ArrayType, axis=None, *, keepdims=False) -> ArrayType:
        return position_type(a, axis, keepdims, "argmin")
