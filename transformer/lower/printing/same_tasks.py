"""Functions of loops that are the same but for the names in them: one of them is enough, and is given other arrays.

    def fill_x2(first, count, n, x2, dot, b):          def fill_x3(first, count, m, x3, dot2, b2):
        for i in places(first, count):                     for i in places(first, count):
            for j in range(n):                                 for j in range(m):
                x2[i, j] = dot[i, j] + b[j]                        x3[i, j] = dot2[i, j] + b2[j]

The layers of a network have such functions, and a compiler takes for each as long as for the first.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Hashable, Iterable, Iterator
from typing import Any

from ...core.grammar import Var
from ...write.layout import Group, Item, Line
from .sharing import assigned
from .short_rows import numbers_of


def form_of(task: Group, arrays: Iterable[Var | None]) -> Hashable:
    """What is equal for functions that do the same with their parameters; `arrays` are those among these."""
    params = [arg.arg for arg in task.head.args.args]
    form = _Form(params, set(assigned(task)))
    return form.of_items(task.body), len(params), tuple(map(numbers_of_array, arrays))


def form_with_numbers(items: list[Item], own: Container[str]) -> tuple[Hashable, list[str]]:
    """What is equal for items that differ in their `own` names alone, and these, in the order of their numbers."""
    form = _Form([], own)
    return form.of_items(items), list(form.numbers)


def numbers_of_array(array: Var | None) -> Hashable:
    """What of an array is part of what a function does: its dtype, and sizes that are numbers."""
    return array and (array.type.dtype, numbers_of(array.type))          # type: ignore[union-attr]


class _Form:
    """Trees as tuples, with numbers in place of the names of parameters and of what a function assigns."""

    def __init__(self, params: list[str], own: Container[str]) -> None:
        self.numbers = {name: number for number, name in enumerate(params)}
        self.own = own

    def of_items(self, items: list[Item]) -> Hashable:
        return tuple((depth, self.of(node)) for depth, node in _nested(items, 0))

    def of(self, node: Any) -> Hashable:
        if isinstance(node, ast.Name):
            return self.numbers.setdefault(node.id, len(self.numbers)) if node.id in self.own else self.numbers.get(
                node.id, node.id)
        if isinstance(node, ast.AST):
            return type(node), *(self.of(getattr(node, name, None)) for name in node._fields if name != "ctx")
        return tuple(map(self.of, node)) if isinstance(node, list) else repr(node)


def _nested(items: list[Item], depth: int) -> Iterator[tuple[int, ast.AST]]:
    """The statements of items, each with how deep it is in others; comments are none."""
    for item in items:
        if isinstance(item, Line):
            yield depth, item.node
        elif isinstance(item, Group):
            yield depth, item.head
            yield from _nested(item.body, depth + 1)
            yield from _nested([*([Line(ast.Pass())] if item.orelse else []), *item.orelse], depth + 1)
