"""Lanes that do one loop after the other, as a nest for each of them: then threads share the places of both axes.

    nest i                                nest i, j
        loop j: store c, i, j, …     →        store c, i, j, …
        nest j: store y, j, i, c[i, j]    nest i, j
                                              store y, j, i, c[i, j]

So are lanes that go through rows, if they compute a few numbers before; and what each lane does at places where it goes
through rows, as there are more of these places than lanes:

    nest i                                nest i
        nest k: store c, i, k, …              nest k: store c, i, k, …
        nest j                      →     nest i, j
            nest k: store y, i, j, k, …       nest k: store y, i, j, k, …

The lanes have to be independent as they are: each does its loops in order, but no lane waits for another one. Numbers
that lanes compute before their loops are computed in each of the nests.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.grammar import Atom, Effect, Let, Loop, Var
from ...core.walk import Copier, atom_vars
from ..nest.clean import Renaming
from ..nest.lifetimes import mentioned, written
from ..nest.nest_walk import defined, inner_blocks, is_load, loaded, statements
from ..nest.nests import Allocate, Block, Fold, Nest, Store
from ..threads.threads import own_memory, used_by
from .placing import is_launched, on_device
from .private import is_local, known_before, with_rows
from .shares import MOST_AXES, added_to, as_shared, flattened, is_for_blocks, is_long, shared_indices

MOST_REPEATED = 8                      # numbers that are computed again


def nests_apart(body: Block, results: list[Atom]) -> Block:
    """The block with such nests, where the driver knows all sizes."""
    return _Apart(body, results).block(body)


class _Apart:
    """Goes through blocks in order; `around` is what has been made of those around, `uses` says how many statements
    use a variable, and numbers of `device` are no sizes that the driver knows."""

    def __init__(self, body: Block, results: list[Atom]) -> None:
        self.device, self.around = on_device(body), list[Block]()
        self.uses = used_by(body)
        self.uses.update(set(atom_vars(tuple(results))))

    def block(self, block: Block) -> Block:
        self.around.append([])
        for stmt in block:
            stmt = _with_rows_of_lanes(stmt) if isinstance(stmt, Nest) else stmt
            made = self._apart(stmt)
            if made is None and not isinstance(stmt, Nest):
                for inner in inner_blocks(stmt):
                    inner[:] = self.block(inner)
            self.around[-1] += [stmt] if made is None else made
        return self.around.pop()

    def _apart(self, stmt: Any) -> Block | None:
        nest = as_shared(stmt)
        if nest is None or not _is_sized(nest, self.device):
            return None
        rows, parts = _parts(nest)
        if parts is None and isinstance(stmt, Nest):
            own = own_memory(nest, [each for made in self.around for each in made], self.uses)
            more, parts = _with_more_places(nest, own)
            if parts is not None:
                for made in self.around:
                    made[:] = [each for each in made if each not in own]
            rows += more
        if parts is None:
            return [*rows, stmt] if rows else None
        return [*rows, *parts]


def _with_rows_of_lanes(nest: Nest) -> Nest:
    """Lanes that compute a few numbers before they go through rows, or through places that no block of threads goes
    through, as a nest of the rows or places of all lanes, each of which computes the numbers again."""
    *before, inner = nest.body
    indices = [*nest.indices, *getattr(inner, "indices", ())]
    if not isinstance(inner, Nest) or not before or len(before) > MOST_REPEATED or len(indices) > MOST_AXES:
        return nest
    own = {var for stmt in before for var in defined(stmt)} | {index.var for index in nest.indices}
    in_order = (nest.ordered or inner.ordered) and not written(nest) <= added_to(nest)
    if in_order or not all(isinstance(stmt, Let) for stmt in before) or not own.isdisjoint(
            atom_vars(tuple(index.size for index in inner.indices))):
        return nest
    has_rows = any(isinstance(stmt, (Fold, Nest)) for stmt in statements(inner.body))
    read = {array for stmt in before for array in loaded(stmt)}
    is_costly = not all(map(is_load, before))
    if not has_rows and is_costly and is_for_blocks(nest) or not read.isdisjoint(written(inner)):
        return nest
    return Nest(indices, [*before, *inner.body], nest.origin, nest.ordered or inner.ordered)


def _is_sized(nest: Nest, device: set[Var]) -> bool:
    """Whether no size of a nest, or of what it allocates, is a number that only the device knows."""
    within = [nest, *statements(nest.body)]
    sizes = [index.size for stmt in within for index in getattr(stmt, "indices", ())]
    sizes += [size for stmt in within if isinstance(stmt, Allocate) for size in stmt.target.type.sizes]   # type: ignore
    return device.isdisjoint(atom_vars(tuple(sizes)))


def _parts(nest: Nest) -> tuple[Block, Block | None]:
    """Memory of lanes, as rows of what is allocated before, and the nests that do what one does."""
    loops = [stmt for stmt in nest.body if not isinstance(stmt, (Let, Allocate))]
    if not any(isinstance(stmt, Loop) for stmt in loops) or not all(map(as_shared, loops)):
        return [], None
    if shared_indices(nest) != nest.indices:     # a lane may take what another one leaves
        return [], None
    if not is_launched(nest):                    # memory has another name behind a branch or a loop
        return [], None
    if not known_before([stmt for stmt in statements(nest.body) if isinstance(stmt, Allocate)], nest):
        return [], None
    rows = with_rows(nest, (), nest.indices)
    before = [stmt for stmt in nest.body if isinstance(stmt, Let)]
    parts = [_part(nest, before, each) for each in map(as_shared, nest.body) if each is not None]
    is_local = any(isinstance(stmt, Allocate) for stmt in statements(nest.body))
    is_possible = (len(before) <= MOST_REPEATED and not is_local
                   and {array for stmt in before for array in loaded(stmt)}.isdisjoint(written(nest))
                   and all(len(shared_indices(part)) == len(part.indices) <= MOST_AXES for part in parts))
    return rows, [_with_own_numbers(part, before) for part in parts] if is_possible else None


def _with_more_places(nest: Nest, own: list[Allocate]) -> tuple[Block, Block | None]:
    """Memory of lanes, their `own` that is allocated before among it, as rows, and a nest cut where lanes go through
    places, at each of which they go through rows, if it can be."""
    inside = list(statements(nest.body))
    memory = [*own, *(stmt for stmt in inside if isinstance(stmt, Allocate))]
    if nest.ordered or any(isinstance(stmt, Effect) for stmt in inside) or not is_launched(nest):
        return [], None
    if shared_indices(nest, [stmt.target for stmt in memory]) != nest.indices or _cut(nest, own) is None:
        return [], None
    if any(map(is_local, memory)) or not known_before(memory, nest):
        return [], None
    rows = with_rows(nest, own, nest.indices)
    cut = _cut(nest, ())
    if cut is None:                              # rows that lanes fill are parts now, between a number and its use
        return rows, [nest]
    before, parts = cut
    nests = [_with_own_numbers(Nest(nest.indices, [*before, *part], nest.origin), before) for part in parts]
    made: Block = []
    for each in map(flattened, nests):
        more, smaller = _with_more_places(each, [])
        rows += more
        made += [_with_rows_of_lanes(each)] if smaller is None else smaller
    return rows, made


def _cut(nest: Nest, own: Iterable[Allocate]) -> tuple[Block, list[Block]] | None:
    """The numbers that lanes compute first, and the parts of the rest, none of which needs a number of another one;
    None where there is one part. Memory of lanes' `own` is taken for rows."""
    before: Block = []
    parts: list[Block] = [[]]
    found: set[Var] = set()                      # the numbers of parts
    for stmt in nest.body:
        if isinstance(stmt, Let) and found.isdisjoint(mentioned(stmt)):
            before.append(stmt)
        elif _has_more_places(stmt, nest, before, own) and found.isdisjoint(mentioned(stmt)):
            parts += [[stmt], []]
        elif not isinstance(stmt, Allocate):
            parts[-1].append(stmt)
            found.update(defined(stmt))
    parts = [part for part in parts if part]
    again = {array for stmt in before for array in loaded(stmt)}
    is_possible = len(before) <= MOST_REPEATED and again.isdisjoint(written(nest)) and _is_apart(parts)
    return (before, parts) if len(parts) > 1 and is_possible else None


