"""A loop that threads share as a function over a range of its iterations, and the call that shares it out.

    for i in range(n):                       def fill_y(first, count, x, y):
        y[i] = x[i] * x[i]           →           for i in places(first, count):
                                                     y[i] = x[i] * x[i]

                                             in_threads(fill_y, n, 3, x, y)

`threads` says which loops these are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...core.grammar import Var
from ...core.types import INT
from ...write.layout import Group, Item, Line
from ..nest.lifetimes import written
from ..nest.nest_walk import statements
from ..nest.nests import Allocate, Product, Store, Task


def shared(e: Any, stmt: Task) -> Line:
    """The call; the function goes to those of the module."""
    size, cost = e.count(stmt.index.size, stmt.nest), e.size(stmt.cost)
    with e.names.scope():
        first, count = (e.names.give(Var(INT), wish) for wish in ("first", "count"))
        items = e.block(stmt.body)
        _loop_of(stmt, items).iter = ast.Call(ast.Name("places"), [ast.Name(first), ast.Name(count)], [])
        given = taken(items, {*e.names.of.values(), *e.names.sizes.values()} - {first, count})
    params = ast.arguments([], [ast.arg(name) for name in (first, count, *given)], None, [], [], None, [])
    task = Group(ast.FunctionDef("", params, [], [], None), items)
    name = e.numbers.functions.share(task, f"fill_{_filled(e, stmt)}", e.names.used | e.names.reserved,
                                     [None, None, *(array_named(e, each) for each in given)],
                                     are_apart=_are_apart(e, stmt, given))
    return Line(ast.Expr(ast.Call(ast.Name("in_threads"), [ast.Name(name), size, cost, *map(ast.Name, given)], [])),
                stmt.origin)


def _are_apart(e: Any, stmt: Task, given: list[str]) -> bool:
    """Whether the arrays that a task is given share no memory, as far as it writes them."""
    named = [[var for var, other in e.names.of.items() if other == name and getattr(var.type, "sizes", ())]
             for name in given]
    return bool(e.memories) and e.memories.are_apart([each for each in named if each], written(stmt))


def array_named(e: Any, name: str) -> Var | None:
    """The array that has a name; None where arrays of several shapes have had it."""
    found = [var for var, other in e.names.of.items() if other == name and getattr(var.type, "sizes", ())]
    return found[-1] if len({var.type for var in found}) == 1 else None


def _loop_of(stmt: Task, items: list[Item]) -> Any:
    """The loop over the index that is shared."""
    loop: Any = items[-1]
    for _ in range(stmt.nest.indices.index(stmt.index)):
        loop = loop.body[-1]
    return loop.head


def _filled(e: Any, stmt: Task) -> str:
    """The name of the first array that a nest writes for others."""
    own = {each.target for each in statements(stmt.body) if isinstance(each, Allocate)}
    written = (each.array if isinstance(each, Store) else each.target.array
               for each in statements(stmt.nest.body) if isinstance(each, (Store, Product)))
    name: str = next(e.names.of[array] for array in written if array not in own)
    return name


def taken(items: list[Item], among: set[str]) -> list[str]:
    """The names that statements use and do not assign, in the order of their uses."""
    made = {name for item in items for name in assigned(item)}
    used = dict.fromkeys(node.id for item in items for node in nodes(item) if isinstance(node, ast.Name))
    return [name for name in used if name in among and name not in made]


def nodes(item: Item) -> Iterator[ast.AST]:
    """All that a statement consists of."""
    for node in statements_of(item):
        yield from ast.walk(node)


def assigned(item: Item) -> Iterator[str]:
    """The names that a statement, and what is in it, assign to."""
    for node in statements_of(item):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            for each in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(each, ast.Name):
                    yield each.id


def statements_of(item: Item) -> Iterator[Any]:
    """Every statement of an item, compound ones without what is in them."""
    if isinstance(item, Line):
        yield item.node
    elif isinstance(item, Group):
        yield item.head
        for inner in (*item.body, *item.orelse):
            yield from statements_of(inner)
