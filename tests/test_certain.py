"""Conditions on integers whose outcome is certain where they stand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from transformer import grad, jit, value_and_grad

RNG = np.random.default_rng(5)


def dyadic(x: Any) -> Any:
    y = x.copy()
    step = 1
    while 2 * step <= len(y):
        y[step::2 * step] *= y[0::2 * step][:len(y[step::2 * step])]
        step *= 2
    return np.sum(y)


def kept_within(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += x[min(i, len(x) - 1)] * max(i, -2) + abs(1 + i) * x[max(0, i)]
    return total


def strided(x: Any, step: Any) -> Any:
    return np.sum(x[::step] ** 2)


def grown(x: Any, count: Any) -> Any:
    power = 1
    for _ in range(count):
        power *= 3
        if power < 1:
            return x
    return x * power


def downwards(x: Any) -> Any:
    total, k = 0.0, 5
    while k > -3:
        if k >= 0:
            total += x[k] * k
        else:
            total -= x[-k]
        k -= 2
    return total


@pytest.mark.parametrize("n", [6, 9, 16])
def test_results(n: int) -> None:
    x = RNG.normal(size=n) + 2.0
    for function in (dyadic, kept_within, downwards):
        value, slope = value_and_grad(function)(x)
        np.testing.assert_allclose(value, function(x))
        np.testing.assert_allclose(jit(function)(x), function(x))
        near = [(function(x + e) - function(x - e)) / 2e-6 for e in 1e-6 * np.eye(n)]
        np.testing.assert_allclose(slope, near, rtol=1e-5, atol=1e-5)


def test_steps_whose_sign_is_known_are_not_tested() -> None:
    source = grad(dyadic).source_for(np.ones(5))
    assert "slice step" not in source and "abs(" not in source and "least" not in source


def test_what_is_certain_to_be_the_greater_one_is_written() -> None:
    source = grad(kept_within).source_for(np.ones(5))
    assert "min(" not in source and "max(" not in source and "abs(" not in source


def test_steps_whose_sign_is_not_known_are_tested_once() -> None:
    assert grad(strided).source_for(np.ones(5), 2).count("step == 0") <= 1
    for step in (-2, -1, 1, 3):
        x = RNG.normal(size=7)
        np.testing.assert_allclose(jit(strided)(x, step), strided(x, step))
    with pytest.raises(ValueError, match="zero"):
        jit(strided)(np.ones(4), 0)


def test_what_does_not_become_smaller_may_still_become_too_large() -> None:
    assert jit(grown)(2.0, 39) == grown(2.0, 39)
    with pytest.raises(OverflowError):
        jit(grown)(2.0, 40)


def test_branches_are_taken_as_before_where_nothing_is_certain() -> None:
    def chosen(x: Any, k: Any) -> Any:
        return x if k < 3 else x * x if k < 5 else x ** 3

    for k in (2, 3, 4, 5):
        assert grad(chosen)(3.0, k) == [1.0, 6.0, 6.0, 27.0][k - 2]


def halved(x):
    while True:
        x = x * 0.5
        if x < 1:
            return x * x
        x = x - 0.1


def test_a_loop_that_only_a_return_leaves_needs_no_test_behind_it() -> None:
    gradient = grad(halved)
    assert "returned" not in gradient.source_for(5.0) and "UnboundLocalError" not in gradient.source_for(5.0)
    assert gradient(5.0) == pytest.approx((halved(5.0 + 1e-6) - halved(5.0 - 1e-6)) / 2e-6)
