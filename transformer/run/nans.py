"""`config.debug_nans`: the first NaN of a generated function, with the user's line it comes from."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def call_watching_nans(entry: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Runs a generated function and raises `FloatingPointError` where a NaN first appears.

    The lines are watched from outside: the code that runs is the generated code as it is.
    """
    watcher = _Watcher(entry)
    before = sys.gettrace()
    sys.settrace(watcher.trace)
    try:
        return entry.function(*args, **kwargs)
    finally:
        sys.settrace(before)


class _Watcher:
    def __init__(self, entry: Any) -> None:
        self.code = entry.function.__code__
        self.origins = entry.generated.written.line_origins
        self.line = 0
        self.seen: set[str] = set()

    def trace(self, frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code is not self.code:
            return None
        if event == "call":
            self.seen = {name for name, value in frame.f_locals.items() if has_nan(value)}
        elif event in ("line", "return"):
            self.check(frame)
            self.line = frame.f_lineno
        return self.trace

    def check(self, frame: Any) -> None:
        for name, value in frame.f_locals.items():
            if name not in self.seen and has_nan(value):
                self.seen.add(name)
                raise FloatingPointError(self.message(name))

    def message(self, name: str) -> str:
        origin = self.origins.get(self.line)
        where = f"\n{origin}" if origin is not None else ""
        return f"NaN in {name}, line {self.line} of {self.code.co_filename}{where}"


def has_nan(value: Any) -> bool:
    """Whether a number or array holds a NaN."""
    if isinstance(value, (float, complex, np.floating, np.complexfloating)):
        return bool(value != value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        return bool(np.isnan(value).any())
    return False
