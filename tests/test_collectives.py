"""Collectives by the name of an axis, inside of `vmap`, against whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from transformer import (
    BadArgument,
    NotSupported,
    all_gather,
    axis_index,
    axis_size,
    check_grads,
    grad,
    jit,
    jvp,
    lax,
    pmax,
    pmean,
    pmin,
    psum,
    vmap,
)

RNG = np.random.default_rng(0)
x5 = RNG.normal(size=5)
X = RNG.normal(size=(5, 4))


def over_i(function: Any, **options: Any) -> Any:
    return vmap(function, axis_name="i", **options)


def test_sums_and_extremes() -> None:
    np.testing.assert_allclose(over_i(lambda x: x / psum(x, "i"))(X), X / X.sum(axis=0))
    np.testing.assert_allclose(over_i(lambda x: x - pmean(x, "i"))(X), X - X.mean(axis=0))
    np.testing.assert_allclose(over_i(lambda x: x - pmax(x, "i"))(X), X - X.max(axis=0))
    np.testing.assert_allclose(over_i(lambda x: x - pmin(x, "i"))(X), X - X.min(axis=0))
    np.testing.assert_allclose(over_i(lambda x: pmean(x, "i"))(np.arange(4)), np.full(4, 1.5))
    np.testing.assert_array_equal(over_i(lambda x: psum(x, "i"))(np.arange(4)), np.full(4, 6))
    np.testing.assert_array_equal(over_i(lambda x: psum(x, "i"))(np.array([True, False, True])), [2, 2, 2])
    np.testing.assert_allclose(over_i(lambda x: psum(x, "i"), in_axes=1, out_axes=1)(X),
                               np.repeat(X.sum(axis=1)[:, None], 4, axis=1))


def test_numbers_and_what_is_shared() -> None:
    """The sum of what is equal in all lanes counts it once for each."""
    np.testing.assert_array_equal(over_i(lambda x: x * psum(1, "i"))(x5), 5 * x5)
    np.testing.assert_allclose(over_i(lambda x, w: x + psum(w, "i"), in_axes=(0, None))(x5, 2.0), x5 + 10)
    np.testing.assert_allclose(over_i(lambda x, w: x + pmean(w, "i"), in_axes=(0, None))(x5, 2.0), x5 + 2)
    np.testing.assert_allclose(over_i(lambda x, w: x + pmax(w, "i"), in_axes=(0, None))(x5, 2.0), x5 + 2)
    np.testing.assert_allclose(over_i(lambda x, w: psum(w, "i") + x, in_axes=(0, None))(x5, X[0])[2], 5 * X[0] + x5[2])


@pytest.mark.parametrize("options", [{}, {"axis_size": 3}], ids=["any number", "a number that is known"])
def test_constants(options: Any) -> None:
    """Also where everything is known when the function is read."""
    def program(x: Any) -> Any:
        return (x + axis_index("i"), x + psum(2.0, "i"), x + psum(1, "i"), x + pmean(2.0, "i"), x + pmax(2, "i"),
                x + all_gather(2.0, "i"), x * np.zeros(axis_size("i")))
    for found in (over_i(program, **options)(np.zeros(3)), over_i(program, axis_size=3, in_axes=None)(0.0)):
        for mine, theirs in zip(found, ([0, 1, 2], [6] * 3, [3] * 3, [2] * 3, [2] * 3), strict=False):
            np.testing.assert_array_equal(mine, theirs)
        assert found[5].shape == found[6].shape == (3, 3) and np.all(found[5] == 2)


def test_places() -> None:
    np.testing.assert_array_equal(over_i(lambda x: x * axis_index("i"))(x5), x5 * np.arange(5))
    np.testing.assert_array_equal(over_i(lambda x: x * axis_size("i"))(x5), x5 * 5)
    assert over_i(lambda x: axis_index("i"))(x5).dtype == np.int64
    gathered = over_i(lambda x: all_gather(x, "i"))(X)
    np.testing.assert_array_equal(gathered, np.stack([X] * 5))
    np.testing.assert_array_equal(over_i(lambda x: all_gather(x, "i", axis=1))(X), np.stack([X.T] * 5))
    np.testing.assert_allclose(over_i(lambda x: all_gather(x, "i")[axis_index("i") - 1])(x5), np.roll(x5, 1))
    np.testing.assert_array_equal(vmap(lambda x: x + axis_index("i"), in_axes=None, axis_size=3, axis_name="i")(0.0),
                                  [0.0, 1.0, 2.0])


def test_trees_and_shared_results() -> None:
    found = over_i(lambda p: psum({"a": p, "b": (p * 2,)}, "i"), out_axes=None)(X)
    np.testing.assert_allclose(found["a"], X.sum(axis=0))
    np.testing.assert_allclose(found["b"][0], 2 * X.sum(axis=0))
    mean, centred = over_i(lambda x: (pmean(x, "i"), x - pmean(x, "i")), out_axes=(None, 0))(X)
    np.testing.assert_allclose(mean, X.mean(axis=0))
    np.testing.assert_allclose(centred, X - X.mean(axis=0))


def test_several_axes() -> None:
    def both(x: Any) -> Any:
        return psum(x, ("i", "j")), psum(x, "i"), psum(x, "j"), axis_index("i"), axis_index(("i", "j"))
    total, columns, rows, first, flat = vmap(vmap(both, axis_name="j"), axis_name="i")(X)
    np.testing.assert_allclose(total, np.full((5, 4), X.sum()))
    np.testing.assert_allclose(columns, np.broadcast_to(X.sum(axis=0), (5, 4)))
    np.testing.assert_allclose(rows, np.broadcast_to(X.sum(axis=1)[:, None], (5, 4)))
    np.testing.assert_array_equal(first, np.repeat(np.arange(5)[:, None], 4, axis=1))
    np.testing.assert_array_equal(flat, np.arange(20).reshape(5, 4))
    gathered = vmap(vmap(lambda x: all_gather(x, "i"), axis_name="j"), axis_name="i")(X)
    np.testing.assert_array_equal(gathered, np.broadcast_to(X.T, (5, 4, 5)))


def test_inner_axis_of_the_same_name() -> None:
    found = vmap(vmap(lambda x: psum(x, "i"), axis_name="i"), axis_name="i")(X)
    np.testing.assert_allclose(found, np.broadcast_to(X.sum(axis=1)[:, None], (5, 4)))


def test_a_closure_over_an_outer_lane() -> None:
    """What the inner lanes share differs between the outer ones."""
    found = vmap(lambda row: vmap(lambda x: x + psum(row[0], "j") + psum(x, "i"), axis_name="j")(row),
                 axis_name="i")(X)
    np.testing.assert_allclose(found, X + 4 * X[:, :1] + X.sum(axis=0))


def test_control_flow_on_what_all_lanes_know() -> None:
    def scaled(x: Any) -> Any:
        total = psum(x * x, "i")
        n = 0
        while total > 1:
            total = total / 2
            n += 1
        return x / 2**n if n > 1 else x
    big = X[:, 0] * 5
    n, total = 0, np.sum(big**2)
    while total > 1:
        total, n = total / 2, n + 1
    np.testing.assert_allclose(over_i(scaled)(big), big / 2**n)

    def centred(x: Any) -> Any:
        for _ in range(3):
            x = np.sin(x) - pmean(x, "i")
        return x
    expected = x5
    for _ in range(3):
        expected = np.sin(expected) - expected.mean()
    np.testing.assert_allclose(over_i(centred)(x5), expected)


def test_a_collective_where_lanes_part_is_refused() -> None:
    """Some lanes would wait for others: there is no right answer."""
    def parted(x: Any) -> Any:
        if x > 0:
            return psum(x, "i") * np.log(x)
        return x

    def ends_apart(x: Any) -> Any:
        while x < 5:
            x = x * 2 + psum(x, "i")
        return x
    for program in (parted, ends_apart):
        for derived in (over_i(program), over_i(grad(program))):
            with pytest.raises(NotSupported, match="psum over the axis 'i' where its lanes") as caught:
                derived(np.abs(x5))
            assert caught.value.origin is not None and "psum(x" in caught.value.origin.text


# -- derivatives --------------------------------------------------------------------------------


def normalized(x: Any) -> Any:
    mean = pmean(x, "batch")
    variance = pmean((x - mean) ** 2, "batch")
    return (x - mean) / np.sqrt(variance + 1e-5)


def whole_normalized(X: Any) -> Any:
    return (X - np.mean(X, axis=0)) / np.sqrt(np.mean((X - np.mean(X, axis=0)) ** 2, axis=0) + 1e-5)


def test_batch_norm() -> None:
    def loss(X: Any) -> Any:
        return np.sum(np.tanh(vmap(normalized, axis_name="batch")(X)) ** 2)

    def whole(X: Any) -> Any:
        return np.sum(np.tanh(whole_normalized(X)) ** 2)
    np.testing.assert_allclose(loss(X), whole(X))
    np.testing.assert_allclose(grad(loss)(X), grad(whole)(X), atol=1e-12)
    check_grads(loss, (X,), order=2)
    np.testing.assert_allclose(jit(grad(loss))(X), grad(whole)(X), atol=1e-12)


@pytest.mark.parametrize("function, whole", [
    (lambda x: x**2 / psum(x, "i"), lambda x: x**2 / np.sum(x)),
    (lambda x: np.sin(x) * pmax(x, "i"), lambda x: np.sin(x) * np.max(x)),
    (lambda x: x * pmin(x**2, "i"), lambda x: x * np.min(x**2)),
    (lambda x: np.sum(np.sin(all_gather(x, "i")) * x), lambda x: np.sum(np.sin(x)) * x),
    (lambda x: all_gather(x, "i")[axis_index("i") - 1] * x, lambda x: np.roll(x, 1) * x),
    (lambda x: x * axis_index("i") + psum(3.0 * x, "i"), lambda x: x * np.arange(len(x)) + 3 * np.sum(x)),
], ids=["psum", "pmax", "pmin", "all_gather", "rotated", "axis_index"])
def test_gradient_of_all_lanes(function: Any, whole: Any) -> None:
    np.testing.assert_allclose(over_i(function)(x5), whole(x5))

    def loss(x: Any) -> Any:
        return np.sum(np.sin(over_i(function)(x)))
    np.testing.assert_allclose(grad(loss)(x5), grad(lambda x: np.sum(np.sin(whole(x))))(x5), atol=1e-12)
    np.testing.assert_allclose(jvp(loss, (x5,), (x5,))[1], grad(loss)(x5) @ x5)
    check_grads(loss, (x5,), order=2)


def test_gradient_in_each_lane() -> None:
    """As in JAX, the transpose of a sum is a sum: each lane gets the derivative of what all lanes give."""
    found = over_i(grad(lambda x: psum(x**2, "i") * x))(x5)
    np.testing.assert_allclose(found, np.sum(x5**2) + 2 * x5 * np.sum(x5))


def test_data_parallel_step() -> None:
    def loss(w: Any, x: Any, y: Any) -> Any:
        return (x @ w - y) ** 2

    def step(w: Any, x: Any, y: Any) -> Any:
        return w - 0.1 * pmean(grad(loss)(w, x, y), "i")
    w, y = X[0] * 0, x5
    found = over_i(step, in_axes=(None, 0, 0), out_axes=None)(w, X, y)
    np.testing.assert_allclose(found, w - 0.1 * np.mean(2 * (X @ w - y)[:, None] * X, axis=0))


# -- numbers of lanes, names --------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_lanes(count: int) -> None:
    found = over_i(lambda x: (psum(x, "i"), axis_index("i"), all_gather(x, "i"), psum(1, "i")))(x5[:count])
    np.testing.assert_allclose(found[0], np.full(count, x5[:count].sum()))
    np.testing.assert_array_equal(found[1], np.arange(count))
    assert found[2].shape == (count, count)
    np.testing.assert_array_equal(found[3], np.full(count, count))


def test_names_may_be_any_value() -> None:
    for name in (("a", 1), 3, "batch"):
        collective = name if not isinstance(name, tuple) else (name,)
        found = vmap(lambda x, c=collective: x - pmean(x, c), axis_name=name)(x5)
        np.testing.assert_allclose(found, x5 - x5.mean())


def test_lax_has_them() -> None:
    assert lax.psum is psum and lax.axis_index is axis_index and lax.all_gather is all_gather


@pytest.mark.parametrize("call", [
    lambda: over_i(lambda x: psum(x, "k"))(x5),
    lambda: over_i(lambda x: vmap(lambda z: pmean(z, "k"), axis_name="j")(x))(X),
    lambda: vmap(lambda x: axis_index("i"))(x5),
    lambda: grad(lambda x: psum(x, "i"))(2.0),
    lambda: over_i(lambda x: psum(x, ("i", "k")))(x5),
])
def test_unknown_names(call: Any) -> None:
    with pytest.raises(BadArgument, match="no axis is named") as caught:
        call()
    assert caught.value.origin is not None and caught.value.origin.file == __file__
    assert "\nCall the function through vmap(f, axis_name=" in str(caught.value)


def test_outside_of_vmap() -> None:
    for call in (lambda: psum(3.0, "i"), lambda: axis_size("i"), lambda: all_gather(x5, "i")):
        with pytest.raises(BadArgument, match="no axis is named 'i' here"):
            call()
