"""Arrays on GPUs, with a stand-in for CuPy."""

from __future__ import annotations

import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from virtual_gpus import CURRENT, Device, Library, OnGpu

from transformer import Array, default_device, device_put, devices, jit
from transformer.core.errors import BadArgument

LIBRARY = Library(2)


@pytest.fixture(autouse=True)
def gpus(gpus_of: Any) -> None:
    gpus_of(LIBRARY)


def test_what_is_computed_stays_there() -> None:
    x = np.arange(6.0).reshape(2, 3)
    on_gpu: Any = device_put(x, "cuda")
    assert on_gpu.device is devices("cuda")[0] and isinstance(on_gpu._known(), OnGpu)
    for got, want in ((on_gpu * 2 + 1, x * 2 + 1), (np.sum(on_gpu, axis=1), x.sum(axis=1)), (on_gpu[1], x[1]),
                      (on_gpu.T @ on_gpu, x.T @ x), (on_gpu.reshape(3, 2), x.reshape(3, 2)), (on_gpu.mean(), x.mean()),
                      (np.concatenate([on_gpu, on_gpu]), np.concatenate([x, x]))):
        assert type(got) is Array and got.device is on_gpu.device and isinstance(got._known(), OnGpu)
        np.testing.assert_array_equal(np.asarray(got), want)
    assert on_gpu.__cuda_array_interface__["shape"] == (2, 3) and float(on_gpu[0, 1]) == 1.0
    assert repr(on_gpu) == repr(x).replace("array", "Array")


def test_moving_and_keeping() -> None:
    x = np.arange(4.0)
    on_gpu: Any = device_put(x, "cuda")
    x[0] = 7.0
    assert float(on_gpu[0]) == 0.0                                       # a copy
    back = device_put(on_gpu, "cpu")
    assert back.device.kind == "cpu" and isinstance(back._known(), np.ndarray)
    again = pickle.loads(pickle.dumps(on_gpu))
    assert again.device.kind == "cuda" and isinstance(again._known(), OnGpu)
    np.testing.assert_array_equal(np.asarray(again), np.asarray(back))
    with pytest.raises(ValueError, match="cuda:0, another, of shape .* on cpu:0"):
        on_gpu + back
    assert not hasattr(back, "__cuda_array_interface__")
    with pytest.raises(TypeError, match="immutable"):
        on_gpu[0] = 1.0


def test_what_is_written_reaches_its_owner_and_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """An argument of NumPy is written also where others lie on the GPU; an Array is not."""
    def scaled(y: Any, x: Any) -> Any:
        y *= 2.0
        return x.sum()

    compiled = jit(scaled, device="cuda")
    entry = SimpleNamespace(refusal=None, hidden=[], function=doubled, memory=SimpleNamespace(
        written=[SimpleNamespace(path="y")], origin=None, check=lambda *_: None))
    monkeypatch.setattr(compiled._dispatcher, "entry", lambda *_: entry)
    y, on_gpu = np.ones(3), LIBRARY.array(np.ones(3))
    compiled(y, on_gpu)
    compiled(on_gpu, np.ones(3))
    np.testing.assert_array_equal(y, [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(on_gpu.hidden, [2.0, 2.0, 2.0])
    array: Any = device_put(np.ones(3), "cuda")
    compiled(array, array + 1)
    np.testing.assert_array_equal(np.asarray(array), [1.0, 1.0, 1.0])


def doubled(y: Any, x: Any) -> Any:
    y.hidden[...] *= 2.0
    return x.sum()


def test_arrays_on_two_gpus() -> None:
    one, two = devices("cuda")
    x = np.arange(6.0).reshape(2, 3)
    first: Any = device_put(x, "cuda:0")
    second: Any = device_put(first, two)
    assert second.device is two and second._known().device.id == 1 and first._known().device.id == 0
    for made in (second * 2 + 1, np.sum(second, axis=0), second.T @ second, second[1], second.reshape(6), second[:, 1],
                 second.at[0].set(7.0), np.concatenate([second, second]), second + np.float64(1), -second):
        assert made.device is two and made._known().device.id == 1
    np.testing.assert_array_equal(np.asarray(second * 2 + 1), x * 2 + 1)
    with pytest.raises(ValueError, match="cuda:0, another, of shape .* on cuda:1"):
        first + second
    assert pickle.loads(pickle.dumps(second)).device is two
    np.testing.assert_array_equal(np.asarray(device_put(second, "cpu")), x)
    assert CURRENT.gpu == 0
    with default_device(two):
        assert device_put(x)._known().device.id == 1
    big = device_put(np.ones(1 << 15), two)
    assert (big + big)._known().device.id == 1                           # in the thread of the device
    with pytest.raises(BadArgument, match="(?s)there is no device 'cuda:2'.*The devices are cuda:0, cuda:1"):
        device_put(x, "cuda:2")


def test_arrays_of_another_library_are_copied() -> None:
    with Device(1):
        theirs = LIBRARY.array(np.ones(3))
    array: Any = device_put(theirs, "cuda:1")
    moved: Any = device_put(theirs, "cuda:0")
    theirs.hidden[:] = 7
    assert array._known().device.id == 1 and moved._known().device.id == 0
    np.testing.assert_array_equal(np.asarray(array), np.ones(3))
    np.testing.assert_array_equal(np.asarray(moved), np.ones(3))


def plus_one(x: Any) -> Any:
    return x + 1


def test_calls_run_where_their_arguments_are(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = SimpleNamespace(source="", refusal=None, hidden=[], function=plus_one, memory=SimpleNamespace(written=[]),
                            watched=[])
    anywhere, bound = jit(plus_one, device="cuda"), jit(plus_one, device="cuda:1")
    for compiled in anywhere, bound:
        monkeypatch.setattr(compiled._dispatcher, "entry", lambda *_: entry)
    first, second = (device_put(np.zeros(3), device) for device in devices("cuda"))
    assert anywhere(first).device is first.device and anywhere(second).device is second.device
    assert bound(first).device is bound(second).device is second.device
    theirs = LIBRARY.array(np.zeros(3))
    assert anywhere(theirs).device.id == 0
    with pytest.raises(BadArgument, match="cuda:0, but the function is compiled for cuda:1"):
        bound(theirs)
    np.testing.assert_array_equal(bound(np.zeros(3)), np.ones(3))
    with Device(1):
        np.testing.assert_array_equal(anywhere(np.zeros(3)), np.ones(3))
        assert anywhere(theirs).device.id == 0
    with pytest.raises(ValueError, match="incompatible devices for both"):
        jit(both, device="cuda")(first, second)


def both(x: Any, y: Any) -> Any:
    return x + y
