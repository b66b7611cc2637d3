"""Vector mathematics at many points: numbers where care is needed, exact values, errors in units of the
last place. Exact values come from mpmath, or in bulk from the next wider format of NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.special
from mpmath import mp, mpf

from transformer.lower.vecmath import SUFFIXES, TABLE, compiled

F32, F64 = SUFFIXES
OF_TWO = "arctan2", "hypot", "power"
LIMIT = {name: 1.0 if name in ("exp", "log", "sin", "cos") else 2.0 for name in TABLE}


def twin(name: str) -> Callable[..., Any]:
    """NumPy's or scipy's function of a name."""
    return getattr(np, name, None) or getattr(scipy.special, name)      # type: ignore[no-any-return]


# -- calls ------------------------------------------------------------------------------------

@cache
def kernel(name: str, dtype: np.dtype) -> Any:
    """Compiled: `out[i] = f(x[i])` for every i; of two arrays for functions of two numbers."""
    from numba import njit
    function = compiled(name + SUFFIXES[dtype])

    def of_one(x, out):                                                  # type: ignore[no-untyped-def]
        for i in range(out.shape[0]):
            out[i] = function(x[i])

    def of_two(x, y, out):                                               # type: ignore[no-untyped-def]
        for i in range(out.shape[0]):
            out[i] = function(x[i], y[i])

    return njit(error_model="numpy", nogil=True)(of_two if name in OF_TWO else of_one)


def values(name: str, *operands: np.ndarray) -> np.ndarray:
    """By the compiled loop."""
    out = np.empty_like(operands[0])
    kernel(name, out.dtype)(*operands, out)
    return out


def plain_values(name: str, *operands: np.ndarray) -> np.ndarray:
    """By plain Python, which does not fuse products and sums."""
    function = TABLE[name][operands[0].dtype]
    return np.array([function(*numbers) for numbers in zip(*operands, strict=True)], operands[0].dtype)


# -- points -----------------------------------------------------------------------------------

EDGES = [0.0, 1.0, 2.0, 0.5, 3.0, 0.25, 1.5, 4.0, 100.0, 1e-5, 1e5, np.inf]
STEPS = {"exp": math.log(2) / 2, "expm1": math.log(2) / 2, "sinh": math.log(2) / 2, "cosh": math.log(2) / 2,
         "tanh": math.log(2) / 4, "expit": math.log(2) / 2, "exp2": 0.5, "sin": math.pi / 4, "cos": math.pi / 4,
         "tan": math.pi / 4, "arctan": 0.41421356237309503}
LOGARITHMS = "log", "log2", "log10", "log1p", "cbrt", "power", "hypot", "arcsinh", "arccosh"


def points(name: str, dtype: np.dtype, rng: np.random.Generator, count: int) -> list[np.ndarray]:
    """`count` numbers (for functions of two numbers, pairs) of each kind: any bits, around 1, near the ends
    of the reduced range, near thresholds of overflow and underflow."""
    def column() -> np.ndarray:
        parts = [bit_patterns(rng, dtype, count), rng.normal(size=count), 10 * rng.normal(size=count),
                 rng.uniform(-1, 1, count), 1 + 0.01 * rng.normal(size=count), boundaries(name, dtype, rng, count)]
        return np.concatenate([part.astype(dtype) for part in parts])

    columns = [column() for _ in range(1 + (name in OF_TWO))]
    return [columns[0], rng.permutation(columns[1])] if name in OF_TWO else columns


def bit_patterns(rng: np.random.Generator, dtype: np.dtype, count: int) -> np.ndarray:
    """Numbers of the whole range, nan and infinities among them."""
    return rng.integers(0, 256, count * dtype.itemsize, dtype=np.uint8).view(dtype)


def boundaries(name: str, dtype: np.dtype, rng: np.random.Generator, count: int) -> np.ndarray:
    """Numbers a few units in the last place from where another case begins."""
    if name in STEPS:
        near = STEPS[name] * rng.integers(-2 ** rng.integers(1, 18, count), 2 ** rng.integers(1, 18, count))
    elif name in LOGARITHMS:
        near = math.sqrt(0.5) * 2.0 ** rng.integers(-140, 127, count)
    else:
        near = rng.choice(EDGES[:8], count)
    ends = np.log([float(np.finfo(dtype).max), float(np.finfo(dtype).smallest_subnormal)])
    near[: count // 4] = rng.choice([*ends, *ends / math.log(2), 0.5 * ends[0]], len(near[: count // 4]))
    near = near.astype(dtype)
    return near + np.spacing(near) * rng.integers(-3, 4, count).astype(dtype)


def special_points(name: str, dtype: np.dtype) -> list[np.ndarray]:
    """Zeros, infinities, nan, the ends of the range, and all pairs of them."""
    info = np.finfo(dtype)
    numbers = [*EDGES, float(info.max), float(info.tiny), float(info.smallest_subnormal)]
    column = np.array([*numbers, *(-x for x in numbers), np.nan], dtype)
    return [grid.ravel().copy() for grid in np.meshgrid(*[column] * (1 + (name in OF_TWO)))]


# -- exact values -----------------------------------------------------------------------------

EXACT: dict[str, Callable[..., Any]] = {
    "exp2": lambda x: mpf(2) ** x, "log2": lambda x: mp.log(x, 2), "log10": mp.log10, "expit": lambda x: mp.sigmoid(x),
    "arcsin": mp.asin, "arccos": mp.acos, "arctan": mp.atan, "arctan2": mp.atan2, "arcsinh": mp.asinh,
    "arccosh": mp.acosh, "arctanh": mp.atanh, "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "gammaln": lambda x: mp.re(mp.loggamma(x)),
}


def exact_error(name: str, found: Any, usual: Any, *numbers: Any) -> float:
    """The error of one number. `usual` is what NumPy has: where that is nan, or the result is not finite or zero
    for large numbers, zeros and infinities, it is the exact value, since mpmath's zeros have no sign."""
    if np.isnan(usual) or np.isnan(found):
        return 0.0 if np.isnan(usual) and np.isnan(found) else math.inf
    large = max(map(abs, numbers)) > 1e10
    if large and (np.isinf(usual) or usual == 0):
        return 0.0 if found == usual and np.signbit(found) == np.signbit(usual) else math.inf
    function = EXACT.get(name) or getattr(mp, name)
    info = np.finfo(found.dtype)
    with mp.workprec(1300 if large else 150):
        ends = any(number == 0 or not np.isfinite(number) for number in numbers)
        exact = mpf(float(usual)) if ends else function(*(mpf(float(number)) for number in numbers))
        if exact == 0 and np.signbit(found) != np.signbit(usual):
            return math.inf
        place = max(mp.mag(exact) - 1, int(info.minexp)) - int(info.nmant)
        behind = mpf(2) ** int(info.maxexp)
        given = math.copysign(1.0, found) * min(behind, mpf(abs(float(found))))
        return float(abs(given - max(-behind, min(behind, exact))) / mpf(2) ** place)


