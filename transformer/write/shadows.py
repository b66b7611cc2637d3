"""Parameters that hide what the source says: in `def clipped(x, min, max)`, `max` is no function.

A parameter keeps its name, as callers may pass it by that. What it hides gets another one above the function, if the
function needs it:

    max2 = max


    def clipped_grad(x, min, max):

While a function is printed such parameters have names apart, so that the two can be told from each other.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from .header import mentioned
from .layout import Group, Item, Line, Note
from .names import BUILTINS, OF_THREADS, PRINTED, fresh

HIDDEN = BUILTINS | PRINTED - OF_THREADS         # of those there is nothing but in loops that threads share


class Shadows:
    """What the parameters of an interface hide. `interface` is the same with names apart."""

    def __init__(self, interface: Any) -> None:
        named = [] if interface is None else [*interface.parameters, *interface.hidden]
        self.apart = {each.name: f"{each.name}_given_" for each in named if each.name in HIDDEN}
        self.interface = interface
        if self.apart:
            self.interface = replace(interface, parameters=[self._renamed(each) for each in interface.parameters],
                                     hidden=[self._renamed(each) for each in interface.hidden])

    def _renamed(self, each: Any) -> Any:
        return replace(each, name=self.apart[each.name]) if each.name in self.apart else each

    def lifted(self, items: list[Item], others: Iterable[str]) -> dict[str, str]:
        """Gives parameters their names again, and what they hide names that neither the items nor `others` have,
        which are told with what they stand for."""
        if not self.apart:
            return {}
        names = {node.id for node in mentioned(_nodes(items)) if isinstance(node, ast.Name)}
        used = {*names, *others, *self.apart, *BUILTINS, *PRINTED}
        aliases = {name: fresh(name, used) for name in self.apart if name in names}
        _rename(items, aliases, str)
        own = {apart: name for name, apart in self.apart.items()}
        _rename(items, own, lambda text: _replaced(text, own))
        return {alias: name for name, alias in aliases.items()}


def assignments(aliases: dict[str, str]) -> list[ast.stmt]:
    """`max2 = max`."""
    return [ast.Assign([ast.Name(alias)], ast.Name(name)) for alias, name in aliases.items()]


def _replaced(text: str, names: dict[str, str]) -> str:
    for old, new in names.items():
        text = text.replace(old, new)
    return text


def _nodes(items: Iterable[Item]) -> list[ast.AST]:
    nodes: list[ast.AST] = []
    for item in items:
        if isinstance(item, Line):
            nodes.append(item.node)
        elif isinstance(item, Group):
            nodes += [item.head, *_nodes(item.body), *_nodes(item.orelse)]
    return nodes


def _rename(items: Iterable[Item], names: dict[str, str], text: Callable[[str], str]) -> None:
    """Renames variables, and what texts and comments say of them. Trees may have parts in common."""
    renamer = _Renamer(names, text)
    for item in items:
        if isinstance(item, Note):
            item.text = text(item.text)
        elif isinstance(item, Line):
            item.node = renamer.visit(item.node)
        else:
            item.head = renamer.visit(item.head)
            _rename([*item.body, *item.orelse], names, text)


class _Renamer(ast.NodeTransformer):
    def __init__(self, names: dict[str, str], text: Callable[[str], str]) -> None:
        self.names, self.text = names, text

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names[node.id]) if node.id in self.names else node

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant(self.text(node.value)) if isinstance(node.value, str) else node
