"""Factors of a matrix that several systems, inverses or determinants need: LAPACK makes them once.

    x = solve(k, y)                     factors, pivots = factors(k)
    sign, size = slogdet(k)       →     x = solve_by(factors, pivots, y)
    z = solve(transpose(k), w)          sign, size = slogdet_by(factors, pivots)
                                        z = solve_by(factors, pivots, w), turned

Of a matrix that is factored in a loop, and made before it, the factors are made before it as well. As it costs much
to make them, they wait for a statement that needs them in any case. What raises is still who needs them.

In Python, where NumPy makes factors of its own in every call, they are a copy of the matrix.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ...core.grammar import Block, Function, If, Let, Loop, Var, type_of
from ...core.types import ArrayType
from ...core.walk import all_definitions, all_statements, blocks_of, inner_targets
from ...ops.axes import Transpose
from ...ops.base import Op
from ...ops.linear_algebra import Det, Inv, Slogdet, Solve
from ...write.expressions import dotted

FLOATING = frozenset("fdFD")
IN_A_LOOP = 2                          # uses, for which one before the loop counts


def with_shared_factors(function: Function) -> Function:
    """The function with factors of its own for matrices that need them more than once; the same one, if there are
    none."""
    if not any(map(_is_user, all_statements(function.body))):
        return function
    body = _Sharing(function).block(function.body)
    has_factors = any(isinstance(stmt, Let) and stmt.op is Factors for stmt in all_statements(body))
    return replace(function, body=body) if has_factors else function


class Factors(Op):
    """The triangles of a matrix in one, and which rows changed places (`run/compiling/factored.py`)."""

    operands = ("a",)
    results = "factors", "pivots"
    calls = "factors"
    of_lapack = True
    loop = None, "LAPACK computes it"
    text: Any = staticmethod(lambda a: ast.Tuple([a, ast.Constant(0)]))


def _by_factors(op: Any, suffix: str = "_by") -> Any:
    """What an op of a matrix is of its factors, or of those of its transpose."""
    def text(factors: ast.expr, pivots: ast.expr, *others: ast.expr) -> ast.expr:
        matrix = ast.Attribute(factors, "T") if suffix == TURNED else factors
        return ast.Call(dotted(f"np.linalg.{op.name}"), [matrix, *others], [])

    operands = "factors", "pivots", *op.operands[1:]
    return type(op.name + suffix, (Op,), {
        "name": op.name + suffix, "noun": op.name, "operands": operands, "calls": op.calls, "of_lapack": True,
        "loop": (None, "LAPACK computes it"), "text": staticmethod(text)})


TURNED = "_turned_by"
BY = {op: _by_factors(op) for op in (Solve, Inv, Slogdet, Det)}
OF_TRANSPOSE = {**BY, Solve: _by_factors(Solve, TURNED), Inv: _by_factors(Inv, TURNED)}


def _is_user(stmt: Any) -> bool:
    """Whether a statement has LAPACK factor a matrix."""
    if not isinstance(stmt, Let) or stmt.op not in BY:
        return False
    types: list[Any] = list(map(type_of, stmt.args))
    return (types[0].rank == 2 and all(type.rank in (1, 2) for type in types)
            and len({type.dtype for type in types}) == 1 and types[0].dtype.char in FLOATING)


class _Sharing:
    """Writes the blocks anew. `factors` has those that are made before a statement, by their matrices."""

    def __init__(self, function: Function) -> None:
        self.factors: dict[Any, tuple[Var, ...]] = {}
        self.views = {stmt.target: stmt for stmt in all_statements(function.body)
                      if isinstance(stmt, Let) and stmt.op is Transpose and stmt.target.type.rank == 2}   # type: ignore[union-attr]

    def block(self, block: Block) -> Block:
        known, wanted = dict(self.factors), self._wanted(block)
        made: Block = []
        for stmt in block:
            for matrix in [matrix for matrix, _ in self._uses(stmt) if matrix in wanted - self.factors.keys()]:
                made.append(self._factored(matrix, stmt))
            made.append(self.stmt(stmt))
        self.factors = known
        return made

    def stmt(self, stmt: Any) -> Any:
        if isinstance(stmt, If):
            return replace(stmt, then=self.block(stmt.then), orelse=self.block(stmt.orelse))
        if isinstance(stmt, Loop):
            return replace(stmt, test=self.block(stmt.test), body=self.block(stmt.body))
        if _is_user(stmt):
            matrix, turned = self.matrix(stmt.args[0])
            if matrix in self.factors:
                args = (*self.factors[matrix], *stmt.args[1:])
                return Let(stmt.targets, (OF_TRANSPOSE if turned else BY)[stmt.op], args, {}, stmt.origin)
        return stmt

    def matrix(self, atom: Any) -> tuple[Any, bool]:
        """The matrix of which an operand is a view, and whether it is turned."""
        turned = False
        while atom in self.views:
            view = self.views[atom]
            atom, turned = view.args[0], turned ^ (view.attrs.get("axes", (1, 0)) == (1, 0))
        return atom, turned

    def _wanted(self, block: Block) -> set[Any]:
        """The matrices that are there before a block, or made by a statement of it, of which it needs the factors more
        than once."""
        inside = set(all_definitions([each for stmt in block for inner in blocks_of(stmt) for each in inner]))
        counts: Counter[Any] = Counter()
        for stmt in block:
            for matrix, count in self._uses(stmt):
                counts[matrix] += count
        inside.update(var for stmt in block for var in inner_targets(stmt))
        return {matrix for matrix, count in counts.items() if count > 1 and matrix not in inside}

    def _uses(self, stmt: Any, count: int = 1) -> Iterator[tuple[Any, int]]:
        """The matrices that a statement has factored in any case, and how often."""
        if _is_user(stmt):
            yield self.matrix(stmt.args[0])[0], count
        for inner in blocks_of(stmt) if isinstance(stmt, Loop) else ():
            for each in inner:
                yield from self._uses(each, IN_A_LOOP)

    def _factored(self, matrix: Any, stmt: Any) -> Let:
        type: Any = matrix.type
        factors, pivots = Var(type, "factors"), Var(ArrayType(type.dtype, type.sizes[:1]), "pivots")
        self.factors[matrix] = factors, pivots
        return Let((factors, pivots), Factors, (matrix,), {}, stmt.origin)