def errors(found: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """In units of the last place of the exact values, which are in a wider format. Infinite where only one
    is nan, or an exact zero has another sign; infinities count as what comes behind the largest number."""
    info = np.finfo(found.dtype)
    wide = np.abs(exact)
    exponent = np.frexp(np.where(np.isfinite(wide) & (wide > 0), wide, 1))[1].astype(np.int32) - 1
    place = np.clip(exponent, int(info.minexp), int(info.maxexp) - 1) - int(info.nmant)
    behind = np.ldexp(exact.dtype.type(1), int(info.maxexp))
    given = np.where(np.isinf(found), np.copysign(behind, found), found.astype(exact.dtype))
    error = np.abs(given - np.where(wide > behind, np.copysign(behind, exact), exact))
    error = error / np.ldexp(exact.dtype.type(1), place)
    wrong_sign = (found == 0) & (exact == 0) & (np.signbit(found) != np.signbit(exact))
    error = np.where(wrong_sign | (np.isnan(found) != np.isnan(exact)), np.inf, error)
    return np.where(np.isnan(found) & np.isnan(exact), 0, error).astype(float)


def worst(name: str, found: np.ndarray, operands: list[np.ndarray]) -> tuple[float, tuple[Any, ...]]:
    """The largest error, and where it is."""
    with np.errstate(all="ignore"):
        if found.dtype == F32:
            all_errors = errors(found, twin(name)(*(x.astype(F64) for x in operands)))
        else:
            usual = twin(name)(*operands)
            all_errors = np.array([exact_error(name, *each) for each in zip(found, usual, *operands, strict=True)])
    k = int(np.argmax(all_errors))
    return float(all_errors[k]), tuple(x[k] for x in operands)
