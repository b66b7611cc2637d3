"""Nests of a kernel that occur several times but for the names in them, as calls of one function.

    for i in range(n):                              def fill_y(n, m, x, total, y):
        for j in range(m):                              for i in range(n):
            y[i, j] = x[i, j] / total[i]                    for j in range(m):
    for i in range(n2):                      →                  y[i, j] = x[i, j] / total[i]
        for j in range(m2):
            y2[i, j] = x2[i, j] / total2[i]         fill_y(n, m, x, total, y)
                                                    fill_y(n2, m2, x2, total2, y2)

They come from the layers of a network. A compiler takes as long for each as for the first one, and so does a reader.
What is small stays where it is; `own_functions` says what may be a function.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

from ...write.layout import Group, Item
from .own_functions import Facts, Names
from .sharing import nodes

LEAST = 60                             # nodes of a tree: some four lines with elements of arrays


def outlined(e: Any, params: list[str], items: list[Item], known: dict[int, Facts]) -> list[Item]:
    """The items of a kernel, which has these parameters, with calls in place of such nests."""
    nests = [k for k, item in enumerate(items) if isinstance(item, Group) and isinstance(item.head, ast.For)]
    if len(nests) < 2:
        return items
    found = Names(e, params, items, known)
    forms = {k: found.form([items[k]]) for k in nests
             if found.facts[k].weight >= LEAST and found.may_be_apart([items[k]], found.later[k])}
    times = Counter(forms.values())
    return [found.call([item], f"fill_{_filled(item)}") if k in forms and times[forms[k]] > 1 else item
            for k, item in enumerate(items)]


def _filled(item: Item) -> str:
    """The name of the first array that a nest writes."""
    targets = (target for node in nodes(item) for target in _targets(node) if isinstance(target, ast.Subscript))
    return next((target.value.id for target in targets if isinstance(target.value, ast.Name)), "array")


def _targets(node: ast.AST) -> list[ast.expr]:
    """What a statement writes to; a call of BLAS writes to what it is given last."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return node.value.args[-1:]
    return node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
