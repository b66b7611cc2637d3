"""The text of one statement, by astor, whose spacing is ours.

astor makes a generator of source for every statement that it prints, which takes as long as printing a
short one. Here each thread has one that is used again and again.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable
from typing import Any

from astor.code_gen import SourceGenerator

from .layout import INDENT


def text_of(node: ast.AST) -> str:
    """A statement as astor prints it."""
    return _of_this_thread.generator.printed(node)


class _Generator(SourceGenerator):
    """A generator of source that may be used again."""

    def __init__(self) -> None:
        self.visitors: dict[type, Callable[[Any], None]] = {}
        super().__init__(INDENT, pretty_string=_string)

    def visit(self, node: Any) -> None:
        visitor = self.visitors.get(type(node))
        if visitor is None:
            visitor = self.visitors[type(node)] = getattr(self, f"visit_{type(node).__name__}")
        visitor(node)

    def printed(self, node: ast.AST) -> str:
        self.result.clear()
        self.indentation, self.new_lines, self.colinfo = 0, 0, (0, 0)
        self.visit(node)
        return "".join(self.result).strip("\n")


def _string(text: str, *_: Any, **__: Any) -> str:
    """Strings in double quotes, unless that needs more backslashes."""
    shown = repr(text)
    if shown[0] == "'" and '"' not in text:
        return f'"{shown[1:-1]}"'
    return shown


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.generator = _Generator()


_of_this_thread = _OfThread()