def _has_more_places(stmt: Any, nest: Nest, before: Block, own: Iterable[Allocate]) -> bool:
    """Whether a part of what lanes do is a nest of which threads may share the places, and which goes through rows, or
    is a row beside a few numbers."""
    if not isinstance(stmt, Nest) or stmt.ordered or not (_has_rows(stmt) or _is_row(nest)):
        return False
    part = _part(nest, before, stmt)
    inside = {each.target for each in own} & written(stmt)
    return not inside and len(shared_indices(part)) == len(part.indices) <= MOST_AXES


def _has_rows(nest: Nest) -> bool:
    return any(isinstance(each, (Fold, Nest)) and is_long(each.indices[-1]) for each in statements(nest.body))


def _is_row(nest: Nest) -> bool:
    """Whether lanes of several axes go through one row, and do else nothing but read and write a few numbers."""
    inner = [stmt for stmt in nest.body if isinstance(stmt, Nest)]
    return len(nest.indices) > 1 == len(inner) and not _has_rows(inner[0]) and all(
        isinstance(stmt, (Store, Nest)) or isinstance(stmt, Let) and (is_load(stmt) or _feeds(stmt, nest))
        for stmt in nest.body)


def _feeds(let: Let, nest: Nest) -> bool:
    """Whether a number is only stored."""
    return not any(isinstance(stmt, Nest) and not set(let.targets).isdisjoint(mentioned(stmt)) for stmt in nest.body)


def _is_apart(parts: list[Block]) -> bool:
    """Whether no part needs a number of another one."""
    own = [{var for stmt in part for var in defined(stmt)} for part in parts]
    return all(own[k].isdisjoint(mentioned(stmt)) for k in range(len(parts))
               for other, part in enumerate(parts) if other != k for stmt in part)


def _part(nest: Nest, before: Block, inner: Nest) -> Nest:
    return flattened(Nest([*nest.indices, *inner.indices], [*before, *inner.body], nest.origin,
                          nest.ordered or inner.ordered))


def _with_own_numbers(part: Nest, before: Block) -> Nest:
    """With copies of the numbers that lanes compute before their loops."""
    copier = Copier()
    needed = _needed(before, part.body[len(before):])
    own = [copier.stmt(stmt) for stmt in needed]
    part.body = [*own, *Renaming(copier).block(part.body[len(before):])]
    return part


def _needed(before: Block, block: Block) -> Block:
    """The numbers of which statements are computed."""
    found: Block = []
    for stmt in reversed(before):
        if any(target in mentioned(each) for target in stmt.targets for each in (*block, *found)):
            found.insert(0, stmt)
    return found
