"""Lines of the exact text of Core as tokens."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TypeVar

TOKEN = re.compile(r"""
    (?P<space>\s+)
  | (?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?)
  | (?P<name>[^\W\d]\w*)
  | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
  | (?P<sign>\.\.\.|//|==|>=|[-+*/<>=:,?()\[\]{}])
""", re.VERBOSE)

T = TypeVar("T")


class Line:
    """The tokens of one line, and a cursor."""

    def __init__(self, number: int, line: str) -> None:
        self.number = number
        self.depth = (len(line) - len(line.lstrip())) // 4
        self.tokens = self._split(line)
        self.at = 0

    def _split(self, line: str) -> list[tuple[str, str]]:
        tokens, at = [], 0
        while at < len(line):
            match = TOKEN.match(line, at)
            if match is None:
                raise ValueError(f"line {self.number}: what is {line[at:]!r}?")
            at = match.end()
            if match.lastgroup != "space":
                tokens.append((str(match.lastgroup), match.group()))
        return [*tokens, ("end", "")]

    def error(self, expected: str) -> ValueError:
        rest = " ".join(token for _, token in self.tokens[self.at:])
        return ValueError(f"line {self.number}: expected {expected} at {rest!r}")

    def peek(self, *words: str, ahead: int = 0) -> bool:
        place = min(self.at + ahead, len(self.tokens) - 1)
        kind, token = self.tokens[place]
        return token in words and kind in ("name", "sign")

    def kind(self, ahead: int = 0) -> str:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)][0]

    def next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][1]

    def accept(self, word: str) -> bool:
        found = self.peek(word)
        self.at += found
        return found

    def expect(self, *words: str) -> None:
        for word in words:
            if not self.accept(word):
                raise self.error(repr(word))

    def name(self) -> str:
        if self.kind() != "name":
            raise self.error("a name")
        return self.next()

    def string(self) -> str:
        if self.kind() != "string":
            raise self.error("a string")
        return str(ast.literal_eval(self.next()))

    def end(self) -> None:
        if self.kind() != "end":
            raise self.error("the end of the line")

    def listed(self, item: Callable[[], T], closing: str = "") -> list[T]:
        """Items with commas between them, up to `closing` (or the end of the line)."""
        items: list[T] = []
        while not (self.accept(closing) if closing else self.kind() == "end"):
            if items:
                self.expect(",")
                if closing and self.accept(closing):
                    break
            items.append(item())
        return items
