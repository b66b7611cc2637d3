"""Several arrays copied by one launch: its kernel run step by step, and what is launched, with stand-ins for CuPy."""

from __future__ import annotations

import gpu_simulator
import numpy as np
import pytest
from gpu_standins import CUDA, OnGpu, copied_at_once

from transformer.run.gpu import copies


@pytest.mark.parametrize("sizes", [(1, 0), (5, 40, 3), (0, 0, 17, 1)])
def test_the_kernel(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.integers(0, 2**63, size, dtype="u8") for size in sizes]
    targets = [np.zeros_like(array) for array in arrays]
    kernel = gpu_simulator.namespace(copies.source(len(sizes)), {})["fill_copies"]
    kernel[2, 4](*(each for pair in zip(arrays, targets) for each in pair))
    for array, target in zip(arrays, targets):
        np.testing.assert_array_equal(target, array)


def test_what_is_launched(a_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "form_of", copied_at_once)
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(3, 4)), rng.normal(size=5000), rng.normal(size=(4, 6))[:, ::2], np.arange(3, dtype="i1"),
              rng.normal(size=0), np.frombuffer(bytes(range(17)), "u1")[1:], np.array(2.5)]
    targets = [OnGpu(np.zeros(array.shape, array.dtype)) for array in arrays]
    copies.copy_all(targets, [OnGpu(array) for array in arrays])
    for array, target in zip(arrays, targets):
        np.testing.assert_array_equal(target.hidden, array)
    assert [what for what, *_ in CUDA.log].count("launched") == 1
    copies.copy_all(targets[:1], [OnGpu(arrays[0] + 1)])
    np.testing.assert_array_equal(targets[0].hidden, arrays[0] + 1)
    assert [what for what, *_ in CUDA.log].count("launched") == 1


def test_many_arrays(a_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "form_of", copied_at_once)
    arrays = [np.full(k, k + 0.5) for k in range(2 * copies.AT_ONCE + 1)]
    targets = [OnGpu(np.zeros_like(array)) for array in arrays]
    copies.copy_all(targets, [OnGpu(array) for array in arrays])
    for array, target in zip(arrays, targets):
        np.testing.assert_array_equal(target.hidden, array)
    assert [what for what, *_ in CUDA.log] == ["launched", "launched"]
