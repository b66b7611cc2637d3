"""`python -m tests.vecmath_errors`: the largest errors of vector mathematics, in units of the last place.

Single precision is measured at all 2**32 numbers (functions of two numbers: at random pairs), against the
function in double precision; double precision at millions of numbers, against `long double` where that is
wider, and against mpmath for functions that NumPy has not.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from vecmath_cases import (
    F32,
    F64,
    OF_TWO,
    SUFFIXES,
    errors,
    points,
    values,
    worst,
)

from transformer.lower.vecmath import TABLE, compiled

BLOCK = 2 ** 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=sorted(TABLE))
    parser.add_argument("--millions", type=float, default=5.0, help="numbers in double precision")
    options = parser.parse_args()
    print("| function | f32 | at | f64 | at |\n|---|--:|---|--:|---|")
    for name in options.names:
        narrow = pairs(name, F32, options.millions) if name in OF_TWO else exhaustive(name)
        wide = pairs(name, F64, options.millions)
        cells = [f"{error:.3f} | {', '.join(repr(x.item()) for x in where)}" for error, where in (narrow, wide)]
        print(f"| `{name}` | {' | '.join(cells)} |", flush=True)


def pairs(name: str, dtype: np.dtype, millions: float) -> tuple[float, tuple[Any, ...]]:
    """At random numbers, or pairs of them."""
    rng = np.random.default_rng(7)
    by_mpmath = dtype == F64 and not hasattr(np, name)
    count = int(millions * 1e6 / 6 / (500 if by_mpmath else 1))
    found = (0.0, ())
    for _ in range(0, count, BLOCK):
        operands = points(name, dtype, rng, min(count, BLOCK))
        if by_mpmath or dtype == F32:
            found = max(found, worst(name, values(name, *operands), operands), key=lambda each: each[0])
        else:
            found = max(found, in_bulk(name, operands), key=lambda each: each[0])
    return found


def in_bulk(name: str, operands: list[np.ndarray]) -> tuple[float, tuple[Any, ...]]:
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(*(x.astype(np.longdouble) for x in operands))
        found = errors(values(name, *operands), exact)
    k = int(np.argmax(found))
    return float(found[k]), tuple(x[k] for x in operands)


def exhaustive(name: str) -> tuple[float, tuple[Any, ...]]:
    """At all numbers in single precision."""
    measure = measured(name)
    out = np.empty(BLOCK, F32)
    found = (0.0, 0)
    for start in range(0, 2 ** 32, BLOCK):
        measure(np.uint32(start), out)
        k = int(np.argmax(out))
        found = max(found, (float(out[k]), start + k))
    return found[0], (np.uint32(found[1]).view(F32),)


def measured(name: str) -> Any:
    """Compiled: the errors at consecutive numbers, by their bits. The function in double precision has to be
    right to some units of its last place."""
    from numba import njit
    narrow, wide = compiled(name + SUFFIXES[F32]), compiled(name + SUFFIXES[F64])
    behind = 2.0 ** 128

    @njit(error_model="numpy")
    def measure(start, out):                                             # type: ignore[no-untyped-def]
        for i in range(out.shape[0]):
            x = np.uint32(start + np.uint32(i)).view(np.float32)
            found, exact = np.float64(narrow(x)), wide(np.float64(x))
            exponent = max((np.float64(exact).view(np.int64) >> 52) & 2047, 1023 - 126)
            places = np.int64((2046 + 23 - exponent) << 52).view(np.float64)
            found = np.copysign(behind, found) if abs(found) > behind else found
            exact = np.copysign(behind, exact) if abs(exact) > behind else exact
            error = abs(found - exact) * places
            is_nan, is_exact_nan = found != found, exact != exact
            error = (0.0 if is_exact_nan else np.inf) if is_nan else np.inf if is_exact_nan else error
            signs_differ = np.copysign(1.0, found) != np.copysign(1.0, exact)
            out[i] = np.inf if found == 0.0 and exact == 0.0 and signs_differ else error

    return measure


if __name__ == "__main__":
    main()
