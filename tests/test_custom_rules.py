"""Functions with rules of their own, by custom_jvp and custom_vjp: against differences, in both modes, and printed."""

from __future__ import annotations

import math
import pickle
import threading
from functools import partial
from typing import Any

import numpy as np
import pytest

from transformer import (
    NotDifferentiable,
    check_grads,
    custom_jvp,
    custom_vjp,
    grad,
    jvp,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
)

VECTOR = np.array([0.3, -0.8, 1.2])
MATRIX = np.random.default_rng(1).normal(size=(3, 2))


# -- functions with rules --------------------------------------------------------------------------


@custom_jvp
def log1pexp(x):
    return np.log(1 + np.exp(x))


@log1pexp.defjvp
def log1pexp_jvp(primals, tangents):
    (x,) = primals
    (dx,) = tangents
    return log1pexp(x), dx / (1 + np.exp(-x))


@custom_jvp
def product(x, y):
    return x * y


product.defjvps(lambda dx, result, x, y: dx * y, lambda dy, result, x, y: x * dy)


@partial(custom_jvp, nondiff_argnums=("n",))
def power(n, x):
    return x**n


@power.defjvp
def power_jvp(n, primals, tangents):
    (x,), (dx,) = primals, tangents
    if n == 0:
        return x**0, 0 * dx
    return power(n, x), n * power(n - 1, x) * dx


@custom_vjp
def clip_gradient(x, bound):
    return x


clip_gradient.defvjp(lambda x, bound: (x, bound), lambda bound, dy: (np.clip(dy, -bound, bound), None))


@custom_vjp
def rounded(x):
    return np.round(x)


rounded.defvjp(lambda x: (np.round(x), None), lambda _, dy: (dy,))


@custom_vjp
def layer(params, x, gain=1.0):
    return {"out": np.tanh(x @ params["w"] + params["b"]) * gain, "norm": np.sum(x * x)}


def layer_forward(params, x, gain):
    result = layer(params, x, gain)
    return result, {"w": params["w"], "x": x, "y": result["out"] / gain, "gain": gain}


def layer_backward(kept, d):
    dz = d["out"] * (1 - kept["y"] ** 2) * kept["gain"]
    x = kept["x"]
    return {"w": np.outer(x, dz), "b": dz}, kept["w"] @ dz + 2 * x * d["norm"], np.sum(d["out"] * kept["y"])


layer.defvjp(layer_forward, layer_backward)


def plain_layer(params, x, gain=1.0):
    return {"out": np.tanh(x @ params["w"] + params["b"]) * gain, "norm": np.sum(x * x)}


@custom_vjp
def horner(c, x):
    total = 0.0
    for k in range(len(c)):
        total = total * x + c[k]
    return total


def horner_forward(c, x):
    return horner(c, x), (c, x)


def horner_backward(kept, dy):
    c, x = kept
    n = len(c)
    dc = np.zeros(n)
    total, slope = 0.0, 0.0
    for k in range(n):
        dc[n - 1 - k] = dy * x**k
        slope = slope * x + total
        total = total * x + c[k]
    return dc, dy * slope


horner.defvjp(horner_forward, horner_backward)


@custom_vjp
def positive_squares(x):
    """A result whose size depends on values."""
    return x[x > 0] ** 2


def positive_squares_backward(x, dy):
    dx = np.zeros(len(x))
    dx[x > 0] = 2 * x[x > 0] * dy
    return (dx,)


positive_squares.defvjp(lambda x: (x[x > 0] ** 2, x), positive_squares_backward)


class Oscillator:
    def __init__(self, frequency):
        self.frequency = frequency

    @custom_jvp
    def wave(self, t):
        return np.sin(self.frequency * t)

    @wave.defjvp
    def wave_jvp(primals, tangents):
        self, t = primals
        return self.wave(t), self.frequency * np.cos(self.frequency * t) * tangents[1]


def in_loops(x):
    total = 0.0
    for k in range(3):
        x = log1pexp(x) - 0.1 * k
        if total < 2.0:
            total = total + np.sum(product(x, x))
        else:
            total = total - log1pexp(total)
    return total


def in_while(x):
    while np.sum(x) < 5.0:
        x = product(x, log1pexp(x)) + 1.0
    return np.sum(x)


def on_layers(params, x):
    out = layer(params, x, gain=2.0)
    again = layer(params=params, x=np.append(out["out"], out["norm"]))
    return np.sum(again["out"]) * again["norm"]


