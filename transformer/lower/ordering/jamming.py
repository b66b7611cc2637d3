"""Sums of products over rows, several of them in one pass over the row of totals:

    nest k < n, i < m, in order             nest k < n/4, i < m, in order
        a = x[i, k]                             a, b, c, d = x[i, 4k], …, x[i, 4k + 3]
        nest j < d                       →      nest j < d
            y[i, j] += a * w[k, j]                  y[i, j] = y[i, j] + a * w[4k, j] + … + d * w[4k + 3, j]
                                            nest k < n % 4, i < m, in order
                                                … as before, for what is left

A total is fetched and put back a fourth of the times. Every one of them has its items in the order that it had. (The
loop over the row cannot keep its totals in registers: there are too many of them, or LLVM does not know how many.)
Rows that are added may be those of the array of totals, as in an elimination, where they are certainly others.
In the same way four rows of a matrix are added to the totals of its columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

from ...core.builder import current
from ...core.grammar import Let, Loop, Var
from ...core.sizes import Extent, Size, Unknown
from ...core.types import INT
from ...core.walk import atom_of_size, atom_vars, size_of_atom
from ...ops.arithmetic import Add
from ..nest.copying import NestCopier
from ..nest.lifetimes import written
from ..nest.nest_walk import accesses, all_uses, inner_blocks, is_load, loaded
from ..nest.nests import Block, Index, Nest, Store
from ..threads.threads import is_independent
from .interchange import as_nest, only_writes, own_axis
from .moving_rows import jammed_moving
from .passes import TOGETHER, copies, is_long, is_row_of_sums, left_over, moving_with, repeats, targets_of_lets
from .reordering import reads_no_writes
from .turning import is_dear

MOST_TOGETHER = 9                      # if there are no more: the weights of a window are
MOST_STATEMENTS = 10                   # for an item of a row that is added up, in each of the passes


def jam(block: Block, in_loop: bool = False) -> Block:
    """The block with such sums done several items at a time."""
    made: Block = []
    for stmt in block:
        window = _window(stmt)
        if window is not None:
            made += window
            continue
        for inner in inner_blocks(stmt):
            inner[:] = jam(inner, in_loop or repeats(stmt))
        nest = _of_loop(stmt) if isinstance(stmt, Loop) else stmt
        made += [stmt] if not isinstance(nest, Nest) else _of_nest(nest, in_loop) or [stmt]
    return made


def _window(loop: Any) -> Block | None:
    """What a loop in a loop has made of it, if the two go through the few weights of a window: all are added at once.

        for a in range(3):                          nest j < d
            for b in range(3):              →           y[j] = y[j] + w[0, 0] * x[0, j] + … + w[2, 2] * x[2, j + 2]
                y += w[a, b] * x[a, b:b + d]
    """
    if not isinstance(loop, Loop) or len(loop.body) != 1 or not isinstance(loop.body[0], Loop):
        return None
    counts: list[Any] = [each.trips and size_of_atom(each.trips) for each in (loop, loop.body[0])]
    if not all(isinstance(count, int) and count > 0 for count in counts) or prod(counts) > MOST_TOGETHER:
        return None
    inner = _of_loop(loop.body[0]) if only_writes(loop) and not loop.down else None
    if not isinstance(inner, Nest) or len(inner.indices) > 1:
        return None
    nest = Nest([*as_nest(loop, []).indices, *inner.indices], inner.body, inner.origin, True)
    if not _may_be_summed(nest) or not (_is_of_items(nest, 0) and _is_of_items(nest, 1)):
        return None
    outer, nest = _by_rows(nest)
    made = _at_once(nest, [], {index.var: range(count) for index, count in zip(nest.indices, counts)}, [])
    return [Nest(outer, made, nest.origin)] if outer else made


def _of_nest(nest: Nest, in_loop: bool) -> Block | None:
    summed = _summed(nest)
    if summed is not None:
        return _jammed_by_rows(nest, summed)
    summed = _summed_rows(nest)
    if summed is not None:
        row = Nest(nest.indices[summed + 1:], nest.body, nest.origin)
        return _jammed(Nest(nest.indices[:summed + 1], [row], nest.origin, True), summed)
    return jammed_moving(nest, in_loop)


def _of_loop(loop: Loop) -> Any:
    """A loop of the program as a nest, if it goes on with one row after another."""
    trips: Any = loop.trips
    if not loop.body or not only_writes(loop) or not current().assumptions.certainly_at_least(size_of_atom(trips), 0):
        return None
    body: Block = list(loop.body)
    body[-1] = _as_row(body[-1]) if isinstance(body[-1], Loop) else body[-1]
    nest = as_nest(loop, NestCopier().block(body))
    if isinstance(nest.body[-1], Nest):
        _add_in_place(nest.body[-1])
    return nest


def _as_row(loop: Loop) -> Nest | Loop:
    """A loop of the program as a nest, if each of its iterations keeps to itself."""
    trips: Any = loop.trips
    if not only_writes(loop) or not all(isinstance(each, (Let, Store)) for each in loop.body):
        return loop
    if not current().assumptions.certainly_at_least(size_of_atom(trips), 0):
        return loop
    row = as_nest(loop, NestCopier().block(loop.body))
    row.ordered = not is_independent(row, row.indices[0], set())
    return loop if row.ordered else row


def _add_in_place(row: Nest) -> None:
    """Has what is stored where it was read, and something added to it, added there."""
    made = {stmt.target: stmt for stmt in row.body if isinstance(stmt, Let) and len(stmt.targets) == 1}
    used = Counter(all_uses(row.body))
    for k, stmt in enumerate(row.body):
        total = made.get(stmt.value) if isinstance(stmt, Store) and not stmt.adds else None   # type: ignore[arg-type]
        if total is None or total.op is not Add or used[total.target] != 1:
            continue
        for old, item in (total.args, total.args[::-1]):
            load = made.get(old)                                         # type: ignore[arg-type]
            if load is not None and is_load(load) and load.args == (stmt.array, *stmt.at) and used[load.target] == 1:
                row.body[k] = Store(stmt.array, stmt.at, item, True, stmt.origin)
                row.body = [each for each in row.body if each is not load and each is not total]
                return


def _goes_along(nest: Nest) -> bool:
    """Whether the body of a nest goes on with one item along a row of sums."""
    if not nest.ordered or not nest.body or not isinstance(nest.body[-1], Nest):
        return False
    *before, row = nest.body
    return bool(row.indices) and all(isinstance(stmt, Let) for stmt in before) and is_row_of_sums(row)


def _summed(nest: Nest) -> int | None:
    """Which index of a nest runs over the items of sums, if its body goes on with one item along a row of them."""
    if not _may_be_summed(nest):
        return None
    numbers = targets_of_lets(nest.body[:-1])
    return next((k for k in range(len(nest.indices) - 1, -1, -1)
                 if moving_with(nest.body[:-1], {nest.indices[k].var}) & numbers and _is_of_items(nest, k)), None)


def _may_be_summed(nest: Nest) -> bool:
    """Whether the body of a nest goes on with one item along a row of sums, which is not read for that."""
    return _goes_along(nest) and (
        loaded(nest).isdisjoint(written(nest.body[-1])) or reads_no_writes(nest, {}))


def _is_of_items(nest: Nest, k: int) -> bool:
    """Whether an index tells items of the same sums apart."""
    *before, row = nest.body
    var = nest.indices[k].var
    moving = moving_with(before, {var})
    return not any(var in atom_vars(index.size) for index in (*nest.indices, *row.indices)) and not any(
        moving & set(atom_vars(stmt.at)) for stmt in row.body if isinstance(stmt, Store))


def _summed_rows(nest: Nest) -> int | None:
    """Which index of a nest runs over rows that are added up, each element to that of its column."""
    if not nest.ordered or len(nest.indices) < 2 or not is_row_of_sums(nest) or len(nest.body) > MOST_STATEMENTS:
        return None
    if not loaded(nest).isdisjoint(written(nest)) or any(map(is_dear, nest.body)):
        return None
    sizes = set(atom_vars(index.size for index in nest.indices))
    places = {var for stmt in nest.body if isinstance(stmt, Store) for var in atom_vars(stmt.at)}
    return next((k for k, index in enumerate(nest.indices[:-1]) if index.var not in places | sizes), None)


def _jammed_by_rows(nest: Nest, k: int) -> Block:
    """Sums over the rows of matrices are done one row after another, so that a row stays in the cache for all of its
    items; where rows are short, all of them go on with one item after another."""
    outer, nest = _by_rows(nest)
    made = _jammed(nest, k)
    return [Nest(outer, made, nest.origin)] if outer else made


def _by_rows(nest: Nest) -> tuple[list[Index], Nest]:
    """The indices of the rows that are done one after another, and what is done for each of them."""
    row = nest.body[-1]
    outer = _own_rows(nest, row) if len(row.indices) > 1 and is_long(row.indices[-1].size) else []
    if not outer:
        return [], nest
    inner = Nest(row.indices[len(outer):], row.body, row.origin, row.ordered)
    return outer, Nest(nest.indices, [*nest.body[:-1], inner], row.origin, True)


def _own_rows(nest: Nest, row: Nest) -> list[Index]:
    """The outermost indices of sums over several rows along which each place keeps to itself."""
    totals = written(row)
    touched = {array: [(row, at) for each, at in accesses(row) if each is array] for array in totals}
    if not loaded(nest).isdisjoint(totals):
        return []
    own = [all(own_axis(touched[array], n) is not None for array in totals) for n in range(len(row.indices) - 1)]
    return row.indices[:[*own, False].index(False)]


def _jammed(nest: Nest, k: int) -> Block:
    outer, index, rest = nest.indices[:k], nest.indices[k], nest.indices[k + 1:]
    together = index.size if isinstance(index.size, int) and index.size <= MOST_TOGETHER else TOGETHER
    passes: Extent = index.size // together
    body: Block = _passes(nest, index, rest, passes, together)
    left = index.size - passes * together
    if left != 0:
        body.append(left_over(nest, index, rest, passes * together, left))
    return [Nest(outer, body, nest.origin, True)] if outer else body


def _passes(nest: Nest, index: Index, rest: list[Index], passes: Extent, together: int) -> Block:
    number = Index(Var(INT, index.var.name), passes)
    current().assumptions.within(number.var, 0, passes - 1)
    first: Extent = 0 if passes == 1 else Size.of(Unknown(number.var)) * together
    return _at_once(nest, rest, {index.var: [first + n for n in range(together)]}, [] if passes == 1 else [number])


def _at_once(nest: Nest, rest: list[Index], items: dict[Var, Sequence[Extent]], around: list[Index]) -> Block:
    """The sums of a nest with all of these items done together, for each of the `rest` of its indices, and those
    `around` them."""
    row, common = nest.body[-1], NestCopier()
    indices = common.stmt(Nest([*rest, *row.indices], [])).indices
    rest, along_row = indices[:len(rest)], indices[len(rest):]
    copiers = [NestCopier({**common.mapping, **dict(zip(items, map(atom_of_size, places)))})
               for places in product(*items.values())]
    moving = moving_with([stmt for stmt in (*nest.body[:-1], *row.body) if isinstance(stmt, Let)], set(items))
    before = list(copies(nest.body[:-1], common, copiers, moving))
    along = list(copies(row.body, common, copiers, moving))
    around = [*around, *rest]
    if not before:
        return [Nest([*around, *along_row], along, row.origin, bool(around))]
    body = [*before, Nest(along_row, along, row.origin)]
    return [Nest(around, body, nest.origin, True)] if around else body
