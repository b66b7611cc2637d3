"""Arrays on devices: NumPy's numbers, never changed, errors where they are looked at."""

from __future__ import annotations

import pickle
import threading
import time
from typing import Any

import numpy as np
import pytest

from transformer import (
    Array,
    BadArgument,
    at,
    block_until_ready,
    config,
    default_device,
    device_get,
    device_put,
    devices,
    grad,
    jit,
    pmap,
    tree,
    vmap,
)
from transformer.parallel.placing import CHEAP

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4)) + 3
LARGE = RNG.normal(size=40_000)


@pytest.fixture(autouse=True)
def several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "cpu_devices", 3)


def same(found: Any, wanted: Any) -> None:
    for one, other in zip(tree.leaves(found), tree.leaves(wanted), strict=True):
        if isinstance(other, (np.ndarray, np.generic)):
            assert type(one) is Array and one.dtype == other.dtype and one.shape == np.shape(other)
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


@pytest.mark.parametrize("function", [
    lambda x, y: x + y, lambda x, y: 2 - x, lambda x, y: x @ y.T, lambda x, y: -x / y, lambda x, y: x < y,
    lambda x, y: x[1:, ::2], lambda x, y: x[0, 1], lambda x, y: x[[0, 2]], lambda x, y: x[x > 0], lambda x, y: x.T,
    lambda x, y: np.sum(x, axis=1), lambda x, y: x.mean(), lambda x, y: np.where(x > 0, x, y),
    lambda x, y: np.concatenate([x, y]), lambda x, y: np.linalg.norm(x, axis=0), lambda x, y: x.reshape(4, 3).sum(0),
    lambda x, y: np.sort(x, axis=0), lambda x, y: np.linalg.svd(x), lambda x, y: np.divmod(y, x),
    lambda x, y: np.add.reduce(x), lambda x, y: np.split(x, 3), lambda x, y: x.astype(np.float32) * 2,
    lambda x, y: np.einsum("ij,kj->ik", x, y), lambda x, y: abs(x) ** 2, lambda x, y: x.argmax(),
    lambda x, y: np.exp(1j * x).imag, lambda x, y: np.zeros_like(x),
])
def test_what_numpy_does(function: Any) -> None:
    same(function(device_put(X), device_put(Y)), function(X, Y))


def test_parts_are_replaced_in_copies() -> None:
    x = device_put(X)
    same(x.at[0].add(1.0), at(X)[0].add(1.0))
    same(x.at[1:, 2].set(device_put(7.0)), at(X)[1:, 2].set(7.0))
    same(x.at[[0, 0]].multiply(2.0), at(X)[[0, 0]].multiply(2.0))
    same(x, X)


def test_numbers_of_python() -> None:
    x = device_put(np.array(3))
    assert (int(x), float(x), complex(x), bool(x), [7, 8, 9, 10][x], f"{x:03d}") == (3, 3.0, 3 + 0j, True, 10, "003")
    assert device_put(X).tolist() == X.tolist() and len(device_put(X)) == 3 and 7.0 not in device_put(X)
    assert [row.shape for row in device_put(X)] == [(4,)] * 3
    assert repr(device_put(np.arange(3))) == "Array([0, 1, 2])" and str(device_put(2.0)) == "2.0"
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)


def test_nobody_changes_them() -> None:
    source = X.copy()
    x = device_put(source)
    source[0] = 0
    same(x, X)
    for change in (lambda: x.__setitem__(0, 1.0), lambda: x.fill(0), lambda: np.add(x, 1, out=np.zeros((3, 4))),
                   lambda: np.add.at(x, 0, 1), lambda: np.clip(x, 0, 1, out=np.zeros((3, 4))), lambda: x.sort()):
        with pytest.raises(TypeError, match="immutable|read-only|cannot be modified"):
            change()
    with pytest.raises(TypeError, match=r"x\.at\[2\]\.set"):
        x[2] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(x)[0] = 1.0
    assert np.array(x).flags.writeable
    y = x
    y += 1                                       # a new array under the name
    same(x, X)


def test_other_libraries_see_them() -> None:
    x = device_put(X)
    for made in (np.asarray(x), np.from_dlpack(x), np.array(x)):
        np.testing.assert_array_equal(made, X)
    assert x.__array_interface__["data"][1]                                # read only
    same(pickle.loads(pickle.dumps(device_put(X, "cpu:1"))), X)
    assert pickle.loads(pickle.dumps(device_put(X, "cpu:1"))).device is devices()[1]


