"""Values on which a decision rests: what is compared, rounded to integers, sorted, and whatever that is computed from.

In a reverse sweep stand values of the program that are computed again. Where one of them decides something, it has to
be what it was, to the last bit: `x == top` does not hold for an `x` that is rounded otherwise than the one of which
`top` was the greatest. What only goes into products and sums may be rounded otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ..core.grammar import Block, Call, Function, If, Let, Loop, Stmt, Var, type_of
from ..core.walk import blocks_of


def deciding(function: Function) -> set[Var]:
    """The floating point variables of a function that decide something."""
    found: set[Var] = set()
    return settled(found, lambda: _collect(function.body, found))


def settled(found: set[Var], step: Callable[[], None]) -> set[Var]:
    """The variables found, when another step finds no more."""
    before = -1
    while len(found) != before:
        before = len(found)
        step()
    return found


def _collect(block: Block, found: set[Var]) -> None:
    for stmt in reversed(block):
        for targets, sources in edges(stmt):
            if any(target in found for target in targets):
                found.update(_floats(sources))
        for inner in blocks_of(stmt):
            _collect(inner, found)
        if isinstance(stmt, Let) and not any(type_of(target).is_inexact for target in stmt.targets):
            found.update(_floats(stmt.args))


def _floats(atoms: Iterable[object]) -> Iterator[Var]:
    return (atom for atom in atoms if isinstance(atom, Var) and atom.type.is_inexact)


def edges(stmt: Stmt) -> Iterator[tuple[tuple[Var, ...], tuple[object, ...]]]:
    """Variables that a statement makes, and what they are made of."""
    match stmt:
        case Let() | Call():
            yield stmt.targets, stmt.args
        case If():
            yield from (((merge.target,), (merge.then, merge.orelse)) for merge in stmt.merges)
        case Loop():
            yield from (((carry.entry, carry.out), (carry.init, carry.next)) for carry in stmt.carries)
            yield from (((read.target,), (read.source,)) for read in stmt.reads)
            yield from (((record.target,), (record.value,)) for record in stmt.records)
