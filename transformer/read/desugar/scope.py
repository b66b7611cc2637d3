"""What the rewrites of one function share: names for flags, and where the function stands."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import gast

from ...core.errors import Origin
from .blocks import SILENT, Block


class Names:
    """Names that a function, with all functions within it, does not use.

    >>> names = Names(gast.parse("def f(stop): return lambda: stop2"))
    >>> names.fresh("stop"), names.fresh("stop"), names.fresh("skip")
    ('stop3', 'stop4', 'skip')
    """

    def __init__(self, tree: Any) -> None:
        self._tree = tree
        self._taken: set[str] | None = None

    def fresh(self, wanted: str) -> str:
        """The wanted name, with the first number behind it that makes it a new one."""
        if self._taken is None:  # most functions need no flag, so no search
            self._taken = _names_in(self._tree)
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}{number}"
        self._taken.add(name)
        return name


def _names_in(tree: Any) -> set[str]:
    """All strings that are names, and more: attributes, keywords and string constants too."""
    found: set[str] = set()
    pending = [tree]
    while pending:
        for value in vars(pending.pop()).values():
            if isinstance(value, gast.AST):
                pending.append(value)
            elif isinstance(value, str):
                found.add(value)
            elif type(value) is list:
                pending += [item for item in value if isinstance(item, gast.AST)]
                found.update(item for item in value if isinstance(item, str))
    return found


class Scope:
    """One function while it is rewritten."""

    def __init__(self, names: Names, file: str = "<unknown>", function: str = "") -> None:
        self.names = names
        # The flag that was set right before a break, for breaks which earlier rewrites made.
        self.flag_of_break: dict[Any, str] = {}
        self.flags_of_exits: set[str] = set()    # those of exits that leave all loops
        self._file = file
        self._function = function

    def origin(self, node: Any) -> Origin:
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        return Origin(self._file, node.lineno, node.col_offset, end, self._function)


Rewrite = Callable[[Block, Scope], Block]


def preview(rewrite: Rewrite, text: str) -> str:
    """What a rewrite makes of the body of a function, as text.

    A `for` loop that a flag stops is shown with that flag: `for x in xs:  # until stop`.
    """
    tree = gast.parse(text)
    body = rewrite(tree.body, Scope(Names(tree)))
    for node in gast.walk(gast.Module(body, [])):        # it is printed as what it is a kind of
        node.__class__ = next((kind for kind in (gast.If, gast.Name) if isinstance(node, kind)), type(node))
        if isinstance(node, gast.Name):
            node.id = node.id.removesuffix(SILENT)
    lines = gast.unparse(gast.Module(body, [])).strip("\n").split("\n")
    loops = [node for node in _in_order(body) if isinstance(node, gast.For)]
    for number, line in enumerate(lines):
        if re.match(r"\s*for ", line):
            stop = getattr(loops.pop(0), "stop", None)
            lines[number] = f"{line}  # until {stop}" if stop else line
    return "\n".join(lines)


def _in_order(nodes: Block) -> list[Any]:
    found = []
    for node in nodes:
        found += [node, *_in_order(list(gast.iter_child_nodes(node)))]
    return found
