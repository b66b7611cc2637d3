"""From the statements of Core to those of Python."""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterable
from typing import Any

from ..core.errors import NotSupported
from ..core.grammar import Block, Call, Const, Effect, Function, If, Let, Var, type_of
from ..core.types import ArrayType
from ..core.walk import METHODS, WRITES
from ..ops.regions import is_mask, rank_of
from .aliasing import Aliases, Edge, is_array
from .conjunctions import is_negated
from .effects import effect, opens_block
from .expressions import BINARY, Expressions, copied, dotted
from .flow import Flow, Move
from .layout import Group, Item, Line, Note
from .moves import assignments
from .names import Names
from .numbers import number
from .taking_apart import taken_apart
from .variables import Variables

COMMUTES = frozenset("+*")


class Statements:
    """Prints blocks. `expressions` builds what stands in the lines; loops are in `Loops`."""

    def __init__(
        self,
        flow: Flow,
        variables: Variables,
        aliases: Aliases,
        names: Names,
        expressions: Expressions,
        filled: set[Edge],
        callees: dict[Function, str],
    ) -> None:
        self.flow = flow
        self.variables = variables
        self.aliases = aliases
        self.names = names
        self.expressions = expressions
        self.filled = filled  # undefined values that must be something
        expressions.callees = callees
        # Not the methods themselves: a page is to go as soon as its lines are made.
        this = weakref.proxy(self)
        expressions.name = lambda var: this.name(var)
        expressions.read = lambda source, loop: this.read(source, loop)
        expressions.row = lambda store: this.row(store)

    def block(self, block: Block) -> list[Item]:
        """The items of a block; what stands between `enter` and `exit` is indented under a `with`."""
        items: list[Item] = []
        open_blocks: list[list[Item]] = [items]
        reads: dict[ast.stmt, Let] = {}
        for stmt in block:
            if not self.flow.is_alive(stmt):     # an index that the `for` makes may be kept all the same
                _append(open_blocks[-1], self.stored(self.flow.stored.after.get(stmt, ())))
                continue
            if isinstance(stmt, Effect) and stmt.kind == "exit":
                if not open_blocks.pop():
                    open_blocks[-1].pop()
                continue
            made: list[Item] = getattr(self, METHODS[type(stmt)])(stmt)
            made += self.stored(self.flow.stored.after.get(stmt, ()))
            if isinstance(stmt, Let) and stmt.op.name == "get" and len(made) == len(stmt.args) == 1:
                reads[made[0].node] = stmt                                    # type: ignore[union-attr]
            _append(open_blocks[-1], made)
            if isinstance(stmt, Effect) and opens_block(stmt):
                open_blocks.append(made[-1].body)  # type: ignore[union-attr]
        return taken_apart(items, reads, self.flow.sizes.normal)

    # -- plain statements ---------------------------------------------------------------------

    def _let(self, stmt: Let) -> list[Item]:
        if stmt.op.name in WRITES:
            return self._lines(self._write(stmt), stmt)
        if len(stmt.targets) > 1:
            return self._lines([self._unpacked(stmt)], stmt)
        target = stmt.target
        if target in self.expressions.nesting.values:
            return []
        if stmt in self.aliases.in_place:
            return self._lines(self._updated(stmt), stmt)
        assigned = self._assigned(stmt)
        return [] if _is_to_itself(assigned) else self._lines([assigned], stmt)

    def _lines(self, nodes: Iterable[ast.stmt], stmt: Any) -> list[Item]:
        return [Line(node, stmt.origin) for node in nodes]

    def _name(self, var: Var) -> str:
        return self.names.of(var)

    def _assigned(self, stmt: Let) -> ast.stmt:
        """`x = …`, or `x += …` for a number that is updated."""
        name = self._name(stmt.target)
        symbol = stmt.op.symbol if "spelling" not in stmt.attrs else None
        if symbol in BINARY and not is_array(stmt.target) and len(stmt.args) == 2:
            first, second = stmt.args
            for x, other in ((first, second), (second, first)):
                if self._is_same_number(x, stmt.target) and (x is first or symbol in COMMUTES):
                    return self._augmented(ast.Name(name), stmt, symbol, other)
        return ast.Assign([ast.Name(name)], self.expressions.application(stmt))

    def _is_same_number(self, x: Any, target: Var) -> bool:
        """Whether a number has the name of the target already, and is one that `+=` does not change
        for others: not an array of rank 0. A position that is told from an index has no variable."""
        return (
            isinstance(x, Var)
            and x not in self.expressions.nesting.values
            and self.variables.get(x) is self.variables[target]
            and self._is_immutable(x, set())
        )

    def _is_immutable(self, atom: Any, seen: set[Var]) -> bool:
        if not isinstance(atom, Var) or atom in seen:
            return True
        seen.add(atom)
        type = atom.type
        if isinstance(type, ArrayType) and (type.rank or not type.weak) and self._may_be_array(atom):
            return False
        return all(self._is_immutable(value, seen) for _, value in self.aliases.edges_into(atom))

    def _may_be_array(self, var: Var) -> bool:
        """Whether a variable of rank 0 may hold a NumPy array and not a number."""
        kind, stmt, _, _ = self.aliases.homes[var]
        if kind == "let":
            return not (stmt.op.elementwise and stmt.op.symbol is not None or stmt.op.name in ("get", "sum"))
        return kind in ("param", "call", "read")

    def _unpacked(self, stmt: Let) -> ast.stmt:
        """`a, b = f(x)`; what is not used goes by `_`."""
        tree = self.expressions.application(stmt)
        used = [self._name(t) if self.flow.count.get(t) else "_" for t in stmt.targets]
        return ast.Assign([ast.Tuple([ast.Name(name) for name in used])], tree)

    def _updated(self, stmt: Let) -> list[ast.stmt]:
        """`x += y` of arrays, which is done in place."""
        x: Var = stmt.args[0]  # type: ignore[assignment]
        name = self._name(stmt.target)
        before = [] if self._name(x) == name else [ast.Assign([ast.Name(name)], self.expressions.var(x))]
        return [*before, self._augmented(ast.Name(name), stmt, stmt.op.symbol, stmt.args[1])]

    def _augmented(self, target: Any, stmt: Let, symbol: str, operand: Any) -> ast.stmt:
        """`x += v`; for a negative value `x -= v`."""
        tree = self.expressions.atom(operand, stmt.args[:2])
        symbol, tree = self.expressions.turned(symbol, tree, operand, stmt.target)
        return ast.AugAssign(target, BINARY[symbol](), tree)

    def _call(self, stmt: Call) -> list[Item]:
        if len(stmt.targets) == 1 and stmt.targets[0] in self.expressions.nesting.values:
            return []
        tree = self.expressions.called(stmt)
        used = [self._name(t) if self.flow.count.get(t) else "_" for t in stmt.targets]
        if not any(self.flow.count.get(t) for t in stmt.targets):
            return self._lines([ast.Expr(tree)], stmt)
        names: list[ast.expr] = [ast.Name(name) for name in used]
        target = names[0] if len(names) == 1 else ast.Tuple(names)
        return self._lines([ast.Assign([target], tree)], stmt)

    def _effect(self, stmt: Effect) -> list[Item]:
        if stmt.kind == "forget" and self.flow.stored.row(stmt.args[0]) is not None:    # type: ignore[arg-type]
            return []                                       # it is a part of another record
        return effect(stmt, self.expressions)

    # -- writes ---------------------------------------------------------------------------------

    def _write(self, stmt: Let) -> list[ast.stmt]:
        """`x[i] = v`, `x[i] += v`, or `np.add.at(x, i, v)`; before it, a copy where there must be one."""
        base, value = stmt.args[:2]
        if not is_array(base):
            raise NotSupported("writing a 0-d array in place is not supported", stmt.origin,
                               instead="Use a 1-d array: np.zeros(1).")
        lines: list[ast.stmt] = []
        name = self._name(stmt.target)
        if stmt in self.aliases.writes:
            lines.append(ast.Assign([ast.Name(name)], copied(self.expressions.atom(base))))
        elif self.variables[stmt.target] is not self.variables[base]:
            lines.append(ast.Assign([ast.Name(name)], self.expressions.atom(base)))
        place = self.expressions.subscript(ast.Name(name), stmt.attrs["index"], stmt.args[2:])
        if stmt.op.name == "put":
            assigned = ast.Assign([place], self.expressions.atom(value, stmt.args[:2]))
            return [*lines, _updated_place(assigned) if _keeps_dtype(stmt) else assigned]
        if not _adds_once(stmt):
            return [
                *lines,
                ast.Expr(
                    ast.Call(
                        dotted("np.add.at"),
                        [ast.Name(name), _as_argument(place.slice), self.expressions.atom(value, stmt.args[:2])],
                        [],
                    )
                ),
            ]
        return [*lines, self._augmented(place, stmt, "+", value)]

    # -- handing over -----------------------------------------------------------------------------

    def moves(self, point: int, origin: Any = None) -> list[Item]:
        """The assignments for values that do not have the right name yet, or must be copied."""
        pairs = [
            (self._name(move.target), _filler(move.target))
            for move in self.flow.undefined[point]
            if move.edge in self.filled
        ]
        for move in self.flow.moves[point]:
            copies = move.edge is not None and move.edge in self.aliases.edges
            if copies or not self._has_name(move):
                tree = self._handed(move)
                if copies or not (isinstance(tree, ast.Name) and tree.id == self._name(move.target)):
                    pairs.append((self._name(move.target), copied(tree) if copies else tree))
        numbers = {self._name(move.target) for move in self.flow.moves[point] if not is_array(move.target)}
        return [Line(updated(node, numbers), origin) for node in assignments(pairs)]

    def _has_name(self, move: Move) -> bool:
        return (
            isinstance(move.value, Var)
            and self.variables.get(move.value) is self.variables[move.target]
            and move.value not in self.expressions.nesting.values
        )

    def _handed(self, move: Move) -> ast.expr:
        """A number that begins a loop is written out, whatever name it has elsewhere."""
        if isinstance(move.value, Const):
            return self.expressions.constants.literal(move.value)
        return self.expressions.atom(move.value)

    # -- branches -----------------------------------------------------------------------------------

    def _if(self, stmt: If) -> list[Item]:
        merge = self.expressions.nesting.conditional.get(stmt)
        if merge is not None:
            if merge.target in self.expressions.nesting.values:
                return []
            tree = self.expressions.conditional(stmt, merge)
            return [Line(ast.Assign([ast.Name(self._name(merge.target))], tree), stmt.origin)]
        span = self.flow.spans[stmt]
        then = self._side(stmt, "then", stmt.then, span.middle)
        orelse = self._side(stmt, "orelse", stmt.orelse, span.end)
        test = self.expressions.test(stmt.cond)
        if not then and orelse:
            test, then, orelse = self.expressions.inverted(stmt.cond), orelse, []
        elif orelse and self.flow.in_reverse(span.head) and is_negated(test) and not _goes_on(orelse):
            test, then, orelse = test.operand, orelse, then                                  # type: ignore[attr-defined]
        return [Group(ast.If(test, [], []), then, orelse, stmt.origin)] if then else []

    def _side(self, stmt: If, side: str, block: Block, end: int) -> list[Item]:
        items = self.block(block)
        items += self.stored(self.flow.stored.at_end.get((stmt, side), ()))
        return items + self.moves(end, stmt.origin)

    # -- for loops ----------------------------------------------------------------------------------

    def stored(self, stores: Iterable[Any]) -> list[Item]:
        """Puts values into storage."""
        raise NotImplementedError

    def name(self, var: Var) -> ast.expr:
        """The tree of a variable that has a name."""
        raise NotImplementedError

    def read(self, source: Any, loop: Any) -> ast.expr:
        """A row of a sequence."""
        raise NotImplementedError


