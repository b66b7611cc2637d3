"""Walking over Core: what a statement uses and defines, and copies under a renaming."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, assert_never

from .grammar import (
    Atom,
    Block,
    Call,
    Carry,
    Const,
    Effect,
    Function,
    If,
    Let,
    Loop,
    Merge,
    Read,
    Record,
    Stmt,
    Var,
)
from .sizes import Dim, Extent, Size, Unknown, replaced
from .types import ArrayType, SeqType, Type

# The method of a visitor for each kind of statement.
METHODS = {kind: f"_{kind.__name__.lower()}" for kind in (Let, If, Loop, Call, Effect)}
WRITES = frozenset({"put", "addat"})     # the ops that give the next version of an array
MENTIONS_NOTHING = frozenset({Const, int, float, bool, str, type(None)})


def atom_vars(*atoms: Any) -> list[Var]:
    """The variables that atoms or static attributes mention (sizes may rest on integers)."""
    found: list[Var] = []
    for atom in atoms:
        _collect_vars(atom, found)
    return found


def _collect_vars(atom: Any, found: list[Var]) -> None:
    kind = type(atom)
    if kind is Var:
        found.append(atom)
    elif kind in MENTIONS_NOTHING:
        return
    elif kind is Size:
        found += atom.unknowns
    elif kind is tuple or kind is dict or isinstance(atom, (tuple, list)):
        for item in atom.values() if kind is dict else atom:
            of = type(item)
            if of is Var:
                found.append(item)
            elif of is Size:
                found += item.unknowns
            elif of not in MENTIONS_NOTHING:
                _collect_vars(item, found)
    elif kind is slice:
        _collect_vars((atom.start, atom.stop, atom.step), found)
    elif kind is ArrayType:
        _collect_vars(atom.sizes, found)


def head_uses(stmt: Stmt) -> Iterator[Var]:
    """Variables that a statement itself uses before its blocks run (not what the blocks use)."""
    match stmt:
        case Let():
            for arg in stmt.args:
                if type(arg) is Var:
                    yield arg
                elif type(arg) is not Const:
                    yield from atom_vars(arg)
            if stmt.attrs:
                yield from atom_vars(stmt.attrs)
        case If(cond=cond):
            yield from atom_vars(cond)
        case Loop():
            if stmt.trips is not None:
                yield from atom_vars(stmt.trips)
            for read in stmt.reads:
                yield from atom_vars(read.source)
            for carry in stmt.carries:
                yield from atom_vars(carry.init)
        case Call(args=args):
            yield from atom_vars(args)
        case Effect(args=args, attrs=attrs):
            yield from atom_vars(args)
            yield from atom_vars(attrs)
        case _:
            assert_never(stmt)


def tail_uses(stmt: Stmt) -> Iterator[Var]:
    """Variables used at the end of a statement's blocks: merges, next values, records, conditions."""
    match stmt:
        case Let() | Call() | Effect():
            return
        case If():
            for merge in stmt.merges:
                yield from atom_vars((merge.then, merge.orelse))
        case Loop():
            for carry in stmt.carries:
                yield from atom_vars(carry.next)
            for record in stmt.records:
                yield from atom_vars(record.value)
            if stmt.cond is not None:
                yield from atom_vars(stmt.cond)
        case _:
            assert_never(stmt)


def counted_uses(function: Function) -> Counter[Var]:
    """How often each variable is used, results included; that a record is not needed any more is no use."""
    found: Counter[Var] = Counter()
    for stmt in all_statements(function.body):
        if not (isinstance(stmt, Effect) and stmt.kind == "forget"):
            found.update([*head_uses(stmt), *tail_uses(stmt)])
    found.update(atom_vars(function.results))
    return found


def blocks_of(stmt: Stmt) -> tuple[Block, ...]:
    """The blocks nested in a statement, in the order in which they run."""
    match stmt:
        case Let() | Call() | Effect():
            return ()
        case If():
            return stmt.then, stmt.orelse
        case Loop():
            return stmt.test, stmt.body
        case _:
            assert_never(stmt)


def targets_of(stmt: Stmt) -> tuple[Var, ...]:
    """Variables that a statement defines for what follows it."""
    match stmt:
        case Let() | Call():
            return stmt.targets
        case If():
            return tuple(merge.target for merge in stmt.merges)
        case Loop():
            outs = [carry.out for carry in stmt.carries] + [r.target for r in stmt.records]
            return tuple(outs + ([stmt.count] if stmt.count is not None else []))
        case Effect():
            return ()
        case _:
            assert_never(stmt)


def inner_targets(stmt: object) -> tuple[Var, ...]:
    """Variables that a loop defines for its own blocks: position, entries, reads."""
    if isinstance(stmt, Loop):
        entries = [carry.entry for carry in stmt.carries]
        return (stmt.position, *entries, *(read.target for read in stmt.reads))
    return ()


