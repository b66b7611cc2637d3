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

or begin at the same place, and end one earlier, as in the reverse of a sum over what is before:

    nest j < i, in order
        a[i, i - 1 - j] = a[i, i - 1 - j] / b[j]
        nest k < i - j - 1
            a[i, k] += -(a[i, i - 1 - j] * c[j, k])

An item may have several rows, of which some may be no other item's. What it does first may rest on what the items
before it have added at the first places (at the last ones), not on the rest of their rows: nothing that comes earlier
in a pass than in the program touches what it then comes before.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...core.builder import current
from ...core.grammar import Atom, Let, Var
from ...core.sizes import Extent, Size, Unknown
from ...core.types import INT
from ...core.walk import atom_of_size, atom_vars, size_of_atom
from ..fusion.substitution import CHEAP, cost_of
from ..nest.copying import NestCopier
from ..nest.dependence import Ranges, accesses, conflicts, is_above, may_meet
from ..nest.nests import Block, Index, Nest, Store
from .contractions import slope
from .passes import (
    TOGETHER,
    are_worth_their_code,
    copies,
    index_up_to,
    is_long,
    is_row_of_sums,
    left_over,
    moving_with,
    targets_of_lets,
)


def jammed_moving(nest: Nest, in_loop: bool) -> Block | None:
    """The places to which all items of a pass are added, and before and behind them those of a few; None where an item
    is not added to a row one place further than the one before, or one shorter, where order matters, or where it would
    be much code for little work."""
    found = _rows_last(nest) if len(nest.indices) == 1 and nest.ordered else None
    if found is None or not _moves_along(found):
        return None
    (index,), any_first = found.indices, Var(INT)
    ranges: Ranges = {any_first: (0, index.size - TOGETHER)}
    if not _Pass(found, Size.of(Unknown(any_first))).may_be_together(ranges):
        return None
    if _is_triangle(found) and not are_worth_their_code(index.size, in_loop):
        return None
    passes = index.size // TOGETHER
    number = index_up_to(passes, index.var)
    one = _Pass(found, Size.of(Unknown(number.var)) * TOGETHER)
    left = left_over(nest, index, [], passes * TOGETHER, index.size - passes * TOGETHER)
    return [Nest([number], one.together(), nest.origin, True), left]


def _rows_last(nest: Nest) -> Nest | None:
    """A nest that does for each item what else it does before the rows; None where that is not all, or not the same."""
    before: Block = []
    rows: Block = []
    for stmt in nest.body:
        if isinstance(stmt, Nest):
            rows.append(stmt)
        elif not isinstance(stmt, (Let, Store)) or rows and _meet(rows, [stmt], {}):
            return None
        else:
            before.append(stmt)
    return Nest(nest.indices, [*before, *rows], nest.origin, True)


def _parts(nest: Nest) -> tuple[Block, list[Nest]]:
    """What is done before the rows, and the rows."""
    rows = [stmt for stmt in nest.body if isinstance(stmt, Nest)]
    return nest.body[:len(nest.body) - len(rows)], rows


def _moves_along(nest: Nest) -> bool:
    """Whether each item is added to a row of its own, one place further than the one before or one place shorter."""
    _, rows = _parts(nest)
    if not rows or not all(len(row.indices) == 1 and is_row_of_sums(row, of_one_array=True) for row in rows):
        return False
    if sum(cost_of(row.body) for row in rows) > CHEAP:                   # four times as much code
        return False
    normal = current().assumptions.normal
    return (len({normal(row.indices[0].size) for row in rows}) == 1
            and _has_length(nest.indices[0], rows[0].indices[0]) and _begins_further(nest) is not None)


def _is_triangle(nest: Nest) -> bool:
    """Whether rows do not have the same length."""
    _, rows = _parts(nest)
    return nest.indices[0].var in atom_vars((rows[0].indices[0].size,))


def _has_length(index: Index, place: Index) -> bool:
    """Whether rows are long, and all of them equally so or each by one shorter than the one before."""
    if index.var not in atom_vars((place.size,)):
        return is_long(place.size)
    longest = place.size + Size.of(Unknown(index.var))
    return (index.var not in atom_vars((longest,)) and not (isinstance(index.size, int) and index.size < 2 * TOGETHER)
            and is_above(place.size, {index.var: (0, index.size - 1)}, 0))


