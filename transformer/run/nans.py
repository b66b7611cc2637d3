"""`config.debug_nans`: the first NaN of a generated function, with the user's line it comes from."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .. import tree
from ..core.halves import kind_of


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
    """Watches the function and those of the same file that it calls."""

    def __init__(self, entry: Any) -> None:
        self.file = entry.function.__code__.co_filename
        self.origins = entry.generated.written.line_origins

    def trace(self, frame: Any, event: str, argument: Any) -> Any:
        return _Call(self, frame).trace if frame.f_code.co_filename == self.file else None

    def message(self, name: str, line: int) -> str:
        origin = self.origins.get(line)
        where = f"\n{origin}" if origin is not None else ""
        return f"NaN in {name}, line {line} of {self.file}{where}"


class _Call:
    """One call: the line that runs, and the names that have held a NaN."""

    def __init__(self, watcher: _Watcher, frame: Any) -> None:
        self.watcher = watcher
        self.line = 0
        self.seen = {name for name, value in frame.f_locals.items() if has_nan(value)}

    def trace(self, frame: Any, event: str, argument: Any) -> Any:
        if event in ("line", "return"):
            self.check(frame)
            self.line = frame.f_lineno
        if event == "return":
            self.check_result(argument)
        return self.trace

    def check(self, frame: Any) -> None:
        for name, value in frame.f_locals.items():
            if name not in self.seen and has_nan(value):
                self.seen.add(name)
                raise FloatingPointError(self.watcher.message(name, self.line))

    def check_result(self, result: Any) -> None:
        """Of what is returned without a name of its own; a NaN that a name holds was seen before."""
        if not self.seen and any(map(has_nan, tree.leaves(result))):
            raise FloatingPointError(self.watcher.message("the result", self.line))


def has_nan(value: Any) -> bool:
    """Whether a number or array holds a NaN."""
    if isinstance(value, (float, complex, np.floating, np.complexfloating)):
        return bool(value != value)
    if isinstance(value, np.ndarray) and kind_of(value.dtype) in "fc":
        return bool(np.isnan(value).any())
    return False
