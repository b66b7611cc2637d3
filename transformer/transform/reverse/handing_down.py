"""Arrays that a function hands down to the calls inside of it, and reads here and there.

    def tree(w, lo, hi):                            def tree_reverse(w, lo, hi, saved, dy, dw):
        if hi - lo == 1:                                …
            return np.tanh(w[lo])                           dw[lo] += dy * (1 - result * result)
        …

A call may take much less time than to look at such an array. Its cotangent is handed down as well, and each call
adds to it: else each would begin with zeros of its own, which are added up behind it.
"""

from __future__ import annotations

from ...core.grammar import Call, Function, Let, Var
from ...core.types import ArrayType
from ...core.walk import all_statements, all_uses, reachable
from ..activity import Places

Place = tuple[Function, int]


def handed_down(function: Function) -> Places:
    """The parameters to whose cotangents the calls of a function add."""
    found = {(each, k): onward for each in reachable(function) for k, param in enumerate(each.params)
             if (onward := _handed_on(each, param)) is not None}
    while lost := [place for place, onward in found.items() if not found.keys() >= onward]:
        for place in lost:
            del found[place]
    return frozenset(k for (each, k), onward in found.items() if each is function and onward)


def _handed_on(function: Function, param: Var) -> set[Place] | None:
    """The places where calls get a parameter; None if it is used in another way than that, and for parts of it."""
    if not isinstance(param.type, ArrayType) or not param.type.sizes or param in function.results:
        return None
    found: set[Place] = set()
    uses = 0
    for stmt in all_statements(function.body):
        if isinstance(stmt, Call):
            places = [k for k, atom in enumerate(stmt.args) if atom is param]
            found.update((stmt.function, k) for k in places)
            uses += len(places)
        elif isinstance(stmt, Let) and stmt.op.name == "get" and stmt.args[0] is param:
            uses += 1
    return found if uses == sum(var is param for stmt in function.body for var in all_uses(stmt)) else None
