"""Modules by the path of their file."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def imported(path: str | Path, name: str = "") -> ModuleType:
    """A file as a module; with a `name`, by which pickles and dataclasses find it, it stays in `sys.modules`."""
    spec = importlib.util.spec_from_file_location(name or Path(path).stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    if name:
        sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
