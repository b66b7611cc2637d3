"""Whether to colour, by --color, NO_COLOR (https://no-color.org) and the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from transformer.run.display import ansi


def painter(choice: str) -> Callable[[str], str]:
    """`ansi`, or what leaves a text as it is."""
    return ansi if is_wanted(choice) else str


def is_wanted(choice: str) -> bool:
    """--color decides, then NO_COLOR, then whether a terminal shows the output."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()
