"""Rows of sums that move on with each item, several items in one pass over what their rows have in common:

    nest k < n, in order                        nest k < n/4, in order
        a = h[k]                                    a, b, c, d = h[4k], …, h[4k + 3]
        nest j < m                                  nest j < 3:         y[4k + j] += a * x[j]        … so for b, c
            y[k + j] += a * x[j]        →           nest j < m - 3:     y[4k + 3 + j] += a * x[j + 3] + … + d * x[j]
                                                    nest j < 1:         y[4k + m] += b * x[m - 1]    … so for c, d
                                                nest k < n % 4, in order
                                                    … as before, for what is left

Rows may also end at the same place, and begin one further with each item, as in an elimination:

    nest j < i, in order
        a[i, j] = a[i, j] / a[j, j]
        nest k < i - j - 1
            a[i, j + 1 + k] += -(a[i, j] * a[j, j + 1 + k])

What an item does first may rest on what the items before it have added at the first places, not on the rest of their
rows: nothing that comes earlier in a pass than in the program touches what it then comes before.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...core.builder import current
from ...core.grammar import Let, Var
from ...core.sizes import Extent, Size, Unknown
from ...core.types import INT
from ...core.walk import atom_of_size, atom_vars, size_of_atom
from ..fusion.substitution import CHEAP, cost_of
from ..nest.copying import NestCopier
from ..nest.dependence import Ranges, accesses, conflicts, is_above, may_meet
from ..nest.nests import Block, Index, Nest, Store
from .contractions import slope
from .passes import TOGETHER, copies, is_long, is_row_of_sums, left_over, moving_with


def jammed_moving(nest: Nest) -> Block | None:
    """The places to which all items of a pass are added, and before and behind them those of a few; None where an item
    is not added to a row one place further than the one before, or where order matters."""
    if not _moves_along(nest):
        return None
    (index,), any_first = nest.indices, Var(INT)
    ranges: Ranges = {any_first: (0, index.size - TOGETHER)}
    if not _Pass(nest, Size.of(Unknown(any_first))).may_be_together(ranges):
        return None
    passes = index.size // TOGETHER
    number = _index(index.var, passes)
    one = _Pass(nest, Size.of(Unknown(number.var)) * TOGETHER)
    left = left_over(nest, index, [], passes * TOGETHER, index.size - passes * TOGETHER)
    return [Nest([number], one.together(), nest.origin, True), left]


def _moves_along(nest: Nest) -> bool:
    """Whether each item is added to a row of its own, one place further than the one before or one place shorter."""
    *before, row = nest.body or [None]
    if len(nest.indices) != 1 or not nest.ordered or not isinstance(row, Nest) or len(row.indices) != 1:
        return False
    (index,), (place,) = nest.indices, row.indices
    if not all(isinstance(stmt, (Let, Store)) for stmt in before) or not is_row_of_sums(row):
        return False
    if cost_of(row.body) > CHEAP or not _has_length(index, place):       # four times as much code
        return False
    both = {index.var, place.var}
    shift = Size.of(Unknown(index.var)) + Size.of(Unknown(place.var))
    return all(both.isdisjoint(atom_vars((*stmt.at[:-1], atom_of_size(size_of_atom(stmt.at[-1]) - shift))))
               for stmt in row.body if isinstance(stmt, Store))


def _has_length(index: Index, place: Index) -> bool:
    """Whether rows are long, and all of them equally so or each by one shorter than the one before."""
    if index.var not in atom_vars((place.size,)):
        return is_long(place.size)
    longest = place.size + Size.of(Unknown(index.var))
    return (index.var not in atom_vars((longest,)) and not (isinstance(index.size, int) and index.size < 2 * TOGETHER)
            and is_above(place.size, {index.var: (0, index.size - 1)}, 0))


@dataclass(slots=True)
class _Item:
    """What is done for one item: what comes before its row, and of the row what only some items reach at the start,
    what all of them do, and what only some reach at the end."""

    copier: NestCopier
    before: Block
    start: Block
    middle: Block
    end: Block


class _Pass:
    """Items of a nest from a `first` one on."""

    def __init__(self, nest: Nest, first: Extent) -> None:
        self.nest, self.row, self.first = nest, nest.body[-1], first
        (self.index,), (self.place,) = nest.indices, self.row.indices
        self.common = _index(self.place.var, NestCopier({self.index.var: atom_of_size(first)}).size(self.place.size)
                             - (TOGETHER - 1))
        self.items = [self._item(n) for n in range(TOGETHER)]

    def _item(self, n: int) -> _Item:
        copier = NestCopier({self.index.var: atom_of_size(self.first + n)})
        before = [copier.stmt(stmt) for stmt in self.nest.body[:-1]]
        size, behind = copier.size(self.place.size), n * (1 + slope(self.place.size, self.index.var))
        start = self._part(copier, 0, TOGETHER - 1 - n)
        end = self._part(copier, size - behind, behind)
        copier.mapping[self.place.var] = atom_of_size(Size.of(Unknown(self.common.var)) + (TOGETHER - 1 - n))
        middle = Nest([self.common], NestCopier(copier.mapping).block(self.row.body), self.row.origin)
        return _Item(copier, before, start, [middle], end)

    def _part(self, copier: NestCopier, first: Extent, count: int) -> Block:
        """Some places of a row."""
        if not count:
            return []
        own = _index(self.place.var, count)
        place = atom_of_size(first + (Size.of(Unknown(own.var)) if count > 1 else 0))
        body = NestCopier({**copier.mapping, self.place.var: place}).block(self.row.body)
        return [Nest([own], body, self.row.origin)] if count > 1 else body

    def may_be_together(self, ranges: Ranges) -> bool:
        """Whether what is done later than in the program, or for all items at once, touches nothing that what it then
        comes behind touches."""
        return not any(_meet([*early.middle, *early.end], [*late.before, *late.start, *late.middle], ranges)
                       for n, early in enumerate(self.items) for late in self.items[n + 1:])

    def together(self) -> Block:
        lets = [stmt for stmt in (*self.nest.body[:-1], *self.row.body) if isinstance(stmt, Let)]
        moving = moving_with(lets, {self.index.var, self.place.var})
        along = list(copies(self.row.body, NestCopier(), [item.copier for item in self.items], moving))
        return [*(stmt for item in self.items for stmt in (*item.before, *item.start)),
                Nest([self.common], along, self.row.origin), *(stmt for item in self.items for stmt in item.end)]


def _meet(one: Block, other: Block, ranges: Ranges) -> bool:
    """Whether two blocks may touch the same element, of which one writes it; additions do not matter to each other."""
    early, late = accesses(one), accesses(NestCopier().block(other))     # with positions of its own
    return early is None or late is None or any(may_meet(*pair, ranges) for pair in conflicts(early, late))


def _index(var: Var, size: Extent) -> Index:
    index = Index(Var(INT, var.name), size)
    current().assumptions.within(index.var, 0, size - 1)
    return index
