"""What loops record, as arrays: `stacked` makes an array of a sequence, `unstacked` takes it apart.

A sequence has one element per position of the loop that recorded it; its array has one row per
position. They are each other's transposes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.builder import current
from ..core.grammar import Var
from ..core.sizes import Extent
from ..core.types import ArrayType, SeqType
from .base import Op
from .value import Value


class Stacked(Op):
    """The array whose row `k` is element `k` of a sequence; `length` is how many there are."""

    of_sequences = True
    linear = "seq"
    operands = ("seq",)
    silent = ("length",)
    view = True  # a record is kept as an array, and that is it

    def types(seq: Any, length: Extent = 0) -> ArrayType:
        element = seq.element
        assert isinstance(element, ArrayType), f"a sequence of {element} is no array"
        return ArrayType(element.dtype, (length, *element.sizes))

    def vjp(dy, seq, length=0):
        return unstacked(dy)

    def run(seq, length=0):
        return np.stack(seq) if len(seq) else np.zeros(0)

    def batch(lead, seq, length=0):
        rows = stacked(seq.atom, length) if isinstance(seq, Value) else np.stack(seq)
        return np.moveaxis(rows, 1, 0)


class Unstacked(Op):
    """The sequence of the rows of an array."""

    of_sequences = True
    linear = "array"
    view = True

    def types(array: ArrayType) -> SeqType:
        return SeqType(ArrayType(array.dtype, array.sizes[1:]))

    def vjp(dy, array):
        return stacked(dy.atom, array.shape[0]) if isinstance(dy, Value) else np.stack(dy)

    def run(array):
        return list(array)

    def batch(lead, array):
        return unstacked(np.moveaxis(array, 1, 0))


def stacked(seq: Var, length: Extent) -> Value:
    """Emits the array of a sequence."""
    types = [Stacked.types(seq.type, length)]
    return Value(current().let(Stacked, (seq,), {"length": length}, types)[0])


def unstacked(array: Any) -> Any:
    """Emits the sequence of an array's rows (or takes the rows of an array)."""
    if not isinstance(array, Value):
        return list(array)
    return Value(current().let(Unstacked, (array.atom,), {}, [Unstacked.types(array.type)])[0])


class ZerosLike(Op):
    """Zeros for a sequence, ragged where it is: the cotangent of one that a branch did not read."""

    name = "zeros_like_sequence"
    of_sequences = True
    derivative = None, "zeros do not depend on anything"

    def types(seq: SeqType) -> SeqType:
        return seq

    def run(seq):
        if seq is None:                         # not defined on this path
            return None
        return [ZerosLike.run(item) if isinstance(item, list) else np.zeros_like(item) for item in seq]

    def batch(lead, seq):
        return ZerosLike.applied(seq)
