"""Functions of other libraries, to which `define_op` gives rules."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special as sp
from test_custom_rules import MATRIX, VECTOR

from transformer import BadArgument, NotSupported, ShapeError, check_grads, check_op, define_op, grad, value_and_grad
from transformer.ops.registry import definition_of, registry

pytestmark = pytest.mark.usefixtures("fresh_registry")


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
    with pytest.raises(NotSupported, match="a lambda, which a standalone file cannot identify"):
        first.save(tmp_path / "out.py", 2.0)
    assert not (tmp_path / "out.py").exists()


def test_the_name_of_an_op_of_ours_means_nothing() -> None:
    def add(x, y):
        return np.multiply(x, y)

    define_op(add, partials=(lambda t, x, y, z: t * y, lambda t, x, y, z: x * t))
    assert value_and_grad(lambda x: add(x, 0.0) + add(x, 3.0))(2.0) == (6.0, 3.0)
    check_op(add, VECTOR, VECTOR + 1)


def test_a_function_is_not_called_with_other_numbers_than_the_programs() -> None:
    """To find out where its derivative is infinite: it may raise there."""
    def root(x):
        if np.any(x <= 0):
            raise RuntimeError("no root")
        return np.sqrt(x)

    define_op(root, partials=lambda t, x, y: t / (2 * y))
    assert grad(lambda x: root(x) * 2 if x > 1 else x)(4.0) == 0.5


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
    with pytest.raises(BadArgument, match="sin already has a rule"):
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
    "no function": ({"partials": 1}, "must be a function, got"),
    "too many": ({"partials": (lambda t, x, y: t, lambda t, x, y: t)}, "partials has 2 functions"),
    "parameters": ({"partials": lambda t, x: t}, "It is called with"),
    "linear in anything": ({"linear": True, "vjp": lambda dy, x: dy}, "names True, which is not an argument"),
    "linear in what": ({"linear": "z", "vjp": lambda dy, x: dy}, "which is not an argument"),
    "no reason": ({"derivative": (None, 1)}, "define_op: derivative must be"),
    "types": ({"partials": lambda t, x, y: t, "types": "like z"}, "Pass 'elementwise', 'like x', or a function of"),
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
    with pytest.raises(ShapeError, match="spence for 'x' returns shape") as caught:
        grad(lambda x: np.sum(sp.spence(x)))(VECTOR**2)
    assert "np.ones(7)" in str(caught.value)
    define_op(running_mean, types="like x", jvp=lambda t, x, y: t, vjp=lambda dy, x, y: np.sum(dy))
    with pytest.raises(ShapeError, match="running_mean for 'x' returns shape"):
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
    with pytest.raises(AssertionError, match="extremes returns 2 results, but 1 are declared"):
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
