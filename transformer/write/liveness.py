"""When each variable holds a value that is still to be read: its live range, in steps of the flow.

A range is a list of pieces (first, last); a variable that only one side of an `If` reads is not alive
on the other side, so that both sides may bind its name anew.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from ..core.grammar import Block, Effect, If, Let, Loop, Stmt, Var
from ..core.walk import METHODS
from .flow import DEFINED, READ, STEPS, Flow

Live = dict[Var, int]  # variables alive at a place, and where they are read last
Pieces = list[tuple[int, int]]


def live_ranges(flow: Flow) -> dict[Var, Pieces]:
    """The live range of every printed variable, pieces in order."""
    sweep = _Backwards(flow)
    live: Live = {}
    sweep.read(flow.last, live)
    sweep.block(flow.function.body, live)
    for param in flow.function.params:
        sweep.define(param, 0, live)
    return {var: sorted(pieces) for var, pieces in sweep.pieces.items()}


class _Backwards:
    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.pieces: dict[Var, Pieces] = defaultdict(list)

    def read(self, point: int, live: Live) -> None:
        for var, step in self.flow.reads.get(point, ()):
            self._keep(var, point * STEPS + step, live)

    def _keep(self, var: Var, place: int, live: Live) -> None:
        live[var] = max(live.get(var, place), place)

    def define(self, var: Var, point: int, live: Live) -> None:
        place = point * STEPS + DEFINED
        self.pieces[var].append((place, live.pop(var, place)))

    def block(self, block: Block, live: Live) -> None:
        after = self.flow.stored.after
        for stmt in reversed(block):
            if self.flow.is_alive(stmt):
                if stmt in after:
                    self._stores(after[stmt], live)
                getattr(self, METHODS[type(stmt)])(stmt, self.flow.spans[stmt], live)

    def _stores(self, stores: Any, live: Live) -> None:
        for store, value in reversed(stores):
            point = self.flow.stores_at.get((id(store), id(value)))
            if point is not None:
                self.read(point, live)

    def _let(self, stmt: Let, span: Any, live: Live) -> None:
        for target in stmt.targets:
            self.define(target, span.head, live)
        self.read(span.head, live)

    _call = _let

    def _effect(self, stmt: Effect, span: Any, live: Live) -> None:
        self.read(span.head, live)

    # -- branches ---------------------------------------------------------------------------

    def _if(self, stmt: If, span: Any, live: Live) -> None:
        after = dict(live)
        orelse = self._side(stmt, "orelse", stmt.orelse, span.end, dict(after))
        for merge in stmt.merges:
            live.pop(merge.target, None)
            after.pop(merge.target, None)
        for var, last in orelse.items():
            if var not in after:  # alive on this side only
                self.pieces[var].append((span.other * STEPS, last))
        then = self._side(stmt, "then", stmt.then, span.middle, dict(after))
        live.clear()
        live.update(then)
        for var in orelse:
            live.setdefault(var, span.head * STEPS + READ)
        self.read(span.head, live)

    def _side(self, stmt: If, side: str, block: Block, end: int, live: Live) -> Live:
        for move in (*self.flow.moves[end], *self.flow.undefined[end]):
            self.define(move.target, end, live)
        self.read(end, live)
        self._stores(self.flow.stored.at_end.get((stmt, side), ()), live)
        self.block(block, live)
        return live

    # -- loops ------------------------------------------------------------------------------

    def _loop(self, stmt: Loop, span: Any, live: Live) -> None:
        self._exit(stmt, span, live)
        for move in self.flow.moves[span.end]:
            self.define(move.target, span.end, live)
        self.read(span.end, live)
        if self.flow.count.get(self.flow.position(stmt)):       # no loop inside takes its name, even if it could
            self._keep(self.flow.position(stmt), span.end * STEPS + READ, live)
        self._body(stmt, span, live)
        if stmt.cond is not None:
            for move in self.flow.moves[span.exit]:
                self._keep(move.value, span.test * STEPS + READ, live)
        self.read(span.test, live)
        self.block(stmt.test, live)
        self._header(stmt, span, live)
        counter = self.flow.counters.get(stmt)
        if counter is not None and counter is not self.flow.position(stmt):
            self.define(counter, span.head, live)               # it is set before the bounds of the loop are read
        for move in (*self.flow.moves[span.head], *self.flow.undefined[span.head]):
            self.define(move.target, span.head, live)
        self.read(span.head, live)

    def _exit(self, stmt: Loop, span: Any, live: Live) -> None:
        """What the loop hands on, and what is read again in every iteration."""
        counter = self.flow.counters.get(stmt)
        if stmt.count is not None and counter is not stmt.count and stmt.count in self.flow.needed.used:
            self.define(stmt.count, span.exit, live)
        for move in self.flow.moves[span.exit]:
            self.define(move.target, span.exit, live)
        self.read(span.exit, live)
        for var in (*self.flow.free.get(stmt, ()), *([counter] if counter is not None else ())):
            self._keep(var, span.exit * STEPS + READ, live)

    def _body(self, stmt: Any, span: Any, live: Live) -> None:
        self.block(stmt.body, live)
        self._stores(self.flow.stored.on_entry.get(stmt, ()), live)
        for read in stmt.reads:
            if read.target in self.flow.needed.used:
                self.define(read.target, span.enter, live)
        self.read(span.enter, live)

    def _header(self, stmt: Stmt, span: Any, live: Live) -> None:
        self.define(self.flow.position(stmt), span.header, live)
        for record in stmt.records:  # type: ignore[union-attr]
            if record.target in self.flow.needed.used and self.flow.stored.row(record.target) is None:
                self.define(record.target, span.header, live)
        self.read(span.header, live)
