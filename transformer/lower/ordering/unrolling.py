"""Loops over a few places that are known when code is made, written out: x[0], x[1], x[2]."""

from __future__ import annotations

from itertools import product
from math import inf, prod
from typing import Any

from ...core.grammar import If, Let, type_of
from ...core.walk import atom_of_size, atom_vars
from ...ops.identity import Same
from ..nest.copying import NestCopier
from ..nest.nest_walk import accesses, inner_blocks, is_load, statements
from ..nest.nests import Block, Fold, Index, Nest, Product, Store, split
from .raveling import whole_rows
from .turning import lengths_to_turn

MOST_PLACES, MOST_STATEMENTS = 16, 160
MOST_LISTED = 128                      # numbers of a table that is written out: each is a statement
MOST_INNER = 4                         # places of inner indices, where the outer ones stay loops
VECTOR = 4                             # numbers that a processor computes at once, at least


def unroll(block: Block, vectors: bool = True) -> Block:
    """The block without loops over few places, innermost indices first. Where processors compute `vectors` at once, the
    rows of small matrices, which are such vectors, stay loops, and so do loops over whole rows of any arrays, which are
    one loop in the end (`raveling`), and reductions of rows that become columns (`turning`)."""
    if not vectors:
        return _unrolled_in(block, False, set(), set())
    return _unrolled_in(block, True, whole_rows(block), lengths_to_turn(block))


def _unrolled_in(block: Block, vectors: bool, of_rows: set[int], turned: set[int]) -> Block:
    made: Block = []
    for stmt in block:
        stays = id(stmt) in of_rows
        for inner in inner_blocks(stmt):
            inner[:] = _unrolled_in(inner, vectors, of_rows, turned)
        if isinstance(stmt, (Nest, Fold)) and not _reduces_a_row(stmt, turned):
            made += _unrolled(stmt, vectors, stays)
        else:
            made.append(stmt)
    return made


def _reduces_a_row(stmt: Any, lengths: set[int]) -> bool:
    return isinstance(stmt, Fold) and len(stmt.indices) == 1 and stmt.indices[0].size in lengths


def _unrolled(stmt: Nest | Fold, vectors: bool, of_rows: bool) -> Block:
    depth = len(stmt.indices)
    if isinstance(stmt, Nest) and not depth:
        return stmt.body
    if vectors and _has_rows(stmt) or any(isinstance(each, Product) for each in statements(stmt.body)):
        return [stmt]                              # nothing is saved around a call of BLAS
    size = sum(1 for _ in statements(stmt.body))
    most = MOST_STATEMENTS // max(size, 1)
    if places(stmt.indices) <= (MOST_LISTED if _is_table(stmt) else min(MOST_PLACES, most)):
        return _written_out(stmt)
    if depth > 1 and places(stmt.indices[:1]) <= min(MOST_INNER, most) and _lists_places(stmt):
        return _written_out(split(stmt, 1))
    while depth and not of_rows and places(stmt.indices[depth - 1:]) <= min(MOST_INNER, most):
        depth -= 1
    if depth == len(stmt.indices):
        return [stmt]
    stmt = split(stmt, depth)
    stmt.body = _written_out(stmt.body[0])
    return [stmt]


def _is_table(stmt: Nest | Fold) -> bool:
    """Whether a nest only stores one of several numbers at each place, of which nothing is left but the number."""
    if not isinstance(stmt, Nest) or len(stmt.indices) != 1 or not any(isinstance(each, If) for each in stmt.body):
        return False
    return all(isinstance(each, (If, Store)) or isinstance(each, Let) and not is_load(each) and _is_of_places(each)
               for each in statements(stmt.body))


def _is_of_places(stmt: Let) -> bool:
    return all(type.dtype.kind in "ib" for type in map(type_of, (*stmt.targets, *stmt.args)))  # type: ignore[union-attr]


def _lists_places(stmt: Nest | Fold) -> bool:
    """Whether the outermost index of a nest says which of few places are meant, as in ``x[[i, k]] = x[[k, i]]``."""
    first, listed = stmt.indices[0].var, set[Any]()
    for each in statements(stmt.body):
        if is_load(each) and each.args[1:] == (first,) or (
                isinstance(each, Let) and not is_load(each) and not listed.isdisjoint(atom_vars(each.args))):
            listed.update(each.targets)                                  # a place, also one that counted from the end
    return isinstance(stmt, Nest) and any(not listed.isdisjoint(at) for _, at in accesses(stmt))


def has_rows(block: Block) -> bool:
    """Whether rows of small matrices are computed by loops, the others being written out."""
    nests = (stmt for stmt in statements(block) if isinstance(stmt, Nest) and stmt.indices)
    return any(VECTOR <= places(stmt.indices[-1:]) <= MOST_PLACES for stmt in nests)


def _has_rows(stmt: Nest | Fold) -> bool:
    """Whether a statement is a nest over a matrix of known sizes whose rows are vectors."""
    is_matrix = isinstance(stmt, Nest) and len(stmt.indices) > 1 and places(stmt.indices[-2:]) < inf
    return is_matrix and places(stmt.indices[-1:]) >= VECTOR


def places(indices: list[Index]) -> float:
    """How many places there are; no number of them is enough where it is not known."""
    sizes = [index.size for index in indices]
    return prod(size if isinstance(size, int) else inf for size in sizes)


def _written_out(stmt: Any) -> Block:
    """The body of a nest or fold for one place after another."""
    made: Block = []
    carries = getattr(stmt, "carries", [])
    state: list[Any] = [carry.entry for carry in carries]             # other names of what they begin with
    made += [Let((carry.entry,), Same, (carry.init,), {}, stmt.origin) for carry in carries]
    for place in product(*(range(index.size) for index in stmt.indices)):
        copier = NestCopier({index.var: atom_of_size(k) for index, k in zip(stmt.indices, place, strict=True)})
        copier.mapping.update(zip((carry.entry for carry in carries), state, strict=True))
        made += copier.block(stmt.body)
        state = [copier.atom(carry.next) for carry in carries]
    made += [Let((carry.out,), Same, (atom,), {}, stmt.origin) for carry, atom in zip(carries, state, strict=True)]
    return made
