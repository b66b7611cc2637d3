"""Requests: what a reading cannot go on without. They are raised where it shows, and the function is read again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .findings import Findings


class Request(Exception):
    """The next reading has to know something from the start, about what has this key."""

    def __init__(self, key: Any) -> None:
        super().__init__(key)
        self.key = key

    def note(self, findings: Findings) -> None:
        """Adds it to what the next reading knows."""
        raise NotImplementedError
