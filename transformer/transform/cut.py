"""The minimum cut that decides what a loop records (rule 7 of docs/reverse.md).

Nodes are values of a loop body. A value can be recorded, at the cost of its weight, or computed again
from its sources; one without sources can only be recorded. Every goal must end up available at the
least total cost, and among equal cuts the one nearest to the goals is taken: nothing is computed
again that could have been recorded for the same price.

>>> entry, square, wide = (Node(n, w, s, g) for n, w, s, g in [
...     ("entry", 1, None, False), ("square", 1, ["entry"], False), ("wide", 9, ["square"], True)])
>>> minimum_cut([entry, square, wide])
{'square'}
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Node:
    """A value, what recording it costs, what it is computed from (None: cannot be), and whether
    the reverse sweep wants it."""

    key: Any
    weight: float
    sources: list[Any] | None
    goal: bool


START, END = "start", "end"
Graph = dict[Any, dict[Any, float]]


def minimum_cut(nodes: list[Node]) -> set[Any]:
    """The keys of the values to record."""
    graph: Graph = {START: {}, END: {}}
    for node in nodes:
        _edge(graph, (node.key, 0), (node.key, 1), node.weight)
        if node.sources is None:
            _edge(graph, START, (node.key, 0), float("inf"))
        for source in node.sources or ():
            _edge(graph, (source, 1), (node.key, 0), float("inf"))
        if node.goal:
            _edge(graph, (node.key, 1), END, float("inf"))
    while path := _path(graph):
        _push(graph, path)
    near = _reaching_end(graph)
    return {node.key for node in nodes if (node.key, 1) in near and (node.key, 0) not in near}


def _edge(graph: Graph, a: Any, b: Any, capacity: float) -> None:
    graph.setdefault(a, {})[b] = capacity
    graph.setdefault(b, {}).setdefault(a, 0.0)


def _path(graph: Graph) -> list[tuple[Any, Any]]:
    """A shortest path from START to END along edges with capacity left, as edges; [] if none."""
    before: dict[Any, Any] = {START: None}
    queue = deque([START])
    while queue:
        a = queue.popleft()
        for b, capacity in graph[a].items():
            if capacity > 0 and b not in before:
                before[b] = a
                queue.append(b)
    if END not in before:
        return []
    path, b = [], END
    while before[b] is not None:
        path.append((before[b], b))
        b = before[b]
    return path


def _push(graph: Graph, path: list[tuple[Any, Any]]) -> None:
    flow = min(graph[a][b] for a, b in path)
    for a, b in path:
        graph[a][b] -= flow
        graph[b][a] += flow


def _reaching_end(graph: Graph) -> set[Any]:
    """Nodes from which END can still be reached: the side of the cut nearest to the goals."""
    near, queue = {END}, deque([END])
    while queue:
        b = queue.popleft()
        for a in graph[b]:
            if a not in near and graph[a][b] > 0:
                near.add(a)
                queue.append(a)
    return near
