"""Numbers that a derivative puts into rows of zeros, one in each: rows need not be added up for them, and what else is
added to the zeros is what they are added to.

The derivative of a cross entropy comes out as probabilities less one where the class is:

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(p: f64[n, m], classes: i64[n], t: f64)
...     effect comment(text='reverse')
...     rows: i64[n] = arange(stop=<n>)
...     z: f64[n, m] = zeros(shape=(<n>, <m>))
...     d: f64[n, m] = put(z, t, rows, classes, index=(Slot(k=0), Slot(k=1)), distinct=True)
...     s: f64[n, 1] = sum(d, axis=1, keepdims=True)
...     q: f64[n, m] = multiply(s, p)
...     dx: f64[n, m] = subtract(d, q)
...     return dx
... ''')
function f(p: f64[n, m], classes: i64[n], t: f64)
    effect comment(text='reverse')
    rows: i64[n] = arange(stop=<n>)
    z: f64[n, m] = zeros(shape=(<n>, <m>))
    d: f64[n, m] = put(z, t, rows, classes, index=(Slot(k=0), Slot(k=1)), distinct=True)
    s: f64[n, 1] = full(t, shape=(<n>, 1))
    q: f64[n, m] = multiply(t, p)
    t_1: f64[n, m] = negative(q)
    dx: f64[n, m] = addat(t_1, t, rows, classes, index=(Slot(k=0), Slot(k=1)), distinct=True)
    return dx
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.grammar import Atom, Let, Var, type_of
from ..core.types import ArrayType
from ..ops.arithmetic import Negative, Subtract
from ..ops.creation import Full
from ..ops.indexing import AddAt
from ..ops.ranges import Arange
from ..ops.regions import Slot
from .apart import selects_once
from .changes import with_operand
from .rewriter import array_type

if TYPE_CHECKING:
    from .fold import Fold


@with_operand("put")
def _one_in_each_row(fold: Fold, stmt: Let) -> Any:
    """np.sum(d, axis=1) → v, for zeros d with d[np.arange(len(d)), k] = v."""
    put = _into_zeros(fold, stmt.args[0])
    if put is None or not fold.is_derivative(stmt) or not stmt.attrs.keys() <= {"axis", "keepdims", "spelling"}:
        return None
    wanted, type = array_type(stmt.target), array_type(put.args[1])
    if not _has_one_in_each(fold, put, stmt.attrs.get("axis")) or type.rank or type.dtype != wanted.dtype:
        return None
    return fold.become(stmt, Full, put.args[1], shape=wanted.sizes)


def _into_zeros(fold: Fold, atom: Atom) -> Let | None:
    """What puts numbers into zeros, no two in one place."""
    put = fold.defined_by(atom, "put")
    return put if put is not None and fold.defined_by(put.args[0], "zeros") and selects_once(fold, put) else None


def _has_one_in_each(fold: Fold, put: Let, axis: Any) -> bool:
    """Whether a matrix has one number in each row, or in each column, along `axis`."""
    index, slots = put.attrs["index"], put.args[2:]
    if index != (Slot(0), Slot(1)) or axis not in (0, 1) or array_type(put.target).rank != 2:
        return False
    counted, places = slots[1 - axis], slots[axis]
    count = fold.defined_by(counted, "arange")
    length = array_type(put.target).sizes[1 - axis]
    all_of_them = count is not None and count.op is Arange and not count.args and count.attrs.keys() <= {
        "stop", "spelling"} and fold.assumptions.certainly_equal(count.attrs["stop"], length)
    places_of = type_of(places)
    return all_of_them and isinstance(places_of, ArrayType) and places_of.rank == 1 and places_of.dtype.kind in "iu"


@with_operand("put")
def _added_there(fold: Fold, stmt: Let) -> Any:
    """d - x, for zeros d with d[i] = v → -x with x[i] += v, in derivatives; d + x → x with x[i] += v."""
    if stmt.attrs or not fold.is_derivative(stmt):
        return None
    for place, atom in enumerate(stmt.args):
        other = stmt.args[1 - place]
        put = _into_zeros(fold, atom) if fold.own(atom, "put") and _is_own(fold, other, stmt) else None
        if put is None or stmt.op is Subtract and place or not fold.has_type(put.target, stmt.target):
            continue
        terms = other if stmt.op is not Subtract else fold.emit(stmt, Negative, other, type=type_of(other))
        return fold.become(stmt, AddAt, terms, *put.args[1:], **put.attrs)
    return None


def _is_own(fold: Fold, atom: Atom, stmt: Let) -> bool:
    """Whether an array is made for this statement alone, of its type, so that it may be added to in place."""
    made = fold.own(atom, "multiply", "divide", "add", "subtract", "negative", "matmul")
    return made is not None and isinstance(atom, Var) and fold.has_type(atom, stmt.target)


RULES = {"sum": [_one_in_each_row], "add": [_added_there], "subtract": [_added_there]}
