"""Smaller names of JAX: paths of trees, `ravel_pytree`, `debug`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transformer as jax
from transformer import Array, device_put, grad, jit, tree, vmap
from transformer import tree_util as tu
from transformer.flatten_util import ravel_pytree

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
    is_pair = lambda x: isinstance(x, tuple)                                                      # noqa: E731
    assert transformed(lambda p: [a * b for a, b in tree.leaves(p, is_leaf=is_pair)])([(1.0, 2.0), (3.0, 4.0)]) == [2, 12]
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
