"""Sums that stand one after the other in a driver of several processes are one exchange.

    dw = transformer.pmean(dw, "i")             dw, value = transformer.sums(("pmean", "psum"), (dw, value))
    value = transformer.psum(value, "i")

What is printed is the driver without this, as for loops and branches (`courses`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

SUMS = "psum", "pmean"


def joined(block: list[ast.stmt]) -> list[ast.stmt]:
    """A block, and those in it, with its sums joined."""
    for stmt in block:
        for name in ("body", "orelse"):
            if inner := getattr(stmt, name, None):
                setattr(stmt, name, joined(inner))
    return [group[0] if len(group) == 1 else _one(group) for group in _groups(block)]


def _groups(block: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Statements one by one, but sums of which none rests on another one together."""
    group: list[ast.stmt] = []
    for stmt in block:
        if group and not (_is_sum(stmt) and all(_is_apart(stmt, other) for other in group)):
            yield group
            group = []
        if _is_sum(stmt):
            group.append(stmt)
        else:
            yield [stmt]
    if group:
        yield group


def _is_sum(stmt: ast.stmt) -> bool:
    match stmt:
        case ast.Assign([ast.Name()], ast.Call(ast.Attribute(ast.Name("transformer"), kind), [ast.Name(), _], [])):
            return kind in SUMS
    return False


def _is_apart(stmt: ast.stmt, earlier: ast.stmt) -> bool:
    """Whether a sum may be computed at the same time as one before it."""
    (target, operand), (before, _) = _names(stmt), _names(earlier)
    return before not in (target, operand)


def _names(stmt: ast.stmt) -> tuple[str, str]:
    """What a sum is called, and of what it is."""
    assert isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Name)
    assert isinstance(stmt.value, ast.Call) and isinstance(stmt.value.args[0], ast.Name)
    return stmt.targets[0].id, stmt.value.args[0].id


def _one(group: list[ast.stmt]) -> ast.stmt:
    names = [_names(stmt) for stmt in group]
    kinds = [ast.Constant(stmt.value.func.attr) for stmt in group]                     # type: ignore[attr-defined]
    call = ast.Call(ast.Attribute(ast.Name("transformer", ast.Load()), "sums", ast.Load()), [
        ast.Tuple(list(kinds), ast.Load()),
        ast.Tuple([ast.Name(operand, ast.Load()) for _, operand in names], ast.Load())], [])
    targets = ast.Tuple([ast.Name(target, ast.Store()) for target, _ in names], ast.Store())
    return ast.copy_location(ast.Assign([targets], call), group[0])
