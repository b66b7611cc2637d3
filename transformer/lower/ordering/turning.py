"""Rows of few numbers, many of them at a time: what is done along a row is done for 64 rows at once, column by column.

    nest i < n                              nest block < (n + 63) // 64
        fold j < m, top = x[i, 0]               first = 64 * block
            maximum(top, x[i, j])               count = min(64, n - first)
        nest j < m                              nest i < count, j < m
            y[i, j] = exp(x[i, j] - top)            x_turned[j, i] = x[first + i, j]
                                                nest i < count
                                        →           top[i] = x_turned[0, i]
                                                nest j < m, i < count, in order
                                                    top[i] = maximum(top[i], x_turned[j, i])
                                                nest j < m, i < count
                                                    y_turned[j, i] = exp(x_turned[j, i] - top[i])
                                                nest i < count, j < m
                                                    y[first + i, j] = y_turned[j, i]

Processors compute eight numbers at once, or sixteen. Of a row of ten some are left over each time, and what reduces
them waits for itself; of 64 rows none are left, and each has a total of its own. What is computed for a row alone, such
as the logarithm of a sum, is computed for many rows then, too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Let, Var
from ...core.sizes import Extent
from ...core.walk import atom_vars
from ...ops.selection import Maximum, Minimum
from .. import vecmath
from ..nest.lifetimes import written
from ..nest.nest_walk import accesses, all_uses, defined, inner_blocks, is_empty_memory, is_load, statements
from ..nest.nests import Allocate, Block, Fold, Nest, Store
from ..printing.turns import SIDE
from .turned_rows import columns_of, handed_on, many_rows

FEWEST, MOST = 5, 16                   # numbers in a row
WORTH_TURNING = 256                    # rows
LEAST_WORK, LEAST_WORK_OF_HALF = 6, 4  # done along a row; for float32
DEAR = 6                               # what an elementary function is of it


def turned(block: Block, results: list[Atom], threads: bool) -> Block:
    """The block with such loops over rows done for many rows at a time; with `threads`, these have memory of their
    own."""
    uses = Counter(all_uses(block)) + Counter(atom_vars(results))
    memory = {stmt.target: stmt for stmt in statements(block) if is_empty_memory(stmt)}
    return _Turning(uses, memory, threads).block(block)


def lengths_to_turn(block: Block) -> set[int]:
    """The lengths of rows, as far as they are numbers, along which elementary functions are computed: enough work, if
    they are reduced as well."""
    nests = [stmt for stmt in statements(block) if isinstance(stmt, Nest) and len(stmt.indices) > 1]
    return {length for nest in nests for length in [nest.indices[-1].size]
            if isinstance(length, int) and FEWEST <= length <= MOST
            and not isinstance(nest.indices[-2].size, int) and any(map(is_dear, statements(nest.body)))}


@dataclass
class _Turning:
    """`uses` says how often each variable is used, and `memory` are the arrays that are made here."""

    uses: Counter[Var]
    memory: dict[Var, Allocate]
    threads: bool

    def block(self, block: Block) -> Block:
        made: Block = []
        for stmt in block:
            if self._is_turned(stmt):
                made += many_rows(stmt, self._own(stmt), self.threads)
                continue
            for inner in inner_blocks(stmt):
                inner[:] = self.block(inner)
            made.append(stmt)
        return made

    def _is_turned(self, stmt: Any) -> bool:
        return (isinstance(stmt, (Nest, Fold)) and _is_of_rows(stmt) and _work(stmt) >= _least_work(stmt)
                and _keep_apart(stmt, self._own(stmt)) and _are_short_and_many(stmt))

    def _own(self, stmt: Nest | Fold) -> list[Allocate]:
        """The arrays of one row that each row writes, and reads again."""
        inside, normal = Counter(all_uses([stmt])), current().assumptions.normal
        length = normal(columns_of(stmt)[0].indices[0].size)
        first: dict[Var, Any] = {}
        for columns in columns_of(stmt):
            for each in columns.body:
                for array, at in accesses(each):
                    is_row = isinstance(each, Store) and not each.adds and at == (columns.indices[0].var,)
                    first.setdefault(array, is_row and normal(array.type.sizes[0]) == length)
        return [self.memory[array] for array, is_row in first.items()
                if is_row and array in self.memory and inside[array] == self.uses[array]]


def _is_of_rows(stmt: Nest | Fold) -> bool:
    """Whether a loop does nothing at a place but compute numbers and go along a row, which is as long for each."""
    columns = columns_of(stmt)
    if not columns or not stmt.indices or isinstance(stmt, Fold) and len(stmt.indices) > 1:
        return False
    if any(getattr(each, "ordered", False) or len(each.indices) > 1 or not _is_plain(each.body) for each in columns):
        return False
    inside = {index.var for index in stmt.indices}.union(var for each in stmt.body for var in defined(each))
    sizes = {current().assumptions.normal(each.indices[0].size) for each in columns}
    return (len(sizes) == 1 and inside.isdisjoint(atom_vars(tuple(sizes))) and not getattr(stmt, "ordered", False)
            and _is_plain([each for each in stmt.body if each not in columns])
            and handed_on(stmt).isdisjoint(all_uses([each for each in stmt.body if not isinstance(each, Let)])))


def _is_plain(block: Block) -> bool:
    return all(isinstance(stmt, Store) or isinstance(stmt, Let) and (is_load(stmt) or stmt.op.elementwise)
               for stmt in block)


def _work(stmt: Nest | Fold) -> int:
    """What is done along a row, if it is reduced: how often it is gone along, in halves."""
    columns = columns_of(stmt)
    inside = [each for each in statements(columns) if isinstance(each, Let)]
    extremes = sum(each.op in (Maximum, Minimum) for each in inside)
    dear = sum(map(is_dear, inside))
    is_reduced = any(isinstance(each, Fold) for each in columns)
    return is_reduced * (2 * len(columns) + extremes + DEAR * dear)


def is_dear(stmt: Any) -> bool:
    """Whether a statement computes an elementary function."""
    return isinstance(stmt, Let) and (stmt.op.name in vecmath.FORMS or bool(stmt.op.helper))


def _least_work(stmt: Nest | Fold) -> int:
    """From which work on rows are turned: for float32, of which a processor computes twice as many, less."""
    loaded = [each.args[0] for each in statements(columns_of(stmt)) if is_load(each)]
    return LEAST_WORK if any(array.type.dtype.itemsize > 4 for array in loaded) else LEAST_WORK_OF_HALF


def _keep_apart(stmt: Nest | Fold, own: list[Allocate]) -> bool:
    """Whether every row touches a part of its own of whatever is written."""
    row = stmt.indices[-1].var
    shared = written(stmt).difference(each.target for each in own)
    touched: dict[Var, list[tuple[Atom, ...]]] = {array: [] for array in shared}
    for array, at in accesses(stmt):
        if array in touched:
            touched[array].append(at)
    return all(any(all(each is row for each in axis) for axis in zip(*places, strict=True))
               for places in touched.values())


def _are_short_and_many(stmt: Nest | Fold) -> bool:
    """Whether rows are short, and many: in all calls that this code is made for. Rows of 16 are vectors as they are:
    they wait for more work."""
    length = columns_of(stmt)[0].indices[0].size
    if not (_is_at_least(MOST - (_work(stmt) <= LEAST_WORK), length) and _is_at_least(length, FEWEST)
            and _is_at_least(stmt.indices[-1].size, WORTH_TURNING)):
        return False
    _is_at_least(length, SIDE)                                           # which are copied in another way
    return True


def _is_at_least(left: Extent, right: Extent) -> bool:
    assumptions = current().assumptions
    left, right = assumptions.normal(left), assumptions.normal(right)
    return assumptions.certainly_at_least(left, right) or assumptions.choose(left, right)
