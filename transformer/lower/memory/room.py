"""Arrays that get longer or shorter in loops: one that begins as another one lies in the memory of that.

    allocate t (n + 1)                           effect room s, n + 1
    nest k < n + 1                       →       store s, n, v                 where s was, if nobody needs it
        store t, k, load s, k if k < n else v

Memory has more rows then than its array; what wants an array as a whole gets one without them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Call, Effect, If, Let, Loop, Var, is_array
from ...core.sizes import Extent
from ...core.types import INT
from ...core.walk import Copier, atom_of_size
from ..nest.aliases import names_given
from ..nest.clean import Renaming, swept
from ..nest.conditions import resolve
from ..nest.copying import NestCopier
from ..nest.lifetimes import written
from ..nest.nest_walk import inner_blocks, is_load, statements, uses_after, uses_before
from ..nest.nests import ROOM, Allocate, Block, Fold, Index, Length, Library, Load, Nest, Store
from ..ordering.peeling import section, without_loop

CALLS = (Let, Library, Call, Effect)    # what takes arrays as arguments


class Rooms:
    """The arrays that begin with rows of others: how many those are. Each is an `Allocate` with the other as its
    source, whatever their sizes are, until it shares the memory of that (`shared`) or is made for itself (`settled`).
    """

    def __init__(self) -> None:
        self.rows: dict[Any, Extent] = {}

    @classmethod
    def made(cls, block: Block, results: list[Atom]) -> Rooms:
        """Finds such arrays in the loops of a block."""
        rooms = cls()
        found = [site for loop in statements(block) if isinstance(loop, Loop) for site in _in_body(loop.body)]
        sites = [site for site in found if not _has_to_show(_with_room({site.memory.target}, block), block)]
        roomy = _with_room({site.memory.target for site in sites}, block)
        for site in sites:
            rooms.rows[site.memory.target] = site.rows
            site.become()
        if sites:
            _show(block, roomy)
            results[:] = [_exactly(atom, block, len(block)) if atom in roomy else atom for atom in results]
        return rooms

    def shared(self, memory: Allocate) -> Block:
        """What is left of making an array that lies where its source did."""
        rows, size = self.rows.get(memory.target), _size(memory.target)
        if rows is None or rows == size:
            return []
        return [Effect(ROOM, (memory.source, atom_of_size(size)), {}, memory.origin)]      # type: ignore[arg-type]

    def settled(self, block: Block) -> Block:
        """The block in which arrays that share no memory are filled with the rows that they begin with."""
        made: Block = []
        for stmt in block:
            for inner in inner_blocks(stmt):
                inner[:] = self.settled(inner)
            made.append(stmt)
            if isinstance(stmt, Allocate) and stmt.target in self.rows and stmt.source is not None:
                made.append(_copied(stmt.source, stmt.target, self.rows[stmt.target], stmt.origin))
                stmt.source = None
        return made


@dataclass(slots=True)
class _Site:
    """Where an array is made that begins with so many rows of a source; `nest` makes it, maybe with others, `rest` only
    its other rows."""

    memory: Allocate
    source: Var
    rows: Extent
    block: Block
    nest: Nest
    rest: Block

    def become(self) -> None:
        """Takes the array out of the nest, which others of its arrays may leave as well."""
        self.memory.source = self.source
        at = next(k for k, stmt in enumerate(self.block) if stmt is self.nest)
        flat = _flat(self.nest)
        self.nest.indices = flat.indices
        self.nest.body = [stmt for stmt in flat.body if getattr(stmt, "array", None) is not self.memory.target]
        self.block[at:at + 1] = [*swept([self.nest], set(written(self.nest))), *self.rest]


def _in_body(block: Block) -> Iterator[_Site]:
    """The sites in a loop, but for those in loops inside of it."""
    for stmt in block:
        if isinstance(stmt, If):
            for inner in inner_blocks(stmt):
                yield from _in_body(inner)
        if isinstance(stmt, Allocate) and stmt.source is None and is_array(stmt.target):
            site = _site(stmt, block)
            if site is not None:
                yield site


def _site(memory: Allocate, block: Block) -> _Site | None:
    target = memory.target
    nest = next((stmt for stmt in block if target in written(stmt)), None)
    if not isinstance(nest, Nest) or not _is_independent(_flat(nest)):
        return None
    mine = _only(_flat(nest), target)
    for source in _sources(mine, target):
        if _is_copy(mine, source, target):
            return _Site(memory, source, _size(target), block, nest, [])
        first = _resolved(section(mine, 0, _size(source)), target)
        if _is_copy(first, source, target):
            rest = _resolved(section(mine, _size(source), _size(target) - _size(source)), target)
            return _Site(memory, source, _size(source), block, nest, without_loop(rest))
    return None


def _flat(nest: Nest) -> Nest:
    """A nest with the indices of the nest inside of it, if there is only one with numbers before it."""
    *numbers, inner = nest.body
    if not isinstance(inner, Nest) or inner.ordered is not nest.ordered or not all(
            isinstance(each, Let) for each in numbers):
        return nest
    return _flat(Nest([*nest.indices, *inner.indices], [*numbers, *inner.body], nest.origin, nest.ordered))


def _is_independent(nest: Nest) -> bool:
    """Whether a nest stores each of its arrays once, at its own places, and reads none of them."""
    stores = [each for each in statements(nest.body) if isinstance(each, Store)]
    arrays = [each.array for each in stores]
    return (not nest.ordered and len({*arrays}) == len(arrays) and all(store in nest.body for store in stores)
            and not any(store.adds or store.at != _place(nest) for store in stores)
            and not any(is_load(each) and each.args[0] in arrays for each in statements(nest.body))
            and all(isinstance(each, (Let, If, Store)) for each in statements(nest.body)))


def _only(nest: Nest, array: Any) -> Nest:
    """The nest that makes one array of those that a nest makes."""
    body = [stmt for stmt in nest.body if not isinstance(stmt, Store) or stmt.array is array]
    alone, = swept([NestCopier().stmt(Nest(nest.indices, body, nest.origin))], {array})
    return alone


def _resolved(nest: Any, target: Any) -> Nest:
    """A nest that makes an array, without the tests of places whose outcome is certain."""
    resolved, = swept(Renaming(Copier()).block(resolve([nest])), {target})
    return resolved


def _sources(nest: Nest, target: Var) -> list[Any]:
    """The arrays of which a nest reads what it may store at the same place: of another size along the first axis."""
    type: Any = target.type
    return [source for source in dict.fromkeys(each.args[0] for each in statements(nest.body)
                                               if is_load(each) and each.args[1:] == _place(nest))
            if source.type.dtype == type.dtype and source.type.sizes[1:] == type.sizes[1:]
            and source.type.sizes[0] != type.sizes[0]]


def _is_copy(nest: Nest, source: Any, target: Var) -> bool:
    if len(nest.body) != 2:
        return False
    load, store = nest.body
    return (is_load(load) and load.args == (source, *_place(nest)) and isinstance(store, Store)
            and store.array is target and store.value is load.target and store.at == _place(nest))


def _place(nest: Nest) -> tuple[Var, ...]:
    return tuple(index.var for index in nest.indices)


def _size(array: Any) -> Extent:
    size: Extent = array.type.sizes[0]
    return size


def _with_room(targets: set[Any], block: Block) -> set[Any]:
    """The arrays whose memory may have more rows than they have: those, and what they are handed on as."""
    given = [pair for stmt in statements(block) for pair in names_given(stmt)]
    given += [(stmt.target, stmt.source) for stmt in statements(block) if isinstance(stmt, Allocate)]
    while new := {name for name, value in given if value in targets} - targets:
        targets = targets | new
    return targets


def _has_to_show(roomy: set[Any], block: Block) -> bool:
    """Whether somebody uses one of these arrays as a whole where there is no way to give it a copy."""
    return any(_is_shown(stmt, roomy) for stmt in statements(block))


def _is_shown(stmt: Any, roomy: set[Any]) -> bool:
    if isinstance(stmt, Let) and stmt.op is Length:          # how many rows a copy would have, it alone says
        return stmt.args[0] in roomy
    if isinstance(stmt, (Nest, Fold)):
        return any(not roomy.isdisjoint(_wholes(each)) for each in statements(stmt.body))
    named = {value for _, value in names_given(stmt)}
    return not isinstance(stmt, CALLS) and not roomy.isdisjoint(_wholes(stmt) - named)


def _wholes(stmt: Any) -> set[Any]:
    """What a statement itself uses, but for arrays of which it reads or writes elements."""
    if isinstance(stmt, (Store, Allocate)) or is_load(stmt):
        return set()
    return {*uses_before(stmt), *uses_after(stmt)}


def _show(block: Block, roomy: set[Any]) -> None:
    """Gives what uses such an array as a whole a copy of its own."""
    for k in reversed(range(len(block))):
        stmt = block[k]
        if isinstance(stmt, (If, Loop)):
            for inner in inner_blocks(stmt):
                _show(inner, roomy)
        if isinstance(stmt, CALLS):
            for array in roomy.intersection(_wholes(stmt)):
                stmt.args = Copier({array: _exactly(array, block, k)}).args(stmt.args)


def _exactly(array: Any, block: Block, at: int) -> Var:
    """A copy of an array, made in a block before the statement at a place, that has no more rows than the array."""
    copy = Var(array.type, array.name)
    block[at:at] = [Allocate(copy, "copy", None), _copied(array, copy, _size(array), None)]
    return copy


def _copied(source: Any, target: Any, rows: Extent, origin: Any) -> Nest:
    """The nest that fills the first rows of an array with those of another one."""
    indices = [Index(Var(INT), size) for size in (rows, *target.type.sizes[1:])]
    place, item = tuple(index.var for index in indices), Var(target.type.with_sizes(()))
    for index in indices:
        current().assumptions.within(index.var, 0, index.size - 1)
    body = [Let((item,), Load, (source, *place), {}, origin), Store(target, place, item, False, origin)]
    return Nest(indices, body, origin)
