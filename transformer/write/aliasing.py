"""Which arrays may share memory, and which belong to the function, given the copies decided so far.

A value is a view of what it was made from (`x[1:]`, `x.T`), is written in place into what it was made
from (`put`), or is one of several (merges, carries). Two values may share memory when the arrays at the
ends of these ways may be the same one. Arrays are told apart by when they were made: an array that is
made in an iteration is none of those that came into it, and two carries share memory only if their
first values do or their next ones do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, TypeGuard

from ..core.grammar import Atom, Call, Let, Var, is_array
from ..core.types import SeqType
from ..core.walk import WRITES, counted_uses
from ..ops.regions import is_view
from .flow import Flow
from .rows import consumed_rows

Edge = tuple[Any, str]  # a carry and "init" or "next", a merge and "then" or "orelse"

# Views of which NumPy lets no one write, or that show one element in several places.
FROZEN = frozenset({"broadcast_to", "diag", "diagonal", "broadcast_arrays"})


# Arrays that other code may look at once more: what a call saved for its reverse.
SAVED = frozenset({"unpack"})


def is_memory(atom: Any) -> TypeGuard[Var]:
    """Whether an atom is an array, or a sequence, which is kept in one."""
    return is_array(atom) or isinstance(atom, Var) and isinstance(atom.type, SeqType)


def viewed(let: Let) -> Var | None:
    """The operand that the result may be a view of."""
    base = let.args[0] if let.args else None
    if not isinstance(base, Var) or not is_memory(let.target):
        return None
    if let.op.name == "unstacked":
        return base
    if let.op.name == "get":
        return base if is_view(let) else None
    if let.op.name == "einsum":
        return base if len(let.args) == 1 else None
    return base if let.op.view or let.op.name in ("same", "stop_gradient") else None


class Aliases:
    """Answers under the copies in `views`, `writes`, `edges`, with the updates in `in_place` done so."""

    def __init__(self, flow: Flow, given: frozenset[Var] = frozenset()) -> None:
        self.flow = flow
        self.given = given
        self.homes = flow.needed.homes
        self.consumed = consumed_rows(flow.function, flow.needed, flow.stored)
        self.views: set[Var] = set()  # views copied where they are made
        self.writes: set[Let] = set()  # puts and addats that copy the whole array first
        self.edges: set[Edge] = set()  # first, next and merged values copied when handed over
        self.in_place: set[Let] = set()  # `x = x + y` done as `x += y`
        self._roots: dict[Var, Var] = {}
        self._known: dict[tuple[Var, Var], bool] = {}
        self._owned: dict[Var, bool] = {}
        self._uses: Counter[Var] | None = None

    def forget(self) -> None:
        """To be called after a decision changed."""
        self._roots.clear()
        self._known.clear()
        self._owned.clear()

    # -- ways -------------------------------------------------------------------------------

    def base(self, var: Var) -> Var | None:
        """What a variable is a view of or was written in place into; None for an array of its own."""
        kind, stmt, item, _ = self.homes[var]
        if kind == "read":
            return item.source if self._is_part(var, item.source) else None
        if kind != "let" or not is_memory(var):
            return None
        if stmt.op.name in WRITES:
            return None if stmt in self.writes else stmt.args[0]
        if stmt in self.in_place:
            return stmt.args[0]
        return None if var in self.views else viewed(stmt)

    def _is_part(self, var: Var, source: Atom) -> bool:
        """Whether what a loop reads is a part of an array: of one that was taken apart, too, but not of what
        a loop recorded."""
        whole = is_array(source) or is_memory(source) and self.homes[source].kind not in ("record", "read")
        return whole and is_memory(var)

    def root(self, var: Var) -> Var:
        """The end of the way of views and writes."""
        chain = []
        while var not in self._roots:
            base = self.base(var)
            if base is None:
                self._roots[var] = var
                break
            chain.append(var)
            var = base
        root = self._roots[var]
        self._roots.update(dict.fromkeys(chain, root))
        return root

    def edges_into(self, var: Var) -> list[tuple[Edge, Atom]]:
        """The values that a merge or carry may be; none for an array made by a statement."""
        kind, _, item, _ = self.homes[var]
        if kind == "merge":
            return [((item, "then"), item.then), ((item, "orelse"), item.orelse)]
        if kind in ("entry", "out"):
            return [((item, "init"), item.init), ((item, "next"), item.next)]
        return []

    # -- sharing ----------------------------------------------------------------------------

    def may_share(self, first: Var, second: Var) -> bool:
        """Whether two arrays may share memory."""
        start = self._pair(self.root(first), self.root(second))
        if start not in self._known:
            self._explore(start)
        return self._known[start]

    def _pair(self, first: Var, second: Var) -> tuple[Var, Var]:
        return (first, second) if first.serial <= second.serial else (second, first)

    def _explore(self, start: tuple[Var, Var]) -> None:
        """Searches the pairs that `start` may be for one whose members are the same array."""
        seen = {start: start}
        pending = [start]
        while pending:
            pair = pending.pop()
            if pair[0] is pair[1] or self._known.get(pair):
                self._confirm(pair, seen)
                return
            for step in self._steps(*pair):
                if step not in seen and self._known.get(step) is not False:
                    seen[step] = pair
                    pending.append(step)
        self._known.update(dict.fromkeys(seen, False))

    def _confirm(self, pair: tuple[Var, Var], seen: dict[Any, Any]) -> None:
        self._known[pair] = True
        while seen[pair] != pair:
            pair = seen[pair]
            self._known[pair] = True

    def _steps(self, first: Var, second: Var) -> Iterator[tuple[Var, Var]]:
        """What a pair of arrays may be: that one is taken apart which came about later."""
        born_first, born_second = self.birth(first), self.birth(second)
        if born_first < born_second:
            first, second, born_first, born_second = second, first, born_second, born_first
        ways = self.edges_into(first)
        if born_first > born_second or not ways or not self.edges_into(second):
            for edge, value in ways:
                if is_memory(value) and edge not in self.edges:
                    yield self._pair(self.root(value), second)
            return
        for (edge, value), (other_edge, other) in zip(ways, self.edges_into(second)):
            if is_memory(value) and is_memory(other) and not {edge, other_edge} & self.edges:
                yield self._pair(self.root(value), self.root(other))

    def birth(self, var: Var) -> int:
        """The point at which a variable comes about."""
        kind, stmt, _, _ = self.homes[var]
        if kind == "param":
            return 0
        span = self.flow.spans[stmt]
        return {"merge": span.end, "entry": span.head, "out": span.exit, "read": span.enter, "record": span.header}.get(
            kind, span.head
        )

    # -- owning -----------------------------------------------------------------------------

    def is_owned(self, var: Var) -> bool:
        """Whether an array was made in this function, whatever way it came, and may be written."""
        if var not in self._owned:
            seen = {var: None}
            self._owned[var] = self._all_owned(seen)
            if self._owned[var]:
                self._owned.update(dict.fromkeys(seen, True))
        return self._owned[var]

    def _all_owned(self, seen: dict[Var, None]) -> bool:
        """Whether everything that the one variable in `seen` may be is; adds to `seen` what it visits."""
        pending = list(seen)
        while pending:
            ways = self.sources(pending.pop())
            if ways is None or any(self._owned.get(var) is False for var in ways):
                return False
            fresh = [var for var in ways if var not in seen and var not in self._owned]
            seen.update(dict.fromkeys(fresh))
            pending += fresh
        return True

    def sources(self, var: Var) -> list[Var] | None:
        """The arrays that a variable may be or be part of; None if it may be one that is not ours."""
        kind, stmt, _, _ = self.homes[var]
        base = self.base(var)
        if base is not None:
            return None if isinstance(stmt, Let) and stmt.op.name in FROZEN else [base]
        if kind == "param" and var in self.given or var in self.consumed:
            return []
        if kind in ("param", "read") or isinstance(stmt, Let) and stmt.op.name in SAVED:
            return None
        if kind == "record" and self._is_read_elsewhere(var):
            return None
        return [value for edge, value in self.edges_into(var) if is_array(value) and edge not in self.edges]

    def _is_read_elsewhere(self, record: Var) -> bool:
        """Whether the array that a record is stacked to, which is the record, is not all that looks at it."""
        if self._uses is None:
            self._uses = counted_uses(self.flow.function)
        return self._uses[record] > 1

    def in_storage(self, var: Var) -> bool:
        """Whether an array may be a row of what a loop recorded, all of which it would keep in memory."""
        return not self.ways_of([var]).isdisjoint(self.consumed)

    def ways_of(self, variables: Iterable[Var]) -> set[Var]:
        """The variables, with all arrays that they may be or be part of."""
        pending = list(variables)
        seen = set(pending)
        while pending:
            fresh = [way for way in self.sources(pending.pop()) or () if way not in seen]
            seen.update(fresh)
            pending += fresh
        return seen

    def may_change(self, var: Var) -> bool:
        """Whether somebody may write to an array when it is kept for later: it is not ours, it is written in
        place here, or it is given to the caller."""
        written = [
            stmt.args[0]
            for stmt in self.flow.spans
            if isinstance(stmt, Let) and (stmt.op.name in WRITES and stmt not in self.writes or stmt in self.in_place)
        ]
        written += [array for _, array in self.given_away()]
        others = [atom for atom in (*written, *self.flow.function.results) if is_array(atom)]
        return not self._lasts(var) or any(self.may_share(var, other) for other in others)

    def _lasts(self, var: Var) -> bool:
        """Whether everything that an array may be was made here, or is what a call saved."""
        pending, seen = [var], {var}
        while pending:
            each = pending.pop()
            stmt = self.homes[each].stmt
            if isinstance(stmt, Let) and stmt.op.name in SAVED:
                continue
            ways = self.sources(each)
            if ways is None:
                return False
            pending += [way for way in ways if way not in seen]
            seen.update(ways)
        return True

    def given_away(self) -> Iterator[tuple[int, Var]]:
        """The arrays that calls give to the functions called, which may write to them; and where."""
        for stmt, span in self.flow.spans.items() if self.given else ():
            if isinstance(stmt, Call):
                for param, atom in zip(stmt.function.params, stmt.args):
                    if param in self.given and is_array(atom):
                        yield span.head, atom
