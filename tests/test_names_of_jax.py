"""Smaller names of JAX: paths of trees, `ravel_pytree`, `debug`, shapes, rules, solutions, copies with changes.

Programs that use them, and JAX's numbers, are in `jax_programs.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transformer as jax
import transformer.numpy as tnp
from transformer import Array, ShapeDtypeStruct, check_grads, device_put, grad, image, jit, lax, tree, vmap
from transformer import tree_util as tu
from transformer.experimental.ode import odeint
from transformer.flatten_util import ravel_pytree
from transformer.scipy.ndimage import map_coordinates
from transformer.scipy.optimize import minimize
from transformer.scipy.sparse.linalg import bicgstab, cg, gmres

PARAMETERS = {"w": np.arange(6.0).reshape(2, 3), "b": np.array([1.0, 2.0]), "none": None}


@tu.register_pytree_with_keys_class
class Pair:
    def __init__(self, left: Any, right: Any) -> None:
        self.left, self.right = left, right

    def tree_flatten_with_keys(self) -> Any:
        return [(tu.GetAttrKey("left"), self.left), (tu.DictKey("r"), self.right)], None

    @classmethod
    def tree_unflatten(cls, static: Any, parts: Any) -> Any:
        return cls(*parts)


@tu.register_static
class Setting:
    def __init__(self, power: int) -> None:
        self.power = power

    def __hash__(self) -> int:
        return hash(self.power)

    def __eq__(self, other: Any) -> bool:
        return bool(self.power == other.power)


@pytest.mark.parametrize("transformed", (lambda f: f, jit))
def test_trees_as_vectors(transformed: Any) -> None:
    vector, back = ravel_pytree(PARAMETERS)
    np.testing.assert_array_equal(vector, [0, 1, 2, 3, 4, 5, 1, 2])
    slopes = transformed(grad(lambda v: np.sum(back(v)["w"] ** 2) + np.prod(back(v)["b"])))(vector)
    np.testing.assert_array_equal(slopes, [0, 2, 4, 6, 8, 10, 2, 1])

    mixed = {"a": np.ones(2, np.int32), "b": 2.5, "c": np.ones((1, 2), np.float32)}
    again = transformed(lambda p: ravel_pytree(p)[1](ravel_pytree(p)[0] * 2))(mixed)
    assert [np.asarray(leaf).dtype for leaf in tree.leaves(again)] == [np.int32, np.float64, np.float32]
    np.testing.assert_array_equal(again["c"], [[2, 2]])
    with pytest.raises(ValueError, match="a vector of 8 elements"):
        transformed(back)(np.ones(7))


def test_vectors_of_no_leaves_and_on_devices() -> None:
    empty, back = ravel_pytree(())
    assert empty.shape == (0,) and empty.dtype == np.float32 and back(empty) == ()
    vector, back = ravel_pytree({"a": device_put(np.ones(2)), "b": device_put(np.zeros(1))})
    assert type(vector) is Array and type(back(vector)["b"]) is Array


def test_paths_are_tuples_of_steps() -> None:
    nested = [Pair(1, {"x": 2}), (3,)]
    pairs, shape = tu.tree_flatten_with_path(nested)
    assert [leaf for _, leaf in pairs] == [1, 2, 3] and tree.unflatten(shape, [1, 2, 3])[1] == (3,)
    assert [tu.keystr(path) for path, _ in pairs] == ["[0].left", "[0]['r']['x']", "[1][0]"]
    assert pairs[1][0] == (tu.SequenceKey(0), tu.DictKey("r"), tu.DictKey("x"))
    assert tu.keystr(pairs[1][0], simple=True, separator="/") == "0/r/x"
    doubled = jit(lambda p: tu.tree_map_with_path(lambda path, x: 2 * x if path[-1].key == "w" else x, p))(PARAMETERS)
    np.testing.assert_array_equal(doubled["w"], 2 * PARAMETERS["w"])
    np.testing.assert_array_equal(doubled["b"], PARAMETERS["b"])
    slopes = grad(lambda pair: pair.left * pair.right)(Pair(2.0, 3.0))
    assert (slopes.left, slopes.right) == (3.0, 2.0)


@pytest.mark.parametrize("transformed", (lambda f: f, jit))
def test_containers_may_be_leaves(transformed: Any) -> None:
    def added(p: Any, q: Any) -> Any:
        return jax.tree.map(lambda a, b: a if b is None else a + b, p, q, is_leaf=lambda x: x is None)

    assert transformed(added)({"a": 1.0, "b": 2.0}, {"a": 3.0, "b": None}) == {"a": 4.0, "b": 2.0}
    is_pair = lambda x: isinstance(x, tuple)                                                            # noqa: E731
    products = transformed(lambda p: [a * b for a, b in tree.leaves(p, is_leaf=is_pair)])
    assert products([(1.0, 2.0), (3.0, 4.0)]) == [2.0, 12.0]
    assert tree.broadcast({"a": 1, "b": 2}, {"a": (0, 0), "b": [0]}) == {"a": (1, 1), "b": [2]}
    assert tu.all_leaves([1, "a"]) and not tu.all_leaves([(1,)])


def test_static_objects_have_no_leaves() -> None:
    assert tu.tree_leaves([Setting(2)]) == []
    power = jit(lambda setting, x: x ** setting.power)
    assert (power(Setting(2), 3.0), power(Setting(3), 3.0)) == (9.0, 27.0)


@pytest.mark.parametrize("transformed", (lambda f: f, jit, grad))
def test_prints(transformed: Any, capfd: pytest.CaptureFixture[str]) -> None:
    def shown(x: Any) -> Any:
        jax.debug.print("x {x:.2f} {}", 3, x=x, ordered=True)
        jax.debug.callback(lambda y: print("twice", y), 2 * x)
        return x * x

    transformed(shown)(1.5)
    assert capfd.readouterr().out == "x 1.50 3\ntwice 3.0\n"


def test_prints_of_lanes(capfd: pytest.CaptureFixture[str]) -> None:
    vmap(lambda x: jax.debug.print("{}", x) or x)(np.arange(2.0))
    assert capfd.readouterr().out == "0.0\n1.0\n"


def test_shapes_without_numbers() -> None:
    wide = ShapeDtypeStruct((2, 3), np.float32)
    found = jax.eval_shape(lambda x, n: {"t": x.T, "n": [n, 1.0 / np.sum(x)]}, wide, np.arange(3))
    numbers = [ShapeDtypeStruct((3,), int), ShapeDtypeStruct((), "f4")]
    assert found == {"t": ShapeDtypeStruct((3, 2), "f4"), "n": numbers}
    assert (wide.ndim, wide.size, hash(wide)) == (2, 6, hash(ShapeDtypeStruct([2, 3], "f4")))
    rows = jit(lambda x: np.zeros(jax.eval_shape(lambda x: x @ x.T, x).shape) + x[0, 0])
    for n in (2, 4):
        assert rows(np.ones((n, 3))).shape == (n, n)


def test_transposes() -> None:
    w = np.arange(6.0).reshape(2, 3)
    x, = jax.linear_transpose(lambda x: w @ x, ShapeDtypeStruct((3,), float))(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(x, w.T @ [1, 2])


def test_functions_that_return_their_rule() -> None:
    @jax.custom_gradient
    def product(x: Any, y: Any) -> Any:
        return x * y, lambda g: (g * 10 * y, g * x)

    for transformed in (lambda f: f, jit):
        assert transformed(grad(product, (0, 1)))(2.0, 3.0) == (30.0, 2.0)
    assert product(2.0, 3.0) == 6.0


def test_scopes_and_settings() -> None:
    @jax.named_scope("all")
    def twice(x: Any) -> Any:
        with jax.named_scope("part"):
            y = 2 * x
        return y

    assert twice(3.0) == jit(twice)(3.0) == 6.0 and grad(twice)(3.0) == 2.0
    with jax.debug_nans(True):
        assert jax.config.debug_nans
    assert not jax.config.debug_nans
    with jax.enable_x64(False):
        assert tnp.ones(2).dtype == np.float32
    jax.config.update("jax_platform_name", "cpu")
    jax.config.update("jax_debug_nans", False)
    with pytest.raises(AttributeError, match="no setting"):
        jax.config.update("jax_no_such", 1)
    with pytest.raises(AttributeError, match="source_for"):
        _ = jax.make_jaxpr                                                       # type: ignore[attr-defined]


@pytest.mark.parametrize("transformed", (lambda f: f, jit))
def test_copies_with_changes(transformed: Any) -> None:
    x = np.arange(6.0).reshape(2, 3)
    calls = (lambda f, x, **o: f.fill_diagonal(x, 7.0, **o),
             lambda f, x, **o: f.place(x, x > 2, np.array([7.0, 8.0]), **o),
             lambda f, x, **o: f.put(x, np.array([0, 4]), np.array([7.0, 8.0]), **o),
             lambda f, x, **o: f.put_along_axis(x, np.array([[1], [0]]), 7.0, 1, **o))
    for call in calls:
        expected = x.copy()
        call(np, expected)
        found = transformed(lambda x, call=call: call(tnp, x, inplace=False))(device_put(x))
        assert type(found) is Array
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="inplace=False"):
        tnp.put(device_put(x), 0, 1.0)
    np.testing.assert_array_equal(grad(lambda x: np.sum(tnp.fill_diagonal(x, 7.0, inplace=False)))(x), 1 - np.eye(2, 3))


@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_fewer_bits(dtype: Any) -> None:
    x = np.array([1.0, 1.0009, 65519.0, 65520.0, 6.1e-5, -6.2e-5, np.inf, -0.0], dtype)
    with np.errstate(over="ignore"):
        half = x.astype(np.float16).astype(dtype)
    half[4] = 0                                                                  # not normal
    for transformed in (lambda f: f, jit):
        found = transformed(lambda x: lax.reduce_precision(x, 5, 10))(x)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, half)
    assert grad(lambda x: 3.0 * lax.reduce_precision(x, 5, 10))(1.3) == 3.0


def test_solutions_have_derivatives_of_what_they_solve() -> None:
    def bisected(f: Any, x: Any) -> Any:
        low, high = 0.0 * x, 4.0 + 0.0 * x
        for _ in range(60):
            middle = (low + high) / 2
            low, high = np.where(f(middle) < 0, middle, low), np.where(f(middle) < 0, high, middle)
        return low

    root = lambda a: lax.custom_root(lambda x: x ** 3 - a, 1.0, bisected, lambda g, y: y / g(1.0))      # noqa: E731
    for transformed in (lambda f: f, jit):
        np.testing.assert_allclose(transformed(root)(8.0), 2.0)
        np.testing.assert_allclose(transformed(grad(root))(8.0), 1 / 12)
        np.testing.assert_allclose(transformed(grad(grad(root)))(8.0), -2 / 9 * 8 ** (-5 / 3))


@pytest.mark.parametrize("solve", (cg, bicgstab, gmres))
def test_iterative_solutions(solve: Any) -> None:
    a = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.0], [0.5, 0.0, 5.0]])
    b = {"x": np.array([1.0, -2.0]), "y": 3.0}

    def solved(a: Any, b: Any) -> Any:
        return solve(lambda t: ravel_pytree(b)[1](a @ ravel_pytree(t)[0]), b, tol=1e-13)[0]

    np.testing.assert_allclose(ravel_pytree(solved(a, b))[0], np.linalg.solve(a, [1, -2, 3]))
    flat = np.array([1.0, -2.0, 3.0])
    np.testing.assert_allclose(solve(a, flat, tol=1e-13, M=np.diag(1 / np.diag(a)))[0], np.linalg.solve(a, flat))
    slopes = grad(lambda a, b: np.sum(solve(a, b, tol=1e-13)[0] ** 2), (0, 1))(a, flat)
    expected = grad(lambda a, b: np.sum(np.linalg.solve(a, b) ** 2), (0, 1))(a, flat)
    for one, other in zip(slopes, expected):
        np.testing.assert_allclose(one, other, atol=1e-10)


def test_minima() -> None:
    def valley(x: Any, c: Any) -> Any:
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (c - x[:-1]) ** 2)

    found = minimize(valley, np.zeros(2), (1.0,), method="BFGS")
    assert found.success and found.status == 0 and found.nit < found.nfev < 100
    np.testing.assert_allclose(found.x, 1.0, atol=1e-5)
    assert minimize(valley, np.zeros(2), (1.0,), method="BFGS", options={"maxiter": 2}).status == 1
    with pytest.raises(ValueError, match="BFGS"):
        minimize(valley, np.zeros(2), method="CG")


def test_differential_equations_of_trees() -> None:
    def slope(y: Any, t: Any, w: Any) -> Any:
        return {"x": y["v"], "v": np.array([-w * w * y["x"]])[0]}

    def last(w: Any) -> Any:
        return odeint(slope, {"x": 1.0, "v": 0.0}, np.array([0.0, 0.5, 1.0]), w)

    np.testing.assert_allclose(last(2.0)["x"], np.cos(2 * np.array([0.0, 0.5, 1.0])), rtol=1e-6)
    np.testing.assert_allclose(grad(lambda w: last(w)["x"][-1])(2.0), -np.sin(2.0), rtol=1e-6)


def test_images_in_lanes_and_derivatives() -> None:
    x = np.random.default_rng(0).normal(size=(2, 4, 3))
    smaller = lambda x: image.resize(x, (2, 5), "cubic")                                                # noqa: E731
    np.testing.assert_allclose(vmap(smaller)(x), np.stack([smaller(each) for each in x]))
    np.testing.assert_array_equal(image.resize(np.arange(4), (2,), "nearest"), [1, 3])
    assert image.resize(x[0].astype(np.float32), (2, 5), "linear").dtype == np.float32
    check_grads(lambda x: smaller(x) ** 2, (x[0],))
    check_grads(lambda x, p: map_coordinates(x, [p, p], 1, "mirror"), (x[0], np.array([0.3, 2.7, -1.4])))
    with pytest.raises(ValueError, match="method"):
        image.resize(x[0], (2, 2), "no-such")
