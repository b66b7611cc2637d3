"""From statements to text: astor prints every statement, we place comments and break long lines."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Union

from ..core.errors import Origin

LINE = 88
INDENT = "    "


@dataclass(slots=True)
class Line:
    """A simple statement."""

    node: ast.stmt
    origin: Origin | None = None


@dataclass(slots=True)
class Group:
    """A compound statement; `head` is the statement without what is in it."""

    head: Any
    body: list[Item]
    orelse: list[Item] = field(default_factory=list)
    origin: Origin | None = None


@dataclass(slots=True)
class Note:
    """A comment on a line of its own, without its `#`; empty for a blank line."""

    text: str
    origin: Origin | None = None


Item = Union[Line, Group, Note]
Text = Iterator[tuple[str, Origin | None]]


def lines_of(items: Iterable[Item], depth: int, comments: Any = None) -> Text:
    """The lines of items, each with the place in the user's source that it comes from."""
    for item in items:
        if comments is not None:
            for text in comments.before(item):
                yield f"{INDENT * depth}{text}", None
        if isinstance(item, Note):
            yield f"{INDENT * depth}# {item.text}".rstrip() if item.text else "", item.origin
        elif isinstance(item, Line):
            yield from _simple(item, depth, comments)
        else:
            yield from _compound(item, depth, comments)


def _simple(item: Line, depth: int, comments: Any) -> Text:
    lines = printed(item.node, LINE - len(INDENT) * depth)
    if comments is not None:
        lines = comments.beside(item, lines, LINE - len(INDENT) * depth)
    for line in lines:
        yield INDENT * depth + line, item.origin


def _compound(item: Group, depth: int, comments: Any, word: str | None = None) -> Text:
    head = copy.copy(item.head)
    head.body, head.orelse = [ast.Pass()], []
    lines = printed(head, LINE - len(INDENT) * depth)[:-1]
    if word is not None:
        lines[0] = word + lines[0][len("if"):]
    if comments is not None:
        lines = comments.beside(item, lines, LINE - len(INDENT) * depth)
    for line in lines:
        yield INDENT * depth + line, item.origin
    yield from lines_of(item.body or [Line(ast.Pass())], depth + 1, comments)
    if len(item.orelse) == 1 and isinstance(item.orelse[0], Group) and isinstance(item.orelse[0].head, ast.If):
        yield from _compound(item.orelse[0], depth, comments, "elif")
    elif item.orelse:
        yield f"{INDENT * depth}else:", item.origin
        yield from lines_of(item.orelse, depth + 1, comments)


def printed(node: ast.AST, width: int) -> list[str]:
    """A statement as astor prints it, in lines of at most `width` where that can be done."""
    from astor.code_gen import to_source
    text = to_source(node, pretty_source="".join, pretty_string=_string)
    lines = text.rstrip("\n").lstrip("\n").split("\n")
    if max(map(len, lines)) <= width:
        return lines
    return [part for line in lines for part in broken(line, width)]


def _string(text: str, *_: Any, **__: Any) -> str:
    """Strings in double quotes, unless that needs more backslashes."""
    shown = repr(text)
    if shown[0] == "'" and '"' not in text:
        return f'"{shown[1:-1]}"'
    return shown


# -- long lines -----------------------------------------------------------------------------------


def broken(line: str, width: int) -> list[str]:
    """A long line in several: broken inside brackets, after commas, before operators.

    >>> broken("y = f(aaaa, bbbb)", 12)
    ['y = f(aaaa,', '    bbbb)']
    """
    if len(line) <= width:
        return [line]
    margin = line[:len(line) - len(line.lstrip())]
    place = _place_to_break(line, width)
    if place is None:
        return _in_brackets(line, width)
    first, rest = line[:place].rstrip(), line[place:].lstrip()
    indent = margin if margin.startswith(INDENT + " ") else margin + INDENT
    return [first, *broken_rest(indent + rest, width, margin + INDENT)]


def broken_rest(line: str, width: int, indent: str) -> list[str]:
    """The continuation of a broken line, which stays at its indentation."""
    if len(line) <= width:
        return [line]
    place = _place_to_break(line, width, inside=True)
    if place is None:
        return [line]
    first, rest = line[:place].rstrip(), line[place:].lstrip()
    return [first, *broken_rest(indent + rest, width, indent)]


def _in_brackets(line: str, width: int) -> list[str]:
    """`x = a + b` as `x = (a` and ` + b)`."""
    head, sign, tail = _assigned(line)
    if not sign or tail.startswith("("):
        return [line]
    wrapped = f"{head}{sign}({tail})"
    place = _place_to_break(wrapped, width)
    if place is None:
        return [line]
    indent = line[:len(line) - len(line.lstrip())] + INDENT
    return [wrapped[:place].rstrip(), *broken_rest(indent + wrapped[place:].lstrip(), width, indent)]


def _assigned(line: str) -> tuple[str, str, str]:
    if line.lstrip().startswith("return "):
        head, _, tail = line.partition("return ")
        return head, "return ", tail
    for sign in (" += ", " -= ", " *= ", " /= ", " = "):
        head, found, tail = line.partition(sign)
        if found and not any(bracket in head for bracket in "(\"'"):
            return head, sign, tail
    return line, "", ""


def _place_to_break(line: str, width: int, inside: bool = False) -> int | None:
    """The last place within the width where the line may be broken, as far outside as there is one."""
    best: dict[int, int] = {}
    for place, depth in _places(line):
        if place <= width and (depth > 0 or inside):
            best[depth] = place
    usable = {depth: place for depth, place in best.items() if place > width // 3} or best
    return usable[min(usable)] if usable else None


def _places(line: str) -> Iterator[tuple[int, int]]:
    """Places where a line may be broken, and how many brackets are open there."""
    depth = 0
    quote = ""
    start = len(line) - len(line.lstrip())
    for k, character in enumerate(line):
        if quote:
            quote = "" if character == quote and line[k - 1] != "\\" else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and k + 1 < len(line):
            yield k + 1, depth
        elif character in "+-*/@" and k > start and line[k - 1] == " " and line[k + 1:k + 2] == " ":
            yield k, depth
        elif line.startswith((" and ", " or ", " if ", " else "), k) and k > start:
            yield k + 1, depth
