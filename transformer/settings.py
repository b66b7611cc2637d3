"""Settings that hold for the whole process.

>>> import transformer
>>> transformer.config.debug_nans
False
"""

from __future__ import annotations

import operator
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


def _default_cache() -> Path:
    if chosen := os.environ.get("TRANSFORMER_CACHE"):
        return Path(chosen)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "transformer"
    try:
        return Path.home() / ".cache" / "transformer"
    except RuntimeError:                        # a process without a home
        return Path(tempfile.gettempdir()) / "transformer"


def _default_threads() -> int:
    """The processors that this process may use, or fewer by ``TRANSFORMER_THREADS``."""
    try:
        return max(1, int(os.environ["TRANSFORMER_THREADS"]))
    except (KeyError, ValueError):
        usable = getattr(os, "sched_getaffinity", None)
        return len(usable(0)) if usable is not None else os.cpu_count() or 1


@dataclass
class Config:
    """``debug_nans``: report the first NaN of a generated function with the user's line.
    ``cache``: the folder of generated source files (environment: ``TRANSFORMER_CACHE``).
    ``check``: run the checker of Core between all stages (environment: ``TRANSFORMER_CHECK``).
    ``threads``: how many threads share the loops of a compiled function, at most (environment:
    ``TRANSFORMER_THREADS``). Raises ValueError for less than one."""

    debug_nans: bool = False
    cache: Path = field(default_factory=_default_cache)
    check: bool = field(default_factory=lambda: bool(os.environ.get("TRANSFORMER_CHECK")))
    threads: int = field(default_factory=_default_threads)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "threads":
            value = operator.index(value)
            if value < 1:
                raise ValueError(f"config.threads is {value}; there is at least one thread")
        before = getattr(self, name, value)
        object.__setattr__(self, name, value)
        if name == "threads" and value != before:
            for follow in followers:
                follow(before, value)


followers: list[Callable[[int, int], None]] = []       # called when the number of threads has changed


config = Config()
