"""Rows of records that stand for arrays, so that no other memory is needed for these.

    for k in range(size):
        x_k[k] = u[1:] - u[:-1]             the row is the array, which has no name of its own
        y[1:] += x_k[k]
    ...
    for block in range(blocks - 1, -1, -1):
        u = u_k[block]
        for k in range(size):
            u[1:-1] += c * u[2:]            no copy: nobody looks at u_k[block] again

A row may be written where one read is all that uses a record, its rows are memory of their own, and
the loop that reads stands beside the one that records, so that each row is read at most once.
"""

from __future__ import annotations

from collections import Counter

from ..core.grammar import Block, Function, Let, Loop, Read, Stmt, Var
from ..core.types import ArrayType
from ..core.walk import WRITES, all_statements, counted_uses
from .demand import Demand
from .flow import Flow
from .stores import Store, Stores

HANDED_ON = frozenset({"same", "stop_gradient", "einsum"})      # whose result may be the operand


def consumed_rows(function: Function, needed: Demand, stored: Stores) -> set[Var]:
    """The arrays, read from records, that may be written where they are."""
    loops = [stmt for stmt in all_statements(function.body) if isinstance(stmt, Loop) and stmt.reads]
    count = counted_uses(function) if loops else Counter()
    return {read.target for loop in loops for read in loop.reads if _is_consumed(read, needed, stored, count)}


def _is_consumed(read: Read, needed: Demand, stored: Stores, count: Counter[Var]) -> bool:
    """Whether a read is the only look at what it is given, which is memory of its own."""
    source = read.source
    if not isinstance(source, Var) or count[source] != 1:
        return False
    home = needed.homes[source]
    if home.loops != needed.homes[read.target].loops[:-1]:
        return False
    if home.kind == "read":                                 # a row of rows
        return _is_consumed(home.item, needed, stored, count)
    return home.kind == "record" and stored.of[source].has_own_rows


def stands_in_row(store: Store, stmt: Stmt, block: Block, flow: Flow) -> bool:
    """Whether the array that a statement of a block makes, and a record keeps, may be looked at in its row:
    it is used in one more place, which leaves it as it is and does not hand it on."""
    if not isinstance(stmt, Let) or not isinstance(stmt.target.type, ArrayType) or not stmt.target.type.rank:
        return False
    if flow.count.get(stmt.target) != 2 or not store.certain or not (store.has_own_rows or store.kind == "row"):
        return False
    return any(_computes_with(stmt.target, user) for user in block if user in flow.spans)


def _computes_with(array: Var, stmt: Stmt) -> bool:
    if not isinstance(stmt, Let) or array not in stmt.args or stmt.op.view or stmt.op.name in HANDED_ON:
        return False
    if stmt.op.name in (*WRITES, "get"):
        return stmt.args[0] is not array
    return all(isinstance(target.type, ArrayType) for target in stmt.targets)
