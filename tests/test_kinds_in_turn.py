"""One function called with arguments of several kinds in turn: what was known of integers is not known of floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from transformer import NotSupported, grad, jit, value_and_grad

X = np.array([1.0, 2.0, 4.0])
NUMBERS = [1, 0, 1.0, 2.0, -0.0, 0.0, True, np.float64(3.0), np.float64(4.0), np.float32(5.0), np.float32(6.0),
           np.int64(1), np.int64(0), np.array(3.0), np.array(4.0)]


def chosen(x, m):
    y = x * m
    return np.sum([x, y * y][m] if isinstance(m, int) else y)


def chosen_by_an_option(x, options):
    m = options["m"]
    return np.sum([x, x * x][m] if isinstance(m, int) else x * m)


def sum_or_all(x, wanted):
    if wanted:
        return np.sum(x)
    return x


@pytest.mark.parametrize("transformed", [jit, value_and_grad, lambda f: jit(value_and_grad(f))],
                         ids=["jit", "value_and_grad", "jit of value_and_grad"])
def test_floats_after_integers_that_had_to_be_known(transformed: Callable[..., Any]) -> None:
    of_number, of_option = transformed(chosen), transformed(chosen_by_an_option)
    for m in NUMBERS:
        assert value(of_number(X, m)) == chosen(X, m)
    for m in NUMBERS[:-2]:
        assert value(of_option(X, {"m": m})) == chosen_by_an_option(X, {"m": m})


def value(found: Any) -> Any:
    return found[0] if isinstance(found, tuple) else found


def test_a_float_is_not_known_where_an_integer_had_to_be() -> None:
    compiled = jit(sum_or_all)
    assert compiled(X, 2) == 7.0 and len(compiled(X, 0)) == 3
    for wanted in (2.0, 0.0, np.float64(2.0)):
        with pytest.raises(NotSupported, match="the branches of this `if` return"):
            compiled(X, wanted)


def test_an_array_of_rank_0_after_an_integer_that_had_to_be_known() -> None:
    def part(x, k):
        return (x[k], x[k:].sum()) if isinstance(k, int) and [x, x][k] is not None else x[:k].sum()

    compiled = jit(part)
    assert compiled(X, 1) == (2.0, 6.0)
    assert compiled(X, np.array(2)) == 3.0 and compiled(X, np.array(1)) == 1.0


def test_zeros_of_two_signs_as_static_arguments() -> None:
    compiled = jit(lambda x, zero: np.arctan2(zero, x), static_argnames="zero")
    for zero in (np.float64(0.0), np.float64(-0.0), 0.0, -0.0, np.float32(0.0), np.float32(-0.0)):
        assert np.signbit(compiled(-1.0, zero)) == np.signbit(zero)


def test_gradients_of_both() -> None:
    slopes = grad(chosen)
    np.testing.assert_array_equal(slopes(X, 1), 2 * X)
    for m in (1.0, 2.0, 3.0):
        np.testing.assert_array_equal(slopes(X, m), [m, m, m])
