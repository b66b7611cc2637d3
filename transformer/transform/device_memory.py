"""Which arrays of a driver devices have together.

    total = psum(x, "i")                one array for all
    y = f_phase1(w)                     of what all share: computed once, one array for all
    z = ppermute(x, "i", pairs)         an array of another device
    out = f_phase2(x, out)              an array on each device

What devices have together is written to by none of them. So what is the same on all of them, but is handed to a loop
or a branch that makes something else of it on each, is computed on each:

    out = f_phase1()                    np.zeros(n)
    for t in range(n):
        out = f_phase2(x, t, out)       out[t] = x[t]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.grammar import Block, Call, Function, Let, Var
from ..core.walk import all_statements
from .activity import flows
from .batching.differing import differing_vars


def held_together(function: Function, differing: Iterable[Var], axis_name: Any) -> frozenset[Var]:
    """The results of phases and exchanges in a driver whose memory devices have together; `differing` are the
    parameters of which each device has its own. The operands of exchanges that hand on memory are not among them."""
    own = _of_each(function.body, differing_vars(function.body, differing, axis_name))
    found: set[Var] = set()
    for stmt in all_statements(function.body):
        if isinstance(stmt, Call) and stmt.function.role == "phase":
            found.update(target for target in stmt.targets if target not in own)
        elif isinstance(stmt, Let) and stmt.op.over_lanes is not None:
            found.update(stmt.targets)
    return frozenset(found)


def _of_each(body: Block, differing: set[Var]) -> set[Var]:
    """What differs, and what it begins with or may be."""
    edges = [edge for stmt in all_statements(body) for edge in flows(stmt)]
    found, before = set(differing), -1
    while len(found) != before:
        before = len(found)
        found.update(source for target, source in edges if target in found and isinstance(source, Var))
    return found
