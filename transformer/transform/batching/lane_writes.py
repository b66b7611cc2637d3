"""Reads and writes of a branch that some lanes take: all lanes read and write, and those that do not take the branch
write what is already there.

    if x[j] > x[j + 1]:                         c = x[j] > x[j + 1]
        x[j] = b                    becomes     x[j] = b if c else x[j]
        x[j + 1] = a                            x[j + 1] = a if c else x[j + 1]

That is so where the places exist in any case, as they are numbers, or positions of loops, or have been looked at
before, and where what the branch computes may be computed in all lanes. Else lanes go through the branch one by one,
each with an array of its own.
"""

from __future__ import annotations

from typing import Any, TypeGuard

from ...core.builder import Builder
from ...core.grammar import UNDEFINED, Atom, Block, If, Let, Merge, Stmt, Var, type_of
from ...core.sizes import Size
from ...core.types import ArrayType
from ...core.walk import WRITES, Copier, all_uses, atom_vars, blocks_of
from ...ops.elementwise import where
from ...ops.identity import Same
from ...ops.indexing import Get, Put
from ...ops.regions import Slot
from ...ops.value import Value
from .. import rules
from ..reverse.looked_at import LookedAt, Places
from ..reverse.touching import Touching, has_index
from ..scopes import Scopes
from .apart import unsure_vars
from .differing import is_decided


def write_in_all_lanes(block: Block, differing: set[Var], builder: Builder) -> bool:
    """Rewrites such branches of a block in place; says whether there were any."""
    return _LaneWrites(block, differing, builder).block(block, [])


class _LaneWrites:
    def __init__(self, block: Block, differing: set[Var], builder: Builder) -> None:
        self.differing = differing
        self.builder = builder
        scopes = Scopes.of(block)
        self.touching, self.places = Touching(scopes, builder.assumptions), Places(scopes, builder.assumptions)
        self.unsure = unsure_vars(block)        # that may be without a value
        self.top, self.before = block, list[LookedAt]()                  # by loops that have ended
        self.made: set[Stmt] = set()            # whose places exist in any case

    def block(self, block: Block, before: list[Let]) -> bool:
        """`before` are the statements that have looked at elements by then."""
        looked = list(before)
        straight = self._straight(block, looked)
        changed = len(straight) != len(block) or any(one is not other for one, other in zip(straight, block))
        for stmt in block:
            if is_decided(stmt, self.differing):
                continue
            places = list(self.places.of_loop(stmt)) if block is self.top else []
            changed |= any([self.block(inner, looked) for inner in blocks_of(stmt)])
            self.before += places
        block[:] = straight
        return changed

    def _straight(self, block: Block, looked: list[Let]) -> Block:
        """A block without such branches; adds to what has been looked at by its end."""
        made: Block = []
        for stmt in block:
            made += self._rewritten(stmt, looked) or [stmt]
            if isinstance(stmt, Let) and has_index(stmt):
                looked.append(stmt)
        return made

    def _rewritten(self, stmt: Stmt, looked: list[Let]) -> Block | None:
        if not isinstance(stmt, If) or not is_decided(stmt, self.differing):
            return None
        sides = _Side(self._straight(stmt.then, list(looked))), _Side(self._straight(stmt.orelse, list(looked)))
        block = [each for side in sides for each in side.block]
        looks = any(isinstance(each, Let) and has_index(each) for each in block)
        if not looks or not all(self._may_run(each, looked) for each in block):
            return None
        if any(not self.unsure.isdisjoint(all_uses(each)) for each in (stmt, *block)):
            return None
        written = [merge for merge in stmt.merges if _is_written(merge, *sides)]
        others = [merge for merge in stmt.merges if merge not in written]
        bases = [sides[0].base(merge.then) for merge in written]
        changed = {base for side in sides for base in side.versions}
        versions = {version for side in sides for version in side.bases}
        left = [side for merge in others for side in (merge.then, merge.orelse)]
        if len(bases) != len(changed) or set(bases) != changed or UNDEFINED in left or not versions.isdisjoint(
                atom_vars(left)):
            return None
        return self._written(stmt, sides, dict(zip(bases, written, strict=True)), others)

    # -- which branches ------------------------------------------------------------------------

    def _may_run(self, stmt: Stmt, looked: list[Let]) -> bool:
        """Whether a statement of a branch can do no harm in lanes that do not take it."""
        if stmt in self.made or isinstance(stmt, If) and not any(blocks_of(stmt)):
            return True
        if not isinstance(stmt, Let) or len(stmt.targets) != 1:
            return False
        if not has_index(stmt):
            total = stmt.op.is_total
            return stmt.op is Same or bool(total(*rules.operands_of(stmt)) if callable(total) else total)
        return self._exists(stmt, looked) and (stmt.op.name not in WRITES or _keeps_dtype(stmt))

    def _exists(self, stmt: Let, looked: list[Let]) -> bool:
        """Whether what an index means is in the array, whether or not the branch is taken."""
        index, slots = stmt.attrs["index"], _slots(stmt)
        sizes = type_of(stmt.args[0]).sizes                                  # type: ignore[union-attr]
        if any(getattr(type_of(slot), "sizes", ()) for slot in slots) or any(map(_is_computed_slice, index)):
            return False
        if any(self._is_same_place(stmt, other) for other in looked):
            return True
        if any(map(_is_computed, sizes)) and any(_is_fixed(entry) for entry in index):
            return False                        # it is tested in the branch
        return not any(isinstance(entry, Slot) for entry in index) or self.touching.is_inside(stmt) or (
            self.places.is_known(stmt, self.before))

    def _is_same_place(self, stmt: Let, other: Let) -> bool:
        types: list[Any] = [type_of(each.args[0]) for each in (stmt, other)]
        one, another = (type.sizes for type in types)
        return stmt.attrs["index"] == other.attrs["index"] and _slots(stmt) == _slots(other) and len(one) == len(
            another) and all(map(self.builder.assumptions.certainly_equal, one, another))

    # -- what becomes of them ------------------------------------------------------------------

    def _written(self, stmt: If, sides: tuple[_Side, _Side], written: dict[Var, Merge], others: list[Merge]) -> Block:
        copier, alike = Copier(), _alike(*sides)
        with self.builder.nested() as made, self.builder.at(stmt.origin):
            for side, taken in zip(sides, (True, False)):
                for inner in side.block:
                    if not _is_write(inner):
                        self.builder.emit(copier.stmt(inner))
                    elif inner not in alike.values():
                        found = self._write(inner, copier, stmt.cond, taken, alike.get(inner))
                        copier.mapping[inner.target] = copier.mapping[side.bases[inner.target]] = found
            for base, merge in written.items():
                self.builder.emit(Let((merge.target,), Same, (copier.atom(base),), {}, stmt.origin))
            if others:
                merges = [Merge(m.target, copier.atom(m.then), copier.atom(m.orelse), saved=m.saved) for m in others]
                self.builder.emit(If(stmt.cond, [], [], merges, stmt.origin))
        self.made.update(made)
        return made

    def _write(self, stmt: Let, copier: Copier, cond: Atom, taken: bool, other: Let | None) -> Var:
        """Writes in the lanes for which `cond` is as `taken` says, and in the others what is there, or what the `other`
        side writes."""
        array, _, *slots = (Value(atom) for atom in copier.args(stmt.args))
        attrs = copier.attr(stmt.attrs)
        old = Get.applied(array, *slots, **attrs)
        new, kept = self._new(stmt, copier, old), old if other is None else self._new(other, copier, old)
        chosen = where(Value(cond), *((new, kept) if taken else (kept, new)))
        with self.builder.at(stmt.origin):
            found: Var = Put.applied(array, chosen, *slots, **attrs).atom
        found.name, found.primal, found.pattern = stmt.target.name, stmt.target.primal, stmt.target.pattern
        return found

    def _new(self, stmt: Let, copier: Copier, old: Any) -> Any:
        """What a statement leaves at its place."""
        value = Value(copier.atom(stmt.args[1]))
        return old + value if stmt.op.adds else value


