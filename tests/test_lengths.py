"""Lengths of complex numbers and of pairs that are only compared with a number: no root is taken."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np
import pytest
from lowered import as_loops, source_of

from transformer import jit
from transformer.lower.fusion.lengths import first_square

COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_first_squares_have_roots_as_asked(dtype: str) -> None:
    rng = np.random.default_rng(0)
    for bound in (*rng.uniform(1e-3, 1e3, 200).astype(dtype), *np.array([1, 2, 3, 0.5, 1.1], dtype)):
        for reached, compare in ((True, operator.ge), (False, operator.gt)):
            square = first_square(float(bound), np.dtype(dtype), reached)
            assert square.dtype == dtype
            before = np.nextafter(square, np.zeros((), dtype))
            assert compare(np.sqrt(square), bound) and not compare(np.sqrt(before), bound)


def of_numbers(dtype: str) -> np.ndarray:
    parts = [0.0, -0.0, 3.0, -4.0, 2.5, 1e-30, 1e30, np.inf, -np.inf, np.nan]
    return np.array([complex(x, y) for x, y in itertools.product(parts, parts)]).astype(dtype)


def comparing(compare: Any, bound: Any) -> list[Any]:
    """Programs that compare lengths, from both sides."""
    def one(z):
        return compare(np.abs(z), bound)

    def other(z):
        return compare(bound, np.abs(z))

    def of_pairs(z):
        return np.where(compare(np.hypot(z.real, z.imag), bound), 1, 2)

    return [one, other, of_pairs]


@pytest.mark.parametrize("compare", COMPARISONS)
@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_outcomes(dtype: str, compare: Any) -> None:
    z = of_numbers(dtype)
    for bound in (5.0, 2.5, 4):
        for program in comparing(compare, bound):
            with np.errstate(all="ignore"):
                want = program(z)
                np.testing.assert_array_equal(as_loops(program, program, (z,)), want)
            np.testing.assert_array_equal(jit(program)(z), want)
            assert "hypot" not in source_of(program, program, (z,))


def escape(z: complex, c: complex) -> int:
    count = 0
    while abs(z) <= 2 and count < 100:
        z = z * z + c
        count += 1
    return count


def test_a_loop_that_ends_by_a_length() -> None:
    for c in (0j, 0.3 + 0.5j, -0.75 + 0.1j, 1 + 1j, complex(0, np.inf)):
        assert jit(escape)(0j, c) == escape(0j, c)
    assert "hypot" not in source_of(escape, escape, (0j, 1j))


def shortened(z: Any) -> Any:
    return np.where(np.abs(z) > 1, z / np.abs(z), z)


def beyond(z: Any, bound: float) -> Any:
    return np.abs(z) > bound


@pytest.mark.parametrize("program, further", [(shortened, ()), (beyond, (2.0,))])
def test_a_length_that_is_needed_or_meets_another_number_is_computed(program: Any, further: tuple[Any, ...]) -> None:
    z = of_numbers("c16")[:40]
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(as_loops(program, program, (z, *further)), program(z, *further))
    assert "hypot" in source_of(program, program, (z, *further))
