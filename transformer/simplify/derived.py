"""Which values are derivatives, or are computed with some: in a reverse sweep stand values of the program, too, which
are computed again, and are written as they were."""

from __future__ import annotations

from typing import Any

from ..core.grammar import Function, Var
from ..core.walk import all_definitions, all_statements
from .deciding import edges, reached


def derived(function: Function) -> set[Var]:
    """The variables of a function that rest on a tangent or cotangent."""
    found = {var for var in (*function.params, *all_definitions(function.body)) if var.primal is not None}
    return reached(found, _made_with(function)) if found else found


def _made_with(function: Function) -> dict[Any, list[Var]]:
    """What is made of each variable."""
    found: dict[Any, list[Var]] = {}
    for stmt in all_statements(function.body):
        for targets, sources in edges(stmt):
            for source in sources:
                if isinstance(source, Var):
                    found.setdefault(source, []).extend(targets)
    return found