class _Side:
    """One side of a branch: `bases` are the outer arrays that are written, by their version after each write, and
    `versions` what they are in the end."""

    def __init__(self, block: Block) -> None:
        self.block: Block = block
        self.bases: dict[Var, Any] = {}
        self.versions: dict[Any, Var] = {}
        self.writes: list[Let] = list(filter(_is_write, block))
        for stmt in block:
            if _is_write(stmt) or isinstance(stmt, Let) and stmt.op is Same and stmt.args[0] in self.bases:
                base = self.base(stmt.args[0])
                self.bases[stmt.target], self.versions[base] = base, stmt.target

    def base(self, atom: Any) -> Any:
        return self.bases.get(atom, atom)

    def is_end(self, atom: Any) -> bool:
        """Whether an array of outside is this in the end."""
        return self.versions.get(self.base(atom), atom) is atom


def _alike(then: _Side, orelse: _Side) -> dict[Let, Let]:
    """The writes of the second side, where the first one has one to the same place: each is the only one to its array,
    at which its side does not look again."""
    found = {}
    for base in then.versions.keys() & orelse.versions.keys():
        (one, *more), (other, *others) = ([each for each in side.writes if side.base(each.args[0]) is base]
                                          for side in (then, orelse))
        is_same = one.attrs == other.attrs and _slots(one) == _slots(other)
        if is_same and not more and not others and not any(one.target in all_uses(each) for each in then.block):
            found[other] = one
    return found


def _is_write(stmt: Any) -> TypeGuard[Let]:
    return isinstance(stmt, Let) and stmt.op.name in WRITES


def _is_written(merge: Merge, then: _Side, orelse: _Side) -> bool:
    """Whether the sides leave one array of outside, that one of them wrote to."""
    base = then.base(merge.then)
    is_one = isinstance(base, Var) and base is orelse.base(merge.orelse) and base is not UNDEFINED
    return is_one and then.is_end(merge.then) and orelse.is_end(merge.orelse) and (
        base in then.versions or base in orelse.versions)


def _keeps_dtype(stmt: Let) -> bool:
    """Whether what is written has the dtype of the array, or is a number of Python's that takes it."""
    array, value = (type_of(atom) for atom in stmt.args[:2])
    if not isinstance(array, ArrayType) or not isinstance(value, ArrayType):
        return False
    return array.dtype == value.dtype or value.weak and "biufc".index(value.dtype.kind) <= "biufc".index(
        array.dtype.kind)


def _slots(stmt: Let) -> tuple[Atom, ...]:
    return stmt.args[1:] if stmt.op is Get else stmt.args[2:]


def _is_computed_slice(entry: Any) -> bool:
    return isinstance(entry, slice) and any(isinstance(bound, Slot) or _is_computed(bound)
                                            for bound in (entry.start, entry.stop, entry.step))


def _is_fixed(entry: Any) -> bool:
    return isinstance(entry, int) or isinstance(entry, slice) and entry != slice(None)


def _is_computed(size: Any) -> bool:
    """Whether a size is known only when the program has run up to there."""
    return isinstance(size, Size) and not all(var.is_parameter for var in size.unknowns)
