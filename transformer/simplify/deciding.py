"""Values on which a decision rests: what is compared, rounded to integers, sorted, and whatever that is computed from.

In a reverse sweep stand values of the program that are computed again. Where one of them decides something, it has to
be what it was, to the last bit: `x == top` does not hold for an `x` that is rounded otherwise than the one of which
`top` was the greatest. What only goes into products and sums may be rounded otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from ..core.grammar import Call, Effect, Function, If, Let, Loop, Stmt, Var, type_of
from ..core.walk import all_statements


def deciding(function: Function) -> set[Var]:
    """The floating point variables of a function that decide something."""
    made_of: dict[Var, list[Var]] = {}
    found: list[Var] = []
    for stmt in all_statements(function.body):
        for targets, sources in edges(stmt):
            for target in targets:
                made_of.setdefault(target, []).extend(_floats(sources))
        if isinstance(stmt, Let) and not any(type_of(target).is_inexact for target in stmt.targets):
            found += _floats(stmt.args)
    return reached(found, made_of)


def reached(first: Iterable[Var], following: Mapping[Var, Iterable[Var]]) -> set[Var]:
    """Variables, those that follow from them, and so on."""
    waiting, found = list(first), set(first)
    while waiting:
        new = {var for var in following.get(waiting.pop(), ()) if var not in found}
        waiting += new
        found |= new
    return found


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
        case Effect():
            pass
        case _:
            assert_never(stmt)
