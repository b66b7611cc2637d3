"""What nests leave over when they are made: other names of values, and values that nobody uses."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, assert_never

from ...core.grammar import UNDEFINED, Atom, Call, Const, Effect, If, Let, Loop, Var, type_of
from ...core.guards import Assumptions
from ...core.sizes import Dim, Extent, Size
from ...core.types import ArrayType
from ...core.walk import Copier, atom_vars, inner_targets
from ...ops.identity import Same
from .folding import folded
from .nest_walk import defined, inner_blocks, is_load, statements, uses_after, uses_before, writes
from .nests import Allocate, Block, Fold, Kept, Launch, Library, Nest, Product, Stmt, Store, Task


def cleaned(block: Block, results: list[Atom], assumptions: Assumptions) -> Block:
    """The block without other names and without what is not used; `results` are renamed as well. Of
    sizes that are equal by assumption, one stays."""
    renaming = _Folding(Copier(dims=equal_sizes(assumptions)))
    block = renaming.block(block)
    results[:] = [renaming.copier.atom(atom) for atom in results]
    alive = set(atom_vars(results))
    return swept(block, alive)


def equal_sizes(assumptions: Assumptions) -> Callable[[Dim], Extent | None]:
    """What stands for a dimension: the one of all equal ones that stays."""
    @cache
    def normal(dim: Dim) -> Extent | None:
        size = assumptions.normal(Size.of(dim))
        return None if size == Size.of(dim) else size

    return normal


class Renaming:
    """Replaces what a copier replaces, in place; and the targets of `same` by what they are the same as."""

    def __init__(self, copier: Copier) -> None:
        self.copier = copier

    def block(self, block: Block) -> Block:
        made: Block = []
        for stmt in block:
            known = self.known(stmt) if isinstance(stmt, Let) else None
            if known is None:
                made += self.left(self.stmt(stmt))
            else:
                self.copier.mapping[stmt.target] = self.copier.atom(known)
        return made

    def left(self, stmt: Any) -> Block:
        """What is left of a statement in which names have been replaced."""
        return [stmt]

    def known(self, stmt: Let) -> Atom | None:
        """What the target of a statement is another name of."""
        return stmt.args[0] if stmt.op is Same and isinstance(type_of(stmt.target), ArrayType) else None

    def stmt(self, stmt: Stmt) -> Any:
        atom, attr = self.copier.atom, self.copier.attr
        for target in (*defined(stmt), *inner_targets(stmt)):
            if getattr(target.type, "sizes", True):
                target.type = self.copier.type(target.type)
        match stmt:
            case Let():
                return Let(stmt.targets, stmt.op, tuple(map(atom, stmt.args)), attr(stmt.attrs), stmt.origin)
            case Call() | Effect():
                stmt.args = self.copier.args(stmt.args)
            case Library():
                arrays = {target: atom(target) for target in writes(stmt)}
                stmt.targets = tuple(arrays.get(target, target) for target in stmt.targets)
                stmt.args, stmt.attrs = self.copier.args(stmt.args), attr(stmt.attrs)
            case Allocate():
                stmt.source = None if stmt.source is None else atom(stmt.source)
            case Store():
                at = tuple(map(atom, stmt.at))
                return Store(atom(stmt.array), at, atom(stmt.value), stmt.adds, stmt.origin)
            case Product():
                for part in stmt.parts:
                    part.array, part.at = atom(part.array), tuple(map(atom, part.at))
                stmt.factor = None if stmt.factor is None else atom(stmt.factor)
                self._sizes(stmt)
            case Nest():
                self._sizes(stmt)
                stmt.body = self.block(stmt.body)
            case Fold():
                self._sizes(stmt)
                self._iteration(stmt)
            case If():
                stmt.cond = atom(stmt.cond)
                stmt.then, stmt.orelse = self.block(stmt.then), self.block(stmt.orelse)
                for merge in stmt.merges:
                    merge.then, merge.orelse = atom(merge.then), atom(merge.orelse)
            case Loop():
                self._loop(stmt)
            case Task() | Launch():
                pass
            case _:
                assert_never(stmt)
        return stmt

    def _sizes(self, stmt: Any) -> None:
        for index in stmt.indices:
            index.size = self.copier.size(index.size)

    def _iteration(self, stmt: Fold | Loop) -> None:
        """What is handed on, and the statements that do it."""
        for carry in stmt.carries:
            carry.init = self.copier.atom(carry.init)
        if isinstance(stmt, Loop):
            stmt.test, stmt.cond = self.block(stmt.test), self.copier.atom(stmt.cond)
        stmt.body = self.block(stmt.body)
        for carry in stmt.carries:
            carry.next = self.copier.atom(carry.next)

    def _loop(self, stmt: Loop) -> None:
        atom = self.copier.atom
        stmt.trips = atom(stmt.trips)
        for read in stmt.reads:
            read.source = atom(read.source)
        self._iteration(stmt)
        for record in stmt.records:
            record.value = atom(record.value)


class _Folding(Renaming):
    """Replaces numbers that need not be computed, too. Of a branch whose condition is known, one side stays; of a loop
    in which nothing is left to do, what it began with."""

    def left(self, stmt: Any) -> Block:
        known: dict[Var, Atom]
        if isinstance(stmt, If) and isinstance(stmt.cond, Const):
            holds = bool(stmt.cond.value)
            known = {merge.target: merge.then if holds else merge.orelse for merge in stmt.merges}
            rest = stmt.then if holds else stmt.orelse
        elif isinstance(stmt, Loop) and _is_idle(stmt):
            known, rest = {carry.out: carry.init for carry in stmt.carries}, []
        else:
            return [stmt]
        if UNDEFINED in known.values():
            return [stmt]
        self.copier.mapping.update(known)
        return rest

    def known(self, stmt: Let) -> Atom | None:
        other = super().known(stmt)
        return folded(stmt, tuple(map(self.copier.atom, stmt.args))) if other is None else other


def _is_idle(loop: Loop) -> bool:
    """Whether a loop ends, and nothing but numbers that it does not hand on are computed in it."""
    is_counted = loop.trips is not None and not loop.test and loop.cond is None and loop.count is None
    return is_counted and not loop.records and all(carry.next is carry.entry for carry in loop.carries) and all(
        isinstance(stmt, Let) for stmt in loop.body)


def swept(block: Block, alive: set[Var]) -> Block:
    """The statements of a block that are needed for what is alive after it; `alive` becomes what is
    before it."""
    kept: Block = []
    for stmt in reversed(block):
        if _is_needed(stmt, alive):
            if isinstance(stmt, If):
                stmt.merges = [merge for merge in stmt.merges if merge.target in alive]
            elif isinstance(stmt, Library):
                stmt.unread = frozenset(stmt.targets) - alive
            elif isinstance(stmt, Kept):                                 # copies of these arrays need their sizes
                alive.update(var for target in stmt.targets for var in atom_vars(target.type))
            alive.update(uses_after(stmt))
            _sweep_inside(stmt, alive)
            alive.update(uses_before(stmt))
            kept.append(stmt)
    return kept[::-1]


def _sweep_inside(stmt: Stmt, alive: set[Var]) -> None:
    match stmt:
        case If():
            stmt.then, stmt.orelse = swept(stmt.then, alive), swept(stmt.orelse, alive)
        case Nest() | Fold():
            if isinstance(stmt, Fold) or stmt.ordered:                   # read by the iterations to come
                alive.update(each.args[0] for each in statements(stmt.body) if is_load(each))
            stmt.body = swept(stmt.body, alive)
        case Loop():
            stmt.body = swept(stmt.body, alive)
            stmt.test = swept(stmt.test, alive)
        case Let() | Call() | Effect() | Allocate() | Store() | Product() | Library() | Task() | Launch():
            pass
        case _:
            assert_never(stmt)


def _is_needed(stmt: Any, alive: set[Var]) -> bool:
    """Whether a statement defines or writes something that is alive, or does something else."""
    if writes(stmt):
        return not alive.isdisjoint(writes(stmt))
    if isinstance(stmt, Effect):
        return True
    if any(target in alive for target in defined(stmt)):
        return True
    if isinstance(stmt, Allocate):
        return False
    return any(_is_needed(inner, alive) for block in inner_blocks(stmt) for inner in block
               if writes(inner) or inner_blocks(inner) or isinstance(inner, Effect))
