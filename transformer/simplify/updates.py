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
...     k: f64 = get(x, i, index=(Slot(k=0),))
...     l: f64[n] = put(x, k, i, index=(Slot(k=0),))
...     return b, g, j, l
... ''')
function f(d: f64[n], x: f64[n], e: f64, i: int)
    a: f64[n] = zeros(shape=(<n>,))
    b: f64[n] = put(a, e, index=(0,))
    c: f64[n] = put(d, 0, i, index=(Slot(k=0),))
    g: f64[n] = put(d, e, i, index=(Slot(k=0),))
    h: f64[n] = zeros(shape=(<n>,))
    j: f64[n] = full(e, shape=(<n>,))
    k: f64 = get(x, i, index=(Slot(k=0),))
    return b, g, j, x
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.grammar import Atom, Const, Let, Var
from ..core.halves import promoted
from ..ops.creation import Full
from ..ops.indexing import AddAt, Put
from ..ops.literals import Array
from .apart import are_apart, selects_once, written_part
from .changes import CONSTANT, with_operand
from .neutral import is_zero, number
from .rewriter import array_type, same_atom
from .shapes import is_whole

if TYPE_CHECKING:
    from .fold import Fold

CREATED = ("zeros", "ones", "empty", "full")
LONGEST_CHAIN = 50
ZERO = Const(0.0)
LONGEST_LITERAL = 6            # items that are written as `np.array([a, b, c])`


@with_operand(CONSTANT, "zeros")
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


@with_operand("get")
def _written_back(fold: Fold, stmt: Let) -> Any:
    """x[I] = x[I] → x."""
    read = fold.defined_by(stmt.args[1], "get")
    if read is not None and read.args[0] is stmt.args[0] and same_index(read, read.args[1:], stmt, stmt.args[2:]):
        return fold.instead(stmt, stmt.args[0], copies=False)
    return None


def _filled(fold: Fold, stmt: Let) -> Any:
    """zeros[:] = v → v, or an array filled with it; x[:] = 0 → zeros, in generated code that uses x elsewhere."""
    x, v = stmt.args[:2]
    if len(stmt.args) > 2 or not is_whole(stmt.attrs["index"]):
        return None
    cleared = fold.is_generated and number(v) == 0 and isinstance(x, Var) and not fold.uses.once(x)
    if not cleared and fold.defined_by(x, *CREATED) is None:
        return None
    own, wanted = array_type(v), array_type(stmt.target)
    if fold.same_type(own, wanted):
        return fold.or_copy(stmt, v)
    if own.sizes:
        return None
    dtype = {} if own.dtype == wanted.dtype else {"dtype": wanted.dtype}
    return fold.become(stmt, Full, v, shape=wanted.sizes, **dtype)


def _only_item(fold: Fold, stmt: Let) -> Any:
    """zeros((1, 1))[0, 0] = v → an array filled with v, in generated code."""
    wanted, v, index = array_type(stmt.target), stmt.args[1], stmt.attrs["index"]
    if not fold.is_generated or set(wanted.sizes) != {1} or not all(type(entry) is int for entry in index):
        return None
    if len(index) < wanted.rank or array_type(v).sizes or fold.defined_by(stmt.args[0], *CREATED) is None:
        return None
    dtype = {} if array_type(v).dtype == wanted.dtype else {"dtype": wanted.dtype}
    return fold.become(stmt, Full, v, shape=wanted.sizes, **dtype)


def _added_to_zero(fold: Fold, stmt: Let) -> Any:
    """zeros[I] += v → zeros[I] = v, and x[I] = 0; x[I] += v → x[I] = v; also with writes in between
    that certainly do not touch I."""
    if not selects_once(fold, stmt):
        return None
    user, version, alone, part = stmt, stmt.args[0], True, written_part(fold, stmt)
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
        if not are_apart(fold, written_part(fold, before), part):
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


def _all_written(fold: Fold, stmt: Let) -> Any:
    """a = zeros(2); a[1] = v; a[0] = w → a = array([w, v]), in generated code; likewise where only half is written."""
    type = array_type(stmt.target)
    length = type.sizes[0] if len(type.sizes) == 1 else None
    if not fold.is_generated or not isinstance(length, int) or length > LONGEST_LITERAL:
        return None
    items: dict[int, Any] = {}
    write: Let | None = stmt
    while write is not None and write.op is Put and (place := _fixed_place(write)) is not None:
        items.setdefault(place % length, write.args[1])
        base = write.args[0]
        if fold.defined_by(base, "zeros"):
            if len(items) < length and (2 * len(items) < length or _is_written_on(fold, stmt)):
                return None
            return _literal(fold, stmt, [items.get(k, ZERO) for k in range(length)])
        write = fold.own(base, "put")
    return None


def _is_written_on(fold: Fold, write: Let) -> bool:
    """Whether something is written to an array behind a write."""
    return any(isinstance(user, Let) and user.op in (Put, AddAt) and user.args[0] is write.target
               for user in fold.uses.users.get(write.target, ()))


def _fixed_place(write: Let) -> int | None:
    """The number that is the whole index of a write."""
    index = write.attrs["index"]
    return index[0] if len(index) == 1 and type(index[0]) is int else None


def _literal(fold: Fold, stmt: Let, items: list[Any]) -> Any:
    wanted = array_type(stmt.target).dtype
    natural = promoted(array_type(item).dtype for item in items)
    return fold.become(stmt, Array, *items, **({} if natural == wanted else {"dtype": wanted}))


def _pass_by(fold: Fold, user: Let, write: Let) -> None:
    """Lets the only user of a write take what was there before it."""
    fold.become(user, user.op, write.args[0], *user.args[1:], **user.attrs)


def _same_place(first: Let, second: Let) -> bool:
    return same_index(first, first.args[2:], second, second.args[2:])


def same_index(first: Let, slots: Sequence[Atom], second: Let, others: Sequence[Atom]) -> bool:
    """Whether two statements have one index, each with its slots."""
    return (first.attrs["index"] == second.attrs["index"] and len(slots) == len(others)
            and all(map(same_atom, slots, others)))


RULES = {
    "addat": [_nothing_added, _added_to_zero],
    "put": [_zero_again, _written_back, _filled, _only_item, _written_twice, _all_written],
}
