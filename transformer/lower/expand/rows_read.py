"""What a loop reads at the beginning of an iteration, and what has to be computed before.

In Core, a row may be of a size that the body computes, as nobody looks at the size itself; in nests it is how often the
loop runs that brings the row:

    loop k down                             loop k down
        read u: f64[?m] = u_k                   m = count_nonzero(obs)
        body                                    nest i < m
            …                                       store u, i, load u_k, k, i
            m = count_nonzero(obs)              …
"""

from __future__ import annotations

from collections.abc import Iterator

from ...core.grammar import Effect, Loop, Read, Stmt, Var
from ...core.walk import all_definitions, all_statements, atom_vars, free_vars, targets_of


def rows_of_computed_sizes(loop: Loop) -> list[Read]:
    """The rows whose sizes the body computes, or other reads are."""
    inside = {*all_definitions(loop.body), *(read.target for read in loop.reads)}
    return [read for read in loop.reads if not inside.isdisjoint(atom_vars(read.target.type))]


def sizes_first(loop: Loop, late: list[Read]) -> tuple[list[Stmt], list[Stmt]]:
    """The statements of the body that compute the sizes of these rows, and the others, each in their order. None of the
    former where they would look at such a row themselves, or do something that is seen."""
    before = set(_needed(loop, {var for read in late for var in atom_vars(read.target.type)}))
    first = [stmt for stmt in loop.body if stmt in before]
    rows = {read.target for read in late}
    if not rows.isdisjoint(free_vars(first)) or any(isinstance(stmt, Effect) for stmt in all_statements(first)):
        first = []
    return first, [stmt for stmt in loop.body if stmt not in first]


def _needed(loop: Loop, wanted: set[Var]) -> Iterator[Stmt]:
    """The statements of the body from which the values that are wanted are computed."""
    for stmt in reversed(loop.body):
        targets = targets_of(stmt)
        if not wanted.isdisjoint(targets):
            wanted.update(free_vars([stmt]), *(atom_vars(target.type) for target in targets))
            yield stmt
