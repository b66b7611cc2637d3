"""Whether a write may touch an element that another statement reads or writes, in any iteration.

An index selects, along each axis, an interval of positions, given by sizes that are affine in the
positions of the loops around. Two statements touch different elements if the intervals lie apart along
some axis, for all iterations in question. The least distance is found by putting the bounds of the
loops' positions in, innermost first; what is not affine may be anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...core.grammar import Atom, Const, If, Let, Loop, Var, type_of
from ...core.guards import Assumptions
from ...core.sizes import Extent, Greatest, Least, Size, Unknown, greatest, least, leaves, replaced
from ...core.walk import size_of_atom
from ...ops.integers import PLACES, combined, is_exact
from ...ops.regions import Slot, is_mask, rank_of, slots_of
from ..scopes import Scope, Scopes


class Interval(NamedTuple):
    """Positions `low..high` along an axis, both included, counted from the start."""

    low: Extent
    high: Extent


@dataclass(eq=False)
class Access:
    """The elements that a statement reads (`get`) or writes (`put`, `addat`), in its scope: an interval
    per axis (None: anywhere), and what the branches around it say (`facts`: sizes that are not negative,
    `unequal`: sizes that are not 0).
    """

    shape: tuple[Extent, ...]
    index: tuple[Any, ...]
    slots: tuple[Atom, ...]
    scope: Scope
    intervals: list[Interval | None] = field(default_factory=list)
    facts: list[Extent] = field(default_factory=list)
    unequal: list[Extent] = field(default_factory=list)


def has_index(stmt: Let) -> bool:
    """Whether a statement says by an index which elements it means."""
    return stmt.op.name in ("get", "put", "addat")


@dataclass(frozen=True)
class Pairing:
    """Iterations of two accesses that are compared: the loops in which both are at the same position,
    and the loop in which the write comes later (or, with `earlier`, earlier) than the other."""

    same: tuple[Scope, ...]
    apart: Scope | None = None
    earlier: bool = False


class Touching:
    """Answers for one function."""

    def __init__(self, scopes: Scopes, assumptions: Assumptions) -> None:
        self.scopes = scopes
        self.assumptions = assumptions
        self.known: dict[Var, Extent] = {}
        self.accesses: dict[Let, Access] = {}

    def access(self, stmt: Let) -> Access:
        """What a statement with an index reads or writes."""
        if stmt not in self.accesses:
            array: Any = type_of(stmt.args[0])
            slots = slots_of(stmt)
            found = Access(array.sizes, stmt.attrs["index"], slots, self.scopes.scope_of[stmt])
            found.facts = [fact for scope in found.scope.path() for fact in self._facts(scope)]
            found.intervals = list(self._intervals(found))
            found.unequal = [size for scope in found.scope.path() for size in self._unequal(scope)]
            self.accesses[stmt] = found
        return self.accesses[stmt]

    def may_touch(self, write: Let, other: Access, pairing: Pairing) -> bool:
        if not has_index(write):
            return True
        if pairing.apart is not None and getattr(pairing.apart.loop, "independent", False):
            return False
        own = self.access(write)
        if are_alternatives(own.scope, other.scope, pairing):
            return False
        compared = _Compared(self, own, other, pairing)
        if any(compared.is_positive(0 - fact) for fact in compared.facts):
            return False
        return not any(compared.are_apart(mine, its) for mine, its in zip(own.intervals, other.intervals)
                       if mine is not None and its is not None)

    def _facts(self, scope: Scope) -> list[Extent]:
        """Sizes that are not negative in a branch, by its condition."""
        stmt = self.scopes.let(scope.owner.cond) if isinstance(scope.owner, If) else None
        if stmt is None or not all(map(is_exact, stmt.args)):
            return []
        name = stmt.op.name if scope.side == "then" else OPPOSITES.get(stmt.op.name)
        above = self.extent(stmt.args[0]) - self.extent(stmt.args[-1])
        if name == "not_equal":
            return [difference - 1 for difference in (above, 0 - above) if self._never_negative(difference, scope)]
        return {"less": [-1 - above], "less_equal": [0 - above], "greater": [above - 1],
                "greater_equal": [above], "equal": [above, 0 - above]}.get(name or "", [])

    def _unequal(self, scope: Scope) -> list[Extent]:
        """Sizes that are not 0 in a branch, by its condition."""
        stmt = self.scopes.let(scope.owner.cond) if isinstance(scope.owner, If) else None
        if stmt is None or stmt.op.name != ("not_equal" if scope.side == "then" else "equal") or not all(
                map(is_exact, stmt.args)):
            return []
        return [self.extent(stmt.args[0]) - self.extent(stmt.args[1])]

    def are_unequal(self, first: Any, second: Any, scope: Scope) -> bool:
        """Whether two positions, neither of which counts from the end, are different in a branch."""
        difference = self.extent(first) - self.extent(second)
        return all(self._never_negative(self.extent(each), scope) for each in (first, second)) and any(
            difference in (size, 0 - size) for around in scope.path() for size in self._unequal(around))

    def is_inside(self, stmt: Let) -> bool:
        """Whether all numbers in an index are positions of the array, certainly or in all calls that this code is
        made for."""
        access = self.access(stmt)
        places = [(interval, size) for interval, entry, size in
                  zip(access.intervals, (each for each in access.index if each is not None), access.shape)
                  if not isinstance(entry, slice)]
        return not any(rank_of(type_of(slot)) for slot in access.slots) and all(
            interval is not None and self._is_decided(size - 1 - interval.high, access.scope)
            for interval, size in places)

    def _is_decided(self, size: Extent, scope: Scope) -> bool:
        low = self.lowest(size, [(s, s.loop.position) for s in scope.loops()], None)
        return low is not None and self.assumptions.decide(low)

    # -- positions as sizes --------------------------------------------------------------------

    def extent(self, atom: Any) -> Extent:
        """An integer as a size, seen through to positions of loops."""
        if not isinstance(atom, Var):
            return atom if isinstance(atom, (int, Size)) else size_of_atom(atom)
        if atom not in self.known:
            self.known[atom] = Size.of(Unknown(atom))
            self.known[atom] = self._seen_through(atom)
        return self.known[atom]

    def _leaf(self, leaf: Any) -> Extent | None:
        """An integer of the program in a size, seen through."""
        return self.extent(leaf.var) if isinstance(leaf, Unknown) else None

    def _seen_through(self, var: Var) -> Extent:
        stmt = self.scopes.definition.get(var)
        if isinstance(stmt, Let) and stmt.op.name in PLACES:
            self.assumptions.ranges.setdefault(Unknown(var), (0, None))
        if isinstance(stmt, Let) and all(map(is_exact, (var, *stmt.args))):
            parts = [self.extent(arg) for arg in stmt.args]
            seen = _extreme(stmt, parts) or combined(stmt, parts)
            return Size.of(Unknown(var)) if seen is None else seen
        if isinstance(stmt, Loop) and (found := induction(self.scopes, var)):
            init, step = found
            return self.extent(init) + self.extent(step) * Size.of(Unknown(stmt.position))
        return Size.of(Unknown(var))

    def _intervals(self, access: Access) -> Iterator[Interval | None]:
        """One interval per axis; None where anything may be meant."""
        types = [type_of(slot) for slot in access.slots]
        if any(is_mask(type) and rank_of(type) != 1 for type in types):
            return
        axis = 0
        for entry in access.index:
            if entry is not None:
                yield self._interval(entry, access, axis)
                axis += 1

    def _interval(self, entry: Any, access: Access, axis: int) -> Interval | None:
        size = access.shape[axis]
        if isinstance(entry, slice):
            return self._of_slice(entry, access, size)
        if isinstance(entry, Slot) and rank_of(type_of(access.slots[entry.k])):
            return None
        position = self._position(entry, access, size)
        return None if position is None else Interval(position, position)

    def _of_slice(self, entry: slice, access: Access, size: Extent) -> Interval | None:
        start, stop = (None if b is None else self._position(b, access, size) for b in (entry.start, entry.stop))
        if (start is None) != (entry.start is None) or (stop is None) != (entry.stop is None):
            return None
        if (entry.step or 1) > 0:
            return Interval(0 if start is None else start, (size if stop is None else stop) - 1)
        return Interval(0 if stop is None else stop + 1, size - 1 if start is None else start)

    def _position(self, bound: Any, access: Access, size: Extent) -> Extent | None:
        """A bound counted from the start of the axis, if it is known from which end it counts."""
        position = self.extent(access.slots[bound.k] if isinstance(bound, Slot) else bound)
        if self._never_negative(position, access.scope, access.facts):
            return position
        return position + size if self._never_negative(-1 - position, access.scope, access.facts) else None

    def _never_negative(self, size: Extent, scope: Scope, facts: Sequence[Extent] = ()) -> bool:
        """Whether a size is certainly not negative in a scope, or where `facts` are not negative either."""
        free = [(s, s.loop.position) for s in scope.loops()]
        return any(self.is_certain(low, 0) for fact in (0, *facts) for low in self.bounds(size - fact, free, None))

    # -- least values --------------------------------------------------------------------------

    def tagged(self, size: Extent, tag: str, pairing: Pairing) -> Extent:
        """A size with what may differ between the two accesses told apart."""
        def own(leaf: Any) -> Extent | None:
            if not isinstance(leaf, Unknown) or self._is_same(leaf.var, pairing):
                return None
            return Size.of(Unknown((tag, leaf.var)))
        return replaced(size, own)

    def _is_same(self, var: Any, pairing: Pairing) -> bool:
        """Whether a variable has one value for both: all loops around it are at one position."""
        return all(scope in pairing.same for scope in self.scopes.scope(var).loops())

    def lowest(self, size: Extent, free: list[tuple[Scope, Any]], pairing: Pairing | None) -> Extent | None:
        """What `size` is never below, in terms of sizes alone. None where there is nothing."""
        return next(self.bounds(size, free, pairing), None)

    def bounds(self, size: Extent, free: list[tuple[Scope, Any]], pairing: Pairing | None) -> Iterator[Extent]:
        """What `size` is never below: bounds put in for the positions `free`, the last first. There are several where a
        loop ends at the least of two sizes."""
        if not free:
            yield size
            return
        *rest, (scope, name) = free
        for each in _opened(size, Unknown(name)):
            count = _coefficient(each, Unknown(name))
            bound = self._bound(scope, name, count > 0, pairing) if count else 0
            if count is not None and bound is not None:
                yield from self.bounds(each - Size.of(Unknown(name)) * count + bound * count, rest, pairing)

    def _bound(self, scope: Scope, name: Any, low: bool, pairing: Pairing | None) -> Extent | None:
        """The lowest or highest position of a loop, for one of two accesses."""
        tag = name[0] if isinstance(name, tuple) else None
        last = self._last(scope)
        if tag is None or pairing is None:
            return 0 if low else last
        last = None if last is None else self.tagged(last, tag, pairing)
        if scope is not pairing.apart:
            return 0 if low else last
        rises = pairing.earlier == getattr(scope.loop, "down", False)   # the write is at a higher position
        if tag == WRITE and low == rises:
            other = Size.of(Unknown((OTHER, scope.loop.position)))
            return other + 1 if rises else other - 1
        if low:
            return 0 if tag == WRITE or rises else 1
        return last if last is None or tag == WRITE or not rises else last - 1

    def _last(self, scope: Scope) -> Extent | None:
        """The last position of a loop, within the loop: there is one."""
        if scope.loop.trips is None:
            return None
        trips = replaced(self.extent(scope.loop.trips), self._leaf)
        atom = next(trips.atoms(), None) if isinstance(trips, Size) and len(trips.terms) == 1 else None
        if isinstance(atom, Greatest) and trips == Size.of(atom) and atom.second == 0:
            trips = atom.first
        return trips - 1

    def is_certain(self, size: Extent, least: int) -> bool:
        """Whether a size is at least a number, by what is known and by the guards there are."""
        if any(isinstance(leaf, Unknown) and isinstance(leaf.var, tuple) for leaf in leaves(size)):
            return False
        return self.assumptions.follows(size, least)


class _Compared:
    """Two accesses in certain iterations, and what the branches they lie in say of these (`facts`)."""

    def __init__(self, touching: Touching, own: Access, other: Access, pairing: Pairing) -> None:
        self.touching, self.pairing = touching, pairing
        self.facts = [touching.tagged(fact, tag, pairing) for tag, access in ((WRITE, own), (OTHER, other))
                      for fact in access.facts]
        self.unequal = [touching.tagged(size, tag, pairing) for tag, access in ((WRITE, own), (OTHER, other))
                        for size in access.unequal]
        self.free: list[tuple[Scope, Any]] = [(s, s.loop.position) for s in pairing.same]
        if pairing.apart is not None:
            self.free += [(pairing.apart, (tag, pairing.apart.loop.position)) for tag in (OTHER, WRITE)]
        for tag, access in ((OTHER, other), (WRITE, own)):
            inner = [s for s in access.scope.loops() if s not in pairing.same and s is not pairing.apart]
            self.free += [(s, (tag, s.loop.position)) for s in inner]

    def are_apart(self, mine: Interval, its: Interval) -> bool:
        mine = Interval(*(self.touching.tagged(end, WRITE, self.pairing) for end in mine))
        its = Interval(*(self.touching.tagged(end, OTHER, self.pairing) for end in its))
        if mine.low == mine.high and its.low == its.high and any(
                mine.low - its.low in (size, 0 - size) for size in self.unequal):
            return True
        return any(self.is_positive(distance - fact) for distance in (mine.low - its.high, its.low - mine.high)
                   for fact in (0, *self.facts))

    def is_positive(self, size: Extent) -> bool:
        return any(self.touching.is_certain(low, 1) for low in self.touching.bounds(size, self.free, self.pairing))


def are_alternatives(first: Scope, second: Scope, pairing: Pairing) -> bool:
    """Whether two scopes lie on different sides of one branch, in one iteration of the loops around it."""
    sides = {scope.owner: scope for scope in first.path() if scope.side in ("then", "orelse")}
    return any(scope.owner in sides and sides[scope.owner] is not scope
               and all(loop in pairing.same for loop in scope.loops()) for scope in second.path())


WRITE, OTHER = "write", "other"
OPPOSITES = {"less": "greater_equal", "less_equal": "greater", "greater": "less_equal", "greater_equal": "less",
             "not_equal": "equal", "equal": "not_equal"}


def _extreme(stmt: Let, parts: list[Extent]) -> Extent | None:
    if stmt.op.name in ("minimum", "maximum"):
        return least(*parts) if stmt.op.name == "minimum" else greatest(*parts)
    return None


def _coefficient(size: Extent, leaf: Unknown) -> int | None:
    """How often a leaf is added up in a size; None where it occurs otherwise."""
    if not isinstance(size, Size) or leaf not in size.leaves:
        return 0
    return size.terms.get((leaf,)) if size.leaves.count(leaf) == 1 else None


def _opened(size: Extent, leaf: Unknown) -> Iterator[Extent]:
    """A size, and what it is not below where a leaf occurs in the least of two that is taken away: min(a, b) is neither
    above a nor above b."""
    yield size
    if isinstance(size, Size) and leaf in size.leaves:
        for monomial, count in size.terms.items():
            atom = monomial[0] if len(monomial) == 1 else None
            if isinstance(atom, Least) and count < 0:
                rest = size - Size.of(atom) * count
                yield from (each for end in (atom.first, atom.second) for each in _opened(rest + end * count, leaf))


def induction(scopes: Scopes, var: Var) -> tuple[Atom, Atom] | None:
    """Start and step of an integer to which every iteration of an upward loop adds the same number."""
    loop = scopes.definition.get(var)
    if not isinstance(loop, Loop) or loop.down or not is_exact(var):
        return None
    carry = next((c for c in loop.carries if c.entry is var), None)
    stmt = None if carry is None else scopes.let(carry.next)
    if carry is None or stmt is None or stmt.op.name != "add" or var not in stmt.args:
        return None
    if scopes.scope_of[stmt] is not scopes.scope(var):
        return None
    step = stmt.args[1] if stmt.args[0] is var else stmt.args[0]
    is_fixed = isinstance(step, Const) or not scopes.scope(step).is_inside(scopes.scope(var))  # type: ignore[arg-type]
    return (carry.init, step) if is_fixed else None
