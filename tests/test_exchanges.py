"""Collectives by which lanes hand on values: in vmap and over devices, with derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from transformer import (
    BadArgument,
    all_gather,
    all_to_all,
    axis_size,
    check_grads,
    config,
    grad,
    lax,
    pmap,
    ppermute,
    pshuffle,
    psum_scatter,
    vmap,
)

L = 4
X = np.random.default_rng(3).normal(size=(L, L, 8))


@pytest.fixture(autouse=True)
def devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "cpu_devices", L)


def handed_on(x: np.ndarray) -> np.ndarray:
    return np.stack([x[3], x[0], x[1], np.zeros_like(x[0])])


def in_ranges(x: np.ndarray, split: int, concat: int) -> np.ndarray:
    """What lanes get of ranges along an axis, put together along another one."""
    parts = [np.split(lane, L, axis=split) for lane in x]
    return np.stack([np.concatenate([lane[k] for lane in parts], axis=concat) for k in range(L)])


CASES: dict[str, tuple[Any, Any]] = {
    "ppermute": (lambda x: ppermute(x, "i", [(0, 1), (1, 2), (3, 0)]), handed_on),
    "nobody": (lambda x: ppermute(x, "i", []), np.zeros_like),
    "all_gather tiled": (lambda x: all_gather(x, "i", tiled=True), lambda x: np.stack([np.concatenate(x)] * L)),
    "all_gather tiled later": (lambda x: all_gather(x, "i", axis=-1, tiled=True),
                               lambda x: np.stack([np.concatenate(x, axis=-1)] * L)),
    "pshuffle": (lambda x: pshuffle(x, "i", [2, 0, 3, 1]), lambda x: x[[2, 0, 3, 1]]),
    "all_to_all": (lambda x: all_to_all(x, "i", 0, 1), lambda x: np.moveaxis(np.swapaxes(x, 0, 1), 1, 2)),
    "back": (lambda x: all_to_all(all_to_all(x, "i", 0, 1), "i", 1, 0), lambda x: x),
    "tiled": (lambda x: all_to_all(x, "i", 1, 0, tiled=True), lambda x: in_ranges(x, 1, 0)),
    "tiled later": (lambda x: all_to_all(x, "i", 0, 1, tiled=True), lambda x: in_ranges(x, 0, 1)),
    "tiled same": (lambda x: all_to_all(x, "i", 1, 1, tiled=True), lambda x: in_ranges(x, 1, 1)),
    "psum_scatter": (lambda x: psum_scatter(x, "i"), lambda x: x.sum(axis=0)),
    "psum_scatter tiled": (lambda x: psum_scatter(x, "i", scatter_dimension=1, tiled=True),
                           lambda x: np.stack(np.split(x.sum(axis=0), L, axis=1))),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_lanes_and_devices_hand_on(name: str, dtype: Any) -> None:
    function, wanted = CASES[name]
    x = X.astype(dtype)
    for mapped in (vmap(function, axis_name="i"), pmap(function, "i")):
        found = mapped(x)
        assert found.dtype == dtype
        np.testing.assert_allclose(np.asarray(found), wanted(x), rtol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name: str) -> None:
    function, _ = CASES[name]
    check_grads(lambda x: np.sum(np.sin(vmap(function, axis_name="i")(x))), (X,))
    def loss(x):
        return np.sum(np.sin(function(x)))

    of_lanes, of_devices = vmap(grad(loss), axis_name="i")(X), pmap(grad(loss), "i")(X)
    np.testing.assert_allclose(np.asarray(of_devices), of_lanes)


PAIRS = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)], [(k, 5 - k) for k in range(6)], [(5, 0), (0, 1)]


SEVERAL = "ppermute", "nobody", "pshuffle", "all_to_all", "tiled", "psum_scatter tiled"


@pytest.mark.parametrize("name", [*SEVERAL, *range(len(PAIRS))])
def test_devices_with_several_lanes(name: Any) -> None:
    """Two devices have two lanes each, or three."""
    config.cpu_devices = 2
    if name in CASES:
        function, wanted = CASES[name]
        np.testing.assert_allclose(np.asarray(pmap(function, "i")(X)), wanted(X))
        return
    pairs = PAIRS[name]

    def loss(x):
        return np.sum(np.sin(ppermute(x, "i", pairs)) * x)

    x = np.random.default_rng(0).normal(size=(6, 2))
    found = pmap(lambda x: (loss(x), grad(loss)(x)), "i")(x)
    for one, other in zip(found, vmap(lambda x: (loss(x), grad(loss)(x)), axis_name="i")(x)):
        np.testing.assert_allclose(np.asarray(one), other)


def test_a_ring_of_any_size() -> None:
    """`perm` is known, as it follows from the number of lanes, which is known of every call."""
    def around(x: Any) -> Any:
        n = axis_size("i")
        return ppermute(x, "i", [(k, (k + 1) % n) for k in range(n)]), \
            pshuffle(x, "i", [(k + 1) % n for k in range(n)])
    mapped = vmap(around, axis_name="i")
    for count in (3, 8):
        x = np.arange(float(count))
        np.testing.assert_array_equal(mapped(x), (np.roll(x, 1), np.roll(x, -1)))
    np.testing.assert_array_equal(pmap(around, "i")(x), (np.roll(x, 1), np.roll(x, -1)))
    weights = np.arange(8.0)
    turned = grad(lambda x: np.sum(mapped(x)[0] * weights))(x)
    np.testing.assert_array_equal(turned, np.roll(weights, -1))


def test_other_lanes_inside() -> None:
    """An axis around the lanes stays where it is."""
    def f(x):
        return all_to_all(x, "i", 0, 1) + psum_scatter(x, "i") + ppermute(x, "i", [(0, 3)]).T

    x = np.random.default_rng(0).normal(size=(2, L, L, L))
    both = vmap(vmap(f, axis_name="i"))(x)
    np.testing.assert_allclose(both, np.stack([vmap(f, axis_name="i")(each) for each in x]))


def test_trees() -> None:
    found = vmap(lambda t: pshuffle(t, "i", [1, 0]), axis_name="i")({"a": np.arange(2.0), "b": (np.arange(2),)})
    np.testing.assert_array_equal(found["a"], [1, 0])
    np.testing.assert_array_equal(found["b"][0], [1, 0])
    assert lax.ppermute is ppermute


@pytest.mark.parametrize("call, message", [
    (lambda x: ppermute(x, "i", [(0, 1), (0, 2)]), "twice a source"),
    (lambda x: ppermute(x, "i", [(0, 1), (2, 1)]), "twice a destination"),
    (lambda x: ppermute(x, "i", [(0, -1)]), "lane -1"),
    (lambda x: ppermute(x, "i", [(0, 0.5)]), "cannot be interpreted as an integer"),
    (lambda x: pshuffle(x, "i", [0, 1]), "which is not a permutation of"),
    (lambda x: all_to_all(x, "i", 1, 0), "axis 1 has"),
    (lambda x: all_to_all(x, "i", 2, 0), "split_axis is 2"),
    (lambda x: psum_scatter(x, "i", scatter_dimension=1), "axis 1 has"),
])
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        vmap(call, axis_name="i")(X)
