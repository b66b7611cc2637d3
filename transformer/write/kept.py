"""Arrays that a loop puts into a list as they are, although their names are used again: nobody writes to them.

    for t in range(n):
        r = np.tanh(y[t, seen[t]] - m)
        r_k[t] = r                          no copy: what comes after only reads r
        m = m + r.sum()
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from ..core.grammar import Call, Effect, Function, If, Let, Loop, Var
from ..core.walk import all_statements, atom_vars
from .demand import Home
from .variables import Variable


def handed_on(function: Function) -> set[Var]:
    """The values that get other names, by which they may be written: those that loops and branches hand on, but for
    the way back, those given to calls, and results."""
    return {var for value in (*_handed(function), *function.results) for var in atom_vars(value)}


def _handed(function: Function) -> Iterator[object]:
    for stmt in all_statements(function.body):
        match stmt:
            case Loop():
                for carry in stmt.carries:
                    yield from (carry.init, carry.next)
            case If():
                for merge in stmt.merges:
                    if not merge.saved:
                        yield from (merge.then, merge.orelse)
            case Call():
                yield from stmt.args
            case Let() | Effect():
                pass
            case _:
                assert_never(stmt)


def goes_on(variable: Variable, value: Var, homes: dict[Var, Home]) -> bool:
    """Whether a variable also holds what is computed from a value, and so may be written where that is."""
    held = set(variable.values)
    others = [homes[other] for other in held if other is not value]
    return any(home.kind != "read" and (home.kind != "let" or not held.isdisjoint(home.stmt.args)) for home in others)
