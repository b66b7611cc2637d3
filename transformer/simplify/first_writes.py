"""What loops of derivatives add to places of zeros, each of which is met once, is written there.

>>> from .examples import shown
>>> shown(first_writes, '''
... function f(n_1: int, x: f64[n])
...     effect comment(text='reverse')
...     z: f64[n] = zeros(shape=(<n>,))
...     loop k: int in n_1
...         carry a: f64[n] = z
...         body
...             t: f64 = get(x, k, index=(Slot(k=0),))
...             b: f64[n] = addat(a, t, k, index=(Slot(k=0),))
...         next c: f64[n] = b
...     return c
... ''')
function f(n_1: int, x: f64[n])
    effect comment(text='reverse')
    z: f64[n] = zeros(shape=(<n>,))
    loop k: int in n_1
        carry a: f64[n] = z
        body
            t: f64 = get(x, k, index=(Slot(k=0),))
            b: f64[n] = put(a, t, k, index=(Slot(k=0),))
        next c: f64[n] = b
    return c
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..core.grammar import Atom, Block, Carry, Function, If, Let, Loop, Merge, Var
from ..core.guards import Assumptions
from ..core.headings import of_derivative
from ..core.walk import all_statements, counted_uses, targets_of
from ..ops.indexing import Put
from ..ops.regions import Slot
from .rewriter import array_type


def first_writes(function: Function, assumptions: Assumptions) -> bool:
    """Makes additions writes, in place; says whether there were any."""
    uses = counted_uses(function)
    zeros = {stmt.target for stmt in all_statements(function.body) if isinstance(stmt, Let) and stmt.op.name == "zeros"}
    loops = [stmt for stmt in of_derivative(function) if isinstance(stmt, Loop)]
    found = [write for loop in loops for carry in loop.carries if carry.init in zeros
             for write in _writes(loop, carry, (), uses)]
    for write in found:
        write.op = Put
    return bool(found)


def _writes(loop: Loop, carry: Carry, around: tuple[Var, ...], uses: Counter[Var]) -> Iterator[Let]:
    """The one addition to what a loop carries, if there is no other, and each iteration, also of the loops around with
    these positions, has a place of its own."""
    return _in_block(loop.body, carry.entry, carry.next, (*around, loop.position), uses)


def _in_block(block: Block, var: Var, end: Atom, positions: tuple[Var, ...], uses: Counter[Var]) -> Iterator[Let]:
    """The addition by which a block makes `end` of a value, if nothing else uses either."""
    for stmt in block:
        if not isinstance(end, Var) or uses[end] != 1 or end not in targets_of(stmt):
            continue
        if isinstance(stmt, Let) and stmt.op.name == "addat" and stmt.args[0] is var:
            if uses[var] == 1 and _are_apart(stmt, positions):
                yield stmt
        elif isinstance(stmt, Loop) and uses[var] == 1:
            yield from (write for carry in stmt.carries if carry.init is var and carry.out is end
                        for write in _writes(stmt, carry, positions, uses))
        elif isinstance(stmt, If) and uses[var] == 2:
            (merge,) = (merge for merge in stmt.merges if merge.target is end)
            yield from _in_branch(stmt, merge, var, positions, uses)


def _in_branch(stmt: If, merge: Merge, var: Var, positions: tuple[Var, ...], uses: Counter[Var]) -> Iterator[Let]:
    """The addition on one side of a branch that leaves the value as it is on the other."""
    once = Counter(uses)
    once[var] = 1
    if merge.orelse is var:
        yield from _in_block(stmt.then, var, merge.then, positions, once)
    elif merge.then is var:
        yield from _in_block(stmt.orelse, var, merge.orelse, positions, once)


def _are_apart(stmt: Let, positions: tuple[Var, ...]) -> bool:
    """Whether the place of a write is another one wherever one of the positions is."""
    index, slots = stmt.attrs["index"], stmt.args[2:]
    if any(array_type(slot).sizes or array_type(slot).dtype.kind == "b" for slot in slots):
        return False
    return all(any(isinstance(entry, Slot) and slots[entry.k] is position for entry in index) for position in positions)
