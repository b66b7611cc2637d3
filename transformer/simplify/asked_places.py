"""Tests of places that the program asks for (`read/raising/asked_places.py`), when nothing more is left out: those
that stand beside a statement that reads or writes this place, or one in an array of the same size, go.

    y = x[k]
    if (k < -x.size) | (k >= x.size):       →       y = x[k]
        raise IndexError(...)
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from ..core.builder import Builder
from ..core.grammar import Block, Effect, Function, If, Let
from ..core.guards import Assumptions
from ..ops.regions import computed_places
from .dead import Before, dead

PLACED = frozenset({"get", "put", "addat"})
Place = tuple[Any, Any]


def without_tests_of_places(function: Function, assumptions: Assumptions, before: Before) -> None:
    """Drops them, in place, and what was needed for them alone."""
    with Builder(assumptions).active():
        if _without(function.body, set()):
            dead(function, assumptions, before)


def _without(block: Block, around: set[Place]) -> bool:
    """Drops the tests of a block whose places it asks for anyway, or what is `around` it."""
    asked = around | _asked(block)
    left = [stmt for stmt in block if _tested(stmt) not in asked]
    changed = len(left) < len(block)
    block[:] = left
    sides: dict[Any, set[Place]] = defaultdict(set)         # of branches on one condition, as both sweeps have
    branches = [stmt for stmt in left if isinstance(stmt, If) and _tested(stmt) is None]
    for stmt in branches:
        sides[stmt.cond, True] |= _asked(stmt.then)
        sides[stmt.cond, False] |= _asked(stmt.orelse)
    for stmt in branches:
        changed |= _without(stmt.then, asked | sides[stmt.cond, True])
        changed |= _without(stmt.orelse, asked | sides[stmt.cond, False])
    return changed


def _asked(block: Block) -> set[Place]:
    lets = (stmt for stmt in block if isinstance(stmt, Let) and stmt.op.name in PLACED)
    return {place for stmt in lets for place in computed_places(stmt)}


def _tested(stmt: Any) -> Place | None:
    """The place that a statement tests."""
    effect = stmt.then[-1] if isinstance(stmt, If) and stmt.then and not stmt.orelse else None
    return effect.attrs.get("place") if isinstance(effect, Effect) and effect.kind == "raise" else None