def _is_to_itself(assigned: ast.stmt) -> bool:
    """Whether a line says `m = m`: a number that becomes NumPy's where that is not seen."""
    if not isinstance(assigned, ast.Assign) or not isinstance(assigned.value, ast.Name):
        return False
    return all(isinstance(target, ast.Name) and target.id == assigned.value.id for target in assigned.targets)


def _filler(var: Var) -> ast.expr:
    """A value that is never looked at."""
    if not isinstance(var.type, ArrayType):
        return ast.Constant(None)
    kind = var.type.dtype.kind
    return number({"b": False, "i": 0, "u": 0}.get(kind, 0.0))


def _append(items: list[Item], made: list[Item]) -> None:
    """Adds items. A comment on a loop stands right before it, behind what is done for the loop."""
    last = items[-1] if items else None
    places = [k for k, item in enumerate(made) if isinstance(item, Group)]
    if isinstance(last, Note) and last.is_about_next and places:
        made.insert(places[0], items.pop())
    items += made


def updated(node: ast.stmt, numbers: set[str]) -> ast.stmt:
    """`n += 1` for `n = n + 1`, if that is a number: arrays would be written to."""
    match node:
        case ast.Assign([ast.Name(name)], ast.BinOp(ast.Name(first), op, other)) if name == first and name in numbers:
            return ast.AugAssign(ast.Name(name), op, other)
    return node


