"""Results that branches choose, returned where they are made.

    if n == 0:                              if n == 0:
        result = x                              return x
    else:                                   y = x * x
        y = x * x                           return f(y, n - 1) * x
        result = f(y, n - 1) * x
    return result

So it is where the result has no name of the program's; derivatives have one, if the result has.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..core.naming import OwnName, numbered
from .layout import LINE, Group, Item, Line, printed
from .leaving import names_read, names_written, nodes
from .variables import Variable

DEEPEST = 12                     # columns in which a `return` usually begins, at most


def with_returns(items: list[Item], chosen: dict[Variable, str]) -> list[Item]:
    """The items of a function with a `return` in each branch at its end, if nothing but that follows. `chosen` are the
    names of variables."""
    names = _names_in(items[-1]) if len(items) > 1 else None
    if names is None or not _is_choice(items[-2]):
        return items
    assigned = names_written(items[-2]) & set(names)
    holders = [variable for variable, name in chosen.items() if name in assigned]
    if any(map(_is_users, holders)) or all(map(_is_derivative, holders)):
        return items
    items = list(_returned(items[:-1], names, items[-1]))
    for name in assigned:
        _count_on(items, name)
    return items


def _count_on(items: list[Item], name: str) -> None:
    """Gives the name of what is gone to the second of that name."""
    found = [node for item in items for part in nodes(item) for node in ast.walk(part) if isinstance(node, ast.Name)]
    if not any(node.id == name for node in found):
        for node in found:
            node.id = name if node.id == numbered(name, 2) else node.id


def _is_users(variable: Variable) -> bool:
    return variable.is_param or any(not isinstance(name, OwnName) for name in variable.names) and not _is_derivative(
        variable)


def _is_derivative(variable: Variable) -> bool:
    return variable.values[0].primal is not None


def _names_in(item: Item) -> list[str] | None:
    """The names that a `return` gives, if it gives nothing else."""
    value = item.node.value if isinstance(item, Line) and isinstance(item.node, ast.Return) else None
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return names if names and len(names) == len(parts) and len(set(names)) == len(names) else None


def _is_choice(item: Item) -> bool:
    return isinstance(item, Group) and isinstance(item.head, ast.If) and bool(item.orelse)


def _returned(items: list[Item], names: list[str], last: Item) -> Iterator[Item]:
    """Items with a `return` at their end."""
    end = items[-1] if items else None
    if isinstance(end, Group) and _is_choice(end):
        yield from items[:-1]
        yield Group(end.head, list(_returned(end.body, names, last)), [], end.origin)
        yield from _returned(end.orelse, names, last)
    elif isinstance(end, Line) and isinstance(end.node, ast.Raise):
        yield from items
    else:
        values = _values_at_end(items, names)
        if values is None:
            yield from items[:-1]
            yield Line(ast.Return(end.node.value), end.origin)                                # type: ignore[union-attr]
            return
        node = _return([values.get(name, ast.Name(name)) for name in names])
        if values and len(printed(node, LINE - DEEPEST)) == 1:
            yield from items[:-len(values)]
            yield Line(node, end.origin if isinstance(end, Line) else None)
        else:
            yield from items
            yield Line(_return([ast.Name(name) for name in names]), last.origin)


def _values_at_end(items: list[Item], names: list[str]) -> dict[str, ast.expr] | None:
    """What is assigned to the names in the last lines, if nothing there reads it; None if the last gives them all."""
    values: dict[str, ast.expr] = {}
    for item in reversed(items):
        target = item.node.targets[0] if isinstance(item, Line) and isinstance(item.node, ast.Assign) else None
        if isinstance(target, ast.Tuple) and not values and _names_in(Line(ast.Return(target))) == names:
            return None
        if not isinstance(target, ast.Name) or target.id not in names or target.id in values:
            break
        if any(target.id in names_read(Line(ast.Expr(value))) for value in values.values()):
            break
        values[target.id] = item.node.value                                               # type: ignore[union-attr]
    return values


def _return(values: list[ast.expr]) -> ast.Return:
    return ast.Return(values[0] if len(values) == 1 else ast.Tuple(values))
