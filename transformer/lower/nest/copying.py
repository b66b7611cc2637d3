"""Copies of nest form under a renaming: as Core's, with nests, folds, stores and memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...core.grammar import Call, Carry, Var
from ...core.walk import Copier
from .nests import Allocate, Fold, Index, Launch, Library, Nest, Part, Product, Stmt, Store, Task


class NestCopier(Copier):
    """Copies statements of the nest form; every variable that they define gets a fresh twin."""

    def stmt(self, stmt: Stmt) -> Any:
        match stmt:
            case Allocate():
                source = None if stmt.source is None else self.atom(stmt.source)
                return Allocate(self.fresh(stmt.target), stmt.maker, stmt.origin, source)
            case Store():
                return Store(self.atom(stmt.array), self.args(stmt.at), self.atom(stmt.value), stmt.adds, stmt.origin)
            case Product():
                return self._product(stmt)
            case Library():
                args, attrs = self.args(stmt.args), self.attr(stmt.attrs)
                return Library(tuple(map(self._computed, stmt.targets)), stmt.op, args, attrs, stmt.origin)
            case Nest():
                return replace(stmt, indices=self._indices(stmt.indices), body=self.block(stmt.body))
            case Fold():
                return self._fold(stmt)
            case Call():                       # also those that put items into lists, and take them out
                args = self.args(stmt.args)
                return replace(stmt, targets=tuple(map(self.fresh, stmt.targets)), args=args)
            case Task() | Launch():
                raise AssertionError("what threads share is made of statements that are copied no more")
        return super().stmt(stmt)

    def _computed(self, target: Var) -> Any:
        """An array has been copied where its memory is."""
        return self.fresh(target) if not getattr(target.type, "sizes", ()) else self.atom(target)

    def _product(self, stmt: Product) -> Product:
        rows, columns, inner = map(self._indices, (stmt.rows, stmt.columns, stmt.inner))
        target, left, right = (Part(self.atom(part.array), self.args(part.at)) for part in stmt.parts)
        factor = None if stmt.factor is None else self.atom(stmt.factor)
        return Product(target, left, right, rows, columns, inner, stmt.origin, factor, stmt.adds)

    def _indices(self, indices: list[Index]) -> list[Index]:
        return [Index(self.fresh(index.var), self.size(index.size)) for index in indices]

    def _fold(self, stmt: Fold) -> Fold:
        inits = [self.atom(carry.init) for carry in stmt.carries]
        indices = self._indices(stmt.indices)
        entries = [self.fresh(carry.entry) for carry in stmt.carries]
        body = self.block(stmt.body)
        nexts = [self.atom(carry.next) for carry in stmt.carries]
        outs = [self.fresh(carry.out) for carry in stmt.carries]
        return Fold(indices, list(map(Carry, entries, inits, nexts, outs)), body, stmt.origin)

