"""Forward mode: after each statement, the statements that compute its tangent; before it, where it binds a name anew,
whose old value the tangent may need.

A tangent that is structurally zero is never created. Loops carry the tangents of their carries, read
the tangents of what they read and record the tangents of what they record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ..core.builder import Builder
from ..core.grammar import (
    UNDEFINED,
    Atom,
    Block,
    Call,
    Carry,
    Effect,
    Function,
    If,
    Let,
    Loop,
    Merge,
    Read,
    Record,
    Var,
)
from ..core.headings import is_about_loop
from ..core.naming import TANGENT
from ..core.types import SavedType, SeqType, Type
from ..core.walk import METHODS, all_uses
from ..ops.identity import Same
from ..ops.value import Value
from . import rules
from .activity import varied_vars
from .calls import Calls, push_call, strong
from .cancelling import hold
from .custom.applied import drop_effects, is_ruled, push
from .naming import derivative_name, name_after, named_apart
from .reverse.saved import push_saved, zeros_like_saved, zeros_like_sequence
from .symmetric import symmetric_matrices


def jvp(function: Function, active: Sequence[bool], builder: Builder, of_arguments: bool = False) -> Function:
    """The function that also gives tangents: parameters are followed by the tangents of the active
    ones, results by their tangents (zeros where nothing varies; None is never among them). With `of_arguments`,
    conventions for what a user differentiates for hold for the active parameters (`symmetric`)."""
    inputs = [p for p, on in zip(function.params, active) if on]
    calls = Calls(builder, function)
    builder.derivatives.mixes_widths |= rules.mixes_widths(function)
    with builder.active():
        hold(function.body, inputs, function.results, calls.summaries)
    forward = Forward(builder, varied_vars(function.body, inputs, calls.summaries), calls)
    with (named_apart(function, builder, TANGENT), builder.active(), builder.nested() as body,
          symmetric_matrices(function.body, inputs if of_arguments else (), builder)):
        new_params = [Var(p.type, derivative_name(p, builder), is_parameter=True) for p in inputs]
        for param, var in zip(new_params, inputs, strict=True):
            name_after(param, var, builder)
        forward.tangent.update(zip(inputs, new_params))
        forward.bound.update(p.name for p in function.params if p.name)
        forward.block(function.body)
        tangents = [forward.tangent_of(result) for result in function.results]
        calls.finish()
    drop_effects(body, forward.replaced)
    return Function(function.name, [*function.params, *new_params], body, [*function.results, *tangents],
                    function.dims, function.guards, function.origin, size_names=function.size_names)


class Forward:
    """Emits every statement of a block and, after it, its tangent."""

    def __init__(self, builder: Builder, varied: set[Var], calls: Calls) -> None:
        self.builder = builder
        self.calls = calls
        self.named: Callable[[Var], str | None] = partial(derivative_name, builder=builder)
        self.replaced: set[int] = set()                 # functions whose rules took their place
        self.varied = varied
        self.bound: set[str] = set()                    # names of what was computed or handed on before
        self.tangent: dict[Var, Atom] = {}

    def block(self, block: Block) -> None:
        for stmt in block:
            with self.builder.at(stmt.origin):
                getattr(self, METHODS[type(stmt)])(stmt)

    def given(self, atom: Atom) -> Value | None:
        tangent = self.tangent.get(atom) if isinstance(atom, Var) else None
        return None if tangent is None else Value(tangent)

    def tangent_of(self, atom: Atom) -> Atom:
        """The tangent of an atom in full size, zeros if it does not vary."""
        if atom is UNDEFINED:
            return UNDEFINED
        if isinstance(atom, Var) and isinstance(atom.type, SeqType):
            return self.tangent.get(atom) or zeros_like_sequence(self.builder, atom)
        if isinstance(atom, Var) and isinstance(atom.type, SavedType):
            return self.tangent.get(atom) or zeros_like_saved(self.builder, atom)
        return rules.zero_or(self.given(atom), atom.type if isinstance(atom, Var) else Value(atom).type).atom

    def twin(self, var: Var, type: Type | None = None) -> Var:
        """A fresh variable for the tangent of `var`, entered in the table."""
        new = Var(type or var.type, self.named(var))
        name_after(new, var, self.builder)
        self.tangent[var] = new
        return new

    def _let(self, stmt: Let) -> None:
        given = [self.given(atom) for atom in stmt.args]
        if is_ruled(stmt):
            return self._ruled(stmt, given)
        if "layout" in stmt.attrs:
            return self._saved(stmt, given)
        if all(t is None for t in given) or rules.has_rule(stmt.op):
            self.builder.emit(stmt)
            if any(t is not None for t in given):
                begin = len(self.builder.block)
                self._tangents(stmt, given)
                self._put_behind(stmt, begin)
            return
        inner, results = self.expansion(stmt)
        self.block(inner)
        self._rebind(stmt, results)

    def _put_behind(self, stmt: Let, begin: int) -> None:
        """Puts a statement that binds a name anew behind those of its tangent, which begin there, where that rests on
        the old value."""
        names = {target.name for target in stmt.targets if target.name}
        is_anew, block = not self.bound.isdisjoint(names), self.builder.block
        self.bound |= names
        used = {var for other in block[begin:] for var in all_uses(other)}
        if is_anew and block[begin - 1] is stmt and used.isdisjoint(stmt.targets) and self._rest_on(used, names):
            block.append(block.pop(begin - 1))

    def _rest_on(self, used: set[Var], names: set[str]) -> bool:
        """Whether variables, or those without names that they are computed from, have one of the names."""
        waiting, seen = list(used), set(used)
        while waiting:
            var = waiting.pop()
            stmt = self.builder.numbering.definitions.get(var)
            if var.name in names:
                return True
            if var.name is None and stmt is not None:
                more = set(all_uses(stmt)) - seen
                seen |= more
                waiting += more
        return False

    def _ruled(self, stmt: Let, given: list[Value | None]) -> None:
        """A function with a rule of its own: the rule takes the place of what it computed."""
        given = given[stmt.attrs["count"]:]
        if all(t is None for t in given):
            return self.builder.emit(stmt)
        self._note(stmt, push(stmt, given, self))

    def _saved(self, stmt: Let, given: list[Value | None]) -> None:
        """What a call saved is put together or taken apart: so are the tangents."""
        self.builder.emit(stmt)
        if any(t is not None for t in given):
            push_saved(self, stmt)

    def expansion(self, stmt: Let) -> tuple[Block, list[Atom]]:
        with self.builder.nested() as inner:
            results = rules.expand(stmt, self.builder)
        given = [a for a in stmt.args if isinstance(a, Var) and a in self.varied]
        self.varied |= varied_vars(inner, given, self.calls.summaries)
        return inner, results

    def _rebind(self, stmt: Let, results: list[Atom]) -> None:
        for target, result in zip(stmt.targets, results):
            self.builder.emit(Let((target,), Same, (result,), {}, stmt.origin))
            tangent = self.given(result)
            if tangent is not None:
                self.tangent[target] = tangent.atom

    def _tangents(self, stmt: Let, given: list[Value | None]) -> None:
        outer, self.builder.derivatives.family = self.builder.derivatives.family, rules.family_of(stmt)
        self._note(stmt, rules.tangents(stmt, given))
        self.builder.derivatives.family = outer

    def _note(self, stmt: Let, tangents: Sequence[Value | None]) -> None:
        """Enters the tangents of a statement's results."""
        for target, tangent in zip(stmt.targets, tangents):
            if tangent is not None and target.type.is_inexact:
                self.tangent[target] = tangent.atom
                if isinstance(tangent.atom, Var) and tangent.atom.name is None:
                    tangent.atom.name = self.named(target)
                    if tangent.atom.serial > target.serial and tangent.atom.primal is None:
                        name_after(tangent.atom, target, self.builder)

    def _effect(self, stmt: Effect) -> None:
        self.builder.emit(stmt)

    def _call(self, stmt: Call) -> None:
        push_call(self, stmt)

    def _if(self, stmt: If) -> None:
        with self.builder.nested() as then:
            self.block(stmt.then)
        with self.builder.nested() as orelse:
            self.block(stmt.orelse)
        new = [self._merge(m, then, orelse) for m in stmt.merges if m.target in self.varied]
        self.builder.emit(If(stmt.cond, then, orelse, [*stmt.merges, *new], stmt.origin))

    def _merge(self, merge: Merge, then: Block, orelse: Block) -> Merge:
        sides = []
        for block, atom in ((then, merge.then), (orelse, merge.orelse)):
            with self.builder.resumed(block):
                sides.append(self.tangent_of(atom))
        return Merge(self.twin(merge.target), *sides, saved=merge.saved)

    def _loop(self, stmt: Loop) -> None:
        moving = [c for c in stmt.carries if c.entry in self.varied]
        block = self.builder.block
        heading = block.pop() if block and is_about_loop(block[-1]) else None       # stays right above the loop
        inits = [UNDEFINED if c.init is UNDEFINED else self.tangent_of(c.init) for c in moving]
        reads = self._reads(stmt)
        entries = [self.twin(c.entry, strong(c.entry.type)) for c in moving]
        self.bound.update(carry.entry.name for carry in stmt.carries if carry.entry.name)
        with self.builder.nested() as body:
            self.block(stmt.body)
            nexts = [self.tangent_of(c.next) for c in moving]
            values = [(r, self.tangent_of(r.value)) for r in stmt.records if r.target in self.varied]
        outs = [self.twin(c.out) for c in moving]
        carries = [*stmt.carries, *map(Carry, entries, inits, nexts, outs)]
        records = [*stmt.records, *(Record(self.twin(r.target), value, saved=r.saved) for r, value in values)]
        if heading is not None:
            self.builder.emit(heading)
        self.builder.emit(replace(stmt, carries=carries, body=body, reads=[*stmt.reads, *reads], records=records))

    def _reads(self, stmt: Loop) -> list[Read]:
        reads = []
        for read in stmt.reads:
            if isinstance(read.source, Var) and read.source in self.tangent:
                element = read.source.type
                assert isinstance(element, SeqType)
                reads.append(Read(self.twin(read.target), self.tangent[read.source]))
        return reads


