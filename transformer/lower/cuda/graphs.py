"""Loops of the driver that launch the same kernels again and again, on arrays that take turns:

    for t in replayed(steps):
        fill_u_next[over_threads(n)](n, u, c, u_next)
        u, u_next = u_next, u

Many steps of such a loop are launched at once, as a graph (`run/gpu_graphs.py`): what is small is computed in less
time than a launch takes.
"""

from __future__ import annotations

from typing import Any

from ...core.grammar import Const, Loop
from ..lifetimes import mentioned
from ..nests import Launch
from .telling import may_fail

AT_ONCE = 24                           # steps of a graph, in which arrays that take turns have come round
FIRST = 2                              # steps after which all kernels are compiled
LEAST = FIRST + 4 * AT_ONCE            # of which a graph is made, which takes longer than to launch its steps


def is_replayed(loop: Loop) -> bool:
    """Whether every so many steps of a loop launch the same."""
    if loop.trips is None or loop.cond is not None or loop.count is not None or not loop.body:
        return False
    if loop.test or loop.reads or loop.records or isinstance(loop.trips, Const) and loop.trips.value < LEAST:
        return False
    body: list[Any] = loop.body
    if not all(isinstance(stmt, Launch) and not may_fail(stmt.body) for stmt in body):
        return False
    return loop.position not in {var for stmt in body for var in mentioned(stmt)} and _come_round(loop)


def _come_round(loop: Loop) -> bool:
    """Whether what is handed from step to step takes turns, and is where it was after a graph."""
    after: dict[Any, Any] = {carry.entry: carry.next for carry in loop.carries}
    if set(after) != set(after.values()):
        return False
    where = {entry: entry for entry in after}
    for _ in range(AT_ONCE):
        where = {entry: after[now] for entry, now in where.items()}
    return all(entry is now for entry, now in where.items())