def test_devices_are_kept_apart() -> None:
    x, y = device_put(X, "cpu:1"), device_put(X, "cpu:2")
    assert (x + 1).device is devices()[1] and device_put(x, "cpu:1") is x
    for mix in (lambda: x + y, lambda: np.concatenate([x, y]), lambda: jit(np.add)(x, y),
                lambda: np.where(x > 0, x, y)):
        with pytest.raises(ValueError, match=r"Received incompatible devices .*cpu:1.*cpu:2"):
            mix()
    same(x + device_put(y, "cpu:1"), X + X)
    with default_device("cpu:2"):
        assert device_put({"a": 1.0})["a"].device is devices()[2]


def test_one_device_for_each_operation() -> None:
    x, y = device_put(X, "cpu:1"), device_put(X, "cpu:2")
    shared = pmap(lambda x, y: x + y, in_axes=(0, None))
    for mix in (lambda: grad(lambda x, y: np.sum(x * y))(x, y), lambda: vmap(np.add)(x, y), lambda: x.at[0].set(y[0]),
                lambda: jit(lambda t: t["x"] + t["y"])({"x": x, "y": y}), lambda: x.dot(y.T), lambda: shared(x, y)):
        with pytest.raises(ValueError, match=r"Received incompatible devices .*cpu:1.*cpu:2"):
            mix()


def where_it_runs(x: Any) -> Any:
    return x, threading.current_thread().name


def test_compiled_for_a_device() -> None:
    for device in ("cpu:1", devices()[1]):
        run = jit(loss, device=device)
        x = device_put(X, "cpu:2")
        for _ in range(3):
            found = run(device_put(np.ones(4)), x)             # brought there, from two others
            assert found.device is devices()[1] and x.device is devices()[2]
        wanted = loss(np.ones(4), X)
        np.testing.assert_allclose([float(found), run(np.ones(4), x=X)], wanted)
        assert type(run(np.ones(4), X)) is np.float64
        np.testing.assert_allclose(pickle.loads(pickle.dumps(run))(np.ones(4), X), wanted)
        np.testing.assert_array_equal(grad(run)(np.ones(4), X), grad(loss)(np.ones(4), X))
    for kind in ({"backend": "cpu"}, {"device": "cpu"}):
        assert jit(loss, **kind)(device_put(np.ones(4), "cpu:1"), device_put(X, "cpu:1")).device is devices()[1]


