"""`pmap` on several GPUs: in other processes, in which numba runs kernels as Python; and on real ones, if there are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gpu_pmap_program
import numpy as np
import pytest
from test_gpu_devices import run

from transformer import device_put, devices, jit, pmap, pmean
from transformer.run.gpu import devices as gpu_devices
from transformer.run.gpu import library as gpu

PROGRAM = Path(__file__).parent / "gpu_pmap_program.py"


@pytest.fixture(scope="module", params=["simulated", "virtual", "nccl"])
def became(request: pytest.FixtureRequest) -> dict[str, str | None]:
    found: dict[str, str | None] = json.loads(run("-W", "error", str(PROGRAM), request.param, simulated=True))
    return found


@pytest.mark.parametrize("name", gpu_pmap_program.CHECKS)
def test_on_gpus(name: str, became: dict[str, str | None]) -> None:
    assert became[name] is None, became[name]


several = pytest.mark.skipif(gpu.is_simulated() or gpu.why_not() is not None or gpu_devices.count() < 2,
                             reason="there are not several GPUs")


@several
def test_arrays_on_real_gpus() -> None:
    one, two = devices("cuda")[:2]
    x = np.arange(6.0).reshape(2, 3)
    first: Any = device_put(x, one)
    second: Any = device_put(first, two)
    assert second._known().device.id == 1
    np.testing.assert_array_equal(np.asarray(second * 2), x * 2)
    found: Any = jit(lambda x: np.tanh(x) @ x.T, device="cuda")(second)
    assert found.device is two
    np.testing.assert_allclose(np.asarray(found), np.tanh(x) @ x.T)
    with pytest.raises(ValueError, match="incompatible devices"):
        first + second


@several
def test_collectives_on_real_gpus() -> None:
    gpu_pmap_program.COUNT = len(devices("cuda"))
    before = gpu_pmap_program.config.cpu_devices
    gpu_pmap_program.config.cpu_devices = gpu_pmap_program.COUNT
    try:
        gpu_pmap_program.check_collectives()
        gpu_pmap_program.check_a_step()
        gpu_pmap_program.check_gradients()
    finally:
        gpu_pmap_program.config.cpu_devices = before


@several
def test_all_real_gpus_have_the_same() -> None:
    step = pmap(lambda w, x: w - 0.1 * pmean(w * x, "i"), "i", in_axes=(None, 0), out_axes=None,
                devices=devices("cuda"))
    rng = np.random.default_rng(0)
    w: Any = device_put(rng.normal(size=100_000).astype("f4"), "cuda")
    x = rng.normal(size=(len(devices("cuda")), 100_000)).astype("f4")
    for _ in range(20):
        w = step(w, x)
    first, *others = [gpu.fetched(part) for part in w.copies[1]]
    for other in others:
        np.testing.assert_array_equal(first, other)
