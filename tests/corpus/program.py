"""A corpus program: a plain NumPy function and a way to draw arguments for it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Example = Callable[..., tuple[Any, ...]]
Dimension = int | str
Shape = tuple[Dimension, ...] | None


@dataclass(frozen=True, eq=False)
class Program:
    """One program of the corpus.

    ``example(rng)`` draws a tuple of arguments away from kinks and ties; an example that also
    takes ``size`` draws them at another size.  ``wrt`` are the positions to differentiate.
    ``order`` is the highest order whose derivative is checked against differences.

    Tags that the tests look at:

    - ``f32``: some of the arithmetic is in float32, so tolerances are wide;
    - ``loops``: the loops of its gradient were wrong once, and are always run;
    - ``results``: the result is an array or a pytree, so only forward mode applies;
    - ``expected``: the point is a kink, where ``expected`` holds the gradient by convention
      (one entry per position in ``wrt``) and differences mean nothing.
    """

    function: Callable[..., Any]
    example: Example
    wrt: tuple[int, ...] = (0,)
    order: int = 2
    name: str = ""
    tags: tuple[str, ...] = ()
    expected: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", self.function.__name__)
        if ("expected" in self.tags) != (self.expected is not None):
            raise ValueError(f"{self.name}: the tag and the field 'expected' go together")

    @property
    def sized(self) -> bool:
        """Whether the example can be drawn at another size."""
        return "size" in inspect.signature(self.example).parameters


def normal(*shapes: Shape, then: tuple[Any, ...] = (), dtype: Any = np.float64) -> Example:
    """Standard normal arguments, one per shape, followed by the fixed arguments ``then``.

    A shape of ``None`` is a Python float, ``()`` a NumPy scalar.  A dimension ``"n"`` is the size
    the caller asks for, ``"m"`` one less.
    """
    return _example(shapes, then, dtype, lambda rng, count: rng.standard_normal(count))


def positive(*shapes: Shape, then: tuple[Any, ...] = (), dtype: Any = np.float64) -> Example:
    """Like ``normal``, with values between 0.5 and 2."""
    return _example(shapes, then, dtype, lambda rng, count: rng.uniform(0.5, 2.0, count))


def apart(*shapes: Shape, then: tuple[Any, ...] = (), dtype: Any = np.float64) -> Example:
    """Like ``normal``, with no two values closer than 0.4 and none within 0.1 of zero."""
    return _example(shapes, then, dtype, _separate)


def fixed(*arguments: Any) -> Example:
    """The same arguments always; arrays are copied for each call."""
    return lambda rng: tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def _separate(rng: np.random.Generator, count: int) -> np.ndarray:
    return 0.4 * (rng.permutation(count) - count // 2) + 0.13


def _example(
    shapes: tuple[Shape, ...],
    then: tuple[Any, ...],
    dtype: Any,
    values: Callable[[np.random.Generator, int], np.ndarray],
) -> Example:
    def draw(rng: np.random.Generator, size: int = 4) -> tuple[Any, ...]:
        extents = [_extents(shape, size) for shape in shapes]
        counts = [int(np.prod(extent or (), dtype=int)) for extent in extents]
        pieces = np.split(values(rng, sum(counts)), np.cumsum(counts)[:-1])
        drawn = [_argument(p, e, dtype) for p, e in zip(pieces, extents, strict=True)]
        return (*drawn, *then)

    if any(isinstance(dimension, str) for shape in shapes for dimension in shape or ()):
        return draw
    return lambda rng: draw(rng)


def _extents(shape: Shape, size: int) -> tuple[int, ...] | None:
    if shape is None:
        return None
    named = {"n": size, "m": size - 1}
    return tuple(named[d] if isinstance(d, str) else d for d in shape)


def _argument(values: np.ndarray, extents: tuple[int, ...] | None, dtype: Any) -> Any:
    if extents is None:
        return float(values[0])
    array = values.reshape(extents).astype(dtype)
    return array[()] if array.ndim == 0 else array