def test_calls_for_a_device_run_in_its_thread() -> None:
    run = jit(where_it_runs, device="cpu:2", fallback=True)
    assert run(1.0) == (1.0, "transformer cpu:2")
    assert devices()[2].submit(run, (1.0,)).result() == (1.0, "transformer cpu:2")     # it does not wait for itself
    with pytest.raises(IndexError, match="index 50") as caught:
        jit(lambda x: x[50], device="cpu:1")(np.ones(3))
    assert any("on cpu:1" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("options, message", [
    ({"device": "cuda:0"}, "no CUDA device"), ({"backend": "cuda"}, "no CUDA device"),
    ({"device": "cpu:7"}, "no device 'cpu:7'"), ({"device": 1}, "1 is not a device"),
    ({"device": "cpu:1", "backend": "cpu"}, "jit accepts either a device or a"),
])
def test_devices_that_are_not_there(options: Any, message: str) -> None:
    with pytest.raises(BadArgument, match=message) as caught:
        jit(loss, **options)
    assert __file__ in str(caught.value)


def test_what_lies_on_several_devices_is_put_together() -> None:
    parts = pmap(lambda x: 2 * x)(X)
    for found in (jit(np.sin)(parts), grad(lambda x: -np.sum(np.cos(x)))(parts)):
        np.testing.assert_allclose(found, np.sin(2 * X))
    assert type(jit(np.add)(parts, device_put(X))) is Array


def test_what_is_put() -> None:
    found = device_put({"a": [1, 2.5], "b": np.float32(1)})
    assert found["a"][1].dtype == float and found["b"].dtype == np.float32 and found["a"][0].shape == ()
    for wrong in ("text", np.array(["text"]), print):
        with pytest.raises(BadArgument, match="device_put expects"):
            device_put(wrong)
    with pytest.raises(BadArgument, match="no device 'cpu:7'"):
        device_put(X, "cpu:7")


def loss(w, x):
    return np.sum(np.tanh(x @ w) ** 2)


def test_transformed_functions_give_what_they_get() -> None:
    w, x = np.ones(4), device_put(X)
    for function in (loss, grad(loss), jit(loss), jit(grad(loss)), lambda w, x: vmap(loss, in_axes=(None, 0))(w, x)):
        wanted = function(w, X)
        found = function(device_put(w), x)
        assert type(found) is Array and type(wanted) is not Array
        np.testing.assert_allclose(np.asarray(found), wanted)
        assert type(function(w, x)) is Array                                # with one of NumPy's beside it
    np.testing.assert_array_equal(np.asarray(pmap(lambda x: 2 * x)(x)), 2 * X)


def test_what_takes_long_runs_later() -> None:
    """The second call is measured; from the third on the program does not wait."""
    def slow(x):
        for _ in range(300):
            x = np.sin(x)
        return {"x": x}, np.sum(x)

    run, x = jit(slow), device_put(LARGE)
    run(x), run(x)
    placed = run._dispatcher.placed
    taken = min(cost.seconds for cost in placed.costs.values())
    assert taken > CHEAP
    start = time.perf_counter()
    found = run(x)
    assert time.perf_counter() - start < taken or found[1].is_ready()
    np.testing.assert_allclose(np.asarray(found[0]["x"]), slow(LARGE)[0]["x"])
    assert found[1].is_ready() and found[1].block_until_ready() is found[1]


def test_errors_come_where_the_value_is_looked_at() -> None:
    def picked(x, k):
        for _ in range(300):
            x = np.sin(x)
        return x[k]

    run, x = jit(picked), device_put(LARGE)
    run(x, np.array(1)), run(x, np.array(1))
    found = run(x, np.array(50_000))
    with pytest.raises(IndexError, match="50000") as caught:
        np.asarray(found)
    assert any("picked on cpu:0" in note for note in caught.value.__notes__)
    with pytest.raises(IndexError, match="50000"):
        np.asarray(found + 1)
    assert np.isfinite(float(run(x, np.array(2))))


def test_elementwise_work_on_large_arrays_is_queued_in_order() -> None:
    x = device_put(LARGE)
    y = x
    for _ in range(50):
        y = np.cos(y + x)
    wanted = LARGE
    for _ in range(50):
        wanted = np.cos(wanted + LARGE)
    same(y, wanted)


def writes(x):
    x[0] = 5.0
    return x * 2


def test_compiled_code_does_not_write_to_them() -> None:
    x = device_put(np.arange(3.0))
    for run in (writes, jit(writes)):
        with pytest.raises((TypeError, ValueError), match="immutable|read-only|cannot be modified"):
            run(x)
    same(x, np.arange(3.0))


def test_who_writes_to_an_argument_later_changes_no_result() -> None:
    x, y = device_put(LARGE), np.ones(LARGE.size)
    blocker = devices()[0].submit(time.sleep, (0.2,))
    queued = x + y
    y[:] = 7
    blocker.result()
    same(queued, LARGE + 1)
    small = np.ones(3)
    run = jit(lambda a, b: (a, b))
    for found in (run(device_put(small), small)[1], run(device_put(small), small)[1],
                  np.broadcast_to(small, (2, 3), subok=False) * device_put(1.0)):
        small[:] = 5.0
        assert np.all(np.asarray(found) == 1)
        small[:] = 1.0


def test_pmap_is_done_with_arrays_of_numpy() -> None:
    x = np.ones((3, 1000))
    mapped = pmap(lambda x: np.sin(np.sin(np.sin(x))))
    mapped(x), mapped(x)
    blockers = [device.submit(time.sleep, (0.1,)) for device in devices()]
    found = mapped(x)
    assert found.is_ready() and all(blocker.is_ready for blocker in blockers)
    x[:] = 7
    np.testing.assert_allclose(np.asarray(found), np.sin(np.sin(np.sin(1.0))))


def test_trees_are_waited_for_and_fetched() -> None:
    params = {"w": device_put(np.arange(3.0)), "name": "a", "n": 2}
    assert block_until_ready(params) is params and params["w"].is_ready()
    fetched = device_get(params)
    assert type(fetched["w"]) is np.ndarray and fetched["w"].tolist() == [0.0, 1.0, 2.0]
    assert (fetched["name"], fetched["n"]) == ("a", 2)
    assert grad(lambda x: np.sum(device_get(block_until_ready(x ** 2))))(np.ones(2)).tolist() == [2.0, 2.0]


def test_names_are_those_there_are() -> None:
    import transformer
    found = [name for name in dir(transformer) if not name.startswith("__")]
    assert set(found) == {*transformer.__all__, *transformer._MODULES}
    assert all(hasattr(transformer, name) for name in found)
