"""Writes of a branch that some lanes take: all of them write, and those that do not take it write what is there.

    if x[j] > x[j + 1]:                         c = x[j] > x[j + 1]
        x[j] = b                    becomes     x[j] = b if c else x[j]
        x[j + 1] = a                            x[j + 1] = a if c else x[j + 1]

That is so where the places exist in any case, as they are numbers, or positions of loops, or have been looked at
before, and where what the branch computes may be computed in all lanes. Else lanes go through the branch one by one,
each with an array of its own.
"""

from __future__ import annotations

from typing import Any

from ..core.builder import Builder
from ..core.grammar import UNDEFINED, Atom, Block, If, Let, Merge, Stmt, Var, type_of
from ..core.types import ArrayType
from ..core.walk import WRITES, Copier, atom_vars, blocks_of
from ..ops.elementwise import where
from ..ops.identity import Same
from ..ops.indexing import Get, Put
from ..ops.regions import Slot
from ..ops.value import Value
from . import rules
from .differing import is_decided
from .scopes import Scopes
from .touching import Touching, has_index


def write_in_all_lanes(block: Block, differing: set[Var], builder: Builder) -> bool:
    """Rewrites such branches of a block in place; says whether there were any."""
    return _LaneWrites(block, differing, builder).block(block, [])


class _LaneWrites:
    def __init__(self, block: Block, differing: set[Var], builder: Builder) -> None:
        self.differing = differing
        self.builder = builder
        self.touching = Touching(Scopes.of(block), builder.assumptions)

    def block(self, block: Block, before: list[Let]) -> bool:
        """`before` are the statements that have looked at elements by then."""
        looked, made = list(before), list[Stmt]()
        for stmt in block:
            made += self._rewritten(stmt, looked) or [stmt]
            if isinstance(stmt, Let) and has_index(stmt):
                looked.append(stmt)
        changed = len(made) != len(block) or any(one is not other for one, other in zip(made, block))
        for stmt in block:
            if not is_decided(stmt, self.differing):
                changed |= any([self.block(inner, looked) for inner in blocks_of(stmt)])
        block[:] = made
        return changed

    def _rewritten(self, stmt: Stmt, looked: list[Let]) -> Block | None:
        if not isinstance(stmt, If) or not is_decided(stmt, self.differing):
            return None
        sides = _Side(stmt.then), _Side(stmt.orelse)
        if not any(side.versions for side in sides) or not all(self._may_run(each, looked) for side in sides
                                                              for each in side.block):
            return None
        written = [merge for merge in stmt.merges if _is_written(merge, *sides)]
        others = [merge for merge in stmt.merges if merge not in written]
        bases = [sides[0].base(merge.then) for merge in written]
        changed = {base for side in sides for base in side.versions}
        versions = {version for side in sides for version in side.bases}
        if len(bases) != len(changed) or set(bases) != changed or not versions.isdisjoint(
                atom_vars([(merge.then, merge.orelse) for merge in others])):
            return None
        return self._written(stmt, sides, dict(zip(bases, written, strict=True)), others)

    # -- which branches ------------------------------------------------------------------------

    def _may_run(self, stmt: Stmt, looked: list[Let]) -> bool:
        """Whether a statement of a branch can do no harm in lanes that do not take it."""
        if not isinstance(stmt, Let) or len(stmt.targets) != 1:
            return False
        if not has_index(stmt):
            total = stmt.op.is_total
            return stmt.op is Same or bool(total(*rules.operands_of(stmt)) if callable(total) else total)
        return self._exists(stmt, looked) and (stmt.op.name not in WRITES or _keeps_dtype(stmt))

    def _exists(self, stmt: Let, looked: list[Let]) -> bool:
        """Whether what an index means is in the array, whether or not the branch is taken."""
        index, slots = stmt.attrs["index"], _slots(stmt)
        if any(getattr(type_of(slot), "sizes", ()) for slot in slots) or any(map(_is_computed_slice, index)):
            return False
        if not any(isinstance(entry, Slot) for entry in index):
            return True
        return any(self._is_same_place(stmt, other) for other in looked) or self.touching.is_inside(stmt)

    def _is_same_place(self, stmt: Let, other: Let) -> bool:
        types: list[Any] = [type_of(each.args[0]) for each in (stmt, other)]
        one, another = (type.sizes for type in types)
        return stmt.attrs["index"] == other.attrs["index"] and _slots(stmt) == _slots(other) and len(one) == len(
            another) and all(map(self.builder.assumptions.certainly_equal, one, another))

    # -- what becomes of them ------------------------------------------------------------------

    def _written(self, stmt: If, sides: tuple[_Side, _Side], written: dict[Var, Merge], others: list[Merge]) -> Block:
        copier = Copier()
        with self.builder.nested() as made, self.builder.at(stmt.origin):
            for side, taken in zip(sides, (True, False)):
                for inner in side.block:
                    if inner.op.name in WRITES:
                        self._write(inner, copier, stmt.cond, taken)
                        copier.mapping[side.bases[inner.target]] = copier.mapping[inner.target]
                    else:
                        self.builder.emit(copier.stmt(inner))
            for base, merge in written.items():
                self.builder.emit(Let((merge.target,), Same, (copier.atom(base),), {}, stmt.origin))
            if others:
                merges = [Merge(m.target, copier.atom(m.then), copier.atom(m.orelse), saved=m.saved) for m in others]
                self.builder.emit(If(stmt.cond, [], [], merges, stmt.origin))
        return made

    def _write(self, stmt: Let, copier: Copier, cond: Atom, taken: bool) -> None:
        """Writes in the lanes for which `cond` is as `taken` says, and what is there in the others."""
        array, value, *slots = (Value(atom) for atom in copier.args(stmt.args))
        attrs = copier.attr(stmt.attrs)
        old = Get.applied(array, *slots, **attrs)
        new = old + value if stmt.op.adds else value
        chosen = where(Value(cond), *((new, old) if taken else (old, new)))
        with self.builder.at(stmt.origin):
            found = Put.applied(array, chosen, *slots, **attrs).atom
        found.name, found.primal, found.pattern = stmt.target.name, stmt.target.primal, stmt.target.pattern
        copier.mapping[stmt.target] = found


class _Side:
    """One side of a branch: `bases` are the arrays of outside that are written, by what they are after each write, and
    `versions` what they are in the end."""

    def __init__(self, block: Block) -> None:
        self.block: list[Any] = block
        self.bases: dict[Var, Any] = {}
        self.versions: dict[Any, Var] = {}
        for stmt in block:
            if isinstance(stmt, Let) and stmt.op.name in WRITES:
                base = self.base(stmt.args[0])
                self.bases[stmt.target], self.versions[base] = base, stmt.target

    def base(self, atom: Any) -> Any:
        return self.bases.get(atom, atom)

    def is_end(self, atom: Any) -> bool:
        """Whether an array of outside is this in the end."""
        return self.versions.get(self.base(atom), atom) is atom


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
    return isinstance(entry, slice) and any(isinstance(bound, Slot) for bound in (entry.start, entry.stop, entry.step))
