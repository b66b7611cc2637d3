"""Generated batched forms of the programs in golden_vmap/: as they are kept, readable, and right.

Refresh with `pytest tests/test_golden_vmap.py --update-golden`: a file is written only after what it computes was
compared with a loop over lanes, or a closed form.
"""

from __future__ import annotations

import ast
import copy
import inspect
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from differences import leaves
from golden_checks import complaints, without_versions
from importing import imported

FOLDER = Path(__file__).parent / "golden_vmap"
PROGRAMS = imported(FOLDER / "programs.py", "golden_vmap_programs")

NAMES = pytest.mark.parametrize("name", PROGRAMS.CASES)


def check_numbers(path: Path, name: str) -> None:
    """Also for another number of lanes, and arguments stay as they are."""
    _, expected, draw = PROGRAMS.CASES[name]
    module = imported(path)
    generated = next(found for key, found in vars(module).items() if inspect.isfunction(found)
                     and found.__module__ == path.stem and not key.startswith("grow"))
    for seed in (3, 4):
        args = draw(np.random.default_rng(seed))
        given = copy.deepcopy(args)
        for mine, theirs in zip(leaves(generated(*given)), leaves(expected(*args)), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)
        for now, before in zip(leaves(given), leaves(args), strict=True):
            np.testing.assert_array_equal(now, before)


@NAMES
def test_generated_file(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    transformed, _, draw = PROGRAMS.CASES[name]
    path = tmp_path / f"{name}.py"
    transformed.save(path, *draw(np.random.default_rng(3)))
    check_numbers(path, name)
    kept = FOLDER / f"{name}.py"
    if request.config.getoption("--update-golden"):
        shutil.copy(path, kept)
    assert comparable(path) == comparable(kept)


def comparable(path: Path) -> str:
    """The source without what the machine says: versions, and the folder of the program."""
    return without_versions(path.read_text()).replace(str(FOLDER) + "/", "")


@NAMES
def test_kept_file_is_right(name: str) -> None:
    check_numbers(FOLDER / f"{name}.py", name)


@NAMES
def test_kept_file_is_readable(name: str) -> None:
    assert not complaints((FOLDER / f"{name}.py").read_text(), user_names())


def user_names() -> set[str]:
    tree: Any = ast.parse((FOLDER / "programs.py").read_text())
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def test_kept_files_pass_the_linter() -> None:
    files = [str(FOLDER / f"{name}.py") for name in PROGRAMS.CASES]
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E,F,W,B,I", "--line-length",
               "88", *files]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
