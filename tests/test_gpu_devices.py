"""`jit(f, device="cuda")` where numba runs kernels as Python, in another process; and what there is without a GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import gpu_program
import pytest

from transformer import devices, jit
from transformer.core.errors import BadArgument
from transformer.run.gpu import library as gpu
from transformer.run.gpu.library import why_not

FOLDER = Path(__file__).parent


def run(*command: str, simulated: bool = False) -> str:
    """What a new process prints."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1" if simulated else "0"}
    ended = subprocess.run([sys.executable, *command], env=environment, cwd=FOLDER.parent, capture_output=True,
                           text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def became() -> dict[str, str | None]:
    found: dict[str, str | None] = json.loads(run(str(FOLDER / "gpu_program.py"), simulated=True))
    return found


@pytest.mark.parametrize("name", gpu_program.CHECKS)
def test_on_a_device(name: str, became: dict[str, str | None]) -> None:
    assert became[name] is None, became[name]


def test_programs_of_the_corpus() -> None:
    """All of them take minutes: `NUMBA_ENABLE_CUDASIM=1 python -m benchmarks gpu --corpus`."""
    run("-m", "benchmarks", "gpu", "--corpus", "--every", "32", simulated=True)


def test_benchmarks_of_gpus(tmp_path: Path) -> None:
    run("-m", "benchmarks", "gpu", "--only", "selu, 64M,five arrays", "--json", str(tmp_path / "found"), simulated=True)
    cases = {case["name"]: case for case in json.loads((tmp_path / "found").read_text())["cases"]}
    assert len(cases) == 3
    for case in cases.values():
        assert not case["is wrong"] and not case["notes"] and {"transformer", "by hand"} <= set(case["seconds"])
    assert cases["selu, 64M f32"]["bytes"] == 2 * 33 * 4


WITHOUT_GPU = """
import sys

before = set(sys.modules)                       # packages of CUDA have parts that every process imports

import numpy as np

import transformer


def loaded(*names):
    return sorted(name for name in sys.modules if name.split(".")[0] in names and name not in before)


assert not loaded("numba", "cupy", "cuda"), loaded("numba", "cupy", "cuda")
square = transformer.jit(lambda x: x * x)
square(np.ones(3))
assert not [name for name in loaded("numba") if name.startswith("numba.cuda.")] and not loaded("cupy", "cuda")
"""


def test_nothing_of_gpus_is_imported(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(WITHOUT_GPU)
    run(str(path))


@pytest.mark.skipif(why_not() is None, reason="there is a GPU")
def test_without_a_gpu_a_located_message() -> None:
    for ask in (lambda: jit(gpu_program.scaled, device="cuda"), lambda: jit(gpu_program.scaled, backend="cuda"),
                lambda: jit(gpu_program.scaled, device="cuda:0"), lambda: devices("cuda")):
        with pytest.raises(BadArgument, match="no CUDA device is available") as caught:
            ask()
        assert str(why_not()) in str(caught.value)
        assert "devices(" in str(caught.value).splitlines()[-1]
    with pytest.raises(BadArgument, match="test_gpu_devices.py") as caught:
        jit(gpu_program.scaled, device="cuda")
    assert 'jit(gpu_program.scaled, device="cuda")' in str(caught.value)


def test_a_numba_cuda_that_does_not_fit_numpy_has_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """It imports much of itself when the first kernel is compiled, on a machine where all else is well."""
    from numba import cuda
    from numba.cuda.descriptor import cuda_target

    def refresh() -> None:
        raise AttributeError("module 'numpy' has no attribute 'row_stack'")

    monkeypatch.setattr(gpu, "find_spec", lambda name: True)
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    monkeypatch.setattr(cuda_target.typing_context, "refresh", refresh)
    told = str(why_not.__wrapped__())
    assert "numba-cuda does not fit NumPy" in told and "has no attribute 'row_stack'" in told and "cuda12" in told
