"""From statements to text: each is printed, comments are placed, and long lines are broken."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import Origin
from .printing import INDENT, text_of

LINE = 88


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
    """A comment on a line of its own, without its `#`, perhaps about the statement after it."""

    text: str
    origin: Origin | None = None
    is_about_next: bool = False


Item = Line | Group | Note
Text = Iterator[tuple[str, Origin | None]]


def lines_of(items: Iterable[Item], depth: int, comments: Any = None) -> Text:
    """The lines of items, each with the place in the user's source that it comes from."""
    for item in items:
        if comments is not None:
            for text in comments.before(item):
                yield f"{INDENT * depth}{text}", None
        if isinstance(item, Note):
            yield _within(f"{INDENT * depth}# {item.text}"), item.origin
        elif isinstance(item, Line):
            yield from _simple(item, depth, comments)
        else:
            yield from _compound(item, depth, comments)


def _within(text: str) -> str:
    """A comment, cut off where the line ends."""
    return text if len(text) <= LINE else f"{text[:LINE - 2].rstrip()} …"


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
        lines[0] = word + lines[0][len("if") :]
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


def spans(items: Iterable[Item], first: int, depth: int = 0) -> Iterator[tuple[Item, int, int]]:
    """Every item, and those in it, with its first and last line, where the first one of all is this."""
    for item in items:
        last = first + sum(1 for _ in lines_of([item], depth)) - 1
        yield item, first, last
        if isinstance(item, Group):
            below = sum(1 for _ in lines_of(item.body or [Line(ast.Pass())], depth + 1))
            after = sum(1 for _ in lines_of(item.orelse, depth + 1))
            start = last - below - after - bool(item.orelse) + 1
            yield from spans(item.body, start, depth + 1)
            yield from spans(item.orelse, last - after + 1, depth + 1)
        first = last + 1


def printed(node: ast.stmt, width: int) -> list[str]:
    """A statement in lines of at most `width`, where that can be done."""
    lines = text_of(node).split("\n")
    if max(map(len, lines)) <= width:
        return lines
    return [part for line in lines for part in broken(line, width)]


# -- long lines -----------------------------------------------------------------------------


def broken(line: str, width: int) -> list[str]:
    """A long line in several: broken inside brackets, after commas and before operators. Where the
    best places are in no brackets, the right-hand side gets some.

    >>> broken("y = aaaaa + bbbbb", 12)
    ['y = (aaaaa', '    + bbbbb)']
    >>> broken("aaa, bbb, ccc = f(x)", 12)
    ['(aaa, bbb,', '    ccc) = f(x)']
    >>> broken("for i in range(aaaaa, bbbbb):", 24)
    ['for i in range(aaaaa,', '        bbbbb):']
    """
    if len(line) <= width:
        return [line]
    raised = re.match(r"(raise \w+\()(f?\".*\")\)$", line)
    if raised is not None:
        return [raised[1], *[INDENT + part for part in _in_parts(raised[2], width - len(INDENT))], ")"]
    asserted = _with_message_in_brackets(line, width)
    if asserted is not None:
        return asserted
    line = _with_targets_in_brackets(line, width)
    start = _start_of_value(line)
    if any(depth == 0 for place, depth in _places(line) if place > start):
        end = len(line) - (1 if line.endswith(":") else 0)
        line = f"{line[:start]}({line[start:end]}){line[end:]}"
    margin = len(line) - len(line.lstrip())
    indent = " " * (margin + len(INDENT) * (2 if line.endswith(":") else 1))
    return list(_filled(line, [p for p in _places(line) if p[1] > 0], width, indent))


def _with_message_in_brackets(line: str, width: int) -> list[str] | None:
    """An assertion with a message, which is no part of what is asserted: a pair of both would always be true.

    >>> _with_message_in_brackets('assert x > 0, "x has to be positive"', 28)
    ['assert x > 0, (', '    "x has to be positive"', ')']
    """
    commas = [place for place, depth in _places(line) if depth == 0 and line[place - 1] == ","]
    if not line.startswith("assert ") or not commas:
        return None
    condition, message = line[: commas[0] - 1], line[commas[0] + 1 :]
    parts = _in_parts(message, width - len(INDENT)) if re.match(r'f?"', message) else [message]
    *first, last = broken(condition, width - len(", ("))
    return [*first, f"{last}, (", *[INDENT + part for part in parts], ")"]


