"""Arrays that are filled, written to and then broadcast, as a loop begins with: they are made as wide at once.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(x: f64[k])
...     a: f64[n] = zeros(shape=(<n>,))
...     cost: f64[n] = put(a, 1.0, index=(0,))
...     wide: f64[k, n] = broadcast_to(cost, shape=(<k>, <n>))
...     loop i: int in <n>
...         carry c: f64[k, n] = wide
...         body
...             d: f64[k, n] = put(c, x, i, index=(slice(None, None, None), Slot(k=0)))
...         next e: f64[k, n] = d
...     return e
... ''')
function f(x: f64[k])
    a: f64[n] = zeros(shape=(<n>,))
    cost: f64[n] = put(a, 1.0, index=(0,))
    t: f64[k, n] = zeros(shape=(<k>, <n>))
    wide: f64[k, n] = put(t, 1.0, index=(slice(None, None, None), 0))
    loop i: int in <n>
        carry c: f64[k, n] = wide
        body
            d: f64[k, n] = put(c, x, i, index=(slice(None, None, None), Slot(k=0)))
        next e: f64[k, n] = d
    return e
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.grammar import Atom, Let, Loop, Var
from ..core.walk import WRITES
from ..ops.regions import Slot
from .changes import with_operand
from .rewriter import array_type
from .shapes import FILLED

if TYPE_CHECKING:
    from .fold import Fold

ALL = slice(None)


@with_operand(*WRITES, *FILLED)
def _made_wide(fold: Fold, stmt: Let) -> Any:
    """Writes to all rows in place of one that is broadcast, where a loop is to write to each of them anyway."""
    own, wide = array_type(stmt.args[0]).sizes, array_type(stmt.target).sizes
    lead = len(wide) - len(own)
    found = _filled(fold, stmt.args[0])
    if found is None or not fold.same_sizes(own, wide[lead:]) or not _begins_loop(fold, stmt.target):
        return None
    made, *writes = found
    value: Atom = fold.emit(stmt, made.op, *made.args, type=array_type(made.target).with_sizes(wide),
                            **{**made.attrs, "shape": wide})
    for write in writes:
        index = (*[ALL] * lead, *write.attrs["index"])
        value = fold.emit(stmt, write.op, value, *write.args[1:], type=array_type(write.target).with_sizes(wide),
                          **{**write.attrs, "index": index})
    return fold.instead(stmt, value, copies=False)


def _filled(fold: Fold, atom: Atom) -> list[Let] | None:
    """What made an array of one number, and what wrote to single places of it, if nothing else looks at it."""
    writes: list[Let] = []
    while (write := fold.own(atom, *WRITES)) is not None:
        if not all(map(_is_place, write.attrs["index"])) or any(array_type(slot).sizes for slot in write.args[1:]):
            return None
        writes.append(write)
        atom = write.args[0]
    made = fold.own(atom, *FILLED)
    return None if made is None or "shape" not in made.attrs else [made, *writes[::-1]]


def _is_place(entry: Any) -> bool:
    return isinstance(entry, int | Slot)


def _begins_loop(fold: Fold, var: Var) -> bool:
    """Whether all that is done with an array is that a loop begins with it, and makes another one of it."""
    users = fold.uses.users.get(var, [])
    if len(users) != 1 or not isinstance(users[0], Loop):
        return False
    return any(carry.init is var and carry.next is not carry.entry for carry in users[0].carries)


RULES = {"broadcast_to": [_made_wide]}
