"""The user's own comments, put where the statements went beside which they stood."""

from __future__ import annotations

from typing import Any

from .layout import Item, Note


def is_marker(item: Item) -> bool:
    """Whether an item says that the reverse sweep begins."""
    return isinstance(item, Note) and item.text == "reverse"


class UserComments:
    """Hands out comments in the order of their lines, until the reverse sweep begins."""

    def __init__(self, source: Any) -> None:
        comments = dict(getattr(source, "comments", None) or {})
        self.file = getattr(source, "file", None)
        self.waiting = sorted(comments.items())
        tree = getattr(source, "tree", None)
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
