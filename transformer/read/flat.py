"""`x.flat`: the elements of an array in C order, whatever its layout. A slice of it is a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops import value as values
from ..ops.value import Value
from .values import View

if TYPE_CHECKING:
    from .reader import Reader


class Flat(View):
    """All elements of an array as a vector; what is written to it is written to the array."""

    __slots__ = ()


def flat(reader: Reader, array: Value) -> Flat:
    """`array.flat`."""
    return Flat(array, _flattened, _shaped_like, reader.journal, _flattened(Value(array.atom)).atom)


def _flattened(whole: Value) -> Value:
    return whole if whole.ndim == 1 else values.call(np.reshape, (whole, -1), {})


def _shaped_like(whole: Value, part: Value) -> Value:
    return part if whole.ndim == 1 else values.call(np.reshape, (part, whole.shape), {})


def assign_flat(reader: Reader, array: Value, given: Any) -> None:
    """`array.flat = given`: what is given is repeated until the array is full."""
    from .calls.array_methods import call_array_method
    from .values import ArrayMethod

    every = Value(values.call(np.arange, (array.size,), {}).atom)
    call_array_method(reader, ArrayMethod(array, "put"), (every, given), {})
