"""The reverse of a branch: a branch on the same condition.

    if c:                             if c:
        u = a * u         becomes         da = da + du * u0
                                          du = du * a
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ...core.grammar import UNDEFINED, Atom, Block, If, Merge, Var
from ...core.types import SavedType
from ...core.walk import all_definitions, all_statements
from ...ops.value import Value
from .. import rules
from ..calls import strong
from ..naming import derivative_name
from . import saved
from .handed_sizes import sizes_on

if TYPE_CHECKING:
    from .sweep import Cotangents, Reverse


@dataclass
class _Side:
    """The reverse of one branch: its statements, and what outer variables have after them."""

    block: Block
    cotangent: Cotangents
    elements: dict[Var, list[Var]]
    supports: dict[Var, Value]

    def agrees(self, other: _Side, before: Cotangents, var: Var) -> bool:
        """Whether neither side changed the cotangent of `var`."""
        return self.cotangent.get(var) is before.get(var) is other.cotangent.get(var)


def pull_branch(sweep: Reverse, stmt: If) -> None:
    """Emits the reverse of a branch, with one merge for every value whose cotangent a side changes."""
    given = _given(sweep, stmt)
    if not given:
        return
    before, outer_elements = dict(sweep.cotangent), sweep.elements
    known = sweep.supports.known
    for_then, for_orelse = sweep.sinking.into(stmt, {*sweep.cotangent, *sweep.elements})
    with sweep.builder.assumptions.identified(sizes_on(stmt, "then")):
        then = _side(sweep, stmt.cond, "then", [*for_then, *stmt.then], _seeds(sweep, given, "then"), before)
    with sweep.builder.assumptions.identified(sizes_on(stmt, "orelse")):
        orelse = _side(sweep, stmt.cond, "orelse", [*for_orelse, *stmt.orelse], _seeds(sweep, given, "orelse"), before)
    changed = [v for v in {**then.cotangent, **orelse.cotangent} if not then.agrees(orelse, before, v)]
    merges = [_merge(sweep, v, then, orelse, stmt.cond) for v in changed]
    sweep.cotangent, sweep.elements, sweep.supports.known = before, outer_elements, known
    for var, merge in zip(changed, merges):
        sweep.set(var, Value(merge.target))
    merges += sweep.supports.merged(stmt, (then, orelse), changed)
    merges += _sequence_merges(sweep, then, orelse)
    new = If(stmt.cond, then.block, orelse.block, merges, stmt.origin)
    if merges:
        sweep.mirrors[stmt] = new
        sweep.builder.emit(new)


def _given(sweep: Reverse, stmt: If) -> list[tuple[Merge, Value]]:
    """The results of a branch that have cotangents, with these."""
    arrays = [(m, sweep.take(m.target)) for m in stmt.merges]
    sequences = [(m, d) for m in stmt.merges for d in sweep.elements.pop(m.target, [])]
    return [(m, d) for m, d in arrays if d is not None] + [(m, Value(d)) for m, d in sequences]


def _seeds(sweep: Reverse, given: list[tuple[Merge, Value]], side: str) -> list[tuple[Atom, Value, Value]]:
    """What a side left, with the cotangents of that, and where they count."""
    return [(getattr(merge, side), d, sweep.supports.of_var(merge.target)) for merge, d in given]


def _side(sweep: Reverse, cond: Atom, name: str, block: Block, seeds: list[tuple[Atom, Value, Value]],
          before: Cotangents) -> _Side:
    """The reverse of one branch, and the cotangents of outer variables after it."""
    sweep.cotangent, sweep.elements = dict(before), {}
    sweep.sides.append((cond, name))
    with sweep.builder.nested() as backwards, sweep.supports.inside(sweep.supports.known) as supports:
        for seed in seeds:
            sweep.contribute(*seed)
        sweep.block(block)
    sweep.sides.pop()
    inner = set(all_definitions(block))
    return _Side(backwards, {v: d for v, d in sweep.cotangent.items() if v not in inner},
                 {v: d for v, d in sweep.elements.items() if v not in inner}, supports)


def _merge(sweep: Reverse, var: Var, then: _Side, orelse: _Side, cond: Atom) -> Merge:
    merge = Merge(Var(strong(var.type), derivative_name(var, sweep.builder)), UNDEFINED, UNDEFINED)
    for name, side in (("then", then), ("orelse", orelse)):
        fill = partial(_fill, sweep, merge, name, side, var)
        if var not in side.cotangent and sweep.partial.get(var) == (cond, name):
            other = "orelse" if name == "then" else "then"
            sweep.unfilled[merge.target] = (cond, other), fill          # as the variable itself is there
        else:
            fill()
    return merge


def _fill(sweep: Reverse, merge: Merge, name: str, side: _Side, var: Var) -> None:
    with sweep.builder.resumed(side.block):
        setattr(merge, name, _on_side(side.cotangent.get(var), var))


def _on_side(d: Value | None, var: Var) -> Atom:
    """What a side leaves as the cotangent of an outer variable; nothing, where it takes nothing of what
    a call saved."""
    if isinstance(var.type, SavedType):
        return UNDEFINED if d is None else d.atom
    return rules.zero_or(d, var.type).atom


def _sequence_merges(sweep: Reverse, then: _Side, orelse: _Side) -> list[Merge]:
    """Cotangents of outer sequences that a side recorded; on the other side they are zeros, or
    nothing where the sequence itself is undefined there."""
    merges = []
    for side, other in ((then, orelse), (orelse, then)):
        for var, found in side.elements.items():
            for d in found:
                zero = _zero_sequence(sweep, var, other)
                pair = (d, zero) if side is then else (zero, d)
                merges.append(Merge(Var(d.type, d.name), *pair))
                sweep.elements.setdefault(var, []).append(merges[-1].target)
    return merges


def _zero_sequence(sweep: Reverse, var: Var, side: _Side) -> Atom:
    if var in sweep.partial:
        return UNDEFINED
    with sweep.builder.resumed(side.block):
        return saved.zeros_like_sequence(sweep.builder, var)


def partly_undefined(block: Block) -> dict[Var, tuple[Atom, str]]:
    """The results of merges that one side leaves undefined, with the condition and that side."""
    return {merge.target: (stmt.cond, "then" if merge.then is UNDEFINED else "orelse")
            for stmt in all_statements(block) if isinstance(stmt, If)
            for merge in stmt.merges if UNDEFINED in (merge.then, merge.orelse)}
