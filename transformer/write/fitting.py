"""Whether a value may stand inside the expression that uses it: nothing that it reads changes in between, and the line
stays one that a person would write."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from ..core.grammar import Let, Merge, Stmt, Var
from ..core.walk import WRITES
from .aliasing import Aliases, is_array
from .flow import COPIED, DEFINED, READ, STEPS, Flow
from .layout import LINE
from .measure import Tree, width_of_atom
from .stores import Store
from .variables import Variables

MOST_OPS = 14  # operations in one statement
MOST_NESTED_CALLS = 3


@dataclass(slots=True)
class Nesting:
    """The values without a name, those of them that are looked at in their rows, and the branches that
    are conditional expressions."""

    values: set[Var] = field(default_factory=set)
    rows: dict[Var, Store] = field(default_factory=dict)
    conditional: dict[Stmt, Merge] = field(default_factory=dict)
    conditions: set[Stmt] = field(default_factory=set)  # `while` loops whose test is one expression


Pending = dict[Var, Tree]


class Fitting:
    """Puts values into what uses them, as `consume` decides."""

    def __init__(self, flow: Flow, variables: Variables, aliases: Aliases) -> None:
        self.flow = flow
        self.variables = variables
        self.aliases = aliases
        self.result = Nesting()
        self.indent = 1
        self.inlined: dict[Var, tuple[Var, ...]] = {}  # views printed wherever they are used
        writes = sorted(self._writes(), key=itemgetter(0))
        self.written = [var for _, var in writes]
        self.bases = set(self.written)
        self.written_at = [point for point, _ in writes]
        self.barrier = -1  # the last effect

    def _writes(self) -> Iterator[tuple[int, Var]]:
        """Where arrays are written in place, and which."""
        for stmt, span in self.flow.spans.items():
            if isinstance(stmt, Let) and is_array(stmt.args[0] if stmt.args else None):
                copies = stmt.op.name not in WRITES or stmt in self.aliases.writes
                if not copies or stmt in self.aliases.in_place:
                    yield span.head, stmt.args[0]  # type: ignore[misc]
        yield from self.aliases.given_away()

    def consume(self, point: int, pending: Pending, tree: Tree, fixed: Iterable[Any] = ()) -> Tree:
        """Nests what a point reads into `tree`, the smallest first, as long as the whole stays readable;
        gives the whole."""
        reads = [var for var, _ in self.flow.reads.get(point, ())]
        if self.inlined:
            reads = [own for var in reads for own in self.inlined.get(var, (var,))]
        nestable = [var for var in reads if var in pending and var not in fixed]
        tree.width += sum(map(width_of_atom, reads))
        tree.reads = tuple([var for var in reads if var not in nestable] if nestable else reads)
        for var in sorted(nestable, key=lambda var: pending[var].width):
            joined = self.joined(tree, [pending[var]])
            joined.width -= width_of_atom(var)
            if self._is_readable(joined) and self.is_unchanged(pending[var], point, fixed):
                self.take(var, pending, point)
                tree = joined
            else:
                tree.reads += (var,)
        return tree

    def joined(self, outer: Tree, parts: list[Tree]) -> Tree:
        reads, width, ops, calls = outer.reads, outer.width, outer.ops, 0
        for part in parts:
            reads += part.reads
            width += part.width
            ops += part.ops
            calls = max(calls, part.calls)
        return Tree(outer.point, reads, width, ops, outer.calls + calls)

    def room(self) -> int:
        return LINE - 4 * self.indent - 8

    def _is_readable(self, tree: Tree) -> bool:
        return tree.width <= self.room() and tree.ops <= MOST_OPS and tree.calls <= MOST_NESTED_CALLS

    def is_unchanged(self, tree: Tree, point: int, fixed: Iterable[Any]) -> bool:
        """Whether everything that an expression reads is at `point` what it was where it stood."""
        if tree.point < self.barrier < point:
            return False
        first = tree.point * STEPS + DEFINED + 1
        for var in tree.reads:
            last = point * STEPS + (COPIED if var in fixed else READ)
            if self.variables[var].definitions_in(first, last):
                return False
        return not self.is_written(tree, point)

    def is_written(self, tree: Tree, point: int) -> bool:
        written = self._writes_between(tree.point, point)
        arrays = [var for var in tree.reads if is_array(var)] if written else []
        return any(self.aliases.may_share(var, base) for base in written for var in arrays)

    def _writes_between(self, first: int, last: int) -> list[Var]:
        return self.written[bisect_right(self.written_at, first):bisect_left(self.written_at, last)]

    def take(self, var: Var, pending: Pending, point: int) -> None:
        """Nests a value into what stands at `point`, where its operands are read now."""
        self.result.values.add(var)
        self.stretch(pending.pop(var), point)

    def stretch(self, tree: Tree, point: int) -> None:
        for operand in tree.reads:
            self.variables[operand].stretches.append((tree.point * STEPS + READ, point * STEPS + READ))
