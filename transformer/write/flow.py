"""The order in which the printed function runs: every statement at a point, and what is read there.

A point has four steps, so that it can be said what happens before what in one statement:

    COPIED    the array that an in-place write copies first
    MADE      that copy
    READ      operands
    DEFINED   results

`x[i] = v`, where x has to be copied, is `x = x.copy()` and then `x[i] = v`: v is read after x is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..core.grammar import UNDEFINED, Block, Call, Const, Effect, Function, If, Let, Loop, Stmt, Var
from ..core.headings import begins_reverse
from ..core.walk import METHODS, WRITES
from .demand import Demand, printed_attrs
from .ranges import Range
from .sizes import SizePlan
from .stores import Store, Stores

COPIED, MADE, READ, DEFINED = range(4)
STEPS = 4


@dataclass(slots=True)
class Span:
    """The points of a statement: `head` for a plain one.

    If: `head` (condition), `middle` and `end` (merges of the two sides), `other` (second side begins).
    Loop: `head` (first values), `header` (`for`, storage), `test` (condition), `enter` (reads),
    `end` (next values), `exit`.
    """

    head: int
    header: int = -1
    test: int = -1
    enter: int = -1
    middle: int = -1
    other: int = -1
    end: int = -1
    exit: int = -1


class Move(NamedTuple):
    """A value handed to a variable: by a branch, to a loop, from one iteration to the next. `edge` is
    the merge or carry and which of its values it is."""

    target: Var
    value: Any
    edge: tuple[Any, str] | None


@dataclass(slots=True)
class Flow:
    """Points of statements, what each point reads, how often a variable is read, loops' counters."""

    function: Function
    needed: Demand
    forms: dict[Stmt, Range]
    stored: Stores
    sizes: SizePlan
    spans: dict[Stmt, Span] = field(default_factory=dict)
    stores_at: dict[tuple[int, int], int] = field(default_factory=dict)
    reads: dict[int, list[tuple[Var, int]]] = field(default_factory=dict)
    count: dict[Var, int] = field(default_factory=dict)
    free: dict[Stmt, dict[Var, None]] = field(default_factory=dict)
    counters: dict[Stmt, Var] = field(default_factory=dict)
    undefined: dict[int, list[Move]] = field(default_factory=dict)  # moves of what has no value
    moves: dict[int, list[Move]] = field(default_factory=dict)
    marker: int | None = None  # the point at which the reverse sweep begins
    last: int = 0

    def is_alive(self, stmt: Stmt) -> bool:
        return stmt in self.needed.alive or isinstance(stmt, Effect) and stmt.kind == "comment"

    def position(self, loop: Any) -> Var:
        """The variable from which the position of a loop is told."""
        form = self.forms.get(loop)
        return loop.position if form is None else form.variable

    def kept(self) -> Iterator[Var]:
        """The values that loops record, but for those that nothing needs: these have no place in the order."""
        for values in self.stored.values.values():
            yield from (value for value in values if isinstance(value, Var) and value in self.needed.used)

    def in_reverse(self, point: int) -> bool:
        """Whether a point lies in a reverse sweep."""
        return self.function.role == "reverse" or self.marker is not None and point > self.marker


def flow(function: Function, needed: Demand, forms: dict[Stmt, Range], stored: Stores, sizes: SizePlan) -> Flow:
    """Numbers the statements of a function that are printed."""
    result = Flow(function, needed, forms, stored, sizes)
    numberer = _Numberer(result)
    numberer.next()
    numberer.block(function.body)
    result.last = numberer.next()
    for atom in function.results:
        numberer.read(result.last, atom)
    return result