def _in_parts(string: str, width: int) -> list[str]:
    """A long string as several that follow one another, each with its last space.

    >>> _in_parts('f"m is {x.shape[0]} and not 3"', 20)
    ['f"m is "', 'f"{x.shape[0]} and "', 'f"not 3"']
    """
    begin = string.index('"') + 1
    prefix, text = string[:begin], string[begin:-1]
    parts = []
    while len(prefix) + len(text) >= width:
        spaces = [k for k in range(min(width - len(prefix) - 1, len(text) - 1)) if text[k] == " "]
        last = max((k for k in spaces if text[:k].count("{") == text[:k].count("}")), default=None)
        if last is None:
            break
        parts.append(f'{prefix}{text[:last + 1]}"')
        text = text[last + 1:]
    return [*parts, f'{prefix}{text}"']


def _with_targets_in_brackets(line: str, width: int) -> str:
    """`(a, b) = f(x)` for `a, b = f(x)`, if the names alone take most of a line."""
    start = _start_of_value(line)
    names = line[:start].endswith(" = ") and any(depth == 0 for place, depth in _places(line) if place < start)
    if start <= 2 * width // 3 or not names:
        return line
    margin = len(line) - len(line.lstrip())
    return f"{line[:margin]}({line[margin:start - 3]}){line[start - 3:]}"


def _filled(line: str, places: list[tuple[int, int]], width: int, indent: str) -> Iterator[str]:
    """The line broken at places as far outside, and then as far right, as the width allows; of operators outside,
    at those that bind least.

    >>> broken("y = aaa * bbb - c * ddd", 20)
    ['y = (aaa * bbb', '    - c * ddd)']
    """
    begin, lead = 0, ""
    while len(lead) + len(line) - begin > width:
        room = begin + width - len(lead)
        usable = [(place, depth) for place, depth in places if begin < place <= room]
        if not usable:
            break
        late = [item for item in usable if item[0] > begin + (room - begin) // 3] or usable
        outside = min((depth, _binding(line, place)) for place, depth in late)
        end = max(place for place, depth in late if (depth, _binding(line, place)) == outside)
        yield (lead + line[begin:end]).rstrip()
        begin, lead = end + (line[end] == " "), indent
    yield lead + line[begin:]


def _binding(line: str, place: int) -> int:
    """How tightly what may be broken at a place is held together; commas do not at all."""
    return next((k for k, signs in enumerate(BINDING, 1) if line.startswith(signs, place)), 0)


def _start_of_value(line: str) -> int:
    """Where the value of an assignment, the result, or the condition begins."""
    word = re.match(r"\s*(return|if|elif|while|assert|raise) ", line)
    if word is not None:
        return word.end()
    sign = re.search(r" (?:[-+*/@%&|^]|\*\*|//|<<|>>)?= ", line)
    return sign.end() if sign is not None else len(line)


def _places(line: str) -> Iterator[tuple[int, int]]:
    """Places where a line may be broken, and how many brackets are open there; those of an index count more."""
    depth = 0
    weights = []
    quote = ""
    for k, character in enumerate(line):
        if quote:
            quote = "" if character == quote and line[k - 1] != "\\" else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            is_index = character == "[" and k > 0 and (line[k - 1].isalnum() or line[k - 1] in "_)]")
            weights.append(OF_INDEX if is_index else 1)
            depth += weights[-1]
        elif character in ")]}":
            depth -= weights.pop() if weights else 1
        elif character == "," and k + 1 < len(line):
            yield k + 1, depth
        elif character == " " and line.startswith(OPERATORS, k):
            yield k, depth


OF_INDEX = 4  # an index is broken last
BINDING = (
    (" for ", " in "),
    (" if ", " else "),
    (" or ",),
    (" and ",),
    (" < ", " > ", " <= ", " >= ", " == ", " != "),
    (" | ",),
    (" & ",),
    (" + ", " - "),
    (" * ", " / ", " // ", " % ", " @ "),
)
OPERATORS = tuple(sign for signs in BINDING for sign in signs)


def bodies(items: Iterable[Item]) -> list[ast.stmt]:
    """Statements as the trees of a function."""
    made: list[ast.stmt] = []
    for item in items:
        if isinstance(item, Line):
            made.append(item.node)
        elif isinstance(item, Group):
            item.head.body, item.head.orelse = bodies(item.body) or [ast.Pass()], bodies(item.orelse)
            made.append(item.head)
    return made
