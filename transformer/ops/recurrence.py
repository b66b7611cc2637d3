"""Linear recurrences, which the derivatives of cumulative products are: a loop over rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.builder import current
from ..core.grammar import Carry, Loop, Var
from ..core.types import INT, ArrayType
from ..core.walk import atom_of_size
from .creation import zeros
from .indexing import write
from .value import Value


def recurrence(factors: Any, terms: Any, down: bool = False) -> Any:
    """``r[k] = factors[k] * r[k - 1] + terms[k]`` along the first axis, from ``r[0] = terms[0]``.

    With `down`, ``r[k] = factors[k] * r[k + 1] + terms[k]``, from the last term.

    >>> recurrence(np.array([0.0, 2.0, 3.0]), np.array([1.0, 1.0, 1.0]))
    array([ 1.,  3., 10.])
    """
    if isinstance(factors, Value) or isinstance(terms, Value):
        return _loop(factors, terms, down)
    rows = np.zeros(np.shape(terms), np.result_type(factors, terms))
    row = rows[:0].sum(axis=0)
    for k in reversed(range(len(rows))) if down else range(len(rows)):
        row = rows[k] = factors[k] * row + terms[k]
    return rows


def _loop(factors: Value, terms: Value, down: bool) -> Value:
    builder = current()
    whole = ArrayType(np.result_type(factors.dtype, terms.dtype), terms.shape)
    part = whole.with_sizes(whole.sizes[1:])
    rows, row, position = Var(whole), Var(part), Var(INT, "k")
    with builder.nested() as body:
        k = Value(position)
        new = factors[k] * Value(row) + terms[k]
        filled = write(Value(rows), new, k)
    carries = [Carry(row, zeros(part).atom, new.atom, Var(part)),
               Carry(rows, zeros(whole).atom, filled.atom, Var(whole))]
    trips = atom_of_size(whole.sizes[0])
    builder.emit(Loop(position, trips, carries, body, down=down, origin=builder.origin))
    return Value(carries[1].out)
