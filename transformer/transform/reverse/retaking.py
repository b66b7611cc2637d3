"""Values that are still to be found in an array when the reverse sweep needs them (docs/reverse.md).

A value that was read from an array, or written to it, can be taken from a later version of the array
again, unless a write on the way from the one version to the other may touch the element. What counts
are the writes after the *version* was made, not after it was read. A slice that loops read can also be
taken from the array as it was made, if no write before the read may touch it:

    for i in range(n):                              for i in range(n - 1, -1, -1):
        b[i] += a[i + 1:, i] @ b[i + 1:]    →           da[i + 1:, i] += b_as_made[i + 1:] @ db[i]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.grammar import Block, Let, Var, type_of
from ...core.guards import Assumptions
from ...core.types import ArrayType
from ...core.walk import all_statements
from ...ops.regions import is_mask, rank_of
from ...ops.value import rule_attrs
from ..scopes import Scope, Scopes
from .lineage import Lineage
from .touching import Access, Pairing, Touching, has_index


class Retaking:
    """Finds later versions for one function."""

    def __init__(self, scopes: Scopes, assumptions: Assumptions) -> None:
        self.scopes = scopes
        self.lineage = Lineage(scopes)
        self.touching = Touching(scopes, assumptions)
        self.assumptions = assumptions
        self.places: dict[Var, tuple[Var, Let]] = {}
        for stmt in scopes.time:
            if isinstance(stmt, Let) and has_index(stmt) and stmt.op.name == "put":
                self._note_written(stmt)

    def _note_written(self, stmt: Let) -> None:
        value = stmt.args[1]
        if isinstance(value, Var) and self.scopes.scope(value) is self.scopes.scope_of[stmt]:
            self.places.setdefault(value, (stmt.target, stmt))

    def of_read(self, stmt: Let) -> Var | None:
        """A version around the scope of a `get` that still has the elements which it reads, or has them already."""
        if stmt.op.name != "get" or not isinstance(stmt.args[0], Var):
            return None
        later = self._version(stmt.args[0], self.touching.access(stmt))
        return later if later is not None and not self.scopes.is_inner(later) else self._as_made(stmt) or later

    def _as_made(self, stmt: Let) -> Var | None:
        """An array as it was made, if no element of the part of it that a loop reads has been written before. To keep
        the array takes less memory than to record the parts."""
        array: Any = stmt.args[0]
        made = self.lineage.origin(array)
        if not getattr(stmt.target.type, "sizes", ()) or not self.scopes.scope_of[stmt].loops() or (
                not isinstance(made, Var) or made is array or self.scopes.is_inner(made)):
            return None
        access = self.touching.access(stmt)
        written = any(self.touching.may_touch(write, access, pairing)
                      for write in self.lineage.writes[self.lineage.group(array)]
                      for pairing in self.earlier(write, stmt, self.scopes.top))
        return None if written else self._copied(made)

    def _copied(self, array: Var) -> Var:
        """The array that another one was made as a copy of, if it stays as it is."""
        stmt = self.scopes.definition.get(array)
        if not isinstance(stmt, Let) or stmt.op.name != "copy" or not isinstance(stmt.args[0], Var):
            return array
        return array if self.lineage.writes.get(self.lineage.group(stmt.args[0])) else self._copied(stmt.args[0])

    def of_written(self, value: Var) -> tuple[Var, Let] | None:
        """A version that still has a value which was written, and the `put` that wrote it."""
        version, stmt = self.places.get(value, (None, None))
        if version is None or stmt is None or not self._kept_whole(value, stmt):
            return None
        found = self._version(version, self.touching.access(stmt))
        return None if found is None else (found, stmt)

    def _kept_whole(self, value: Var, stmt: Let) -> bool:
        """Whether the array holds exactly the value: not converted, not broadcast, no element written twice."""
        from ...ops.indexing import Get
        slots = map(type_of, stmt.args[2:])
        if not stmt.attrs.get("distinct") and any(rank_of(slot) and not is_mask(slot) for slot in slots):
            return False
        types: Any = Get.types
        kept, own = types(*map(type_of, (stmt.args[0], *stmt.args[2:])), **rule_attrs(stmt)), value.type
        assert isinstance(own, ArrayType)
        sizes = [tuple(map(self.assumptions.normal, type.sizes)) for type in (kept, own)]
        return kept.dtype == own.dtype and not own.weak and sizes[0] == sizes[1]

    def _version(self, version: Var, access: Access) -> Var | None:
        """The version to take the elements from: one of the function itself if possible."""
        levels = list(self._levels(version, access.scope))
        for scope, found in reversed(levels):
            versions = found if scope is self.scopes.top else found[-1:]
            later = self._last_untouched(version, versions, access, scope)
            if later is not None:
                return later
        return None

    def _levels(self, version: Var, reader: Scope) -> Iterator[tuple[Scope, list[Var]]]:
        """The versions that an array has in the scopes around, where it leaves them."""
        frontier = [version]
        while frontier:
            scope = self.scopes.scope(frontier[0]).parent
            left = [out for var in frontier for out in self.lineage.exits(var)]
            if scope is None or not left:
                return
            found = sorted({v: None for out in left for v in self.lineage.later(out)}, key=self.scopes.made.__getitem__)
            if reader.is_inside(scope) and reader is not scope:
                yield scope, found
            frontier = found[:1]

    def _last_untouched(self, version: Var, versions: list[Var], access: Access, scope: Scope) -> Var | None:
        """The last of the `versions` in `scope`, in order, before a write that may touch the elements."""
        made, time = self.scopes.made, self.scopes.time
        begins, ends = self.scopes.level(self.scopes.scope(version), scope), made[versions[-1]]
        for write in self.lineage.writes.get(self.lineage.group(version), ()):
            if begins <= time[write] <= ends and self.scopes.scope_of[write].is_inside(scope) \
                    and any(self.touching.may_touch(write, access, p) for p in self.after(write, version, scope)):
                ends = time[write]
                break
        return next((later for later in reversed(versions) if made[later] <= ends), None)

    def after(self, write: Let, version: Var, scope: Scope) -> Iterator[Pairing]:
        """In which iterations of the loops inside `scope` a write comes after a version was made."""
        home, outer = self.scopes.scope(version), tuple(scope.loops())
        common = _common(self.scopes.scope_of[write], home, scope)
        for k, loop in enumerate(common):
            yield Pairing((*outer, *common[:k]), loop)
        if self.scopes.time[write] > self.scopes.made.get(version, 0):
            yield Pairing((*outer, *common))

    def is_read_before(self, put: Let, active: set[Var]) -> bool:
        """Whether the cotangents of the elements that a `put` writes are looked at before it: the array was
        active when it was made, or an active write since, and before this one, may touch the elements."""
        target = put.target
        origin = self.lineage.origin(target)
        if origin is None or origin in active:
            return True
        access = self.touching.access(put)
        made_in = self.scopes.scope(origin) if isinstance(origin, Var) else self.scopes.top
        writes = [w for w in self.lineage.writes[self.lineage.group(target)]
                  if w.args[1] in active and self.scopes.scope_of[w].is_inside(made_in)]
        return any(self.touching.may_touch(write, access, pairing)
                   for write in writes for pairing in self.earlier(write, put, made_in))

    def earlier(self, write: Let, other: Let, within: Scope) -> Iterator[Pairing]:
        """In which iterations of the loops inside `within` a write comes before another statement."""
        scopes, outer = self.scopes, tuple(within.loops())
        common = _common(scopes.scope_of[write], scopes.scope_of[other], within)
        for k, loop in enumerate(common):
            yield Pairing((*outer, *common[:k]), loop, earlier=True)
        if scopes.time[write] < scopes.time[other]:
            yield Pairing((*outer, *common))


def unread_before(block: Block, active: set[Var], assumptions: Assumptions) -> set[Let]:
    """The `put`s whose elements nobody looks at before them, so that their cotangents may stay."""
    puts = [stmt for stmt in all_statements(block)
            if isinstance(stmt, Let) and stmt.op.name == "put" and stmt.target in active]
    if not puts:
        return set()
    retaking = Retaking(Scopes.of(block), assumptions)
    return {put for put in puts if not retaking.is_read_before(put, active)}


def _common(first: Scope, second: Scope, within: Scope) -> list[Scope]:
    """The loops inside `within` that both scopes lie in, outermost first."""
    others = second.loops(within)
    return [scope for scope in first.loops(within) if scope in others]
