"""The examples in the texts of all modules."""

from __future__ import annotations

import doctest
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pytest

from transformer.__main__ import ensure_command_line

ensure_command_line()
ROOT = Path(__file__).parent.parent
PACKAGES = {"transformer": "transformer", "cli": "transformer_cli"}


def modules() -> Iterator[str]:
    for folder, package in PACKAGES.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            if ">>> " in path.read_text():
                parts = path.relative_to(ROOT / folder).with_suffix("").parts
                yield ".".join((package, *(part for part in parts if part != "__init__")))


def examples_of(module: ModuleType) -> Iterator[doctest.DocTest]:
    """Examples that stand in the module itself: methods of arrays have the texts of NumPy's. Functions in them are a
    user's, not the package's, which would be called and not read."""
    text = inspect.getsource(module)
    for found in doctest.DocTestFinder().find(module, extraglobs={"__name__": "program"}):
        if all(example.source.splitlines()[0] in text for example in found.examples):
            yield found


debugger: Any = getattr(doctest, "_OutputRedirectingPdb")          # noqa: B009  (it has no types)


class Debugger(debugger):
    """Is made ready for each example, and there looks at all files of which lines are kept: thousands by then."""

    def reset(self) -> None:
        with mock.patch("linecache.checkcache"):
            super().reset()


@pytest.mark.usefixtures("fresh_registry")
@pytest.mark.parametrize("name", list(modules()))
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctest, debugger.__name__, Debugger)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    for example in examples_of(importlib.import_module(name)):
        runner.run(example)
    assert not runner.failures
