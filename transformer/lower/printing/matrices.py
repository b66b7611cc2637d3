"""Products of matrices in lowered source: `np.dot(x, w.T, y)`; one of the two may be a vector."""

from __future__ import annotations

import ast
from typing import Any

from ...core.grammar import Const, Var
from ...core.sizes import Extent, product
from ...core.types import ArrayType
from ...core.walk import atom_vars, size_of_atom
from ...write.expressions import dotted
from ...write.numbers import number
from ..nest.nests import Index, Part, Product
from .blas import gemm


def product_tree(e: Any, stmt: Product) -> ast.stmt:
    """The statement of a product; `e` are the `Expressions`."""
    left, right = matrix(e, stmt.left, stmt.rows, stmt.inner), matrix(e, stmt.right, stmt.inner, stmt.columns)
    if stmt.factor is not None:
        return _gemm(e, stmt, e.atom(stmt.factor), [left, right])
    if stmt.rows and stmt.columns and not all(_has_rows(e, part, stmt) for part in stmt.parts):
        return _gemm(e, stmt, e.atom(Const(_dtype(stmt).type(1), ArrayType(_dtype(stmt)))), [left, right])
    return ast.Expr(ast.Call(dotted("np.dot"), [left, right, _target(e, stmt)], []))


def _gemm(e: Any, stmt: Product, factor: ast.expr, operands: list[ast.expr]) -> ast.stmt:
    """A product of parts of matrices in a part of another one."""
    name = e.numbers.functions.called(gemm, _dtype(stmt))
    target = matrix(e, stmt.target, stmt.rows, stmt.columns)
    return ast.Expr(ast.Call(ast.Name(name), [factor, *operands, number(int(stmt.adds)), target], []))


def _dtype(stmt: Product) -> Any:
    return stmt.target.array.type.dtype                                  # type: ignore[union-attr]


def _has_rows(e: Any, part: Part, stmt: Product) -> bool:
    """Whether the elements of a part are neighbours in memory, as `np.dot` wants them, or are copied to be so."""
    entries = _entries(e, part, stmt.indices)
    return sum(index is not None for index, _ in entries) != 2 or _is_plain(entries)


def _target(e: Any, stmt: Product) -> ast.expr:
    """The memory that is written, as a matrix: all of an array, or of what is behind its first places."""
    trees = [tree for _, tree in _entries(e, stmt.target, [*stmt.rows, *stmt.columns])]
    if not (stmt.rows and stmt.columns):
        return _subscript(e.atom(stmt.target.array), trees)
    count = next(k for k, tree in enumerate(trees) if _is_whole(tree))
    tree = _subscript(e.atom(stmt.target.array), trees[:count])
    if len(trees) == count + 2:
        return tree
    return _as_matrix(e, tree, stmt.rows, stmt.columns)


def _entries(e: Any, part: Part, indices: list[Index]) -> list[tuple[Index | None, ast.expr]]:
    sizes = part.array.type.sizes                                        # type: ignore[union-attr]
    return [_entry(e, k, size, indices) for k, size in zip(part.at, sizes, strict=True)]


def matrix(e: Any, part: Part, rows: list[Index], columns: list[Index]) -> ast.expr:
    """A part of an array as a matrix, without a copy if its memory is that of one."""
    entries = _entries(e, part, [*rows, *columns])
    axes = [index for index, _ in entries if index is not None]
    tree = _subscript(e.atom(part.array), [tree for _, tree in entries])
    if len(axes) == 2:
        return tree if axes[0] is rows[0] else ast.Attribute(tree, "T")
    if not (rows and columns):
        return tree
    if not (_is_plain(entries) and _is_made_here(e, part.array)):
        tree = _of_numpy("ascontiguousarray", tree)
    return _reshaped(e, tree, axes, rows, columns)


def _entry(e: Any, k: Any, size: Extent, indices: list[Index]) -> tuple[Index | None, ast.expr]:
    """The index that an axis runs with, and what stands for the axis in a subscript."""
    index = next((index for index in indices if index.var in atom_vars((k,))), None)
    if index is None:
        return None, e.atom(k)
    first = size_of_atom(k) - size_of_atom(index.var)
    behind = first + index.size
    normal = e.lowered.assumptions.normal
    start = None if first == 0 else e.size(first)
    return index, ast.Slice(start, None if normal(behind) == normal(size) else e.size(behind), None)


def _subscript(array: ast.expr, trees: list[ast.expr]) -> ast.expr:
    while trees and _is_whole(trees[-1]):
        trees = trees[:-1]
    if not trees:
        return array
    return ast.Subscript(array, trees[0] if len(trees) == 1 else ast.Tuple(trees))


def _is_whole(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Slice) and tree.lower is tree.upper is None


def _is_plain(entries: list[tuple[Index | None, ast.expr]]) -> bool:
    """Whether a subscript takes neighbours in memory, if the array has its elements in C order: numbers, one
    slice, and all of the axes behind."""
    trees = [tree for _, tree in entries]
    while trees and _is_whole(trees[-1]):
        trees.pop()
    return not any(isinstance(tree, ast.Slice) for tree in trees[:-1])


def _is_made_here(e: Any, array: Var) -> bool:
    return array in e.allocated


def _reshaped(e: Any, tree: ast.expr, axes: list[Index], rows: list[Index], columns: list[Index]) -> ast.expr:
    """Axes in groups become the two of a matrix; in another order they are moved first, in a copy."""
    if axes == [*rows, *columns] or axes == [*columns, *rows]:
        turned = axes != [*rows, *columns]
    else:
        order: list[ast.expr] = [ast.Constant(axes.index(index)) for index in (*rows, *columns)]
        tree = _of_numpy("ascontiguousarray", _of_numpy("transpose", tree, ast.Tuple(order)))
        turned = False
    groups = (columns, rows) if turned else (rows, columns)
    if len(axes) > 2:
        tree = _as_matrix(e, tree, *groups)
    return ast.Attribute(tree, "T") if turned else tree


def _as_matrix(e: Any, tree: ast.expr, *groups: list[Index]) -> ast.expr:
    sizes = [e.size(product(index.size for index in group)) for group in groups]
    return ast.Call(ast.Attribute(tree, "reshape"), sizes, [])


def _of_numpy(name: str, *args: ast.expr) -> ast.expr:
    return ast.Call(dotted(f"np.{name}"), list(args), [])
