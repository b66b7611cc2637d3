"""Generated gradients of the programs in golden/: as they are kept, readable, and right.

Refresh with `pytest tests/test_golden.py --update-golden`: a file is written only after what it
computes was compared with differences.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from differences import assert_close, directional, leaves, map_leaves
from golden_checks import complaints, without_versions
from importing import imported
from transformer_cli.main import main

FOLDER = Path(__file__).parent / "golden"
sys.path.insert(0, str(FOLDER))

from programs import EXAMPLES, KEPT  # noqa: E402

CASES = pytest.mark.parametrize("name, mode, wrt", KEPT, ids=lambda part: part)


def file_name(name: str, mode: str, wrt: str) -> str:
    alone = [w for n, m, w in KEPT if (n, m) == (name, mode)]
    return f"{name}_{mode}.py" if len(alone) == 1 else f"{name}_{mode}_{wrt.replace(',', '_')}.py"


@pytest.fixture
def emitted(name: str, mode: str, wrt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A freshly generated file."""
    monkeypatch.chdir(FOLDER)
    path = tmp_path / file_name(name, mode, wrt)
    command = ["grad", "--value"] if mode == "value_and_grad" else [mode]
    assert main([*command, f"programs.py:{name}", "--wrt", wrt, "-o", str(path)]) == 0
    return path


def check_numbers(path: Path, name: str, mode: str, wrt: str) -> None:
    """What the file computes, against differences of the program along a random direction."""
    import programs
    program = getattr(programs, name)
    args = EXAMPLES[name](np.random.default_rng(3))
    generated = getattr(imported(path), f"{name}_{mode}")
    names = list(program.__annotations__)
    chosen = [names.index(w) for w in wrt.split(",")]
    rng = np.random.default_rng(4)
    tangents = tuple(map_leaves(lambda a: direction(rng, a), arg) if k in chosen else None
                     for k, arg in enumerate(args))
    expected = directional(program, args, tangents)
    before = map_leaves(np.copy, args)
    if mode == "jvp":
        value, found = generated(*args, *(tangents[k] for k in chosen))
        assert_close(value, program(*map_leaves(np.copy, args)), "value", np.dtype(float))
    else:
        gradients = generated(*args)
        if mode == "value_and_grad":
            value, gradients = gradients
            assert_close(value, program(*map_leaves(np.copy, args)), "value", np.dtype(float))
        gradients = gradients if len(chosen) > 1 else (gradients,)
        found = sum(inner(gradients[i], tangents[k]) for i, k in enumerate(chosen))
    assert_close(found, expected, f"{name} {mode} {wrt}", np.dtype(float))
    for now, then in zip(leaves(args), leaves(before), strict=True):
        np.testing.assert_array_equal(now, then)


def direction(rng: np.random.Generator, leaf: Any) -> Any:
    """A random direction, symmetric for a symmetric matrix (see docs/conventions.md)."""
    tangent = rng.normal(size=np.shape(leaf))
    if np.ndim(leaf) == 2 and np.shape(leaf) == np.shape(leaf)[::-1] and np.array_equal(leaf, leaf.T):
        tangent = tangent + tangent.T
    return tangent


def inner(left: Any, right: Any) -> float:
    return sum(float(np.sum(a * b)) for a, b in zip(leaves(left), leaves(right), strict=True))


@CASES
def test_emitted_file(name: str, mode: str, wrt: str, emitted: Path, request: pytest.FixtureRequest) -> None:
    check_numbers(emitted, name, mode, wrt)
    kept = FOLDER / file_name(name, mode, wrt)
    if request.config.getoption("--update-golden"):
        shutil.copy(emitted, kept)
    assert without_versions(emitted.read_text()) == without_versions(kept.read_text())


@CASES
def test_kept_file_is_right(name: str, mode: str, wrt: str) -> None:
    check_numbers(FOLDER / file_name(name, mode, wrt), name, mode, wrt)


@CASES
def test_kept_file_is_readable(name: str, mode: str, wrt: str) -> None:
    source = (FOLDER / file_name(name, mode, wrt)).read_text()
    assert not complaints(source, user_names(name))


def user_names(name: str) -> set[str]:
    """The names that the program's author gave."""
    tree = ast.parse((FOLDER / "programs.py").read_text())
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name)
    return {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}


def test_kept_files_pass_the_linter() -> None:
    files = [str(FOLDER / file_name(*case)) for case in KEPT]
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E,F,W,B,I", "--line-length",
               "88", *files]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
