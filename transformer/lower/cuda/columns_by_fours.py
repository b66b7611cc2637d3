"""Loops that go down the columns of matrices, four columns at once: each reads four numbers of a row by one access, and
has four totals.

    for k < fours                                in place of          for j < m
        total0 = total1 = … = 0                                           total = 0
        for i < n                                                         for i < n
            x0, x1, x2, x3 = four_of(x[i], k)                                 total += x[i, j]
            total0 += x0; …                                               y[j] = total
        y[4*k] = total0; …

What is computed of a column is written out for each of the four: where the driver finds no fours, and for the columns
that are left, there is the loop of single ones behind.
"""

from __future__ import annotations

from typing import Any

from ...core.grammar import Carry, Let, Var
from ...core.sizes import Size, Unknown
from ...core.types import ArrayType
from ...core.walk import atom_of_size, atom_vars
from ...ops.base import Op
from ..fusion.substitution import cost_of
from ..nest.copying import NestCopier
from ..nest.nest_walk import is_load, loaded, statements
from ..nest.nests import Block, Fold, Index, Store
from ..nest.places import sole
from ..printing.statements import total_name

LANES = 4
KINDS = "iufb"                         # of dtypes that four_of knows
MOST_COMPUTED = 8                      # operations on a number: more take longer than memory does
MOST_STATEMENTS = 24                   # for a column, of which four times as many numbers are in registers


class FourOf(Op):
    """Elements 4 * k to 4 * k + 3 of the row of an array that is at places; the last argument is k."""

    operands = ("x",)
    types = staticmethod(lambda x, *at: ArrayType(x.dtype))
    run: Any = None


def is_beside(array: Any, at: tuple[Any, ...], index: Index, varying: set[Var]) -> bool:
    """Whether the elements for neighbouring places are neighbours in memory, of a dtype that is read in fours. What is
    `varying` may differ from place to place, as the index does."""
    return (sole(at[-1]) is index.var and varying.isdisjoint(atom_vars(at[:-1])) and array.type.dtype.kind in KINDS)


def columns_beside(index: Index, block: Block) -> list[Any]:
    """The arrays of which a loop over an index goes down columns that lie side by side, if it computes little; none
    where it does not."""
    inside = list(statements(block))
    folds = [stmt for stmt in inside if isinstance(stmt, Fold)]
    if len(folds) != 1 or folds[0] not in block or len(inside) > MOST_STATEMENTS:
        return []
    varying = _varying(index, inside)
    sizes = [each.size for each in folds[0].indices]
    if cost_of(folds[0].body) > MOST_COMPUTED or not varying.isdisjoint(atom_vars(tuple(sizes))):
        return []
    stores = [stmt for stmt in inside if isinstance(stmt, Store)]
    written, read = {store.array for store in stores}, {array for stmt in block for array in loaded(stmt)}
    if any(store.adds or store not in block for store in stores) or not written.isdisjoint(read):
        return []
    if not all(isinstance(stmt, Fold | Store) or isinstance(stmt, Let) and not stmt.op.of_sequences
               for stmt in inside):
        return []
    beside = [stmt for stmt in inside if _is_beside(stmt, index, varying)]
    is_down = any(stmt in folds[0].body for stmt in beside)
    return list(dict.fromkeys(stmt.args[0] for stmt in beside)) if is_down else []


def _is_beside(stmt: Any, index: Index, varying: set[Var]) -> bool:
    return is_load(stmt) and is_beside(stmt.args[0], stmt.args[1:], index, varying)


def _varying(index: Index, inside: Block) -> set[Var]:
    """What differs from column to column: the index, what is computed of it, and what folds give."""
    found = {index.var}
    found.update(var for stmt in inside if isinstance(stmt, Fold) for carry in stmt.carries
                 for var in (carry.entry, carry.out))
    for stmt in inside:
        if isinstance(stmt, Let) and not found.isdisjoint(atom_vars(stmt.args)):
            found.update(stmt.targets)
    return found


class FourColumns:
    """Statements for one column as statements for four, which are those 4 * k to 4 * k + 3."""

    def __init__(self, index: Index, k: Var) -> None:
        self.index, self.k, self.varying = index, k, set[Var]()
        first = Size.of(Unknown(k)) * LANES
        self.lanes = [NestCopier({index.var: atom_of_size(first + lane)}) for lane in range(LANES)]

    def of(self, block: Block) -> Block:
        """All that is done for a column, for four."""
        self.varying = _varying(self.index, list(statements(block)))
        return self._block(block)

    def _block(self, block: Block) -> Block:
        return [made for stmt in block for made in self._stmt(stmt)]

    def _stmt(self, stmt: Any) -> Block:
        if isinstance(stmt, Fold):
            return [self._fold(stmt)]
        if _is_beside(stmt, self.index, self.varying):
            return [self._four(stmt)]
        return [lane.stmt(stmt) for lane in self.lanes]

    def _four(self, load: Let) -> Let:
        array, *places, _ = self.lanes[0].args(load.args)
        targets = tuple(lane.fresh(load.target) for lane in self.lanes)
        return Let(targets, FourOf, (array, *places, self.k), {}, load.origin)

    def _fold(self, fold: Fold) -> Fold:
        """A fold that hands on four times as many numbers."""
        indices = [Index(self.lanes[0].fresh(each.var), self.lanes[0].size(each.size)) for each in fold.indices]
        for lane in self.lanes[1:]:
            lane.mapping.update((old.var, new.var) for old, new in zip(fold.indices, indices, strict=True))
        pairs = [(carry, lane) for carry in fold.carries for lane in self.lanes]
        begun = [(lane.fresh(carry.entry), lane.atom(carry.init)) for carry, lane in pairs]
        for (entry, _), (carry, lane) in zip(begun, pairs, strict=True):
            entry.name = f"{entry.name or total_name(fold, carry)}{self.lanes.index(lane)}"
        body = self._block(fold.body)
        carries = [Carry(entry, init, lane.atom(carry.next), lane.fresh(carry.out))
                   for (entry, init), (carry, lane) in zip(begun, pairs, strict=True)]
        return Fold(indices, carries, body, fold.origin)
