"""Rows of an array that are read when a new version of it has been written there: the new version is written behind
them, or, where it is read before, the rows are kept.

    y = x with a row of zeros               kept = row of x
    z = 2 * row of x + y          →         y = x with a row of zeros       now in the memory of x
                                            z = 2 * kept + y
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...core.grammar import Atom, Let, Loop, Var
from ...core.sizes import Extent
from ...core.types import ArrayType
from ...core.walk import atom_vars, inner_targets
from ..nest.copying import NestCopier
from ..nest.lifetimes import Lifetimes, mentioned, written
from ..nest.nest_walk import defined, inner_blocks, is_load, statements, uses_before
from ..nest.nests import Allocate, Block, Fold, Index, Load, Nest, Store
from ..nest.places import Comparisons, never_meet
from .parts import compute_first


def with_rows_kept(block: Block, results: list[Atom], resizes: bool = True) -> None:
    """Keeps the rows that stand in the way of writing in place; parts of other sizes in each iteration of a loop only
    if memory `resizes`."""
    _in_blocks(block, Lifetimes(block, results), Comparisons(block), (), False, resizes)


def _in_blocks(block: Block, lifetimes: Lifetimes, comparisons: Comparisons, unequal: tuple[Extent, ...],
               in_loop: bool, resizes: bool) -> None:
    for stmt in block:
        if not isinstance(stmt, (Nest, Fold)):
            for inner in inner_blocks(stmt):
                _in_blocks(inner, lifetimes, comparisons, (*unequal, *comparisons.unequal(stmt, inner)),
                           in_loop or isinstance(stmt, Loop), resizes)
    for update in [stmt for stmt in block if isinstance(stmt, Allocate) and isinstance(stmt.source, Var)]:
        if in_loop:
            compute_first(block, update, lifetimes, unequal, resizes)
        _keep(block, update, lifetimes, unequal, in_loop and resizes)


@dataclass(slots=True)
class _Site:
    """A load, the block that it is in, and the indices around it."""

    load: Let
    block: Block
    indices: list[Index]


def _keep(block: Block, update: Allocate, lifetimes: Lifetimes, unequal: tuple[Extent, ...], any_part: bool
          ) -> None:
    """Keeps what is read of the old version of an array behind the first place where the new one is written."""
    source: Any = update.source
    behind = block[block.index(update) + 1:]
    first = next((stmt for stmt in behind if update.target in written(stmt)), None)
    if first is None:
        return
    later = [stmt for stmt in behind[behind.index(first) + 1:] if source in mentioned(stmt)]
    if not later or lifetimes.is_needed_after(later[-1], source):
        return
    if _is_postponed(block, update, later[-1]):
        return
    numbers = _numbers_first(block, first, source)
    sites = _sites([stmt for stmt in later if not any(stmt is each for each in numbers)], source)
    stores = [each.at for stmt in behind for each in statements([stmt])
              if isinstance(each, Store) and each.array is update.target]
    if sites is None:
        return
    sites = [site for site in sites if not all(
        never_meet(site.load.args[1:], at, [index.var for index in site.indices], unequal) for at in stores)]
    new = {var for stmt in behind[behind.index(first):] for each in statements([stmt])
           for var in (*defined(each), *inner_targets(each))}
    if all(_is_known(site, new) and _is_row(site, source, any_part) for site in sites):
        for site in sites:
            block[block.index(first):block.index(first)] = _kept(site, source)


def _numbers_first(block: Block, first: Any, source: Var) -> list[Let]:
    """Moves single elements that are read of the old version before the first statement that writes the new one, as far
    as nothing behind that decides whether they are read, or where; gives those that have moved."""
    moved: list[Let] = []
    new: set[Var] = set()
    for stmt in block[block.index(first):]:
        if is_load(stmt) and stmt.args[0] is source and new.isdisjoint(atom_vars(stmt.args[1:])):
            moved.append(stmt)
            block.remove(stmt)
            block.insert(block.index(first), stmt)
        elif not isinstance(stmt, (Let, Nest, Fold, Store, Allocate)):
            break
        else:
            new.update(defined(stmt))
    return moved


def _is_postponed(block: Block, update: Allocate, last: Any) -> bool:
    """Whether nothing up to the `last` one that reads the old version needs the new one, which is made behind then."""
    start, end = block.index(update), block.index(last) + 1
    span = block[start:end]
    making = [stmt for stmt in span if stmt is update or isinstance(stmt, (Nest, Fold)) and set(written(stmt)) == {
        update.target} and not defined(stmt)]
    others = [stmt for stmt in span if not any(stmt is each for each in making)]
    needed = {var for stmt in making for var in mentioned(stmt)}
    touched = {var for stmt in others for var in (*written(stmt), *_sources(stmt))}
    if last in making or any(update.target in mentioned(stmt) for stmt in others) or not needed.isdisjoint(touched):
        return False
    block[start:end] = [*others, *making]
    return True


def _sources(stmt: Any) -> Iterator[Var]:
    """The arrays in whose memory a statement may make new ones."""
    for each in statements([stmt]):
        if isinstance(each, Allocate):
            yield from atom_vars(each.source)
        yield from (carry.init for carry in getattr(each, "carries", ()) if isinstance(carry.init, Var))


def _sites(later: Block, source: Var) -> list[_Site] | None:
    """Where an array is read, if it is read by loads that always run."""
    found: list[_Site] = []
    for stmt in later:
        if not isinstance(stmt, (Nest, Fold)):
            return None
        found += _loads(stmt, source, [])
        if sum(source in set(uses_before(each)) for each in statements([stmt])) != len(list(_loads(stmt, source, []))):
            return None
    return found


def _loads(stmt: Any, source: Var, around: list[Index]) -> Iterator[_Site]:
    indices = [*around, *stmt.indices]
    for each in stmt.body:
        if is_load(each) and each.args[0] is source:
            yield _Site(each, stmt.body, indices)
        elif isinstance(each, (Nest, Fold)):
            yield from _loads(each, source, indices)


def _is_known(site: _Site, new: set[Var]) -> bool:
    """Whether a load reads at places that are known before; each index moves it, as one that does not may run over
    nothing, where the place is outside of the array."""
    used, moving = set(atom_vars(site.load.args[1:])), {index.var for index in site.indices}
    sizes = set(atom_vars(tuple(index.size for index in site.indices)))
    return (new | moving).isdisjoint(sizes) and new.isdisjoint(used - moving) and moving <= used


def _is_row(site: _Site, source: Var, any_part: bool) -> bool:
    """Whether a load reads fewer elements than there are, or `any_part`: a loop would copy the array in every
    iteration."""
    sizes = source.type.sizes                                            # type: ignore[union-attr]
    read = tuple(index.size for index in site.indices)
    return 0 < len(read) < len(sizes) or any_part and len(read) == len(sizes) and read != sizes


def _kept(site: _Site, source: Var) -> Block:
    """The statements that keep what a load reads, which reads that from then on."""
    moving: list[Index] = site.indices
    dtype = source.type.dtype                                            # type: ignore[union-attr]
    row = Var(ArrayType(dtype, tuple(index.size for index in moving)))
    item = Var(ArrayType(dtype))
    places: tuple[Any, ...] = tuple(index.var for index in moving)
    made: Block = [Let((item,), Load, site.load.args, {}, site.load.origin)]
    made.append(Store(row, places, item, False, site.load.origin))
    load = Let(site.load.targets, Load, (row, *places), {}, site.load.origin)
    site.block[site.block.index(site.load)] = load
    nest = NestCopier().stmt(Nest(moving, made, site.load.origin))
    return [Allocate(row, "get", site.load.origin), nest]
