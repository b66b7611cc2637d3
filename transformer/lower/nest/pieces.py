"""Places that follow one rule up to a place and another from there: ``max(i - 1, 0)``, ``(i + 1) % n``, ``abs(i - 2)``.

    t = maximum(i - 1, 0)       i - 1 where i - 1 >= 0, else 0
    t = remainder(i + 1, n)     i + 1 where 0 <= i + 1 < n; i + 1 - n, or i + 1 + n, in the periods beside it
"""

from __future__ import annotations

from typing import Any

from ...core.builder import current
from ...core.grammar import Const, Let, Var
from ...core.sizes import Extent, Size, Unknown, leaves, replaced
from ...core.walk import size_of_atom
from ...ops.integers import combined, is_exact

LESS, LESS_EQUAL, GREATER, GREATER_EQUAL = "less", "less_equal", "greater", "greater_equal"
BEYOND = 2 ** 48                       # no place, but an end of what integers hold, from which a sum may not be made
Comparison = tuple[str, Extent, Extent]


class Places:
    """Places in terms of those that nests count, as far as statements have been seen."""

    def __init__(self) -> None:
        self.known: dict[Var, Extent] = {}

    def of(self, atom: Any) -> Extent:
        size = int(atom.value) if isinstance(atom, Const) else size_of_atom(atom)
        return replaced(size, lambda leaf: self.known.get(leaf.var) if isinstance(leaf, Unknown) else None)

    def sides(self, stmt: Any) -> list[Extent] | None:
        """The operands of a statement, if it makes a place of places, of which one moves."""
        if not isinstance(stmt, Let) or len(stmt.targets) != 1:
            return None
        numbers = [atom for atom in (stmt.target, *stmt.args) if not isinstance(atom, Size)]
        if not stmt.args or not all(map(is_exact, numbers)):
            return None
        sides = list(map(self.of, stmt.args))
        moves = any(isinstance(leaf, Unknown) for side in sides for leaf in leaves(side))
        return sides if moves and all(abs(_constant(side)) < BEYOND for side in sides) else None

    def note(self, stmt: Let, place: Extent | None) -> None:
        if place is not None:
            self.known[stmt.target] = place


def _constant(size: Extent) -> int:
    return size if isinstance(size, int) else size.constant


def comparisons(stmt: Let, sides: list[Extent]) -> list[Comparison]:
    """Those on which the rule rests. Of what is left by a number, as where rows take turns, all periods count alike."""
    match stmt.op.name, sides:
        case "maximum", [a, b]:
            return [(GREATER_EQUAL, a, b)]
        case "minimum", [a, b]:
            return [(LESS_EQUAL, a, b)]
        case "absolute", [a]:
            return [(GREATER_EQUAL, a, 0)]
        case "remainder", [a, Size() as b]:
            return [(GREATER_EQUAL, a, 0), (LESS, a, b)]
    return []


def usual(stmt: Let, sides: list[Extent], moving: Any) -> Extent | None:
    """The place where all comparisons hold, or that of the side which moves."""
    if stmt.op.name in ("maximum", "minimum"):
        return next((side for side in sides if moving(side)), None)
    return sides[0] if stmt.op.name in ("absolute", "remainder") else combined(stmt, sides)


def chosen(stmt: Let, sides: list[Extent]) -> Extent | None:
    """The place, where it is certain which rule it follows."""
    match stmt.op.name, sides:
        case ("maximum" | "minimum"), [a, b]:
            outcome = holds(*comparisons(stmt, sides)[0])
            return None if outcome is None else a if outcome else b
        case "absolute", [a]:
            outcome = holds(GREATER_EQUAL, a, 0)
            return None if outcome is None else a if outcome else -a
        case "remainder", [a, b]:
            return next((a - k * b for k in (0, 1, -1) if holds(GREATER_EQUAL, a, k * b) and
                         holds(LESS, a, k * b + b)), None)
    return combined(stmt, sides)


def holds(name: str, low: Extent, high: Extent) -> bool | None:
    """The outcome of a comparison of places, where it is certain."""
    certain = current().assumptions.certainly_at_least
    if name in (GREATER, GREATER_EQUAL):
        low, high = high, low
    strict = name in (LESS, GREATER)
    if certain(high - 1 if strict else high, low):
        return True
    if certain(low, high if strict else high + 1):
        return False
    return None
