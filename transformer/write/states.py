"""A loop that keeps what a carry is before each iteration and what it is after keeps one array of states:

    h_k = np.empty((n + 1, m))
    h_k[0] = h
    for t in range(n):
        h = step(h, x[t])
        h_k[t + 1] = h

The state before iteration `t` is ``h_k[t]`` and the one after it ``h_k[t + 1]`` (the other way round in a
loop that runs down).
"""

from __future__ import annotations

from collections import Counter

from ..core.grammar import Carry, Function, Loop, Var
from ..core.walk import all_statements, counted_uses
from .stores import Store, Stores


def join_states(function: Function, found: Stores) -> None:
    """Makes the storage of values before iterations a part of that of the values after them."""
    loops = [loop for loop in all_statements(function.body) if isinstance(loop, Loop)
             and loop.cond is None and loop.trips is not None and len(loop.records) > 1]
    only_read = _only_read(function) if loops else set()
    for loop in loops:
        kept = {record.value: record for record in reversed(loop.records) if record.target in only_read}
        for carry in loop.carries:
            if carry.entry in kept and carry.next in kept:
                _join(carry, found.of[kept[carry.entry].target], found.of[kept[carry.next].target], loop, found)


def _join(carry: Carry, before: Store, after: Store, loop: Loop, found: Stores) -> None:
    if not all(s.kind == "array" and not s.inner and not s.trimmed and s.certain for s in (before, after)):
        return
    if before is after or before.begins is not None or after.begins is not None:    # part of another pair
        return
    one, other = before.element, after.element          # of equal sizes, both being what is handed on
    if one is None or other is None or (one.dtype, one.weak) != (other.dtype, other.weak):
        return
    before.kind, before.states = "states", after
    after.begins, after.shift = carry.entry, 0 if loop.down else 1
    before.shift = 1 - after.shift
    found.on_entry[loop] = [(s, v) for s, v in found.on_entry.get(loop, []) if s is not before]
    found.values[before.record.target] = [carry.entry, after.record.target]


def _only_read(function: Function) -> set[Var]:
    """The records that nothing does but read their elements, in loops that read nothing else of them."""
    count = counted_uses(function)
    reads: Counter[Var] = Counter()
    records: set[Var] = set()
    for stmt in all_statements(function.body):
        if isinstance(stmt, Loop):
            reads.update(read.source for read in stmt.reads if isinstance(read.source, Var))
            records.update(record.target for record in stmt.records)
    return {record for record in records if count[record] == reads[record]}