def _updated_place(node: ast.Assign) -> ast.stmt:
    """`x[i] /= y` for `x[i] = x[i] / y`, and `x[i] *= 2` for `x[i] = 2 * x[i]`."""
    place = node.targets[0]
    assert isinstance(place, ast.Subscript)
    match node.value:
        case ast.BinOp(left, op, other) if _are_alike(left, place):
            return ast.AugAssign(place, op, other)
        case ast.BinOp(other, (ast.Add() | ast.Mult()) as op, right) if _are_alike(right, place):
            return ast.AugAssign(place, op, other)
    return node


def _are_alike(one: ast.expr, other: ast.expr) -> bool:
    return ast.dump(one) == ast.dump(other)


def _keeps_dtype(stmt: Let) -> bool:
    """Whether what is written has the dtype of the array, which an operator in place needs, or is a single number,
    which any has."""
    value = type_of(stmt.args[1])
    own = stmt.target.type
    return isinstance(value, ArrayType) and isinstance(own, ArrayType) and (not value.sizes or value.dtype == own.dtype)


def _goes_on(items: list[Item]) -> bool:
    """Whether a side of a branch is printed as `elif`."""
    return len(items) == 1 and isinstance(items[0], Group) and isinstance(items[0].head, ast.If)


def _adds_once(stmt: Let) -> bool:
    """Whether no element is selected twice, so that `+=` adds everything."""
    slots = [type_of(atom) for atom in stmt.args[2:]]
    return bool(stmt.attrs.get("distinct")) or all(rank_of(t) == 0 or is_mask(t) for t in slots)


def _as_argument(index: ast.expr) -> ast.expr:
    """What stands in brackets as an argument: slices need `np.s_`."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if any(isinstance(part, ast.Slice) for part in parts):
        return ast.Subscript(dotted("np.s_"), index)
    return index
