"""The reverse of a loop: the same loop run the other way.

    for k in range(n):                for k in range(n - 1, -1, -1):
        u = a[k] * u      becomes         da[k] = du * u_k[k]
                                          du = du * a[k]

A carry (entry, init, next, out) becomes the carry (d next, d out, d entry, d init); every active outer value that
the body uses becomes an accumulator (its `shadow`); reads become records, and records become reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.builder import Builder
from ...core.errors import NotSupported
from ...core.grammar import Atom, Carry, Effect, Loop, Read, Record, Var
from ...core.types import INT, SeqType
from ...core.walk import Copier, free_vars, inner_targets, size_of_atom
from ...ops.value import Value
from .. import rules
from ..calls import strong
from ..naming import derivative_name, name_after
from .handed_sizes import positions, sizes_carried

if TYPE_CHECKING:
    from .sweep import Reverse


def pull_loop(sweep: Reverse, stmt: Loop) -> None:
    """Emits the reverse of a loop, if anything that it leaves has a cotangent."""
    outs = [(c, sweep.take(c.out)) for c in stmt.carries]
    given = {c: d for c, d in outs if sweep.is_active(c.entry)}
    reads = _record_cotangents(sweep, stmt)
    if reads or any(d is not None for d in given.values()):
        _Reversal(sweep, stmt, given).emit(reads)


class _Reversal:
    """The reverse of one loop. `given` are the cotangents of what its active carries leave."""

    def __init__(self, sweep: Reverse, stmt: Loop, given: dict[Carry, Value | None]) -> None:
        self.sweep = sweep
        self.stmt = stmt
        self.given = given
        self.trips = _trips(stmt)
        self.shadows = {v: _cotangent_of(v, sweep.builder) for v in _shared(sweep, stmt)}
        self.sizes = {c: Var(INT, c.entry.name) for c in sizes_carried(stmt)}
        first, following = positions(stmt)                         # which may tell sizes, too
        at_head = Copier({stmt.position: following, **{c.entry: size for c, size in self.sizes.items()}})
        self.at_end = Copier({stmt.position: first, **{c.entry: c.init for c in self.sizes}})
        self.entries = {c: Var(strong(at_head.type(c.entry.type)), _cotangent_name(c, sweep.builder)) for c in given}

    def emit(self, reads: list[tuple[Atom, Read]]) -> None:
        sweep, stmt = self.sweep, self.stmt
        inits = [rules.zero_or(d, c.out.type).atom for c, d in self.given.items()]
        after = {size: size_of_atom(c.next) for c, size in self.sizes.items()}
        flags = sweep.supports.flags(self.shadows, sweep.cotangent, stmt.body)
        with (sweep.builder.assumptions.identified(after), sweep.builder.nested() as body,
              sweep.supports.inside(flags) as supports):
            nexts, records, ends = self._iteration(reads)
            sweep.supports.filled(flags, supports)
        handed, added = self._handed(inits, nexts), self._added(ends)
        used = sweep.supports.carried(flags, supports, sweep.cotangent)
        position = Var(stmt.position.type, stmt.position.name)
        loop = Loop(position, self.trips, [*self._handed_sizes(), *handed, *added.values(), *used], body,
                    [r for _, r in reads], records, not stmt.down, origin=stmt.origin, independent=stmt.independent)
        sweep.mirrors[stmt] = loop
        sweep.builder.emit(Effect("comment", (), {"reverse of": stmt.origin}, stmt.origin))
        sweep.builder.emit(loop)
        sweep.cotangent.update((v, Value(carry.out)) for v, carry in added.items())
        for carry, c in zip(handed, self.entries):
            sweep.contribute(c.init, Value(carry.out))

    def _handed_sizes(self) -> list[Carry]:
        return [Carry(size, c.out, c.entry, Var(INT, size.name)) for c, size in self.sizes.items()]

    def _handed(self, inits: list[Atom], nexts: list[Atom]) -> list[Carry]:
        """The cotangents that iterations hand on."""
        return [Carry(entry, init, next, Var(strong(self.at_end.type(c.entry.type)), entry.name))
                for (c, entry), init, next in zip(self.entries.items(), inits, nexts)]

    def _added(self, ends: dict[Var, Atom]) -> dict[Var, Carry]:
        """The cotangents of outer values to which iterations add."""
        cotangent, builder = self.sweep.cotangent, self.sweep.builder
        return {v: Carry(s, rules.zero_or(cotangent.get(v), v.type).atom, ends[v], _cotangent_of(v, builder))
                for v, s in self.shadows.items() if ends[v] is not s}

    def _iteration(self, reads: list[tuple[Atom, Read]]) -> tuple[list[Atom], list[Record], dict[Var, Atom]]:
        """Emits the reverse of one iteration: what it hands on, what it records, and the cotangents of outer values
        after it."""
        sweep = self.sweep
        outer, sweep.cotangent = sweep.cotangent, {v: Value(shadow) for v, shadow in self.shadows.items()}
        for carry, entry in self.entries.items():
            sweep.contribute(carry.next, Value(entry))
        for value, read in reads:
            sweep.contribute(value, Value(read.target))
        sweep.block(self.stmt.body)
        nexts = [rules.zero_or(sweep.take(c.entry), c.entry.type).atom for c in self.entries]
        records = _read_cotangents(sweep, self.stmt)
        ends = {v: rules.full(sweep.cotangent[v], v.type).atom for v in self.shadows}
        sweep.cotangent = outer
        return nexts, records, ends


def _trips(stmt: Loop) -> Atom | None:
    """How often the loop ran: counted where it has a condition."""
    if stmt.cond is not None and stmt.count is None:
        stmt.count = Var(INT)
    return stmt.count if stmt.cond is not None else stmt.trips


def _shared(sweep: Reverse, stmt: Loop) -> list[Var]:
    """The active outer values that the loop's body uses."""
    own = set(inner_targets(stmt))
    found = [v for v in free_vars(stmt.body, _ends(stmt)) if v in sweep.active and v not in own]
    if any(isinstance(v.type, SeqType) for v in found):
        raise NotSupported("using a list filled by a loop inside another loop is not supported", stmt.origin,
                           why="Its derivative would have to be accumulated as a list.",
                           instead="Convert it to an array first: np.array(items).")
    return found


