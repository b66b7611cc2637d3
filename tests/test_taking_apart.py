"""Elements that one statement takes out of an array are taken out by one statement of the source."""

from __future__ import annotations

import numpy as np
import pytest

from transformer import grad

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
