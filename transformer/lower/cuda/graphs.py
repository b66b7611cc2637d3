"""Loops of the driver that launch the same kernels again and again, on arrays that take turns:

    for t in replayed(steps):
        fill_u_next[over_threads(n)](n, u, c, u_next)
        u, u_next = u_next, u

Many steps of such a loop are launched at once, as a graph (`run/gpu/graphs.py`): what is small is computed in less
time than a launch takes.
"""

from __future__ import annotations

from typing import Any

from ...core.grammar import Const, Let, Loop, Var
from ...core.walk import atom_vars
from ..nest.lifetimes import mentioned
from ..nest.nests import Launch, Load
from .telling import may_fail

AT_ONCE = 24                           # steps of a graph, in which arrays that take turns have come round
FIRST = 4                              # steps after which all kernels are compiled, if no more arrays take turns
LEAST = FIRST + 4 * AT_ONCE            # of which a graph is made, which takes longer than to launch its steps


def is_replayed(loop: Loop) -> bool:
    """Whether every so many steps of a loop launch the same, and the driver computes nothing that changes."""
    if loop.trips is None or loop.cond is not None or loop.count is not None or not loop.body:
        return False
    if loop.test or loop.reads or loop.records or isinstance(loop.trips, Const) and loop.trips.value < LEAST:
        return False
    turns, changing = _turns(loop), _changing(loop)
    body: list[Any] = loop.body
    return all(_is_steady(stmt, turns, changing) for stmt in body) and _come_round(turns)


def _turns(loop: Loop) -> dict[Any, Any]:
    """The arrays that take turns."""
    entries = {carry.entry for carry in loop.carries}
    return {carry.entry: carry.next for carry in loop.carries if carry.next in entries}


def _changing(loop: Loop) -> set[Any]:
    """What has another value at every step: the position, and what is computed of it, or of its own value before."""
    made = {target: stmt for stmt in loop.body if isinstance(stmt, Let) for target in stmt.targets}
    changing: set[Any] = {loop.position, *(carry.entry for carry in loop.carries), *made}
    while found := {var for var in changing if _settles(var, loop, made, changing)}:
        changing -= found
    return changing


def _settles(var: Any, loop: Loop, made: dict[Var, Let], changing: set[Any]) -> bool:
    """Whether a number is the same from the second step on, as what it is made of is."""
    if var in made:
        return changing.isdisjoint(atom_vars(made[var].args))
    return any(carry.entry is var and not isinstance(carry.next, Var) for carry in loop.carries)


def _is_steady(stmt: Any, turns: dict[Any, Any], changing: set[Any]) -> bool:
    """Whether a statement launches a kernel with the same numbers, or computes the same, at each step."""
    if isinstance(stmt, Launch):
        return not may_fail(stmt.body) and not mentioned(stmt) & changing - turns.keys()
    return isinstance(stmt, Let) and stmt.op is not Load and changing.isdisjoint(stmt.targets)


def _come_round(turns: dict[Any, Any]) -> bool:
    """Whether what takes turns is where it was after a graph."""
    if set(turns) != set(turns.values()):
        return False
    where = {entry: entry for entry in turns}
    for _ in range(AT_ONCE):
        where = {entry: turns[now] for entry, now in where.items()}
    return all(entry is now for entry, now in where.items())
