"""Handing several values over at once: one after the other where that is the same, else `a, b = b, a`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

Pair = tuple[str, ast.expr]


def assignments(pairs: Sequence[Pair]) -> list[ast.stmt]:
    """Statements after which every name holds what its expression was before.

    >>> [(s.targets[0].id, s.value.id) for s in assignments([("b", ast.Name("c")), ("a", ast.Name("b"))])]
    [('a', 'b'), ('b', 'c')]
    """
    order = in_order(pairs)
    if order is not None:
        return [ast.Assign([ast.Name(name)], tree) for name, tree in order]
    names: list[ast.expr] = [ast.Name(name) for name, _ in pairs]
    return [ast.Assign([ast.Tuple(names)], ast.Tuple([tree for _, tree in pairs]))]


def in_order(pairs: Sequence[Pair]) -> list[Pair] | None:
    """The pairs so that no name is bound before it has been read; None if there is no such order."""
    reads = {name: names_in(tree) for name, tree in pairs}
    waiting = dict(pairs)
    ordered = []
    while waiting:
        ready = next(
            (name for name in waiting if not any(name in reads[other] for other in waiting if other != name)), None
        )
        if ready is None:
            return None
        ordered.append((ready, waiting.pop(ready)))
    return ordered


def names_in(tree: ast.AST) -> set[str]:
    """The names that a tree mentions."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
