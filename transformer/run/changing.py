"""A warning where a function is made anew in call after call, as something that it was read with keeps changing."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..read.contents import Contents

if TYPE_CHECKING:
    from ..read.outside import Watch

OFTEN = 8
DATA = (int, float, complex, str, tuple, np.generic)
PACKAGE = str(Path(__file__).parent.parent)


def warn_where_often(user: Any, stale: list[list[Watch]]) -> None:
    """Warns once, when that many functions are no longer right. `stale` is what each of them was read with."""
    what = ", ".join(dict.fromkeys(changed(stale[-1]))) if len(stale) == OFTEN else ""
    if what:
        name = getattr(user, "__name__", "the function")
        warnings.warn(f"{name} is made anew for the {OFTEN}th time, as {what} changes between calls: "
                      "pass it as an argument", RuntimeWarning, stacklevel=_level_of_user())


def changed(watched: Iterable[Watch]) -> list[str]:
    """The names of the data that are no longer what they were; code that is replaced is not among them."""
    watched, found = list(watched), []
    for holder, key, value in watched:
        try:
            is_same = holder(key) is value
        except (AttributeError, LookupError):
            is_same = False
        if not is_same and isinstance(holder, Contents):
            found += [f"{_name_of(holder.container, watched)}{item}" for item in holder.changed()]
        elif not is_same and isinstance(value, DATA) and not _is_item(holder):
            found.append("a captured variable" if key == "cell_contents" else str(key))
    return found


def _is_item(holder: Any) -> bool:
    """Whether it gives items of a container, which is watched as a whole."""
    return isinstance(getattr(holder, "__self__", None), (list, dict)) and holder.__name__ == "__getitem__"


def _name_of(container: Any, watched: list[Watch]) -> str:
    names = (key for _, key, value in watched if value is container and isinstance(key, str) and key != "cell_contents")
    return next(names, f"a captured {type(container).__name__}")


def _level_of_user() -> int:
    """How far up the first frame is that is none of this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    return level
