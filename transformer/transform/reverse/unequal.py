"""Places of a list that a branch says are different: none of them is read or written twice.

    if p != k:
        a[[k, p]] = a[[p, k]]           # the cotangent of either row is read where it was written, whoever came last
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from ...core.grammar import Block, Let, type_of
from ...core.guards import Assumptions
from ...core.walk import all_statements
from ...ops.integers import is_exact
from ...ops.regions import is_mask, rank_of, slots_of
from ..scopes import Scopes
from .touching import Touching, has_index


def mark_distinct(block: Block, assumptions: Assumptions) -> None:
    """Marks the statements that read and write at such places."""
    open_ones = [stmt for stmt in all_statements(block) if isinstance(stmt, Let) and has_index(stmt)
                 and not stmt.attrs.get("distinct") and len(_arrays(stmt)) == 1]
    if open_ones:
        scopes = Scopes.of(block)
        touching = Touching(scopes, assumptions)
        for stmt in open_ones:
            listed = scopes.let(_arrays(stmt)[0])
            if listed is not None and listed.op.name == "array" and all(map(is_exact, listed.args)) and all(
                    touching.are_unequal(*pair, scopes.scope_of[stmt]) for pair in combinations(listed.args, 2)):
                stmt.attrs = {**stmt.attrs, "distinct": True}


def _arrays(stmt: Let) -> list[Any]:
    slots = slots_of(stmt)
    return [slot for slot in slots if rank_of(type_of(slot)) and not is_mask(type_of(slot))]
