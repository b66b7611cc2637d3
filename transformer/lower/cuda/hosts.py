"""Functions for kernels, and those for the driver, which cannot call what is compiled for a device.

    def larger(a, b): …                     @cuda.jit(device=True)
                                     →      def larger(a, b): …            which kernels call

                                            def larger_on_host(a, b): …    which the driver calls
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable

from ...write.layout import Item
from ...write.names import fresh
from ..printing.sharing import nodes

DECORATOR = ast.parse("cuda.jit(device=True)", mode="eval").body
Trees = dict[str, ast.FunctionDef]


def divided(trees: Trees, kernels: Iterable[Item], driver: Item) -> Trees:
    """The functions that kernels or the driver call, decorated for a device or not; renames them in the driver where
    there are both."""
    within, above = _reached(trees, kernels), _reached(trees, [driver])
    other: dict[str, str] = {}
    for name in above:
        if name in within:
            other[name] = fresh(f"{name}_on_host", {*trees, *other.values()})
    plain = {other.get(name, name): copy.deepcopy(trees[name]) for name in above}
    for name, tree in plain.items():
        tree.name = name
        _rename(ast.walk(tree), other)
    _rename(nodes(driver), other)
    for name in within:
        trees[name].decorator_list = [DECORATOR]
    return {**{name: trees[name] for name in within}, **plain}


def _reached(trees: Trees, items: Iterable[Item]) -> list[str]:
    """The functions that statements call, directly or by others, in the order in which they are defined."""
    found: set[str] = set()
    waiting = [node.id for item in items for node in nodes(item) if isinstance(node, ast.Name)]
    while waiting:
        name = waiting.pop()
        if name in trees and name not in found:
            found.add(name)
            waiting += [node.id for node in ast.walk(trees[name]) if isinstance(node, ast.Name)]
    return [name for name in trees if name in found]


def _rename(found: Iterable[ast.AST], other: dict[str, str]) -> None:
    for node in found:
        if isinstance(node, ast.Name):
            node.id = other.get(node.id, node.id)
