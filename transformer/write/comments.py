"""The user's own comments, put where the statements went beside which they stood. Those in a function that stays one
are left out, as nothing of it is here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import gast

from .layout import Group, Item, Note


def is_marker(item: Item) -> bool:
    """Whether an item says that the reverse sweep begins."""
    return isinstance(item, Note) and item.text == "reverse"


class UserComments:
    """Hands out comments in the order of their lines, until the reverse sweep begins."""

    def __init__(self, source: Any, items: Iterable[Item] = ()) -> None:
        self.file = getattr(source, "file", None)
        tree = getattr(source, "tree", None)
        lines = {origin.line for origin in _origins(items) if origin.file == self.file}
        gone = {line for inner in _inner_functions(tree) if lines.isdisjoint(_lines(inner)) for line in _lines(inner)}
        comments = dict(getattr(source, "comments", None) or {})
        self.waiting = sorted((line, comment) for line, comment in comments.items() if line not in gone)
        self.first = getattr(tree, "lineno", 0)
        self.last = max([getattr(tree, "end_lineno", 0) or 0, *comments], default=0)

    def before(self, item: Item) -> list[str]:
        """Comments that stood above a statement."""
        if is_marker(item):
            self.waiting.clear()
        if isinstance(item, Note):
            return []
        line = self._line(item) if self.waiting else None
        found = []
        while (
            line is not None
            and self.waiting
            and (self.waiting[0][0] < line or self.waiting[0][0] == line and self.waiting[0][1].alone)
        ):
            found.append(self.waiting.pop(0)[1].text)
        return found

    def beside(self, item: Any, lines: list[str], width: int) -> list[str]:
        """The lines of a statement, with the comment that stood beside it."""
        line = self._line(item) if self.waiting else None
        if line is None or self.waiting[0][0] != line:
            return lines
        text = self.waiting.pop(0)[1].text
        if len(lines[0]) + len(text) + 2 > width or len(lines) > 1:
            return [text, *lines]
        return [f"{lines[0]}  {text}"]

    def _line(self, item: Any) -> int | None:
        origin = item.origin
        if origin is None or origin.file != self.file or not self.first <= origin.line <= self.last:
            return None
        return origin.line


def _origins(items: Iterable[Item]) -> Iterator[Any]:
    """Where the statements stood that are printed, those in others, too."""
    for item in items:
        if item.origin is not None:
            yield item.origin
        if isinstance(item, Group):
            yield from _origins([*item.body, *item.orelse])


def _inner_functions(tree: Any) -> Iterator[Any]:
    """The functions that are defined in one: of those that stay functions nothing is printed where they were."""
    if tree is not None:
        yield from (node for node in gast.walk(tree) if isinstance(node, gast.FunctionDef) and node is not tree)


def _lines(node: Any) -> range:
    return range(node.lineno, node.end_lineno + 1)
