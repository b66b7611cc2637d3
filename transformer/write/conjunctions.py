"""`a and b` as people write it: ``0 <= x < 1`` for ``0 <= x and x < 1``, and no parentheses around a first `and`."""

from __future__ import annotations

import ast

from ..core.grammar import Var

OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
}
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


def inverted(test: ast.expr, of_integers: bool) -> ast.expr:
    """`not test`, as `a != b`, or as `a >= b` of what cannot be nan."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        kind = type(test.ops[0])
        if kind in (ast.Eq, ast.NotEq) or of_integers and kind in OPPOSITES:
            return ast.Compare(test.left, [OPPOSITES[kind]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


def is_negated(test: ast.expr) -> bool:
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def chosen(test: ast.expr, then: ast.expr, orelse: ast.expr, target: Var) -> ast.expr:
    """`a if c else b`; what is generated does not say `b if not c else a`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and (target.name is None or target.primal):
        test, then, orelse = test.operand, orelse, then
    return ast.IfExp(test, then, orelse)
