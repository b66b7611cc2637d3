"""Writing into arrays: what is written into zeros, into all of an array, or twice.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(d: f64[n], x: f64[n], e: f64, i: int)
...     a: f64[n] = zeros(shape=(<n>,))
...     b: f64[n] = addat(a, e, index=(0,))
...     c: f64[n] = put(d, 0, i, index=(Slot(k=0),))
...     g: f64[n] = addat(c, e, i, index=(Slot(k=0),))
...     h: f64[n] = zeros(shape=(<n>,))
...     j: f64[n] = put(h, e, index=(slice(None, None, None),))
...     return b, g, j
... ''')
function f(d: f64[n], x: f64[n], e: f64, i: int)
    a: f64[n] = zeros(shape=(<n>,))
    b: f64[n] = put(a, e, index=(0,))
    c: f64[n] = put(d, 0, i, index=(Slot(k=0),))
    g: f64[n] = put(d, e, i, index=(Slot(k=0),))
    h: f64[n] = zeros(shape=(<n>,))
    j: f64[n] = full(e, shape=(<n>,))
    return b, g, j
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.grammar import Atom, Let, Var, type_of
from ..core.sizes import Extent, Size, Unknown
from ..ops.creation import Full
from ..ops.indexing import Put
from ..ops.regions import Slot, is_mask, rank_of
from .neutral import is_zero, known, number
from .rewriter import array_type, same_atom
from .shapes import is_whole

if TYPE_CHECKING:
    from .fold import Fold

CREATED = ("zeros", "ones", "empty", "full")
LONGEST_CHAIN = 50


def _nothing_added(fold: Fold, stmt: Let) -> Any:
    """x[I] += 0 → x."""
    if number(stmt.args[1]) == 0 or fold.defined_by(stmt.args[1], "zeros"):
        return fold.instead(stmt, stmt.args[0], copies=False)
    return None


def _zero_again(fold: Fold, stmt: Let) -> Any:
    """zeros[I] = 0 → zeros."""
    if fold.defined_by(stmt.args[0], "zeros") and is_zero(fold, stmt.args[1]):
        return fold.instead(stmt, stmt.args[0], copies=False)
    return None


def _filled(fold: Fold, stmt: Let) -> Any:
    """zeros[:] = v → v, or an array filled with it."""
    x, v = stmt.args[:2]
    if len(stmt.args) > 2 or not is_whole(stmt.attrs["index"]):
        return None
    if fold.defined_by(x, *CREATED) is None:
        return None
    own, wanted = array_type(v), array_type(stmt.target)
    if fold.same_type(own, wanted):
        return fold.or_copy(stmt, v)
    if own.sizes:
        return None
    dtype = {} if own.dtype == wanted.dtype else {"dtype": wanted.dtype}
    return fold.become(stmt, Full, v, shape=wanted.sizes, **dtype)


def _added_to_zero(fold: Fold, stmt: Let) -> Any:
    """zeros[I] += v → zeros[I] = v, and x[I] = 0; x[I] += v → x[I] = v; also with writes in between
    that certainly do not touch I."""
    if not _selects_once(stmt):
        return None
    user, version, alone = stmt, stmt.args[0], True
    for _ in range(LONGEST_CHAIN):
        if fold.defined_by(version, "zeros"):
            return fold.become(stmt, Put, *stmt.args, **stmt.attrs)
        before = fold.defined_by(version, "put", "addat")
        if before is None:
            return None
        alone = alone and fold.uses.once(before.target)
        if alone and _clears(fold, before) and _same_place(before, stmt):
            _pass_by(fold, user, before)
            return fold.become(stmt, Put, *stmt.args, **stmt.attrs)
        if not _apart(fold, before, stmt):
            return None
        user, version = before, before.args[0]
    return None


def _clears(fold: Fold, write: Let) -> bool:
    return write.op is Put and is_zero(fold, write.args[1])


def _written_twice(fold: Fold, stmt: Let) -> Any:
    """x[I] = v; x[I] = w → x[I] = w."""
    before = fold.own(stmt.args[0], "put", "addat")
    if before is None or not _same_place(before, stmt):
        return None
    _pass_by(fold, stmt, before)
    return fold.become(stmt, Put, *stmt.args, **stmt.attrs)


def _pass_by(fold: Fold, user: Let, write: Let) -> None:
    """Lets the only user of a write take what was there before it."""
    fold.become(user, user.op, write.args[0], *user.args[1:], **user.attrs)


def _same_place(first: Let, second: Let) -> bool:
    slots = first.args[2:], second.args[2:]
    return (first.attrs["index"] == second.attrs["index"] and len(slots[0]) == len(slots[1])
            and all(map(same_atom, *slots)))


def _selects_once(stmt: Let) -> bool:
    """Whether the index of a write means no element twice."""
    if stmt.attrs.get("distinct"):
        return True
    types = [type_of(atom) for atom in stmt.args[2:]]
    return all(is_mask(type) or not rank_of(type) for type in types)


# -- writes that do not touch each other -----------------------------------------------------------

class Interval(NamedTuple):
    """Positions ``base + low <= position < base + high`` along an axis, none of them negative;
    `high` is None where they go on to the end."""

    base: Atom | None
    low: Extent
    high: Extent | None


def _apart(fold: Fold, first: Let, second: Let) -> bool:
    """Whether two writes certainly touch different elements."""
    indices = [_entries(stmt) for stmt in (first, second)]
    if indices[0] is None or indices[1] is None:
        return False
    for a, b in zip(*indices, strict=False):
        left, right = _interval(fold, a), _interval(fold, b)
        if left is None or right is None or left.base is not right.base:
            continue
        if _is_before(fold, left, right) or _is_before(fold, right, left):
            return True
    return False


def _is_before(fold: Fold, left: Interval, right: Interval) -> bool:
    return left.high is not None and fold.assumptions.certainly_at_least(right.low, left.high)


def _entries(stmt: Let) -> list[Any] | None:
    """The entries of an index, one per axis: atoms for slots. None if there are arrays in it."""
    slots = stmt.args[2:]
    if any(is_mask(type_of(atom)) or rank_of(type_of(atom)) for atom in slots):
        return None
    entries = [entry for entry in stmt.attrs["index"] if entry is not None]
    return [slots[entry.k] if isinstance(entry, Slot) else entry for entry in entries]


def _interval(fold: Fold, entry: Any) -> Interval | None:
    if isinstance(entry, slice):
        return _slice_interval(fold, entry)
    if isinstance(entry, int):
        return Interval(None, entry, entry + 1) if entry >= 0 else None
    base, offset = _affine(fold, entry)
    if base is None or _least(fold, base) + offset >= 0:
        return Interval(base, offset, offset + 1)
    return None


def _slice_interval(fold: Fold, entry: slice) -> Interval | None:
    low = 0 if entry.start is None else entry.start
    if entry.step not in (None, 1) or not _is_position(fold, low):
        return None
    return Interval(None, low, entry.stop if _is_position(fold, entry.stop) else None)


def _is_position(fold: Fold, bound: Any) -> bool:
    """Whether a bound is known to count from the start."""
    return isinstance(bound, (int, Size)) and fold.assumptions.certainly_at_least(bound, 0)


def _affine(fold: Fold, atom: Atom) -> tuple[Var | None, int]:
    """An integer as a variable and a shift."""
    shift = 0
    while isinstance(atom, Var):
        stmt = fold.defined_by(atom, "add", "subtract")
        if stmt is None:
            return atom, shift
        first, second = stmt.args
        if stmt.op.name == "add" and type(number(first)) is int:
            first, second = second, first
        step = number(second)
        if type(step) is not int:
            return atom, shift
        shift += step if stmt.op.name == "add" else -step
        atom = first
    value = known(atom)
    return (None, shift + value) if type(value) is int else (None, -1)


def _least(fold: Fold, var: Var) -> float:
    """A number that an integer is certainly not below."""
    if var in fold.positions:
        return 0
    low, _ = fold.assumptions.ranges.get(Unknown(var), (None, None))
    return low if isinstance(low, int) else -math.inf


RULES = {
    "addat": [_nothing_added, _added_to_zero],
    "put": [_zero_again, _filled, _written_twice],
}
