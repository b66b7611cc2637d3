"""Memory that nobody wrote to holds NaN, so that reading it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

WRONG_INTEGER = -(10**9)


@contextmanager
def poisoned() -> Iterator[None]:
    """`np.empty` and `np.empty_like` give NaN, and absurd integers, inside the `with`."""
    saved = {name: getattr(np, name) for name in ("empty", "empty_like")}
    for name, make in saved.items():
        setattr(np, name, _filled(make))
    try:
        yield
    finally:
        for name, make in saved.items():
            setattr(np, name, make)


def _filled(make: Callable[..., Any]) -> Callable[..., Any]:
    def filled(*args: Any, **kwargs: Any) -> Any:
        array = make(*args, **kwargs)
        if array.dtype.kind in "fc":
            array.fill(np.nan)
        elif array.dtype.kind == "i":
            array.fill(WRONG_INTEGER)
        return array

    return filled
