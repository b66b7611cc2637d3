"""In place or a copy: what every write to an array does to memory.

`put` and `addat` are done in place where nothing else that is still read shares the memory and where
the array was made by this function. Otherwise there is one copy: of the view that would see the write,
where the view is made (`t = du[1:-1].copy()`); of what a loop begins with, before the loop; or of the
array itself, right before the write. Every copy lets fewer values share memory, so that deciding them
one after the other ends, and all earlier decisions stay right.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

from ..core.grammar import Atom, Call, Let, Loop, Merge, Var
from ..core.walk import WRITES, all_statements
from ..ops.overlap import may_overwrite, part_of
from .aliasing import Aliases, Edge, is_array, is_memory, viewed
from .flow import DEFINED, MADE, STEPS, Flow
from .liveness import Pieces
from .sizes import SizePlan
from .variables import given_name

VIEWS_COPIED = 3  # more views than these: the array itself is copied
UPDATES = frozenset({"add", "subtract", "multiply", "divide"})


def decide_storage(flow: Flow, ranges: dict[Var, Pieces], given: frozenset[Var]) -> Aliases:
    """Decides every copy. The ranges of arrays that are copied before a write begin with the copy. `given`
    are parameters that belong to the functions called (see `giving`)."""
    aliases = Aliases(flow, given)
    writes = [
        stmt
        for stmt in all_statements(flow.function.body)
        if isinstance(stmt, Let) and stmt in flow.spans and stmt.op.name in WRITES and is_array(stmt.target)
    ]
    sums = _sums(flow)
    updates = [*_updates(flow), *sums]
    if writes or updates:
        _Decider(flow, aliases, _alive_after([*writes, *updates], flow, ranges), sums).decide(writes, updates)
    if flow.function.role:
        _copy_results_early(flow, aliases)
    for stmt in aliases.writes:
        _, last = ranges[stmt.target][0]
        ranges[stmt.target][0] = flow.spans[stmt].head * STEPS + MADE, last
    return aliases


def _copy_results_early(flow: Flow, aliases: Aliases) -> None:
    """What a function that is called returns is copied where a branch hands on an array that is not ours,
    and not where other branches made one."""
    for result in flow.function.results:
        if is_array(result) and not aliases.is_owned(result):
            edges = list(_unowned_edges(result, aliases))
            if edges and not any(aliases.homes[edge[0].target].loops for edge in edges):
                aliases.edges.update(edges)
                aliases.forget()


def _unowned_edges(result: Var, aliases: Aliases) -> Iterator[Edge]:
    """The sides of branches on which an array that is returned is not ours."""
    pending, seen = [aliases.root(result)], {aliases.root(result)}
    while pending:
        for edge, value in aliases.edges_into(pending.pop()):
            if is_array(value) and isinstance(edge[0], Merge) and not aliases.is_owned(value):
                source = aliases.root(value)
                if not aliases.edges_into(source):
                    yield edge
                elif source not in seen:
                    seen.add(source)
                    pending.append(source)


def _inside_loops(flow: Flow) -> Iterator[Let]:
    """The plain statements in loops: elsewhere nothing accumulates."""
    for loop in all_statements(flow.function.body):
        if isinstance(loop, Loop) and not flow.needed.homes[loop.position].loops[:-1]:
            yield from (stmt for stmt in all_statements([loop]) if isinstance(stmt, Let))


def _updates(flow: Flow) -> Iterator[Let]:
    """The statements in loops that may be done in place, but for factors of a sum: `x = x * a + b` is one line."""
    inside = [stmt for stmt in _inside_loops(flow) if stmt in flow.spans]
    terms = {atom for stmt in inside if stmt.op.name in ("add", "subtract") for atom in stmt.args}
    for stmt in inside:
        is_factor = stmt.op.name in ("multiply", "divide") and stmt.target in terms
        if _is_update(stmt, flow.sizes) and not (is_factor and flow.count.get(stmt.target) == 1):
            yield stmt


def _sums(flow: Flow) -> dict[Let, None]:
    """The statements of a reverse sweep, outside of loops, that add to a cotangent: `dx += dy` for `dx = dx + dy`. Both
    have a name in any case: none of them would be a part of a longer expression."""
    body = [stmt for stmt in flow.function.body if stmt in flow.spans and flow.in_reverse(flow.spans[stmt].head)]
    parts: set[Any] = set()             # what would be nested where it is used
    found: dict[Let, None] = {}
    for stmt in reversed(body):
        if isinstance(stmt, Call):
            parts.update(atom for atom in stmt.args if isinstance(atom, Var))
        if not isinstance(stmt, Let):
            continue
        is_sum = stmt.op.name in ("add", "subtract") and _is_update(stmt, flow.sizes) and _has_one_name(stmt)
        if is_sum and not (stmt.target in parts and flow.count.get(stmt.target) == 1):
            found[stmt] = None
        base = stmt.args[:1] if stmt in found or stmt.op.name in WRITES else ()
        parts.update(atom for atom in stmt.args[len(base):] if isinstance(atom, Var))
    made = {stmt.target: stmt for stmt in body if isinstance(stmt, Let) and len(stmt.targets) == 1}
    kept: dict[Let, None] = {}
    for stmt in reversed(found):
        if _is_kept(made.get(stmt.args[0]), kept, flow):                     # type: ignore[arg-type]
            kept[stmt] = None
    return kept


def _has_one_name(stmt: Let) -> bool:
    """Whether what is added to has the name of the sum, and what is added has another one."""
    first, second = (_is_named_like(atom, stmt.target) for atom in stmt.args)
    return first and not second


def _is_named_like(atom: Atom, target: Var) -> bool:
    if not isinstance(atom, Var):
        return False
    name = given_name(target)
    is_same = atom.primal is target.primal is not None and atom.pattern == target.pattern
    return is_same or name is not None and given_name(atom) == name


def _is_kept(made: Let | None, sums: dict[Let, None], flow: Flow) -> bool:
    """Whether an array has a name, and not only a place in the expression that it is used in."""
    return made is None or made in sums or made.op.name in WRITES or flow.count.get(made.target) != 1


def _is_update(stmt: Let, sizes: SizePlan) -> bool:
    """Whether a statement is `y = x + …` of arrays that may become `x += …`."""
    if stmt.op.name not in UPDATES or "spelling" in stmt.attrs or not is_array(stmt.target):
        return False
    x = stmt.args[0]
    return isinstance(x, Var) and sizes.same_type(x.type, stmt.target.type)


def _alive_after(stmts: list[Let], flow: Flow, ranges: dict[Var, Pieces]) -> dict[Let, list[Var]]:
    """The arrays that are alive after each of the statements and might share memory with what it
    writes to, whatever is decided."""
    arrays = {var.serial: var for var in ranges if is_array(var) or _is_taken_apart(var, flow)}
    family = _families(stmts, flow, list(arrays.values()))
    begins = sorted((first, serial, last) for serial, var in arrays.items() for first, last in ranges[var])
    found: dict[Let, list[Var]] = {}
    alive: dict[Var, list[tuple[int, int]]] = {}
    following = iter(begins)
    coming = next(following, None)
    for stmt in sorted(stmts, key=lambda stmt: flow.spans[stmt].head):
        place = flow.spans[stmt].head * STEPS + DEFINED
        while coming is not None and coming[0] <= place:
            relatives = alive.setdefault(family[arrays[coming[1]]], [])
            heapq.heappush(relatives, (coming[2], coming[1]))
            coming = next(following, None)
        relatives = alive.get(family[stmt.target], [])
        while relatives and relatives[0][0] < place:
            heapq.heappop(relatives)
        found[stmt] = [
            arrays[serial]
            for serial in sorted({serial for _, serial in relatives})
            if arrays[serial] is not stmt.target
        ]
    return found


def _is_taken_apart(var: Var, flow: Flow) -> bool:
    """Whether a sequence may be an array that is read row by row: none that a loop recorded."""
    return is_memory(var) and flow.needed.homes[var].kind in ("let", "merge", "entry", "out")


def _families(stmts: list[Let], flow: Flow, arrays: list[Var]) -> dict[Var, Var]:
    """A member that stands for all arrays which might share memory with one, if every write and update
    were done in place and nothing copied."""
    leader: dict[Var, Var] = {}

    def head(var: Var) -> Var:
        while leader.setdefault(var, var) is not var:
            leader[var] = leader[leader[var]]
            var = leader[var]
        return var

    written = set(stmts)
    for var in [*arrays, *(stmt.target for stmt in stmts)]:
        for other in _relatives(var, flow, written):
            leader[head(var)] = head(other)
    return {var: head(var) for var in list(leader) + arrays}


def _relatives(var: Var, flow: Flow, written: set[Let]) -> list[Var]:
    """What an array is made of without a new one being made."""
    kind, stmt, item, _ = flow.needed.homes[var]
    if kind == "let":
        found = [stmt.args[0] if stmt in written else viewed(stmt)]
    elif kind == "read":
        found = [item.source]
    elif kind == "merge":
        found = [item.then, item.orelse]
    elif kind in ("entry", "out"):
        found = [item.init, item.next]
    else:
        found = []
    return [other for other in found if isinstance(other, Var)]


class _Decider:
    def __init__(self, flow: Flow, aliases: Aliases, alive: dict[Let, list[Var]], sums: dict[Let, None]) -> None:
        self.flow = flow
        self.sums = sums
        self.aliases = aliases
        self.alive = alive

    def decide(self, writes: list[Let], updates: list[Let]) -> None:
        pending = True
        while pending:  # a copy may make an earlier one unnecessary,
            pending = False  # but never makes one necessary
            for stmt in writes:
                while stmt not in self.aliases.writes and self._resolve(stmt):
                    pending = True
                    self.aliases.forget()
        for stmt in updates:
            self._try_in_place(stmt)
        if any(
            not self._is_safe(stmt) for stmt in (*writes, *self.aliases.in_place) if stmt not in self.aliases.writes
        ):
            self.aliases.in_place.clear()
            self.aliases.forget()

    def _sharing(self, stmt: Let) -> list[Var]:
        """Arrays that are still to be read after a write and may share its memory, the operands of
        its index among them."""
        base: Var = stmt.args[0]  # type: ignore
        slots = [atom for atom in stmt.args[2:] if is_array(atom)] if stmt.op.name in WRITES else []
        slots += [stmt.args[1]] if self._clobbers(stmt) else []  # type: ignore[list-item]
        return [var for var in (*self.alive[stmt], *slots) if self.aliases.may_share(var, base)]

    def _clobbers(self, stmt: Let) -> bool:
        """Whether NumPy may overwrite what is still to be read in `x[::2] = x[:3]`: it copies an overlapping
        value first only where it has several axes or runs the other way."""
        value = stmt.args[1] if stmt.op.name == "put" else None
        if not is_array(value) or value.type.rank != 1 or value in self.aliases.views:  # type: ignore[union-attr]
            return False
        home = self.aliases.homes[value]
        return home.kind == "let" and viewed(home.stmt) is not None and self._may_overwrite(stmt)

    def _may_overwrite(self, put: Let) -> bool:
        target, source = (part_of(atom, self._made_by) for atom in put.args[:2])
        return may_overwrite(put, target, source)

    def _made_by(self, atom: Atom) -> Let | None:
        home = self.aliases.homes.get(atom)  # type: ignore[arg-type]
        return home.stmt if home is not None and home.kind == "let" else None

    def _is_safe(self, stmt: Let) -> bool:
        return self.aliases.is_owned(stmt.args[0]) and not self._sharing(stmt)  # type: ignore

    def _resolve(self, stmt: Let) -> bool:
        """Decides one more copy for a write that must not be done in place; False if it may be."""
        base: Var = stmt.args[0]  # type: ignore
        sharing = self._sharing(stmt)
        owned = self.aliases.is_owned(base)
        if owned and not sharing:
            return False
        root = self.aliases.root(base)
        beside = [var for var in sharing if self.aliases.root(var) is root] or sharing
        own = [var for var in beside if self._is_view(var)]
        views = own if owned else []
        if not owned and self.aliases.homes[root].kind == "record":
            views = beside = [self._made_of(root, base)]  # what a loop recorded is copied where it is stacked
        others = sharing if owned else [var for var in sharing if var not in own]  # views are copied later
        edges = self._edges_to_blame(stmt, others) if not owned or beside is sharing else []
        if views and len(views) == len(beside) <= VIEWS_COPIED:
            self.aliases.views.update(views)
        elif edges:
            self.aliases.edges.update(edges)
        else:
            self.aliases.writes.add(stmt)
        return True

    def _made_of(self, root: Var, var: Var) -> Var:
        """The first one on the way from an array to what is written."""
        while (base := self.aliases.base(var)) is not root:
            assert base is not None
            var = base
        return var

    def _is_view(self, var: Var) -> bool:
        """Whether a value is a view, made by a statement, of an array of this function."""
        stmt = self.aliases.homes[var].stmt
        return (
            isinstance(stmt, Let)
            and len(stmt.targets) == 1
            and var not in self.aliases.views
            and viewed(stmt) is not None
        )

    def _edges_to_blame(self, stmt: Let, sharing: list[Var]) -> list[Edge]:
        """The values handed to loops and merges without which the write could be in place, where
        copying them costs less than copying the array at each write."""
        depth = len(self.aliases.homes[stmt.target].loops)
        root = self.aliases.root(stmt.args[0])  # type: ignore
        found: list[Edge] = []
        pending, seen = [root], {root}
        while pending:
            for edge, value in self.aliases.edges_into(pending.pop()):
                if not is_array(value) or edge in self.aliases.edges:
                    continue
                source = self.aliases.root(value)
                read = any(self.aliases.root(var) is source for var in sharing)
                if self.aliases.edges_into(source) and not read:
                    pending += [source] if source not in seen else []
                    seen.add(source)
                elif read or self._is_to_blame(value, sharing):
                    found.append(edge)
        return found if all(self._depth(edge) < depth for edge in found) else []

    def _is_to_blame(self, value: Var, sharing: list[Var]) -> bool:
        """Whether an array must not be written: it is not ours, or it is still to be read."""
        if not self.aliases.is_owned(value):
            return True
        return any(self.aliases.may_share(value, var) for var in sharing)

    def _depth(self, edge: Edge) -> int:
        """How many loops run around the place where a value is handed over."""
        item, side = edge
        if side == "init":
            return len(self.aliases.homes[item.out].loops)
        target = getattr(item, "entry", None) or item.target
        return len(self.aliases.homes[target].loops)

    def _try_in_place(self, stmt: Let) -> None:
        """Does `y = x + …` in place where a loop accumulates, or a reverse sweep, and nothing else sees `x`."""
        if not (stmt in self.sums or self._accumulates(stmt)) or not self._is_safe(stmt):
            return
        self.aliases.in_place.add(stmt)
        self.aliases.forget()
        if not self._is_safe(stmt):
            self.aliases.in_place.discard(stmt)
            self.aliases.forget()

    def _accumulates(self, stmt: Let) -> bool:
        """Whether the result becomes the next value of the carry that it is added to."""
        home = self.aliases.homes[stmt.args[0]]  # type: ignore[index]
        if home.kind == "let" and viewed(home.stmt) is not None:     # `x = x[1:] - y` is no update of x
            return False
        kind, loop, item, _ = self.aliases.homes[self.aliases.root(stmt.args[0])]  # type: ignore
        if kind != "entry" or not isinstance(loop, Loop):
            return False
        return self._leads_to(stmt.target, item.next)

    def _leads_to(self, var: Var, end: object) -> bool:
        """Whether the next value of a carry is a variable, was made from it in place, or is that at the end of a
        branch."""
        while isinstance(end, Var) and end is not var:
            kind, stmt, item, _ = self.aliases.homes[end]
            if kind == "merge":
                return self._leads_to(var, item.then) or self._leads_to(var, item.orelse)
            if not isinstance(stmt, Let) or not (stmt.op.name in WRITES or _is_update(stmt, self.flow.sizes)):
                return False
            end = stmt.args[0]
        return end is var
