"""Compiled functions that return None on some paths."""

import numpy as np
import pytest

from transformer import grad, jit

POSITIVE, NEGATIVE = np.array([1.0, 2.0]), np.array([-1.0, 2.0])


def total(x):
    return np.sum(x) if x[0] > 0 else None


def ends_without(x):
    if x[0] > 0:
        return x * 2, len(x)


def as_it_came(x):
    if x[0] > 0:
        return x
    return None


def first_above_one(x):
    for k in range(len(x)):
        if x[k] > 1.5 * x[0]:
            return k if x[0] > 0 else None
    return None


def in_containers(x):
    return {"root": np.sqrt(x[0]) if x[0] >= 0 else None, "rest": [x[1:] if x[0] < 0 else None]}


def one_or_the_other(x):
    if x[0] > 0:
        return None, x[0]
    return x[1], None


def written_where_it_is(x):
    y = None
    if x[0] > 0:
        y = x + 1
        y[0] = 5
    return y


@pytest.mark.parametrize("function", [total, ends_without, as_it_came, first_above_one, in_containers, one_or_the_other,
                                      written_where_it_is])
def test_none_is_returned_where_the_program_does(function) -> None:
    compiled = jit(function)
    for x in (POSITIVE, NEGATIVE):
        got, want = compiled(x), function(x)
        assert repr(got) == repr(want) and (got is x) == (want is x)


def or_zero(x):
    found = jit(total)(x)
    return 0.0 if found is None else found * x[1]


def test_who_calls_one_may_ask_for_none() -> None:
    assert np.array_equal(grad(or_zero)(POSITIVE), [2.0, 5.0]) and not grad(or_zero)(NEGATIVE).any()


def test_a_derivative_needs_a_number() -> None:
    assert np.array_equal(grad(total)(POSITIVE), [1.0, 1.0])
    with pytest.raises(TypeError, match="the returned value is None, but a value is required"):
        grad(total)(NEGATIVE)
