"""What a forward function saves for its reverse: chosen by a minimum cut, as for a loop, and how it is put together.

What is saved in a branch is one value there, put together at its end and taken apart where the reverse
of the branch begins, so that each path saves what it needs and nothing else:

    if n == 0:                                  if n == 0:
        y, saved = 1.0, None                        …
    else:                                       else:
        r, inner = f_forward(x, n - 1)              r, inner = saved
        y, saved = x * r, (r, inner)                …
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from ...core.grammar import UNDEFINED, Atom, Block, If, Let, Loop, Merge, Stmt, Var
from ...core.types import ArrayType, SavedType
from ...core.walk import Copier, all_statements, all_uses, atom_vars, free_vars, substitute, targets_of
from ...ops.regions import is_view
from ...ops.saved import Pack, Unpack
from ..calls import Calls
from .cut import Node, minimum_cut
from .residuals import Mirrors, elements

Names = dict[Var, Var]                  # values that are saved, and what they are in the reverse


class Saving:
    """Built before the forward function is changed; `gone` are the parameters that are overwritten. `param` is what
    was saved in the reverse function, `saved` in the forward one."""

    def __init__(self, calls: Calls, name: str, body: Block, results: list[Atom], gone: Iterable[Var]) -> None:
        self.calls, self.name, self.body, self.results = calls, name, body, results
        self.made_by = {target: stmt for stmt in all_statements(body) for target in targets_of(stmt)}
        self.written = {stmt.args[0] for stmt in all_statements(body) if isinstance(stmt, Let) and stmt.op.writes}
        self.written.update(gone)
        self.param = Var(SavedType(name), "saved")
        self.saved: Atom = self.param
        self.definition: dict[Var, Stmt] = {}
        self.copier = Copier()
        self.prologue: Block = []
        self.uses: Counter[Var] = Counter()

    def save(self, backwards: Block, ends: list[Atom], mirrors: Mirrors) -> list[Atom]:
        """Saves what `backwards` and its `ends` mention of the body, and puts it at hand there."""
        self.definition = {target: stmt for stmt in self.body for target in targets_of(stmt)}
        last = [var for end in ends for var in atom_vars(end)]
        needed = [var for var in free_vars(backwards, last) if var in self.definition]
        recorded = minimum_cut(self._graph(needed))
        recorded |= {v for var in recorded for v in atom_vars(var.type) if v in self.definition}
        names = {var: self.copier.fresh(var) for var in self.definition if var in recorded}
        for var in needed:
            self._compute(var)
        for stmt in backwards:
            substitute(stmt, self.copier.mapping)
        self.uses = Counter(var for stmt in self.body for var in all_uses(stmt))
        names = self._bundled(self.body, names, mirrors, 0)
        backwards[:0] = [*self._save(names), *self.prologue]
        return [self.copier.atom(end) for end in ends]

    # -- what is saved -------------------------------------------------------------------------

    def _graph(self, needed: list[Var]) -> list[Node]:
        nodes: dict[Var, Node] = {}
        pending, goals = list(needed), set(needed)
        while pending:
            var = pending.pop()
            if var not in nodes:
                sources = self._sources(var)
                rest = None if sources is None else [v for v in sources if v in self.definition]
                nodes[var] = Node(var, elements(var), rest, var in goals)
                pending += rest or []
        return list(nodes.values())

    def _sources(self, var: Var) -> list[Var] | None:
        """What a value is computed again from; None when it is to be saved."""
        stmt = self.definition[var]
        if not isinstance(stmt, Let) or not self._is_computed_again(stmt):
            return None
        return list(dict.fromkeys(atom_vars((*stmt.args, stmt.attrs, var.type))))

    def _is_computed_again(self, stmt: Let) -> bool:
        """Whether a statement costs no more than keeping its result: arithmetic on numbers, a view, a square or
        other little arithmetic of one array."""
        if stmt.op.heavy or stmt.op.writes or not isinstance(stmt.target.type, ArrayType):
            return False
        if stmt.op.name == "get" and stmt.args[0] not in self.written:
            return not stmt.target.type.sizes or is_view(stmt)
        if stmt.target.type.sizes:
            operands = set(atom_vars(stmt.args))
            return stmt.op.symbol in ("+", "-", "*") and len(operands) == 1 and operands.isdisjoint(self.written)
        return stmt.op.symbol in CHEAP or stmt.op.name in ("same", "logical_not")

    def _compute(self, var: Var) -> None:
        if var in self.definition and var not in self.copier.mapping:
            stmt = self.definition[var]
            assert isinstance(stmt, Let)
            for source in self._sources(var) or ():
                self._compute(source)
            self.prologue.append(self.copier.stmt(stmt))

    # -- how it is put together ------------------------------------------------------------------

    def _save(self, names: Names) -> Block:
        """Puts the fields together at the end of the body; gives what takes them apart."""
        fields = list(names)
        if len(fields) == 1 and isinstance(fields[0].type, SavedType):
            self.saved, self.param = fields[0], names[fields[0]]
            return []
        self.saved, unpack = self._packed(self.body, names, self.param)
        return [unpack]

    def _packed(self, block: Block, names: Names, saved: Var) -> tuple[Var, Let]:
        layout = self.calls.layout(self.name, names, map(self._maker, names))
        target = Var(SavedType(self.name), "saved")
        block.append(Let((target,), Pack, tuple(names), {"layout": layout}))
        return target, Let(tuple(names.values()), Unpack, (saved,), {"layout": layout})

    def _maker(self, var: Var) -> str:
        stmt = self.made_by.get(var)
        if isinstance(stmt, Loop):
            values = [record.value for record in stmt.records if record.target is var]
            stmt = self.made_by.get(values[0]) if values and isinstance(values[0], Var) else None
        return stmt.op.name if isinstance(stmt, Let) else ""

    def _bundled(self, block: Block, names: Names, mirrors: Mirrors, uses: int) -> Names:
        """The same values with those of a branch as one, where what a call saved is among them and so many
        `uses` are all that there are."""
        for stmt in block:
            mirror = mirrors.get(stmt)
            if isinstance(stmt, If) and isinstance(mirror, If):
                names = self._of_branch(stmt, mirror, names, mirrors, uses)
        return names

    def _of_branch(self, stmt: If, mirror: If, names: Names, mirrors: Mirrors, uses: int) -> Names:
        added = [m for m in stmt.merges if m.target in names and self.uses[m.target] <= uses
                 and m.target not in self.results]
        if len(added) < 2 or not any(isinstance(merge.target.type, SavedType) for merge in added):
            return names
        outer, inner = Var(SavedType(self.name), "saved"), Var(SavedType(self.name), "saved")
        sides = []
        for side in ("then", "orelse"):
            fields = {getattr(m, side): names[m.target] for m in added if getattr(m, side) is not UNDEFINED}
            sides.append(self._of_side(getattr(stmt, side), getattr(mirror, side), fields, inner, mirrors))
        gone = {merge.target for merge in added}
        stmt.merges = [merge for merge in stmt.merges if merge.target not in gone] + [Merge(outer, *sides)]
        return {**{var: name for var, name in names.items() if var not in gone}, outer: inner}

    def _of_side(self, block: Block, reverse: Block, fields: Names, inner: Var, mirrors: Mirrors) -> Any:
        fields = self._bundled(block, fields, mirrors, 1)
        if not fields:
            return UNDEFINED
        first, name = next(iter(fields.items()))
        if len(fields) == 1 and isinstance(first.type, SavedType):
            for stmt in reverse:
                substitute(stmt, {name: inner})
            return first
        target, unpack = self._packed(block, fields, inner)
        reverse.insert(0, unpack)
        return target


CHEAP = ("+", "-", "*", "/", "//", "%", "<", "<=", ">", ">=", "==", "!=", "&", "|")
