"""Derivatives where NumPy reads the lower triangle of a matrix: `cholesky`, `eigh`, `eigvalsh`.

They are those of NumPy's functions: of the lower triangle, which stands for both, and nothing for the upper one. Where
the matrix is symmetric by how it was made, its tangents are so as well, and a cotangent that is right for those gives
the same derivatives of what it was made of; it takes fewer statements. Where it is an argument of the function, also
with a factor or added to others, the derivative counts, by convention, as that of a function of the symmetric part: a
gradient is the symmetric part of the true one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

import numpy as np

from ..core.builder import Builder, current
from ..core.grammar import Block, Let, Loop, Read, Stmt, Var
from ..core.walk import all_statements
from ..ops.matrices import hermitian
from ..ops.symmetry import Symmetry
from ..ops.value import Value


@contextmanager
def symmetric_matrices(block: Block, arguments: Collection[Var], builder: Builder) -> Iterator[None]:
    """Inside the `with`, rules know which matrices in a block are symmetric, or are so if these arguments are."""
    outer = builder.derivatives.symmetric
    builder.derivatives.symmetric = _symmetric_in(block, arguments)
    try:
        yield
    finally:
        builder.derivatives.symmetric = outer


def _symmetric_in(block: Block, arguments: Collection[Var]) -> dict[Stmt, bool]:
    takers = [stmt for stmt in all_statements(block) if isinstance(stmt, Let) and stmt.op.symmetric]
    if not takers:
        return {}
    known = Symmetry(_definitions(block), arguments)
    found = {stmt: known.of(stmt.args[0]) for stmt in takers}
    return {stmt: each.if_arguments_are for stmt, each in found.items() if each is not None}


def _definitions(block: Block) -> dict[Var, Let | Read]:
    found: dict[Var, Let | Read] = {}
    for stmt in all_statements(block):
        if isinstance(stmt, Let):
            found.update(dict.fromkeys(stmt.targets, stmt))
        elif isinstance(stmt, Loop):
            found.update((read.target, read) for read in stmt.reads)
    return found


def symmetric_tangent(stmt: Let, t: Value) -> Value:
    """The tangent of the symmetric matrix for which a statement takes its operand."""
    by_convention = current().derivatives.symmetric.get(stmt)
    return t if by_convention is False else hermitian(t if by_convention else _doubled_below(t))


def symmetric_cotangent(stmt: Let, cotangent: Value) -> Value:
    """The cotangent of the operand of a statement, for one that is right for symmetric tangents."""
    by_convention = current().derivatives.symmetric.get(stmt)
    if by_convention is False:
        return cotangent
    symmetric = cotangent if stmt.op.gives_symmetric else hermitian(cotangent)
    return symmetric if by_convention else _doubled_below(symmetric)


def _doubled_below(x: Value) -> Value:
    """The lower triangle, twice what is below the diagonal: both places of the symmetric matrix are read there."""
    return np.tril(x) + np.tril(x, -1)
