"""Reverse mode: the forward sweep as it was, then its statements backwards with cotangents.

The output is Core again, so it can be transformed again. The rules are those of docs/reverse.md:

* a loop is reversed to the same loop run the other way; carry (entry, init, next, out) becomes
  carry (d next, d out, d entry, d init); every active outer value used in the body becomes an
  accumulator; reads become records and records become reads;
* a branch is reversed to a branch on the same condition;
* what the reverse sweep needs from inside a loop or branch is found afterwards (`residuals`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.builder import Builder
from ..core.errors import NotSupported
from ..core.grammar import (Atom, Block, Call, Carry, Effect, Function, If, Let, Loop, Map, Merge,
                            Read, Record, Var)
from ..core.types import ArrayType, SeqType
from ..core.walk import all_definitions, free_vars
from ..ops.value import Value
from . import rules
from .activity import active_vars
from .forward import strong
from .residuals import restore_branch, restore_loop

Cotangents = dict[Var, Value]


def reverse(function: Function, active: Sequence[bool], seeds: Sequence[Atom | None], builder: Builder
            ) -> Function:
    """The function that also gives the cotangents of its active parameters, after its results.

    `seeds` are the cotangents of the results (None for zero); they may be variables that the caller
    makes parameters. The body of `function` becomes part of the new one: hand over a copy.
    """
    inputs = [p for p, on in zip(function.params, active) if on]
    with builder.active():
        body = expanded(function.body, builder)
        seeded = [r for r, seed in zip(function.results, seeds) if seed is not None]
        sweep = Reverse(builder, active_vars(body, inputs, seeded))
        with builder.nested() as backwards:
            builder.emit(Effect("comment", (), {"text": "reverse"}))
            for result, seed in zip(function.results, seeds):
                if seed is not None:
                    sweep.contribute(result, Value(seed))
            sweep.block(body)
            cotangents = [sweep.result(p) for p in inputs]
    return Function(function.name, function.params, [*body, *backwards],
                    [*function.results, *cotangents], function.dims, function.guards, function.origin)


def expanded(block: Block, builder: Builder) -> Block:
    """The block with every defined op that states no derivative replaced by its definition."""
    from ..ops.identity import Same
    result: Block = []
    for stmt in block:
        if isinstance(stmt, Let) and not rules.has_rule(stmt.op) and stmt.op.definition is not None:
            with builder.nested() as inner:
                atoms = rules.expand(stmt, builder)
            result += expanded(inner, builder)
            result += [Let((t,), Same, (a,), {}, stmt.origin) for t, a in zip(stmt.targets, atoms)]
            continue
        if isinstance(stmt, If):
            stmt.then, stmt.orelse = expanded(stmt.then, builder), expanded(stmt.orelse, builder)
        elif isinstance(stmt, (Loop, Map)):
            stmt.body = expanded(stmt.body, builder)
        result.append(stmt)
    return result


class Reverse:
    """Emits the reverse of statements, last first, keeping the cotangents found so far."""

    def __init__(self, builder: Builder, active: set[Var]) -> None:
        self.builder = builder
        self.active = active
        self.cotangent: Cotangents = {}
        self.elements: dict[Var, list[Var]] = {}        # cotangents of sequences: each a sequence

    def is_active(self, atom: object) -> bool:
        return isinstance(atom, Var) and atom in self.active

    def contribute(self, atom: Atom, term: Value) -> None:
        """Adds `term` to the cotangent of `atom`, if that carries one."""
        if not isinstance(atom, Var) or atom not in self.active:
            return
        before = self.cotangent.get(atom)
        self.set(atom, term if before is None else before + term)

    def set(self, var: Var, term: Value) -> None:
        self.cotangent[var] = term
        if isinstance(term.atom, Var) and term.atom.name is None and var.name:
            term.atom.name = f"d{var.name}"

    def result(self, param: Var) -> Atom:
        """The cotangent of a parameter, in its full size and dtype."""
        assert isinstance(param.type, ArrayType)
        return rules.zero_or(self.cotangent.get(param), param.type).atom

    def take(self, var: Var) -> Value | None:
        """The complete cotangent of a variable whose definition has been reached."""
        return self.cotangent.pop(var, None)

    def block(self, block: Block) -> None:
        for stmt in reversed(block):
            with self.builder.at(stmt.origin):
                getattr(self, "_" + type(stmt).__name__.lower())(stmt)

    def _effect(self, stmt: Effect) -> None:
        """Effects happened in the forward sweep; they are not repeated."""

    def _call(self, stmt: Call) -> None:
        raise NotSupported("a call that is kept as a function has no reverse mode", stmt.origin)

    def _map(self, stmt: Map) -> None:
        raise NotSupported("a Map has no reverse mode", stmt.origin)

    # -- straight line ---------------------------------------------------------------------

    def _let(self, stmt: Let) -> None:
        given = [self.take(target) for target in stmt.targets]
        if all(dy is None for dy in given) or stmt.op.derivative is not None:
            return
        outer, self.builder.family = self.builder.family, rules.family_of(stmt)
        if not stmt.op.elementwise or len(given) > 1:
            given = [rules.zero_or(dy, t.type) for dy, t in zip(given, stmt.targets)]   # type: ignore
        if hasattr(stmt.op, "accumulate") and self.is_active(stmt.args[0]):
            self._accumulate(stmt, given[0])
        else:
            for place, term in rules.cotangents(stmt, given, self.is_active):           # type: ignore
                self.contribute(stmt.args[place], term)
        self.builder.family = outer

    def _accumulate(self, stmt: Let, dy: Value | None) -> None:
        """The cotangent of operand 0 is sparse: it is added to the running cotangent in place."""
        x = stmt.args[0]
        assert isinstance(x, Var) and dy is not None
        shadow = rules.zero_or(self.cotangent.get(x), x.type)                           # type: ignore
        self.set(x, stmt.op.accumulate(shadow, dy, *rules.operands_of(stmt), **rules.rule_attrs(stmt)))

    # -- branches --------------------------------------------------------------------------

    def _if(self, stmt: If) -> None:
        given = [(merge, self.take(merge.target)) for merge in stmt.merges]
        if all(d is None for _, d in given):
            return
        before = dict(self.cotangent)
        then, after_then = self._side(stmt.then, [(m.then, d) for m, d in given], before)
        orelse, after_else = self._side(stmt.orelse, [(m.orelse, d) for m, d in given], before)
        changed = [v for v in {**after_then, **after_else}
                   if after_then.get(v) is not after_else.get(v) or after_then.get(v) is not before.get(v)]
        merges = [self._merge(v, then, after_then, orelse, after_else) for v in changed]
        new = If(stmt.cond, then, orelse, merges, stmt.origin)
        restore_branch(stmt, new)
        self.cotangent = before
        for var, merge in zip(changed, merges):
            self.cotangent[var] = Value(merge.target)
        self.builder.emit(new)

    def _side(self, block: Block, seeds: list[tuple[Atom, Value | None]], before: Cotangents
              ) -> tuple[Block, Cotangents]:
        """The reverse of one branch, and the cotangents of outer variables after it."""
        self.cotangent = dict(before)
        with self.builder.nested() as backwards:
            for atom, d in seeds:
                if d is not None:
                    self.contribute(atom, d)
            self.block(block)
        inner = set(all_definitions(block))
        return backwards, {v: d for v, d in self.cotangent.items() if v not in inner}

    def _merge(self, var: Var, then: Block, after_then: Cotangents, orelse: Block, after_else: Cotangents
               ) -> Merge:
        sides = []
        for block, after in ((then, after_then), (orelse, after_else)):
            outer, self.builder.block = self.builder.block, block
            sides.append(rules.zero_or(after.get(var), var.type).atom)                  # type: ignore
            self.builder.block = outer
        return Merge(Var(strong(var.type), f"d{var.name}" if var.name else None), *sides)

    # -- loops -----------------------------------------------------------------------------

    def _loop(self, stmt: Loop) -> None:
        outs = [(c, self.take(c.out)) for c in stmt.carries]
        carries = [(c, d) for c, d in outs if self.is_active(c.entry)]
        reads = self._record_cotangents(stmt)
        if all(d is None for _, d in carries) and not reads:
            return
        trips = stmt.count if stmt.cond is not None else stmt.trips
        outer = self.cotangent
        shared = [v for v in free_vars(stmt.body, _ends(stmt)) if v in self.active]
        shared = [v for v in shared if isinstance(v.type, ArrayType)]
        shadows = {v: Var(strong(v.type), f"d{v.name}" if v.name else None) for v in shared}
        entries = [Var(strong(c.entry.type), _cotangent_name(c)) for c, _ in carries]
        inits = [rules.zero_or(d, c.entry.type).atom for c, d in carries]               # type: ignore
        starts = {v: outer.get(v) for v in shared}

        self.cotangent = {v: Value(shadow) for v, shadow in shadows.items()}
        with self.builder.nested() as body:
            for (carry, _), entry in zip(carries, entries):
                self.contribute(carry.next, Value(entry))
            for value, read in reads:
                self.contribute(value, Value(read.target))
            self.block(stmt.body)
            nexts = [rules.zero_or(self.take(c.entry), c.entry.type).atom for c, _ in carries]  # type: ignore
            records = self._read_cotangents(stmt)
            ends = {v: rules.full(self.cotangent[v], v.type).atom for v in shared}      # type: ignore
        new = [Carry(e, i, n, Var(e.type, e.name)) for e, i, n in zip(entries, inits, nexts)]
        self.cotangent = outer
        for v in shared:
            if ends[v] is not shadows[v]:
                init = rules.zero_or(starts[v], v.type).atom                            # type: ignore
                new.append(Carry(shadows[v], init, ends[v], Var(shadows[v].type, shadows[v].name)))
        position = Var(stmt.position.type, stmt.position.name)
        loop = Loop(position, trips, new, body, [r for _, r in reads], records, not stmt.down,
                    origin=stmt.origin)
        restore_loop(stmt, loop)
        self.builder.emit(Effect("comment", (), {"reverse of": stmt.origin}, stmt.origin))
        self.builder.emit(loop)
        for carry, (c, _) in zip(new, carries):
            self.contribute(c.init, Value(carry.out))
        for carry in new[len(carries):]:
            shared_var = next(v for v in shared if shadows[v] is carry.entry)
            self.cotangent[shared_var] = Value(carry.out)

    def _record_cotangents(self, stmt: Loop) -> list[tuple[Atom, Read]]:
        """What the loop recorded has cotangents, recorded in turn: they are read in the reverse loop."""
        reads = []
        for record in stmt.records:
            for source in self.elements.pop(record.target, []):
                element = source.type
                assert isinstance(element, SeqType)
                reads.append((record.value, Read(Var(element.element), source)))
        return reads

    def _read_cotangents(self, stmt: Loop) -> list[Record]:
        """What the loop read has cotangents: the reverse loop records them."""
        records = []
        for read in stmt.reads:
            if self.is_active(read.source) and self.is_active(read.target):
                assert isinstance(read.source, Var)
                d = self.take(read.target)
                if d is not None:
                    target = Var(read.source.type, f"d{read.source.name}" if read.source.name else None)
                    records.append(Record(target, rules.zero_or(d, read.target.type).atom))  # type: ignore
                    self.elements.setdefault(read.source, []).append(target)
        return records


def _ends(stmt: Loop) -> list[Var]:
    atoms = [c.next for c in stmt.carries] + [r.value for r in stmt.records]
    return [a for a in atoms if isinstance(a, Var)]


def _cotangent_name(carry: Carry) -> str | None:
    name = carry.entry.name or carry.out.name
    return f"d{name}" if name else None

