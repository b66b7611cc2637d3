"""How much memory a call takes."""

from __future__ import annotations

import tracemalloc
from typing import Any


def peak(function: Any, *args: Any) -> int:
    """The most bytes that are allocated at once while a function runs, which has run before."""
    function(*args)
    tracemalloc.start()
    try:
        function(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
