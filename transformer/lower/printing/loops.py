"""Loops of the program in lowered source, and the arrays that keep what uncounted ones record."""

from __future__ import annotations

import ast
from typing import Any

from ...core.errors import NotSupported
from ...core.grammar import Effect, Loop, Var, type_of
from ...core.types import ArrayType, SeqType
from ...core.walk import atom_vars, inner_targets, size_of_atom
from ...write.expressions import dotted
from ...write.layout import Group, Item, Line
from ...write.numbers import number
from ..expand.recording import FIRST_ROWS, ONE_OF_TWO
from ..nest.lifetimes import mentioned
from ..nest.nest_walk import statements
from ..nest.nests import ROOM, Fold, Nest
from .sharing import nodes
from .statements import Statements, negated, steps


class Loops(Statements):
    """Prints everything."""

    def _loop(self, stmt: Loop) -> list[Item]:
        items: list[Item] = []
        for carry in stmt.carries:
            if carry.init is carry.entry or self.goes_on(carry):         # an array that is written in place
                continue
            tree = self._merged(carry.init, carry.entry)
            name = self.names.give(carry.entry, "value")
            self.names.of[carry.out] = name
            items.append(Line(ast.Assign([ast.Name(name)], tree), stmt.origin))
        self.passing.update(carry.out for carry in stmt.carries if not getattr(carry.out.type, "sizes", True))
        items += self._storages(stmt)
        counts = stmt.trips is None or stmt.count is not None
        counter = self._counter(stmt) if counts else None
        with self.names.scope():
            if stmt.trips is not None:
                self.names.index(stmt.position)
            elif counter is not None:
                self.names.of[stmt.position] = counter
            before = [*self._not_negative(stmt), *self.block(stmt.test)]
            head = self._head(stmt, not before)
            leave = [] if isinstance(head, ast.While) and not before else self._leave(stmt)
            body = [*before, *leave, *self._reads(stmt), *self.iteration(stmt), *self._records(stmt),
                    *self._next(stmt)]
        behind = self._trimmed(stmt, counter)
        if counter is not None and (stmt.count is not None or _is_used(counter, [*body, *behind])):
            items.append(Line(ast.Assign([ast.Name(counter)], number(0)), stmt.origin))
            body.append(Line(ast.AugAssign(ast.Name(counter), ast.Add(), number(1)), stmt.origin))
        return [*items, Group(head, body, [], stmt.origin), *behind]

    def _counter(self, stmt: Loop) -> str:
        if stmt.count is not None:
            return self.names.give(stmt.count, "count")
        return self.names.give(Var(stmt.position.type), "count")

    def _head(self, stmt: Loop, tests: bool) -> ast.stmt:
        """The first line, which `tests` the condition of a `while` if that can be printed there."""
        if stmt.trips is None:
            return ast.While(ast.Constant(True) if stmt.cond is None or not tests else self.atom(stmt.cond), [], [])
        trips = self.of_range(size_of_atom(stmt.trips))
        count = steps(self.size(trips))
        if stmt.down:
            count = ast.Call(ast.Name("range"), [self.size(trips - 1), number(-1), number(-1)], [])
        return ast.For(ast.Name(self.names.of[stmt.position]), count, [], [], None)

    def _not_negative(self, stmt: Loop) -> list[Item]:
        """`i = max(i, 0)`: what LLVM does not see of a range that counts down. Else loops inside would count places
        from the end wherever they are negative, and not run many at a time."""
        nests = (each for each in statements(stmt.body) if isinstance(each, (Nest, Fold)))
        if not stmt.down or not any(stmt.position in mentioned(nest) for nest in nests):
            return []
        position = ast.Name(self.names.of[stmt.position])
        return [Line(ast.Assign([position], ast.Call(ast.Name("max"), [position, number(0)], [])), stmt.origin)]

    def _leave(self, stmt: Loop) -> list[Item]:
        if stmt.cond is None:
            return []
        return [Group(ast.If(negated(self.atom(stmt.cond)), [], []), [Line(ast.Break(), stmt.origin)], [], stmt.origin)]

    def _reads(self, stmt: Loop) -> list[Item]:
        """Rows of what an uncounted loop has recorded."""
        position = ast.Name(self.names.of[stmt.position])
        items: list[Item] = []
        for read in stmt.reads:
            if isinstance(read.target.type, SeqType) or isinstance(type_of(read.source), SeqType) and (
                    read.source not in self.names.of):
                raise NotSupported("a sequence used outside the function that records it cannot be compiled",
                                   stmt.origin)
            tree = self.row(self.atom(read.source), position, read.target)
            items.append(Line(ast.Assign([ast.Name(self.names.give(read.target, "item"))], tree), stmt.origin))
        return items

    def _storages(self, stmt: Loop) -> list[Item]:
        """Memory for what an uncounted loop records, which grows."""
        items: list[Item] = []
        for record in stmt.records:
            row = self.row_type(record.value)
            if not isinstance(row, ArrayType):
                raise NotSupported(ONE_OF_TWO, stmt.origin)
            if not all(self._is_settled(var, stmt) for var in atom_vars(row.sizes)):
                raise NotSupported("recording arrays of a size that differs between the iterations of a loop "
                                   "cannot be compiled", stmt.origin)
            name = self.names.give(record.target, "kept")
            items.append(self._allocated(name, ArrayType(row.dtype, (FIRST_ROWS, *row.sizes)), stmt.origin))
        return items

    def row(self, store: ast.expr, position: ast.expr, value: Any) -> ast.expr:
        """Where a value is kept."""
        return ast.Subscript(store, position)

    def row_type(self, value: Any) -> Any:
        return type_of(value)

    def _is_settled(self, var: Var, stmt: Loop) -> bool:
        """Whether an integer is known before a loop, and stays what it is."""
        return var not in inner_targets(stmt) and (var in self.names.of or var in self.trees)

    def _effect(self, stmt: Effect) -> list[Item]:
        return [self._room(stmt)] if stmt.kind == ROOM else super()._effect(stmt)

    def _room(self, stmt: Effect) -> Item:
        """`if x.shape[0] < m: x = np.concatenate((x, np.empty(m)))`."""
        store, count = map(self.atom, stmt.args)
        full = ast.Compare(_length(store), [ast.Lt()], [count])
        array: Any = stmt.args[0]
        rows = array.type.with_sizes((size_of_atom(stmt.args[1]), *array.type.sizes[1:]))
        return Group(ast.If(full, [], []), [_longer(store, self.memory(rows), stmt.origin)], [], stmt.origin)

    def _records(self, stmt: Loop) -> list[Item]:
        position = ast.Name(self.names.of[stmt.position])
        items: list[Item] = []
        for record in stmt.records:
            store = ast.Name(self.names.of[record.target])
            full = ast.If(ast.Compare(position, [ast.Eq()], [_length(store)]), [], [])
            items.append(Group(full, [_longer(store, _alike(store), stmt.origin)], [], stmt.origin))
            place = self.row(store, position, record.value)
            items.append(Line(ast.Assign([place], self.atom(record.value)), stmt.origin))
        return items

    def _trimmed(self, stmt: Loop, counter: str | None) -> list[Item]:
        if stmt.trips is not None or counter is None:
            return []
        names = [ast.Name(self.names.of[record.target]) for record in stmt.records]
        return [Line(ast.Assign([name], ast.Subscript(name, ast.Slice(None, ast.Name(counter), None))), stmt.origin)
                for name in names]


def _length(store: ast.expr) -> ast.expr:
    return ast.Subscript(ast.Attribute(store, "shape"), number(0))


def _alike(store: ast.expr) -> ast.expr:
    return ast.Call(dotted("np.empty_like"), [store], [])


def _longer(store: ast.expr, more: ast.expr, origin: Any) -> Item:
    """`x_k = np.concatenate((x_k, more))`."""
    return Line(ast.Assign([store], ast.Call(dotted("np.concatenate"), [ast.Tuple([store, more])], [])), origin)


def _is_used(name: str, items: list[Item]) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for item in items for node in nodes(item))
