"""A triangle of a matrix, multiplied by another one: where that one is finite, the rest of a square may be 0.

    for k in range(n):                          unlike = 0
        for i in range(rows):                   for k in range(n):
            for j in range(i):                      for j in range(rows - 1):
                c[k, i] += a[i, j] * b[k, j]            unlike += not np.isfinite(b[k, j])
                                        →       if unlike == 0:
                                                    triangle = np.empty((32, 32)); triangle[:rows, :rows - 1] = 0
                                                    for i in range(rows):
                                                        for j in range(i):
                                                            triangle[i, j] = a[i, j]
                                                    gemm(1.0, b, triangle[:rows, :rows - 1].T, 1, c)
                                                else:
                                                    for k in range(n): …

0 times nan or infinity is nan, and not what the program computes; so there the loops do it, over what counts alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.grammar import Atom, Carry, Const, If, Let, Var
from ...core.sizes import Extent, Size, Unknown
from ...core.types import BOOL, INT, ArrayType
from ...core.walk import atom_of_size, atom_vars
from ...ops.arithmetic import Add, Cast
from ...ops.comparison import Equal, Isfinite
from ...ops.logic import LogicalNot
from ..nest.nests import Allocate, Block, Fold, Index, Load, Nest, Store
from .contractions import Read, Span, moved


def where_finite(read: Read, spans: dict[Var, Span], then: Block, orelse: Block) -> Block:
    """One of two blocks: whether all that is read at these positions is finite."""
    order = sorted(spans, key=lambda var: next(k for k, at in enumerate(read.at) if var in atom_vars((at,))))
    indices = {var: Index(Var(INT), spans[var][1] - spans[var][0]) for var in order}
    places = {var: spans[var][0] + Size.of(Unknown(index.var)) for var, index in indices.items()}
    value, finite, other, one = Var(_number(read.array)), Var(BOOL), Var(BOOL), Var(INT)
    entry, after, count, none = Var(INT), Var(INT), Var(INT), Var(BOOL)
    body: Block = [
        Let((value,), Load, (read.array, *_moved(read.at, places))), Let((finite,), Isfinite, (value,)),
        Let((other,), LogicalNot, (finite,)), Let((one,), Cast, (other,), {"dtype": INT.dtype}),
        Let((after,), Add, (entry, one))]
    zero = Const(0, INT)
    return [Fold(list(indices.values()), [Carry(entry, zero, after, count)], body),
            Let((none,), Equal, (count, zero)), If(none, then, orelse, [], None)]


def filled_up(read: Read, row: Var, column: Var, here: Span, own: Span, whole: Span, most: int) -> tuple[Block, Read]:
    """A copy of what is read in rows `here`, at the columns `own` of each, which may depend on it; it is 0 at others of
    the `whole`. There are at `most` so many of both: its memory has a fixed size, so that numba takes the part that is
    multiplied for one of a matrix, as it does what is multiplied before, and has one `gemm` to compile."""
    number = _number(read.array)
    triangle = Var(ArrayType(number.dtype, (most, most)), "triangle")
    rows, columns = (Index(Var(INT), end - begin) for begin, end in (here, whole))
    zero = Const(number.dtype.type(0), number)
    zeros = Nest([rows], [Nest([columns], [Store(triangle, (rows.var, columns.var), zero)])])
    outer = Index(Var(INT), rows.size)
    place = here[0] + Size.of(Unknown(outer.var))
    start, stop = (moved(end, {row: place}) for end in own)
    inner = Index(Var(INT), stop - start)
    behind, value = start + Size.of(Unknown(inner.var)), Var(number)
    copied: Block = [Let((value,), Load, (read.array, *_moved(read.at, {row: place, column: behind}))),
                     Store(triangle, (outer.var, atom_of_size(behind - whole[0])), value)]
    at = (Size.of(Unknown(row)) - here[0], Size.of(Unknown(column)) - whole[0])
    return [Allocate(triangle, "triangle"), zeros, Nest([outer], [Nest([inner], copied)])], Read(triangle, at)


def _number(array: Any) -> ArrayType:
    return ArrayType(array.type.dtype)


def _moved(at: Sequence[Extent], places: dict[Var, Extent]) -> tuple[Atom, ...]:
    return tuple(atom_of_size(moved(k, places)) for k in at)
