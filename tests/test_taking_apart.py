"""Elements that one statement takes out of an array are taken out by one statement of the source."""

from __future__ import annotations

import numpy as np
import pytest

from transformer import grad, vmap
from transformer.api import pushforward

P = np.array([0.5, 1.5, -2.0, 3.0])


def of_all(p):
    a, b, c = p
    return a * b * c + a


def of_the_first(p):
    a, b = p[:2]
    return a * b * a + p[3] * b * p[3]


def one_by_one(p):
    a = p[0]
    b = p[1]
    return a * b * a + b * b


def of_rows(p):
    (a, b), (c, d) = p.reshape(2, 2)
    return a * b * c * d + a * c * d


def in_another_order(p):
    a, b = p[0], p[2]
    b, a = p[:2] * a * b
    return a * b * a * b


CASES = [(of_all, P[:3], "a, b, c = p\n"), (of_the_first, P, "a, b = p[:2]\n"), (one_by_one, P, "a = p[0]\n"),
         (of_rows, P, None), (in_another_order, P, None)]


@pytest.mark.parametrize("function, p, line", CASES, ids=[case[0].__name__ for case in CASES])
def test_taken_apart(function, p, line) -> None:
    gradient = grad(function)
    if line is not None:
        assert line in gradient.source_for(p)
    for k in range(len(p)):
        step = 1e-6 * (np.arange(len(p)) == k)
        assert gradient(p)[k] == pytest.approx((function(p + step) - function(p - step)) / 2e-6, rel=1e-6)


def swapped(p):
    a, b = p[1], p[0]
    return a * a * b


def test_elements_and_their_derivatives_are_taken_out_by_a_statement_each() -> None:
    p = P[:3]
    pushed = pushforward(of_all, (0,))
    assert "a, b, c = p\n    da, db, dc = dp\n" in pushed.source_for(p, p)
    assert pushed(p, p)[1] == pytest.approx((of_all(p + 1e-6 * p) - of_all(p)) / 1e-6, rel=1e-4)


@pytest.mark.parametrize("lanes", [0, 1, 4])
def test_columns_are_the_rows_of_the_transposed_matrix(lanes: int) -> None:
    rows = np.arange(3.0 * lanes).reshape(lanes, 3)
    batched = vmap(of_all)
    assert lanes < 2 or "a, b, c = p.T\n" in batched.source_for(rows)
    np.testing.assert_array_equal(batched(rows), [of_all(row) for row in rows])
    wide = rows[:, [0, 1, 2, 0]]
    np.testing.assert_array_equal(vmap(of_the_first)(wide), [of_the_first(row) for row in wide])
    np.testing.assert_array_equal(vmap(swapped)(rows), [swapped(row) for row in rows])
