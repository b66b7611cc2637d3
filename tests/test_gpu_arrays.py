"""Arrays on GPUs, with a stand-in for CuPy."""

from __future__ import annotations

import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu_standins import LIBRARY, OnGpu

from transformer import Array, device_put, devices, jit

pytestmark = pytest.mark.usefixtures("a_gpu")


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
    with pytest.raises(TypeError, match="cannot be changed"):
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
