"""What `transformer.random` takes: keys, shapes and dtypes.

These functions are called while a function is read, too, so that what is wrong is said at the call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .core.builder import current
from .core.sizes import Size
from .ops.elementwise import shape_text
from .ops.value import Value

FLOATS = ("float32", "float64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
WHOLE = ("int8", "int16", "int32", "int64", *UNSIGNED)


def check_key(name: str, key: Any) -> None:
    """Raises `TypeError` for what is not one key."""
    if not isinstance(key, (np.ndarray, Value)):
        found = "NumPy's Generator" if isinstance(key, np.random.Generator) else type(key).__name__
        raise TypeError(f"random.{name} expects a key such as random.key(0), got {found}")
    shape = key.type.sizes if isinstance(key, Value) else key.shape
    shown = shape_text(shape) if isinstance(key, Value) else str(shape).replace(", ", ",")
    if key.dtype == np.uint32 and len(shape) > 1 and shape[-1] == 2:
        raise TypeError(f"random.{name} expects one key, got an array of keys of shape {shown}: use vmap")
    if key.dtype != np.uint32 or len(shape) != 1 or not _is_two(shape[0]):
        raise TypeError(f"random.{name} expects a key, uint32 of shape (2,), got {key.dtype} of shape "
                        f"{shown}")


def _is_two(size: Any) -> bool:
    return current().assumptions.equal(size, 2) if isinstance(size, Size) else size == 2


def take_shape(name: str, shape: Any) -> Any:
    """A shape as a tuple; an integer stands for one axis. Raises `TypeError` for other things, `ValueError` for
    negative sizes."""
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    for size in sizes:
        if not _is_whole(size):
            raise TypeError(f"random.{name} expects a shape, a tuple of integers, got {_named(size)}")
        if isinstance(size, (int, np.integer)) and size < 0:
            raise ValueError(f"random.{name}: negative dimensions are not allowed, got {size}")
    return sizes


def _is_whole(size: Any) -> bool:
    if isinstance(size, Value):
        return size.ndim == 0 and size.dtype.kind in "iu"
    return isinstance(size, (int, np.integer, Size)) and not isinstance(size, bool)


def _named(size: Any) -> str:
    return f"{size.dtype}" if isinstance(size, Value) else type(size).__name__


def take_dtype(name: str, dtype: Any, known: tuple[str, ...]) -> Any:
    """A dtype that the function has. Raises `TypeError` for others."""
    found = np.dtype(dtype)
    if found.name not in known:
        raise TypeError(f"random.{name} supports the dtypes {', '.join(known)}, not {found.name}")
    return found


def are_known(*numbers: Any) -> bool:
    """Whether all are Python's numbers, and the same ones in every call of what is read."""
    return all(isinstance(number, (int, float)) for number in numbers)


def _read_known(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    from .read.values import known_of
    return are_known(*(known_of(reader.usable(arg)) for arg in args))


are_known.__transformer_read__ = _read_known  # type: ignore[attr-defined]
