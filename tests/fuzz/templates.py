"""Syntax trees from pieces of Python with capital letters for what is filled in.

>>> ast.unparse(expression("np.sin(A) * B", A="x", B=expression("y + 1")))
'np.sin(x) * (y + 1)'
"""

from __future__ import annotations

import ast
import functools
from typing import Any

Part = ast.expr | str | int | float | tuple[int, ...] | list[ast.stmt]


@functools.cache
def _parsed(template: str) -> list[ast.stmt]:
    return ast.parse(template).body


def expression(template: str, **parts: Part) -> ast.expr:
    """An expression; a part is a tree, the name of a variable, or a number."""
    (statement,) = _parsed(template)
    assert isinstance(statement, ast.Expr)
    filled: ast.expr = _filled(statement.value, parts)
    return filled


def statements(template: str, **parts: Part) -> list[ast.stmt]:
    """Statements; a part may be a list of statements, in place of a line with its name alone."""
    return _block(_parsed(template), parts)


def _block(block: list[ast.stmt], parts: dict[str, Part]) -> list[ast.stmt]:
    filled: list[ast.stmt] = []
    for statement in block:
        body = _body_named(statement, parts)
        filled += [_filled(statement, parts)] if body is None else body
    return filled


def _body_named(statement: ast.stmt, parts: dict[str, Part]) -> list[ast.stmt] | None:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Name):
        part = parts.get(statement.value.id)
        return part if isinstance(part, list) else None
    return None


def _filled(node: Any, parts: dict[str, Part]) -> Any:
    if isinstance(node, ast.Name) and node.id in parts:
        return _tree(parts[node.id])
    if isinstance(node, list):
        return _block(node, parts) if node and isinstance(node[0], ast.stmt) else [_filled(n, parts) for n in node]
    if isinstance(node, ast.AST):
        return type(node)(**{name: _field(value, parts) for name, value in ast.iter_fields(node)})
    return node


def _field(value: Any, parts: dict[str, Part]) -> Any:
    if isinstance(value, str) and isinstance(parts.get(value), str):
        return parts[value]                       # the name of a function or of a parameter
    return _filled(value, parts)


def _tree(part: Any) -> ast.expr:
    if isinstance(part, ast.expr):
        return part
    if isinstance(part, str):
        return ast.Name(part, ast.Load())
    return ast.parse(repr(part), mode="eval").body


def text(body: list[ast.stmt]) -> str:
    return ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))
