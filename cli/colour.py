"""Whether to colour, by --color, NO_COLOR (https://no-color.org) and the terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from typing import TextIO

from transformer.run.display import ansi


def painter(choice: str) -> Callable[[str], str]:
    """`ansi`, or what leaves a text as it is."""
    return ansi if is_wanted(choice) else str


def error_painter() -> Callable[[str], str]:
    """For what is written to stderr: `painted`, or what leaves a text as it is."""
    return painted if is_wanted("auto", sys.stderr) else str


def painted(error: str) -> str:
    """An error with its first line in bold, places in cyan and carets in red.

    >>> painted("bad\\n  File 'a.py'\\n  x\\n  ^")
    "\\x1b[1mbad\\x1b[0m\\n\\x1b[36m  File 'a.py'\\x1b[0m\\n  x\\n\\x1b[1;31m  ^\\x1b[0m"
    """
    first, *rest = error.split("\n")
    return "\n".join([f"\x1b[1m{first}\x1b[0m", *map(_painted_line, rest)])


def _painted_line(line: str) -> str:
    code = "1;31" if re.fullmatch(r"\s*\^+", line) else "36" if line.startswith("  File ") else None
    return line if code is None else f"\x1b[{code}m{line}\x1b[0m"


def is_wanted(choice: str, stream: TextIO | None = None) -> bool:
    """--color decides, then NO_COLOR, then whether a terminal shows the output."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return (stream or sys.stdout).isatty()