def _record_cotangents(sweep: Reverse, stmt: Loop) -> list[tuple[Atom, Read]]:
    """What the loop recorded has cotangents, recorded in turn: they are read in the reverse loop."""
    reads = []
    for record in stmt.records:
        for source in sweep.elements.pop(record.target, []):
            assert isinstance(source.type, SeqType)
            value = record.value                            # its sizes are those inside this loop
            type = value.type if isinstance(value, Var) else source.type.element
            reads.append((value, Read(Var(type), source)))
    return reads


def _read_cotangents(sweep: Reverse, stmt: Loop) -> list[Record]:
    """What the loop read has cotangents: the reverse loop records them."""
    records = []
    for read in stmt.reads:
        if sweep.is_active(read.source):
            assert isinstance(read.source, Var)
            for d in _element_cotangents(sweep, read.target):
                target = Var(SeqType(read.target.type), derivative_name(read.source, sweep.builder))
                records.append(Record(target, d))
                sweep.elements.setdefault(read.source, []).append(target)
    return records


def _element_cotangents(sweep: Reverse, element: Var) -> list[Atom]:
    if isinstance(element.type, SeqType):
        return list(sweep.elements.pop(element, []))
    d = sweep.take(element)
    return [] if d is None else [rules.full(d, element.type).atom]


def _ends(stmt: Loop) -> list[Var]:
    atoms = [c.next for c in stmt.carries] + [r.value for r in stmt.records]
    return [a for a in atoms if isinstance(a, Var)]


def _cotangent_of(var: Var, builder: Builder) -> Var:
    new = Var(strong(var.type), derivative_name(var, builder))
    name_after(new, var, builder)
    return new


def _cotangent_name(carry: Carry, builder: Builder) -> str | None:
    return derivative_name(carry.entry, builder) or derivative_name(carry.out, builder)
