"""Forks: what follows an `if` whose branches leave different kinds of things in a name is read in each of them.

>>> print(preview(partial(rewrite, forks={(1, 0, "kind")}), '''
... if x < 1:
...     kind = "near"
... else:
...     kind = "far"
... y = x * x
... if kind == "near":
...     y = y + 1
... z = y / 2
... '''.lstrip()))
if x < 1:
    kind = 'near'
    y = x * x
    if kind == 'near':
        y = y + 1
else:
    kind = 'far'
    y = x * x
    if kind == 'near':
        y = y + 1
z = y / 2

It goes to the last statement that mentions the name, or to the end where one of them leaves, out of all the `if`s
around. A conditional expression that is assigned or returned is such an `if`, too.

>>> print(preview(partial(rewrite, forks={(1, 7, "kind")}), '''
... kind = "near" if x < 1 else "far"
... y = scales[kind] * x
... '''.lstrip()))
if x < 1:
    kind = 'near'
    y = scales[kind] * x
else:
    kind = 'far'
    y = scales[kind] * x

Which `if`s are forks is found when they are read (`conditions.py`), which tells their places and the names.
"""

from __future__ import annotations

import copy
from collections.abc import Collection
from functools import partial
from typing import Any

import gast

from .blocks import Block, at, changed, leaves, map_blocks
from .scope import Scope, preview

__all__ = ["partial", "preview", "rewrite"]

Fork = tuple[int, int, str]         # line, column, name
EVERYWHERE = "*"                    # in place of the name of what any statement may use: an item, an attribute
MOST_MOVED = 600                    # statements of one function that are written twice


def rewrite(block: Block, scope: Scope, forks: Collection[Fork]) -> Block:
    """`forks` are the lines and columns of `if`s, and the names that differ behind them."""
    return _Forking(forks).rewritten(block)


class _Forking:
    def __init__(self, forks: Collection[Fork]) -> None:
        self.names: dict[tuple[int, int], set[str]] = {}
        for line, column, name in forks:
            self.names.setdefault((line, column), set()).add(name)
        self.left = MOST_MOVED

    def rewritten(self, block: Block) -> Block:
        done: Block = []
        rest = block
        while rest:
            statement, rest = self._with_branches(rest[0]), rest[1:]
            followed = self._followed(statement, rest) if type(statement) is gast.If else 0
            if followed:
                statement, rest = self._joined(statement, rest[:followed]), rest[followed:]
            done.append(map_blocks(statement, self.rewritten))
        return done

    def _with_branches(self, statement: Any) -> Any:
        """The statement, or what it is as an `if`."""
        value = getattr(statement, "value", None)
        if not isinstance(value, gast.IfExp) or not isinstance(statement, gast.Assign | gast.Return):
            return statement
        if (value.lineno, value.col_offset) not in self.names:
            return statement
        sides = [[changed(statement, value=side)] for side in (value.body, value.orelse)]
        return at(value, gast.If(value.test, *sides))

    def _followed(self, statement: Any, rest: Block) -> int:
        """How many of the statements behind an `if` have to be read in its branches."""
        names, count = self._names_in([statement]), 0
        for k, each in enumerate(rest):
            if _mentions(each, names):
                names = names.union(self._names_in(rest[count:k + 1]))       # of forks that move as well
                count = k + 1
        if any(leaves(rest[:count], kind) for kind in (gast.Return, gast.Break, gast.Continue)):
            count = len(rest)                    # which then needs no test whether it has been left
        self.left -= sum(isinstance(node, gast.stmt) for each in rest[:count] for node in gast.walk(each))
        return count if self.left > 0 else 0

    def _names_in(self, block: Block) -> set[str]:
        """The names that differ behind the `if`s of a block, or behind those in their branches."""
        names: set[str] = set()
        for statement in map(self._with_branches, block):
            if type(statement) is gast.If:
                names |= self.names.get((statement.lineno, statement.col_offset), set())
                names |= self._names_in(statement.body) | self._names_in(statement.orelse)
        return names

    def _joined(self, statement: Any, rest: Block) -> Any:
        return changed(statement, body=[*statement.body, *rest], orelse=[*statement.orelse, *copy.deepcopy(rest)])


def _mentions(statement: Any, names: set[str]) -> bool:
    return EVERYWHERE in names or any(isinstance(node, gast.Name) and node.id in names for node in gast.walk(statement))
