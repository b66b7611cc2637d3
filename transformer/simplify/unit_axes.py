"""Axes of size 1 that something takes out and something else puts in again.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(x: f64[n, m], y: f64[n, 1])
...     effect comment(text='reverse')
...     t: f64[n] = sum(x, axis=1)
...     b: f64[n, 1] = expand_dims(t, axis=1)
...     c: f64[n] = get(y, index=(slice(None, None, None), 0))
...     d: f64[n, 1] = get(c, index=(slice(None, None, None), None))
...     e: f64[n] = squeeze(y, axis=1)
...     g: f64[n, 1] = expand_dims(e, axis=1)
...     return b, d, g
... ''')
function f(x: f64[n, m], y: f64[n, 1])
    effect comment(text='reverse')
    t: f64[n] = sum(x, axis=1)
    b: f64[n, 1] = sum(x, axis=1, keepdims=True)
    c: f64[n] = get(y, index=(slice(None, None, None), 0))
    e: f64[n] = squeeze(y, axis=1)
    return b, y, y
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.grammar import Let, Var
from ..ops.indexing import Get
from ..ops.reduction import gone, leads
from ..ops.shape import ExpandDims
from .changes import with_operand
from .rewriter import array_type
from .shapes import REDUCED, covers

if TYPE_CHECKING:
    from .fold import Fold

REDUCTIONS = ("sum", "mean", "max", "min", "prod", "var", "std", "norm", "any", "all", "count_nonzero")
ALL = slice(None)


@with_operand(*REDUCTIONS)
def _kept(fold: Fold, stmt: Let) -> Any:
    """expand_dims(sum(x, axis=1), 1) → sum(x, axis=1, keepdims=True), for totals without a name."""
    inner = fold.own(stmt.args[0], *REDUCTIONS)
    if inner is None or not _is_anonymous(fold, inner) or inner.attrs.get("keepdims"):
        return None
    axis = inner.attrs.get("axis")
    if axis is None or axis != stmt.attrs["axis"] or leads(axis):
        return None
    return fold.become(stmt, inner.op, *inner.args, **{**inner.attrs, "keepdims": True})


def _is_anonymous(fold: Fold, stmt: Let) -> bool:
    return stmt.target.name is None or fold.is_generated


@with_operand("squeeze")
def _squeezed(fold: Fold, stmt: Let) -> Any:
    """expand_dims(squeeze(x, 1), 1) → x."""
    inner = fold.defined_by(stmt.args[0], "squeeze")
    if inner is None or inner.attrs["axis"] != stmt.attrs["axis"] or not fold.has_type(inner.args[0], stmt.target):
        return None
    return fold.instead(stmt, inner.args[0], copies=False)


@with_operand("get")
def _taken(fold: Fold, stmt: Let) -> Any:
    """x[:, 0][:, None] → x, where there is one column."""
    inner = fold.defined_by(stmt.args[0], "get")
    if inner is None or len(inner.args) > 1 or not fold.has_type(inner.args[0], stmt.target):
        return None
    rank = array_type(inner.args[0]).rank
    index = (*inner.attrs["index"], *[ALL] * rank)[:rank]
    taken = {k for k, entry in enumerate(index) if entry != ALL}
    if any(index[k] != 0 or array_type(inner.args[0]).sizes[k] != 1 for k in taken) or taken != _inserted(stmt):
        return None
    return fold.instead(stmt, inner.args[0], copies=False)


def _inserted(stmt: Let) -> set[int]:
    """The axes that a statement puts in."""
    if stmt.op.name == "expand_dims":
        axis = stmt.attrs["axis"]
        return {axis} if isinstance(axis, int) else set(axis)
    index = stmt.attrs["index"]
    plain = len(stmt.args) == 1 and all(entry is None or entry == ALL for entry in index)
    return {k for k, entry in enumerate(index) if entry is None} if plain else set()


@with_operand(*REDUCED)
def _without(fold: Fold, stmt: Let) -> Any:
    """squeeze(sum(x, axis=1, keepdims=True), 1) → sum(x, axis=1)."""
    inner = fold.own(stmt.args[0], *REDUCED)
    if inner is None or not _keeps(inner, stmt.attrs["axis"]):
        return None
    return fold.become(stmt, inner.op, *inner.args, **_without_kept(inner))


@with_operand("negative", "multiply", "divide")
def _multiple_without(fold: Fold, stmt: Let) -> Any:
    """squeeze(-sum(x, axis=1, keepdims=True), 1) → -sum(x, axis=1)."""
    inner = fold.own(stmt.args[0], "negative", "multiply", "divide")
    wide = [k for k, atom in enumerate(inner.args) if array_type(atom).rank] if inner is not None else []
    total = fold.own(inner.args[wide[0]], *REDUCED) if inner is not None and len(wide) == 1 else None
    if inner is None or total is None or not _keeps(total, stmt.attrs["axis"]) or inner.attrs:
        return None
    small = array_type(total.target).with_sizes(array_type(stmt.target).sizes)
    less = fold.emit(stmt, total.op, *total.args, type=small, **_without_kept(total))
    return fold.become(stmt, inner.op, *inner.args[:wide[0]], less, *inner.args[wide[0] + 1:])


@with_operand("add", "subtract")
def _sum_without(fold: Fold, stmt: Let) -> Any:
    """squeeze(sum(x, axis=1, keepdims=True) - sum(y, axis=1, keepdims=True), 1) → sum(x, axis=1) - sum(y, axis=1)."""
    inner = fold.own(stmt.args[0], "add", "subtract")
    if inner is None or inner.attrs or not fold.is_generated:
        return None
    totals = [fold.own(atom, *REDUCED) for atom in inner.args]
    if not all(total is not None and _keeps(total, stmt.attrs["axis"]) and fold.has_type(total.target, inner.target)
               for total in totals):
        return None
    small = array_type(stmt.target)
    return fold.become(stmt, inner.op, *(fold.emit(stmt, total.op, *total.args, type=small, **_without_kept(total))
                                         for total in totals if total is not None))


@with_operand("get")
def _squeezed_together(fold: Fold, stmt: Let) -> Any:
    """np.squeeze(x[0], axis=1) → np.squeeze(x, axis=(0, 2)), of a first axis of size 1."""
    inner = fold.own(stmt.args[0], "get")
    count = 0 if inner is None else _leading(inner)
    if inner is None or not count:
        return None
    later = gone(array_type(inner.target).rank, stmt.attrs["axis"])
    return fold.become(stmt, stmt.op, inner.args[0], axis=(*range(count), *(k + count for k in later)))


def _leading(stmt: Let) -> int:
    """How many first axes of size 1 a statement takes out, if it does nothing else."""
    index, sizes = stmt.attrs["index"], array_type(stmt.args[0]).sizes
    count = next((k for k, entry in enumerate(index) if entry != 0), len(index))
    plain = len(stmt.args) == 1 and all(entry == ALL for entry in index[count:])
    return count if plain and all(size == 1 for size in sizes[:count]) else 0


@with_operand("get")
def _taken_later(fold: Fold, stmt: Let) -> Any:
    """x[0] / y → (x / y)[0], of a first axis of size 1, in derivatives, to where something else takes out an axis, or
    puts in this one; broadcasting does so by itself."""
    if stmt.attrs or not fold.is_derivative(stmt):
        return None
    for place, atom in enumerate(stmt.args):
        inner = fold.own(atom, "get")
        count = 0 if inner is None or not array_type(inner.target).rank else _leading(inner)
        if inner is None or not count:
            continue
        args = (*stmt.args[:place], inner.args[0], *stmt.args[place + 1:])
        if covers(fold, args, stmt.target):
            return fold.become(stmt, stmt.op, *args)
        if all(array_type(other).rank <= array_type(inner.target).rank for other in stmt.args):
            wide = array_type(stmt.target).with_sizes((1,) * count + array_type(stmt.target).sizes)
            return fold.become(stmt, inner.op, fold.emit(stmt, stmt.op, *args, type=wide), **inner.attrs)
    return None


@with_operand("expand_dims")
def _put_in_by_broadcasting(fold: Fold, stmt: Let) -> Any:
    """np.expand_dims(x, (0, 2)) + y → x[:, None] + y, in derivatives."""
    for place, atom in enumerate(stmt.args):
        inner = fold.own(atom, "expand_dims")
        inserted = _inserted(inner) if inner is not None else set()
        count = next(k for k in range(len(inserted) + 1) if k not in inserted)
        if inner is None or not 0 < count < len(inserted) or not fold.is_derivative(stmt):
            continue
        type = array_type(inner.target)
        small = type.with_sizes(type.sizes[count:])
        if covers(fold, (*stmt.args[:place], small, *stmt.args[place + 1:]), stmt.target):
            index = tuple(None if k in inserted else ALL for k in range(count, type.rank))
            part = fold.emit(stmt, Get, inner.args[0], type=small, index=index)
            return fold.become(stmt, stmt.op, *stmt.args[:place], part, *stmt.args[place + 1:], **stmt.attrs)
    return None


def _kept_before(fold: Fold, stmt: Let) -> Any:
    """mean = np.mean(x, axis=1); np.mean(x, axis=1, keepdims=True) → mean[:, None], in derivatives, if it was computed
    before in the same block."""
    axis, terms = stmt.attrs.get("axis"), stmt.args[0]
    if axis is None or not stmt.attrs.get("keepdims") or not isinstance(terms, Var) or not fold.is_derivative(stmt):
        return None
    alike = (user for user in fold.uses.users.get(terms, ()) if isinstance(user, Let) and user.op is stmt.op)
    for other in alike:
        is_there = fold.is_before(other) and fold.uses.counts.get(other.target)
        if is_there and other.args == stmt.args and _plain(other) == _plain(stmt) and not other.attrs.get("keepdims"):
            return fold.become(stmt, ExpandDims, other.target, axis=axis)
    return None


def _plain(stmt: Let) -> dict[str, Any]:
    return {key: item for key, item in stmt.attrs.items() if key not in ("keepdims", "spelling")}


def _keeps(total: Let, axis: Any) -> bool:
    """Whether a reduction leaves an axis of one element in place of this one."""
    return bool(total.attrs.get("keepdims")) and total.attrs.get("axis") == axis


def _without_kept(total: Let) -> dict[str, Any]:
    return {key: item for key, item in total.attrs.items() if key != "keepdims"}


RULES = {
    "squeeze": [_squeezed_together, _without, _multiple_without, _sum_without],
    "expand_dims": [_kept, _squeezed, _taken],
    "get": [_taken],
    **dict.fromkeys(REDUCTIONS, [_kept_before]),
}
ELEMENTWISE = [_taken_later, _put_in_by_broadcasting]
