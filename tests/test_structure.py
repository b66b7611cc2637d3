"""Dependencies between packages point one way, and importing stays cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "transformer"

ALLOWED = {
    "core": {"core"},
    "ops": {"core", "ops", "tree"},
    "read": {"core", "ops", "read", "tree", "tree_util", "containers", "updates"},
    "simplify": {"core", "ops", "simplify"},
    "transform": {"core", "ops", "read", "simplify", "transform", "tree", "containers"},
    "lower": {"core", "ops", "lower", "write"},
    "write": {"core", "ops", "read", "write", "tree", "containers"},
}


def imported_packages(path: Path) -> set[str]:
    """The packages of ours that a module imports, wherever in the module."""
    found = set()
    package = ("transformer", *path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = package[:len(package) - node.level + 1] if node.level else ()
            parts = (*base, *(node.module.split(".") if node.module else ()))
            names = [parts] if len(parts) > 1 else [(*parts, alias.name) for alias in node.names]
            found |= {name[1] for name in names if name[0] == "transformer" and len(name) > 1}
    return found


@pytest.mark.parametrize("package", sorted(ALLOWED))
def test_imports_point_one_way(package: str) -> None:
    modules = list((ROOT / package).rglob("*.py"))
    assert modules
    for path in modules:
        wrong = imported_packages(path) - ALLOWED[package]
        assert not wrong, f"{path.relative_to(ROOT)} imports {sorted(wrong)}"


@pytest.mark.parametrize("heavy", ["numba", "scipy", "gast", "ml_dtypes", "transformer.read.reader"])
def test_import_leaves_heavy_modules_alone(heavy: str) -> None:
    code = f"import sys, transformer; raise SystemExit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
