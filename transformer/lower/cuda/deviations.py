"""Sums of squared deviations along columns, from what is computed of the same numbers, a mean say: they are read once
for both.

    nest c, j                                       nest c, j
        total = fold x[64*c + i, j] over i              first = x[64*c, j]
        store parts, j, c, total                        total, moved, square = fold over i
    …                                                       shift = x[64*c + i, j] - first
    nest c, j                                               total + x[64*c + i, j], moved + shift, square + shift**2
        mean = load means, j                            store parts, j, c, total
        total = fold (x[64*c + i, j] - mean)**2  →      store spreads, j, c, square - moved * (moved / count)
        store parts2, j, c, total                       store centers, j, c, first - x[0, j] + moved / count
                                                    …
                                                    nest c, j
                                                        away = centers[j, c] - (means[j] - x[0, j])
                                                        total = spreads[j, c] + count * away**2
                                                        store parts2, j, c, total

What numbers of a part deviate from their own mean, and that from another one, add up to what they deviate from that
(Chan, Golub and LeVeque, "Algorithms for computing the sample variance", The American Statistician 37, 1983). All is
measured from numbers of the array, so that it does not matter how far they are from zero: what is subtracted in
`spreads` is at most as many times what is left as a part has numbers. A part in which numbers are infinite, nan, or too
large to be squared is added up as it is written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...core.equations import only_atom
from ...core.grammar import Atom, Carry, Const, If, Let, Merge, Var
from ...core.sizes import Extent, Floor, Size, Unknown, least
from ...core.types import BOOL
from ...core.walk import Copier, atom_of_size, atom_vars
from ...ops.arithmetic import Add, Cast, Divide, Multiply, Subtract
from ...ops.base import Op
from ...ops.comparison import Less
from ..fusion.sums import added
from ..nest.copying import NestCopier
from ..nest.nest_walk import defined, inner_blocks, is_load, statements, uses_before, writes
from ..nest.nests import Allocate, Block, Fold, Load, Nest, Store
from .columns import ROWS

CENTERS, SPREADS = "centers", "spreads"                  # make memory for what parts give
INFINITY = float("inf")


def deviations_at_once(block: Block) -> bool:
    """Has such sums done with those before them; whether there was one."""
    found = any([deviations_at_once(inner) for stmt in block if not isinstance(stmt, (Nest, Fold))
                 for inner in inner_blocks(stmt)])
    while (pair := _next(block)) is not None:
        _put(block, *pair)
        found = True
    return found


def _next(block: Block) -> tuple[Squares, int] | None:
    """Sums of squares in a block, and where the nest before them is."""
    for nest in block:
        for sums in _squares(nest) if isinstance(nest, Nest) else ():
            place = _earlier(sums, block)
            if place is not None:
                return sums, place
    return None


def _put(block: Block, sums: Squares, place: int) -> None:
    """Puts what parts are by themselves behind the nest at a place, and the sums where they were."""
    memory, statistics, parts = sums.at_once()
    at = block.index(sums.nest)
    block[at:at + 1] = [*_without(sums), parts]
    block[place + 1:place + 1] = [*memory, statistics]


@dataclass
class Squares:
    """A nest of parts: at each place `fold` adds up the squares of what `item` deviates from `mean`, which is the same
    for all items, and `store` keeps it. `before` and the fold compute them. Other sums in the nest use
    what is `beside`."""

    nest: Nest
    before: list[Let]
    fold: Fold
    store: Store
    item: Var
    mean: Atom
    beside: set[Var] = field(default_factory=set)

    def makers(self, atom: Atom) -> list[Any]:
        """The statements that a number needs, in their order."""
        return _makers([*self.before, *self.fold.body], atom)

    def at_once(self) -> tuple[list[Allocate], Nest, Nest]:
        """Memory, the nest of what parts are by themselves, and the nest of the sums."""
        kind = self.store.array.type
        centers, spreads = Var(kind, CENTERS), Var(kind, SPREADS)
        memory = [Allocate(centers, CENTERS, self.nest.origin), Allocate(spreads, SPREADS, self.nest.origin)]
        return memory, self._statistics(centers, spreads), self._sums(centers, spreads)

    def _statistics(self, centers: Var, spreads: Var) -> Nest:
        steps = Steps(self.item.type, self.nest.origin)
        first, origin = steps.copied(self, self._at_first()), steps.copied(self, self._at_origin())
        moved, square = self._folded(first, steps)
        mean = steps.made(Divide, moved, steps.count(self.fold))
        center = steps.made(Add, steps.made(Subtract, first, origin), mean)
        spread = steps.made(Subtract, square, steps.made(Multiply, moved, mean))
        stores = [Store(array, self.store.at, value, False, self.nest.origin)
                  for array, value in ((centers, center), (spreads, spread))]
        return _alone(Nest(self.nest.indices, [*steps.block, *stores], self.nest.origin))

    def _folded(self, first: Var, steps: Steps) -> list[Var]:
        """The sums of what items of a part deviate from its first one, and of the squares of that."""
        inner = Steps(self.item.type, self.nest.origin)
        shift = inner.made(Subtract, inner.copied(self, {}), first)
        carries = [inner.sum(value) for value in (shift, inner.made(Multiply, shift, shift))]
        steps.block.append(Fold(self.fold.indices, carries, inner.block, self.fold.origin))
        return [carry.out for carry in carries]

    def _sums(self, centers: Var, spreads: Var) -> Nest:
        steps = Steps(self.item.type, self.nest.origin)
        copier = NestCopier()
        steps.block += copier.block(self.makers(self.mean))
        origin = steps.copied(self, self._at_origin())
        center, spread = (steps.made(Load, array, *self.store.at) for array in (centers, spreads))
        away = steps.made(Subtract, center, steps.made(Subtract, copier.atom(self.mean), origin))
        whole = steps.made(Multiply, steps.count(self.fold), steps.made(Multiply, away, away))
        total = steps.made(Add, spread, whole)
        is_finite = Var(BOOL)
        steps.emit(Let((is_finite,), Less, (total, steps.number(INFINITY)), {}, self.nest.origin))
        kept, as_written = Var(self.item.type), list[Any]([*self.before, self.fold])
        steps.emit(If(is_finite, [], as_written, [Merge(kept, total, self.fold.carries[0].out)],
                      self.nest.origin))
        steps.emit(Store(self.store.array, self.store.at, kept, False, self.store.origin))
        return _alone(Nest(self.nest.indices, steps.block, self.nest.origin))

    def _at_first(self) -> dict[Var, Atom]:
        """Where the first item of a part is."""
        return {self.fold.indices[0].var: Const(0)}

    def _at_origin(self) -> dict[Var, Atom]:
        """Where that of the first part is."""
        return {**self._at_first(), self.nest.indices[0].var: Const(0)}


class Steps:
    """Statements about numbers of a type, as they are made."""

    def __init__(self, kind: Any, origin: Any) -> None:
        self.kind, self.origin = kind, origin
        self.block: Block = []

    def emit(self, stmt: Any) -> None:
        self.block.append(stmt)

    def made(self, op: type[Op], *args: Any) -> Var:
        self.emit(Let((Var(self.kind),), op, args, {}, self.origin))
        return self.block[-1].target

    def number(self, value: float) -> Const:
        return Const(self.kind.dtype.type(value), self.kind)

    def copied(self, squares: Squares, places: dict[Var, Atom]) -> Any:
        """The item at other places."""
        copier = NestCopier(dict(places))
        self.block += copier.block(squares.makers(squares.item))
        return copier.atom(squares.item)

    def count(self, fold: Fold) -> Var:
        """How many items a fold goes through."""
        size = atom_of_size(fold.indices[0].size)
        self.emit(Let((Var(self.kind),), Cast, (size,), {"dtype": self.kind.dtype}, self.origin))
        return self.block[-1].target

    def sum(self, value: Var) -> Carry:
        """What a fold hands on that adds up a number."""
        entry = Var(self.kind)
        return Carry(entry, self.number(0), self.made(Add, entry, value), Var(self.kind))


def _makers(steps: list[Any], *atoms: Atom) -> list[Any]:
    """Those of several statements that numbers need, in their order."""
    needed, made = set(atom_vars(atoms)), list[Any]()
    for stmt in reversed(steps):
        if not needed.isdisjoint(stmt.targets):
            made.append(stmt)
            needed.update(uses_before(stmt))
    return made[::-1]


def _only(fold: Fold, carries: list[Carry]) -> Fold:
    """A fold that hands on some of its numbers."""
    return Fold(fold.indices, carries, _makers(fold.body, *(carry.next for carry in carries)), fold.origin)


def _alone(nest: Nest) -> Nest:
    """A nest with names of its own."""
    copy: Nest = NestCopier().stmt(nest)
    return copy


def _without(sums: Squares) -> Block:
    """What is left of a nest of several sums."""
    left = [stmt for stmt in sums.nest.body if stmt is not sums.store]
    if not any(isinstance(stmt, Store) for stmt in left):
        return []
    fold: Any = next(stmt for stmt in left if isinstance(stmt, Fold))
    kept = _only(fold, [carry for carry in fold.carries if carry.out is not sums.store.value])
    return [_alone(Nest(sums.nest.indices, [kept if stmt is fold else stmt for stmt in left], sums.nest.origin))]


def _squares(nest: Nest) -> list[Squares]:
    """The sums of parts in a nest that are such sums."""
    parts: list[Any] = [[stmt for stmt in nest.body if isinstance(stmt, kind)] for kind in (Let, Fold, Store)]
    before, folds, stores = parts
    if nest.ordered or len(nest.indices) < 2 or len(folds) != 1 or [*before, *folds, *stores] != nest.body:
        return []
    fold: Fold = folds[0]
    if len(fold.indices) != 1 or not _is_part(fold.indices[0].size, nest) or not all(
            isinstance(stmt, Let) for stmt in fold.body):
        return []
    if len({store.value for store in stores}) < len(stores):
        return []
    found = [each for each in (_square(nest, before, fold, store) for store in stores) if each is not None]
    known = {each.store.value for each in found}
    others = _makers([*before, *fold.body], *(carry.next for carry in fold.carries if carry.out not in known))
    for each in found:
        each.beside = {var for stmt in others for var in uses_before(stmt)}
    return found


def _is_part(size: Extent, nest: Nest) -> bool:
    """Whether so many items are few, and one at least: a part of an axis that is cut into such parts."""
    if isinstance(size, int):
        return 0 < size <= ROWS
    return any(size == least(ROWS, rows - Size.of(Unknown(part.var)) * ROWS) for part in nest.indices
               for rows in _cut(part.size))


def _cut(parts: Extent) -> list[Extent]:
    """How long an axis is that is cut into so many parts."""
    atom = only_atom(parts)
    return [atom.numerator - (ROWS - 1)] if isinstance(atom, Floor) and atom.denominator == ROWS else []


def _square(nest: Nest, before: list[Let], fold: Fold, store: Store) -> Squares | None:
    carry = next((carry for carry in fold.carries if carry.out is store.value), None)
    deviation = None if carry is None or store.adds else _squared(carry, fold)
    if carry is None or deviation is None:
        return None
    changing = _changing(fold)
    item, mean = sorted(deviation.args, key=lambda arg: changing.isdisjoint(atom_vars((arg,))))
    types: list[Any] = [item.type, deviation.target.type, store.array.type]                   # type: ignore[union-attr]
    is_one = len({type.dtype for type in types}) == 1 and types[0].dtype.kind == "f"
    if not is_one or item not in changing or not changing.isdisjoint(atom_vars((mean,))):
        return None
    return Squares(nest, before, _only(fold, [carry]), store, item, mean)                     # type: ignore[arg-type]


def _squared(carry: Carry, fold: Fold) -> Let | None:
    """The difference of which a fold adds up the squares."""
    makers = {stmt.target: stmt for stmt in fold.body}
    add = added(carry, fold)
    if add is None or not (isinstance(carry.init, Const) and carry.init.value == 0):
        return None
    square = makers.get(add.args[1])
    if square is None or square.op is not Multiply or square.args[0] is not square.args[1]:
        return None
    difference = makers.get(square.args[0])
    return difference if difference is not None and difference.op is Subtract else None


def _changing(fold: Fold) -> set[Var]:
    """What differs from item to item."""
    found = {fold.indices[0].var, *(carry.entry for carry in fold.carries)}
    for stmt in fold.body:
        if not found.isdisjoint(uses_before(stmt)):
            found.update(stmt.targets)
    return found


def _earlier(sums: Squares, block: Block) -> int | None:
    """Where a nest goes through the same items that has to come first, as the mean rests on it, unless other sums have
    to go through them again."""
    steps, end = sums.makers(sums.item), block.index(sums.nest)
    own = {var for stmt in (sums.nest, sums.fold) for var in (index.var for index in stmt.indices)}
    needed = {var for stmt in steps for var in uses_before(stmt)} - {stmt.target for stmt in steps} - own
    read = {stmt.args[0] for stmt in sums.makers(sums.mean) if is_load(stmt)}
    for place in range(end):
        between = list(statements(block[place + 1:end]))
        made = {var for stmt in between for var in (*defined(stmt), *writes(stmt))}
        may_be_first = made.isdisjoint((*needed, *sums.beside)) and not read.isdisjoint(made)
        if may_be_first and _goes_through(block[place], sums, steps):
            return place
    return None


def _goes_through(nest: Any, sums: Squares, steps: list[Let]) -> bool:
    """Whether a nest of parts reads all that items need."""
    fold = next((stmt for stmt in nest.body if isinstance(stmt, Fold)), None) if isinstance(nest, Nest) else None
    if fold is None or nest.ordered or len(fold.indices) != 1 or len(nest.indices) != len(sums.nest.indices):
        return False
    ours, theirs = ([*each.indices, *inner.indices] for each, inner in ((sums.nest, sums.fold), (nest, fold)))
    names = Copier({their.var: our.var for our, their in zip(ours, theirs, strict=True)})
    if any(names.size(their.size) != our.size for our, their in zip(ours, theirs, strict=True)):
        return False
    found = {tuple(map(_place, names.args(stmt.args))) for stmt in statements(nest.body) if is_load(stmt)}
    return found.issuperset(tuple(map(_place, stmt.args)) for stmt in steps if is_load(stmt))


def _place(atom: Any) -> Extent | Atom:
    return atom.value if isinstance(atom, Const) else atom
