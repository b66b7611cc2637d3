"""Numbers from outside that change while a program runs become arguments: no change makes a function anew."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from transformer import devices, grad, jit, pmap, vjp, vmap

RATE = 0.5
AXIS = 0
RATES = {"slow": 0.5, "fast": 2.0}
LAYERS = [1.0]
OPTIONS = SimpleNamespace(decay=0.9, step=1, width=np.float32(2.0))


@pytest.fixture(autouse=True)
def fresh() -> None:
    global RATE, AXIS
    RATE, AXIS = 0.5, 0
    OPTIONS.decay, OPTIONS.step, OPTIONS.width = 0.9, 1, np.float32(2.0)


def stepped(w, g):
    return w - RATE * g


def corrected(w, g):
    return w - g / (1 - OPTIONS.decay**OPTIONS.step)


def halved(w, g):
    return (w * OPTIONS.width).astype(np.float32) - g.astype(np.float32) / OPTIONS.width


def counted(w, g):
    for k in range(OPTIONS.step):
        w = w - g * k if OPTIONS.decay > 0.5 else w
    return w


def loss(w, g):
    return np.sum(np.sin(RATE * w) * g)


def along(x):
    return np.sum(x, axis=AXIS)


def change() -> None:
    global RATE
    RATE *= 0.5
    OPTIONS.decay *= 0.8
    OPTIONS.step += 1
    OPTIONS.width = np.float32(OPTIONS.width + 1)


def entries(function: Any) -> int:
    dispatcher = getattr(function, "_dispatcher", None) or function._calls
    return sum(map(len, dispatcher.by_type.values()))


def followed(function: Callable[..., Any], expected: Callable[..., Any]) -> int:
    """How many functions there are after the numbers changed six times: fewer where an earlier process kept some."""
    w, g = np.array([1.0, -2.0, 0.5]), np.array([0.25, 3.0, -1.0])
    for _ in range(7):
        result = function(w, g)
        np.testing.assert_allclose(result, expected(w, g), rtol=1e-6)
        assert np.asarray(result).dtype == np.asarray(expected(w, g)).dtype
        change()
    return entries(function)


@pytest.mark.parametrize(("function", "times"), [(stepped, 2), (halved, 2), (corrected, 3), (counted, 3)])
def test_numbers_of_modules_and_objects(function: Callable[..., Any], times: int) -> None:
    assert followed(jit(function), function) <= times


def test_derivatives_and_lanes() -> None:
    def slopes(w, g):
        return RATE * np.cos(RATE * w) * g

    assert followed(grad(loss), slopes) <= 2
    assert followed(jit(vmap(grad(lambda w, g: np.sin(RATE * w) * g))), slopes) <= 2


def test_numbers_of_closures() -> None:
    scale = 1.0

    def scaled(x):
        return x * scale

    fast = jit(scaled)
    for _ in range(4):
        assert fast(2.0) == 2.0 * scale
        scale += 0.25
    assert entries(fast) <= 2


def test_writes_into_arguments_and_pullbacks_hold_the_number_of_their_call() -> None:
    def update(w, g):
        w -= RATE * g

    fast, w, g = jit(update), np.ones(3), np.ones(3)
    for _ in range(4):
        change()
        expected = w - RATE
        fast(w, g)
        np.testing.assert_array_equal(w, expected)
    _, pull = vjp(stepped, w, g)
    rate = RATE
    change()
    np.testing.assert_array_equal(pull(g)[1], -rate * g)
    assert entries(fast) <= 2


def test_shares_of_devices() -> None:
    mapped, rows = pmap(lambda w: RATE * w), np.ones((len(devices()), 2))
    for _ in range(4):
        np.testing.assert_array_equal(np.asarray(mapped(rows)), RATE * rows)
        change()


def test_what_has_to_be_known_stays_a_constant() -> None:
    """An axis cannot be an argument: each of them is a function of its own, and the compiled one falls back to none."""
    global AXIS
    fast, plain = jit(along), vmap(along)
    x = np.arange(24.0).reshape(2, 3, 4)
    for AXIS in (0, 1, 0, -1, 1, -2):
        np.testing.assert_array_equal(fast(x), np.sum(x, AXIS))
        np.testing.assert_array_equal(plain(x), np.stack([np.sum(each, AXIS % 2) for each in x]) if AXIS >= 0
                                      else np.sum(x, AXIS))
    assert fast.report(x).refusal is None


def test_a_warning_names_what_changes_again_and_again() -> None:
    scaled = grad(lambda x: x * RATES["slow"] * len(LAYERS))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(12):
            assert scaled(1.0) == RATES["slow"] * len(LAYERS)
            RATES["slow"] *= 0.5
            LAYERS.append(1.0)
    (warning,) = caught
    assert "made anew for the 8th time, as RATES['slow'], LAYERS changes between calls" in str(warning.message)
    assert warning.filename == __file__


def test_the_source_says_what_is_taken_from_outside() -> None:
    fast = grad(loss)
    fast(np.ones(2), np.ones(2))
    change()
    fast(np.ones(2), np.ones(2))
    assert "def loss_grad(w, g, RATE):" in fast.source
    assert "# RATE: float" in fast.source


def first_of_all(w, g):
    return RATE * np.sum(w[:OPTIONS.step] * g[:OPTIONS.step])


@pytest.mark.parametrize("transformed", [jit, grad, lambda f: jit(grad(f))], ids=["jit", "grad", "jit of grad"])
def test_a_number_that_sizes_depend_on_stays_a_constant(transformed: Callable[..., Any]) -> None:
    """It would be an argument by its third value, but of what kind the sizes are is known before arguments are."""
    w, g = np.arange(4.0), np.arange(1.0, 5.0)
    ours, derives = transformed(first_of_all), transformed is not jit
    for OPTIONS.step in (1, 2, 3, -1, 0, 4, 9, 2):
        expected = RATE * np.r_[g[:OPTIONS.step], 0.0 * g[OPTIONS.step:]] if derives else first_of_all(w, g)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")                 # it says that this number changes again and again
            np.testing.assert_allclose(ours(w, g), expected)
