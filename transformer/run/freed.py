"""Freed memory of arrays stays with the process, for the arrays of the next call.

glibc takes memory beyond a threshold from the system and gives it back when it is freed. The system makes every page of
it full of zeros when it is touched first, which takes several times as long as to compute what is written there: a
gradient of 100,000 numbers 1.1 ms instead of 0.4. The threshold rises to the size of what has been freed, up to 32 MB,
and twice as much that is free stays with the process; so one array, which nobody touches, is enough.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache

import numpy as np

LARGEST = 2 ** 25 - 2 ** 16            # a threshold is never above 32 MB, with what glibc itself writes before an array


@cache
def keep_freed_memory() -> None:
    """Has the process keep memory that is freed, once for all; elsewhere than with glibc it does nothing, nor where the
    process may have no such array."""
    with suppress(MemoryError):
        np.empty(LARGEST, np.uint8)
