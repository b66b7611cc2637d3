"""`pmap` with arguments that are static, or donated, and with arrays on devices."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from transformer import Array, BadArgument, all_gather, config, device_put, devices, pmap, ppermute, psum
from transformer.parallel.shards import ShardedArray

DEVICES = 2
X = np.random.default_rng(2).normal(size=(DEVICES, 5)) + 3


@pytest.fixture(autouse=True)
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "cpu_devices", DEVICES)


# -- static ----------------------------------------------------------------------------------------


def scaled(x: Any, how: str, count: Any, factor: float = 1.0) -> Any:
    y = x * factor if how == "times" else x + factor
    return y[:count] / psum(np.sum(y), "i")


def wanted(x: np.ndarray, how: str, count: int, factor: float) -> np.ndarray:
    y = x * factor if how == "times" else x + factor
    return y[:, :count] / y.sum()


@pytest.mark.parametrize("each", [1, 2])
@pytest.mark.parametrize("options", [{"static_broadcasted_argnums": (1, 2, 3)}, {"static_argnames": ("how", "count")},
                                     {"static_broadcasted_argnums": 1, "static_argnames": "count"}])
def test_static_arguments(each: int, options: Any) -> None:
    mapped = pmap(scaled, "i", **options, in_axes=(0, 0, 0, None) if "static_argnames" in options else 0)
    x = np.concatenate([X] * each)
    for how, count, factor in (("times", 2, 2.0), ("plus", 3, 2.0), ("plus", 2, 0.5)):
        np.testing.assert_allclose(mapped(x, how, count, factor), wanted(x, how, count, factor))


def test_static_arguments_by_name() -> None:
    mapped = pmap(scaled, "i", static_argnames=["how", "count", "factor"])
    for factor in (2.0, 3.0):                    # a float is part of the source
        np.testing.assert_allclose(mapped(X, factor=factor, how="plus", count=2), wanted(X, "plus", 2, factor))
        assert f"x + {factor}" in mapped.source


def test_what_cannot_be_static() -> None:
    with pytest.raises(BadArgument, match="static_argnames names 'many', which is not an argument"):
        pmap(scaled, "i", static_argnames="many")
    with pytest.raises(BadArgument, match="the static argument 'count' contains an array"):
        pmap(scaled, "i", static_argnames=("how", "count", "factor"))(X, "plus", np.ones(2))


# -- donated ---------------------------------------------------------------------------------------


def moved(w: Any, x: Any) -> Any:
    total = psum(np.sum(w * x), "i")
    return w - 0.1 * x / total, total


def pieces(array: ShardedArray) -> list[np.ndarray]:
    return [part.result() if hasattr(part, "result") else part for part in array.parts]


def test_donated_shards_are_written_to() -> None:
    giving, keeping = pmap(moved, "i", donate_argnums=0), pmap(moved, "i")
    w, kept = giving(X, X)[0], keeping(X, X)[0]
    for _ in range(3):
        memory = pieces(w)
        w, kept = giving(w, X)[0], keeping(kept, X)[0]
        assert all(np.shares_memory(*pair) for pair in zip(memory, pieces(w)))
        np.testing.assert_array_equal(np.asarray(w), np.asarray(kept))


def test_what_was_donated_says_so() -> None:
    giving = pmap(moved, "i", donate_argnums=(0, 1))
    w, x = giving(X, X)[0], device_put(X)
    same = X.copy()
    giving(w, x)
    for use in (lambda: np.sum(w), lambda: w.shape, lambda: giving(w, X), lambda: x + 1, lambda: x.block_until_ready()):
        with pytest.raises(RuntimeError, match="has been deleted: it was donated to moved"):
            use()
    giving(same, same)
    np.testing.assert_array_equal(same, X)


def test_memory_that_others_have_is_not_written_to() -> None:
    giving = pmap(moved, "i", donate_argnums=0)
    w = giving(X, X)[0]
    seen, before = w.shards[1], np.array(w)
    giving(w, X)[0].block_until_ready()
    np.testing.assert_array_equal(seen, before[1])
    for other in (pmap(lambda x: (x, 2 * x)), pmap(lambda x: (ppermute(x, "i", [(0, 1), (1, 0)]), 1.0), "i")):
        w = giving(X, X)[0]
        result = other(w)[0]                     # the same parts
        before = np.array(result)
        giving(w, X)[0].block_until_ready()
        np.testing.assert_array_equal(np.asarray(result), before)
    w = giving(X, X)[0]
    np.testing.assert_array_equal(np.asarray(pmap(lambda a, b: (a - b, b), donate_argnums=0)(w, w)[0]), 0 * X)


def test_what_other_devices_read_is_not_written_to() -> None:
    giving = pmap(moved, "i", donate_argnums=0)
    for crossed in (pmap(lambda x: x * 2, devices=["cpu:1", "cpu:0"]), pmap(moved, "i", devices=["cpu:1", "cpu:0"])):
        for _ in range(2):                       # the second call is a prepared one
            w = giving(X, X)[0]
            assert w.is_own
            crossed(*[w] * (1 if crossed.__name__ == "<lambda>" else 2))
            assert not w.is_own
            expected, memory = np.array(w), pieces(w)
            giving(w, X)[0].block_until_ready()
            np.testing.assert_array_equal(np.stack(memory), expected)


def test_in_loops_nothing_is_written_to() -> None:
    def repeated(w: Any, x: Any) -> Any:
        for _ in range(2):
            w, _ = moved(w, x)
        return w

    giving, keeping = pmap(repeated, "i", donate_argnums=0), pmap(repeated, "i")
    w = pmap(lambda x: 1 * x)(X)
    expected = np.asarray(keeping(w, X))
    np.testing.assert_array_equal(np.asarray(giving(w, X)), expected)


# -- arrays on devices -----------------------------------------------------------------------------


def test_arrays_of_one_device_are_taken() -> None:
    w, x = device_put(np.arange(5.0), "cpu:1"), device_put(X, "cpu:1")
    result, total = pmap(lambda w, x: (w * x, psum(x, "i")), "i", in_axes=(None, 0), out_axes=(0, None))(w, x)
    assert type(total) is Array and total.device is devices()[1] and type(result) is ShardedArray
    np.testing.assert_allclose(np.asarray(result), np.arange(5.0) * X)
    np.testing.assert_allclose(np.asarray(total), X.sum(axis=0))


def test_arrays_of_several_devices_are_refused() -> None:
    x, y = device_put(X, "cpu:0"), device_put(X, "cpu:1")
    for mapped in (pmap(moved, "i"), pmap(moved, "i", in_axes=(0, None))):
        with pytest.raises(ValueError, match=r"Received incompatible devices for moved.*cpu:0.*cpu:1"):
            mapped(x, y)


def test_results_have_what_arrays_have_and_cannot_be_written() -> None:
    x = np.arange(2.0 * DEVICES).reshape(DEVICES, 2)
    found = pmap(lambda x: x * 2)(x)
    assert found.sum() == 2 * x.sum() and found.T.shape == x.T.shape and found.astype(np.float32).dtype == np.float32
    assert [row.tolist() for row in found] == (2 * x).tolist() == found.tolist()
    assert type(pickle.loads(pickle.dumps(found))) is np.ndarray
    for write in (lambda: found.__setitem__(0, 1), lambda: np.asarray(found).fill(1), lambda: found.sort(),
                  lambda: found[0].fill(1), lambda: found.shards[1].fill(1)):
        with pytest.raises((TypeError, ValueError), match="read-only|immutable"):
            write()
    np.testing.assert_array_equal(found, 2 * x)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = found.nothing


def test_results_of_arrays_have_the_dtypes_of_arrays() -> None:
    config.enable_x64 = False
    try:
        once = pmap(lambda x: x * 2.0)(device_put(np.arange(DEVICES)))
        twice = pmap(lambda x: x * np.arange(2.0))(once)
        assert once.dtype == twice.dtype == np.float32
        assert pmap(lambda x: x * 2.0)(np.arange(DEVICES)).dtype == np.float64
    finally:
        config.enable_x64 = True
    np.testing.assert_array_equal(twice, 2.0 * np.outer(np.arange(DEVICES), np.arange(2)))


def test_no_examples() -> None:
    with pytest.raises(BadArgument, match="maps x over no examples"):
        pmap(lambda x: psum(x, "i"), "i")(np.ones((0, 3)))


def test_what_a_loop_gives_may_be_the_same_everywhere() -> None:
    """The largest eigenvalue of a matrix of which each device has some rows."""
    def power(a, v):
        for _ in range(60):
            w = all_gather(a @ v, "i").ravel()
            v = w / np.sqrt(np.sum(w * w))
        return v

    root = np.random.default_rng(0).normal(size=(4, 4))
    a = root @ root.T
    found = pmap(power, "i", in_axes=(0, None), out_axes=None)(a.reshape(DEVICES, 4 // DEVICES, 4), np.ones(4))
    np.testing.assert_allclose(a @ found, np.linalg.eigvalsh(a)[-1] * found, rtol=1e-3, atol=1e-3)
