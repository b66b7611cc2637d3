"""Loops in the order in which memory lies: a recurrence along the rows of arrays, which every row does for itself,
becomes the inner loop, and what goes on with a row joins it.

    for k in range(1, d):                   nest i < n
        nest i < n                              for k in range(1, d):
            y[i, k] = a[i, k] * y[i, k - 1]         y[i, k] = a[i, k] * y[i, k - 1]

The outer loop has independent iterations then. An array that only they read and write is memory for one of them.
Arrays are memory here, not values any more, so that all places count at which what is written is touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Loop, Var
from ...core.sizes import Size, Unknown
from ...core.walk import Copier, atom_of_size, atom_vars, size_of_atom
from ..fusion.shrinking import shrink
from ..nest.clean import Renaming
from ..nest.lifetimes import mentioned
from ..nest.nest_walk import accesses, inner_blocks, is_empty_memory, is_numeric, statements
from ..nest.nests import Block, Index, Nest, Store, split


def interchange(block: Block, results: list[Atom]) -> Block:
    """The block with such loops inside of the nests that they were around."""
    turned: set[Nest] = set()
    made = _interchanged(block, turned)
    if turned:
        shrink(made, results, set(_of_one_nest(made, turned)))
    return made


def _interchanged(block: Block, turned: set[Nest]) -> Block:
    made: Block = []
    for stmt in block:
        for inner in inner_blocks(stmt):
            inner[:] = _interchanged(inner, turned)
        nest = _turned(stmt) if isinstance(stmt, Loop) else None
        if nest is not None:
            turned.add(nest)
        _append(nest or stmt, made, turned)
    return made


def _append(stmt: Any, made: Block, turned: set[Nest]) -> None:
    """Appends a statement, as one with the nests before it if these are done for one row after the other."""
    k = next((k for k in range(len(made) - 1, -1, -1) if not is_empty_memory(made[k])), None)
    pair = [stmt] if k is None else [made[k], stmt]
    if k is not None and not turned.isdisjoint(pair) and _may_join(pair):
        joint = _joint(pair)
        turned.add(joint)
        del made[k]
        _append(joint, made, turned)
    else:
        made.append(stmt)


def _turned(loop: Loop) -> Nest | None:
    """A loop around nests as a nest around the loop, where that is possible and better."""
    if not only_writes(loop):
        return None
    nests: Block = loop.body
    if not nests or not _may_join(nests) or not _is_better(nests, loop.position):
        return None
    if loop.position in atom_vars(tuple(index.size for index in nests[0].indices)):
        return None
    nest = _joint(nests)
    return Nest(nest.indices, [as_nest(loop, nest.body)], loop.origin)


def only_writes(loop: Loop) -> bool:
    """Whether all that a loop does is to write to arrays, so often as is known before it."""
    return loop.trips is not None and loop.cond is None and loop.count is None and not loop.reads and (
        not loop.records) and all(carry.init is carry.entry is carry.next is carry.out for carry in loop.carries)


def as_nest(loop: Loop, inside: Block) -> Nest:
    """Such a loop as a nest, with what is inside."""
    trips: Any = loop.trips
    if loop.down:
        last = size_of_atom(trips) - 1 - Size.of(Unknown(loop.position))
        inside = Renaming(Copier({loop.position: atom_of_size(last)})).block(inside)
    return Nest([Index(loop.position, size_of_atom(trips))], inside, loop.origin, ordered=True)


def _is_better(nests: Block, position: Var) -> bool:
    """Whether the position of the loop runs along the rows of more arrays than the last index does."""
    along = across = 0
    for nest in nests:
        for _, at in accesses(nest):
            row = atom_vars(at[-1:])
            along, across = along + (position in row), across + (nest.indices[-1].var in row)
    return along > across


def _may_join(nests: Block) -> bool:
    """Whether nests may be one, in which every place of their common space keeps to itself."""
    return all(map(is_numeric, nests)) and _is_common_space(nests) and keep_apart(nests)


def _depth(nests: Block) -> int:
    return min(len(nest.indices) for nest in nests)


def _is_common_space(nests: Block) -> bool:
    normal = current().assumptions.normal
    sizes = [[normal(index.size) for index in nest.indices[:_depth(nests)]] for nest in nests]
    return all(each == sizes[0] for each in sizes)


def _joint(nests: Block) -> Nest:
    """One nest that does what several do one after another."""
    first, *others = (split(nest, _depth(nests)) for nest in nests)
    body: Block = list(first.body)
    for other in others:
        mapping: dict[Var, Atom] = {k.var: i.var for i, k in zip(first.indices, other.indices, strict=True)}
        body += Renaming(Copier(mapping)).block(other.body)
    return Nest(first.indices, body, first.origin)


def keep_apart(nests: Block) -> bool:
    """Whether every place of the nests touches a part of its own of whatever is written."""
    touched: dict[Var, list[tuple[Nest, tuple[Atom, ...]]]] = {}
    for nest in nests:
        for array, at in accesses(nest):
            touched.setdefault(array, []).append((nest, at))
    written = {each.array for each in statements(nests) if isinstance(each, Store)}
    return all(own_axis(touched[array], n) is not None for array in written for n in range(_depth(nests)))


def own_axis(touched: list[tuple[Any, tuple[Atom, ...]]], n: int) -> int | None:
    """The axis of an array along which the nests are at their index `n`, and nowhere else, if there is one. Where some
    of them count along several axes at once (`raveling`), all have to."""
    counts = {len(at) for _, at in touched}
    return next((axis for axis in range(*counts) if all(at[axis] is nest.indices[n].var for nest, at in touched)),
                None) if len(counts) == 1 else None


def _of_one_nest(block: Block, turned: set[Nest]) -> Iterator[Var]:
    """The arrays whose memory is made where one such nest, and nothing else, uses it."""
    for stmt in block:
        if is_empty_memory(stmt):
            users = [each for each in block if each is not stmt and stmt.target in mentioned(each)]
            if len(users) == 1 and users[0] in turned:
                yield stmt.target
        for inner in inner_blocks(stmt):
            yield from _of_one_nest(inner, turned)
