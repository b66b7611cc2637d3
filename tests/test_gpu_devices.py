"""`jit(f, device="cuda")`: calls, in a process in which numba runs kernels as Python; and what there is without a GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import gpu_program
import pytest

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
