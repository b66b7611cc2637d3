"""Elements of rows are elements of the whole: `x[i][j]`, also where a row is taken out, written to and put back.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(x: f64[n, m], v: f64, j: int)
...     c: f64[m] = get(x, 0, index=(Slot(k=0), slice(None, None, None)))
...     d: f64[m] = put(c, v, j, index=(Slot(k=0),))
...     e: f64[n, m] = put(x, d, 0, index=(Slot(k=0), slice(None, None, None)))
...     return e
... ''')
function f(x: f64[n, m], v: f64, j: int)
    c: f64[m] = get(x, 0, index=(Slot(k=0), slice(None, None, None)))
    d: f64[m] = put(c, v, j, index=(Slot(k=0),))
    e: f64[n, m] = put(x, v, 0, j, index=(Slot(k=0), Slot(k=1)))
    return e
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.grammar import Let, type_of
from ..core.walk import WRITES
from ..ops.indexing import Get, Put
from ..ops.regions import Slot, rank_of
from .changes import with_operand
from .rewriter import same_atom

if TYPE_CHECKING:
    from .fold import Fold


@with_operand("get")
def _of_row(fold: Fold, stmt: Let) -> Any:
    """x[i][j] → x[i, j], where x has not been written in between."""
    row = fold.defined_by(stmt.args[0], "get")
    if row is None or row.target.name is not None or not _is_row(row, row.args[1:]) or _has_arrays(stmt.args[1:]) or (
            _was_written(fold, row.args[0])):
        return None
    index, slots = _joined(row, row.args[1:], stmt, stmt.args[1:])
    return fold.become(stmt, Get, row.args[0], *slots, **{**stmt.attrs, "index": index})


@with_operand("put")
def _into_row(fold: Fold, stmt: Let) -> Any:
    """row = x[i]; row[j] = v; x[i] = row → x[i, j] = v."""
    inner = fold.defined_by(stmt.args[1], "put")
    row = None if inner is None else fold.defined_by(inner.args[0], "get", "copy")
    if row is not None and row.op.name == "copy":
        row = fold.defined_by(row.args[0], "get")
    if inner is None or row is None or row.args[0] is not stmt.args[0] or not _is_row(row, row.args[1:]) or (
            _has_arrays(inner.args[2:])) or not (
            row.attrs["index"] == stmt.attrs["index"] and all(map(same_atom, row.args[1:], stmt.args[2:]))):
        return None
    index, slots = _joined(row, row.args[1:], inner, inner.args[2:])
    return fold.become(stmt, Put, stmt.args[0], inner.args[1], *slots, **{**inner.attrs, "index": index})


def _is_row(stmt: Let, slots: tuple[Any, ...]) -> bool:
    """Whether an index is of positions, and then whole axes: at least one of either."""
    index = stmt.attrs["index"]
    first = _positions(index)
    return 0 < first < len(index) and all(entry == slice(None) for entry in index[first:]) and not _has_arrays(slots)


def _has_arrays(slots: tuple[Any, ...]) -> bool:
    """Whether an index has arrays: `x[i, :, places]` puts their axes in front, and `x[i][:, places]` does not."""
    return any(rank_of(type_of(slot)) for slot in slots)


def _positions(index: tuple[Any, ...]) -> int:
    return next((k for k, entry in enumerate(index) if not isinstance(entry, (Slot, int))), len(index))


def _joined(row: Let, slots: tuple[Any, ...], inner: Let, others: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[Any]]:
    """The index of a row with that of a part of it, and what both take."""
    def moved(entry: Any) -> Any:
        if isinstance(entry, slice):
            return slice(*(moved(end) for end in (entry.start, entry.stop, entry.step)))
        return Slot(entry.k + len(slots)) if isinstance(entry, Slot) else entry

    index = row.attrs["index"]
    return (*index[:_positions(index)], *map(moved, inner.attrs["index"])), [*slots, *others]


def _was_written(fold: Fold, array: Any) -> bool:
    """Whether the memory of an array may hold something else by now."""
    return any(isinstance(user, Let) and user.op.name in WRITES and user.args[0] is array
               and user.target in fold.definition for user in fold.uses.users.get(array, ()))


RULES = {"get": [_of_row], "put": [_into_row]}
