"""What the arguments of random functions have to be: keys, shapes and dtypes. Errors say what was given."""

from __future__ import annotations

from typing import Any

import numpy as np

FLOATS = ("float32", "float64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
WHOLE = ("int8", "int16", "int32", "int64", *UNSIGNED)


def take_key(name: str, key: Any) -> Any:
    """The two words of a key. Raises `TypeError` for anything else."""
    if not isinstance(key, np.ndarray):
        raise TypeError(f"random.{name} takes a key, as random.key(0) gives, not {type(key).__name__}")
    if key.dtype != np.uint32 or key.ndim == 0 or key.shape[-1] != 2:
        raise TypeError(f"random.{name} takes a key, which is uint32 of shape (2,), got {key.dtype} of shape {key.shape}")
    if key.ndim > 1:
        raise TypeError(f"random.{name} takes one key, got an array of keys of shape {key.shape}: use vmap")
    return key[0], key[1]


def take_shape(name: str, shape: Any) -> Any:
    """A shape as a tuple; an integer stands for one axis."""
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    for size in sizes:
        if isinstance(size, (bool, np.bool)) or not isinstance(size, (int, np.integer)):
            raise TypeError(f"random.{name} takes a shape, which is a tuple of integers, got {type(size).__name__}")
    return sizes


def take_dtype(name: str, dtype: Any, known: tuple[str, ...]) -> Any:
    """A dtype that the function has. Raises `TypeError` for others."""
    found = np.dtype(dtype)
    if found.name not in known:
        raise TypeError(f"random.{name} has dtypes {', '.join(known)}, not {found.name}")
    return found


def of_parameters(name: str, shape: Any, *parameters: Any) -> Any:
    """The shape of the result: that of the parameters, or one to which they broadcast."""
    own = np.broadcast_shapes(*[np.shape(parameter) for parameter in parameters])
    if shape is None:
        return own
    sizes = take_shape(name, shape)
    if np.broadcast_shapes(sizes, own) != sizes:
        raise ValueError(f"random.{name} of parameters of shape {own} does not give shape {sizes}")
    return sizes


def are_known(*numbers: Any) -> bool:
    """Whether all are Python's numbers, and the same ones in every call of what is read."""
    return all(isinstance(number, (int, float)) for number in numbers)


def _read_known(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    from ..read.values import known_of
    return are_known(*(known_of(reader.usable(arg)) for arg in args))


are_known.__transformer_read__ = _read_known  # type: ignore[attr-defined]
