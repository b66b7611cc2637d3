"""Loops that certainly have an iteration: `while True:` that is left by a flag, ranges that are not empty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .grammar import Atom, Const, Let, Loop, Var
from .sizes import Extent
from .walk import size_of_atom

TRUTHS: dict[str, Callable[..., bool]] = {
    "logical_not": lambda x: not x, "logical_and": lambda x, y: x and y, "logical_or": lambda x, y: x or y}


def certainly_runs(loop: Loop, at_least_one: Callable[[Extent], bool]) -> bool:
    """Whether a loop has an iteration for all arguments; `at_least_one` says whether a size is not 0."""
    ranges = loop.trips is None or at_least_one(size_of_atom(loop.trips))
    return ranges and (loop.cond is None or _holds_at_first(loop))


def _holds_at_first(loop: Loop) -> bool:
    known: dict[Any, bool] = {
        carry.entry: carry.init.value for carry in loop.carries
        if isinstance(carry.init, Const) and isinstance(carry.init.value, bool)}
    for stmt in loop.test:
        if isinstance(stmt, Let) and stmt.op.name in TRUTHS:
            values = [_value(atom, known) for atom in stmt.args]
            if None not in values:
                known[stmt.target] = TRUTHS[stmt.op.name](*values)
    return loop.cond is not None and _value(loop.cond, known) is True


def _value(atom: Atom, known: dict[Any, bool]) -> bool | None:
    return known.get(atom) if isinstance(atom, Var) else bool(atom.value) if isinstance(atom, Const) else None
