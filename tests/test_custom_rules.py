"""Rules of users: custom_jvp, custom_vjp, define_op; against differences, in both modes, and refused."""

from __future__ import annotations

import doctest
import importlib
import linecache
import math
import pickle
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special as sp
from doc_blocks import FOLDER, blocks, run_block

import transformer
from transformer import (
    BadArgument,
    NotDifferentiable,
    NotSupported,
    ShapeError,
    check_grads,
    check_op,
    custom_jvp,
    custom_vjp,
    define_op,
    grad,
    jvp,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
)
from transformer.__main__ import ensure_command_line
from transformer.ops.registry import definition_of, registry

ensure_command_line()
from transformer_cli.main import main  # noqa: E402

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
    with pytest.raises(NotDifferentiable, match="argument 0 of power is one of nondiff_argnums"):
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
                            "    dy = 2 * x\n"
                            "    dx = np.clip(dy, -1.0, 1.0)\n"
                            "    return dx\n")


def test_a_tangent_is_printed_in_place() -> None:
    source = jvp_source(lambda x: product(x, np.sin(x)), 0.5)
    assert "product" not in source and "np.zeros" not in source and "0.0" not in source


def jvp_source(function: Any, x: float) -> str:
    from transformer.api import pushforward
    return pushforward(function, (0,)).source_for(x, 1.0)


def test_arguments_that_stand_still_leave_no_trace() -> None:
    assert body(grad(product).source_for(2.0, 3.0)) == "    # x, y: float\n    return y\n"


# -- bad rules -------------------------------------------------------------------------------------


def with_jvp(rule: Any) -> Any:
    function = custom_jvp(lambda x: 2 * x)
    function.defjvp(rule)
    return function


BAD_JVPS = {
    "no pair": (lambda p, t: p[0], BadArgument, "Return a pair"),
    "square": (lambda p, t: (2 * p[0], t[0] ** 2), NotDifferentiable, "not linear"),
    "affine": (lambda p, t: (2 * p[0], t[0] + 1), NotDifferentiable, "not linear"),
    "constant": (lambda p, t: (2 * p[0], 0 * p[0] + 1), NotDifferentiable, "not linear"),
    "sign": (lambda p, t: (2 * p[0], np.sign(t[0])), NotDifferentiable, "`sign` is not"),
    "one side": (lambda p, t: (2 * p[0], np.maximum(t[0], 0)), NotDifferentiable, "`maximum` is not"),
    "branch": (lambda p, t: (2 * p[0], t[0] if t[0] > 0 else 2 * t[0]), NotDifferentiable, "not linear"),
    "rounding": (lambda p, t: (2 * p[0], np.round(t[0])), NotDifferentiable, "`round` is not"),
    "shape of the tangent": (lambda p, t: (2 * p[0], t[0] * np.ones(2)), ShapeError, r"tangent .* has shape \(2,\)"),
    "shape of the result": (lambda p, t: (np.ones(2), t[0]), ShapeError, r"the result .* has shape \(2,\)"),
    "complex": (lambda p, t: (2 * p[0], t[0] * 1j), BadArgument, "is complex"),
    "text": (lambda p, t: (2 * p[0], "slope"), BadArgument, "where an array or a number is needed"),
    "structure": (lambda p, t: (2 * p[0], {"slope": t[0]}), BadArgument, "where an array or a number is needed"),
}


@pytest.mark.parametrize("name", BAD_JVPS)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_bad_jvp_rules_are_refused_at_their_line(name: str, mode: str) -> None:
    rule, error, words = BAD_JVPS[name]
    function = with_jvp(rule)
    with pytest.raises(error, match=words) as caught:
        grad(function)(0.5) if mode == "reverse" else jvp(function, (0.5,), (1.0,))
    line = linecache.getline(__file__, rule.__code__.co_firstlineno).strip()
    assert line in str(caught.value)


