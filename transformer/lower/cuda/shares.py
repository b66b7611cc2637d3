"""Who does what in a kernel: which places of a nest threads may share, and what a block of threads does together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.grammar import If, Let, Loop, Var
from ...core.sizes import Size, Unknown
from ...core.walk import atom_of_size, atom_vars, size_of_atom
from ..nest.combinations import combinations
from ..nest.dependence import as_nest
from ..nest.nest_walk import inner_blocks, is_load, loaded, statements
from ..nest.nests import Allocate, Block, Fold, Index, Nest, Store, split
from ..threads.threads import is_independent
from .telling import may_fail

ADDED_AT_ONCE = {np.dtype(name) for name in ("f4", "f8", "i4", "i8", "u4", "u8")}
MOST_AXES = 3                          # of a grid
OF_A_BLOCK = 4096                      # numbers of a long sum that a block of threads adds up
ROWS_OF_A_BLOCK = 4                    # the same where it goes along rows
INSIDE = 16                            # accesses for which one in a loop counts
ROW = 32                               # places in a row for which a block of threads is too many


def flattened(nest: Nest) -> Nest:
    """The nest with the indices of one that is all there is in it."""
    while len(nest.body) == 1 and isinstance(nest.body[0], Nest) and nest.ordered == nest.body[0].ordered:
        inner = nest.body[0]
        nest = Nest([*nest.indices, *inner.indices], inner.body, nest.origin, nest.ordered)
    return nest


def added_to(nest: Nest) -> set[Var]:
    """The arrays to which a nest only adds: threads may do so at once, one number after the other."""
    stores = [each for each in statements(nest.body) if isinstance(each, Store)]
    added = {each.array for each in stores if each.adds and each.array.type.dtype in ADDED_AT_ONCE}   # type: ignore[union-attr]
    return added - {each.array for each in stores if not each.adds} - loaded(nest)


def is_scattered(nest: Nest) -> bool:
    """Whether it adds to elements that numbers decide upon, which few others add to; what is the same element for all
    places of an index is better added up by one thread."""
    computed = {var for stmt in statements(nest.body) if isinstance(stmt, Let) for var in stmt.targets}
    return any(isinstance(each, Store) and each.adds and not computed.isdisjoint(atom_vars(each.at))
               for each in statements(nest.body))


def shared_indices(nest: Nest, own: Iterable[Var] = ()) -> list[Index]:
    """The innermost of the free indices, as many as a grid has axes."""
    return free_indices(nest, own)[-MOST_AXES:]


def free_indices(nest: Nest, own: Iterable[Var] = ()) -> list[Index]:
    """The indices over which threads may share a nest, the outermost first: those of a size that is known before. The
    arrays in its `own` memory each iteration has for itself, or may write at the same places as others."""
    inside = {index.var for index in nest.indices}
    private = {*own, *(stmt.target for stmt in statements(nest.body) if isinstance(stmt, Allocate))}
    return [index for index in nest.indices if inside.isdisjoint(atom_vars((index.size,)))
            and (nest.apart or is_independent(nest, index, private, may_fail=True))]


def by_axes(indices: list[Index]) -> list[list[Index]]:
    """The indices of each axis of a grid, the innermost first: those that are more than it has axes share the last."""
    inner = [[index] for index in indices[:-MOST_AXES:-1]]
    outer = indices[:1 - MOST_AXES]
    return [*inner, outer] if outer else inner


def along_memory(indices: list[Index], nest: Nest) -> list[Index]:
    """The indices with the one last along which most accesses are to neighbouring elements; of several the one of
    writes, as what is read across can be brought in tiles."""
    order = sorted(indices, key=lambda index: (_along(nest.body, index), any(
        _is_step(stmt.at[-1], index) for stmt in nest.body if isinstance(stmt, Store))))
    return indices if not order or not _along(nest.body, order[-1]) else [
        *(index for index in indices if index is not order[-1]), order[-1]]


def _along(block: Block, index: Index) -> int:
    """How many accesses are to neighbouring elements for an index; those in loops count as many."""
    own = [each.args[1:] for each in block if is_load(each)] + [each.at for each in block if isinstance(each, Store)]
    inner = sum(_along(each, index) for stmt in block for each in inner_blocks(stmt))
    return sum(_is_step(at[-1], index) for at in own if at) + INSIDE * inner


def is_for_blocks(nest: Nest) -> bool:
    """Whether an iteration goes along rows of memory, so that a block of threads does it better than one."""
    return is_along_rows(nest) and is_together(nest.body) and not any(map(_is_repeated, statements(nest.body)))


def _is_repeated(stmt: Any) -> bool:
    """Whether all threads of a block would do the same for long, or wait for the one that does it: a recurrence along a
    row, say."""
    if isinstance(stmt, Loop):
        return isinstance(stmt.trips, Size) and not has_shares([stmt])
    return isinstance(stmt, Fold) and is_long(stmt.indices[-1]) and not is_combined(stmt) and not is_along_rows(stmt)


def is_along_rows(stmt: Fold | Nest) -> bool:
    """Whether each iteration goes along a row of memory, and neighbouring ones are not neighbours there."""
    inner = [each for each in statements(stmt.body) if isinstance(each, (Fold, Nest))]
    return any(is_long(each.indices[-1]) and _axes_along(each.body, stmt.indices[-1])
               < max(1, _axes_along(each.body, each.indices[-1])) for each in inner)


def is_long(index: Index) -> bool:
    return not isinstance(index.size, int) or index.size > ROW


def _axes_along(block: Block, index: Index) -> int:
    """How many axes the largest array has of which the elements lie side by side for an index."""
    places = [each.args[1:] for each in statements(block) if is_load(each)]
    places += [each.at for each in statements(block) if isinstance(each, Store)]
    return max((len(at) for at in places if at and _is_step(at[-1], index)), default=0)


def _is_step(place: Any, index: Index) -> bool:
    size = size_of_atom(place)
    return isinstance(size, Size) and abs(size.terms.get((Unknown(index.var),), 0)) == 1


def is_together(block: Block) -> bool:
    """Whether a block of threads can do statements together: all of them compute the same numbers, folds are
    shared and combined, places of nests are shared."""
    return all(map(_is_together, block))


def has_shares(block: Block) -> bool:
    """Whether there is something of which each thread of a block can do a part; else one thread is enough, which waits
    for nobody."""
    return any(isinstance(stmt, (Fold, Nest)) or isinstance(stmt, Loop) and shared_loop(stmt) is not None
               for stmt in statements(block))


def _is_together(stmt: Any) -> bool:
    """A thread that finds an error ends, and others would wait for it: so there is none to be found."""
    if may_fail([stmt]):
        return False
    match stmt:
        case Let() | Store():
            return True
        case Fold():
            if not any(isinstance(each, Store) for each in statements(stmt.body)):
                return True
            return is_together(stmt.body) if is_along_rows(stmt) else (
                is_combined(stmt) and is_independent(stmt, stmt.indices[-1], set()))
        case Nest():
            return not stmt.ordered and bool(shared_indices(flattened(stmt)))
        case If():
            return all(map(is_together, inner_blocks(stmt)))
        case Loop():
            return shared_loop(stmt) is not None or not (stmt.reads or stmt.records) and all(
                map(is_together, inner_blocks(stmt)))
    return False


def shared_loop(loop: Loop) -> Nest | None:
    """A loop as the nest whose places the threads of a block share, if they can."""
    nest = as_nest(loop)
    if nest is None or any(isinstance(stmt, Allocate) for stmt in statements(nest.body)):
        return None
    return nest if shared_indices(flattened(nest)) else None


def is_combined(fold: Fold) -> bool:
    """Whether the carries of a fold are sums, products, extremes or places of extremes of what its iterations give."""
    return combinations(fold) is not None and not any(
        atom_vars((index.size,)) and not {i.var for i in fold.indices}.isdisjoint(atom_vars((index.size,)))
        for index in fold.indices)


def as_loop(fold: Fold) -> Loop:
    """A fold as a loop over its first index."""
    outer: Any = split(fold, 1)
    index = outer.indices[0]
    return Loop(index.var, atom_of_size(index.size), carries=outer.carries, body=outer.body, origin=fold.origin)


def as_shared(stmt: Any) -> Nest | None:
    """A nest, or a loop that does what a nest does."""
    return as_nest(stmt) if isinstance(stmt, Loop) else stmt if isinstance(stmt, Nest) else None
