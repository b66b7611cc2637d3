"""Sums along columns, in parts: a matrix has few columns, and a device many threads.

    nest j                                      nest c, j
        total = fold x[i, j] over i                 part = fold x[64*c + i, j] over i < 64
        store y, j, total              →            store parts, j, c, part
                                                nest j
                                                    total = fold parts[j, c] over c
                                                    store y, j, total

Neighbouring threads read neighbouring numbers in both: a column's parts are a row, which a block of threads adds up.
"""

from __future__ import annotations

from typing import Any

from ...core.grammar import Let, Var
from ...core.types import ArrayType
from ...core.walk import atom_vars
from ..nest.copying import NestCopier
from ..nest.nest_walk import defined, inner_blocks, statements
from ..nest.nests import Allocate, Block, Fold, Index, Nest, Store
from ..threads.threads import in_parts
from .private import moved
from .shares import is_along_rows, is_combined

ROWS = 64                              # that a thread adds up


def columns_in_parts(block: Block, only_long: bool = False) -> Block:
    """The block with long folds along columns in parts; with `only_long` it stays what it is."""
    if only_long:
        return block
    made: Block = []
    for stmt in block:
        if not isinstance(stmt, (Nest, Fold)):
            for inner in inner_blocks(stmt):
                inner[:] = columns_in_parts(inner)
        made += _in_parts(stmt) if isinstance(stmt, Nest) and _is_long(stmt) else [stmt]
    return made


def _is_long(nest: Nest) -> bool:
    """Whether a nest is over the columns of a matrix, with one fold along them."""
    folds = [stmt for stmt in nest.body if isinstance(stmt, Fold)]
    if nest.ordered or len(nest.indices) != 1 or len(folds) != 1 or is_along_rows(nest):
        return False
    before = nest.body[:nest.body.index(folds[0])]
    inside = {nest.indices[0].var, *(var for stmt in before for var in defined(stmt))}
    return (inside.isdisjoint(atom_vars((folds[0].indices[0].size,))) and all(isinstance(stmt, Let) for stmt in before)
            and not isinstance(folds[0].indices[0].size, int)
            and not any(isinstance(stmt, (Store, Nest)) for stmt in statements(folds[0].body))
            and is_combined(folds[0]))


def _in_parts(nest: Nest) -> Block:
    at = next(k for k, stmt in enumerate(nest.body) if isinstance(stmt, Fold))
    before, behind = nest.body[:at], nest.body[at + 1:]
    fold: Any = nest.body[at]
    lengths = [1] * (len(fold.indices) - 1)                              # of a stack, each matrix by itself
    *arrays, chunks, whole = in_parts(fold, *lengths, ROWS)
    first: Any = Nest([*chunks.indices, *nest.indices], [*before, *chunks.body], nest.origin, apart=chunks.apart)
    nest.body = [*before, whole, *behind]
    made = [_with_column(stmt, [first, nest], nest.indices[0]) for stmt in arrays]
    return [*made, NestCopier().stmt(first), nest]


def _with_column(stmt: Allocate, users: Block, column: Index) -> Allocate:
    """Memory for parts of all columns, a row for each."""
    type: Any = stmt.target.type
    wide = Var(ArrayType(type.dtype, (column.size, *type.sizes)), stmt.target.name)
    moved(users, stmt, wide, lambda at: (column.var, *at))
    return Allocate(wide, stmt.maker, stmt.origin)
