"""Errors of the command line: what a person wrote there, and what is wrong with it."""

from __future__ import annotations

import difflib
import linecache
import os
from collections.abc import Iterable
from dataclasses import replace

from transformer.core.errors import Origin, TransformError


class UsageError(Exception):
    """Something given on the command line, or in the file it names, that cannot be used."""


class NotationError(UsageError):
    """A mistake in the notation of types, shown with carets under it.

    >>> print(NotationError("a size is missing", "w: f64[", 7, 7))
    --types: a size is missing
        w: f64[
               ^
    """

    def __init__(
        self, message: str, text: str, start: int, end: int, place: str = "--types"
    ) -> None:
        super().__init__(f"{place}: {message}\n{marked(text, start, end)}")


def marked(text: str, start: int, end: int) -> str:
    """The line of `text` in which `start` lies, indented, and carets from `start` to `end`."""
    first = text.rfind("\n", 0, start) + 1
    line = text[first:].split("\n", 1)[0].expandtabs(1)
    width = max(1, min(end, first + len(line)) - start)
    return f"    {line}\n    {' ' * (start - first)}{'^' * width}"


def suggestion(word: str, known: Iterable[str]) -> str:
    """`; did you mean …?` where a known word is close, else nothing.

    >>> suggestion("lss", ["loss", "model"])
    '; did you mean loss?'
    >>> suggestion("x", ["loss", "model"])
    ''
    """
    close = difflib.get_close_matches(word, list(known), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def told(error: Exception) -> str:
    """An error as a person reads it: files relative to the current folder, notes below."""
    if isinstance(error, TransformError):
        error.origin = error.origin and relative(error.origin)
        error.callers = [relative(call) for call in error.callers]
    notes = [f"note: {note}" for note in getattr(error, "__notes__", [])]
    return "\n".join([str(error), *notes])


def relative(origin: Origin) -> Origin:
    """The place as seen from the current folder, from where the name may have meant another file before."""
    file = shortened(origin.file)
    linecache.checkcache(file)
    return replace(origin, file=file)


def shortened(file: str) -> str:
    """The path of a file from the current folder, if it lies below that."""
    here = os.path.relpath(file) if os.path.isabs(file) else file
    return file if here.startswith(os.pardir) else here
