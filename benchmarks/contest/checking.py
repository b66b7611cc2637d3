"""Whether results are the same."""

from __future__ import annotations

from typing import Any

import numpy as np

ALLOWED = {"f4": 3e-4, "f8": 1e-8}          # of the largest number in an array; sums may be in another order


def leaves(result: Any) -> list[np.ndarray]:
    """The arrays and numbers of a result, in order.

    >>> leaves((1.0, (np.ones(2),)))
    [array(1.), array([1., 1.])]
    """
    if isinstance(result, tuple | list):
        return [leaf for item in result for leaf in leaves(item)]
    return [np.asarray(result)]


def disagreement(result: Any, wanted: Any, tolerance: float | None = None) -> str | None:
    """What is wrong with a result, if something is."""
    found, expected = leaves(result), leaves(wanted)
    if [a.shape for a in found] != [b.shape for b in expected]:
        return f"shapes {[a.shape for a in found]}, not {[b.shape for b in expected]}"
    off = max((distance(a, b) / allowed(a, b, tolerance) for a, b in zip(found, expected)), default=0.0)
    return None if off <= 1 else f"wrong by {off:.1e} times what is allowed"


def allowed(a: np.ndarray, b: np.ndarray, tolerance: float | None) -> float:
    return tolerance or (ALLOWED["f4"] if a.dtype.char in "fF" or b.dtype.char in "fF" else ALLOWED["f8"])


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference, in parts of the largest number."""
    if a.size == 0:
        return 0.0
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return np.inf
    with np.errstate(invalid="ignore"):
        apart = np.where((a == b) | np.isnan(a), 0.0, np.abs(a - b * 1.0))
    return float(np.max(apart)) / (float(np.max(np.abs(b[np.isfinite(b)]), initial=0.0)) or 1.0)
