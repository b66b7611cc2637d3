"""What passes over rows of totals have in common, which do several items at a time (`jamming`, `moving_rows`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Carry, Let, Loop, Var, type_of
from ...core.sizes import Extent, Size, Unknown
from ...core.types import INT
from ...core.walk import atom_of_size, atom_vars, size_of_atom
from ...ops.arithmetic import Add
from ..nest.copying import NestCopier
from ..nest.nests import Block, Fold, Index, Load, Nest, Store

TOGETHER = 4                           # items that are added in one pass
WORTH_A_PASS = 64                      # numbers of a row
LARGE = 1024                           # rows of a triangle, whose numbers take 4 MB


def repeats(stmt: Any) -> bool:
    """Whether what is in a statement is done for each of several items."""
    return isinstance(stmt, (Loop, Nest, Fold))


def are_worth_their_code(items: Extent, in_loop: bool) -> bool:
    """Whether passes through a triangle are worth the time in which they are compiled: those that are done again and
    again, or whose triangle is too large for caches. Others take a few microseconds less than rows one by one."""
    return in_loop or is_at_least(items, LARGE)


def is_row_of_sums(row: Nest, of_one_array: bool = False) -> bool:
    """Whether a nest adds to elements of arrays, one for each place of its index. Several may be `of_one_array`."""
    lets = [stmt for stmt in row.body if isinstance(stmt, Let)]
    stores = [stmt for stmt in row.body if isinstance(stmt, Store)]
    if len(lets) + len(stores) != len(row.body) or not stores:
        return False
    totals = {stmt.array for stmt in stores}
    index, inside = row.indices[-1].var, targets_of_lets(lets)
    return (of_one_array or len(totals) == len(stores)) and all(
        stmt.adds and index in atom_vars(stmt.at[-1:]) and inside.isdisjoint(atom_vars(stmt.at)) for stmt in stores)


def targets_of_lets(lets: Block) -> set[Var]:
    return {target for stmt in lets for target in stmt.targets}


def moving_with(lets: Block, moving: set[Var]) -> set[Var]:
    """The variables that depend on these."""
    moving = set(moving)
    for stmt in lets:
        if not moving.isdisjoint(atom_vars((*stmt.args, stmt.attrs))):
            moving.update(stmt.targets)
    return moving


def is_long(size: Extent) -> bool:
    return is_at_least(size, WORTH_A_PASS)


def is_at_least(size: Extent, least: int) -> bool:
    """Whether a size is at least so large in the calls that this code is made for."""
    assumptions = current().assumptions
    return assumptions.certainly_at_least(size, least) or assumptions.choose(size, least)


def copies(body: Block, common: NestCopier, copiers: list[NestCopier], moving: set[Var]) -> Iterator[Any]:
    """Statements for several items: once what is the same for all of them, sums over all of them, and sums of each."""
    for stmt in body:
        if not isinstance(stmt, Store):
            yield from once_or_each(stmt, moving.isdisjoint(stmt.targets), common, copiers)
        elif len({tuple(map(size_of_atom, copier.args(stmt.at))) for copier in copiers}) == 1:
            yield from _sum(stmt, copiers[0].args(stmt.at), [copier.atom(stmt.value) for copier in copiers])
        else:
            yield from (copier.stmt(stmt) for copier in copiers)


def once_or_each(stmt: Any, is_same: bool, common: NestCopier, copiers: list[NestCopier]) -> Iterator[Any]:
    """A statement that is the same for several items once, others for each of them."""
    if not is_same:
        yield from (copier.stmt(stmt) for copier in copiers)
        return
    yield common.stmt(stmt)
    for copier in copiers:
        copier.mapping.update(common.mapping)


def folded_at_once(fold: Fold, indices: list[Index], common: NestCopier, copiers: list[NestCopier],
                   moving: set[Var]) -> Fold:
    """One fold in place of one for each copier."""
    carries = [Carry(copier.fresh(carry.entry), copier.atom(carry.init), carry.next, carry.out)
               for copier in copiers for carry in fold.carries]
    body = [each for stmt in fold.body
            for each in once_or_each(stmt, moving.isdisjoint(stmt.targets), common, copiers)]
    owners = [copier for copier in copiers for _ in fold.carries]
    for copier, carry in zip(owners, carries, strict=True):
        carry.next, carry.out = copier.atom(carry.next), copier.fresh(carry.out)
    return Fold(indices, carries, body, fold.origin)


def index_up_to(size: Extent, like: Var) -> Index:
    """An index of its own, named like another one."""
    index = Index(Var(INT, like.name), size)
    current().assumptions.within(index.var, 0, size - 1)
    return index


def _sum(store: Store, at: tuple[Atom, ...], items: list[Atom]) -> Iterator[Any]:
    type = type_of(store.array).with_sizes(())                           # type: ignore[union-attr]
    total = Var(type)
    yield Let((total,), Load, (store.array, *at), {}, store.origin)
    for item in items:
        total, before = Var(type), total
        yield Let((total,), Add, (before, item), {}, store.origin)
    yield Store(store.array, at, total, False, store.origin)


def left_over(nest: Nest, index: Index, rest: list[Index], first: Extent, left: Extent) -> Nest:
    own = index_up_to(left, index.var)
    place = atom_of_size(Size.of(Unknown(own.var)) + first)
    copy = NestCopier({index.var: place}).stmt(Nest(rest, nest.body, nest.origin, True))
    return Nest([own, *copy.indices], copy.body, nest.origin, True)
