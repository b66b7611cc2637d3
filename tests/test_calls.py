"""One transformed function called again and again, and called with what does not fit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import logsumexp

from transformer import grad, jvp, vjp
from transformer.core.errors import BadArgument, NotSupported
from transformer.read.entry import signature_of

X = np.arange(1.0, 7.0)


def strided(x, step):
    return np.sum(x[::step] ** 2)


def cut(x, k):
    return np.sum(x[:k] ** 2) * k + np.sum(x[k:] ** 3)


def chosen(x, flag):
    return np.sum(x**2) if flag else np.sum(x)


def square(x):
    return x**2


@pytest.mark.parametrize("kind", [int, np.int64, np.int8, np.uint16])
@pytest.mark.parametrize("function", [strided, cut])
def test_other_integers_are_other_calls(function, kind):
    derivative = grad(function)
    for k in (2, 1, 3, 2):
        np.testing.assert_array_equal(derivative(X, kind(k)), grad(function)(X, k))


def test_other_numpy_bools_are_other_calls():
    derivative = grad(chosen)
    np.testing.assert_array_equal(derivative(X, np.bool_(True)), 2 * X)
    np.testing.assert_array_equal(derivative(X, np.bool_(False)), np.ones(6))
    np.testing.assert_array_equal(derivative(X, True), 2 * X)


def test_integer_arrays_of_rank_0_are_told_apart():
    derivative = grad(cut)
    for k in (2, 5, 9):
        np.testing.assert_array_equal(derivative(X, np.array(k)), grad(cut)(X, k))


FIRST = np.ones(6)
SECOND = FIRST


def with_two_names(x):
    return np.sum(FIRST * x**2) + np.sum(SECOND * x)


def test_one_array_under_two_names(monkeypatch):
    derivative = grad(with_two_names)
    np.testing.assert_array_equal(derivative(X), 2 * X + 1)
    monkeypatch.setitem(globals(), "SECOND", np.zeros(6))
    np.testing.assert_array_equal(derivative(X), 2 * X)
    monkeypatch.setitem(globals(), "FIRST", np.zeros(6))
    np.testing.assert_array_equal(derivative(X), np.zeros(6))


def several(x):
    return {"a": x**2, "b": (np.sum(x), x.shape[0], None)}


@pytest.mark.parametrize("cotangent", [
    np.ones(5), np.ones((2, 6)), 1.0, np.ones(6) * 1j, [1.0] * 6, {"a": np.ones(6)},
])
def test_a_cotangent_that_does_not_fit_is_refused(cotangent):
    _, pullback = vjp(square, X)
    with pytest.raises(BadArgument, match="the cotangent"):
        pullback(cotangent)


def test_a_cotangent_is_cast_to_its_result():
    _, pullback = vjp(square, X.astype(np.float32))
    (gradient,) = pullback(np.ones(6))
    assert gradient.dtype == np.float32


def test_none_in_a_cotangent_is_zeros():
    _, pullback = vjp(several, X)
    np.testing.assert_array_equal(pullback({"a": np.ones(6), "b": (None, None, None)})[0], 2 * X)
    np.testing.assert_array_equal(pullback({"a": None, "b": None})[0], np.zeros(6))


def test_none_in_a_tangent_stands_still():
    def total(p):
        return np.sum(p["w"] ** 2) * p["b"][0]

    p = {"w": X, "b": [2.0, None]}
    assert jvp(total, (p,), ({"w": X, "b": [None, None]},))[1] == 4 * np.sum(X**2)
    assert jvp(total, (p,), ({"w": None, "b": [1.0, None]},))[1] == np.sum(X**2)
    assert jvp(total, (p,), ({"w": X, "b": None},))[1] == 4 * np.sum(X**2)


class Quantity(np.ndarray):
    """An array whose operators mean something else."""


@pytest.mark.parametrize("array", [X.view(Quantity), np.ma.array([1.0, 2.0], mask=[0, 1])])
def test_arrays_with_operators_of_their_own_are_refused(array):
    with pytest.raises(BadArgument, match=r"x is a \w+ \w+\n(.*\n)*.*asarray"):
        grad(lambda x: np.sum(x * x))(array)
    with pytest.raises(NotSupported, match="asarray"):
        grad(lambda x: np.sum(array * x))(np.ones(array.shape))


def with_ratio(x):
    return x.as_integer_ratio()[0] * x


def with_distance_of_numbers(x):
    return math.ulp(x)


def with_weights(x):
    return logsumexp(x, b=x)


@pytest.mark.parametrize(("function", "argument", "text"), [
    (with_ratio, 1.0, "as_integer_ratio"), (with_distance_of_numbers, 1.0, "no rule for math.ulp"),
    (with_weights, X, "weights"),
])
def test_what_is_refused_has_a_place(function, argument, text):
    with pytest.raises(NotSupported, match=text) as caught:
        grad(function)(argument)
    assert function.__name__ in str(caught.value)


class Silent:
    """What a rule is found with: it cannot be called, and its text would be that of all arrays it holds."""

    def __repr__(self) -> str:
        raise AssertionError("nobody asks for it")


def test_no_text_is_made_of_what_has_no_signature() -> None:
    assert str(signature_of(Silent())) == "(*args)"
    assert str(signature_of(square)) == "(x)"