def _begins_further(nest: Nest) -> int | None:
    """By how many places the row to which an item is added begins behind that of the item before it: 1, or 0 if it
    ends one earlier. None if all items are added to rows of their own."""
    (index,), (_, rows) = nest.indices, _parts(nest)
    return next((further for further in (1, 0)[:1 - slope(rows[0].indices[0].size, index.var)]
                 if any(_is_shared(stmt.at, index, row.indices[0], further)
                        for row in rows for stmt in row.body if isinstance(stmt, Store))), None)


def _is_shared(at: tuple[Atom, ...], index: Index, place: Index, further: int) -> bool:
    """Whether all items are added to one row, each so much further."""
    shift = Size.of(Unknown(index.var)) * further + Size.of(Unknown(place.var))
    return {index.var, place.var}.isdisjoint(atom_vars((*at[:-1], atom_of_size(size_of_atom(at[-1]) - shift))))


@dataclass(slots=True)
class _Item:
    """What is done for one item: what comes before its row, and of the row what later items need, what all of them do,
    and what only some reach at the end."""

    copier: NestCopier
    before: Block
    start: Block
    middle: Block
    end: Block


class _Pass:
    """Items of a nest from a `first` one on."""

    def __init__(self, nest: Nest, first: Extent) -> None:
        self.first, self.further = first, _begins_further(nest)
        (self.index,), (self.before, self.rows) = nest.indices, _parts(nest)
        self.size = self.rows[0].indices[0].size
        shortest = NestCopier({self.index.var: atom_of_size(first)}).size(self.size) - (TOGETHER - 1)
        self.common = [index_up_to(shortest, row.indices[0].var) for row in self.rows]
        self.items = [self._item(n) for n in range(TOGETHER)]

    def _item(self, n: int) -> _Item:
        copier = NestCopier({self.index.var: atom_of_size(self.first + n)})
        before = [copier.stmt(stmt) for stmt in self.before]
        size, ahead = copier.size(self.size), TOGETHER - 1 - n           # of the places that later items need
        behind = n * (1 + slope(self.size, self.index.var)) if self.further else 0
        start = self._part(copier, 0 if self.further else size - ahead, ahead)
        end = self._part(copier, size - behind, behind)
        for row, common in zip(self.rows, self.common, strict=True):
            place = Size.of(Unknown(common.var)) + (ahead if self.further else 0)
            copier.mapping[row.indices[0].var] = atom_of_size(place)
        middle: Block = [Nest([common], NestCopier(copier.mapping).block(row.body), row.origin)
                         for row, common in zip(self.rows, self.common, strict=True)]
        return _Item(copier, before, start, middle, end)

    def _part(self, copier: NestCopier, first: Extent, count: int) -> Block:
        """Some places of the rows."""
        part: Block = []
        for row in self.rows if count else ():
            own = index_up_to(count, row.indices[0].var)
            place = atom_of_size(first + (Size.of(Unknown(own.var)) if count > 1 else 0))
            body = NestCopier({**copier.mapping, row.indices[0].var: place}).block(row.body)
            part += [Nest([own], body, row.origin)] if count > 1 else body
        return part

    def may_be_together(self, ranges: Ranges) -> bool:
        """Whether what is done later than in the program, or for all items at once, touches nothing that what it then
        comes behind touches."""
        return not any(_meet([*early.middle, *early.end], [*late.before, *late.start, *late.middle], ranges)
                       for n, early in enumerate(self.items) for late in self.items[n + 1:])

    def together(self) -> Block:
        before = targets_of_lets([stmt for stmt in self.before if isinstance(stmt, Let)])
        moving = moving_with([stmt for row in self.rows for stmt in row.body if isinstance(stmt, Let)],
                             {self.index.var, *before, *(row.indices[0].var for row in self.rows if self.further)})
        return [*(stmt for item in self.items for stmt in (*item.before, *item.start)),
                *(self._along(row, common, moving) for row, common in zip(self.rows, self.common, strict=True)),
                *(stmt for item in self.items for stmt in item.end)]

    def _along(self, row: Nest, common: Index, moving: set[Var]) -> Nest:
        """What all items add to a row."""
        same = NestCopier({} if self.further else {row.indices[0].var: common.var})
        return Nest([common], list(copies(row.body, same, [item.copier for item in self.items], moving)), row.origin)


def _meet(one: Block, other: Block, ranges: Ranges) -> bool:
    """Whether two blocks may touch the same element, of which one writes it; additions do not matter to each other."""
    early, late = accesses(one), accesses(NestCopier().block(other))     # with positions of its own
    return early is None or late is None or any(may_meet(*pair, ranges) for pair in conflicts(early, late))
