"""Who does what in a kernel: which places of a nest threads may share, and what a block of threads does together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.grammar import If, Let, Loop, Var
from ...core.walk import atom_of_size, atom_vars
from ..dependence import as_nest
from ..nests import Allocate, Block, Fold, Index, Nest, Store, inner_blocks, is_load, split, statements
from ..threads import combination, is_independent

MOST_AXES = 3                          # of a grid
ROW = 32                               # places in a row for which a block of threads is too many


def flattened(nest: Nest) -> Nest:
    """The nest with the indices of one that is all there is in it."""
    while len(nest.body) == 1 and isinstance(nest.body[0], Nest) and nest.ordered == nest.body[0].ordered:
        inner = nest.body[0]
        nest = Nest([*nest.indices, *inner.indices], inner.body, nest.origin, nest.ordered)
    return nest


def shared_indices(nest: Nest, own: Iterable[Var] = ()) -> list[Index]:
    """The indices over which threads may share a nest, the outermost first: those of a size that is known before. The
    arrays in its `own` memory each iteration has for itself."""
    inside = {index.var for index in nest.indices}
    private = {*own, *(stmt.target for stmt in statements(nest.body) if isinstance(stmt, Allocate))}
    free = [index for index in nest.indices if inside.isdisjoint(atom_vars((index.size,)))
            and is_independent(nest, index, private)]
    return free[-MOST_AXES:]


def is_for_blocks(nest: Nest) -> bool:
    """Whether an iteration goes along rows of memory, so that a block of threads does it better than one."""
    inner = [stmt for stmt in nest.body if isinstance(stmt, (Fold, Nest))]
    return (len(nest.indices) == 1 and any(_goes_along(stmt) for stmt in inner)
            and all(not isinstance(stmt, Allocate) for stmt in statements(nest.body)) and is_together(nest.body))


def _goes_along(stmt: Fold | Nest) -> bool:
    """Whether the last place of what a nest reads or writes is its last index, of which there are many."""
    last = stmt.indices[-1]
    if isinstance(last.size, int) and last.size <= ROW:
        return False
    places = [each.args[-1] for each in statements(stmt.body) if is_load(each)]
    places += [each.at[-1] for each in statements(stmt.body) if isinstance(each, Store)]
    return any(last.var in atom_vars((place,)) for place in places)


def is_together(block: Block) -> bool:
    """Whether a block of threads can do statements together: all of them compute the same numbers, folds are
    shared and combined, places of nests are shared."""
    return all(map(_is_together, block))


def _is_together(stmt: Any) -> bool:
    match stmt:
        case Let() | Store():
            return True
        case Fold():
            return not any(isinstance(each, Store) for each in statements(stmt.body))
        case Nest():
            return not stmt.ordered and bool(shared_indices(flattened(stmt)))
        case If():
            return all(map(is_together, inner_blocks(stmt)))
        case Loop():
            return not (stmt.reads or stmt.records) and all(map(is_together, inner_blocks(stmt)))
    return False


def is_combined(fold: Fold) -> bool:
    """Whether the carries of a fold are sums, maxima or minima of what its iterations give."""
    return all(combination(carry, fold) is not None for carry in fold.carries) and not any(
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
