"""Statements of lowered source: nests, folds, stores, branches."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import NotSupported
from ...core.grammar import UNDEFINED, Carry, Const, Effect, If, Let, Loop, Var, type_of
from ...core.sizes import Extent
from ...core.types import ArrayType
from ...write.expressions import dotted
from ...write.layout import Group, Item, Line
from ...write.moves import in_order
from ...write.natural import NATURAL
from ...write.numbers import number
from ..expand import checks
from ..nest.nest_walk import accesses
from ..nest.nests import (
    Allocate,
    Block,
    Fold,
    Invoke,
    Keep,
    Kept,
    Length,
    Library,
    Load,
    Named,
    Nest,
    Product,
    Store,
    Task,
    Turn,
)
from . import lists
from .expressions import Expressions
from .hosted import effect, library_call
from .matrices import product_tree
from .numbers import choice, dtype_tree, literal
from .sharing import shared
from .turns import is_by_squares, turned

MEMORY = {"record": "kept", "chunks": "parts", "shares": "shares", "cast": "converted"}


class Statements(Expressions):
    """Prints blocks; loops of the program are in `Loops`."""

    def block(self, block: Block) -> list[Item]:
        items: list[Item] = []
        outer, self.passing, self.entries = self.passing, self.entries, set()
        for stmt in block:
            made = getattr(self, "_" + type(stmt).__name__.lower())(stmt)
            self.items[id(stmt)] = made
            items += made
        self.passing = outer
        return items

    def _let(self, stmt: Let) -> list[Item]:
        if stmt.op.of_sequences:
            return self._sequence(stmt)
        tree = self.value(stmt)
        target = stmt.target
        if self.inlining.is_inlined(target, tree):
            self.trees[target] = tree
            return []
        return [Line(ast.Assign([ast.Name(self.names.give(target, self.names.wish(stmt)))], tree), stmt.origin)]

    def value(self, stmt: Let) -> ast.expr:
        """What a number is."""
        if stmt.op is Load:
            return self.subscript(stmt.args[0], stmt.args[1:])
        if stmt.op is Length:
            return ast.Subscript(ast.Attribute(self.atom(stmt.args[0]), "shape"), number(stmt.attrs["axis"]))
        if stmt.op is Named:
            return self.atom(stmt.args[0])
        return self.numbers.application(stmt, list(map(self.atom, stmt.args)))

    def _sequence(self, stmt: Let) -> list[Item]:
        """A sequence is kept in an array, and is that array."""
        self.names.of[stmt.target] = self.names.of[stmt.args[0]]
        return []

    def _allocate(self, stmt: Allocate) -> list[Item]:
        if stmt.target in self.lowered.outside:
            return [] if stmt.source is None else [self._copied_into(stmt.target, stmt.source, stmt.origin)]
        name = self.names.give(stmt.target, memory_name(stmt))
        if stmt.source is not None:
            copy = ast.Call(ast.Attribute(self.atom(stmt.source), "copy"), [], [])
            return [Line(ast.Assign([ast.Name(name)], copy), stmt.origin), *self.ravels(stmt.target)]
        return [self._allocated(name, stmt.target.type, stmt.origin), *self.ravels(stmt.target)]   # type: ignore[arg-type]

    def ravels(self, array: Var) -> list[Item]:
        """`x_flat = x.ravel()`, for loops over whole rows of an array."""
        return [Line(ast.Assign([ast.Name(self.names.give(rows, f"{self.names.of[array]}_{suffix}"))], tree))
                for (each, count), rows in self.raveled.items() if each is array
                for suffix, tree in [self._raveled(array, rows.type, count)]]

    def _raveled(self, array: Var, type: Any, count: int) -> tuple[str, ast.expr]:
        if count == 1:
            return "flat", ast.Call(ast.Attribute(self.atom(array), "ravel"), [], [])
        in_one_piece: ast.expr = self.atom(array)
        if array in self.lowered.function.params:
            in_one_piece = ast.Call(ast.Attribute(in_one_piece, "ravel"), [], [])
        return "rows", ast.Call(ast.Attribute(in_one_piece, "reshape"), list(map(self.size, type.sizes)), [])

    def _copied_into(self, target: Var, source: Any, origin: Any) -> Item:
        everything = ast.Subscript(self.atom(target), ast.Slice(None, None, None))
        return Line(ast.Assign([everything], self.atom(source)), origin)

    def _allocated(self, name: str, type: ArrayType, origin: Any) -> Item:
        return Line(ast.Assign([ast.Name(name)], self.memory(type)), origin)

    def memory(self, type: ArrayType) -> ast.expr:
        """`np.empty((n, m), np.float32)`."""
        sizes = [self.size(size) for size in type.sizes]
        shape = sizes[0] if len(sizes) == 1 else ast.Tuple(sizes)
        dtype = [] if type.dtype == np.float64 else [dtype_tree(type.dtype)]
        return ast.Call(dotted("np.empty"), [shape, *dtype], [])

    def _nest(self, stmt: Nest) -> list[Item]:
        with self.names.scope():
            return self._loops(stmt, lambda: self.block(stmt.body))

    def _turn(self, stmt: Turn) -> list[Item]:
        return [Line(turned(self, stmt), stmt.origin)] if is_by_squares(stmt, self.lowered.assumptions) else (
            self._nest(stmt))

    def _loops(self, stmt: Nest | Fold, body: Callable[[], list[Item]]) -> list[Item]:
        for index in stmt.indices:
            self.names.index(index.var)
        items = body()
        for index in reversed(stmt.indices):
            head = ast.For(ast.Name(self.names.of[index.var]), steps(self.count(index.size, stmt)), [], [], None)
            items = [Group(head, items, [], stmt.origin)]
        return items

    def count(self, size: Extent, stmt: Any) -> ast.expr:
        """How many places a loop goes through: `x_flat.size`, where these are all of an array, best of one that the
        loop writes, or reads."""
        if size not in self.whole:
            return self.trips(size)
        own = [rows for array, at in accesses(stmt) if (rows := self.raveled.get((array, len(at)))) in self.whole[size]]
        return ast.Attribute(self.atom((own or self.whole[size])[-1]), "size")

    def _fold(self, stmt: Fold) -> list[Item]:
        items: list[Item] = []
        for carry in stmt.carries:
            if self.goes_on(carry):
                continue
            init = self.atom(carry.init)
            name = self.names.give(carry.entry, total_name(stmt, carry))
            self.names.of[carry.out] = name
            items.append(Line(ast.Assign([ast.Name(name)], init), stmt.origin))
        self.passing.update(carry.out for carry in stmt.carries)
        with self.names.scope():
            items += self._loops(stmt, lambda: self.iteration(stmt) + self._next(stmt))
        return items

    def goes_on(self, carry: Carry) -> bool:
        """Whether a loop goes on with a number under the name that it has: that of an earlier loop, or of an iteration
        around, which is used for nothing else."""
        init = carry.init
        if not isinstance(init, Var) or init not in self.passing or self.inlining.uses[init] != 1 or (
                init.type != carry.entry.type):
            return False
        self.names.of[carry.entry] = self.names.of[carry.out] = self.names.of[init]
        return True

    def iteration(self, stmt: Fold | Loop) -> list[Item]:
        """The body of a loop, in which others may go on with the numbers that it is handed."""
        self.entries = {carry.entry for carry in stmt.carries if not getattr(carry.entry.type, "sizes", True)}
        return self.block(stmt.body)

    def _next(self, stmt: Fold | Loop) -> list[Item]:
        return self.handed_on(stmt.carries, stmt.origin)

    def handed_on(self, carries: list[Carry], origin: Any) -> list[Item]:
        """Hands values on to the next iteration, all at once. What has been deleted is tested before it is used."""
        carries = [carry for carry in carries if carry.next is not UNDEFINED]
        pairs = changed([self.names.of[carry.entry] for carry in carries], [self.atom(carry.next) for carry in carries])
        before: list[Item] = []
        if in_order(pairs) is None:
            for k, (name, tree) in enumerate(pairs):
                if not isinstance(tree, ast.Name):                       # what others of them read is not changed yet
                    pairs[k] = name, ast.Name(self.names.keep(f"{name}_next"))
                    before.append(Line(ast.Assign([pairs[k][1]], tree), origin))
        return [*before, *(Line(node, origin) for node in assignments(pairs))]

    def _task(self, stmt: Task) -> list[Item]:
        return [shared(self, stmt)]

    def _store(self, stmt: Store) -> list[Item]:
        place, value = self.subscript(stmt.array, stmt.at), self.atom(stmt.value)
        return [Line(added(place, value, type_of(stmt.value)) if stmt.adds else assigned(place, value), stmt.origin)]

    def _product(self, stmt: Product) -> list[Item]:
        return [Line(product_tree(self, stmt), stmt.origin)]

    def _library(self, stmt: Library) -> list[Item]:
        return library_call(self, stmt)

    def _effect(self, stmt: Effect) -> list[Item]:
        return checks.printed(self, stmt) if stmt.kind == checks.CHECK else effect(self, stmt)

    def _invoke(self, stmt: Invoke) -> list[Item]:
        given = map(ast.Name, self.lists.params(stmt.function))
        args = [*map(self.atom, stmt.args), *given, *self.depth.deeper(stmt.function)]
        tree = ast.Call(ast.Name(self.callees[stmt.function]), args, [])
        names: list[ast.expr] = [ast.Name(self.names.give(target, "value")) for target in stmt.targets]
        target = names[0] if len(names) == 1 else ast.Tuple(names)
        return [Line(ast.Assign([target], tree), stmt.origin)]

    def _keep(self, stmt: Keep) -> list[Item]:
        return lists.printed(self, stmt)

    def _kept(self, stmt: Kept) -> list[Item]:
        return lists.printed(self, stmt)

    def _if(self, stmt: If) -> list[Item]:
        test = self.atom(stmt.cond)
        merges = stmt.merges
        with self.names.scope():
            then = self.block(stmt.then)
            first = [self._merged(merge.then, merge.target) for merge in merges]
        with self.names.scope():
            orelse = self.block(stmt.orelse)
            second = [self._merged(merge.orelse, merge.target) for merge in merges]
        if not then and not orelse and len(merges) == 1:
            return self._conditional(merges[0].target, choice(test, first[0], second[0]), stmt)
        names = [self.names.give(merge.target, "value") for merge in merges]
        then += [Line(node, stmt.origin) for node in assignments(changed(names, first))]
        orelse += [Line(node, stmt.origin) for node in assignments(changed(names, second))]
        if orelse and not then:
            test, then, orelse = negated(test), orelse, []
        return [Group(ast.If(test, [], []), then, orelse, stmt.origin)]

    def _conditional(self, target: Var, tree: ast.expr, stmt: If) -> list[Item]:
        if self.inlining.is_inlined(target, tree):
            self.trees[target] = tree
            return []
        return [Line(ast.Assign([ast.Name(self.names.give(target, "value"))], tree), stmt.origin)]

    def _merged(self, atom: Any, target: Var) -> ast.expr:
        if atom is not UNDEFINED:
            return self.atom(atom)
        type: Any = target.type
        if not isinstance(type, ArrayType):
            raise NotSupported("values that only some branches record cannot be compiled")
        if not type.sizes:
            return literal(Const(type.dtype.type(0), ArrayType(type.dtype)))
        return ast.Call(dotted("np.empty"), [ast.Tuple([number(0)] * type.rank), dtype_tree(type.dtype)], [])


def memory_name(stmt: Allocate) -> str:
    """What an array is called that has no name, after what makes it."""
    return MEMORY.get(stmt.maker) or NATURAL.get(stmt.maker, "result")


def steps(size: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("range"), [size], [])


def changed(names: list[str], trees: list[ast.expr]) -> list[tuple[str, ast.expr]]:
    """The names that get another value than they have."""
    return [(name, tree) for name, tree in zip(names, trees, strict=True)
            if not (isinstance(tree, ast.Name) and tree.id == name)]


def assignments(pairs: list[tuple[str, ast.expr]]) -> list[ast.stmt]:
    """What has the effect of assignments at once: one after the other, such as `total += item`, where that is so."""
    order = in_order(pairs)
    if order is not None and not (len(pairs) > 1 and all(isinstance(tree, ast.Name) for _, tree in pairs)):
        return [assigned(ast.Name(name), tree) for name, tree in order]
    names, trees = zip(*pairs, strict=True)
    return [ast.Assign([ast.Tuple([ast.Name(name) for name in names])], ast.Tuple(list(trees)))]


def negated(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(ast.Not(), test)


def assigned(place: Any, tree: ast.expr) -> ast.stmt:
    """`x[i] = tree`; as `x[i] += item` where that is what it says."""
    if isinstance(tree, ast.BinOp) and ast.dump(tree.left) == ast.dump(place):
        return ast.AugAssign(place, tree.op, tree.right)
    return ast.Assign([place], tree)


def added(place: Any, tree: ast.expr, type: Any) -> ast.stmt:
    """`x[i] += tree`; `x[i] -= item` of floats, as what integers are negated to has a sign."""
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub) and type.dtype.kind in "fc":
        return ast.AugAssign(place, ast.Sub(), tree.operand)
    return ast.AugAssign(place, ast.Add(), tree)


def total_name(stmt: Fold, carry: Any) -> str:
    """What a fold hands on is named after the op that makes it."""
    maker = next((s for s in stmt.body if isinstance(s, Let) and s.target is carry.next), None)
    wish = NATURAL.get(maker.op.name, "total") if maker is not None else "total"
    return {"scaled": "product", "chosen": "best"}.get(wish, wish)
