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
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..core.builder import current
from ..core.grammar import Atom, Let, Loop, Var, type_of
from ..core.sizes import Extent, Size, Unknown
from ..core.types import INT
from ..core.walk import atom_of_size, atom_vars, size_of_atom
from ..ops.arithmetic import Add
from .copying import NestCopier
from .interchange import as_nest, only_writes, own_axis
from .lifetimes import written
from .nests import Block, Index, Load, Nest, Store, accesses, all_uses, inner_blocks, is_load, loaded
from .reordering import reads_no_writes
from .substitution import CHEAP, cost_of

TOGETHER = 4                           # items that are added in one pass
MOST_TOGETHER = 9                      # if there are no more: the weights of a window are
WORTH_A_PASS = 64                      # numbers of a row


def jam(block: Block) -> Block:
    """The block with such sums done several items at a time."""
    made: Block = []
    for stmt in block:
        for inner in inner_blocks(stmt):
            inner[:] = jam(inner)
        nest = _of_loop(stmt) if isinstance(stmt, Loop) else stmt
        made += [stmt] if not isinstance(nest, Nest) else _of_nest(nest) or [stmt]
    return made


def _of_nest(nest: Nest) -> Block | None:
    summed = _summed(nest)
    if summed is not None:
        return _jammed_by_rows(nest, summed)
    return _jammed_moving(nest) if _moves_along(nest) else None


def _of_loop(loop: Loop) -> Any:
    """A loop of the program as a nest, if it goes on with one row after another."""
    trips: Any = loop.trips
    if not only_writes(loop) or not current().assumptions.certainly_at_least(size_of_atom(trips), 0):
        return None
    nest = as_nest(loop, NestCopier().block(loop.body))
    if nest.body and isinstance(nest.body[-1], Nest):
        _add_in_place(nest.body[-1])
    return nest


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
    return bool(row.indices) and all(isinstance(stmt, Let) for stmt in before) and _is_row_of_sums(row)


def _summed(nest: Nest) -> int | None:
    """Which index of a nest runs over the items of sums, if its body goes on with one item along a row of them."""
    if not _goes_along(nest):
        return None
    *before, row = nest.body
    if not loaded(nest).isdisjoint(written(row)) and not reads_no_writes(nest, {}):
        return None
    numbers = _targets(before)
    for k in range(len(nest.indices) - 1, -1, -1):
        var = nest.indices[k].var
        moving = _moving(before, {var})
        if not moving & numbers or any(var in atom_vars(index.size) for index in (*nest.indices, *row.indices)):
            continue
        if not any(moving & set(atom_vars(stmt.at)) for stmt in row.body if isinstance(stmt, Store)):
            return k
    return None


def _is_row_of_sums(row: Nest) -> bool:
    """Whether a nest adds to elements of arrays, one for each place of its index."""
    lets = [stmt for stmt in row.body if isinstance(stmt, Let)]
    stores = [stmt for stmt in row.body if isinstance(stmt, Store)]
    if len(lets) + len(stores) != len(row.body) or not stores:
        return False
    totals = {stmt.array for stmt in stores}
    index, inside = row.indices[-1].var, _targets(lets)
    return len(totals) == len(stores) and all(
        stmt.adds and index in atom_vars(stmt.at[-1:]) and inside.isdisjoint(atom_vars(stmt.at)) for stmt in stores)


def _targets(lets: Block) -> set[Var]:
    return {target for stmt in lets for target in stmt.targets}


def _moving(lets: Block, moving: set[Var]) -> set[Var]:
    """The variables that depend on these."""
    moving = set(moving)
    for stmt in lets:
        if not moving.isdisjoint(atom_vars((*stmt.args, stmt.attrs))):
            moving.update(stmt.targets)
    return moving


def _jammed_by_rows(nest: Nest, k: int) -> Block:
    """Sums over the rows of matrices are done one row after another, so that a row stays in the cache for all of its
    items; where rows are short, all of them go on with one item after another."""
    row = nest.body[-1]
    outer = _own_rows(nest, row) if len(row.indices) > 1 and _is_long(row.indices[-1].size) else []
    if not outer:
        return _jammed(nest, k)
    inner = Nest(row.indices[len(outer):], row.body, row.origin, row.ordered)
    return [Nest(outer, _jammed(Nest(nest.indices, [*nest.body[:-1], inner], nest.origin, True), k), row.origin)]


def _own_rows(nest: Nest, row: Nest) -> list[Index]:
    """The outermost indices of sums over several rows along which each place keeps to itself."""
    totals = written(row)
    touched = {array: [(row, at) for each, at in accesses(row) if each is array] for array in totals}
    if not loaded(nest).isdisjoint(totals):
        return []
    own = [all(own_axis(touched[array], n) is not None for array in totals) for n in range(len(row.indices) - 1)]
    return row.indices[:[*own, False].index(False)]


def _is_long(size: Extent) -> bool:
    assumptions = current().assumptions
    return assumptions.certainly_at_least(size, WORTH_A_PASS) or assumptions.choose(size, WORTH_A_PASS)


def _jammed(nest: Nest, k: int) -> Block:
    outer, index, rest = nest.indices[:k], nest.indices[k], nest.indices[k + 1:]
    together = index.size if isinstance(index.size, int) and index.size <= MOST_TOGETHER else TOGETHER
    passes: Extent = index.size // together
    body: Block = _passes(nest, index, rest, passes, together)
    left = index.size - passes * together
    if left != 0:
        body.append(_left(nest, index, rest, passes * together, left))
    return [Nest(outer, body, nest.origin, True)] if outer else body


