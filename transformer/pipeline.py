"""The stages in order. Read this page first: everything else is one of them.

     user function ──read──▶ Core ──transform──▶ Core ──simplify──▶ Core ──write──▶ NumPy source

`generate` takes a function (or a transformation of one, of one, …) and abstract arguments, and gives
the source of the transformed function with everything known about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .core.builder import Builder
from .core.check import check
from .core.grammar import Function
from .core.text import text
from .read.interface import Interface
from .read.reader import Reading, read
from .settings import config
from .simplify import simplify
from .transform.applied import settled, take_hidden
from .transform.modes import Derived
from .write.header import Header
from .write.writer import Written, write


@dataclass
class Generated:
    """A transformed function: its Core, its interface, its source, and the text of every stage."""

    function: Function
    interface: Interface
    reading: Reading
    written: Written
    stages: dict[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        return self.written.source


def generate(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, hints: Mapping[Any, int],
             smallest: int, header: Header | None = None, name: str | None = None,
             stages: dict[str, str] | None = None) -> Generated:
    """All stages. With a header the source is that of a file, which tests the shapes it is given;
    `name` is what the user's function is called there, if not by its own name; `stages` receives
    the text of every stage. Raises a located `TransformError`; nothing is changed or written by then."""
    user, modes = taken_apart(target)
    extras = sum(mode.extras for mode in modes)
    reading = read(user, args[:len(args) - extras], kwargs, hints=hints, smallest=smallest)
    function, interface = reading.function, reading.interface
    interface.name, interface.positional = name or interface.name, len(args) - extras
    note(stages, "read", function)
    if not modes:
        settled(function)
    simplify(function, reading.assumptions)
    note(stages, "simplified", function)
    for k, mode in enumerate(modes):
        builder = Builder(reading.assumptions)
        builder.reader = reading.reader
        with reading.assumptions.consistent():
            function, interface = mode.transform(function, interface, builder)
            take_hidden(function, interface)
            if k == len(modes) - 1:
                settled(function)
            note(stages, mode.suffix, function)
            simplify(function, reading.assumptions, last=k == len(modes) - 1)
        note(stages, f"{mode.suffix}, simplified", function)
    function.guards = reading.assumptions.guards
    written = write(function, interface, name=interface.name, header=header, annotate=True,
                    guards=header is not None)
    if stages is not None:
        stages["source"] = written.source
    return Generated(function, interface, reading, written, stages or {})


def taken_apart(target: Any) -> tuple[Any, list[Any]]:
    """The user's function inside a transformed one, and the transformations, innermost first."""
    modes: list[Any] = []
    while isinstance(target, Derived):
        modes.insert(0, target.mode)
        target = target.function
    return target, modes


def note(stages: dict[str, str] | None, name: str, function: Function) -> None:
    """Checks a function between two stages, if the settings say so, and notes its text, if wanted."""
    if config.check:
        check(function)
    if stages is not None:
        while name in stages:
            name += "'"
        stages[name] = text(function)
