"""One pass over a function: each statement is visited once, in order, with what is gone replaced.

A rewrite is a subclass. It overrides what it changes, and says `replace(variable, atom)` when a
variable's definition goes; later uses are replaced as the pass comes to them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, assert_never

from ..core.grammar import (
    Atom,
    Block,
    Call,
    Const,
    Effect,
    Function,
    If,
    Let,
    Loop,
    Stmt,
    Var,
    type_of,
)
from ..core.guards import Assumptions
from ..core.sizes import Size, Unknown
from ..core.types import ArrayType, SeqType, Type
from ..core.walk import Copier, all_definitions

PLAIN = (int, str, bool, float, type(None))


class Rewriter:
    """`out` is the block being written, `mapping` what is gone and what stands for it."""

    def __init__(self, function: Function, assumptions: Assumptions) -> None:
        self.function = function
        self.assumptions = assumptions
        self.out: Block = []
        self.changed = False
        self.copier = Copier()
        self.mapping: dict[Any, Atom] = self.copier.mapping
        self._sizes_change = False

    def run(self) -> bool:
        """Rewrites the function in place; says whether anything changed."""
        self.function.body = self.block(self.function.body)
        self.function.results = [self.atom(result) for result in self.function.results]
        self.settle_types(self.function.body)
        return self.changed

    def replace(self, var: Var, atom: Atom) -> None:
        """From here on `atom` stands for `var`; a nameless variable takes over the name."""
        self.changed = True
        self.mapping[var] = atom
        if isinstance(atom, Var) and atom.name is None:
            atom.name = var.name
        if isinstance(var.type, ArrayType) and var.type.dtype.kind in "iu" and not var.type.sizes:
            self._move_range(var, atom)

    def _move_range(self, var: Var, atom: Atom) -> None:
        """An integer may be part of sizes; what is known of its range stays known."""
        self._sizes_change = True
        ranges = self.assumptions.ranges
        if isinstance(atom, Var) and Unknown(var) in ranges:
            ranges.setdefault(Unknown(atom), ranges[Unknown(var)])

    def settle_types(self, block: Block) -> None:
        """Has the types of what a block defines mention the integers that are left."""
        for var in all_definitions(block) if self._sizes_change else ():
            if isinstance(var.type, ArrayType) and not var.type.sizes:
                continue
            if any(leaf in self.mapping for leaf in type_vars(var.type)):
                var.type = self.copier.type(var.type)

    # -- substitution --------------------------------------------------------------------------

    def atom(self, atom: Any) -> Any:
        if type(atom) is Size:
            size = self.copier.size(atom) if self._sizes_change else atom
            return Const(size) if isinstance(size, int) else size
        return self.mapping.get(atom, atom)

    def atoms(self, atoms: tuple[Any, ...]) -> tuple[Any, ...]:
        for atom in atoms:
            if atom in self.mapping or type(atom) is Size:
                return tuple(map(self.atom, atoms))
        return atoms

    def attrs(self, attrs: dict[str, Any]) -> dict[str, Any]:
        for value in attrs.values():
            if type(value) not in PLAIN:
                return self.copier.attr(attrs)
        return attrs

    # -- statements ----------------------------------------------------------------------------

    def block(self, block: Block) -> Block:
        outer, self.out = self.out, []
        self.visit(block)
        done, self.out = self.out, outer
        return done

    def nested(self, block: Block) -> Block:
        """A block inside a branch or loop."""
        return self.block(block) if block else block

    def visit(self, statements: Iterable[Stmt]) -> None:
        """Rewrites statements into the block being written."""
        for stmt in statements:
            if not isinstance(stmt, Let):
                self._structured(stmt)
                continue
            if self.mapping:
                stmt.args = self.atoms(stmt.args)
                if stmt.attrs:
                    stmt.attrs = self.attrs(stmt.attrs)
            self.let(stmt)

    def _structured(self, stmt: If | Loop | Call | Effect) -> None:
        match stmt:
            case If():
                self.branch(stmt)
            case Loop():
                self.loop(stmt)
            case Call():
                stmt.args = self.atoms(stmt.args)
                self.out.append(stmt)
            case Effect():
                stmt.args = self.atoms(stmt.args)
                stmt.attrs = self.attrs(stmt.attrs)
                self.effect(stmt)
            case _:
                assert_never(stmt)

    def let(self, stmt: Let) -> None:
        self.out.append(stmt)

    def effect(self, stmt: Effect) -> None:
        self.out.append(stmt)

    def branch(self, stmt: If) -> None:
        stmt.cond = self.atom(stmt.cond)
        stmt.then, stmt.orelse = self.nested(stmt.then), self.nested(stmt.orelse)
        for merge in stmt.merges:
            merge.then, merge.orelse = self.atom(merge.then), self.atom(merge.orelse)
        self.after_branch(stmt)

    def after_branch(self, stmt: If) -> None:
        self.out.append(stmt)

    def loop(self, stmt: Loop) -> None:
        self._head(stmt)
        for carry in stmt.carries:
            carry.init = self.atom(carry.init)
        self.before_loop(stmt)
        if stmt.cond is not None:
            stmt.test = self.nested(stmt.test)
            stmt.cond = self.atom(stmt.cond)
        stmt.body = self.iteration(stmt)
        for carry in stmt.carries:
            carry.next = self.atom(carry.next)
        self._tail(stmt)
        self.after_loop(stmt)

    def iteration(self, stmt: Loop) -> Block:
        return self.nested(stmt.body)

    def before_loop(self, stmt: Loop) -> None:
        """Called when the head of a loop has been rewritten and its body has not."""

    def after_loop(self, stmt: Loop) -> None:
        self.out.append(stmt)

    def _head(self, stmt: Loop) -> None:
        stmt.trips = self.atom(stmt.trips)
        for read in stmt.reads:
            read.source = self.atom(read.source)

    def _tail(self, stmt: Loop) -> None:
        for record in stmt.records:
            record.value = self.atom(record.value)

    # -- questions -----------------------------------------------------------------------------

    def same_type(self, left: Type, right: Type) -> bool:
        """Whether two types are equal, sizes that are known to be equal included."""
        if left is right or left == right:
            return True
        if not isinstance(left, ArrayType) or not isinstance(right, ArrayType):
            return False
        return (left.dtype == right.dtype and left.weak == right.weak
                and self.same_sizes(left.sizes, right.sizes))

    def same_sizes(self, left: Iterable[Any], right: Iterable[Any]) -> bool:
        normal = self.assumptions.normal
        return left == right or tuple(map(normal, left)) == tuple(map(normal, right))


def array_type(atom: Any) -> ArrayType:
    """The type of an atom that is an array or a number."""
    return type_of(atom)                                                     # type: ignore[return-value]


def same_atom(left: Atom, right: Atom) -> bool:
    """Whether two atoms are certainly equal.

    >>> same_atom(Const(0.0), Const(0.0)), same_atom(Const(0.0), Const(-0.0))
    (True, False)
    """
    if isinstance(left, Const) and isinstance(right, Const):
        return left.type == right.type and repr(left.value) == repr(right.value)
    return left is right or left == right


def type_vars(type: Type) -> Iterable[Var]:
    """The integers of the program that the sizes of a type rest on."""
    while isinstance(type, SeqType):
        type = type.element
    return [var for size in type.sizes if isinstance(size, Size) for var in size.unknowns] if type.sizes else ()


def joined(op: Any, *types: ArrayType) -> ArrayType:
    """The type of an operation; of Python's numbers it is one of Python's."""
    return replace(op.types(*types), weak=all(type.weak for type in types))
