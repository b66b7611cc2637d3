"""The comments of a piece of source, by line.

>>> comments_of(["# scale first\\n", "y = x * '#'  # not the string\\n"], first_line=7)
{7: Comment(text='# scale first', alone=True), 8: Comment(text='# not the string', alone=False)}
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Comment(NamedTuple):
    """A comment with its leading `#`; `alone` when nothing stands before it on its line."""

    text: str
    alone: bool


_Place = tuple[int, int, str]  # line from 1, column in characters, text

_STRING_OR_COMMENT = re.compile(
    r"""
    (?P<comment> \#[^\n]* )
    | '{3} [^\\']* (?: (?: \\. | '(?!'') ) [^\\']* )* '{3}
    | "{3} [^\\"]* (?: (?: \\. | "(?!"") ) [^\\"]* )* "{3}
    | '    [^\\'\n]* (?: \\. [^\\'\n]* )* '
    | "    [^\\"\n]* (?: \\. [^\\"\n]* )* "
    """,
    re.VERBOSE | re.DOTALL,
)
_STRING_WITH_CODE = re.compile(r"\b(?:[ft]r?|r[ft])['\"]", re.IGNORECASE)


def comments_of(lines: Sequence[str], first_line: int) -> dict[int, Comment]:
    """Comments of whole lines of source, of which the first has the number `first_line`.

    The first line must begin outside of any string. Lines may end within a bracket or a block.
    """
    text = "".join(lines)
    if "#" not in text:
        return {}
    # From Python 3.12 on, the code in an f-string may hold quotes and comments of its own.
    nested = sys.version_info >= (3, 12) and _STRING_WITH_CODE.search(text)
    places = _by_tokens(text) if nested else _by_pattern(text)
    return {
        first_line + line - 1: Comment(comment, not lines[line - 1][:column].strip())
        for line, column, comment in places
    }


def _by_pattern(text: str) -> Iterator[_Place]:
    """Strings are matched too, and passed over; that is ten times faster than tokens are."""
    line, counted = 1, 0
    for match in _STRING_OR_COMMENT.finditer(text):
        if match["comment"] is not None:
            start = match.start()
            line += text.count("\n", counted, start)
            counted = start
            yield line, start - text.rfind("\n", 0, start) - 1, match["comment"].rstrip()


def _by_tokens(text: str) -> Iterator[_Place]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield *token.start, token.string.rstrip()
    except (tokenize.TokenError, SyntaxError):
        return  # the lines of a lambda may end within a bracket that is closed further down