class _Numberer:
    def __init__(self, result: Flow) -> None:
        self.flow = result
        self.point = -1
        self.loops: list[Any] = []

    def next(self) -> int:
        self.point += 1
        return self.point

    def block(self, block: Block) -> None:
        after = self.flow.stored.after
        for stmt in block:
            if self.flow.is_alive(stmt):
                getattr(self, METHODS[type(stmt)])(stmt)
            if stmt in after:                    # also of an index that the `for` makes
                self._stores(after[stmt])

    def read(self, point: int, value: Any, step: int = READ) -> None:
        """Notes that an atom, size or attribute is read at a point."""
        if type(value) is Var:
            self._read(point, value, step)
        elif type(value) is not Const:
            for var in self.flow.sizes.variables(value):
                self._read(point, var, step)

    def _read(self, point: int, var: Var, step: int) -> None:
        home = self.flow.needed.homes[var]
        if home.kind == "position" and self.flow.position(home.stmt) is not var:
            self._position(point, home.stmt)
            return
        store = self.flow.stored.row(var)
        if store is not None and store.states is not None:
            self._read(point, store.states.record.target, step)
            return
        if store is not None:
            outer = store.outer
            assert outer is not None
            self._position(point, outer.loop)
            self._read(point, outer.record.target, step)
            return
        self.flow.count[var] = self.flow.count.get(var, 0) + 1
        self.flow.reads.setdefault(point, []).append((var, step))
        for loop in self.loops[len(home.loops) :]:
            self.flow.free.setdefault(loop, {})[var] = None

    def _position(self, point: int, loop: Any) -> None:
        form = self.flow.forms.get(loop)
        self._read(point, self.flow.position(loop), READ)
        if form is not None:
            self.read(point, form.shift)

    def _let(self, stmt: Let) -> None:
        point = self._plain(stmt)
        written = stmt.op.name in WRITES
        for k, atom in enumerate(stmt.args):
            self.read(point, atom, COPIED if written and k == 0 else READ)
        attrs = printed_attrs(stmt)
        if attrs:
            self.read(point, attrs)

    def _call(self, stmt: Call) -> None:
        self._arguments(stmt)

    def _effect(self, stmt: Effect) -> None:
        point = self._arguments(stmt)
        if begins_reverse(stmt) and self.flow.marker is None:
            self.flow.marker = point

    def _arguments(self, stmt: Any) -> int:
        point = self._plain(stmt)
        for atom in stmt.args:
            self.read(point, atom)
        return point

    def _plain(self, stmt: Stmt) -> int:
        point = self.next()
        self.flow.spans[stmt] = Span(point)
        return point

    def _stores(self, stores: Iterable[tuple[Store, Any]]) -> None:
        """Each value that is stored is stored at a point of its own."""
        for store, value in stores:
            if not self._is_needed(store):
                continue
            point = self.next()
            self.flow.stores_at[id(store), id(value)] = point
            self.read(point, value)
            self._read(point, (store.outer or store).record.target, READ) if store.kind == "row" else self._read(
                point, store.record.target, READ
            )
            self._all_positions(point, store)

    def _is_needed(self, store: Store) -> bool:
        while store.outer is not None:
            store = store.outer
        return store.record.target in self.flow.needed.used

    def _all_positions(self, point: int, store: Store | None) -> None:
        while store is not None:
            if not appends(store):
                self._position(point, store.loop)
            store = store.outer

    def _if(self, stmt: If) -> None:
        span = self.flow.spans[stmt] = Span(self.next())
        self.read(span.head, stmt.cond)
        self._side(stmt, "then", stmt.then)
        span.middle = self._moves([Move(m.target, m.then, (m, "then")) for m in stmt.merges])
        span.other = self.next()
        self._side(stmt, "orelse", stmt.orelse)
        span.end = self._moves([Move(m.target, m.orelse, (m, "orelse")) for m in stmt.merges])

    def _side(self, stmt: If, side: str, block: Block) -> None:
        self.block(block)
        self._stores(self.flow.stored.at_end.get((stmt, side), ()))

    def _moves(self, moves: list[Move]) -> int:
        """Values handed over at a point, to variables that are used."""
        point = self.next()
        moves = [move for move in moves if self._is_made(move)]
        self.flow.moves[point] = [move for move in moves if move.value is not UNDEFINED]
        self.flow.undefined[point] = [move for move in moves if move.value is UNDEFINED]
        for move in self.flow.moves[point]:
            self.read(point, move.value)
        return point

    def _is_made(self, move: Move) -> bool:
        return move.target in self.flow.needed.used and self.flow.stored.row(move.target) is None

    def _loop(self, stmt: Loop) -> None:
        span = self.flow.spans[stmt] = Span(-1)
        span.head = self._moves([Move(c.entry, c.init, (c, "init")) for c in stmt.carries])
        span.header = self._header(stmt)
        self._counter(stmt)
        self.loops.append(stmt)
        self.block(stmt.test)
        span.test = self.next()
        if stmt.cond is not None:
            self.read(span.test, stmt.cond)
        self._body(stmt, span)
        span.end = self._moves([Move(c.entry, c.next, (c, "next")) for c in stmt.carries])
        self.loops.pop()
        span.exit = self._moves([Move(c.out, c.entry, None) for c in stmt.carries])

    def _header(self, stmt: Any) -> int:
        point = self.next()
        form = self.flow.forms.get(stmt)
        if form is not None:
            self.read(point, form.start)
            self.read(point, form.stop)
        for record in stmt.records:
            store = self.flow.stored.of[record.target]
            if store.kind not in ("row", "states") and record.target in self.flow.needed.used:
                self.read(point, (store.sizes, store.begins))
                if store.kind != "growing" and not appends(store):
                    self.read(point, stmt.trips)
        return point

    def _counter(self, stmt: Loop) -> None:
        """A loop that is not a `for`, or whose iterations are counted, has a counter."""
        used = self.flow.needed.used
        counted = stmt.count is not None and stmt.count in used
        stores = [self.flow.stored.of[r.target] for r in stmt.records if r.target in used]
        if stmt.trips is not None:
            if counted:
                self.flow.counters[stmt] = stmt.count  # type: ignore[assignment]
        elif counted or stmt.position in used or not all(map(appends, stores)):
            self.flow.counters[stmt] = stmt.position

    def _body(self, stmt: Any, span: Span) -> None:
        span.enter = self.next()
        for read in stmt.reads:
            if read.target in self.flow.needed.used:
                self.read(span.enter, read.source)
                self._position(span.enter, stmt)
        self._stores(self.flow.stored.on_entry.get(stmt, ()))
        self.block(stmt.body)


def appends(store: Store) -> bool:
    """Whether values are appended to a list in the order of iterations."""
    return store.kind == "list" and store.certain and not getattr(store.loop, "down", False)
