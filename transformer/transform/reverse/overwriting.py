"""Arrays that a function which calls itself writes to: they come in, and a later version of them goes out.

    def scan(x, low, high, before):                 x is written, in the calls inside
        if high - low == 1:
            x[low] += before
        …

What is behind such a parameter is gone when the reverse runs. A reverse that asked for it would make its caller keep
a version for each call; so what is read of it is kept instead (`residuals`, `saving`).
"""

from __future__ import annotations

from typing import Any, assert_never

from ...core.grammar import Block, Call, Effect, Function, If, Let, Loop, Var
from ...core.walk import reachable
from ..activity import Places

SEVERAL = object()                      # what is a version now of one parameter, now of another, or of none


def overwritten(function: Function) -> Places:
    """The parameters of a function that it writes to, or the functions that it calls."""
    found = _Versions(reachable(function))
    return frozenset(k for k, param in enumerate(function.params) if param in found.written)


class _Versions:
    """Of which parameter each array is a version, in functions that call each other. A result of a call is not known
    at first; what is found of functions grows from round to round."""

    def __init__(self, functions: list[Function]) -> None:
        self.root: dict[Any, Any] = {}
        self.written: set[Any] = set()
        for function in functions:
            self.root.update((param, param) for param in function.params)
        before: Any = None
        while before != (self.root, self.written):
            before = dict(self.root), set(self.written)
            for function in functions:
                self._block(function.body)

    def _block(self, block: Block) -> None:
        for stmt in block:
            match stmt:
                case Let():
                    if stmt.op.writes:
                        self.written.add(self.root.get(stmt.args[0]))
                        self._join(stmt.target, [stmt.args[0]])
                    else:
                        self.root.update(dict.fromkeys(stmt.targets, SEVERAL))
                case Call():
                    self._call(stmt)
                case If():
                    self._block(stmt.then)
                    self._block(stmt.orelse)
                    for merge in stmt.merges:
                        self._join(merge.target, [merge.then, merge.orelse])
                case Loop():
                    for carry in stmt.carries:
                        self._join(carry.entry, [carry.init, carry.next])
                        self._join(carry.out, [carry.entry])
                    self._block(stmt.test)
                    self._block(stmt.body)
                case Effect():
                    pass
                case _:
                    assert_never(stmt)

    def _call(self, stmt: Call) -> None:
        places = {param: k for k, param in enumerate(stmt.function.params)}
        for param, atom in zip(stmt.function.params, stmt.args):
            if param in self.written:
                self.written.add(self.root.get(atom))
        for target, result in zip(stmt.targets, stmt.function.results):
            root = self.root.get(result, SEVERAL if not isinstance(result, Var) else None)
            if root in places:
                self._join(target, [stmt.args[places[root]]])
            elif root is not None:
                self.root[target] = SEVERAL

    def _join(self, target: Var, atoms: list[Any]) -> None:
        """A variable that is one of these; what is not known by now may still be any of them."""
        roots = {self.root.get(atom) for atom in (target, *atoms)} - {None}
        if roots:
            self.root[target] = roots.pop() if len(roots) == 1 else SEVERAL
