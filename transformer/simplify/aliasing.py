"""Which arrays leave a function, which are written in place, and which are fresh memory.

``x * 1`` is a new array and `x` is not. Where such a result is handed to the caller, who may write
to it, only a fresh array may take its place; and where one of the two is written in place, only an
array that nothing else uses, as a copy would have to be made otherwise.
"""

from __future__ import annotations

from collections import defaultdict
from typing import assert_never

from ..core.grammar import Atom, Call, Effect, Function, If, Let, Loop, Var, type_of
from ..core.walk import WRITES, all_statements

# Not views, but what they give may be their operand itself, handed on or written in place.
SHARING = ("same", "stop_gradient", "put", "addat")


class Aliasing:
    """Built from a function before it is rewritten."""

    def __init__(self, function: Function) -> None:
        self.definition: dict[Var, Let] = {}
        self.sources: dict[Var, list[Atom]] = defaultdict(list)
        changed: list[Var] = []
        for stmt in all_statements(function.body):
            match stmt:
                case Let():
                    for target in stmt.targets:
                        self.definition[target] = stmt
                    if stmt.op.name in WRITES and isinstance(stmt.args[0], Var):
                        changed.append(stmt.args[0])
                case If():
                    for merge in stmt.merges:
                        self.sources[merge.target] += [merge.then, merge.orelse]
                case Loop():
                    self._loop(stmt)
                case Call() | Effect():
                    pass
                case _:
                    assert_never(stmt)
        self.written = self._closed(changed)
        self.escaping = self._closed([v for v in function.results if isinstance(v, Var)])

    def _loop(self, stmt: Loop) -> None:
        for carry in stmt.carries:
            self.sources[carry.out] += [carry.init, carry.next]
            self.sources[carry.entry] += [carry.init, carry.next]
        for read in stmt.reads:
            self.sources[read.target].append(read.source)
        for record in stmt.records:
            self.sources[record.target].append(record.value)

    def _closed(self, pending: list[Var]) -> set[Var]:
        """The variables whose memory these may be, through views and the edges of statements."""
        found = set(pending)
        while pending:
            for source in self._origins(pending.pop()):
                if isinstance(source, Var) and source not in found:
                    found.add(source)
                    pending.append(source)
        return found

    def _origins(self, var: Var) -> list[Atom]:
        stmt = self.definition.get(var)
        if stmt is None:
            return self.sources.get(var, [])
        return [stmt.args[0]] if may_share(stmt) else []

    def _is_made(self, atom: Atom) -> bool:
        """Whether an atom is memory made in the function, not an argument's."""
        return not isinstance(atom, Var) or all(
            root in self.definition or root in self.sources for root in self._closed([atom]))

    def _is_fresh(self, atom: Atom) -> bool:
        """Whether an atom is memory made in the function, and no result by itself."""
        if not isinstance(atom, Var):
            return True
        return self.escaping.isdisjoint(self._closed([atom])) and self._is_made(atom)

    def may_stand(self, var: Var, atom: Atom, moved: bool) -> bool:
        """Whether `atom` may take the place of `var`, an array of its own with the same values;
        `moved` says that nothing else uses `atom`."""
        if var in self.written or atom in self.written:
            if not (moved and self._is_made(atom)):
                return False
        return var not in self.escaping or self._is_fresh(atom)


def may_share(stmt: Let) -> bool:
    """Whether a statement's result may share memory with its first operand."""
    if not stmt.args or stmt.op.name in SHARING:
        return bool(stmt.args)
    if not callable(stmt.op.view):
        return bool(stmt.op.view)
    attrs = {key: item for key, item in stmt.attrs.items() if key != "spelling"}
    return bool(stmt.op.view(*map(type_of, stmt.args), **attrs))
