"""Loops of the driver that launch the same kernels again and again, on arrays that take turns:

    for t in replayed(steps):
        fill_u_next[over_threads(n)](n, u, c, u_next)
        u, u_next = u_next, u

Many steps of such a loop are launched at once, as a graph (`run/gpu_graphs.py`): what is small is computed in less
time than a launch takes.
"""

from __future__ import annotations

from typing import Any

from ...core.grammar import Const, Let, Loop, Var
from ...core.walk import atom_vars
from ..lifetimes import mentioned
from ..nests import Launch, Load
from .telling import may_fail

AT_ONCE = 24                           # steps of a graph, in which arrays that take turns have come round
FIRST = 2                              # steps after which all kernels are compiled
LEAST = FIRST + 4 * AT_ONCE            # of which a graph is made, which takes longer than to launch its steps


def is_replayed(loop: Loop) -> bool:
    """Whether every so many steps of a loop launch the same, and the driver computes nothing that changes."""
    if loop.trips is None or loop.cond is not None or loop.count is not None or not loop.body:
        return False
    if loop.test or loop.reads or loop.records or isinstance(loop.trips, Const) and loop.trips.value < LEAST:
        return False
    body: list[Any] = loop.body
    turns = _turns(loop)
    return all(_is_steady(stmt, loop.position, turns) for stmt in body) and _come_round(turns)


def _turns(loop: Loop) -> dict[Any, Any]:
    """What is handed from step to step, and is not the same from the second step on."""
    entries = {carry.entry for carry in loop.carries}
    return {carry.entry: carry.next for carry in loop.carries if carry.next in entries}


def _is_steady(stmt: Any, position: Var, turns: dict[Any, Any]) -> bool:
    """Whether a statement launches a kernel, without regard to the position, or computes the same at each step."""
    if isinstance(stmt, Launch):
        return position not in mentioned(stmt) and not may_fail(stmt.body)
    return isinstance(stmt, Let) and stmt.op is not Load and {position, *turns}.isdisjoint(atom_vars(stmt.args))


def _come_round(turns: dict[Any, Any]) -> bool:
    """Whether what takes turns is where it was after a graph."""
    if set(turns) != set(turns.values()):
        return False
    where = {entry: entry for entry in turns}
    for _ in range(AT_ONCE):
        where = {entry: turns[now] for entry, now in where.items()}
    return all(entry is now for entry, now in where.items())
