"""`gemm` as compiled code calls it: BLAS, for parts of matrices that lie in any way."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from transformer.lower.printing.blas import gemm
from transformer.run.compiling.blas import compiled_gemm


def part(rng: Any, shape: tuple[int, int], dtype: str, way: str) -> np.ndarray:
    """A part of a matrix that is no whole array, so that numba knows nothing of its layout."""
    n, m = shape
    made = np.empty((2 * n + 3, 2 * m + 3), dtype, "F" if way == "columns" else "C")
    made[...] = rng.normal(size=made.shape)
    if dtype.startswith("c"):
        made += made[::-1, ::-1] * dtype_of(dtype)(1j)
    if way in ("rows", "columns"):
        return made[1:n + 1, 2:m + 2]
    if way == "steps":
        return made[1:2 * n + 1:2, 2:2 * m + 2:2]
    return made[n + 1:1:-1, 2:m + 2]


def dtype_of(dtype: str) -> Any:
    return np.dtype(dtype).type


@cache
def called_by_a_kernel() -> Any:
    """Such functions are there for kernels, and have no form that Python could call."""
    from transformer.run.compiling.dispatchers import KernelDispatcher
    inner = compiled_gemm()

    def kernel(factor: Any, a: Any, b: Any, share: Any, c: Any) -> None:
        inner(factor, a, b, share, c)

    return KernelDispatcher(kernel, targetoptions={"nopython": True})


WAYS = "rows", "columns", "steps", "backwards"


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_compiled(dtype: str) -> None:
    rng, compiled, number = np.random.default_rng(5), called_by_a_kernel(), dtype_of(dtype)
    tolerance = 1e-5 if dtype == "f4" else 1e-13
    numbers = [(number(1), number(1)), (number(-0.5), number(0)), (number(0), number(2))]
    for k, (way_a, way_b) in enumerate((a, b) for a in WAYS for b in WAYS):
        for n, m, d in ((3, 4, 5), (1, 4, 1), (4, 1, 3), (2, 3, 0), (0, 3, 2)):
            a, b, c = (part(rng, shape, dtype, way) for shape, way in (
                ((n, d), way_a), ((d, m), way_b), ((n, m), WAYS[k % 4])))
            for factor, share in numbers:
                whole, before, wanted = c.base.copy(), c.copy(), c.copy()
                gemm(factor, a, b, share, wanted)
                compiled(factor, a, b, share, c)
                np.testing.assert_allclose(c, wanted, rtol=tolerance, atol=tolerance)
                c[:, :] = before
                np.testing.assert_array_equal(c.base, whole)             # nothing else is written


def test_nothing_to_sum() -> None:
    """Arrays without columns have rows that are no elements apart, which BLAS refuses."""
    a, b, whole = np.zeros((2, 0)), np.zeros((0, 3)), np.full((2, 5), np.nan)
    a = np.lib.stride_tricks.as_strided(a, strides=(0, 8))
    for factor in (1.0, 0.0):
        called_by_a_kernel()(factor, a, b, 0.0, whole[:, 1:4])
        np.testing.assert_array_equal(whole[:, 1:4], 0.0)
        whole[:] = np.nan


def test_what_blas_leaves_out() -> None:
    """A factor of 0 and a share of 0: what is not finite counts as it does in NumPy."""
    a, b, found, wanted = (np.full((2, 5), number)[:, 1:3] for number in (np.inf, 1.0, np.nan, np.nan))
    for factor, share in ((1.0, 0.0), (0.0, 0.0)):
        with np.errstate(invalid="ignore"):
            gemm(factor, a, b, share, wanted)
        called_by_a_kernel()(factor, a, b, share, found)
        np.testing.assert_array_equal(found, wanted)
