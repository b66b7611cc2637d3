"""Algebra in a sweep backwards, before it is decided which values of the program are kept for it.

    dx = dy / total * e             needs `total` and `e`, which one would have to keep
    dx = dy * ratio                 needs what the program calls ``ratio = e / total``

At this point the sweep mentions values of loops and branches as if they were at hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...core.grammar import Atom, Block, Effect, Function, Let, Stmt, Var
from ...core.guards import Assumptions
from ...core.walk import all_statements, all_uses, atom_vars, blocks_of, inner_targets, targets_of
from ...simplify import classes, counts
from ...simplify.cse import CommonSubexpressions, key_of
from ...simplify.fold import Fold, Rule
from ...simplify.rewriter import Rewriter
from ...simplify.uses import Uses

Home = dict[Stmt, Block]                 # the block of each statement of a body

ROUNDS = 4
FORMS = {classes.__name__, counts.__name__}


def folded(body: Block, backwards: Block, cotangents: Sequence[Atom], results: Sequence[Atom],
           assumptions: Assumptions, asked: Iterable[int] | None = None) -> list[Atom]:
    """Simplifies the sweep `backwards` through a body in place; gives what the `cotangents` are then. Those of the
    `results` that are `asked` for, or all, are computed in any case."""
    def whole() -> Function:
        return Function("", [], [*body, *backwards], [*results, *cotangents])

    cotangents = list(cotangents)
    ends = results if asked is None else [results[k] for k in asked]
    home = dict(_at_home(body))
    for _ in range(ROUNDS):
        live = _live(body, [*ends, *cotangents], backwards)
        shared = Shared.through(body, home, whole(), assumptions, live)       # as a rule might change but one of two
        cotangents = _rewritten(shared, backwards, cotangents)
        fold = Sweep.through(home, whole(), assumptions)
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
    """Common subexpressions of a sweep backwards, and what the body that it goes through has computed already, of what
    is `live` in it: the rest is computed for nobody, and would have to be just as it was written."""

    computed: dict[Any, Let]

    @classmethod
    def through(cls, body: Block, home: Home, function: Function, assumptions: Assumptions, live: set[Var]) -> Shared:
        """For the sweep in a function that begins with the body, of whose statements `home` has the blocks."""
        shared = cls(function, assumptions)
        block_of = {target: block for stmt, block in home.items() for target in targets_of(stmt)}
        shared.computed = {key_of(stmt): stmt for stmt, block in home.items()
                           if isinstance(stmt, Let) and not live.isdisjoint(stmt.targets)
                           and shared.is_shared(stmt) and stmt.op.name != "get" and (
                               block is body or any(block_of.get(atom) is block for atom in stmt.args
                                                    if isinstance(atom, Var)))}
        return shared

    def let(self, stmt: Let) -> None:
        key = key_of(stmt) if self.is_shared(stmt) else None
        made = None if key is None else self.computed.get(key)
        if made is None or not self.take(stmt.targets, made.targets):
            super().let(stmt)


class Sweep(Fold):
    """Algebra of a sweep backwards through a body."""

    home: Home

    @classmethod
    def through(cls, home: Home, function: Function, assumptions: Assumptions) -> Sweep:
        """For the sweep in a function that begins with the statements in `home`."""
        fold = cls.over(function, assumptions)
        fold.is_generated = True
        fold.home = home
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


def _live(body: Block, ends: Sequence[Atom], backwards: Block) -> set[Var]:
    """What a body computes for these ends, for the sweep backwards, and for what the program does beside."""
    made = {target: stmt for stmt in all_statements(body) for target in (*targets_of(stmt), *inner_targets(stmt))}
    does = [stmt for stmt in body if any(isinstance(each, Effect) for each in all_statements([stmt]))]
    pending = [*atom_vars(*ends), *(var for stmt in (*backwards, *does) for var in all_uses(stmt))]
    live, seen = set(pending), set[Stmt]()
    while pending:
        stmt = made.get(pending.pop())
        if stmt is not None and stmt not in seen:
            seen.add(stmt)
            used = set(all_uses(stmt)) - live
            live |= used
            pending += used
    return live


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
