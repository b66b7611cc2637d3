"""Statements in an order in which each comes after those whose values it uses."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from ...core.grammar import Block, Stmt, Var
from ...core.walk import atom_vars, free_vars, targets_of


def in_order(block: Block, times: dict[Stmt, int]) -> Block:
    """The statements of a block, each after those it needs, and by their `times` where that leaves a choice."""
    maker: dict[Var, int] = {target: k for k, stmt in enumerate(block) for target in targets_of(stmt)}
    needs = [{maker[var] for var in _used(stmt) if var in maker} - {k} for k, stmt in enumerate(block)]
    users: list[list[int]] = [[] for _ in block]
    for k, needed in enumerate(needs):
        for other in needed:
            users[other].append(k)
    ready = [(times.get(stmt, k), k) for k, stmt in enumerate(block) if not needs[k]]
    heapify(ready)
    found = []
    while ready:
        _, k = heappop(ready)
        found.append(block[k])
        for user in users[k]:
            needs[user].discard(k)
            if not needs[user]:
                heappush(ready, (times.get(block[user], user), user))
    assert len(found) == len(block), "statements need one another"
    return found


def _used(stmt: Stmt) -> list[Var]:
    return [*free_vars([stmt]), *(var for target in targets_of(stmt) for var in atom_vars(target.type))]
