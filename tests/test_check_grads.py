"""check_grads, and the differences that it compares with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from transformer import BadArgument, check_grads, checking
from transformer.checking import figures
from transformer.differences import Point, directional, places, precision, random_direction, shaped


class Params(NamedTuple):
    w: Any
    b: Any


def slope(function: Callable[..., Any], x: Any, direction: Any = 1.0) -> np.ndarray:
    return directional(Point(function, (x,), {}), 0, [direction]).value


@pytest.mark.parametrize(
    "function, x, expected",
    [
        (np.sin, 0.3, np.cos(0.3)),
        (lambda x: np.sin(100 * x), 0.3, 100 * np.cos(30.0)),
        (np.log, 1e-12, 1e12),
        (np.square, 1e8, 2e8),
        (np.exp, 30.0, np.exp(30.0)),
        (lambda x: 1 + x, 1e-12, 1.0),
        (lambda x: x.imag * x, 2 + 3j, 3 + 0j),
    ],
)
def test_differences(function: Any, x: Any, expected: Any) -> None:
    assert slope(function, x) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-5), (np.float16, 1e-2)])
def test_differences_of_narrow_numbers(dtype: Any, tolerance: float) -> None:
    assert slope(np.sin, dtype(0.3)) == pytest.approx(np.cos(0.3), rel=tolerance)


def test_differences_know_how_uncertain_they_are() -> None:
    point = Point(lambda x: 1e9 + x, (1.0,), {})
    found = directional(point, 0, [1.0])
    assert abs(found.value[0] - 1) <= found.uncertainty[0] < 1e-2


def test_functions_that_write_to_their_arguments_get_copies() -> None:
    def function(x: np.ndarray) -> Any:
        x *= 2
        return np.sum(x)

    x = np.ones(3)
    assert slope(function, x, np.ones(3)) == pytest.approx(6.0)
    assert np.array_equal(x, np.ones(3))


def test_pytrees_and_keywords() -> None:
    def function(p: Params, *, scale: float) -> Any:
        return {"a": p.w * scale, "n": 3, "b": [p.b["c"] ** 2]}

    point = Point(function, (Params(np.array([1.0, 2.0]), {"c": 3.0, "n": 1}),), {"scale": 2.0})
    assert directional(point, 0, [np.array([1.0, 0.0]), 1.0, None]).value == pytest.approx(
        [2, 0, 6]
    )
    assert directional(point, "scale", [1.0]).value == pytest.approx([1, 2, 0])
    assert places(point.value(), "result") == ["result['a'][0]", "result['a'][1]", "result['b'][0]"]


def test_random_directions_fit_their_value() -> None:
    value = {
        "x": np.ones((2, 3), np.float32),
        "n": 3,
        "z": np.complex64(1),
        "f": 1.5,
        "kind": "relu",
    }
    direction = shaped(random_direction(value, np.random.default_rng(0)), value)
    assert direction["x"].dtype == np.float32 and direction["x"].shape == (2, 3)
    assert direction["n"] is None and direction["kind"] is None
    assert type(direction["z"]) is np.complex64 and direction["z"].imag
    assert type(direction["f"]) is float


def test_precision_is_that_of_the_narrowest() -> None:
    assert precision((1.0, [np.float32(2)], 3)) == np.float32
    assert precision({"z": np.complex64(1)}) == np.float32
    assert precision(3) == np.float64


def test_result_that_changes_its_shape() -> None:
    with pytest.raises(ValueError, match="the shape of the result depends on"):
        slope(lambda x: x[x > 1], np.array([1.0, 2.0]), np.ones(2))


@pytest.mark.parametrize("modes", [("fwd",), ("rev",), ("fwd", "rev")])
@pytest.mark.parametrize("order", [1, 2])
def test_right_derivatives_pass(order: int, modes: tuple[str, ...]) -> None:
    def function(w: Any, x: Any) -> Any:
        return np.sum(np.tanh(x @ w) ** 2)

    rng = np.random.default_rng(0)
    check_grads(function, (rng.normal(size=3), rng.normal(size=(4, 3))), order, modes)


def test_third_order() -> None:
    check_grads(lambda x: np.sin(x) * x, (0.7,), order=3)


def test_results_of_any_structure() -> None:
    def function(params: Any, x: Any) -> Any:
        y = np.sin(x * params["w"])
        return {"y": y, "pair": (np.sum(y), params["b"] * 2.0), "n": 3}

    check_grads(function, ({"w": np.array([0.3, 0.5]), "b": 2.0}, np.array([1.0, 2.0])))


def test_arguments_without_derivatives_are_left_alone() -> None:
    def function(x: Any, n: int, flag: bool) -> Any:
        return x**n if flag else x

    check_grads(function, (1.5, 3, True))


def spread(w: Any, *xs: Any, power: int = 3, flag: bool = True) -> Any:
    return np.sum(w) * 2.0 + sum(np.sum(x**power) for x in xs if flag)


def with_default(w: Any, factor: float = 2.0) -> Any:
    return np.sum(np.sin(w)) * factor


@pytest.mark.parametrize(
    "function, args",
    [
        (spread, (np.ones(2), np.array([1.0, 2.0]), 3.0)),
        (spread, (1.0,)),
        (with_default, (np.ones(2),)),
        (with_default, (np.ones(2), 3.0)),
        (with_default, (np.ones(2), 3)),
    ],
)
def test_what_is_added_follows_what_was_passed(function: Any, args: Any) -> None:
    """Tangents and cotangents never take the place of a default, nor join *args."""
    check_grads(function, args)


def test_complex_numbers() -> None:
    check_grads(lambda z: z * z * np.conj(z), (np.array([1.0 + 2.0j, 0.5 - 1.0j]),))
    check_grads(lambda z: np.sum(np.abs(z) ** 2), (np.array([1.0 + 2.0j, 0.5 - 1.0j]),))


def test_float32() -> None:
    check_grads(lambda x: np.sum(np.exp(x)), (np.array([0.1, 0.2], np.float32),))


@pytest.fixture
def wrong_by_a_tenth(monkeypatch: pytest.MonkeyPatch) -> Callable[[type], None]:
    """Makes derivatives of one mode wrong by a tenth; the others are left out."""

    def install(mode: type) -> None:
        class Wrong:
            def __init__(self, function: Any, mode: Any) -> None:
                self.function, self.mode = function, mode

            def __call__(self, x: Any, *extras: Any) -> Any:
                factor = 1.1 if isinstance(self.mode, mode) else 1.0
                derivative = 2 * x * factor
                if isinstance(self.mode, checking.Pushforward):
                    return x * x, derivative * extras[0]
                return (derivative * (extras[0] if extras else 1.0),)

        monkeypatch.setattr(checking, "Transformed", Wrong)

    return install


def square(x: Any) -> Any:
    return x * x


@pytest.mark.parametrize(
    "mode, label",
    [(checking.Pushforward, "fwd"), (checking.Pullback, "rev"), (checking.Gradient, "grad")],
)
def test_wrong_derivatives_are_told_with_both_numbers(
    mode: type, label: str, wrong_by_a_tenth: Callable[[type], None]
) -> None:
    wrong_by_a_tenth(mode)
    with pytest.raises(AssertionError) as caught:
        check_grads(square, (3.0,), order=1, seed=3)
    text = str(caught.value)
    assert f"check_grads of square, order 1, mode {label}: 1 of 1 numbers are off" in text
    ours, differences = (
        float(text.split(word)[1].split()[0].rstrip(","))
        for word in ("derivative ", "differences ")
    )
    assert ours / differences == pytest.approx(1.1)
    assert "off by" in text and "allowed" in text


def test_wrong_derivatives_pass_within_the_tolerance(
    wrong_by_a_tenth: Callable[[type], None],
) -> None:
    wrong_by_a_tenth(checking.Pushforward)
    check_grads(square, (3.0,), order=1, rtol=0.2)


def test_nan_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        checking, "Transformed", lambda function, mode: lambda x, dx: (x, dx * np.nan)
    )
    with pytest.raises(AssertionError, match="derivative nan"):
        check_grads(square, (3.0,), order=1, modes=("fwd",))


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"order": 0}, "the order of check_grads is 0"),
        ({"modes": ("backward",)}, "the modes of check_grads are"),
        ({"modes": ()}, "the modes of check_grads are"),
        ({"args": (3,)}, "nothing to differentiate"),
        ({"args": 3.0}, "expects a tuple of arguments, got a float"),
        ({"function": 3}, "check_grads expects a function, got an int"),
        ({"function": lambda x: 3}, "nothing to differentiate"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        check_grads(**{"function": square, "args": (3.0,), **arguments})


def test_figures() -> None:
    def function(w: Any, x: Any, *, scale: float = 1.0) -> Any:
        return np.sum(w * x) * scale

    point = Point(function, (np.ones(2), np.array([1.0, 2.0])), {"scale": 3.0})
    found = figures(point, {"x": 1, "scale": "scale"})
    assert [figure.name for figure in found] == ["x", "scale"]
    assert all(figure.agrees and figure.error < 1e-8 for figure in found)
    assert found[0].reverse == pytest.approx(found[0].forward) == pytest.approx(found[0].difference)


def test_figures_of_arrays() -> None:
    (found,) = figures(Point(lambda x: (np.sin(x), 2 * x), (np.ones(2),), {}), {"x": 0})
    assert found.agrees