BAD_VJPS = {
    "no tuple": (lambda kept, dy: dy, BadArgument, "Return a tuple of 2"),
    "too few": (lambda kept, dy: (dy,), BadArgument, "returns a tuple of 1"),
    "shape": (lambda kept, dy: (dy, np.ones(2)), ShapeError, r"cotangent 1 .* has shape \(2,\), where \(\) is needed"),
    "complex": (lambda kept, dy: (dy, 1j * dy), BadArgument, "cotangent 1 .* is complex"),
    "structure": (lambda kept, dy: (dy, {"y": dy}), BadArgument, "cotangent 1 .* is a dict"),
}


@pytest.mark.parametrize("name", BAD_VJPS)
def test_bad_vjp_rules_are_refused(name: str) -> None:
    rule, error, words = BAD_VJPS[name]
    function = custom_vjp(lambda x, y: x * y)
    function.defvjp(lambda x, y: (x * y, None), rule)
    with pytest.raises(error, match=words):
        grad(function)(0.5, 2.0)


def test_a_function_without_a_rule_is_refused() -> None:
    for decorator, words in ((custom_jvp, r"\.defjvp"), (custom_vjp, r"\.defvjp\(fwd, bwd\)")):
        with pytest.raises(NotSupported, match="has no rule yet") as caught:
            grad(decorator(lambda x: x))(1.0)
        assert caught.match(words)


def test_rules_leave_arrays_alone() -> None:
    @custom_vjp
    def writes(x):
        x[0] = 1.0
        return np.sum(x)

    writes.defvjp(lambda x: (np.sum(x), None), lambda _, dy: (dy * np.ones(3),))
    with pytest.raises(NotSupported, match="writes to an argument"):
        grad(writes)(VECTOR)


def test_variables_of_the_program_in_a_rule_are_refused() -> None:
    def program(x, factor):
        @custom_jvp
        def scaled(u):
            return factor * u

        @scaled.defjvp
        def rule(primals, tangents):
            return scaled(primals[0]), factor * tangents[0]

        return scaled(x)

    with pytest.raises(NotSupported, match="uses `factor`, a variable of the function around it"):
        grad(program)(2.0, 3.0)


def test_functions_for_each_argument() -> None:
    partly = custom_jvp(lambda x, y: (x * y, x + y))
    partly.defjvps(lambda t, result, x, y: (t * y, t), lambda t, result, x, y: (None, t))
    assert jvp(partly, (2.0, 3.0), (1.0, 1.0)) == ((6.0, 5.0), (3.0, 2.0))
    assert vjp(partly, 2.0, 3.0)[1]((1.0, 1.0)) == (4.0, 1.0)
    partly.defjvps(None, lambda t, result, x, y: (t * x, 0))
    assert vjp(partly, 2.0, 3.0)[1]((1.0, 1.0)) == (0.0, 2.0)
    with pytest.raises(BadArgument, match="was given no function"):
        partly.defjvps(None, None)
    with pytest.raises(BadArgument, match="Use defjvp"):
        power.defjvps(None, lambda t, result, x: t)
    partly.defjvps(lambda t, result, x, y: (t, t))
    with pytest.raises(BadArgument, match="was given 1 functions"):
        grad(lambda x: partly(x, x)[0])(1.0)


def test_bad_declarations_of_constants() -> None:
    with pytest.raises(BadArgument, match="no argument 'z'"):
        custom_jvp(lambda x: x, nondiff_argnums="z")
    with pytest.raises(BadArgument, match="no argument 3"):
        custom_vjp(lambda x: x, nondiff_argnums=(3,))
    with pytest.raises(BadArgument, match="needs a function"):
        custom_jvp(3)
    with pytest.raises(NotSupported, match="by keyword only"):
        keyword = custom_jvp(lambda x, *, n=2: x)
        keyword.defjvp(lambda p, t: (p[0], t[0]))
        grad(keyword)(1.0)


# -- functions of other libraries ------------------------------------------------------------------


@pytest.fixture(autouse=True)
def fresh_registry() -> Any:
    """Ops defined in a test are gone after it."""
    before = registry.by_function
    yield
    registry.by_function = before
    registry.version += 1


def define_spence() -> None:
    define_op(sp.spence, partials=lambda t, x, y: t * np.log(x) / (1 - x))


