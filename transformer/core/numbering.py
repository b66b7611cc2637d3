"""Value numbering: which variables certainly hold equal values.

Two variables have one number when the same op made them from atoms of equal numbers. A program that
writes ``y[x > 0] = np.log(x[x > 0])`` computes its mask twice; by their numbers the two masks, and
with them the lengths that they select, are known to be the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .grammar import Atom, Const, If, Let, Loop, Stmt, Var
from .sizes import Extent
from .types import ArrayType
from .walk import atom_vars

# Their results differ from call to call.
ARBITRARY = frozenset({"empty", "empty_like"})


class Numbering:
    """The definitions of variables, and the numbers found for them so far."""

    def __init__(self) -> None:
        self.definitions: dict[Var, Let] = {}
        self.met: dict[Var, tuple[Atom, ...]] = {}      # what branches or iterations leave: any of these
        self.sizes: dict[Var, Extent] = {}              # integers as sizes, for ops.integers
        self.distinct: set[Var] = set()                 # arrays of places that hold none twice, for ops.distinct
        self._numbers: dict[Var, int] = {}
        self._keys: dict[Any, int] = {}
        self._alike: dict[int, list[Var]] = {}

    def define(self, stmt: Let) -> None:
        for target in stmt.targets:
            self.definitions[target] = stmt

    def meet(self, stmt: Stmt) -> None:
        """Notes of what branches and loops hand on what it may be."""
        if isinstance(stmt, If):
            self.met.update((merge.target, (merge.then, merge.orelse)) for merge in stmt.merges)
        elif isinstance(stmt, Loop):
            for carry in stmt.carries:
                self.met[carry.entry] = self.met[carry.out] = carry.init, carry.next

    def number(self, var: Var) -> int:
        """The number of a variable; equal ones mean equal values."""
        waiting = [var]
        while waiting:
            missing = self._sources(waiting[-1])
            if missing:
                waiting += missing
            else:
                self._assign(waiting.pop())
        return self._numbers[var]

    def _sources(self, var: Var) -> list[Var]:
        """The variables that need a number before `var` gets one."""
        stmt = self.definitions.get(var)
        if stmt is None or var in self._numbers:
            return []
        return [v for v in atom_vars((stmt.args, stmt.attrs)) if v not in self._numbers]

    def _assign(self, var: Var) -> None:
        if var not in self._numbers:
            stmt = self.definitions.get(var)
            key = var if stmt is None else self._key_of(stmt, var)
            number = self._numbers[var] = self._keys.setdefault(key, len(self._keys))
            self._alike.setdefault(number, []).append(var)

    def alike(self, op: Any, args: Sequence[Any], attrs: dict[str, Any]) -> list[Var]:
        """Numbered variables that hold what `op(*args, **attrs)` would give."""
        key = self._key(op, args, attrs, 0)
        return self._alike.get(self._keys.get(key, -1), []) if _is_hashable(key) else []

    def _key_of(self, stmt: Let, var: Var) -> Any:
        key = self._key(stmt.op, stmt.args, stmt.attrs, stmt.targets.index(var))
        return key if stmt.op.name not in ARBITRARY and _is_hashable(key) else var

    def _key(self, op: Any, args: Sequence[Any], attrs: dict[str, Any], place: int) -> Any:
        return op.name, place, self._frozen(tuple(args)), self._frozen(attrs)

    def _frozen(self, item: Any) -> Any:
        if isinstance(item, Var):
            return "value", self.number(item)
        if isinstance(item, Const):
            return "number", item.type, item.value
        if isinstance(item, (tuple, list)):
            return tuple(map(self._frozen, item))
        if isinstance(item, dict):
            return tuple(sorted((key, self._frozen(value)) for key, value in item.items()))
        if isinstance(item, slice):
            return "slice", self._frozen((item.start, item.stop, item.step))
        return type(item), item.sizes if isinstance(item, ArrayType) else None, item


def _is_hashable(key: Any) -> bool:
    try:
        hash(key)
    except TypeError:
        return False
    return True
