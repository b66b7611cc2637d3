"""Algebra in a sweep backwards, before it is decided which values of the program are kept for it.

    dx = dy / total * e             needs `total` and `e`, which one would have to keep
    dx = dy * ratio                 needs what the program calls ``ratio = e / total``

At this point the sweep mentions values of loops and branches as if they were at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...core.grammar import Atom, Block, Function, Let, Stmt, Var
from ...core.guards import Assumptions
from ...core.walk import atom_vars, blocks_of, targets_of
from ...simplify import classes, counts
from ...simplify.cse import CommonSubexpressions, key_of
from ...simplify.fold import Fold, Rule
from ...simplify.rewriter import Rewriter
from ...simplify.uses import Uses

ROUNDS = 4
FORMS = {classes.__name__, counts.__name__}


def folded(body: Block, backwards: Block, cotangents: Sequence[Atom], results: Sequence[Atom],
           assumptions: Assumptions) -> list[Atom]:
    """Simplifies the sweep `backwards` through a body in place; gives what the `cotangents` are then."""
    def whole() -> Function:
        return Function("", [], [*body, *backwards], [*results, *cotangents])

    cotangents = list(cotangents)
    for _ in range(ROUNDS):
        shared = Shared.through(body, whole(), assumptions)       # as a rule might change but one of two
        cotangents = _rewritten(shared, backwards, cotangents)
        fold = Sweep.through(body, whole(), assumptions)
        cotangents = _rewritten(fold, backwards, cotangents)
        if not fold.changed:
            break
        _drop_unused(backwards, Uses(whole()))
    return cotangents


def _rewritten(rewriter: Rewriter, backwards: Block, cotangents: list[Atom]) -> list[Atom]:
    backwards[:] = rewriter.block(backwards)
    rewriter.settle_types(backwards)
    return [rewriter.atom(cotangent) for cotangent in cotangents]


class Shared(CommonSubexpressions):
    """Common subexpressions of a sweep backwards, and what the body that it goes through has computed already."""

    computed: dict[Any, Let]

    @classmethod
    def through(cls, body: Block, function: Function, assumptions: Assumptions) -> Shared:
        shared = cls(function, assumptions)
        home = dict(_at_home(body))
        block_of = {target: block for stmt, block in home.items() for target in targets_of(stmt)}
        shared.computed = {key_of(stmt): stmt for stmt, block in home.items()
                           if isinstance(stmt, Let) and shared.is_shared(stmt) and stmt.op.name != "get"
                           and (block is body or any(block_of.get(atom) is block for atom in stmt.args
                                                     if isinstance(atom, Var)))}
        return shared

    def let(self, stmt: Let) -> None:
        made = self.computed.get(key_of(stmt)) if self.is_shared(stmt) else None
        if made is None or not self.take(stmt.targets, made.targets):
            super().let(stmt)


class Sweep(Fold):
    """Algebra of a sweep backwards through a body."""

    home: dict[Stmt, Block]                  # the block of each statement of the body

    @classmethod
    def through(cls, body: Block, function: Function, assumptions: Assumptions) -> Sweep:
        """One for the sweep in a function that begins with the body."""
        fold = cls.over(function, assumptions)
        fold.is_generated = True
        fold.home = dict(_at_home(body))
        return fold

    def rules(self, stmt: Let) -> tuple[Rule, ...]:
        """Those that do not ask for other forms of integers: one would have to keep these, too."""
        return tuple(rule for rule in super().rules(stmt) if rule.__module__ not in FORMS)

    def is_before(self, stmt: Any) -> bool:
        """Whether a statement stands before the one at hand, where what it is computed from is at hand."""
        if stmt not in self.home:
            return super().is_before(stmt)
        made = (self.definition.get(atom) for atom in stmt.args)
        return any(each in self.home and self.home[each] is self.home[stmt] for each in made if each is not None)


def _at_home(block: Block) -> Iterator[tuple[Stmt, Block]]:
    for stmt in block:
        yield stmt, block
        for inner in blocks_of(stmt):
            yield from _at_home(inner)


def _drop_unused(block: Block, uses: Uses) -> None:
    """Drops statements whose results nobody mentions, and those that only they mention."""
    kept: Block = []
    for stmt in reversed(block):
        for inner in blocks_of(stmt):
            _drop_unused(inner, uses)
        if isinstance(stmt, Let) and not any(map(uses.counts.get, stmt.targets)):
            for var in atom_vars((*stmt.args, stmt.attrs)):
                uses.counts[var] -= 1
        else:
            kept.append(stmt)
    block[:] = reversed(kept)