def test_a_ufunc_of_scipy() -> None:
    define_spence()
    for x in (np.array([0.5, 2.0]), np.float32(0.7), 0.7, MATRIX**2):
        check_op(sp.spence, x)
    check_grads(lambda x: np.sum(sp.spence(x * x) * x), (np.array([0.5, 2.0]),))
    source = grad(lambda x: np.sum(sp.spence(x) * x)).source_for(np.array([0.5, 2.0]))
    assert "import scipy.special\n" in source and "scipy.special.spence(x)" in source


def test_several_arguments() -> None:
    define_op(sp.betainc, override=True, partials=(
        lambda t, a, b, x, y: 0 * t * a, lambda t, a, b, x, y: 0 * t * b,
        lambda t, a, b, x, y: t * np.exp((a - 1) * np.log(x) + (b - 1) * np.log(1 - x) - sp.betaln(a, b))))
    check_grads(lambda x: np.sum(sp.betainc(2.0, np.array([1.5, 3.0]), x)), (np.array([0.3, 0.6]),))


def running_mean(x, width=1):
    kernel = np.ones(2 * width + 1) / (2 * width + 1)
    return np.convolve(x, kernel, mode="same").astype(x.dtype)


def test_a_linear_function_with_an_option() -> None:
    define_op(running_mean, types="like x", linear="x",
              vjp=lambda dy, x, width=1: running_mean(dy, width=width))
    check_op(running_mean, np.arange(6.0) ** 2)
    check_op(running_mean, np.arange(6.0) ** 2, width=2)
    source = grad(lambda x: np.sum(running_mean(x, width=2) ** 2)).source_for(np.arange(6.0))
    assert f"import {__name__}" in source and "running_mean(x, width=2)" in source


def extremes(x):
    return x.min(), x.max()


def test_several_results() -> None:
    define_op(extremes, types=lambda x: [((), x.dtype), ((), x.dtype)],
              jvp=lambda t, x, y: (t[np.argmin(x)], t[np.argmax(x)]),
              vjp=lambda dy, x, y: dy[0] * (np.arange(len(x)) == np.argmin(x))
              + dy[1] * (np.arange(len(x)) == np.argmax(x)))
    check_op(extremes, VECTOR)
    check_grads(lambda x: extremes(x)[1] ** 2 * extremes(x)[0], (VECTOR,))


def test_a_rule_with_a_loop_and_a_branch() -> None:
    def smooth_step(t, x, y):
        slope = np.zeros(len(x))
        for k in range(len(x)):
            if 0 < x[k] < 1:
                slope[k] = 6 * x[k] * (1 - x[k])
        return t * slope

    def step(x):
        z = np.clip(x, 0, 1)
        return z * z * (3 - 2 * z)

    define_op(step, partials=smooth_step)
    check_op(step, np.array([-0.5, 0.2, 0.7, 1.4]), order=1)
    check_grads(lambda x: np.sum(step(x) * x), (np.array([-0.5, 0.2, 0.7, 1.4]),))


def test_a_constant() -> None:
    def bucket(x):
        return np.digitize(x, np.arange(10.0))

    define_op(bucket, types=lambda x: (x.shape, int), derivative=(None, "it counts"))
    check_op(bucket, VECTOR)
    np.testing.assert_array_equal(grad(lambda x: np.sum(x * bucket(x)))(VECTOR * 3), bucket(VECTOR * 3))


def test_functions_that_cannot_be_imported_run_and_are_not_written(tmp_path: Path) -> None:
    cubes = [lambda x: x**3, lambda x: 2 * x**3]
    define_op(cubes[0], partials=lambda t, x, y: 3 * t * x**2)
    define_op(cubes[1], partials=lambda t, x, y: 6 * t * x**2)
    first, second = (value_and_grad(lambda x, f=f: f(x) * x) for f in cubes)
    assert first(2.0) == (16.0, 32.0) and second(2.0) == (32.0, 64.0)
    with pytest.raises(NotSupported, match="a file of its own does not have"):
        first.save(tmp_path / "out.py", 2.0)
    assert not (tmp_path / "out.py").exists()


