"""Lists of what calls save for their reverse, in lowered source: one for each layout, of tuples that are all alike.

    def tree_gradient(w):                       made by the function itself, with a first item that is of no call:
        tree_kept = [(0.0, 0.0, 0)]             numba has to see of what they are
        _, saved = tree_forward(w, tree_kept, 1)
        …
    def tree_forward(w, tree_kept, depth):      handed on to the functions that need it
        …
        tree_kept.append((a, b, saved))
        saved = len(tree_kept) - 1
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.errors import NotSupported
from ...core.grammar import Const, Function, Var, type_of
from ...core.types import ArrayType, SeqType
from ...core.walk import atom_vars, reachable
from ...write.expressions import dotted
from ...write.layout import Item, Line
from ...write.names import fresh, identifier
from ...write.natural import NATURAL
from ...write.numbers import number
from ..nest.nest_walk import all_uses, inner_blocks, statements, uses_after
from ..nest.nests import Allocate, Block, Keep, Kept, Lowered
from .numbers import dtype_tree, literal


class Lists:
    """Those of one module, of which the last function makes them. `taken` are names of others."""

    def __init__(self, functions: list[Lowered], taken: Iterable[str] = ()) -> None:
        self.maker = functions[-1].function
        self.own = {each.function: {stmt.layout.number for stmt in _items([each])} for each in functions}
        self.fields: dict[Any, tuple[ArrayType, ...]] = {}
        self.names: dict[Any, str] = {}
        for stmt in _items(functions):
            if stmt.layout.number not in self.names:
                name = fresh(identifier(f"{stmt.layout.name}_kept"), {*self.names.values(), *taken})
                self.names[stmt.layout.number] = name
            if isinstance(stmt, Keep):
                self._learn(stmt)

    def _learn(self, stmt: Keep) -> None:
        """Remembers what is in a list, which is the same wherever something is put into it."""
        if any(isinstance(type_of(atom), SeqType) for atom in stmt.args):
            raise NotSupported("values recorded for the derivative of a loop of unknown length in a recursive function "
                               "cannot be compiled", stmt.origin,
                               instead="Run it without jit, or replace the recursion by a loop.")
        fields = tuple(map(_kind, stmt.args))
        if self.fields.setdefault(stmt.layout.number, fields) != fields:
            raise NotSupported("values of several dtypes recorded for the derivative of a recursive function cannot be "
                               "compiled", stmt.origin, instead="Convert the arguments to one dtype.")

    def params(self, function: Function) -> list[str]:
        """The lists that a function is given: those that it needs, and those of the functions that it calls."""
        if function is self.maker:
            return []
        return [self.names[key] for key in sorted(set().union(*(self.own[each] for each in reachable(function))))]

    def made(self, function: Function) -> list[Item]:
        """`kept = [(0.0, 0)]`, for each list."""
        if function is not self.maker:
            return []
        return [Line(ast.Assign([ast.Name(self.names[key])], _begun(self.fields[key]))) for key in sorted(self.fields)]


def _items(functions: Iterable[Lowered]) -> Iterable[Any]:
    return (stmt for each in functions for stmt in statements(each.body) if isinstance(stmt, (Keep, Kept)))


def _kind(atom: Any) -> ArrayType:
    """What numba sees of a type: dtype and number of axes."""
    type: Any = type_of(atom)
    return ArrayType(type.dtype, (0,) * type.rank)


def _begun(fields: tuple[ArrayType, ...]) -> ast.expr:
    """A list of such tuples; the first one is an example."""
    return ast.List([_together([_example(type) for type in fields])])


def _example(type: ArrayType) -> ast.expr:
    if not type.sizes:
        return literal(Const(type.dtype.type(0), ArrayType(type.dtype)))
    shape = number(0) if type.rank == 1 else ast.Tuple([number(0)] * type.rank)
    dtype = [] if type.dtype == np.float64 else [dtype_tree(type.dtype)]
    return ast.Call(dotted("np.empty"), [shape, *dtype], [])


def printed(e: Any, stmt: Keep | Kept) -> list[Item]:
    """The lines that put fields into a list, or that take them out."""
    items = ast.Name(e.lists.names[stmt.layout.number])
    if isinstance(stmt, Kept):
        place = ast.Subscript(items, e.atom(stmt.args[0]))
        names: list[ast.expr] = [ast.Name(_name(e, *field)) for field in zip(stmt.targets, stmt.layout.makers)]
        return [Line(ast.Assign([_together(names)], place), stmt.origin)]
    fields: list[ast.expr] = [_field(e, stmt, atom) for atom in stmt.args]
    target = ast.Name(e.names.give(stmt.targets[0], "saved"))
    last = ast.BinOp(ast.Call(ast.Name("len"), [items], []), ast.Sub(), number(1))
    return [Line(ast.Expr(ast.Call(ast.Attribute(items, "append"), [_together(fields)], [])), stmt.origin),
            Line(ast.Assign([target], last), stmt.origin)]


def _together(fields: list[ast.expr]) -> ast.expr:
    """A tuple; a single field is not in one."""
    return ast.Tuple(fields) if len(fields) != 1 else fields[0]


def _name(e: Any, target: Var, maker: str) -> str:
    """What a field is called that has no name, after what made it."""
    if target not in e.inlining.uses:
        return "_"
    return e.names.give(target, NATURAL.get(maker, maker) or "saved")


def _field(e: Any, stmt: Keep, atom: Any) -> ast.expr:
    tree = e.atom(atom)
    if not getattr(type_of(atom), "sizes", ()) or (stmt, atom) in e.for_good:
        return tree
    return ast.Call(ast.Attribute(tree, "copy"), [], [])


def put_for_good(block: Block, ends: Iterable[Any]) -> set[tuple[Keep, Any]]:
    """The arrays that are put into lists where nobody needs them any more, each with the statement that does it: they
    are made in the same block, and mentioned neither behind it nor at its `ends`. Others are copied, as their memory
    may be written later, and may lie in any order."""
    found: set[tuple[Keep, Any]] = set()
    made: set[Any] = set()
    for k, stmt in enumerate(block):
        if isinstance(stmt, Allocate):
            made.add(stmt.target)
        elif isinstance(stmt, Keep):
            later = {*atom_vars(tuple(ends)), *all_uses(block[k + 1:])}
            found.update((stmt, atom) for atom in stmt.args if atom in made - later and stmt.args.count(atom) == 1)
        for inner in inner_blocks(stmt):
            found |= put_for_good(inner, uses_after(stmt))
    return found
