"""Elements of parts of arrays, and of arrays that hold one number, in derivatives: there each of them is in its array.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(x: f64[n], y: f64[1], s: f64)
...     effect comment(text='reverse')
...     a: f64[n - 1] = get(x, index=(slice(1, None, None),))
...     b: f64 = get(a, index=(2,))
...     c: f64 = sum(y)
...     d: f64[1] = full(s, shape=(1,))
...     e: f64 = get(d, index=(0,))
...     return b, c, e
... ''')
function f(x: f64[n], y: f64[1], s: f64)
    effect comment(text='reverse')
    a: f64[n - 1] = get(x, index=(slice(1, None, None),))
    b: f64 = get(x, index=(3,))
    c: f64 = get(y, index=(0,))
    d: f64[1] = full(s, shape=(1,))
    return b, c, s
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.grammar import Atom, Const, Let, Var
from ..core.sizes import Extent
from ..core.types import INT
from ..core.walk import WRITES, atom_of_size, size_of_atom
from ..ops.arithmetic import Add
from ..ops.indexing import Get
from ..ops.regions import Slot
from .changes import with_operand
from .rewriter import array_type

if TYPE_CHECKING:
    from .fold import Fold

BACKWARDS = (slice(None, None, -1),)


@with_operand("get")
def _of_part(fold: Fold, stmt: Let) -> Any:
    """x[a:][1] → x[a + 1], in derivatives and of a part that has no name."""
    part, place = fold.defined_by(stmt.args[0], "get"), _place(stmt)
    if part is None or place is None or _is_written(fold, part.args[0]):
        return None
    if not fold.is_generated and part.target.name is not None:
        return None
    start, stop = _bounds(part)
    if start is not None and place >= 0 and fold.assumptions.certainly_at_least(start, 0):
        return _element(fold, stmt, part.args[0], start + place)
    is_end = place < 0 and start is not None and stop is None
    return _element(fold, stmt, part.args[0], place) if is_end else None


@with_operand("get")
def _in_turn(fold: Fold, stmt: Let) -> Any:
    """x[1:][k] → x[k + 1], in a loop that comes by each row of a part that has no name."""
    part = fold.defined_by(stmt.args[0], "get")
    if part is None or part.target.name is not None or len(stmt.args) != 2 or _is_written(fold, part.args[0]):
        return None
    position = stmt.args[1]
    index = _first_axes(stmt)
    trips = fold.positions.get(position) if index[:1] == (Slot(0),) and isinstance(position, Var) else None
    start, _ = _bounds(part)
    if trips is None or not isinstance(start, int) or start < 0 or array_type(part.target).sizes[:1] != (trips,):
        return None
    place = position if start == 0 else fold.emit(stmt, Add, position, Const(start), type=INT)
    return fold.become(stmt, Get, part.args[0], place, **stmt.attrs)


def _place(stmt: Let) -> int | None:
    """The number k of ``x[k]``."""
    entry, *others = _first_axes(stmt)
    if others:
        return None
    atom = stmt.args[1 + entry.k] if isinstance(entry, Slot) else entry
    return int(atom.value) if isinstance(atom, Const) else atom if type(atom) is int else None


def _bounds(part: Let) -> tuple[Extent | None, Atom | None]:
    """Where ``x[a:b]`` begins, None where a part is of another kind, and where it ends."""
    index = _first_axes(part)
    if len(index) != 1 or not isinstance(index[0], slice) or index[0].step not in (None, 1):
        return None, Const(0)
    start, stop = (part.args[1 + end.k] if isinstance(end, Slot) else end for end in (index[0].start, index[0].stop))
    return 0 if start is None else start if isinstance(start, int) else size_of_atom(start), stop


def _first_axes(stmt: Let) -> tuple[Any, ...]:
    """An index without the whole axes at its end."""
    index = stmt.attrs["index"]
    while len(index) > 1 and index[-1] == slice(None):
        index = index[:-1]
    return tuple(index)


def _is_written(fold: Fold, array: Any) -> bool:
    """Whether an array is written to after it was read: a later look might see that."""
    users = fold.uses.users.get(array, ())
    return any(isinstance(user, Let) and user.op.name in WRITES and user.args[0] is array for user in users)


def _element(fold: Fold, stmt: Let, array: Any, place: Extent) -> Any:
    others = stmt.attrs["index"][1:]
    if isinstance(place, int):
        return fold.become(stmt, Get, array, index=(place, *others))
    return fold.become(stmt, Get, array, atom_of_size(place), index=(Slot(0), *others))


@with_operand("full")
def _of_filled(fold: Fold, stmt: Let) -> Any:
    """np.full(n, s)[k] → s."""
    filled = fold.defined_by(stmt.args[0], "full")
    if filled is None or array_type(stmt.target).sizes or not fold.is_generated:
        return None
    return fold.instead(stmt, filled.args[0])


@with_operand("get")
def _turned_back(fold: Fold, stmt: Let) -> Any:
    """x[::-1][::-1] → x, in derivatives."""
    inner = _turn(fold, stmt.args[0])
    if inner is None or _first_axes(stmt) != BACKWARDS or not fold.is_generated:
        return None
    return fold.instead(stmt, inner.args[0], copies=False)


@with_operand("multiply", "divide", "negative")
def _turned_multiple(fold: Fold, stmt: Let) -> Any:
    """(2 * x[::-1])[::-1] → 2 * x, in derivatives."""
    inner = fold.own(stmt.args[0], "multiply", "divide", "negative")
    if inner is None or inner.attrs or _first_axes(stmt) != BACKWARDS or not fold.is_generated:
        return None
    wide = [k for k, atom in enumerate(inner.args) if array_type(atom).rank]
    turn = _turn(fold, inner.args[wide[0]]) if len(wide) == 1 else None
    if turn is None:
        return None
    return fold.become(stmt, inner.op, *inner.args[:wide[0]], turn.args[0], *inner.args[wide[0] + 1:])


def _turn(fold: Fold, atom: Atom) -> Let | None:
    """The statement that turns an array, which nobody writes to, around."""
    inner = fold.defined_by(atom, "get")
    is_turn = inner is not None and _first_axes(inner) == BACKWARDS and not _is_written(fold, inner.args[0])
    return inner if is_turn else None


@with_operand("stack")
def _of_stack(fold: Fold, stmt: Let) -> Any:
    """np.stack([x, y])[1] → y, of a stack that has no name."""
    stack, place = fold.defined_by(stmt.args[0], "stack"), _place(stmt)
    if stack is None or stack.target.name is not None or stack.attrs.get("axis", 0) != 0 or place is None:
        return None
    rows = stack.args
    return fold.instead(stmt, rows[place]) if -len(rows) <= place < len(rows) else None


def _sum_of_one(fold: Fold, stmt: Let) -> Any:
    """np.sum(x) → x[0] where x has one element."""
    type = array_type(stmt.args[0])
    plain = stmt.attrs.keys() <= {"spelling"} and type.dtype == array_type(stmt.target).dtype
    if type.sizes != (1,) or not plain or not fold.is_generated or array_type(stmt.target).sizes:
        return None
    return fold.become(stmt, Get, stmt.args[0], index=(0,))


RULES = {"get": [_of_part, _in_turn, _of_filled, _turned_back, _turned_multiple, _of_stack], "sum": [_sum_of_one]}
