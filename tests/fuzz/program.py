"""A program as source, with arguments to run it on."""

from __future__ import annotations

import copy
import linecache
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

HEADER = "import math\n\nimport numpy as np\n\n\n"
FOLDER = Path(tempfile.gettempdir()) / "fuzzed_programs"


@dataclass(eq=False)
class Program:
    """`source` defines `program`, of the names in `arguments`; the values to differentiate are floats."""

    source: str
    arguments: dict[str, Any]
    tags: Counter[str] = field(default_factory=Counter)

    def __getstate__(self) -> dict[str, Any]:
        """Without the function, which another process makes anew."""
        return {name: value for name, value in vars(self).items() if name != "function"}

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function; its source is known to Python as if it were in a file."""
        text = HEADER + self.source + "\n"
        path = f"<fuzzed {abs(hash(text)):x}>.py"
        linecache.cache[path] = (len(text), None, text.splitlines(True), path)
        scope: dict[str, Any] = {"__name__": "fuzzed", "__file__": path}
        exec(compile(text, path, "exec"), scope)
        function: Callable[..., Any] = scope["program"]
        return function

    def values(self) -> tuple[Any, ...]:
        return tuple(copy.deepcopy(value) for value in self.arguments.values())

    @property
    def wrt(self) -> tuple[int, ...]:
        return tuple(k for k, value in enumerate(self.arguments.values()) if has_floats(value))

    @property
    def text(self) -> str:
        return self.source + "\n\n# " + ", ".join(f"{name} = {value!r}" for name, value in self.arguments.items())


def has_floats(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(has_floats, value.values()))
    return isinstance(value, float | np.floating) or isinstance(value, np.ndarray) and value.dtype.kind == "f"
