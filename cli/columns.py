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
    """Pairs of lines and how they differ: those that are the same stand beside each other, and between these the
    others in their order."""
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        for k in range(max(i_end - i, j_end - j)):
            has_left, has_right = i + k < i_end, j + k < j_end
            mark = " " if kind == "equal" else "|" if has_left and has_right else "<" if has_left else ">"
            yield mark, left[i + k] if has_left else "", right[j + k] if has_right else ""


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
