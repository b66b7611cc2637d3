"""Functions of NumPy's arrays that take arrays on devices as well, and give such arrays then.

    @taking_arrays
    def softmax(x): ...                         # softmax(device_put(x)) is an Array, on the device of x

They are computed as a whole, with NumPy's arrays. In a function that is read, they are what they were.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from . import tree
from .core.on_devices import is_on_device


def taking_arrays(function: Callable[..., Any]) -> Any:
    """The function, for arrays on one device, too. Functions among its results, such as a pullback, take and give
    arrays on that device, too."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if not any(map(is_on_device, tree.leaves((args, kwargs)))):
            return function(*args, **kwargs)
        from .parallel.placing import on_device
        return on_device(function, args, kwargs)

    if not hasattr(function, "__transformer_read__"):
        called.__transformer_read__ = lambda reader, args, kwargs: reader.call(function, args, kwargs)  # type: ignore[attr-defined]
    return called