PARAMS = {"w": MATRIX, "b": np.array([0.1, -0.2])}
PROGRAMS = {
    "scalar": (log1pexp, (0.7,)),
    "array": (lambda x: np.sum(log1pexp(x) * x), (VECTOR,)),
    "loops": (in_loops, (VECTOR,)),
    "while": (in_while, (VECTOR,)),
    "each argument": (lambda x, y: np.sum(product(x, product(y, x))), (VECTOR, VECTOR + 1)),
    "broadcast": (lambda x: np.sum(product(np.sum(x), np.sum(x * x))), (VECTOR,)),
    "power": (lambda x: power(4, x), (1.3,)),
    "pytrees": (on_layers, (PARAMS, VECTOR)),
    "loop in the rule": (horner, (np.array([1.0, -2.0, 0.5]), 0.7)),
    "size that depends on values": (lambda x: np.sum(positive_squares(x) ** 2), (VECTOR,)),
    "method": (lambda t: Oscillator(3.0).wave(t) * t, (0.4,)),
    "twice in one expression": (lambda x: log1pexp(x) * log1pexp(2 * x) + product(x, log1pexp(x)), (0.3,)),
    "inside grad": (lambda x: np.sum(grad(lambda y: np.sum(product(log1pexp(y), y)))(x)), (VECTOR,)),
    "inside jvp": (lambda x: jvp(lambda y: np.sum(product(log1pexp(y), y)), (x,), (x * x,))[1], (VECTOR,)),
    "inside vjp": (lambda x: np.sum(vjp(log1pexp, x)[1](x)[0]), (VECTOR,)),
    "inside linearize": (lambda x: linearize(lambda y: np.sum(log1pexp(y)), x)[1](x), (VECTOR,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_two_orders_in_both_modes(name: str) -> None:
    program, args = PROGRAMS[name]
    check_grads(program, args)


def test_third_order() -> None:
    assert grad(grad(grad(lambda x: power(4, x))))(1.3) == pytest.approx(24 * 1.3)
    check_grads(log1pexp, (0.4,), order=3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_keep_their_dtype(dtype: Any) -> None:
    x = VECTOR.astype(dtype)
    assert grad(lambda x: np.sum(log1pexp(x)))(x).dtype == dtype
    assert grad(lambda x: np.sum(clip_gradient(x, 0.5)))(x).dtype == dtype
    assert jvp(log1pexp, (x,), (x,))[1].dtype == dtype


def test_complex_arguments() -> None:
    z = VECTOR + 1j
    wanted = grad(lambda z: np.sum(np.real(z * z)))(z)
    np.testing.assert_allclose(grad(lambda z: np.sum(np.real(product(z, z))))(z), wanted)


def test_the_rule_counts_and_not_the_code() -> None:
    assert grad(log1pexp)(1000.0) == 1.0
    np.testing.assert_array_equal(grad(lambda x: np.sum(clip_gradient(x, 0.5) ** 2))(VECTOR), [0.5, -0.5, 0.5])
    np.testing.assert_array_equal(grad(lambda x: np.sum(rounded(x) ** 2))(VECTOR * 3), 2 * np.round(VECTOR * 3))


def test_functions_just_run_outside_of_transformations() -> None:
    assert log1pexp(0.0) == math.log(2)
    assert layer(PARAMS, x=VECTOR)["norm"] == np.sum(VECTOR**2)
    assert Oscillator(2.0).wave(0.5) == np.sin(1.0)
    assert log1pexp.__name__ == "log1pexp" and log1pexp.__doc__ is None


def test_value_and_gradient_agree_with_plain_code() -> None:
    def plain(params, x):
        out = plain_layer(params, x, gain=2.0)
        again = plain_layer(params, np.append(out["out"], out["norm"]))
        return np.sum(again["out"]) * again["norm"]

    found, wanted = (value_and_grad(f, (0, 1))(PARAMS, VECTOR) for f in (on_layers, plain))
    assert found[0] == pytest.approx(wanted[0])
    np.testing.assert_allclose(found[1][0]["w"], wanted[1][0]["w"])
    np.testing.assert_allclose(found[1][1], wanted[1][1])


def test_forward_mode_of_a_pullback_that_is_linear() -> None:
    (value, tangent), x = jvp(rounded, (VECTOR,), (VECTOR,)), VECTOR
    np.testing.assert_array_equal(value, np.round(x))
    np.testing.assert_array_equal(tangent, x)


def test_forward_mode_of_a_pullback_that_is_not_linear_is_refused() -> None:
    with pytest.raises(NotDifferentiable, match="backward rule of clip_gradient is not linear") as caught:
        jvp(lambda x: clip_gradient(x, 1.0), (VECTOR,), (VECTOR,))
    assert "np.clip(dy" in str(caught.value) and "forward mode" in str(caught.value)


def test_functions_as_constant_arguments() -> None:
    scaled = custom_vjp(lambda f, x, n: f(x) * n, nondiff_argnums=(0, "n"))
    scaled.defvjp(lambda f, x, n: (f(x) * n, x), lambda f, n, x, dy: (dy * n * grad(f)(x),))
    check_grads(lambda x: scaled(np.sin, x, 3), (0.5,))
    check_grads(lambda x: scaled(lambda y: y * y, x, 3), (0.5,))


def test_constant_arguments_that_are_differentiated_are_refused() -> None:
    with pytest.raises(NotDifferentiable, match="argument 0 of power is in nondiff_argnums, but"):
        grad(lambda x: power(x, x))(2.0)
    assert grad(lambda x: power(stop_gradient(x), x))(2.0) == 4.0


def test_rules_given_inside_of_a_program() -> None:
    def program(x):
        total = 0.0
        for factor in (1.0, 2.0):

            @custom_jvp
            def square(u):
                return factor * u**2

            @square.defjvp
            def rule(primals, tangents):
                return square(primals[0]), 10 * factor * primals[0] * tangents[0]

            total = total + square(x)
        return total

    assert grad(program)(3.0) == 90.0


def test_effects_are_those_of_the_rule(capsys: pytest.CaptureFixture[str]) -> None:
    @custom_vjp
    def noisy(x):
        print("function")
        return x * x

    def forward(x):
        print("forward", x)
        return x * x, x

    noisy.defvjp(forward, lambda x, dy: (2 * x * dy,))
    assert grad(lambda x: noisy(x) + 0 * x)(3.0) == 6.0
    assert jvp(noisy, (3.0,), (1.0,)) == (9.0, 6.0)
    assert capsys.readouterr().out == "forward 3.0\nforward 3.0\n"
    assert grad(lambda x: x * stop_gradient(noisy(3.0 + 0 * x)))(1.0) == 9.0
    assert capsys.readouterr().out == "function\n"


TABLE = np.array([1.0, 2.0, 4.0])


def test_rules_use_arrays_from_outside_as_they_are_now() -> None:
    @custom_vjp
    def weighted(x):
        return np.sum(x)

    weighted.defvjp(lambda x: (np.sum(x), None), lambda _, dy: (dy * TABLE,))
    slope = grad(weighted)
    np.testing.assert_array_equal(slope(VECTOR), [1.0, 2.0, 4.0])
    TABLE[0] = 7.0
    np.testing.assert_array_equal(slope(VECTOR), [7.0, 2.0, 4.0])
    TABLE[0] = 1.0


def test_a_rule_given_anew_holds_from_the_next_call() -> None:
    doubled = custom_jvp(lambda x: 2 * x)
    doubled.defjvp(lambda primals, tangents: (2 * primals[0], 2 * tangents[0]))
    slope = grad(doubled)
    assert slope(1.0) == 2.0
    doubled.defjvp(lambda primals, tangents: (2 * primals[0], 5 * tangents[0]))
    assert slope(1.0) == 5.0


def test_one_generated_function_serves_all_calls() -> None:
    wave = Oscillator(2.0).wave
    slope = grad(lambda t: wave(t) * log1pexp(t))
    sources = {slope.source_for(0.1 * k) for k in range(4)}
    entries = [slope._dispatcher.entry((0.1 * k,), {}) for k in range(4)]
    assert len(sources) == 1 and len(set(map(id, entries))) == 1


def test_functions_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(log1pexp)) is log1pexp
    other = custom_jvp(math.sin)
    other.rule = log1pexp.rule
    copy = pickle.loads(pickle.dumps(other))
    assert copy(0.5) == math.sin(0.5) and copy.rule == other.rule


def test_first_calls_from_several_threads() -> None:
    slope, found = grad(lambda x: log1pexp(x) * product(x, x)), []
    threads = [threading.Thread(target=lambda: found.append(slope(0.5))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6 and len(set(found)) == 1


# -- what is printed -------------------------------------------------------------------------------


def body(source: str) -> str:
    return source[source.index("):\n") + 3 :]


def test_a_pullback_is_printed_in_place() -> None:
    source = grad(lambda x: np.sum(clip_gradient(x, 1.0) ** 2)).source_for(VECTOR)
    assert body(source) == ("    # x: f64[n]\n"
                            "    dx = np.clip(2 * x, -1.0, 1.0)\n"
                            "    return dx\n")


def test_a_tangent_is_printed_in_place() -> None:
    source = jvp_source(lambda x: product(x, np.sin(x)), 0.5)
    assert "product" not in source and "np.zeros" not in source and "0.0" not in source


def jvp_source(function: Any, x: float) -> str:
    from transformer.api import pushforward
    return pushforward(function, (0,)).source_for(x, 1.0)


def test_arguments_that_stand_still_leave_no_trace() -> None:
    assert body(grad(product).source_for(2.0, 3.0)) == "    # x, y: float\n    return y\n"
