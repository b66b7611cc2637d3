"""Memory for one iteration: an array that each iteration writes and reads at its own index alone needs no
axis for it.

    allocate e n, m                         allocate e m
    nest i < n                              nest i < n
        nest j < m: store e, i, j, …   →        nest j < m: store e, j, …
        nest j < m: … load e, i, j              nest j < m: … load e, j
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ...core.grammar import Atom, Const, Let, Loop, Var
from ...core.types import ArrayType
from ...core.walk import atom_vars
from ..nest.nest_walk import inner_blocks, is_load, statements, uses_after, uses_before
from ..nest.nests import Allocate, Block, Fold, Load, Nest, Store


def shrink(block: Block, results: list[Atom], among: set[Var] | None = None) -> None:
    """Takes away the axes that are not needed, in place: of all arrays, or of those `among` some."""
    mapping = {array: made for array, uses in own_memory(block, results).items()
               if (among is None or array in among) and (made := _smaller(array, uses)) is not None}
    if mapping:
        _rewrite(block, mapping)


def own_memory(block: Block, results: list[Atom], in_place: bool = False) -> dict[Var, Uses]:
    """The arrays made here that nothing but loads and stores touches, with their uses; `in_place` counts those that
    loops hand on as they are, too."""
    found = _Accesses(block, in_place)
    found.kept.update(atom_vars(tuple(results)))
    return {array: uses for array, uses in found.uses.items() if array not in found.kept}


def without_carries_in_place(stmt: Any) -> Any:
    """A loop without the arrays that it hands on as they are."""
    if not isinstance(stmt, Loop):
        return stmt
    return replace(stmt, carries=[carry for carry in stmt.carries if not is_in_place(carry)])


def is_in_place(carry: Any) -> bool:
    return carry.init is carry.entry is carry.next is carry.out


@dataclass(slots=True)
class Uses:
    """Where an array is written and read: the places, and the indices around each."""

    places: list[tuple[Atom, ...]] = field(default_factory=list)
    around: list[frozenset[Var]] = field(default_factory=list)


class _Accesses:
    """Loads and stores of arrays, with the indices around them; what is used in another way is `kept` as it is."""

    def __init__(self, block: Block, in_place: bool) -> None:
        self.in_place = in_place
        self.uses: dict[Var, Uses] = {stmt.target: Uses() for stmt in statements(block)
                                      if isinstance(stmt, Allocate) and stmt.source is None}
        self.kept: set[Any] = set()
        self._block(block, frozenset())

    def _block(self, block: Block, around: frozenset[Var]) -> None:
        for stmt in block:
            match stmt:
                case Store():
                    self._access(stmt.array, stmt.at, around)
                    self.kept.update(atom_vars((*stmt.at, stmt.value)))
                case Let() if is_load(stmt):
                    self._access(stmt.args[0], stmt.args[1:], around)
                    self.kept.update(atom_vars(stmt.args[1:]))
                case _:
                    stmt = without_carries_in_place(stmt) if self.in_place else stmt
                    self.kept.update(uses_before(stmt))
            indices = [index.var for index in stmt.indices] if isinstance(stmt, (Nest, Fold)) else []
            for inner in inner_blocks(stmt):
                self._block(inner, around.union(indices))
            self.kept.update(uses_after(stmt))

    def _access(self, array: Any, at: tuple[Atom, ...], around: frozenset[Var]) -> None:
        if array in self.uses:
            self.uses[array].places.append(at)
            self.uses[array].around.append(around)


def _smaller(array: Var, uses: Uses) -> tuple[Var, list[int]] | None:
    """An array without the axes along which every iteration keeps to itself, and the axes that stay."""
    if not uses.places:
        return None
    common = frozenset.intersection(*uses.around)
    stay = [axis for axis in range(len(uses.places[0])) if not _is_own([at[axis] for at in uses.places], common)]
    if len(stay) == len(uses.places[0]):
        return None
    stay = stay or [len(uses.places[0]) - 1]
    type = array.type
    assert isinstance(type, ArrayType)
    sizes = tuple(type.sizes[axis] if len(stay) > 1 or not _is_own([at[axis] for at in uses.places], common) else 1
                  for axis in stay)
    return Var(ArrayType(type.dtype, sizes), array.name), stay


def _is_own(places: list[Atom], common: frozenset[Var]) -> bool:
    """Whether an axis is used at one index of the loops around all uses, or at one fixed place."""
    first = places[0]
    if isinstance(first, Const):
        return all(isinstance(k, Const) and k.value == first.value for k in places)
    return isinstance(first, Var) and first in common and all(k is first for k in places)


def _rewrite(block: Block, mapping: dict[Var, tuple[Var, list[int]]]) -> None:
    for k, stmt in enumerate(block):
        if isinstance(stmt, Allocate) and stmt.target in mapping:
            stmt.target = mapping[stmt.target][0]
        elif isinstance(stmt, Store) and stmt.array in mapping:
            array, stay = mapping[stmt.array]
            block[k] = Store(array, _part(stmt.at, stay, array), stmt.value, stmt.adds, stmt.origin)
        elif is_load(stmt) and stmt.args[0] in mapping:
            array, stay = mapping[stmt.args[0]]
            block[k] = Let(stmt.targets, Load, (array, *_part(stmt.args[1:], stay, array)), {}, stmt.origin)
        for inner in inner_blocks(stmt):
            _rewrite(inner, mapping)


def _part(at: tuple[Atom, ...], stay: list[int], array: Var) -> tuple[Atom, ...]:
    sizes = array.type.sizes                                             # type: ignore[union-attr]
    return tuple(Const(0) if size == 1 else at[axis] for axis, size in zip(stay, sizes, strict=True))