def all_statements(block: Block) -> Iterator[Stmt]:
    """Every statement of a block and of the blocks nested in it, in the order of the text. A stack and no recursion: a
    statement that lies deep, as in a chain of `elif`, would be handed up through all generators around it."""
    stack = [iter(block)]
    while stack:
        for stmt in stack[-1]:
            yield stmt
            if type(stmt) is not Let:
                stack += map(iter, reversed(blocks_of(stmt)))
                break
        else:
            stack.pop()


def called_in(function: Function) -> list[Function]:
    """The functions that a function calls itself, in the order of the calls."""
    calls = (stmt for stmt in all_statements(function.body) if isinstance(stmt, Call))
    return list(dict.fromkeys(call.function for call in calls))


def reachable(function: Function) -> list[Function]:
    """A function and all that it calls, however deep."""
    found = [function]
    for each in found:
        found += [callee for callee in called_in(each) if callee not in found]
    return found


def has_effects(function: Function) -> bool:
    """Whether a function does anything but give results, in the functions it calls too."""
    statements = (stmt for each in reachable(function) for stmt in all_statements(each.body))
    return any(isinstance(stmt, Effect) and stmt.kind != "comment" for stmt in statements)


def calls_itself(function: Function) -> bool:
    """Whether a function calls itself, be it by way of others."""
    return any(function in called_in(each) for each in reachable(function))


def runs_again(function: Function) -> bool:
    """Whether a function that was called may be called again with the same arguments, as if it had not been: what
    raises did not."""
    statements = (stmt for each in reachable(function) for stmt in all_statements(each.body))
    return not any(isinstance(stmt, Effect) and stmt.kind not in ("comment", "raise") for stmt in statements)


def all_uses(stmt: Stmt) -> Iterator[Var]:
    """Every variable mentioned anywhere in a statement, its own inner ones included."""
    yield from head_uses(stmt)
    for block in blocks_of(stmt):
        for inner in block:
            yield from all_uses(inner)
    yield from tail_uses(stmt)


def all_definitions(block: Block) -> Iterator[Var]:
    """Every variable defined in a block or in the blocks nested in it."""
    for stmt in all_statements(block):
        if type(stmt) is Let:
            yield from stmt.targets
        else:
            yield from targets_of(stmt)
            yield from inner_targets(stmt)


def free_vars(block: Block, extra: Iterable[Var] = ()) -> dict[Var, None]:
    """Variables that a block (and the `extra` uses at its end) takes from outside, in order."""
    defined = set(all_definitions(block))
    used = [var for stmt in block for var in all_uses(stmt)]
    return {var: None for var in (*used, *extra) if var not in defined}


