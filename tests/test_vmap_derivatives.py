"""`vmap` with derivatives, with rules of users, inside of programs, and compiled."""

from __future__ import annotations

import copy
import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lane_loops import check_vmap
from lane_programs import P5, PARTING, X, shrunk, x5

from transformer import (
    checkpoint,
    custom_jvp,
    custom_vjp,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jit,
    jvp,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")      # lanes compute what a program alone would not


# -- derivatives --------------------------------------------------------------------------------


def wavy(w: Any, x: Any) -> Any:
    return np.sum(np.sin(w * x) * np.cumsum(w))


def test_per_sample_gradients() -> None:
    check_vmap(grad(wavy), X[0], X, in_axes=(None, 0))
    check_vmap(value_and_grad(wavy, argnums=(0, 1)), X, X)
    np.testing.assert_allclose(grad(lambda w: np.sum(vmap(wavy, in_axes=(None, 0))(w, X)))(X[0]),
                               np.sum(vmap(grad(wavy), in_axes=(None, 0))(X[0], X), axis=0))


@pytest.mark.parametrize("name", PARTING)
def test_gradient_of_vmap(name: str) -> None:
    program, args, axes, wrt = PARTING[name]

    def total(*args: Any) -> Any:
        return np.sum(np.sin(vmap(program, in_axes=axes)(*args)))
    axis = axes if isinstance(axes, int) else axes[wrt]
    count = len(args[wrt])
    slope = grad(lambda *one: np.sin(program(*one)), argnums=wrt)
    assert axis == 0
    expected = [slope(*copy.deepcopy(tuple(a[k] if isinstance(a, np.ndarray) else a for a in args)))
                for k in range(count)]
    np.testing.assert_allclose(grad(total, argnums=wrt)(*args), expected, rtol=1e-9, atol=1e-12)


def test_gradient_for_what_lanes_share() -> None:
    slope = grad(lambda b, a: np.sin(shrunk(a, b, 1.0)))
    found = grad(lambda b: np.sum(np.sin(vmap(shrunk, (0, None, None))(P5, b, 1.0))))(0.5)
    np.testing.assert_allclose(found, sum(slope(0.5, a) for a in P5))


def test_forward_and_pullback_inside_and_outside() -> None:
    check_vmap(lambda x: jvp(np.sin, (x,), (1.0,)), x5)
    check_vmap(lambda x: vjp(np.sin, x)[1](2.0)[0], x5)
    check_vmap(lambda x: linearize(np.sin, x)[1](2.0), x5)
    np.testing.assert_allclose(jvp(vmap(np.sin), (x5,), (P5,))[1], np.cos(x5) * P5)
    np.testing.assert_allclose(vjp(vmap(np.sin), x5)[1](P5)[0], np.cos(x5) * P5)
    jacobian = vmap(lambda t: jvp(np.cumprod, (X[0],), (t,))[1])(np.eye(3))
    pulled = vmap(lambda c: vjp(np.cumprod, X[0])[1](c)[0])(np.eye(3))
    np.testing.assert_allclose(jacobian.T, pulled)


def test_higher_orders() -> None:
    cube = vmap(grad(grad(lambda x: np.sin(x) * x)))
    np.testing.assert_allclose(cube(x5), 2 * np.cos(x5) - x5 * np.sin(x5))
    np.testing.assert_allclose(grad(lambda x: np.sum(vmap(grad(lambda z: z**3))(x)))(x5), 6 * x5)
    check_vmap(hessian(lambda v: np.sin(shrunk(v[0], v[1], v[2]))), np.stack([P5, P5 * 0 + 0.4, P5], axis=1))
    fourth = jit(vmap(grad(vmap_sum(grad(lambda z: z**4)))))
    np.testing.assert_allclose(fourth(X), 12 * X**2)


def vmap_sum(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: np.sum(vmap(function)(x))


def test_no_confusion_of_perturbations() -> None:
    def confusable(x: Any) -> Any:
        return grad(lambda x: x * grad(lambda y: x + y)(1.0))(x)
    assert confusable(1.0) == 1.0
    np.testing.assert_array_equal(vmap(confusable)(P5), np.ones(5))

    def closing(x: Any) -> Any:                                    # 3 x²
        return np.sum(vmap(lambda y: x * grad(lambda z: x * z * y)(y))(np.arange(3.0)))
    assert grad(closing)(2.0) == 12.0
    assert hessian(closing)(2.0) == 6.0
    np.testing.assert_allclose(vmap(grad(closing))(x5), 6 * x5)


@custom_jvp
def softplus(x: Any) -> Any:
    return np.log(1 + np.exp(x))


@softplus.defjvp
def softplus_jvp(primals: Any, tangents: Any) -> Any:
    return softplus(primals[0]), 100 * tangents[0]                 # no derivative, so that it shows


@custom_vjp
def clipped(x: Any) -> Any:
    return x * 1.0


clipped.defvjp(lambda x: (x * 1.0, None), lambda kept, dy: (np.clip(dy, -1, 1),))


@checkpoint
def twice(x: Any) -> Any:
    return np.sin(np.sin(x))


def test_rules_of_users() -> None:
    check_vmap(softplus, x5)
    np.testing.assert_array_equal(vmap(grad(softplus))(x5), np.full(5, 100.0))
    np.testing.assert_array_equal(vmap(grad(lambda x: 5 * clipped(x)))(x5), np.ones(5))
    check_vmap(grad(lambda x: np.sum(twice(x) ** 2)), X)
    np.testing.assert_allclose(grad(lambda x: np.sum(vmap(twice)(x)))(x5), np.cos(np.sin(x5)) * np.cos(x5))
    np.testing.assert_array_equal(vmap(grad(lambda x: stop_gradient(x) * x))(x5), x5)


def slowed(x: Any) -> Any:
    """Steps whose length is taken as a constant."""
    for _ in range(3):
        x = x - 0.1 * stop_gradient(x) * np.cos(x)
    return np.sum(x * stop_gradient(x))


@pytest.mark.parametrize("function", [slowed, lambda x: slowed(x) if x[0] > 0 else np.sum(stop_gradient(x) * x)])
def test_what_is_taken_as_a_constant_is_one_in_a_batch(function: Callable[..., Any]) -> None:
    """The derivative of a batch, and not only the batch of a derivative."""
    expected = np.array([grad(function)(x) for x in X])
    batch, along = vmap(function), np.ones_like(X)
    for found in (vmap(grad(function))(X), grad(lambda X: np.sum(batch(X)))(X), pulled_back(batch)):
        np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(jvp(batch, (X,), (along,))[1], np.sum(expected, axis=1))
    for jacobian in (jacrev(batch)(X), jacfwd(vmap(batch))(X[None])[0, :, 0]):
        np.testing.assert_allclose(np.sum(jacobian, axis=1), expected)


def pulled_back(batch: Callable[..., Any]) -> Any:
    """The gradient of the sum of a batch, by its pullback."""
    values, pullback = vjp(batch, X)
    return pullback(np.ones_like(values))[0]


# -- inside of programs -------------------------------------------------------------------------


def test_training_loop() -> None:
    """Gradients of each sample in every step, clipped one by one, as in private training."""
    Y = X @ np.array([1.0, -2.0, 0.5])

    def loss(w: Any, x: Any, y: Any) -> Any:
        return (x @ w - y) ** 2

    def train(w: Any, rate: Any, clip: Callable[..., Any]) -> Any:
        for _ in range(60):
            slopes = clip(w)
            w = w - rate * np.mean(slopes, axis=0)
        return w

    def all_at_once(w: Any) -> Any:
        slopes = vmap(grad(loss), in_axes=(None, 0, 0))(w, X, Y)
        norms = np.sqrt(np.sum(slopes**2, axis=1, keepdims=True))
        return slopes / np.maximum(1.0, norms)

    def one_by_one(w: Any) -> Any:
        slopes = [2 * (x @ w - y) * x for x, y in zip(X, Y)]
        return np.array([s / max(1.0, np.sqrt(s @ s)) for s in slopes])
    expected = train(np.zeros(3), 0.1, one_by_one)
    np.testing.assert_allclose(train(np.zeros(3), 0.1, all_at_once), expected)
    rates = np.array([0.05, 0.1, 0.2])
    found = vmap(lambda rate: train(np.zeros(3), rate, all_at_once))(rates)
    np.testing.assert_allclose(found, [train(np.zeros(3), rate, one_by_one) for rate in rates])


def test_newton_with_a_hessian() -> None:
    def energy(x: Any, a: Any) -> Any:
        return np.sum((x - a) ** 4 + (x - a) ** 2) + np.sum(x) ** 2

    def minimum(a: Any) -> Any:
        x = np.zeros(3)
        for _ in range(8):
            x = x - np.linalg.solve(hessian(energy)(x, a), grad(energy)(x, a))
        return x
    check_vmap(minimum, X)
    np.testing.assert_allclose(grad(energy)(minimum(X[0]), X[0]), np.zeros(3), atol=1e-9)
    check_vmap(grad(lambda a: np.sum(minimum(a))), X[:2])


def newton_root(a: Any) -> Any:
    x = a
    while abs(x * x - a) > 1e-12:
        x = x - (x * x - a) / (2 * x)
    return x


SHARED = {"root": jit(vmap(newton_root)), "slopes": jit(vmap(grad(newton_root)))}


def test_compiled() -> None:
    np.testing.assert_allclose(SHARED["root"](P5), np.sqrt(P5))
    np.testing.assert_allclose(SHARED["slopes"](P5), 0.5 / np.sqrt(P5))
    np.testing.assert_allclose(SHARED["slopes"](P5[:2]), 0.5 / np.sqrt(P5[:2]))
    assert SHARED["slopes"](P5[:0]).shape == (0,)
    per_sample = jit(vmap(grad(wavy), in_axes=(None, 0)))
    np.testing.assert_allclose(per_sample(X[0], X), vmap(grad(wavy), in_axes=(None, 0))(X[0], X))


def doubled(x: Any) -> Any:
    return x * 2 if x > 0 else x


@functools.partial(vmap, in_axes=(0, None))
def decorated(x: Any, w: Any) -> Any:
    return x * w


def test_pickling() -> None:
    for mapped in (vmap(doubled), vmap(grad(doubled)), jit(vmap(doubled))):
        found = pickle.loads(pickle.dumps(mapped))
        np.testing.assert_array_equal(found(x5), mapped(x5))
    assert pickle.loads(pickle.dumps(decorated)) is decorated


def test_is_a_function() -> None:
    assert vmap(doubled).__name__ == "doubled"
    assert "vmap of doubled" in repr(vmap(doubled))
    assert "def doubled_vmap(x):" in vmap(doubled).source_for(x5)
    assert set(vmap(doubled).stages(x5)) >= {"read", "vmap"}


def parts_of_a_form(W, x, seen):
    total = 0.0
    for t in range(len(x)):
        part = seen[t]
        if part.any():
            total += np.sum((W[np.ix_(part, part)] @ x[t, part]) ** 2)
            x = x + 0.01 * total
    return total


def test_sizes_of_branches_in_batches() -> None:
    """What leaves a branch has a size of its own, which nothing asks for: vectors are not reshaped to what they are,
    and branches of the reverse sweep on one condition are one."""
    rng = np.random.default_rng(0)
    W, x = rng.standard_normal((3, 4, 4)), rng.standard_normal((3, 2, 4))
    seen = np.array([[True, False, True, True], [False] * 4])
    batched = vmap(grad(parts_of_a_form, (0, 1)), in_axes=(0, 0, None))
    found = batched(W, x, seen)
    for k in range(3):
        for ours, theirs in zip(found, grad(parts_of_a_form, (0, 1))(W[k], x[k], seen), strict=True):
            np.testing.assert_allclose(ours[k], theirs, rtol=1e-12)
    reverse = batched.source.partition("# reverse")[2]
    assert "reshape" not in reverse and reverse.count("if ") == 1, reverse
