"""Rows that are copied as columns, and back.

What is printed is the Python functions below, copies of them; compiled code turns eight rows at once in registers
(`run/compiling/turns.py`), where LLVM would move single numbers.
"""

# ruff: noqa: D103
from __future__ import annotations

import ast
from typing import Any

from ...core.guards import Assumptions
from ...core.walk import size_of_atom
from ..nest.nests import Turn

WIDTH = 64                             # columns: whole squares
SIDE = 8                               # of a square, which is turned at once


def as_columns(x, first, count, columns):              # type: ignore[no-untyped-def]
    """Rows of x, from the first one, as columns."""
    for i in range(count):
        for j in range(columns.shape[0]):
            columns[j, i] = x[first + i, j]


def as_rows(columns, x, first, count):                 # type: ignore[no-untyped-def]
    """Columns as rows of x, from the first one."""
    for i in range(count):
        for j in range(columns.shape[0]):
            x[first + i, j] = columns[j, i]


def is_by_squares(stmt: Turn, assumptions: Assumptions) -> bool:
    """Whether rows consist of squares, and these of numbers of 4 or 8 bytes."""
    return stmt.body[-1].array.type.dtype.itemsize in (4, 8) and assumptions.is_decided(stmt.indices[1].size - SIDE)


def turned(e: Any, stmt: Turn) -> ast.stmt:
    """The call that is printed for it."""
    rows, place = stmt.indices
    load, store = stmt.body
    source, *at = load.args
    back = at[0] is place.var
    columns, array, places = (source, store.array, store.at) if back else (store.array, source, at)
    first = e.size(size_of_atom(places[-2]) - size_of_atom(rows.var))
    lies = [_part(e.atom(array), list(map(e.atom, places[:-2]))), first, e.size(rows.size)]
    form, args = (as_rows, [e.atom(columns), *lies]) if back else (as_columns, [*lies, e.atom(columns)])
    return ast.Expr(ast.Call(ast.Name(e.numbers.functions.called(form, array.type.dtype)), args, []))


def _part(array: ast.expr, places: list[ast.expr]) -> ast.expr:
    """What is behind the first places of an array."""
    return array if not places else ast.Subscript(array, places[0] if len(places) == 1 else ast.Tuple(places))
