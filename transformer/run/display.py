"""Source with colours: as HTML for notebooks, with escape codes for terminals.

>>> list(spans("x = 1  # one\\n"))
[('', 'x = '), ('number', '1'), ('', '  '), ('comment', '# one'), ('', '\\n')]
"""

from __future__ import annotations

import html as markup
import io
import keyword
import token as names
import tokenize
from collections.abc import Iterator
from itertools import accumulate, groupby

Span = tuple[str, str]  # kind, text

# Tones that can be read on white and on black.
_HTML = {
    "keyword": "color:#a3459c",
    "string": "color:#4a8a3c",
    "number": "color:#2f7fb5",
    "comment": "color:#858585;font-style:italic",
    "definition": "color:#3b76d6;font-weight:600",
}
_ANSI = {"keyword": "35", "string": "32", "number": "36", "comment": "90", "definition": "1;34"}
_STRINGS = {tokenize.STRING} | {getattr(names, name) for name in dir(names) if "STRING_" in name}


def html(title: str, source: str | None) -> str:
    """A piece of HTML that shows a title and, where there is one, a coloured source."""
    heading = f"<div style='font-weight:600'>{markup.escape(title)}</div>"
    if source is None:
        return f"<div>{heading}<div>The source is generated at the first call.</div></div>"
    body = "".join(_html_span(kind, text) for kind, text in spans(source))
    style = "line-height:1.35;overflow-x:auto;margin:.4em 0 0;background:none"
    return f"<div>{heading}<pre style='{style}'>{body}</pre></div>"


def _html_span(kind: str, text: str) -> str:
    shown = markup.escape(text)
    return f"<span style='{_HTML[kind]}'>{shown}</span>" if kind else shown


def ansi(source: str) -> str:
    """The source with the escape codes of terminals; without them it is the same text.

    >>> ansi("return 2")
    '\\x1b[35mreturn\\x1b[0m \\x1b[36m2\\x1b[0m'
    """
    return "".join(_ansi_span(kind, text) for kind, text in spans(source))


def _ansi_span(kind: str, text: str) -> str:
    """Colours end with each line, since pagers show lines by themselves."""
    if not kind:
        return text
    return "\n".join(
        f"\x1b[{_ANSI[kind]}m{line}\x1b[0m" if line else "" for line in text.split("\n")
    )


def spans(source: str) -> Iterator[Span]:
    """The source cut into pieces of one kind each, which put together are the source.

    What is not quite Python, as the text of Core is not, is coloured as far as it can be.
    """
    try:
        pieces = list(_spans_of(source))
    except (SyntaxError, tokenize.TokenError):
        pieces = [piece for line in source.splitlines(keepends=True) for piece in _line_spans(line)]
    for kind, group in groupby(filter(lambda piece: piece[1], pieces), key=lambda piece: piece[0]):
        yield kind, "".join(text for _, text in group)


def _line_spans(line: str) -> list[Span]:
    try:
        return list(_spans_of(line))
    except (SyntaxError, tokenize.TokenError):
        return [("", line)]


def _spans_of(source: str) -> Iterator[Span]:
    """Tokens with their kinds, and what is between them. Raises where the source ends too soon."""
    lines = list(io.StringIO(source, newline=""))
    starts = [0, *accumulate(map(len, lines))]
    done, before = 0, ""
    for token in tokenize.generate_tokens(iter([*lines, ""]).__next__):
        kind = _kind(token, before)
        before = token.string.strip() or before
        begin, end = (starts[line - 1] + column for line, column in (token.start, token.end))
        if kind and done <= begin < end:
            yield "", source[done:begin]
            yield kind, source[begin:end]
            done = end
    yield "", source[done:]


def _kind(token: tokenize.TokenInfo, before: str) -> str:
    if token.type == tokenize.NAME:
        if before in ("def", "class"):
            return "definition"
        return "keyword" if keyword.iskeyword(token.string) else ""
    if token.type in _STRINGS:
        return "string"
    return {tokenize.NUMBER: "number", tokenize.COMMENT: "comment"}.get(token.type, "")
