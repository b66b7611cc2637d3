"""Products of matrices by CuPy: of one pair, or of all pairs in stacks.

    product y[i, j] = x[i, k] * w[k, j]             cp.matmul(x, w, out=y)
    nest b: product y[b] = x[b] * w[b].T            cp.matmul(x, w.swapaxes(-1, -2), out=y)
"""

from __future__ import annotations

import ast
from typing import Any

from ...core.grammar import Atom
from ...core.sizes import Extent
from ...core.walk import atom_vars, size_of_atom
from ...write.expressions import dotted
from ...write.numbers import number
from ..nest.nests import Index, Nest, Part, Product
from ..printing.matrices import matrix


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
    return ast.Expr(ast.Call(dotted("cp.matmul"), [left, right], [ast.keyword("out", target)]))


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
    stacks = [Stack(e, part, nest.indices, first, second) for part, first, second in (
        (stmt.target, row, column), (stmt.left, row, inner), (stmt.right, inner, column))]
    target, left, right = (stack.tree() for stack in stacks)
    if target is None or left is None or right is None or not stacks[0].is_view:
        return None
    return _filled(target, left, right)


class Stack:
    """A part of an array as a stack of matrices, of which `first` and `second` are the rows and columns, in the order
    of the `outer` indices:

        x[2, i, r, 8 * j + c]       for i, j: x[2].reshape(n, m, 4, 8).transpose(0, 2, 1, 3)
    """

    def __init__(self, e: Any, part: Part, outer: list[Index], first: Index, second: Index) -> None:
        self.e, self.part, self.outer = e, part, outer
        self.last = [first, second]
        self.indices = [*outer, *self.last]
        self.normal = e.lowered.assumptions.normal
        self.is_split = self.is_cut = False

    @property
    def is_view(self) -> bool:
        """Whether what is written to the stack is written to the array, whole matrices of it."""
        axes = [index for group in self._axes() or () for index in group]
        return len(axes) == len(self.indices) and not (self.is_split and self.is_cut)

    def tree(self) -> ast.expr | None:
        groups = self._axes()
        axes = [index for group in groups or () for index in group]
        if groups is None or len(set(axes)) < len(axes) or not set(self.last) <= set(axes):
            return None
        tree = self._cut()
        if self.is_split:
            tree = ast.Call(ast.Attribute(tree, "reshape"), [self.e.size(index.size) for index in axes], [])
        return self._spread(self._ordered(tree, axes), axes)

    def _axes(self) -> list[list[Index]] | None:
        """The indices that each axis runs with, of those that do; None where there is no such stack."""
        groups: list[list[Index]] = []
        for k, size in zip(self.part.at, self.part.array.type.sizes, strict=True):       # type: ignore[union-attr]
            own = [index for index in self.indices if index.var in atom_vars((k,))]
            if own and not self._runs(k, own, size):
                return None
            groups += [own] if own else []
        return groups

    def _runs(self, k: Atom, own: list[Index], size: Extent) -> bool:
        """Whether an axis runs with one index, or with an outer and an inner one, of which it is the product."""
        *_, fast = own
        rest = size_of_atom(k) - size_of_atom(fast.var)
        if len(own) == 1:
            return not set(atom_vars((rest,))) & {fast.var}
        self.is_split = True
        whole = rest == size_of_atom(own[0].var) * fast.size
        return len(own) == 2 and whole and bool(self.normal(size) == self.normal(own[0].size * fast.size))

    def _cut(self) -> ast.expr:
        """The array without the axes that stand still, and what of the others is not part of the stack."""
        entries: list[ast.expr] = []
        for k, size in zip(self.part.at, self.part.array.type.sizes, strict=True):       # type: ignore[union-attr]
            own = [index for index in self.indices if index.var in atom_vars((k,))]
            entries.append(self.e.atom(k) if not own else self._slice(k, own[0], size) if len(own) == 1 else WHOLE)
        self.is_cut = any(isinstance(entry, ast.Slice) and entry is not WHOLE for entry in entries)
        while entries and entries[-1] is WHOLE:
            entries.pop()
        tree: ast.expr = self.e.atom(self.part.array)
        if not entries:
            return tree
        return ast.Subscript(tree, entries[0] if len(entries) == 1 else ast.Tuple(entries))

    def _slice(self, k: Atom, index: Index, size: Extent) -> ast.expr:
        first = size_of_atom(k) - size_of_atom(index.var)
        behind = first + index.size
        is_whole = self.normal(behind) == self.normal(size)
        if first == 0 and is_whole:
            return WHOLE
        return ast.Slice(None if first == 0 else self.e.size(first), None if is_whole else self.e.size(behind), None)

    def _ordered(self, tree: ast.expr, axes: list[Index]) -> ast.expr:
        wanted = [index for index in self.indices if index in axes]
        order = [axes.index(index) for index in wanted]
        last = len(order) - 1
        if order == sorted(order):
            return tree
        if order == [*range(last - 1), last, last - 1]:
            return ast.Call(ast.Attribute(tree, "swapaxes"), [number(-1), number(-2)], [])
        return ast.Call(ast.Attribute(tree, "transpose"), list(map(number, order)), [])

    def _spread(self, tree: ast.expr, axes: list[Index]) -> ast.expr:
        """With an axis of one matrix for an index that it does not have, unless there is none in front of it."""
        entries: list[ast.expr] = [WHOLE if index in axes else ast.Constant(None) for index in self.outer]
        while entries and entries[0] is not WHOLE:
            entries.pop(0)
        if all(entry is WHOLE for entry in entries):
            return tree
        while entries[-1] is WHOLE:
            entries.pop()
        return ast.Subscript(tree, ast.Tuple(entries) if len(entries) > 1 else entries[0])


WHOLE = ast.Slice(None, None, None)
