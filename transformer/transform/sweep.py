"""The reverse sweep: statements backwards, with the cotangents found so far. The rules are those of docs/reverse.md:

* a loop is reversed to the same loop run the other way; carry (entry, init, next, out) becomes
  carry (d next, d out, d entry, d init); every active outer value used in the body becomes an
  accumulator; reads become records and records become reads;
* a branch is reversed to a branch on the same condition.

    for k in range(n):                for k in range(n - 1, -1, -1):
        u = a[k] * u      becomes         da[k] = du * u_k[k]
                                          du = du * a[k]
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from ..core.builder import Builder
from ..core.errors import NotSupported
from ..core.grammar import (
    UNDEFINED,
    Atom,
    Block,
    Call,
    Carry,
    Effect,
    If,
    Let,
    Loop,
    Merge,
    Read,
    Record,
    Var,
)
from ..core.types import INT, SavedType, SeqType
from ..core.walk import (
    METHODS,
    Copier,
    all_definitions,
    all_statements,
    free_vars,
    inner_targets,
    size_of_atom,
)
from ..ops.elementwise import where
from ..ops.selection import Where
from ..ops.value import Value
from . import rules, saved
from .activity import active_vars
from .applied import is_ruled, pull
from .calls import Calls, strong
from .handed_sizes import positions, sizes_carried, sizes_on
from .naming import derivative_name, name_after, name_as_part
from .pairs import pull_call
from .residuals import Mirrors
from .retaking import unread_before
from .sinking import Sinking
from .supports import EVERYWHERE, NOWHERE, Supports, both

Cotangents = dict[Var, Value]


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


class Reverse:
    """Emits the reverse of statements, last first, keeping the cotangents found so far."""

    def __init__(self, builder: Builder, active: set[Var], calls: Calls) -> None:
        self.builder = builder
        self.calls = calls
        self.active = active
        self.begin = Var(INT).serial                    # of what is not part of the forward sweep
        self.cotangent: Cotangents = {}
        self.elements: dict[Var, list[Var]] = {}        # cotangents of sequences: each a sequence
        self.mirrors: Mirrors = {}                      # loops and branches, and their reverses
        self.partial: dict[Var, tuple[Atom, str]] = {}  # what is undefined on some path, and where
        self.unread: set[Let] = set()                   # writes over elements that did not matter before
        self.sinking = Sinking([], active)              # of the block that is gone through
        self.chosen: Any = None                         # what is left of a cotangent by the choice that is gone through
        self.supports = Supports()                 # where cotangents count

    @classmethod
    def of(cls, body: Block, inputs: Collection[Var], seeded: list[Atom], builder: Builder, calls: Calls) -> Reverse:
        """For statements that are `prepared`, from their results that are `seeded` with cotangents to their inputs."""
        sweep = cls(builder, active_vars(body, inputs, seeded, calls.summaries), calls)
        sweep.partial, sweep.unread = partly_undefined(body), unread_before(body, sweep.active, builder.assumptions)
        sweep.supports = Supports.of(body, sweep.active, calls.summaries)
        return sweep

    def is_active(self, atom: object) -> bool:
        return isinstance(atom, Var) and atom in self.active

    def contribute(self, atom: Atom, term: Value, support: Value | None = None) -> None:
        """Adds `term`, which counts where `support` says, to the cotangent of `atom`, if that carries one."""
        if not isinstance(atom, Var) or atom not in self.active:
            return
        if isinstance(atom.type, SeqType):
            assert isinstance(term.atom, Var)
            self.elements.setdefault(atom, []).append(term.atom)
            return
        before = self.cotangent.get(atom)
        self.supports.contributed(atom, before is None, support)
        add = saved.added if isinstance(atom.type, SavedType) else rules.added
        if before is not None and isinstance(before.atom, Var):
            name_as_part(before.atom, atom, self.builder)
        self.set(atom, term if before is None else add(before, term))

    def set(self, var: Var, term: Value) -> None:
        self.cotangent[var] = term
        if isinstance(term.atom, Var) and term.atom.name is None:
            term.atom.name = derivative_name(var, self.builder)
            if term.atom.serial > self.begin and term.atom.primal is None:
                name_after(term.atom, var, self.builder)

    def result(self, param: Var) -> Atom:
        """The cotangent of a parameter, in its full size and dtype."""
        found = saved.full_cotangent(self.builder, self.cotangent.get(param), param)
        if param not in self.cotangent and isinstance(found, Var):
            found.name = derivative_name(param, self.builder)
            name_after(found, param, self.builder)
        return found

    def take(self, var: Var) -> Value | None:
        """The complete cotangent of a variable whose definition has been reached."""
        return self.cotangent.pop(var, None)

    def block(self, block: Block) -> None:
        outer, self.sinking = self.sinking, Sinking(block, self.active)
        for stmt in reversed(block):
            if stmt not in self.sinking.sunk:
                with self.builder.at(stmt.origin):
                    getattr(self, METHODS[type(stmt)])(stmt)
        self.sinking = outer

    def _effect(self, stmt: Effect) -> None:
        """Effects happened in the forward sweep; they are not repeated."""

    def _call(self, stmt: Call) -> None:
        pull_call(self, stmt)

    # -- straight line ---------------------------------------------------------------------

    def _let(self, stmt: Let) -> None:
        if "layout" in stmt.attrs:
            return saved.pull_saved(self, stmt)
        if isinstance(stmt.target.type, SeqType):
            for source in self.elements.pop(stmt.target, []):
                self._apply_rule(stmt, [Value(source)])
            return
        given = [self.take(target) for target in stmt.targets]
        if all(dy is None for dy in given) or stmt.op.derivative is not None:
            return
        with self.supports.of_statement(stmt):
            self._pull(stmt, given)

    def _pull(self, stmt: Let, given: list[Value | None]) -> None:
        if is_ruled(stmt):
            given = [None if dy is None else rules.full(dy, t.type) for dy, t in zip(given, stmt.targets)]
            return self._contribute_all(stmt, pull(stmt, given, self))
        if not (stmt.op.elementwise or stmt.op.accumulate) or len(given) > 1:
            given = [rules.zero_or(dy, t.type) for dy, t in zip(given, stmt.targets)]
        sunk = self.sinking.into_choice(stmt, self.cotangent) if stmt.op is Where else ()
        if any(sunk) and given[0] is not None:
            return self._choose(stmt, sunk, given[0])
        self._apply_rule(stmt, [dy for dy in given if dy is not None])

    def _choose(self, stmt: Let, sunk: tuple[Block, ...], dy: Value) -> None:
        """The reverse of a choice and of what only it looks at: what was not chosen is left out at the end."""
        cond, whole, before = Value(stmt.args[0]), rules.sizes_of(stmt.target), self.chosen
        for place, block in ((2, sunk[1]), (1, sunk[0])):
            def chosen(d: Any, place: int = place) -> Any:
                d = where(cond, d, 0.0) if place == 1 else where(cond, 0.0, d)
                return d if before is None else before(d)

            outer, self.cotangent, self.chosen = self.cotangent, {}, chosen
            with self.supports.inside({}) as supports:
                self.contribute(stmt.args[place], dy)
                self.block(block)
            found, self.cotangent, self.chosen = self.cotangent, outer, before
            for var, d in found.items():
                if not block or rules.sizes_of(var) == whole:           # others are sums of what was chosen
                    d = rules.fitted(chosen(d), stmt.target.type, var.type)
                self.contribute(var, d, both(supports.get(var, EVERYWHERE), self.supports.at(stmt, place)))

    def _apply_rule(self, stmt: Let, given: list[Value]) -> None:
        outer, self.builder.family = self.builder.family, rules.family_of(stmt)
        if self.is_active(stmt.args[0]) and rules.is_sparse(stmt):
            self._accumulate(stmt, given[0])
        elif stmt in self.unread:                       # the elements keep a cotangent that nobody looks at
            array, value, *_ = stmt.args
            self._contribute_all(stmt, rules.cotangents(stmt, given, lambda a: a is value and self.is_active(a)))
            self.contribute(array, given[0])
        else:
            guarded = self.supports.guard(stmt, self.chosen)
            self._contribute_all(stmt, rules.cotangents(stmt, given, self.is_active, guarded))
        self.builder.family = outer

    def _contribute_all(self, stmt: Let, terms: Iterable[tuple[int, Value]]) -> None:
        """Contributes to each operand once: what a statement gives to one twice is added up first."""
        totals: dict[Atom, Value] = {}
        supports: dict[Atom, Value] = {}
        for place, term in terms:
            atom = stmt.args[place]
            if isinstance(term.type, SeqType):
                self.contribute(atom, term)
            else:
                totals[atom] = rules.added(totals[atom], term) if atom in totals else term
                supports[atom] = self.supports.either(supports.get(atom, NOWHERE), self.supports.at(stmt, place))
        for atom, total in totals.items():
            self.contribute(atom, total, supports[atom])

    def _accumulate(self, stmt: Let, dy: Value | None) -> None:
        """The cotangent of operand 0 is sparse: it is added to the running cotangent in place."""
        x = stmt.args[0]
        assert isinstance(x, Var) and dy is not None
        self.supports.contributed(x, x not in self.cotangent, self.supports.at(stmt, 0))
        shadow = rules.zero_or(self.cotangent.get(x), x.type)
        self.set(x, stmt.op.accumulate(shadow, dy, *rules.operands_of(stmt), **rules.rule_attrs(stmt)))

    # -- branches --------------------------------------------------------------------------

    def _if(self, stmt: If) -> None:
        arrays = [(m, self.take(m.target)) for m in stmt.merges]
        sequences = [(m, d) for m in stmt.merges for d in self.elements.pop(m.target, [])]
        given = [(m, d) for m, d in arrays if d is not None] + [(m, Value(d)) for m, d in sequences]
        if not given:
            return
        before, outer_elements = dict(self.cotangent), self.elements
        known = self.supports.known
        for_then, for_orelse = self.sinking.into(stmt, {*self.cotangent, *self.elements})
        with self.builder.assumptions.identified(sizes_on(stmt, "then")):
            then = self._side([*for_then, *stmt.then], self._seeds(given, "then"), before)
        with self.builder.assumptions.identified(sizes_on(stmt, "orelse")):
            orelse = self._side([*for_orelse, *stmt.orelse], self._seeds(given, "orelse"), before)
        changed = [v for v in {**then.cotangent, **orelse.cotangent} if not then.agrees(orelse, before, v)]
        merges = [self._merge(v, then, orelse, stmt.cond) for v in changed]
        self.cotangent, self.elements, self.supports.known = before, outer_elements, known
        for var, merge in zip(changed, merges):
            self.set(var, Value(merge.target))
        merges += self.supports.merged(stmt, (then, orelse), changed)
        merges += self._sequence_merges(then, orelse)
        new = If(stmt.cond, then.block, orelse.block, merges, stmt.origin)
        if merges:
            self.mirrors[stmt] = new
            self.builder.emit(new)

    def _seeds(self, given: list[tuple[Merge, Value]], side: str) -> list[tuple[Atom, Value, Value]]:
        """What a side left, with the cotangents of that, and where they count."""
        return [(getattr(merge, side), d, self.supports.of_var(merge.target)) for merge, d in given]

    def _side(self, block: Block, seeds: list[tuple[Atom, Value, Value]], before: Cotangents) -> _Side:
        """The reverse of one branch, and the cotangents of outer variables after it."""
        self.cotangent, self.elements = dict(before), {}
        with self.builder.nested() as backwards, self.supports.inside(self.supports.known) as supports:
            for seed in seeds:
                self.contribute(*seed)
            self.block(block)
        inner = set(all_definitions(block))
        return _Side(backwards, {v: d for v, d in self.cotangent.items() if v not in inner},
                     {v: d for v, d in self.elements.items() if v not in inner}, supports)

    def _merge(self, var: Var, then: _Side, orelse: _Side, cond: Atom) -> Merge:
        sides: list[Atom] = []
        for name, side in (("then", then), ("orelse", orelse)):
            if var not in side.cotangent and self.partial.get(var) == (cond, name):
                sides.append(UNDEFINED)                     # as the variable itself is there
                continue
            with self.builder.resumed(side.block):
                sides.append(self._on_side(side.cotangent.get(var), var))
        return Merge(Var(strong(var.type), derivative_name(var, self.builder)), *sides)

    def _on_side(self, d: Value | None, var: Var) -> Atom:
        """What a side leaves as the cotangent of an outer variable; nothing, where it takes nothing of what
        a call saved."""
        if isinstance(var.type, SavedType):
            return UNDEFINED if d is None else d.atom
        return rules.zero_or(d, var.type).atom

    def _sequence_merges(self, then: _Side, orelse: _Side) -> list[Merge]:
        """Cotangents of outer sequences that a side recorded; on the other side they are zeros, or
        nothing where the sequence itself is undefined there."""
        merges = []
        for side, other in ((then, orelse), (orelse, then)):
            for var, found in side.elements.items():
                for d in found:
                    zero = self._zero_sequence(var, other)
                    pair = (d, zero) if side is then else (zero, d)
                    merges.append(Merge(Var(d.type, d.name), *pair))
                    self.elements.setdefault(var, []).append(merges[-1].target)
        return merges

    def _zero_sequence(self, var: Var, side: _Side) -> Atom:
        if var in self.partial:
            return UNDEFINED
        with self.builder.resumed(side.block):
            return saved.zeros_like_sequence(self.builder, var)

    # -- loops -----------------------------------------------------------------------------

    def _loop(self, stmt: Loop) -> None:
        outs = [(c, self.take(c.out)) for c in stmt.carries]
        carries = [(c, d) for c, d in outs if self.is_active(c.entry)]
        reads = self._record_cotangents(stmt)
        if all(d is None for _, d in carries) and not reads:
            return
        trips = self._trips(stmt)
        shadows = {v: _cotangent_of(v, self.builder) for v in self._shared(stmt)}
        sizes = {c: Var(INT, c.entry.name) for c in sizes_carried(stmt)}
        first, following = positions(stmt)                         # which may tell sizes, too
        at_head = Copier({stmt.position: following, **{c.entry: size for c, size in sizes.items()}})
        at_end = Copier({stmt.position: first, **{c.entry: c.init for c in sizes}})
        entries = {c: Var(strong(at_head.type(c.entry.type)), _cotangent_name(c, self.builder)) for c, _ in carries}
        inits = [rules.zero_or(d, c.out.type).atom for c, d in carries]
        after = {size: size_of_atom(c.next) for c, size in sizes.items()}
        flags = self.supports.flags(shadows, self.cotangent)
        with (self.builder.assumptions.identified(after), self.builder.nested() as body,
              self.supports.inside(flags) as supports):
            nexts, records, ends = self._iteration(stmt, entries, shadows, reads)
        handed = [Carry(size, c.out, c.entry, Var(INT, size.name)) for c, size in sizes.items()]
        handed += [Carry(e, i, n, Var(strong(at_end.type(c.entry.type)), e.name))
                   for (c, e), i, n in zip(entries.items(), inits, nexts)]
        added = {v: Carry(s, rules.zero_or(self.cotangent.get(v), v.type).atom, ends[v], _cotangent_of(v, self.builder))
                 for v, s in shadows.items() if ends[v] is not s}
        used = self.supports.carried(flags, supports, self.cotangent)
        position = Var(stmt.position.type, stmt.position.name)
        loop = Loop(position, trips, [*handed, *added.values(), *used], body, [r for _, r in reads], records,
                    not stmt.down, origin=stmt.origin, independent=stmt.independent)
        self.mirrors[stmt] = loop
        self.builder.emit(Effect("comment", (), {"reverse of": stmt.origin}, stmt.origin))
        self.builder.emit(loop)
        self.cotangent.update((v, Value(carry.out)) for v, carry in added.items())
        for carry, c in zip(handed[len(sizes):], entries):
            self.contribute(c.init, Value(carry.out))

    def _iteration(self, stmt: Loop, entries: dict[Carry, Var], shadows: dict[Var, Var],
                   reads: list[tuple[Atom, Read]]) -> tuple[list[Atom], list[Record], dict[Var, Atom]]:
        """Emits the reverse of one iteration: what it hands on, what it records, and the cotangents of outer values
        (`shadows`, as it begins) after it."""
        outer, self.cotangent = self.cotangent, {v: Value(shadow) for v, shadow in shadows.items()}
        for carry, entry in entries.items():
            self.contribute(carry.next, Value(entry))
        for value, read in reads:
            self.contribute(value, Value(read.target))
        self.block(stmt.body)
        nexts = [rules.zero_or(self.take(c.entry), c.entry.type).atom for c in entries]
        records = self._read_cotangents(stmt)
        ends = {v: rules.full(self.cotangent[v], v.type).atom for v in shadows}
        self.cotangent = outer
        return nexts, records, ends

    def _trips(self, stmt: Loop) -> Atom | None:
        """How often the loop ran: counted where it has a condition."""
        if stmt.cond is not None and stmt.count is None:
            stmt.count = Var(INT)
        return stmt.count if stmt.cond is not None else stmt.trips

    def _shared(self, stmt: Loop) -> list[Var]:
        """The active outer values that the loop's body uses."""
        own = set(inner_targets(stmt))
        found = [v for v in free_vars(stmt.body, _ends(stmt)) if v in self.active and v not in own]
        if any(isinstance(v.type, SeqType) for v in found):
            raise NotSupported("a list made by a loop is used inside another loop", stmt.origin,
                               why="Its derivative would have to be added up as a list.",
                               instead="Make it an array first: np.array(list).")
        return found

    def _record_cotangents(self, stmt: Loop) -> list[tuple[Atom, Read]]:
        """What the loop recorded has cotangents, recorded in turn: they are read in the reverse loop."""
        reads = []
        for record in stmt.records:
            for source in self.elements.pop(record.target, []):
                assert isinstance(source.type, SeqType)
                value = record.value                            # its sizes are those inside this loop
                type = value.type if isinstance(value, Var) else source.type.element
                reads.append((value, Read(Var(type), source)))
        return reads

    def _read_cotangents(self, stmt: Loop) -> list[Record]:
        """What the loop read has cotangents: the reverse loop records them."""
        records = []
        for read in stmt.reads:
            if self.is_active(read.source):
                assert isinstance(read.source, Var)
                for d in self._element_cotangents(read.target):
                    target = Var(SeqType(read.target.type), derivative_name(read.source, self.builder))
                    records.append(Record(target, d))
                    self.elements.setdefault(read.source, []).append(target)
        return records

    def _element_cotangents(self, element: Var) -> list[Atom]:
        if isinstance(element.type, SeqType):
            return list(self.elements.pop(element, []))
        d = self.take(element)
        return [] if d is None else [rules.full(d, element.type).atom]


def partly_undefined(block: Block) -> dict[Var, tuple[Atom, str]]:
    """The results of merges that one side leaves undefined, with the condition and that side."""
    return {merge.target: (stmt.cond, "then" if merge.then is UNDEFINED else "orelse")
            for stmt in all_statements(block) if isinstance(stmt, If)
            for merge in stmt.merges if UNDEFINED in (merge.then, merge.orelse)}


def _ends(stmt: Loop) -> list[Var]:
    atoms = [c.next for c in stmt.carries] + [r.value for r in stmt.records]
    return [a for a in atoms if isinstance(a, Var)]


def _cotangent_of(var: Var, builder: Builder) -> Var:
    new = Var(strong(var.type), derivative_name(var, builder))
    name_after(new, var, builder)
    return new


def _cotangent_name(carry: Carry, builder: Builder) -> str | None:
    return derivative_name(carry.entry, builder) or derivative_name(carry.out, builder)

