"""Elements of an array that a recurrence writes and comes back to are handed on as numbers, and not read from memory.

    for i in range(n - 3, -1, -1):              value, value2 = dp[n - 1], dp[n - 2]
        d = dp[i + 2]                           for i in range(n - 3, -1, -1):
        dp[i] -= d * a[i]               →           total = dp[i] - value * a[i]
        dp[i + 1] += d * b[i]                       total2 = value2 + value * b[i]
                                                    dp[i], dp[i + 1] = total, total2
                                                    value, value2 = total2, total

To read what has just been written takes longer than to compute it. The element that no iteration before has touched is
read from memory, which has all numbers at any time; where nobody looks at the array afterwards, nothing is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...core.builder import current
from ...core.grammar import Carry, If, Let, Loop, Var, type_of
from ...core.sizes import Extent, Size, Unknown
from ...core.types import ArrayType
from ...core.walk import atom_of_size, atom_vars, inner_targets, size_of_atom
from ...ops.arithmetic import Add
from ...ops.identity import Same
from ..nest.lifetimes import mentioned
from ..nest.nest_walk import defined, is_empty_memory, is_load, statements, uses_after, uses_before
from ..nest.nests import Block, Load, Store

MOST_HANDED = 4                        # elements of an array: a processor has few registers
FEWEST_HANDED = 2                      # LLVM hands on a single one itself


def handed_on(block: Block, results: Iterable[Any]) -> Block:
    """The block with such elements as numbers, in loops whose iterations wait for each other."""
    kept: set[Any] = set(results)
    made: Block = []
    for k, stmt in enumerate(block):
        before, windows = _handing_on(stmt)
        made += before
        read = kept.union(*map(mentioned, block[k + 1:])) if windows else kept
        for window in windows:
            if window.array not in read and any(is_empty_memory(each) and each.target is window.array for each in made):
                window.store_nothing()
        made.append(stmt)
    return made


def _handing_on(stmt: Any) -> tuple[Block, list[_Window]]:
    """Rewrites a statement, and gives what comes before it, and the arrays whose elements it hands on itself."""
    if isinstance(stmt, If):
        stmt.then, stmt.orelse = _in_block(stmt.then), _in_block(stmt.orelse)
    if not isinstance(stmt, Loop) or stmt.independent:
        return [], []
    stmt.body = _in_block(stmt.body)
    windows = _windows(stmt) if stmt.cond is None else []
    return [each for window in windows for each in window.hand_on()], windows


def _in_block(block: Block) -> Block:
    return [each for stmt in block for each in (*_handing_on(stmt)[0], stmt)]


@dataclass
class _Window:
    """The elements of an array that an iteration touches: those `offsets` behind its position along an axis. The age of
    an element is how many iterations ago it was touched first."""

    loop: Loop
    array: Var
    axis: int
    offsets: dict[int, int]            # by the identity of statements
    entries: list[Var]                 # of the ages from 1 on

    @property
    def touching(self) -> Block:
        """The statements that read and write them."""
        body: Block = self.loop.body
        return [stmt for stmt in body if id(stmt) in self.offsets]

    def offset(self, age: int) -> int:
        return min(self.offsets.values()) + age if self.loop.down else max(self.offsets.values()) - age

    def places(self) -> list[tuple[Any, ...]]:
        """Where the elements are that the first iteration finds touched already."""
        start: Extent = size_of_atom(self.loop.trips) - 1 if self.loop.down else 0     # type: ignore[arg-type]
        at = _place(self.touching[0])
        return [(*at[:self.axis], atom_of_size(start + self.offset(age)), *at[self.axis + 1:])
                for age in range(1, len(self.entries) + 1)]

    def are_inside(self) -> bool:
        """Whether they are elements of the array, also where there is no iteration."""
        holds, sizes = current().assumptions.holds_throughout, type_of(self.array).sizes   # type: ignore[union-attr]
        return all(holds(size_of_atom(k)) and holds(size - size_of_atom(k) - 1)
                   for at in self.places() for k, size in zip(at, sizes, strict=True))

    def waits(self) -> bool:
        """Whether an iteration reads what the one before has written, so that it waits for that anyway."""
        ages = [(abs(self.offsets[id(stmt)] - self.offset(0)), stmt) for stmt in self.touching]
        read = {age for age, stmt in ages if is_load(stmt) or stmt.adds}
        stored = {age for age, stmt in ages if isinstance(stmt, Store)}
        return any(age + 1 in read for age in stored)

    def hand_on(self) -> Block:
        """Rewrites the loop, and gives what reads the first of these elements before it."""
        loop, inits = self.loop, [Var(entry.type) for entry in self.entries]
        known: dict[int, Any] = {self.offset(age): entry for age, entry in enumerate(self.entries, 1)}
        before: Block = [Let((init,), Load, (self.array, *at), {}, loop.origin)
                         for init, at in zip(inits, self.places(), strict=True)]
        loop.body = [each for stmt in loop.body for each in self._by_number(stmt, known)]
        loop.carries += [Carry(entry, init, known[self.offset(age)], Var(entry.type))
                         for age, (entry, init) in enumerate(zip(self.entries, inits, strict=True))]
        return before

    def store_nothing(self) -> None:
        """Nobody reads what the loop stores: the elements that it reads have not been written by it."""
        body: Block = self.loop.body
        self.loop.body = [stmt for stmt in body if not (isinstance(stmt, Store) and stmt.array is self.array)]

    def _by_number(self, stmt: Any, known: dict[int, Any]) -> Block:
        """A statement with the numbers that are known of elements, and that are known behind it."""
        if id(stmt) not in self.offsets:
            return [stmt]
        here = self.offsets[id(stmt)]
        if is_load(stmt):
            if here in known:
                return [Let(stmt.targets, Same, (known[here],), {}, stmt.origin)]
            known[here] = stmt.target
            return [stmt]
        made: Block = []
        if stmt.adds:
            made, stmt = self._total(stmt, known.get(here))
        known[here] = stmt.value
        return [*made, stmt]

    def _total(self, stmt: Store, before: Any) -> tuple[Block, Store]:
        """What is added to an element, as a number that is stored."""
        made: Block = []
        total = Var(self.entries[0].type)
        if before is None:
            before = Var(total.type)
            made.append(Let((before,), Load, (stmt.array, *stmt.at), {}, stmt.origin))
        made.append(Let((total,), Add, (before, stmt.value), {}, stmt.origin))
        return made, Store(stmt.array, stmt.at, total, False, stmt.origin)


def _windows(loop: Loop) -> list[_Window]:
    """The arrays of which elements are handed on."""
    body: Block = loop.body
    touching: dict[Var, Block] = {}
    for stmt in body:
        if is_load(stmt) or isinstance(stmt, Store):
            touching.setdefault(stmt.args[0] if is_load(stmt) else stmt.array, []).append(stmt)
    uses = Counter(var for stmt in statements(body) for var in {*uses_before(stmt), *uses_after(stmt)})
    moving = {atom for c in loop.carries if not c.entry is c.init is c.next for atom in (c.entry, c.init, c.next)}
    inside = {loop.position, *(carry.entry for carry in loop.carries)}
    inside.update(var for stmt in statements(body) for var in (*defined(stmt), *inner_targets(stmt)))
    found = [_window(loop, array, stmts, inside) for array, stmts in touching.items()
             if uses[array] == len(stmts) and array not in moving and any(isinstance(stmt, Store) for stmt in stmts)]
    return [window for window in found if window is not None and window.waits() and window.are_inside()]


def _window(loop: Loop, array: Var, stmts: Block, inside: set[Var]) -> _Window | None:
    """The elements that statements touch, if they keep their distance from the position, and are few numbers."""
    type: Any = array.type
    if type.dtype.kind != "f" or any(isinstance(stmt, Store) and not _is_plain(stmt, type) for stmt in stmts):
        return None
    moving = {axis for stmt in stmts for axis, k in enumerate(_place(stmt)) if not inside.isdisjoint(atom_vars(k))}
    if len(moving) != 1:
        return None
    (axis,) = moving
    distances: list[Any] = [size_of_atom(_place(stmt)[axis]) - Size.of(Unknown(loop.position)) for stmt in stmts]
    rests = [[size_of_atom(k) for j, k in enumerate(_place(stmt)) if j != axis] for stmt in stmts]
    if not all(isinstance(each, int) for each in distances) or any(rest != rests[0] for rest in rests):
        return None
    handed = max(distances) - min(distances)
    if not FEWEST_HANDED <= handed <= MOST_HANDED:
        return None
    offsets = {id(stmt): each for stmt, each in zip(stmts, distances, strict=True)}
    return _Window(loop, array, axis, offsets, [Var(ArrayType(type.dtype), _name(array)) for _ in range(handed)])


def _is_plain(stmt: Store, type: Any) -> bool:
    """Whether a store writes, or adds, a number of the array's type."""
    value: Any = type_of(stmt.value)
    return isinstance(stmt.adds, bool) and isinstance(value, ArrayType) and value.dtype == type.dtype


def _place(stmt: Any) -> tuple[Any, ...]:
    place: tuple[Any, ...] = stmt.args[1:] if is_load(stmt) else stmt.at
    return place


def _name(array: Var) -> str | None:
    return None if array.name is None else f"{array.name}_before"
