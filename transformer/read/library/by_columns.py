"""`order="F"`: elements are taken along the columns, which are rows of the transpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def raveled(a):
    return np.transpose(a).ravel()


def flattened(a):
    return np.transpose(a).flatten()


def reshaped(a, *shape):
    sizes = shape[0] if len(shape) == 1 else shape
    backwards = sizes[::-1] if isinstance(sizes, (tuple, list)) else sizes
    return np.transpose(np.reshape(np.transpose(a), backwards))


BY_COLUMNS = {"ravel": raveled, "flatten": flattened, "reshape": reshaped}


def by_columns(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
               ) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """What is read in place of a function, or of a method, that is given the order of columns; and the other
    arguments."""
    orders = [each for each in (*args[1:], kwargs.get("order")) if isinstance(each, str)]
    if name not in BY_COLUMNS or orders != ["F"]:
        return None
    shapes = (kwargs[key] for key in ("a", "shape", "newshape") if key in kwargs)
    return BY_COLUMNS[name], (*(each for each in args if not isinstance(each, str)), *shapes)
