"""`jacfwd`, `jacrev`, `hessian` and `hvp` against closed forms and each other, in and out of other transformations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lane_loops import check_vmap

import transformer
from transformer import (
    BadArgument,
    NotDifferentiable,
    NotSupported,
    custom_vjp,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jit,
    jvp,
    tree,
    vjp,
    vmap,
)

RNG = np.random.default_rng(0)
x4 = RNG.normal(size=4)
A = RNG.normal(size=(3, 4))
PARAMS = {"w": RNG.normal(size=(2, 3)), "b": RNG.normal(size=2)}
MODES = pytest.mark.parametrize("mode", [jacfwd, jacrev], ids=lambda mode: mode.__name__)


def wavy(x: Any) -> Any:
    return np.sin(x) * np.sum(x**2)


def wavy_jacobian(x: Any) -> Any:
    return np.diag(np.cos(x) * np.sum(x**2)) + 2 * np.outer(np.sin(x), x)


def rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_hessian(x: Any) -> Any:
    n = len(x)
    diagonal = np.zeros(n)
    diagonal[:-1] = 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    diagonal[1:] += 200
    off = -400 * x[:-1]
    return np.diag(diagonal) + np.diag(off, 1) + np.diag(off, -1)


def layer(p: Any, z: Any) -> Any:
    return np.tanh(p["w"] @ z) + p["b"]


# -- closed forms -------------------------------------------------------------------------------


@MODES
def test_closed_forms(mode: Any) -> None:
    np.testing.assert_allclose(mode(wavy)(x4), wavy_jacobian(x4))
    np.testing.assert_allclose(mode(lambda x: A @ x)(x4), A)
    np.testing.assert_allclose(mode(np.cumsum)(x4), np.tri(4))
    np.testing.assert_allclose(mode(lambda x: np.sum(x**2))(x4), 2 * x4)
    np.testing.assert_allclose(mode(lambda a: a**3)(2.0), 12.0)
    np.testing.assert_allclose(mode(lambda a: a * x4)(2.0), x4)
    np.testing.assert_allclose(mode(lambda x: 3.0)(x4), np.zeros(4))
    np.testing.assert_allclose(mode(lambda x: np.ones(2))(x4), np.zeros((2, 4)))


@MODES
def test_axes_of_results_come_first(mode: Any) -> None:
    found = mode(lambda B: B @ B.T)(A)
    expected = np.einsum("ia,jb->ijab", np.eye(3), A) + np.einsum("ja,ib->ijab", np.eye(3), A)
    assert found.shape == (3, 3, 3, 4)
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(mode(lambda B: np.sum(B**2))(A), 2 * A)
    np.testing.assert_allclose(mode(lambda B: B.T)(A), np.einsum("ia,jb->jiab", np.eye(3), np.eye(4)))


@MODES
def test_trees(mode: Any) -> None:
    z = x4[:3]
    slope = 1 - np.tanh(PARAMS["w"] @ z) ** 2
    found = mode(layer)(PARAMS, z)
    np.testing.assert_allclose(found["b"], np.eye(2), atol=1e-15)
    np.testing.assert_allclose(found["w"], np.einsum("i,ia,b->iab", slope, np.eye(2), z), atol=1e-15)
    both = mode(layer, argnums=(0, 1))(PARAMS, z)
    np.testing.assert_allclose(both[1], slope[:, None] * PARAMS["w"])
    np.testing.assert_allclose(both[0]["w"], found["w"])
    results = mode(lambda x: (np.sum(x), {"a": x * 2, "b": np.outer(x, x)}))(x4)
    np.testing.assert_allclose(results[0], np.ones(4))
    np.testing.assert_allclose(results[1]["a"], 2 * np.eye(4))
    assert results[1]["b"].shape == (4, 4, 4)
    by_name = mode(lambda a, x: a * x * x, argnums="x")(2.0, x4)
    np.testing.assert_allclose(by_name, np.diag(4 * x4))


@MODES
def test_aux(mode: Any) -> None:
    found, aux = mode(lambda x: (x * x, {"first": x[0], "n": 3, "s": "text"}), has_aux=True)(x4)
    np.testing.assert_allclose(found, np.diag(2 * x4))
    assert aux == {"first": x4[0], "n": 3, "s": "text"}


@MODES
def test_dtypes(mode: Any) -> None:
    assert mode(wavy)(x4.astype(np.float32)).dtype == np.float32
    found = mode(lambda z: z * z, holomorphic=True)(x4 + 1j)
    np.testing.assert_allclose(found, np.diag(2 * (x4 + 1j)))
    assert mode(wavy)(np.zeros(0)).shape == (0, 0)
    assert mode(wavy)(x4[:1]).shape == (1, 1)
    np.testing.assert_allclose(mode(wavy)(x4[:1]), wavy_jacobian(x4[:1]))


def test_complex_results_of_real_arguments() -> None:
    def waves(x: Any) -> Any:
        return np.exp(1j * np.outer(np.arange(3), x)) @ x

    found = jacfwd(waves)(x4)
    turns = np.exp(1j * np.outer(np.arange(3), x4))
    assert np.allclose(found, turns + 1j * np.arange(3)[:, None] * turns * x4) and found.dtype == complex
    assert np.allclose(jacfwd(lambda t: np.exp(2j * t))(0.3), 2j * np.exp(0.6j))
    assert np.allclose(vmap(jacfwd(waves))(np.stack([x4, 2 * x4]))[0], found)
    with pytest.raises(BadArgument, match="returns real numbers"):
        jacrev(waves)(x4)


def test_results_of_sizes_that_are_computed() -> None:
    def positive(x: Any) -> Any:
        return x[x > 0] ** 2

    np.testing.assert_array_equal(jacfwd(positive)(np.array([1.0, -2.0, 3.0])), [[2, 0, 0], [0, 0, 6]])
    with pytest.raises(NotSupported, match=r"of computed size, is not supported\n  File .*test_jacobians"):
        jacrev(positive)(np.array([1.0, -2.0, 3.0]))


def test_one_object_for_all_sizes() -> None:
    found = jacfwd(wavy)
    for n in (4, 2, 1, 3, 0):
        np.testing.assert_allclose(found(x4[:n]), wavy_jacobian(x4[:n]))


@MODES
def test_control_flow(mode: Any) -> None:
    def settled(x: Any) -> Any:
        y = x
        while np.sum(y * y) > 0.5:
            y = y * 0.7 + 0.01 * x[0]
        return y

    def recurrent(x: Any) -> Any:
        f = np.zeros(4)
        f[0] = x[0]
        for i in range(1, 4):
            f[i] = x[i] + f[i - 1] ** 2 if x[i] > 0 else f[i - 1] * x[i]
        return f

    for program in (settled, recurrent, lambda x: np.sort(x) * np.arange(4), lambda x: x[x > 0].sum() * x):
        found = mode(program)(x4)
        for k in range(4):
            np.testing.assert_allclose(found[:, k], jvp(program, (x4,), (np.eye(4)[k],))[1], atol=1e-12)


def test_names() -> None:
    assert jacobian is jacrev
    assert "def wavy_jacfwd(x):" in jacfwd(wavy).source_for(x4)
    assert "def rosenbrock_hvp(x, x_dot):" in hvp(rosenbrock).source_for(x4, x4)
    assert all(hasattr(transformer, name) for name in ("jacfwd", "jacrev", "jacobian", "hessian", "hvp"))


# -- second order -------------------------------------------------------------------------------


def test_hessian() -> None:
    np.testing.assert_allclose(hessian(rosenbrock)(x4), rosenbrock_hessian(x4))
    np.testing.assert_allclose(hessian(lambda a: a**3)(2.0), 12.0)
    np.testing.assert_allclose(hessian(lambda x: np.sum(x))(x4), np.zeros((4, 4)))
    np.testing.assert_allclose(hessian(wavy)(x4), hessian(wavy)(x4).transpose(0, 2, 1))
    np.testing.assert_allclose(jacrev(grad(rosenbrock))(x4), rosenbrock_hessian(x4))
    np.testing.assert_allclose(jacfwd(grad(rosenbrock))(x4), rosenbrock_hessian(x4))
    np.testing.assert_allclose(jacfwd(jacfwd(rosenbrock))(x4), rosenbrock_hessian(x4))
    np.testing.assert_allclose(jacrev(jacrev(rosenbrock))(x4), rosenbrock_hessian(x4))


def test_hessian_of_trees() -> None:
    found = hessian(lambda p, z: np.sum(layer(p, z) ** 2))(PARAMS, x4[:3])
    np.testing.assert_allclose(found["b"]["b"], 2 * np.eye(2), atol=1e-12)
    assert found["w"]["b"].shape == (2, 3, 2)
    np.testing.assert_allclose(found["w"]["b"], np.moveaxis(found["b"]["w"], 0, -1), atol=1e-12)
    blocks = hessian(lambda x, y: np.sum(x) * np.sum(y**2), argnums=(0, 1))(x4, x4[:2])
    np.testing.assert_allclose(blocks[0][1], np.outer(np.ones(4), 2 * x4[:2]))
    np.testing.assert_allclose(blocks[1][1], 2 * np.sum(x4) * np.eye(2))


def test_hvp() -> None:
    v = RNG.normal(size=4)
    np.testing.assert_allclose(hvp(rosenbrock)(x4, v), rosenbrock_hessian(x4) @ v)
    np.testing.assert_allclose(hvp(lambda a, b: a**2 * np.sum(b**2), argnums=(0, 1))(2.0, x4, 1.0, v)[0],
                               2 * np.sum(x4**2) + 4.0 * 2 * np.sum(x4 * v) / 1)
    tangent = tree.map(np.ones_like, PARAMS)
    whole = hessian(lambda p: np.sum(layer(p, x4[:3]) ** 2))(PARAMS)
    found = hvp(lambda p: np.sum(layer(p, x4[:3]) ** 2))(PARAMS, tangent)
    np.testing.assert_allclose(found["b"], whole["b"]["b"].sum(-1) + whole["b"]["w"].sum((-2, -1)))
    np.testing.assert_allclose(hvp(lambda a: a**3)(np.array(2.0), np.array(1.0)), 12.0)
    assert hvp(rosenbrock)(x4.astype(np.float32), v).dtype == np.float32
    np.testing.assert_allclose(hvp(rosenbrock)(x4, np.ones(4, int)), rosenbrock_hessian(x4) @ np.ones(4))


@pytest.mark.parametrize("vector", [np.ones(3), np.ones(1), 1.0, np.ones((1, 4)), np.ones(4) * 1j, {"a": x4}, None])
def test_vectors_that_do_not_fit(vector: Any) -> None:
    """Also where no number of the result rests on them, and after calls with some that fit."""
    for product in (hvp(rosenbrock), hvp(np.sum), jit(hvp(lambda x: np.sum(x**3)))):
        if isinstance(vector, np.ndarray):
            product(x4, x4)
        with pytest.raises(BadArgument):
            product(x4, vector)


# -- in and out of others -----------------------------------------------------------------------


@MODES
def test_batched(mode: Any) -> None:
    check_vmap(mode(wavy), A)
    check_vmap(mode(layer), PARAMS, RNG.normal(size=(5, 3)), in_axes=(None, 0))
    np.testing.assert_allclose(mode(vmap(wavy))(A), np.einsum("iab,ij->iajb", np.stack([wavy_jacobian(a) for a in A]),
                                                             np.eye(3)), atol=1e-14)


def test_hessians_batched() -> None:
    check_vmap(hessian(rosenbrock), A)
    check_vmap(hvp(rosenbrock), A, A * 2)
    check_vmap(hvp(rosenbrock), x4, A, in_axes=(None, 0))
    np.testing.assert_allclose(jit(vmap(hessian(rosenbrock)))(A), [rosenbrock_hessian(a) for a in A])


@MODES
def test_differentiated(mode: Any) -> None:
    def size(x: Any) -> Any:
        return np.sum(mode(wavy)(x) ** 2)

    def closed(x: Any) -> Any:
        return np.sum((np.diag(np.cos(x) * np.sum(x**2)) + 2 * np.outer(np.sin(x), x)) ** 2)
    np.testing.assert_allclose(grad(size)(x4), grad(closed)(x4))
    np.testing.assert_allclose(hessian(size)(x4), hessian(closed)(x4))
    np.testing.assert_allclose(jvp(size, (x4,), (x4,))[1], grad(closed)(x4) @ x4)


def test_third_derivatives() -> None:
    third = jacfwd(hessian(lambda x: np.prod(x)))(x4[:3])
    expected = np.zeros((3, 3, 3))
    for i, j, k in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
        expected[i, j, k] = 1
    np.testing.assert_allclose(third, expected, atol=1e-14)


def test_inside_of_programs() -> None:
    def implicit(theta: Any) -> Any:
        """dx/dtheta where g(x, theta) = 0, by the theorem of implicit functions."""
        def g(x: Any, t: Any) -> Any:
            return x**3 + x - t * np.arange(1.0, 4.0)
        x = np.ones(3)
        for _ in range(20):
            x = x - np.linalg.solve(jacfwd(g)(x, theta), g(x, theta))
        return -np.linalg.solve(jacfwd(g)(x, theta), jacfwd(g, argnums=1)(x, theta)), x
    slope, x = implicit(0.7)
    np.testing.assert_allclose(slope, np.arange(1.0, 4.0) / (3 * x**2 + 1))
    check_vmap(implicit, np.array([0.3, 0.7, 2.0]))

    def closing(x: Any) -> Any:                                # the inner Jacobian has x twice
        return np.sum(jacrev(lambda y: y * x)(x) @ x)
    np.testing.assert_allclose(grad(closing)(x4), 2 * x4)
    np.testing.assert_allclose(vmap(grad(closing))(A), 2 * A)

    def divergence(field: Callable[..., Any], x: Any) -> Any:
        return np.trace(jacfwd(field)(x))
    np.testing.assert_allclose(grad(lambda x: divergence(lambda y: y**3, x))(x4), 6 * x4)


def test_rows_and_columns() -> None:
    J, pulled = jacfwd(wavy)(x4), vjp(wavy, x4)[1]
    for k, e in enumerate(np.eye(4)):
        np.testing.assert_allclose(J[k], pulled(e)[0])
        np.testing.assert_allclose(J[:, k], jvp(wavy, (x4,), (e,))[1])


@custom_vjp
def straight(x: Any) -> Any:
    return np.round(x)


straight.defvjp(lambda x: (np.round(x), None), lambda kept, dy: (dy,))


def test_rule_of_a_user() -> None:
    np.testing.assert_array_equal(jacrev(lambda x: straight(x) * 2)(x4), 2 * np.eye(4))


def halving(a: Any, i: Any) -> Any:
    if i <= 0:
        return np.sin(a)
    return 0.5 * halving(a + a, i - 1) * halving(a + a, i - 1)


def test_recursion_in_a_loop_with_an_early_return() -> None:
    """What a call saves for its reverse is not missed where the loop was left before it."""
    def program(B: Any, s: Any) -> Any:
        total = 0.0
        for j in range(len(B)):
            if (B > 0.25).any():
                return s * s
            total = total + halving(1 + B[j] ** 2, 1)
        return total**2 + s * s
    for point in (x4, -np.abs(x4)):
        found = jacrev(grad(program, argnums=(0, 1)), argnums=(0, 1))(point, 0.5)
        expected = jacfwd(grad(program, argnums=(0, 1)), argnums=(0, 1))(point, 0.5)
        for mine, theirs in zip(tree.leaves(found), tree.leaves(expected), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9)


# -- what is refused ----------------------------------------------------------------------------


@MODES
def test_bad_input(mode: Any) -> None:
    cases: list[tuple[Callable[[], Any], type, str]] = [
        (lambda: mode(lambda x: x * 2.0)(np.arange(3)), NotDifferentiable, "carries no derivative"),
        (lambda: mode(lambda x: x.astype(int))(x4), NotDifferentiable, "which is not differentiable"),
        (lambda: mode(lambda x: x, has_aux=True)(x4), BadArgument, "needs a function that returns a pair"),
        (lambda: mode(lambda x: x * 1j)(x4 + 1j), BadArgument, "returns real numbers"),
        (lambda: mode(lambda x: x, holomorphic=True)(x4), BadArgument, "holomorphic=True needs complex arguments"),
        (lambda: mode(lambda x: x, argnums=1)(x4), BadArgument, "has no argument 1"),
        (lambda: mode(lambda x: x, argnums=1.5), BadArgument, "argnums is 1.5"),
        (lambda: mode(3.0), BadArgument, "takes a function"),
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message) as caught:
            call()
        assert caught.value.origin is not None and caught.value.origin.file == __file__


def test_bad_input_of_products() -> None:
    with pytest.raises(BadArgument, match="needs a function that returns one number"):
        hvp(wavy)(x4, x4)
    with pytest.raises(NotDifferentiable):
        hvp(lambda x: np.sum(x * 2.0))(np.arange(3), np.ones(3))
    with pytest.raises(BadArgument):
        hvp(rosenbrock)(x4)
