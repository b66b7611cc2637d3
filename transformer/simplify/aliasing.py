"""Which arrays leave a function, and which are fresh memory.

``x * 1`` is a new array and `x` is not: where such a result is handed to the caller, who may write
to it, only a fresh array may take its place.
"""

from __future__ import annotations

from collections import defaultdict

from ..core.grammar import Atom, Function, If, Let, Loop, Map, Var
from ..core.walk import all_statements

# Not views, but what they give may be their operand itself, handed on or written in place.
SHARING = ("same", "stop_gradient", "put", "addat")


class Aliasing:
    """Built from a function before it is rewritten."""

    def __init__(self, function: Function) -> None:
        self.definition: dict[Var, Let] = {}
        self.sources: dict[Var, list[Atom]] = defaultdict(list)
        for stmt in all_statements(function.body):
            match stmt:
                case Let():
                    self.definition.update(dict.fromkeys(stmt.targets, stmt))
                case If():
                    for merge in stmt.merges:
                        self.sources[merge.target] += [merge.then, merge.orelse]
                case Loop() | Map():
                    self._loop(stmt)
        self.escaping = self._closed([v for v in function.results if isinstance(v, Var)])

    def _loop(self, stmt: Loop | Map) -> None:
        for carry in getattr(stmt, "carries", ()):
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

    def escapes(self, var: Var) -> bool:
        """Whether a variable may be (a part of) a result of the function."""
        return var in self.escaping

    def is_fresh(self, atom: Atom) -> bool:
        """Whether an atom is memory made in the function, and no result by itself."""
        if not isinstance(atom, Var):
            return True
        roots = self._closed([atom])
        return self.escaping.isdisjoint(roots) and all(
            root in self.definition or root in self.sources for root in roots)

    def may_stand(self, var: Var, atom: Atom) -> bool:
        """Whether `atom` may take the place of `var`, an array of its own with the same values."""
        return not getattr(var.type, "sizes", ()) or not self.escapes(var) or self.is_fresh(atom)


def may_share(stmt: Let) -> bool:
    """Whether a statement's result may share memory with its first operand."""
    return bool(stmt.args) and (bool(stmt.op.view) or stmt.op.name in SHARING)
