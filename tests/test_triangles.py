"""Triangles that are multiplied: as products of matrices where what they are multiplied by is finite, else by loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lowered import called
from test_contractions import agree, kernel_of

from transformer import grad, jit
from transformer.lower.ordering import blocking


def with_rows_below(a: Any, b: Any) -> Any:
    """Each row of the result sums some of the rows below."""
    c = b.copy()
    for i in range(a.shape[0]):
        c[i] += 0.5 * (a[i + 1:, i] @ b[i + 1:])
    return c


def with_columns_before(a: Any, b: Any) -> Any:
    """Each iteration adds to the columns up to its own."""
    c = np.zeros_like(b)
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            c[j, :i + 1] += b[j, i] * a[i, :i + 1]
    return c


def covariances(data: Any) -> Any:
    n, m = data.shape
    result = np.zeros((m, m), data.dtype)
    for i in range(m):
        result[i:, i] = result[i, i:] = data[:, i] @ data[:, i:]
    return result


def weighted_covariances(data: Any) -> Any:
    return np.sum(covariances(data) ** 2)


def examples(function: Any, dtype: str, n: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(n, n)), rng.normal(size=(n, n))
    a, b = ((each + 1j * each.T if dtype[0] == "c" else each).astype(dtype) for each in (a, b))
    return (a, b) if function is not covariances else (a[:7],)


PROGRAMS = [with_rows_below, with_columns_before, covariances]


@pytest.fixture(autouse=True)
def worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking, "WORTH_BLOCKS", 0)


@pytest.mark.parametrize("n", [2, 31, 33, 70])
@pytest.mark.parametrize("dtype", ["f8", "f4", "c16"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_products_of_triangles(program: Any, dtype: str, n: int) -> None:
    arguments = examples(program, dtype, n)
    got, want = jit(program)(*arguments), program(*arguments)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, 1e-3 if dtype == "f4" else 1e-10, 1e-4 if dtype == "f4" else 1e-11)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("program", PROGRAMS)
def test_zeros_of_a_triangle_meet_no_numbers_that_are_not_finite(program: Any, number: float) -> None:
    """Of either factor, in the blocks of 32 and between them."""
    compiled = jit(program)
    for where in ((0, 0), (5, 3), (3, 5), (31, 32), (32, 31), (38, 20), (20, 38), (39, 39)):
        for k in range(len(examples(program, "f8", 40))):
            arguments = examples(program, "f8", 40)
            arguments[k][where[0] % len(arguments[k]), where[1]] = number
            with np.errstate(invalid="ignore"):
                agree(compiled(*arguments), program(*arguments))


def test_the_reverse_of_a_covariance_multiplies_triangles() -> None:
    derived, (data,) = grad(weighted_covariances), examples(covariances, "f8", 40)
    made, kernel = kernel_of(derived, weighted_covariances, (data,))
    assert kernel.source.count("triangle[:rows, :rows - 1]") == 2, kernel.source
    assert "plus(" in kernel.source.split("else:")[-1], kernel.source
    for number in (1.0, np.nan, np.inf):
        data[3, 20] = number
        with np.errstate(invalid="ignore"):
            agree(called(made, kernel, weighted_covariances, (data,)), derived(data))
