"""Which values are derivatives, or are computed with some: in a reverse sweep stand values of the program, too, which
are computed again, and are written as they were."""

from __future__ import annotations

from ..core.grammar import Block, Function, Var
from ..core.walk import all_definitions, all_statements
from .deciding import edges, settled


def derived(function: Function) -> set[Var]:
    """The variables of a function that rest on a tangent or cotangent."""
    found = {var for var in (*function.params, *all_definitions(function.body)) if var.primal is not None}
    return settled(found, lambda: _spread(function.body, found)) if found else found


def _spread(block: Block, found: set[Var]) -> None:
    for stmt in all_statements(block):
        for targets, sources in edges(stmt):
            if any(source in found for source in sources):
                found.update(targets)
