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
from transformer.run.gpu import why_not

FOLDER = Path(__file__).parent


def run(*command: str, simulated: bool = False) -> str:
    """What a new process prints."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1" if simulated else "0"}
    ended = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def became() -> dict[str, str | None]:
    found: dict[str, str | None] = json.loads(run(str(FOLDER / "gpu_program.py"), simulated=True))
    return found


@pytest.mark.parametrize("name", gpu_program.CHECKS)
def test_on_a_device(name: str, became: dict[str, str | None]) -> None:
    assert became[name] is None, became[name]


WITHOUT_GPU = """
import sys

import numpy as np

import transformer


def loaded(*names):
    return sorted(name for name in sys.modules if name.split(".")[0] in names)


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
        with pytest.raises(BadArgument, match="there is no CUDA device") as caught:
            ask()
        assert str(why_not()) in str(caught.value)
        assert "devices(" in str(caught.value).splitlines()[-1]
    with pytest.raises(BadArgument, match="test_gpu_devices.py") as caught:
        jit(gpu_program.scaled, device="cuda")
    assert 'jit(gpu_program.scaled, device="cuda")' in str(caught.value)
