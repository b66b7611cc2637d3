"""Records of which a reverse sweep makes what the forward sweep has made of them, too: that is recorded in their place.

>>> from .examples import shown
>>> shown(recorded, '''
... function f(n_1: int, x: f64)
...     loop i: int in n_1
...         carry a: f64 = x
...         body
...             e: f64 = exp(a)
...             z: f64 = divide(1, e)
...             b: f64 = sin(z)
...         next c: f64 = b
...         record es: Seq[f64] = e
...     effect comment(text='reverse')
...     loop j: int in n_1 down
...         carry d: f64 = 1.0
...         read e_1: f64 = es
...         body
...             z_1: f64 = divide(1, e_1)
...             t: f64 = multiply(z_1, z_1)
...             g: f64 = multiply(d, t)
...         next h: f64 = g
...     return c, h
... ''')
function f(n_1: int, x: f64)
    loop i: int in n_1
        carry a: f64 = x
        body
            e: f64 = exp(a)
            z: f64 = divide(1, e)
            b: f64 = sin(z)
        next c: f64 = b
        record es: Seq[f64] = z
    effect comment(text='reverse')
    loop j: int in n_1 down
        carry d: f64 = 1.0
        read z_1: f64 = es
        body
            t: f64 = multiply(z_1, z_1)
            g: f64 = multiply(d, t)
        next h: f64 = g
    return c, h
"""

from __future__ import annotations

from collections import Counter

from ..core.grammar import Atom, Function, Let, Loop, Read, Record, Var, type_of
from ..core.guards import Assumptions
from ..core.types import ArrayType, SeqType
from ..core.walk import WRITES, Copier, all_statements, counted_uses
from ..ops.arithmetic import Multiply
from .neutral import number
from .rewriter import same_atom


def recorded(function: Function, assumptions: Assumptions) -> bool:
    """Records what is made of records, in place; says whether there was any."""
    loops = [stmt for stmt in all_statements(function.body) if isinstance(stmt, Loop)]
    reads: dict[Atom, tuple[Loop, Read]] = {read.source: (loop, read) for loop in loops for read in loop.reads}
    kept = [(loop, record) for loop in loops for record in loop.records if record.target in reads]
    uses = counted_uses(function) if kept else Counter()
    found = [rewrite(loop, record, *reads[record.target], uses) for loop, record in kept
             if uses[record.target] == 1 for rewrite in (_made_of, _without_number)]
    return any(found)


def _made_of(forward: Loop, record: Record, reverse: Loop, read: Read, uses: Counter[Var]) -> bool:
    """Goes on from what is recorded to what both loops make of it, as long as it takes as much memory."""
    is_found = False
    while (step := _step(forward, record, reverse, read, uses)) is not None:
        made, again = step
        record.value, record.target.type, read.target = made, SeqType(made.type), again.target
        reverse.body.remove(again)
        is_found = True
    return is_found


def _step(forward: Loop, record: Record, reverse: Loop, read: Read, uses: Counter[Var]) -> tuple[Var, Let] | None:
    """What the forward sweep makes of a record, and the statement of the reverse sweep that does the same."""
    before = {each.target: other.value for each in reverse.reads for other in forward.records
              if each.source is other.target}
    again = next((stmt for stmt in reverse.body if isinstance(stmt, Let) and read.target in stmt.args), None)
    if again is None or uses[read.target] != 1 or again.op.name in WRITES or len(again.targets) != 1:
        return None
    if not isinstance(again.target.type, ArrayType) or not again.target.type.is_inexact:
        return None
    args = [before.get(atom, atom) if isinstance(atom, Var) else atom for atom in again.args]
    for stmt in forward.body:
        if isinstance(stmt, Let) and stmt.op is again.op and stmt.attrs == again.attrs and (
                len(stmt.args) == len(args)) and all(map(same_atom, stmt.args, args)):
            return (stmt.target, again) if stmt.target.type == type_of(record.value) == again.target.type else None
    return None


def _without_number(forward: Loop, record: Record, reverse: Loop, read: Read, uses: Counter[Var]) -> bool:
    """Records `v` in place of `2 * v`, if it is `v` that has a name: the number is there in both loops."""
    made = next((stmt for stmt in forward.body if isinstance(stmt, Let) and stmt.target is record.value), None)
    if made is None or made.op is not Multiply or made.attrs or number(made.args[0]) is None:
        return False
    value, target = made.args[1], read.target
    if not isinstance(value, Var) or value.type != target.type or not _is_named(value) or _is_named(made.target):
        return False
    again = Copier().fresh(value)
    record.value, read.target = value, again
    reverse.body.insert(0, Let((target,), Multiply, (made.args[0], again), {}, made.origin))
    return True


def _is_named(var: Var) -> bool:
    """Whether a variable is called after something of the user's."""
    return bool(var.name or var.primal is not None and var.primal.name)
