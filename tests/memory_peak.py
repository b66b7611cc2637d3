"""How much memory a call takes."""

from __future__ import annotations

import tracemalloc
from typing import Any


def peak(function: Any, *args: Any) -> int:
    """The most bytes that are allocated at once while a function runs, which has run before. Of two runs the lesser
    counts, as other threads, such as those that run tests, may allocate something meanwhile."""
    function(*args)
    return min(_measured(function, *args) for _ in range(2))


def _measured(function: Any, *args: Any) -> int:
    tracemalloc.start()
    try:
        function(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
