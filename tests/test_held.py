"""What a pullback and a linear map rest on is held as it was when they were made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from transformer import grad, linearize, vjp

X = np.array([1.0, 2.0, 3.0])
SCALE = 2.0
WEIGHTS = np.array([1.0, 2.0, 3.0])
OPTIONS = {"power": 2, "rates": [0.5, 0.25]}


def helper(x):
    return SCALE * np.sum(WEIGHTS * x**2)


def deeper(x):
    return helper(x) + 1.0


def with_options(x):
    return np.sum(x ** OPTIONS["power"]) * OPTIONS["rates"][1]


class Model:
    def __init__(self) -> None:
        self.weights = np.array([3.0, 2.0, 1.0])

    def __call__(self, x):
        return np.sum(self.weights * x**3)


def pulled(function: Any, *primals: Any) -> Any:
    """The pullback, waiting for its cotangent."""
    value, pull = vjp(function, *primals)
    return lambda: pull(np.ones_like(value))[0]


def pushed(function: Any, *primals: Any) -> Any:
    """The linear map of a number, waiting for its tangents."""
    line = linearize(function, *primals)[1]
    return lambda: np.array([line(tangent) for tangent in np.eye(3)])


@pytest.fixture(params=[pulled, pushed], ids=["vjp", "linearize"])
def held(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_globals_of_called_functions(held, monkeypatch):
    wanted = grad(deeper)(X)
    derivative = held(deeper, X)
    monkeypatch.setitem(globals(), "SCALE", 7.0)
    monkeypatch.setitem(globals(), "WEIGHTS", np.zeros(3))
    monkeypatch.setitem(globals(), "helper", lambda x: 0.0 * np.sum(x))
    np.testing.assert_array_equal(derivative(), wanted)
    np.testing.assert_array_equal(grad(deeper)(X), np.zeros(3))


def test_global_arrays_written_in_place(held, monkeypatch):
    monkeypatch.setitem(globals(), "WEIGHTS", np.array([1.0, 2.0, 3.0]))
    derivative = held(deeper, X)
    WEIGHTS[:] = 0.0
    np.testing.assert_array_equal(derivative(), 4 * np.array([1.0, 2.0, 3.0]) * X)


def test_captured_arrays_and_names_of_a_closure_in_a_closure(held):
    scale, rows = 2.0, np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).T

    def inner(x):
        return np.sum(rows[:, 1] * x) * scale

    def outer(x):
        return inner(x**2)

    derivative = held(outer, X)
    wanted = 4 * np.array([4.0, 5.0, 6.0]) * X
    rows[:] = 0.0
    scale = 9.0
    inner = np.sum  # noqa: F811
    np.testing.assert_array_equal(derivative(), wanted)


def test_attributes_and_items(held, monkeypatch):
    model = Model()
    derivative = held(model, X)
    model.weights[0] = 100.0
    model.weights = np.zeros(3)
    np.testing.assert_array_equal(derivative(), 3 * np.array([3.0, 2.0, 1.0]) * X**2)
    derivative = held(with_options, X)
    monkeypatch.setitem(OPTIONS, "power", 5)
    monkeypatch.setitem(OPTIONS, "rates", [0.0, 0.0])
    np.testing.assert_array_equal(derivative(), 0.5 * X)


def test_arguments_written_in_place(held):
    x = X.copy()
    derivative = held(lambda x: np.sum(x**3), x)
    x[:] = 0.0
    np.testing.assert_array_equal(derivative(), 3 * X**2)


def test_a_pullback_made_in_a_loop_keeps_the_value_of_its_iteration(held):
    derivatives = []
    for k in range(3):
        weights = np.full(3, float(k))
        derivatives.append(held(lambda x: np.sum(weights * x) * k, X))
    for k, derivative in enumerate(derivatives):
        np.testing.assert_array_equal(derivative(), np.full(3, float(k * k)))


def test_a_tangent_that_is_left_out_stands_still():
    line = linearize(lambda x, y, n: x * y**n, 2.0, 3.0, 2)[1]
    assert line(1.0, None, None) == 9.0
    assert line(None, 1.0, None) == 12.0
    assert line(1.0, 1.0, None) == 21.0
