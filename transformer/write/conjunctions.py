"""`a and b` as people write it: ``0 <= x < 1`` for ``0 <= x and x < 1``, and no parentheses around a first `and`."""

from __future__ import annotations

import ast

from ..core.grammar import Var

RISING, FALLING = (ast.Lt, ast.LtE), (ast.Gt, ast.GtE)


def conjunction(one: ast.expr, other: ast.expr) -> ast.expr:
    """`one and other`."""
    *before, last = one.values if isinstance(one, ast.BoolOp) and isinstance(one.op, ast.And) else [one]
    together = [*before, _chained(last, other) or last]
    if together[-1] is last:
        together.append(other)
    return together[0] if len(together) == 1 else ast.BoolOp(ast.And(), together)


def _chained(one: ast.expr, other: ast.expr) -> ast.Compare | None:
    """``a < b < c`` for ``a < b`` and ``b < c``, where `b` is a name: Python evaluates it once."""
    if not isinstance(one, ast.Compare) or not isinstance(other, ast.Compare):
        return None
    middle, again = one.comparators[-1], other.left
    if not isinstance(middle, ast.Name) or not isinstance(again, ast.Name) or middle.id != again.id:
        return None
    ops = [*one.ops, *other.ops]
    if not any(all(isinstance(op, way) for op in ops) for way in (RISING, FALLING)):
        return None
    return ast.Compare(one.left, ops, [*one.comparators, *other.comparators])


def chosen(test: ast.expr, then: ast.expr, orelse: ast.expr, target: Var) -> ast.expr:
    """`a if c else b`; what is generated does not say `b if not c else a`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and (target.name is None or target.primal):
        test, then, orelse = test.operand, orelse, then
    return ast.IfExp(test, then, orelse)
