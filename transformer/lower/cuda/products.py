"""Products of matrices by CuPy: of one pair, or of all pairs in stacks.

    product y[i, j] = x[i, k] * w[k, j]             cp.matmul(x, w, out=y)
    nest b: product y[b] = x[b] * w[b].T            cp.matmul(x, w.swapaxes(-1, -2), out=y)
"""

from __future__ import annotations

import ast
from typing import Any

from ...core.sizes import Size, Unknown
from ...core.walk import size_of_atom
from ...write.expressions import dotted
from ...write.sizes import number
from ..matrices import matrix
from ..nests import Index, Nest, Part, Product


def product(e: Any, stmt: Product) -> ast.stmt:
    """The statement of a product; `e` prints expressions."""
    left, right = matrix(e, stmt.left, stmt.rows, stmt.inner), matrix(e, stmt.right, stmt.inner, stmt.columns)
    target = matrix(e, stmt.target, stmt.rows, stmt.columns)
    if stmt.factor is None:
        return _filled(target, left, right)
    value = ast.BinOp(e.atom(stmt.factor), ast.Mult(), ast.Call(dotted("cp.matmul"), [left, right], []))
    place: Any = everything(target)
    return ast.AugAssign(place, ast.Add(), value) if stmt.adds else ast.Assign([place], value)


def _filled(target: ast.expr, left: ast.expr, right: ast.expr) -> ast.stmt:
    if isinstance(target, ast.Name):
        return ast.Expr(ast.Call(dotted("cp.matmul"), [left, right], [ast.keyword("out", target)]))
    return ast.Assign([everything(target)], ast.Call(dotted("cp.matmul"), [left, right], []))


def everything(tree: ast.expr) -> ast.expr:
    """The memory of an array, to be written to."""
    return ast.Subscript(tree, ast.Slice(None, None, None)) if not isinstance(tree, ast.Subscript) else tree


def stacked(e: Any, nest: Nest) -> ast.stmt | None:
    """A nest of products as one call; None where it is something else, or where the matrices do not lie in stacks."""
    stmt = nest.body[0] if len(nest.body) == 1 else None
    if not isinstance(stmt, Product) or stmt.factor is not None:
        return None
    if not len(stmt.rows) == len(stmt.columns) == len(stmt.inner) == 1:
        return None
    (row,), (column,), (inner,) = stmt.rows, stmt.columns, stmt.inner
    trees = [_stack(e, part, nest.indices, first, second) for part, first, second in (
        (stmt.target, row, column), (stmt.left, row, inner), (stmt.right, inner, column))]
    target, left, right = trees
    if left is None or right is None or not isinstance(target, ast.Name):
        return None
    return _filled(target, left, right)


def _stack(e: Any, part: Part, outer: list[Index], first: Index, second: Index) -> ast.expr | None:
    """All of an array as a stack of matrices."""
    normal, sizes = e.lowered.assumptions.normal, part.array.type.sizes      # type: ignore[union-attr]
    for indices, turned in (([*outer, first, second], False), ([*outer, second, first], True)):
        if len(indices) == len(part.at) and all(
                size_of_atom(k) == Size.of(Unknown(index.var)) and normal(size) == normal(index.size)
                for k, index, size in zip(part.at, indices, sizes, strict=True)):
            tree = e.atom(part.array)
            return ast.Call(ast.Attribute(tree, "swapaxes"), [number(-1), number(-2)], []) if turned else tree
    return None