def test_the_name_of_an_op_of_ours_means_nothing() -> None:
    def add(x, y):
        return np.multiply(x, y)

    define_op(add, partials=(lambda t, x, y, z: t * y, lambda t, x, y, z: x * t))
    assert value_and_grad(lambda x: add(x, 0.0) + add(x, 3.0))(2.0) == (6.0, 3.0)
    check_op(add, VECTOR, VECTOR + 1)


def test_as_a_decorator() -> None:
    @define_op(partials=lambda t, x, y: 3 * t)
    def tripled(x):
        return np.multiply(3.0, x)

    assert grad(tripled)(5.0) == 3.0


def test_generated_functions_follow_a_new_definition() -> None:
    def cube(x):
        return x * x * x

    slope = grad(cube)
    assert slope(2.0) == 12.0
    define_op(cube, partials=lambda t, x, y: 7 * t)
    assert slope(2.0) == 7.0
    define_op(cube, partials=lambda t, x, y: 8 * t, override=True)
    assert slope(2.0) == 8.0


def test_definitions_that_exist_are_kept() -> None:
    with pytest.raises(BadArgument, match="sin has a rule already"):
        define_op(np.sin, partials=lambda t, x, y: t)
    define_spence()
    with pytest.raises(BadArgument, match="override=True"):
        define_spence()
    define_op(np.sin, partials=lambda t, x, y: 2 * t * np.cos(x), override=True)
    assert grad(lambda x: np.sin(x))(0.0) == 2.0


BAD_DEFINITIONS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": ({"partial": 1}, "Did you mean 'partials'"),
    "nothing": ({}, "the derivative is missing"),
    "two ways": ({"partials": math.sin, "derivative": (None, "why")}, "partials and derivative are both given"),
    "no vjp": ({"linear": "x"}, "linear needs vjp beside it"),
    "vjp alone": ({"vjp": lambda dy, x: dy}, "the derivative is missing"),
    "no function": ({"partials": 1}, "has to be a function"),
    "too many": ({"partials": (lambda t, x, y: t, lambda t, x, y: t)}, "partials has 2 functions"),
    "parameters": ({"partials": lambda t, x: t}, r"It is called as \(t, x, y\)"),
    "linear in what": ({"linear": "z", "vjp": lambda dy, x: dy}, "which is no argument"),
    "no reason": ({"derivative": (None, 1)}, "has to be"),
    "types": ({"partials": lambda t, x, y: t, "types": "like z"}, "It is 'elementwise', 'like x'"),
    "not elementwise": ({"partials": lambda t, x, y: t, "types": "like x"}, "partials are for elementwise"),
    "name": ({"partials": lambda t, x, y: t, "name": "scipy.special.exp2"}, "is not this function"),
}


@pytest.mark.parametrize("name", BAD_DEFINITIONS)
def test_bad_definitions_are_refused_at_once(name: str) -> None:
    facets, words = BAD_DEFINITIONS[name]
    version = registry.version
    with pytest.raises(BadArgument, match=words):
        define_op(sp.spence, **facets)
    assert registry.version == version


def test_what_rules_return_is_checked() -> None:
    define_op(sp.spence, partials=lambda t, x, y: t * np.ones(7))
    with pytest.raises(ShapeError, match=r"returns shape \(7,\), where \(3,\) is needed") as caught:
        grad(lambda x: np.sum(sp.spence(x)))(VECTOR**2)
    assert "np.ones(7)" in str(caught.value)
    define_op(running_mean, types="like x", jvp=lambda t, x, y: t, vjp=lambda dy, x, y: np.sum(dy))
    with pytest.raises(ShapeError, match=r"returns shape \(\), where \(3,\) is needed"):
        grad(lambda x: np.sum(running_mean(x)))(VECTOR)


