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
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Node:
    """A value: what recording it costs, what it is computed from (None: it cannot be recomputed), whether the reverse
    sweep wants it, and what must be there if it does, recorded or computed."""

    key: Any
    weight: float
    sources: list[Any] | None
    goal: bool
    demands: list[Any] = field(default_factory=list)


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
        for other in node.demands:
            _edge(graph, (other, 1), (node.key, 1), float("inf"))
        if node.goal:
            _edge(graph, (node.key, 1), END, float("inf"))
    while levels := _levels(graph):
        _fill(graph, levels)
    near = _reaching_end(graph)
    return {node.key for node in nodes if (node.key, 1) in near and (node.key, 0) not in near}


def _edge(graph: Graph, a: Any, b: Any, capacity: float) -> None:
    graph.setdefault(a, {})[b] = capacity
    graph.setdefault(b, {}).setdefault(a, 0.0)


def _levels(graph: Graph) -> dict[Any, int]:
    """How many edges with capacity left lie between START and each node; {} if END is out of reach."""
    levels = {START: 0}
    queue = deque([START])
    while queue:
        a = queue.popleft()
        for b, capacity in graph[a].items():
            if capacity > 0 and b not in levels:
                levels[b] = levels[a] + 1
                queue.append(b)
    return levels if END in levels else {}


def _fill(graph: Graph, levels: dict[Any, int]) -> None:
    """Pushes flow along the shortest paths until each has a full edge (Dinic 1970): all that can be done
    with one look at the whole graph."""
    ahead = {a: [b for b in graph[a] if levels.get(b) == level + 1] for a, level in levels.items()}
    path: list[Any] = [START]
    while path:
        a = path[-1]
        while ahead[a] and graph[a][ahead[a][-1]] <= 0:
            ahead[a].pop()
        if a == END:
            path = _push(graph, path)
        elif ahead[a]:
            path.append(ahead[a][-1])
        else:                                           # no way from here
            path.pop()
            if path:
                ahead[path[-1]].pop()


def _push(graph: Graph, path: list[Any]) -> list[Any]:
    """Pushes as much as a path takes; gives the path up to its first edge that is full now."""
    edges = list(zip(path, path[1:]))
    flow = min(graph[a][b] for a, b in edges)
    for a, b in edges:
        graph[a][b] -= flow
        graph[b][a] += flow
    full = next(k for k, (a, b) in enumerate(edges) if graph[a][b] <= 0)
    return path[:full + 1]


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
