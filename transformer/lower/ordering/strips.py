"""Loops that go over whole arrays again and again, strip by strip: a strip stays in the cache for all iterations.

    for k in range(m):                      nest block < (n + 511) // 512
        nest i < n                              first = 512 * block
            y[i] = y[i] * c[k]                  count = min(512, n - first)
                                        →       for k in range(m):
                                                    nest i < count
                                                        y[first + i] = y[first + i] * c[k]

Every place of such arrays keeps to itself: it reads and writes elements of its own, and what the loop hands on besides
is the same for all, or a sum over all of them that no place needs (`around_strips`). Loops that follow each other, and
nests between them, join if that holds for them together. Memory that only they use is that of one strip then: what a
loop keeps of each iteration for its reverse is in the cache, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Effect, If, Let, Loop, Var, is_array, type_of
from ...core.sizes import Extent, Size, Unknown, least, product
from ...core.types import INT
from ...core.walk import Copier, atom_of_size, atom_vars
from ..nest.clean import Renaming
from ..nest.lifetimes import mentioned, written
from ..nest.nest_walk import accesses, all_uses, defined, inner_blocks, is_empty_memory, is_load, is_numeric, statements
from ..nest.nests import Allocate, Block, Fold, Index, Load, Named, Nest, Store
from .around_strips import Parted, has_effects, has_parts, known_behind, needed_in_strips, outside_of_nests
from .interchange import keep_apart, own_axis
from .raveling import flattened, sizes_of_places, whole_arrays

STRIP = 512                            # places that are done together
WORTH_STRIPS = 1 << 13                 # places in all


def in_strips(block: Block, params: list[Var], results: list[Atom], threads: bool) -> Block:
    """The block with such loops inside of nests over strips; with `threads`, each strip has memory of its own."""
    strips = _Strips(block, params, results, threads)
    made = strips.block(block)
    return _without(strips.moved, made) if strips.moved else made


@dataclass
class _Group:
    """Statements of which every place keeps to itself, with the nests and sums in them, and numbers that rest on these
    sums; and what is done before them. All of these are the `whole`, in order."""

    whole: Block = field(default_factory=list)
    before: Block = field(default_factory=list)
    stmts: Block = field(default_factory=list)
    nests: list[Nest | Fold] = field(default_factory=list)

    def add(self, stmt: Any, nests: list[Nest | Fold], memory: Block, whole: Any) -> None:
        """Adds a statement, for which that `memory` is made before: the `whole` is both."""
        rests = not nests and not known_behind(self.stmts).isdisjoint(mentioned(stmt))
        self.before += memory
        (self.stmts if nests or rests else self.before).append(stmt)
        self.whole.append(whole)
        self.nests += nests

    @property
    def size(self) -> Extent:
        return current().assumptions.normal(self.nests[0].indices[0].size)

    def has_loops(self) -> bool:
        return any(isinstance(stmt, Loop) for stmt in self.stmts)


class _Strips:

    def __init__(self, block: Block, params: list[Var], results: list[Atom], threads: bool) -> None:
        self.whole = whole_arrays(block, params)
        self.uses = Counter(all_uses(block)) + Counter(atom_vars(results))
        self.memory = {stmt.target: stmt for stmt in statements(block) if is_empty_memory(stmt)}
        self.threads = threads
        self.moved: set[Var] = set()                                     # whose memory is made for each strip

    def block(self, block: Block) -> Block:
        made: Block = []
        group = _Group()
        has_loops = any(isinstance(stmt, Loop) and self._nests(stmt) for stmt in block)
        for whole in self._by_rows(block) if has_loops else block:
            stmt, memory = self._copied(whole) if has_loops else (whole, [])
            nests = self._nests(stmt)
            if nests and not self._fit(_Group(), stmt, nests):
                stmt, memory, nests = whole, [], []
            if not (self._fit(group, stmt, nests) if nests else _goes_along(stmt, group)):
                made += self._flushed(group)
                group = _Group()
            group.add(stmt, nests, memory, whole)
        return [*made, *self._flushed(group)]

    def _flushed(self, group: _Group) -> Block:
        are_strips = group.has_loops() and self._pays(group) and _is_long(group.nests[0])
        for stmt in group.before if are_strips else group.whole:
            for inner in inner_blocks(stmt):
                inner[:] = self.block(inner)
        return [*group.before, *self._by_strips(group)] if are_strips else group.whole

    def _pays(self, group: _Group) -> bool:
        """Whether strips save more than they cost: a strip of what each iteration fetches from memory of its own is too
        short for processors to fetch the next one ahead, unless it is a column, whose neighbours are fetched as well.
        Threads that share strips are called once for all of them."""
        own, fetched, is_kept = self._own(group), False, False
        for loop in (stmt for stmt in group.stmts if isinstance(stmt, Loop)):
            positions = {each.position for each in statements([loop]) if isinstance(each, Loop)}
            for nest in (each for each in statements([loop]) if isinstance(each, (Nest, Fold))):
                moving = {array for array, at in accesses(nest) if not positions.isdisjoint(atom_vars(at))}
                moving -= {array for array, at in accesses(nest) if _is_column(at, positions, nest)}
                fetched, is_kept = fetched or not moving <= own.keys(), is_kept or not moving.isdisjoint(own)
        return is_kept or not fetched or self.threads

    def _fit(self, group: _Group, stmt: Any, nests: list[Nest | Fold]) -> bool:
        """Whether every place of the nests of a group and these keeps to itself."""
        together, all_nests, normal = [*group.stmts, stmt], [*group.nests, *nests], current().assumptions.normal
        sizes = {normal(nest.indices[0].size) for nest in all_nests}
        inside = {var for each in statements([stmt]) for var in _defined(each)}
        changed = {array for each in together for array in written(each)}
        return (len(sizes) == 1 and inside.isdisjoint(atom_vars(tuple(sizes))) and keep_apart(all_nests)
                and changed.isdisjoint(_read_for_all(together))
                and known_behind(together).isdisjoint(needed_in_strips(together)))

    def _nests(self, stmt: Any, inside: bool = False) -> list[Nest | Fold]:
        """The nests that a statement consists of, and sums over places, with what is the same for all places; `inside`
        of another loop, what a loop adds up is not for others."""
        match stmt:
            case Nest():
                return [stmt] if is_numeric(stmt) and not stmt.ordered and len(stmt.indices) == 1 else []
            case Fold():
                return [stmt] if not inside and has_parts(stmt) else []
            case Loop():
                return self._nests_of_loop(stmt, inside)
            case If() if not stmt.merges:
                stmt.then[:], stmt.orelse[:] = self._by_rows(stmt.then), self._by_rows(stmt.orelse)
                return self._together([*stmt.then, *stmt.orelse])
        return []

    def _together(self, block: Block, inside: bool = True) -> list[Nest | Fold]:
        """The nests that all statements of a block consist of, but for what is the same for all places; none, if one
        of them does something else."""
        found = [self._nests(each, inside or isinstance(each, Loop)) for each in block if not self._is_for_all(each)]
        return [nest for nests in found for nest in nests] if all(found) else []

    def _nests_of_loop(self, loop: Loop, inside: bool) -> list[Nest | Fold]:
        if loop.reads or loop.records or loop.count is not None or not all(isinstance(each, Let) for each in loop.test):
            return []
        numbers = [carry for carry in loop.carries if not _is_in_place(carry)]
        if any(is_array(carry.out) or inside and self.uses[carry.out] for carry in numbers):
            return []
        loop.body[:] = self._by_rows(loop.body)
        together = self._together(loop.body, inside)
        return together if loop.trips is not None or not any(isinstance(each, Fold) for each in together) else []

    def _is_for_all(self, stmt: Any) -> bool:
        """Whether a statement of a loop is the same for all places: numbers, tests of them, memory that it makes, which
        threads have before."""
        if isinstance(stmt, If):
            inner = all(map(self._is_for_all, (*stmt.then, *stmt.orelse)))
            return inner and not any(is_array(merge.target) for merge in stmt.merges) and not (
                stmt.merges and has_effects(stmt))
        return isinstance(stmt, Let) or is_empty_memory(stmt) and not self.threads or (
            isinstance(stmt, Effect) and stmt.kind in ("assert", "raise"))

    def _copied(self, stmt: Any) -> tuple[Any, Block]:
        """A statement, and memory to make before it: what begins as another array is a nest that copies."""
        if not isinstance(stmt, Allocate) or stmt.source is None:
            return stmt, []
        target, type = stmt.target, type_of(stmt.target)
        indices = [Index(Var(INT), size) for size in type.sizes]         # type: ignore[union-attr]
        for index in indices:
            current().assumptions.within(index.var, 0, index.size - 1)
        at, item = tuple(index.var for index in indices), Var(type.with_sizes(()))       # type: ignore[union-attr]
        body: Block = [Let((item,), Load, (stmt.source, *at)), Store(target, at, item)]
        self.memory[target] = Allocate(target, stmt.maker, stmt.origin)
        self.uses[target] += 1
        return self._by_rows([Nest(indices, body, stmt.origin)])[0], [self.memory[target]]

    def _by_rows(self, block: Block) -> Block:
        """The block with one index for nests that go through many elements of arrays."""
        return [flattened(stmt, self.whole) if _is_elementwise(stmt) and _is_long(stmt) else stmt for stmt in block]

    def _by_strips(self, group: _Group) -> Block:
        block, size = Var(INT, "block"), group.size
        blocks = (size + (STRIP - 1)) // STRIP
        current().assumptions.within(block, 0, blocks - 1)
        first, count, named = part_of(block, size, STRIP, self.threads)
        own = self._own(group)
        for nest in group.nests:
            _shorten(nest, first, count, own)
        for array, at in (each for nest in group.nests for each in accesses(nest) if each[0] in own):
            sizes, axis = sizes_of_places(array, at), own[array]
            array.type = array.type.with_sizes((*sizes[:axis], STRIP, *sizes[axis + 1:]))
        self.moved.update(own if self.threads else ())
        memory = [self.memory[array] for array in own] if self.threads else []
        parted = Parted(block, blocks, self.uses)
        for stmt in group.stmts:
            parted.add(stmt)
        strips = Nest([Index(block, blocks)], [*memory, *named, *parted.inside], group.stmts[0].origin)
        return [*parted.before, strips, *parted.behind]

    def _own(self, group: _Group) -> dict[Var, int]:
        """The arrays that nobody else uses, and the axes along which each place keeps to itself."""
        inside = Counter(all_uses(group.stmts))
        arrays = [array for array in self.memory if inside[array] and inside[array] == self.uses[array]]
        touched = {array: [(nest, at) for nest in group.nests for each, at in accesses(nest) if each is array]
                   for array in arrays}
        axes = {array: own_axis(touched[array], 0) for array in arrays if touched[array]}
        return {array: axis for array, axis in axes.items() if axis is not None}


def part_of(block: Var, size: Extent, length: int, threads: bool) -> tuple[Extent, Extent, Block]:
    """The first place of one of the parts of this length, how many it has, and what names both; threads look at places
    as they are."""
    first = Size.of(Unknown(block)) * length
    if threads:
        return first, least(length, size - first), []
    names = Var(INT, "first"), Var(INT, "count")
    start, count = (Size.of(Unknown(name)) for name in names)
    current().assumptions.within(names[0], 0, size - 1)
    current().assumptions.within(names[1], 1, length)
    values = first, least(length, size - start)
    named: Block = [Let((name,), Named, (atom_of_size(size),)) for name, size in zip(names, values, strict=True)]
    return start, count, named


def _shorten(nest: Nest | Fold, first: Extent, count: Extent, own: dict[Var, int]) -> None:
    """Has a nest go over one strip, from its first place; `own` are arrays that have elements for it alone."""
    old, here = nest.indices[0].var, Var(INT, nest.indices[0].var.name)
    current().assumptions.within(here, 0, count - 1)
    nest.indices = [Index(here, count)]
    renaming = _InStrip({old: atom_of_size(first + Size.of(Unknown(here)))}, own, here)
    nest.body = renaming.block(nest.body)
    for carry in getattr(nest, "carries", ()):
        carry.next = renaming.copier.atom(carry.next)


class _InStrip(Renaming):
    """Has places count from the beginning of all strips, and those in arrays of one strip from its own."""

    def __init__(self, mapping: dict[Var, Atom], own: dict[Var, int], here: Var) -> None:
        super().__init__(Copier(mapping))
        self.own, self.here = own, here

    def stmt(self, stmt: Any) -> Any:
        made = super().stmt(stmt)
        if isinstance(made, Store) and made.array in self.own:
            made.at = self._at(made.array, made.at)
        elif is_load(made) and made.args[0] in self.own:
            made.args = (made.args[0], *self._at(made.args[0], made.args[1:]))
        return made

    def _at(self, array: Var, at: tuple[Atom, ...]) -> tuple[Atom, ...]:
        axis = self.own[array]
        return (*at[:axis], self.here, *at[axis + 1:])


def _without(moved: set[Var], block: Block) -> Block:
    """The block without memory that is made elsewhere now."""
    made: Block = []
    for stmt in block:
        for inner in inner_blocks(stmt) if not isinstance(stmt, Nest) else ():
            inner[:] = _without(moved, inner)
        if not isinstance(stmt, Allocate) or stmt.target not in moved:
            made.append(stmt)
    return made


def _is_column(at: tuple[Atom, ...], positions: set[Var], nest: Nest | Fold) -> bool:
    """Whether each iteration takes a column of rows along which a nest goes down."""
    return positions.isdisjoint(atom_vars(at[:-1])) and nest.indices[0].var not in atom_vars(at[-1:])


def _is_in_place(carry: Any) -> bool:
    return bool(carry.init is carry.entry is carry.next is carry.out)


def _is_elementwise(stmt: Any) -> bool:
    """Whether a nest over several axes does the same with each element of arrays, or of what they hold of an iteration,
    wherever it is."""
    if not is_numeric(stmt) or stmt.ordered or len(stmt.indices) < 2:
        return False
    here = tuple(index.var for index in stmt.indices)
    rest = (at[:-len(here)] if at[-len(here):] == here else at for _, at in accesses(stmt))
    return set(here).isdisjoint(atom_vars(tuple(rest)))


def _read_for_all(block: Block) -> set[Any]:
    """The arrays of which loops read elements for all places, outside of nests."""
    return {each.args[0] for stmt in block if not isinstance(stmt, Let) for each in outside_of_nests([stmt])
            if is_load(each)}


def _defined(stmt: Any) -> Iterator[Var]:
    yield from defined(stmt)
    if isinstance(stmt, Loop):
        yield stmt.position
        yield from (carry.entry for carry in stmt.carries)


def _goes_along(stmt: Any, group: _Group) -> bool:
    """Whether a statement may be done before a group that it follows, or is a number that rests on its sums, and so
    comes behind the strips."""
    if not isinstance(stmt, (Let, Allocate)):
        return False
    changed = {array for each in group.stmts for array in written(each)}
    if is_empty_memory(stmt):
        return known_behind(group.stmts).isdisjoint(mentioned(stmt))
    return changed.isdisjoint(mentioned(stmt)) and (
        isinstance(stmt, Let) or known_behind(group.stmts).isdisjoint(mentioned(stmt)))


def _is_long(nest: Nest | Fold) -> bool:
    """Whether a nest goes over many places: certainly, or in all calls that this code is made for."""
    assumptions = current().assumptions
    size = assumptions.normal(product(index.size for index in nest.indices))
    return assumptions.certainly_at_least(size, WORTH_STRIPS) or assumptions.choose(size, WORTH_STRIPS)

