"""Choices in each other, of a rule or of `np.select`, are one selection in the source; what the user wrote with
`np.where` stays that."""

from __future__ import annotations

import numpy as np
import pytest

from transformer import grad, jit, vmap

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0])


def rectified(x):
    return np.sum(np.maximum(x, 0.0) * x)


def lower_of(x):
    return np.sum(np.minimum(x, x[::-1]) ** 2)


def hinge(x):
    return np.mean(np.maximum(0, 1 - x))


def clipped(x):
    return np.sum(np.clip(x, -1.0, 1.0) * x)


def selected(x):
    return np.sum(np.select([x > 1, x > 0], [x * x, 3 * x], 0.5 * x))


def in_each_other(x):
    return np.sum(np.where(x > 0, x, np.where(x < -1, x * x, 3.0)))


def of_ints(x):
    return np.sum(np.select([x > 1, x > 0], [x, 1]) * x)


@pytest.mark.parametrize("function, printed", [
    (rectified, "np.select([x > 0.0, x == 0.0], [x, 0.5 * x])"),
    (hinge, "np.select([diff > 0, diff == 0], [ratio, 0.5 * ratio])"),
    (clipped, "[x, 0.5 * x])"),
    (in_each_other, "np.where(x > 0, 1.0, np.where(x < -1, 2 * x, 0.0))"),
], ids=lambda part: getattr(part, "__name__", "source"))
def test_source(function, printed) -> None:
    assert printed in grad(function).source_for(np.ones(3))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", [rectified, lower_of, hinge, clipped, selected, in_each_other, of_ints])
def test_numbers(function) -> None:
    """The source, the loops, and lanes give the same, in the dtype of the argument."""
    gradient, compiled = grad(function), jit(grad(function))
    for x in (SPECIAL, SPECIAL.astype(np.float32), SPECIAL[:1]):
        found = gradient(x)
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(compiled(x), found)
        np.testing.assert_array_equal(vmap(gradient)(np.stack([x, x]))[1], found)
    assert gradient(SPECIAL[:0]).shape == (0,)


def test_derivatives() -> None:
    x = np.array([0.3, -0.4, 1.7, -2.2])
    for function in (rectified, lower_of, hinge, clipped, selected, in_each_other, of_ints):
        differences = [(function(x + step) - function(x - step)) / 2e-6 for step in 1e-6 * np.eye(4)]
        np.testing.assert_allclose(grad(function)(x), differences, atol=1e-7)


def test_what_the_user_selects_is_printed_so() -> None:
    source = vmap(lambda x: np.select([x > 1, x > 0], [x, 2 * x], x + 1.0)).source_for(np.ones((2, 3)))
    assert "np.select([x > 1, x > 0], [x, 2 * x], x + 1.0)" in source