class Copier:
    """Copies statements under a renaming, giving every variable defined in them a fresh twin.

    `dims` replaces named dimensions of the copied code by sizes of the place it is copied to.
    """

    def __init__(self, mapping: dict[Var, Atom] | None = None,
                 dims: Callable[[Dim], Extent | None] | None = None) -> None:
        self.mapping: dict[Var, Atom] = dict(mapping or {})
        self.dims = dims

    def atom(self, atom: Any) -> Any:
        kind = type(atom)
        if kind is Var:
            return self.mapping.get(atom, atom)
        if kind is Size:
            return atom_of_size(self.size(atom))
        return atom

    def size(self, size: Extent) -> Extent:
        if not isinstance(size, Size) or self.dims is None and self.mapping.keys().isdisjoint(size.unknowns):
            return size
        return replaced(size, self._leaf)

    def _leaf(self, leaf: Any) -> Extent | None:
        if isinstance(leaf, Dim):
            return self.dims(leaf) if self.dims else None
        if isinstance(leaf, Unknown) and leaf.var in self.mapping:
            return size_of_atom(self.mapping[leaf.var])
        return None

    def attr(self, value: Any) -> Any:
        if isinstance(value, Size):
            return self.size(value)
        if isinstance(value, tuple):
            return tuple(self.attr(item) for item in value)
        if isinstance(value, list):
            return [self.attr(item) for item in value]
        if isinstance(value, dict):
            return {key: self.attr(item) for key, item in value.items()}
        if isinstance(value, slice):
            return slice(self.attr(value.start), self.attr(value.stop), self.attr(value.step))
        if isinstance(value, (ArrayType, SeqType)):
            return self.type(value)
        return self.atom(value)

    def type(self, type: Type) -> Type:
        if isinstance(type, SeqType):
            return SeqType(self.type(type.element))
        return type.with_sizes(tuple(map(self.size, type.sizes))) if type.sizes else type      # type: ignore[union-attr]

    def fresh(self, var: Var) -> Var:
        new = Var(self.type(var.type), var.name)
        new.pattern = var.pattern
        if var.primal is not None:
            primal = self.mapping.get(var.primal, var.primal)
            new.primal = primal if isinstance(primal, Var) else None
        self.mapping[var] = new
        return new

    def args(self, atoms: Iterable[Atom]) -> tuple[Atom, ...]:
        return tuple(self.atom(atom) for atom in atoms)

    def block(self, block: Block) -> Block:
        return [self.stmt(stmt) for stmt in block]

    def stmt(self, stmt: Stmt) -> Stmt:
        return getattr(self, METHODS[type(stmt)])(stmt)

    def _let(self, stmt: Let) -> Let:
        args, attrs = self.args(stmt.args), self.attr(stmt.attrs) if stmt.attrs else {}
        return Let(tuple(map(self.fresh, stmt.targets)), stmt.op, args, attrs, stmt.origin)

    def _call(self, stmt: Call) -> Call:
        args = self.args(stmt.args)
        return Call(tuple(map(self.fresh, stmt.targets)), stmt.function, args, stmt.origin)

    def _effect(self, stmt: Effect) -> Effect:
        return Effect(stmt.kind, self.args(stmt.args), self.attr(stmt.attrs), stmt.origin)

    def _if(self, stmt: If) -> If:
        cond = self.atom(stmt.cond)
        then, orelse = self.block(stmt.then), self.block(stmt.orelse)
        values = [(self.atom(merge.then), self.atom(merge.orelse)) for merge in stmt.merges]
        merges = [Merge(self.fresh(m.target), *v, saved=m.saved) for m, v in zip(stmt.merges, values)]
        return If(cond, then, orelse, merges, stmt.origin)

    def _reads(self, reads: list[Read]) -> list[Read]:
        sources = [self.atom(read.source) for read in reads]
        return [replace(read, target=self.fresh(read.target), source=source) for read, source in zip(reads, sources)]

    def _settle(self, reads: list[Read]) -> None:
        """The size of what is read may be computed in the body, which is copied after it."""
        for read in reads:
            read.target.type = self.type(read.target.type)

    def _records(self, records: list[Record]) -> list[Record]:
        values = [self.atom(record.value) for record in records]
        return [Record(self.fresh(record.target), value, saved=record.saved) for record, value in zip(records, values)]

    def _loop(self, stmt: Loop) -> Loop:
        trips, inits = self.atom(stmt.trips), [self.atom(c.init) for c in stmt.carries]
        position, reads = self.fresh(stmt.position), self._reads(stmt.reads)
        entries = [self.fresh(carry.entry) for carry in stmt.carries]
        test, cond = self.block(stmt.test), self.atom(stmt.cond)
        body = self.block(stmt.body)
        self._settle(reads)
        nexts = [self.atom(carry.next) for carry in stmt.carries]
        records = self._records(stmt.records)
        outs = [self.fresh(carry.out) for carry in stmt.carries]
        carries = list(map(Carry, entries, inits, nexts, outs))
        count = self.fresh(stmt.count) if stmt.count is not None else None
        return replace(stmt, position=position, trips=trips, carries=carries, body=body, reads=reads, records=records,
                       test=test, cond=cond, count=count)


def size_of_atom(atom: Atom) -> Extent:
    """An integer atom as a size."""
    if isinstance(atom, Size):
        return atom
    if isinstance(atom, Const):
        return int(atom.value)
    assert isinstance(atom, Var), atom
    return Size.of(Unknown(atom))


def atom_of_size(size: Extent) -> Atom:
    """A size as an atom: a number becomes a constant."""
    if isinstance(size, int):
        return Const(size)
    if isinstance(size, Size) and len(size.terms) == 1:
        (monomial, count), = size.terms.items()
        if count == 1 and len(monomial) == 1 and isinstance(monomial[0], Unknown):
            return monomial[0].var
    return size


def substitute(stmt: Stmt, mapping: Mapping[Var, Atom]) -> None:
    """Replaces used variables in place (definitions stay), in a statement and its blocks."""
    renamed(stmt, Copier(dict(mapping)))


def renamed(stmt: Stmt, copier: Copier) -> None:
    """Replaces what a copier replaces, in place: variables that are used, and dimensions."""
    match stmt:
        case Let() | Effect():
            stmt.args = copier.args(stmt.args)
            if stmt.attrs:
                stmt.attrs = copier.attr(stmt.attrs)
        case Call():
            stmt.args = copier.args(stmt.args)
        case If():
            stmt.cond = copier.atom(stmt.cond)
            for merge in stmt.merges:
                merge.then, merge.orelse = copier.atom(merge.then), copier.atom(merge.orelse)
        case Loop():
            _substitute_loop(stmt, copier)
        case _:
            assert_never(stmt)
    for target in (*targets_of(stmt), *inner_targets(stmt)):
        if getattr(target.type, "sizes", True):
            target.type = copier.type(target.type)
    for block in blocks_of(stmt):
        for inner in block:
            renamed(inner, copier)


def _substitute_loop(stmt: Loop, copier: Copier) -> None:
    stmt.trips, stmt.cond = copier.atom(stmt.trips), copier.atom(stmt.cond)
    for read in stmt.reads:
        read.source = copier.atom(read.source)
    for record in stmt.records:
        record.value = copier.atom(record.value)
    for carry in stmt.carries:
        carry.init, carry.next = copier.atom(carry.init), copier.atom(carry.next)
