"""Loops in two versions, where one test before a loop tells that all places of its iterations are inside of arrays.

    for k in range(rows[i], rows[i + 1]):       if rows_i >= 0 and rows_at - rows_i <= n - rows_i:
        s += data[k] * x[cols[k]]                   for j in range(rows_at - rows_i):
                                                        …                   data[rows_i + j] is inside
                                                else:
                                                    for j in range(rows_at - rows_i):
                                                        …                   and is tested here

This is for innermost loops of few statements on numbers whose places go up or down by one, from an integer that
nothing is known of. What else the body tests stays in both versions, and so does the order of what happens: where a
place is outside, what the iterations before do is done.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from typing import Any

from ...core.builder import Builder, current
from ...core.equations import of_range
from ...core.grammar import Atom, Block, Call, Function, If, Let, Loop, Merge, Var
from ...core.sizes import Extent, Size, Unknown, leaves
from ...core.walk import Copier, all_definitions, all_statements, atom_of_size, size_of_atom
from ...ops.elements import number
from ...ops.integers import affine, is_exact
from ...ops.proofs import Ranges
from ...ops.regions import computed_places
from ...ops.value import Value

MOST_STATEMENTS, MOST_TESTS = 24, 8    # of a loop that is written twice, and before it


def in_versions(function: Function) -> Function:
    """The function with such loops written twice; the same one, if there are none."""
    loops = [stmt for stmt in all_statements(function.body) if isinstance(stmt, Loop) and _may_be_doubled(stmt)]
    if not loops:
        return function
    return _Doubling(Ranges(function), loops).function(function)


def _may_be_doubled(loop: Loop) -> bool:
    """Whether a loop is short, keeps nothing but what it carries, works on numbers, and counts from some integer."""
    plain = loop.trips is not None and loop.cond is None and not loop.independent and loop.count is None
    if not plain or loop.reads or loop.records or len(loop.body) > MOST_STATEMENTS:
        return False
    inner = list(all_statements(loop.body))
    return len(inner) <= MOST_STATEMENTS and any(_counts(stmt, loop.position) for stmt in inner) and not any(
        isinstance(stmt, (Loop, Call)) or isinstance(stmt, Let) and not _is_of_numbers(stmt) for stmt in inner)


def _counts(stmt: Any, position: Var) -> bool:
    """Whether a statement adds the position to another integer, or takes it from one."""
    return isinstance(stmt, Let) and stmt.op.name in ("add", "subtract") and position in stmt.args and all(
        isinstance(arg, Var) for arg in stmt.args)


def _is_of_numbers(stmt: Let) -> bool:
    return stmt.op.writes or not any(getattr(var.type, "sizes", ()) for var in stmt.targets)


def _places(loop: Loop) -> Iterator[tuple[Atom, Extent, int, Extent]]:
    """The integers that are places and go up or down (1 or -1) with the position, what each begins with, and the size
    of the axis."""
    inside, position = set(all_definitions([loop])), Size.of(Unknown(loop.position))
    for stmt in all_statements(loop.body):
        for place, size in computed_places(stmt) if isinstance(stmt, Let) and "index" in stmt.attrs else ():
            if is_exact(place):
                for way in (1, -1):
                    first = affine(place) - position * way
                    if inside.isdisjoint(leaf.var for each in (first, size) for leaf in leaves(each)
                                         if isinstance(leaf, Unknown)):
                        yield place, first, way, size


class _Doubling:
    """Writes the blocks anew; `ranges` know what is certain at the place that this has come to."""

    def __init__(self, ranges: Ranges, loops: list[Loop]) -> None:
        self.ranges, self.loops = ranges, loops

    def function(self, function: Function) -> Function:
        return replace(function, body=self.block(function.body))

    def block(self, block: Block) -> Block:
        return [new for stmt in block for new in self.stmt(stmt)]

    def stmt(self, stmt: Any) -> Block:
        if isinstance(stmt, If):
            with self.ranges.block(stmt.cond):
                then = self.block(stmt.then)
            with self.ranges.block(stmt.cond, False):
                orelse = self.block(stmt.orelse)
            return [replace(stmt, then=then, orelse=orelse)]
        if not isinstance(stmt, Loop):
            return [stmt]
        if stmt in self.loops:
            tests = self._tests(stmt)
            return _doubled(stmt, tests) if 0 < len(tests) <= MOST_TESTS else [stmt]
        with self.ranges.block(stmt.cond, loop=stmt):
            return [replace(stmt, test=self.block(stmt.test), body=self.block(stmt.body))]

    def _tests(self, loop: Loop) -> list[tuple[Extent, Extent]]:
        """Pairs of which the first may not be greater, where all places are inside."""
        trips, found = of_range(size_of_atom(loop.trips)), list[tuple[Extent, Extent]]()   # type: ignore[arg-type]
        with self.ranges.block(loop=loop):
            for place, first, way, size in _places(loop):
                if not self.ranges.at_least(place, 0):
                    found.append((0, first) if way == 1 else (trips, first + 1))
                if not self.ranges.at_most(place, size - 1):
                    found.append((trips, size - first) if way == 1 else (first + 1, size))
        if found:
            found += [(0, Size.of(leaf)) for leaf in leaves(trips) if _is_open(leaf)]
        return [test for k, test in enumerate(found) if not any(
            _implies(other, test, before=at < k) for at, other in enumerate(found) if at != k)]


def _is_open(leaf: Any) -> bool:
    """Whether it may be so far below 0 that its difference to another integer leaves 64 bits."""
    return isinstance(leaf, Unknown) and leaf not in current().assumptions.ranges


def _implies(one: tuple[Extent, Extent], other: tuple[Extent, Extent], before: bool) -> bool:
    """Whether a test is not needed beside another one, of several that are the same but the first."""
    gap = (other[1] - other[0]) - (one[1] - one[0])
    return isinstance(gap, int) and gap >= (0 if before else 1)


def _doubled(loop: Loop, tests: list[tuple[Extent, Extent]]) -> Block:
    builder = Builder(current().assumptions, loop.origin)
    with builder.active():
        conds = [Value(atom_of_size(high)) >= number(low) for low, high in tests]
        cond: Any = reduce(operator.and_, conds)
    first, second = Copier().stmt(loop), Copier().stmt(loop)
    merges = [Merge(carry.out, one.out, other.out) for carry, one, other in zip(
        loop.carries, first.carries, second.carries, strict=True)]       # type: ignore[union-attr]
    return [*builder.block, If(cond.atom, [first], [second], merges, loop.origin)]
