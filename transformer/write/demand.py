"""Where every variable comes from, and what the results and effects of a function need.

What nothing needs is not printed: an index that has become the variable of a `for`, a trip count seen
through, a branch whose only value is stored by a record.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..core.grammar import Block, Call, Effect, Function, If, Let, Loop, Stmt, Var
from ..core.walk import METHODS, WRITES, atom_vars
from .ranges import Range
from .stores import Stores


def printed_attrs(stmt: Let) -> dict[str, Any]:
    """The attributes of a statement that show in the source."""
    if not stmt.attrs:
        return {}
    if stmt.op.name == "get" or stmt.op.name in WRITES:
        return {"index": stmt.attrs["index"]}
    silent = ("spelling", *stmt.op.silent)
    return {key: item for key, item in stmt.attrs.items() if key not in silent}


class Home(NamedTuple):
    """Where a variable is defined. `item` is the carry, merge, record or read; `loops` lie around it."""

    kind: str  # param let call merge entry out read record position count
    stmt: Any
    item: Any
    loops: tuple[Any, ...]


@dataclass(slots=True)
class Demand:
    """Definitions, and the variables and statements that are needed."""

    homes: dict[Var, Home] = field(default_factory=dict)
    used: set[Var] = field(default_factory=set)
    alive: set[Stmt] = field(default_factory=set)


def demand(function: Function, forms: dict[Stmt, Range], stored: Stores) -> Demand:
    """Marks what is needed, from the results and effects backwards."""
    marker = _Marker(forms, stored)
    for param in function.params:
        marker.result.homes[param] = Home("param", None, None, ())
    marker.collect(function.body, (), ())
    for stmt in marker.effects:
        marker.mark_stmt(stmt)
    marker.mark(atom_vars(tuple(function.results)))
    marker.finish()
    return marker.result


class _Marker:
    def __init__(self, forms: dict[Stmt, Range], stored: Stores) -> None:
        self.result = Demand()
        self.forms = forms
        self.stored = stored
        self.effects: list[Stmt] = []
        self.pending: list[Var] = []
        self.around: dict[Stmt, tuple[Any, ...]] = {}

    def collect(self, block: Block, around: tuple[Any, ...], loops: tuple[Any, ...]) -> None:
        for stmt in block:
            self.around[stmt] = around
            getattr(self, METHODS[type(stmt)])(stmt, (*around, stmt), loops)

    def _define(self, var: Var, kind: str, stmt: Any, item: Any, loops: tuple[Any, ...]) -> None:
        self.result.homes[var] = Home(kind, stmt, item, loops)

    def _let(self, stmt: Let, inside: Any, loops: Any) -> None:
        for target in stmt.targets:
            self._define(target, "let", stmt, None, loops)

    def _call(self, stmt: Call, inside: Any, loops: Any) -> None:
        self.effects.append(stmt)
        for target in stmt.targets:
            self._define(target, "call", stmt, None, loops)

    def _effect(self, stmt: Effect, inside: Any, loops: Any) -> None:
        if stmt.kind != "comment":
            self.effects.append(stmt)

    def _if(self, stmt: If, inside: Any, loops: Any) -> None:
        self.collect(stmt.then, inside, loops)
        self.collect(stmt.orelse, inside, loops)
        for merge in stmt.merges:
            self._define(merge.target, "merge", stmt, merge, loops)

    def _map(self, stmt: Any, inside: Any, loops: Any) -> None:
        self._define(stmt.position, "position", stmt, None, (*loops, stmt))
        for read in stmt.reads:
            self._define(read.target, "read", stmt, read, (*loops, stmt))
        self.collect(stmt.body, inside, (*loops, stmt))
        for record in stmt.records:
            self._define(record.target, "record", stmt, record, loops)

    def _loop(self, stmt: Loop, inside: Any, loops: Any) -> None:
        for carry in stmt.carries:
            self._define(carry.entry, "entry", stmt, carry, (*loops, stmt))
            self._define(carry.out, "out", stmt, carry, loops)
        self.collect(stmt.test, inside, (*loops, stmt))
        self._map(stmt, inside, loops)
        if stmt.count is not None:
            self._define(stmt.count, "count", stmt, None, loops)

    def mark(self, variables: Iterable[Var]) -> None:
        for var in variables:
            if var not in self.result.used:
                self.result.used.add(var)
                self.pending.append(var)

    def finish(self) -> None:
        while self.pending:
            self._follow(self.pending.pop())

    def _follow(self, var: Var) -> None:
        kind, stmt, item, _ = self.result.homes[var]
        if kind in ("let", "call"):
            self._mark_definition(stmt)
            return
        if kind == "merge":
            self.mark(atom_vars((item.then, item.orelse)))
        elif kind in ("entry", "out"):
            self.mark((item.entry, *atom_vars((item.init, item.next))))
        elif kind == "read":
            self.mark(atom_vars(item.source))
        elif kind == "record":
            self.mark(atom_vars(self.stored.values.get(item.target, [])))
            self.mark(self._lengths(item.target))
        if stmt is not None:
            self._mark_around(stmt)

    def _mark_definition(self, stmt: Let | Call) -> None:
        """A statement that computes the index of its loop is not printed: the `for` does it now."""
        loops = self.result.homes[stmt.targets[0]].loops
        form = self.forms.get(loops[-1]) if loops else None
        if form is not None and stmt in form.index:
            self._mark_around(loops[-1])
        else:
            self.mark_stmt(stmt)

    def _lengths(self, target: Var) -> Iterable[Var]:
        """What the storage of a record is made from."""
        store = self.stored.of[target]
        if store.outer is not None:
            return (store.outer.record.target,)
        cut = store.loop.count if store.is_cut else None
        return atom_vars((store.sizes, None if store.kind == "growing" else store.loop.trips, cut))

    def mark_stmt(self, stmt: Stmt) -> None:
        """Marks what a statement itself prints, and the statements around it."""
        if stmt not in self.result.alive:
            self._mark_around(stmt)
            if isinstance(stmt, (Let, Call, Effect)):
                self.mark(atom_vars(stmt.args))
                attrs = printed_attrs(stmt) if isinstance(stmt, Let) else getattr(stmt, "attrs", {})
                if attrs:
                    self.mark(atom_vars(attrs))

    def _mark_around(self, stmt: Stmt) -> None:
        for outer in (*self.around[stmt], stmt):
            if outer in self.result.alive:
                continue
            self.result.alive.add(outer)
            if isinstance(outer, If):
                self.mark(atom_vars(outer.cond))
            elif isinstance(outer, Loop):
                self._mark_header(outer)

    def _mark_header(self, loop: Any) -> None:
        if getattr(loop, "cond", None) is not None:
            self.mark(atom_vars(loop.cond))
        if loop.trips is not None:
            form = self.forms[loop]
            self.mark(atom_vars((form.start, form.stop)))