def test_wrong_declarations_are_found_by_check_op() -> None:
    define_op(sp.spence, partials=lambda t, x, y: -t * np.log(x) / (1 - x))
    with pytest.raises(AssertionError, match="are off"):
        check_op(sp.spence, VECTOR**2)
    define_op(running_mean, types=lambda x: ((x.shape[0] - 1,), x.dtype), jvp=lambda t, x, y: t,
              vjp=lambda dy, x, y: dy)
    with pytest.raises(AssertionError, match=r"declared as float64 of shape \(2,\)"):
        check_op(running_mean, VECTOR)
    define_op(extremes, types="like x", jvp=lambda t, x, y: t, vjp=lambda dy, x, y: dy)
    with pytest.raises(AssertionError, match="gives 2 results, 1 are declared"):
        check_op(extremes, VECTOR)
    viewed, writing = (lambda x: x[:]), (lambda x: np.add(x, 1, out=x))
    for function, words in ((viewed, "returns memory of its arguments"), (writing, "writes to its arguments")):
        define_op(function, types="like x", linear="x", vjp=lambda dy, x: dy)
        with pytest.raises(AssertionError, match=words):
            check_op(function, VECTOR.copy())
    with pytest.raises(BadArgument, match="has no op"):
        check_op(sp.zetac, 2.0)


def test_the_refusal_of_an_unknown_function_says_how_to_define_it() -> None:
    with pytest.raises(NotSupported, match="no rule for .*spence") as caught:
        grad(lambda x: sp.spence(x))(1.0)
    assert "define_op(scipy.special.spence, partials=lambda t, x, y: t * ...)" in str(caught.value)
    assert "partials=(lambda t, x1, x2, x3, y: t * ..., ...)" in definition_of(sp.voigt_profile)
    assert "types='like p'" in definition_of(np.unwrap)
    define_spence()
    assert grad(lambda x: sp.spence(x))(2.0) == pytest.approx(-np.log(2.0))


# -- files -----------------------------------------------------------------------------------------

MODEL = '''
import numpy as np
import scipy.special as sp
from transformer import custom_vjp, define_op
import tools

define_op(sp.spence, partials=lambda t, x, y: t * np.log(x) / (1 - x), override=True)
define_op(tools.doubled, types="like x", linear="x", vjp=lambda dy, x: tools.doubled(dy))


@custom_vjp
def clip_gradient(x, bound):
    return x


clip_gradient.defvjp(lambda x, bound: (x, bound), lambda bound, dy: (np.clip(dy, -bound, bound), None))


def loss(x: "f64[n]"):
    return np.sum(clip_gradient(sp.spence(x), 0.1) * tools.doubled(x))
'''


def test_emitted_files_stand_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "tools.py").write_text("def doubled(x):\n    return x + x\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    out = tmp_path / "loss_grad.py"
    assert main(["grad", "model.py:loss", "--wrt", "x", "-o", str(out)]) == 0
    source = out.read_text()
    assert "import tools\n" in source and "np.clip(" in source and "transformer import" not in source
    code = ("import numpy as np; from loss_grad import loss_grad; import sys; assert 'transformer' not in sys.modules;"
            "print(loss_grad(np.array([0.5, 2.0])).tolist())")
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    x = np.array([0.5, 2.0])
    wanted = np.clip(2 * x, -0.1, 0.1) * np.log(x) / (1 - x) + 2 * sp.spence(x)
    np.testing.assert_allclose(eval(found.stdout), wanted)


PAGE = (FOLDER / "custom_rules.md").read_text()


@pytest.mark.parametrize("source", blocks(PAGE, "python"), ids=range(len(blocks(PAGE, "python"))))
def test_the_page_runs(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    run_block(source, f"page_{hash(source)}.py")
    printed = capsys.readouterr().out.strip()
    assert not printed or printed in PAGE


@pytest.mark.parametrize("module", ["custom", "define", "ops.registry"])
def test_doctests(module: str) -> None:
    found = doctest.testmod(importlib.import_module(f"transformer.{module}"))
    assert found.attempted and not found.failed


def test_names_are_exported_lazily() -> None:
    assert {"custom_jvp", "custom_vjp", "define_op", "check_op"} <= set(transformer.__all__)
    code = "import sys, transformer; raise SystemExit('transformer.custom' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
