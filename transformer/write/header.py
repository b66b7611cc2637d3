"""What stands above the function in a file: where it came from, imports, helpers, shared numbers."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import wrap
from typing import Any

from ..ops.registry import registry
from .layout import LINE


@dataclass(frozen=True, slots=True)
class Header:
    """Where an emitted file came from, for the text at its top.

    `transformation` is what was done, in words (``"gradient with respect to w and b"``); `versions`
    are names and version numbers of what took part.
    """

    function: str
    file: str
    line: int
    transformation: str
    versions: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        made = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        place = f"{Path(self.file).name}, line {self.line}"
        text = [*_first_sentence(f"{_capital(self.transformation)} of `{self.function}`", place), ""]
        text += [*self.notes, ""] if self.notes else []
        text.append(f"Generated{f' by {made}' if made else ''}; edit the original, or this file, not both.")
        return ['"""' + text[0], *text[1:], '"""']


def _first_sentence(what: str, place: str) -> list[str]:
    """What was done and to what; in several lines where one is too long."""
    sentence, width = f"{what} ({place}).", LINE - len('"""')
    return [sentence] if len(sentence) <= width else [*wrap(f"{what}.", width), "", f"The original is in {place}."]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


LIBRARIES = {"ml_dtypes": "import ml_dtypes", "np": "import numpy as np"}
STANDARD = ("cmath", "dataclasses", "logging", "math", "statistics", "warnings")


def imports(nodes: list[ast.AST]) -> list[str]:
    """The imports that code needs which mentions these names and attributes, the standard library first."""
    used = {node.id for node in nodes if type(node) is ast.Name}
    standard = [f"import {name}" for name in STANDARD if name in used]
    installed = [line for name, line in LIBRARIES.items() if name in used]
    installed += [f"import scipy.{part}" for part in sorted(set(_parts_of_scipy(nodes)))]
    installed += ["import transformer"] if "transformer" in used else []
    installed += [f"import {home}" for home in sorted(_homes_of_defined(nodes))]
    return [*standard, *([""] if standard and installed else []), *installed]


def _homes_of_defined(nodes: list[ast.AST]) -> set[str]:
    """The modules of functions for which users defined ops."""
    known = registry.modules()
    if not known:
        return set()
    homes = {ast.unparse(node.value) for node in nodes if isinstance(node, ast.Attribute)} & known
    return {home for home in homes if home.partition(".")[0] not in (*STANDARD, "np", "scipy")}


def mentioned(trees: Iterable[ast.AST]) -> list[ast.AST]:
    """The names and attributes in trees, as `ast.walk` would find them."""
    found: list[ast.AST] = []
    pending = list(trees)
    while pending:
        node = pending.pop()
        kind = type(node)
        if kind is ast.Name or kind is ast.Attribute:
            found.append(node)
        if kind is not ast.Name and kind is not ast.Constant:
            for value in vars(node).values():
                if type(value) is list:
                    pending += [item for item in value if isinstance(item, ast.AST)]
                elif isinstance(value, ast.AST):
                    pending.append(value)
    return found


def _parts_of_scipy(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "scipy":
            yield node.attr


def helper(name: str) -> Iterator[str]:
    """The source of a helper function, which is kept in `prelude`, below the numbers that it takes from its module."""
    from . import prelude

    function = getattr(prelude, name)
    numbers = {each for each in function.__code__.co_names if isinstance(function.__globals__.get(each), tuple)}
    if numbers:
        yield from _assignments(function, numbers)
        yield from ("", "")
    yield from inspect.getsource(function).rstrip("\n").split("\n")


def _assignments(function: Any, names: set[str]) -> Iterator[str]:
    """The lines of a module that give these names to something."""
    module = inspect.getsource(inspect.getmodule(function))                      # type: ignore[arg-type]
    for node in ast.parse(module).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in names:
            yield from module.split("\n")[node.lineno - 1:node.end_lineno]
