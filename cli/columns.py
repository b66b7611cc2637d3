"""Two texts side by side.

>>> print(side_by_side(["a = 1", "b = 2"], ["a = 1", "b = 3", "c = 4"], ("old", "new"), 25, False), end="")
old           new
-----------   -----------
a = 1         a = 1
b = 2       | b = 3
            > c = 4
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from transformer.core.errors import width_of
from transformer.run.display import ansi

GAP = 3
MARKS = {"|": "33", "<": "31", ">": "32"}


def side_by_side(left: Sequence[str], right: Sequence[str], titles: Sequence[str], width: int, colours: bool) -> str:
    """The lines of two texts in two columns. Longer ones go on in the next row."""
    column = (width - GAP) // 2
    rows = [row(titles[0], titles[1], " ", column, False), row("-" * column, "-" * column, " ", column, False)]
    for mark, first, second in aligned(left, right):
        halves = zip_longest(folded(first, column), folded(second, column), fillvalue="")
        rows += [row(one, other, mark, column, colours) for one, other in halves]
    return "\n".join(rows) + "\n"


def aligned(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Pairs of lines and how they differ: lines that are the same, or alike, stand beside each other, and between these
    the others in their order."""
    i = j = 0
    for k, m in [*anchors(left, right), (len(left), len(right))]:
        for one, other in zip_longest(left[i:k], right[j:m]):
            mark = "<" if other is None else ">" if one is None else "|"
            yield mark, one or "", other or ""
        if k < len(left):
            yield " " if left[k] == right[m] else "|", left[k], right[m]
        i, j = k + 1, m + 1


def anchors(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of lines that are the same, and between these of lines that are alike."""
    matcher = difflib.SequenceMatcher(lambda line: not line.strip(), left, right, autojunk=False)
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        if kind == "equal":
            yield from zip(range(i, i_end), range(j, j_end))
        elif kind == "replace":
            yield from ((i + k, j + m) for k, m in alike(left[i:i_end], right[j:j_end]))


def alike(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of lines that have most words in common, in their order, such that these are as many as they can be.

    >>> alike(["def f(x):", "    return x"], ["import numpy as np", "def f(x, y):", "    return x * y"])
    [(0, 1), (1, 2)]
    """
    words = [[set(re.findall(r"\w+", line)) for line in lines] for lines in (left, right)]
    best: list[list[float]] = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for k in range(len(left) - 1, -1, -1):
        for m in range(len(right) - 1, -1, -1):
            together = best[k + 1][m + 1] + likeness(words[0][k], words[1][m])
            best[k][m] = max(together, best[k + 1][m], best[k][m + 1])
    found, k, m = [], 0, 0
    while k < len(left) and m < len(right):
        if best[k][m] == best[k + 1][m]:
            k += 1
        elif best[k][m] == best[k][m + 1]:
            m += 1
        else:
            found.append((k, m))
            k, m = k + 1, m + 1
    return found


def likeness(first: set[str], second: set[str]) -> float:
    """The part of the words of two lines that both have, where it is half of them or more."""
    common = len(first & second)
    return common / len(first | second) if common and 2 * common >= len(first | second) else 0.0


def folded(line: str, column: int) -> list[str]:
    """A line in pieces that fit a column, cut behind blanks where these are not far.

    >>> folded("total = first + second", 12)
    ['total = ', 'first + ', 'second']
    >>> folded("abcdefg", 3)
    ['abc', 'def', 'g']
    """
    rest, pieces = line.expandtabs(8), []
    while width_of(rest) > column:
        end = fitting(rest, column)
        blank = rest.rfind(" ", end // 2, end)
        end = blank + 1 if blank >= 0 and rest[:blank].strip() else end
        pieces.append(rest[:end])
        rest = rest[end:]
    return [*pieces, rest]


def fitting(text: str, column: int) -> int:
    """How many characters of a text fit a column; at least one."""
    end = 1
    while width_of(text[:end + 1]) <= column:
        end += 1
    return end


def row(left: str, right: str, mark: str, column: int, colours: bool) -> str:
    """A row of both columns; with colours that of the source, and the mark's."""
    blanks = " " * (column - width_of(left))
    if not colours:
        return f"{left}{blanks} {mark} {right}".rstrip()
    shown = f"\x1b[{MARKS[mark]}m{mark}\x1b[0m" if mark in MARKS else mark
    return f"{ansi(left)}{blanks} {shown} {ansi(right)}".rstrip()
