"""From writing to a part of an array to asking, of every element, what it becomes:

    du = d with                              nest k < n
    nest i < n - 2                               store du, k, d[k] + p[k - 2] if k >= 2 else d[k]
        du[i + 2] += p[i]

Then nothing is written twice or copied first, and writes to several parts become one nest; the adjoint of
a stencil is a stencil again. It is done where the old array cannot be written in place, as the step
itself reads it elsewhere, or where it is all zeros; and only for parts that are nearly everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...core.builder import current
from ...core.grammar import Loop, Var
from ...core.walk import Copier, atom_of_size, atom_vars, size_of_atom
from ...ops.arithmetic import Add
from ...ops.elements import both, choose, is_below
from ...ops.value import Value
from ..expand.filling import stored
from ..nest.access import loaded, running
from ..nest.copying import NestCopier
from ..nest.lifetimes import Lifetimes, mentioned, written
from ..nest.nest_walk import inner_blocks, is_load, statements
from ..nest.nests import Allocate, Block, Nest, Store, emit
from ..nest.places import same_places
from .substitution import CHEAP, cost_of, filled_arrays, is_plain, makers_of

SIDES = 2                              # on which the old array is read: where there is something new, and elsewhere


def gather(block: Block, results: list[Any]) -> None:
    """Rewrites what pays, in place."""
    _Gathering(Lifetimes(block, results)).block(block, False)


@dataclass(slots=True)
class Update:
    """Memory that begins as another array, and the nest that writes a part of it."""

    memory: Allocate
    nest: Nest

    @property
    def store(self) -> Store:
        return self.nest.body[-1]

    @property
    def source(self) -> Var:
        return self.memory.source                                        # type: ignore[return-value]


class _Gathering:
    """Looks at copies followed by a write to a part of them. Once an array was `gathered` the next write to it pays
    as well, since both are then computed in one nest."""

    def __init__(self, lifetimes: Lifetimes) -> None:
        self.lifetimes = lifetimes
        self.gathered: set[Var] = set()
        self.known: dict[int, list[tuple[Any, dict[Var, Store]]]] = {}   # what statements of blocks fill

    def block(self, block: Block, repeated: bool) -> None:
        for stmt in list(block):
            if isinstance(stmt, Allocate) and stmt.source is not None:
                update = _update_of(stmt, block)
                if update is not None and self._pays(update, block, repeated):
                    self._rewrite(update, block)
            elif not isinstance(stmt, Nest):
                for inner in inner_blocks(stmt):
                    self.block(inner, repeated or isinstance(stmt, Loop))

    def _pays(self, update: Update, block: Block, repeated: bool) -> bool:
        source = update.source
        if source in self.gathered and not self.lifetimes.is_needed_after(update.nest, source):
            return True
        if self._is_followed(update, block):
            return True
        made, stores = next(((stmt, stores) for stmt, stores in self._filled(block) if source in stores), (None, {}))
        if made is not None and SIDES * cost_of(makers_of(made, stores[source])) <= CHEAP:   # it will not be kept
            return True
        if made is None and not repeated:                                # a copy of an argument and a pass over it
            return True
        return self.lifetimes.is_needed_after(update.nest, source) or any(
            not same_places(at, update.store.at) for at in self._read_by(update, source, block))

    def _is_followed(self, update: Update, block: Block) -> bool:
        """Whether another part of the array is written next, so that both together are one pass."""
        array = update.memory.target
        behind = [stmt for stmt in block if isinstance(stmt, Allocate) and stmt.source is array]
        following = _update_of(behind[0], block) if len(behind) == 1 else None
        return following is not None and not self.lifetimes.is_needed_after(following.memory, array) and not any(
            True for _ in self._read_by(following, array, block))

    def _read_by(self, update: Update, array: Var, block: Block) -> Iterator[tuple[Any, ...]]:
        fillers = {filled: (stmt, store) for stmt, stores in self._filled(block) for filled, store in stores.items()}
        yield from _read(array, update.nest.body, fillers, Copier())

    def _filled(self, block: Block) -> list[tuple[Any, dict[Var, Store]]]:
        """The statements that fill arrays, with the stores that do it; found once, while none of them changes."""
        if id(block) not in self.known:
            self.known[id(block)] = [(stmt, stores) for stmt in block if (stores := filled_arrays(stmt))]
        return self.known[id(block)]

    def _rewrite(self, update: Update, block: Block) -> None:
        self.known.clear()
        self.gathered.add(update.memory.target)
        builder = current()
        with builder.at(update.nest.origin):
            nest = gathered(update)
        update.memory.source = None
        block[next(k for k, stmt in enumerate(block) if stmt is update.nest)] = nest
        self.lifetimes.after[id(nest)] = self.lifetimes.after[id(update.nest)]


def _read(source: Var, body: Block, fillers: dict[Var, tuple[Nest, Store]], copier: Copier
          ) -> Iterator[tuple[Any, ...]]:
    """Where an array is read to make an element, also by the nests that make what is read for it."""
    for stmt in statements(body):
        if not is_load(stmt):
            continue
        at = copier.args(stmt.args[1:])
        if stmt.args[0] is source:
            yield at
        elif stmt.args[0] in fillers:
            filler, store = fillers[stmt.args[0]]
            own = {var: k for var, k in zip(store.at, at, strict=True) if isinstance(var, Var)}
            yield from _read(source, makers_of(filler, store), fillers, Copier(own))


def _update_of(memory: Allocate, block: Block) -> Update | None:
    """The nest that writes nearly all of what memory begins with, if that is all that writes to it."""
    array = memory.target
    writers = [stmt for stmt in block if array in written(stmt)]
    if len(writers) != 1 or not isinstance(memory.source, Var):
        return None
    nest = writers[0]
    if not isinstance(nest, Nest) or nest.ordered or not nest.body or not all(map(is_plain, nest.body[:-1])):
        return None
    if not isinstance(nest.body[-1], Store) or not _is_nearly_all(nest, nest.body[-1]):
        return None
    behind = block[next(k for k, stmt in enumerate(block) if stmt is memory) + 1:]
    before = behind[:next(k for k, stmt in enumerate(behind) if stmt is nest)]
    return None if any(array in mentioned(stmt) for stmt in before) else Update(memory, nest)


def _is_nearly_all(nest: Nest, store: Store) -> bool:
    """Whether every axis is written from a fixed distance from its beginning to one from its end."""
    sizes = {index.var: index.size for index in nest.indices}
    seen: set[Var] = set()
    for k, whole in zip(store.at, store.array.type.sizes, strict=True):  # type: ignore[union-attr]
        moving = [var for var in atom_vars((k,)) if var in sizes]
        if len(moving) != 1 or moving[0] in seen:
            return False
        seen.add(moving[0])
        offset = size_of_atom(k) - size_of_atom(moving[0])
        if not isinstance(offset, int) or not isinstance(whole - sizes[moving[0]], int):
            return False
    return len(seen) == len(sizes)


def gathered(update: Update) -> Nest:
    """The nest over all of an array that gives every element its value."""
    store, source = update.store, update.source
    sizes = {index.var: index.size for index in update.nest.indices}
    builder = current()
    with running(store.array.type.sizes) as (indices, at), builder.nested() as body:   # type: ignore[union-attr]
        places = {var: k for k, atom in zip(at, store.at, strict=True) for var in atom_vars((atom,)) if var in sizes}
        own: dict[Var, Any] = {}
        inside: Any = True
        for k, atom in zip(at, store.at, strict=True):
            var = next(var for var in atom_vars((atom,)) if var in places)
            first = size_of_atom(atom) - size_of_atom(var)
            own[var] = size_of_atom(k.atom) - first
            inside = both(inside, both(_is_at_least(k, first), is_below(k, sizes[var] + first)))
        places_of_all = tuple(k.atom for k in at)

        def written_value() -> Any:
            copier = NestCopier({var: atom_of_size(size) for var, size in own.items()})
            builder.block += copier.block(update.nest.body[:-1])
            value = Value(copier.atom(store.value))
            if not store.adds:
                return value
            old = loaded(source, places_of_all)
            return Value(builder.let(Add, (old.atom, value.atom), {}, [value.type.strong()])[0])

        number = choose(inside, written_value, lambda: loaded(source, places_of_all))
        emit(stored(store.array, at, number))
    return Nest(indices, body, update.nest.origin)


def _is_at_least(k: Any, bound: Any) -> Any:
    below = is_below(k, bound)
    return (not below) if isinstance(below, bool) else k >= bound