def _passes(nest: Nest, index: Index, rest: list[Index], passes: Extent, together: int) -> Block:
    number = Index(Var(INT, index.var.name), passes)
    current().assumptions.within(number.var, 0, passes - 1)
    first: Extent = 0 if passes == 1 else Size.of(Unknown(number.var)) * together
    row, common = nest.body[-1], NestCopier()
    indices = common.stmt(Nest([*rest, *row.indices], [])).indices
    rest, along_row = indices[:len(rest)], indices[len(rest):]
    copiers = [NestCopier({**common.mapping, index.var: atom_of_size(first + n)}) for n in range(together)]
    moving = _moving([stmt for stmt in (*nest.body[:-1], *row.body) if isinstance(stmt, Let)], {index.var})
    before = list(_copies(nest.body[:-1], common, copiers, moving))
    along = list(_copies(row.body, common, copiers, moving))
    body = [*before, Nest(along_row, along, row.origin)]
    around = [*([] if passes == 1 else [number]), *rest]
    return [Nest(around, body, nest.origin, True)] if around else body


# -- rows of sums that move by one place with each item ---------------------------------------------


def _moves_along(nest: Nest) -> bool:
    """Whether an item is added to a row one place further than the one before, as in ``y[k:k + n] += h[k] * x``."""
    if len(nest.indices) != 1 or not _goes_along(nest) or len(nest.body[-1].indices) != 1:
        return False
    (index,), (place,), *_ = nest.indices, nest.body[-1].indices
    if index.var in atom_vars(place.size) or not loaded(nest).isdisjoint(written(nest.body[-1])):
        return False
    if cost_of(nest.body[-1].body) > CHEAP:                              # four times as much code
        return False
    both = {index.var, place.var}
    shift = Size.of(Unknown(index.var)) + Size.of(Unknown(place.var))
    stores = [stmt for stmt in nest.body[-1].body if isinstance(stmt, Store)]
    return all(both.isdisjoint(atom_vars((*stmt.at[:-1], atom_of_size(size_of_atom(stmt.at[-1]) - shift))))
               for stmt in stores) and _is_long(place.size)


def _jammed_moving(nest: Nest) -> Block:
    """The places to which all items of a pass are added, and before and behind them those of a few."""
    (index,), (place,) = nest.indices, nest.body[-1].indices
    passes, row = index.size // TOGETHER, nest.body[-1]
    number, middle = _index(index.var, passes), _index(place.var, place.size - (TOGETHER - 1))
    first = Size.of(Unknown(number.var)) * TOGETHER
    copiers = [NestCopier({index.var: atom_of_size(first + n)}) for n in range(TOGETHER)]
    before = [copier.stmt(stmt) for copier in copiers for stmt in nest.body[:-1]]
    starts, ends = [], []
    for n, copier in enumerate(copiers):
        starts.append(_part(row, copier, 0, TOGETHER - 1 - n))
        ends.append(_part(row, copier, place.size - n, n))
        copier.mapping[place.var] = atom_of_size(Size.of(Unknown(middle.var)) + (TOGETHER - 1 - n))
    lets = [stmt for stmt in (*nest.body[:-1], *row.body) if isinstance(stmt, Let)]
    along = list(_copies(row.body, NestCopier(), copiers, _moving(lets, {index.var, place.var})))
    body = [*before, *starts[:-1], Nest([middle], along, row.origin), *ends[1:]]
    left = _left(nest, index, [], passes * TOGETHER, index.size - passes * TOGETHER)
    return [Nest([number], body, nest.origin, True), left]


def _index(var: Var, size: Extent) -> Index:
    index = Index(Var(INT, var.name), size)
    current().assumptions.within(index.var, 0, size - 1)
    return index


def _part(row: Nest, copier: NestCopier, first: Extent, count: int) -> Nest:
    """Some places of a row, for one item."""
    own = _index(row.indices[0].var, count)
    place = atom_of_size(Size.of(Unknown(own.var)) + first)
    return Nest([own], NestCopier({**copier.mapping, row.indices[0].var: place}).block(row.body), row.origin)


def _copies(body: Block, common: NestCopier, copiers: list[NestCopier], moving: set[Var]) -> Iterator[Any]:
    """Statements for several items: once what is the same for all of them, sums over all of them."""
    for stmt in body:
        if isinstance(stmt, Store):
            yield from _sum(stmt, copiers[0].args(stmt.at), [copier.atom(stmt.value) for copier in copiers])
        elif moving.isdisjoint(stmt.targets):
            yield common.stmt(stmt)
            for copier in copiers:
                copier.mapping.update(common.mapping)
        else:
            for copier in copiers:
                yield copier.stmt(stmt)


def _sum(store: Store, at: tuple[Atom, ...], items: list[Atom]) -> Iterator[Any]:
    type = type_of(store.array).with_sizes(())                           # type: ignore[union-attr]
    total = Var(type)
    yield Let((total,), Load, (store.array, *at), {}, store.origin)
    for item in items:
        total, before = Var(type), total
        yield Let((total,), Add, (before, item), {}, store.origin)
    yield Store(store.array, at, total, False, store.origin)


def _left(nest: Nest, index: Index, rest: list[Index], first: Extent, left: Extent) -> Nest:
    own = Index(Var(INT, index.var.name), left)
    current().assumptions.within(own.var, 0, left - 1)
    place = atom_of_size(Size.of(Unknown(own.var)) + first)
    copy = NestCopier({index.var: place}).stmt(Nest(rest, nest.body, nest.origin, True))
    return Nest([own, *copy.indices], copy.body, nest.origin, True)
