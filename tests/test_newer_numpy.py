"""What NumPy has from some version on: programs say it where it is there."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import pytest

from transformer import grad, jit, vmap
from transformer.core.errors import TransformError

descends = pytest.mark.skipif("descending" not in signature(np.sort).parameters, reason="from NumPy 2.5 on")
ROWS: list[Any] = [
    np.array([[0.5, -1.0, np.nan, 2.0], [3.0, 3.0, -np.inf, 0.0]]),
    np.array([[-128, 127, 0, 5], [3, 3, 3, -1]], np.int8),
    np.array([[0, 255, 7, 7], [1, 2, 3, 0]], np.uint8),
    np.array([[True, False, True, False]] * 2),
]


def down(x, axis):
    return np.sort(x, axis=axis, descending=True)


def places_down(x, axis):
    return x.argsort(axis, stable=True, descending=True)


def down_in_place(x, axis):
    y = x.copy()
    y.sort(axis, descending=True)
    return y


@descends
@pytest.mark.parametrize("program", [down, places_down, down_in_place])
def test_sorted_from_the_greatest_down(program: Any) -> None:
    """Integers that have no negative counterpart, nan, which is last, and equal elements, which stay in order."""
    for x, axis in (ROWS[0], 0), *((x, 1) for x in ROWS):
        wanted = program(x, axis)
        found = vmap(program, in_axes=(0, None))(x[None], axis)[0]
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(jit(program)(ROWS[0], 1), program(ROWS[0], 1))


@descends
def test_derivatives_of_what_is_sorted_from_the_greatest_down() -> None:
    weights = np.arange(4.0)
    for program in down, down_in_place:
        found = grad(lambda x, program=program: np.sum(program(x, 0) * weights))(np.array([0.3, -1.0, 2.0, 0.5]))
        np.testing.assert_array_equal(found, [2.0, 3.0, 0.0, 1.0])
    np.testing.assert_array_equal(jit(lambda x: np.sort(x, descending=False))(-weights), np.sort(-weights))


@descends
def test_what_numpy_refuses_of_it_is_refused() -> None:
    for call in (lambda x: np.sort(x, kind="stable", descending=True), lambda x: np.partition(x, 1, descending=True)):
        with pytest.raises(TransformError, match="keyword"):
            jit(call)(np.ones(3))
