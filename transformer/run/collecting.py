"""The collector of cyclic garbage pauses while a function is generated."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """No cyclic garbage collection inside the `with`: many objects are made at once, of modules that are imported, of
    Core and of numba, and nearly all of them stay. To look for garbage among them again and again takes half of the
    time of what generates, and an eighth of that of a new process up to its first result."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            _count_as_old()
            gc.enable()


def _count_as_old() -> None:
    """Has the next look for young garbage pass over all that there is; only one for all garbage goes through it.
    What is frozen comes back as the oldest of all, so nothing may be frozen before: that is somebody else's."""
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()
