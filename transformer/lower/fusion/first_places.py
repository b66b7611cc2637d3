"""The place of an extreme: the extreme first, and then the first place where it is.

    fold k: best, place = x[0], 0                       fold k: top = x[0]
        better = x[k] > best                                top = maximum(top, x[k])
        best = x[k] if better else best       →         fold k: place = n
        place = k if better else place                      place = minimum(place, k if x[k] == top else n)

Both are done for many numbers at a time, and the first is for one after another. The numbers are read twice: they lie
in memory, if it costs less to keep them than to compute them again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.grammar import Atom, Carry, Let, Var, type_of
from ...core.sizes import product
from ...core.types import ArrayType
from ...core.walk import atom_of_size, atom_vars
from ...ops.comparison import Equal, Greater, Less, NotEqual
from ...ops.logic import BitwiseAnd, BitwiseOr
from ...ops.selection import Maximum, Minimum, Where
from ..nest.copying import NestCopier
from ..nest.nest_walk import inner_blocks, is_load
from ..nest.nests import Block, Fold, Nest

EXTREMES = {Greater: Maximum, Less: Minimum}
TRUTH = ArrayType(np.dtype(bool))


def first_places(block: Block) -> Block:
    """The block with such folds as two."""
    made: Block = []
    for stmt in block:
        for inner in inner_blocks(stmt):
            inner[:] = first_places(inner)
        made += _Places(stmt).folds() if isinstance(stmt, Fold) and len(stmt.carries) == 2 else [stmt]
    return made


def is_of_place(stmt: Fold) -> bool:
    """Whether a fold finds an extreme of numbers in memory, and the first place where it is."""
    return len(stmt.carries) == 2 and _Places(stmt).chosen() is not None and not any(
        isinstance(each, Nest) for each in stmt.body)


class _Places:
    """A fold that hands on an item and its place."""

    def __init__(self, stmt: Fold) -> None:
        self.stmt = stmt
        self.made: dict[Any, Let] = {each.target: each for each in stmt.body if isinstance(each, Let)}

    def folds(self) -> Block:
        (best, place), chosen = self.stmt.carries, self.chosen()
        if chosen is None or any(isinstance(each, Nest) for each in self.stmt.body):
            return [self.stmt]
        op, item, position = chosen
        return [self._extreme(op, item, best), self._first(item, position, best.out, place)]

    def chosen(self) -> tuple[Any, Var, Atom] | None:
        """The op of the extreme, the item and its place."""
        best, place = self.stmt.carries
        own, other = (self.made.get(carry.next) for carry in (best, place))
        if not (own and other and own.op is other.op is Where and own.args[0] is other.args[0]
                and own.args[2] is best.entry and other.args[2] is place.entry):
            return None
        item = own.args[1]
        op = self._extreme_of(own.args[0], item, best.entry)
        read = self.made.get(item)
        if op is None or read is None or not is_load(read):
            return None
        return op, item, other.args[1]   # type: ignore[return-value]

    def _extreme_of(self, better: Any, item: Any, best: Var) -> Any:
        """The op of which a comparison finds the better one of two numbers; the first nan is the best there is."""
        test = self.made.get(better)
        if test is not None and test.op is BitwiseOr:
            other = self.made.get(test.args[1])
            if other is None or not self._is_first_nan(other, item, best):
                return None
            test = self.made.get(test.args[0])
        return EXTREMES.get(test.op) if test is not None and test.args == (item, best) else None

    def _is_first_nan(self, stmt: Let, item: Any, best: Var) -> bool:
        if stmt.op is not BitwiseAnd:
            return False
        tests = [self.made.get(arg) for arg in stmt.args]
        return [(test.op, test.args) for test in tests if test is not None] == [
            (NotEqual, (item, item)), (Equal, (best, best))]

    def _extreme(self, op: Any, item: Var, best: Carry) -> Fold:
        after = Var(best.entry.type)
        body = [*self._computing(item), Let((after,), op, (best.entry, item), {}, self.stmt.origin)]
        return Fold(self.stmt.indices, [Carry(best.entry, best.init, after, best.out)], body, self.stmt.origin)

    def _first(self, item: Var, position: Atom, extreme: Var, place: Carry) -> Fold:
        copier = NestCopier()
        indices = copier._indices(self.stmt.indices)
        body = copier.block(self._computing(item, position))
        item, position, count = copier.atom(item), copier.atom(position), product(index.size for index in indices)
        found = self._made(body, Equal, (item, extreme), TRUTH)
        if type_of(item).dtype.kind in "fc":   # type: ignore[union-attr]
            found = self._made(body, BitwiseOr, (found, self._made(body, NotEqual, (item, item), TRUTH)), TRUTH)
        type = place.entry.type
        here = self._made(body, Where, (found, position, atom_of_size(count)), type)
        after = self._made(body, Minimum, (place.entry, here), type)
        place.entry.name = place.entry.name or "place"
        return Fold(indices, [Carry(place.entry, atom_of_size(count), after, place.out)], body, self.stmt.origin)

    def _made(self, body: Block, op: Any, args: tuple[Any, ...], type: Any) -> Var:
        body.append(Let((Var(type),), op, args, {}, self.stmt.origin))
        target: Var = body[-1].target
        return target

    def _computing(self, *atoms: Atom) -> Block:
        """The statements of the fold that compute what atoms stand for."""
        needed = set(atom_vars(atoms))
        found: Block = []
        for stmt in reversed(self.stmt.body):
            if not needed.isdisjoint(stmt.targets):
                needed.update(atom_vars(stmt.args))
                found.append(stmt)
        return found[::-1]
