"""Iterations that add to a total and write besides: what each adds is kept, and added up afterwards.

    total = fold i < n                      allocate shares, n
        store y, i, …                       nest i < n
        total = total + share        →          store y, i, …
                                                store shares, i, share
                                            total = fold shares[i] over i < n

The iterations are a nest then, whose places threads share. Where they write apart from each other, and need no memory
of their own, chunks of them are shared instead (`threads.in_chunks`), and nothing is kept. So they are in the branches
and loops that the driver goes through: what one block adds up is what nobody else can help with.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Carry, If, Let, Loop, Var
from ...core.types import INT, ArrayType
from ...core.walk import atom_vars, inner_targets
from ...ops.arithmetic import Add
from ..fusion.sums import added, opened
from ..nest.combinations import CHUNKS
from ..nest.nest_walk import defined, inner_blocks, statements
from ..nest.nests import Allocate, Block, Fold, Index, Load, Nest, Store, emit, split
from ..threads.threads import in_chunks, may_be_chunked, own_memory, used_by
from .latest import latest_of_all
from .placing import is_launched
from .scans import as_fold, scan_in_chunks
from .shares import OF_A_BLOCK, ROWS_OF_A_BLOCK, added_to, as_shared, flattened, shared_indices

SHARES = "shares"                      # makes memory for what iterations add


def totals_apart(body: Block, results: list[Atom]) -> Block:
    """The block with such folds as nests, and folds of what these leave."""
    return _block(body, _uses(body, results))


def totals_in_chunks(body: Block, results: list[Atom]) -> Block:
    """The block with long folds and scans in chunks."""
    return _chunked(body, _uses(body, results))


def _uses(body: Block, results: list[Atom]) -> Counter[Var]:
    uses = used_by(body)
    uses.update(set(atom_vars(tuple(results))))
    return uses


def _chunked(block: Block, uses: Counter[Var]) -> Block:
    made: Block = []
    for stmt in block:
        fold = as_fold(stmt)
        if fold is not None and may_be_chunked(fold, for_gpu=True):
            stmt = fold
        nest, parts = as_shared(stmt), scan_in_chunks(stmt) or latest_of_all(stmt)
        if parts is not None:
            made += parts
            continue
        if isinstance(stmt, (If, Loop)) and not (nest is not None and _is_shared(nest, made, uses)):
            for inner in inner_blocks(stmt):
                inner[:] = _chunked(inner, uses)
            made += before_loop(stmt, CHUNKS) if isinstance(stmt, Loop) else []
        made += in_chunks([stmt], OF_A_BLOCK, ROWS_OF_A_BLOCK, for_gpu=True)
    return made


def before_loop(loop: Loop, maker: str) -> Block:
    """Takes memory of a kind out of a loop, where its size is known before."""
    inside = {*inner_targets(loop), *(var for stmt in statements(loop.body) for var in defined(stmt))}
    body: list[Any] = loop.body
    moved = [stmt for stmt in body if isinstance(stmt, Allocate) and stmt.maker == maker
             and stmt.source is None and inside.isdisjoint(atom_vars(stmt.target.type))]
    loop.body[:] = [stmt for stmt in body if stmt not in moved]
    return [*moved]


def _block(block: Block, uses: Counter[Var]) -> Block:
    made: Block = []
    for stmt in block:
        if isinstance(stmt, Fold):
            made += _apart(stmt, made, uses)
            continue
        if not isinstance(stmt, Nest):
            for inner in inner_blocks(stmt):
                inner[:] = _block(inner, uses)
        made.append(stmt)
    return made


def _apart(fold: Fold, before: Block, uses: Counter[Var]) -> Block:
    writes = any(isinstance(each, Store) for each in statements(fold.body))
    if isinstance(fold.indices[0].size, int) or not writes or may_be_chunked(fold, for_gpu=True):
        return [fold]
    outer: Any = split(fold, 1)
    for carry in outer.carries:
        opened(carry, outer)
    adds = [added(carry, outer) for carry in outer.carries]
    if None in adds or not _is_shared(Nest(outer.indices, outer.body, outer.origin), before, uses):
        return [outer]
    return _shares(outer, adds)                                          # type: ignore[arg-type]


def _is_shared(nest: Nest, before: Block, uses: Counter[Var]) -> bool:
    """Whether threads may share the iterations."""
    own = [each.target for each in own_memory(nest, before, uses)]
    return is_launched(nest) and bool(shared_indices(flattened(nest), [*own, *added_to(nest)]))


def _shares(fold: Fold, adds: list[Let]) -> Block:
    index, = fold.indices
    place = Var(INT)
    current().assumptions.within(place, 0, index.size - 1)
    arrays = [Var(ArrayType(carry.entry.type.dtype, (index.size,))) for carry in fold.carries]   # type: ignore[union-attr]
    stores: Block = []
    carries: list[Carry] = []
    with current().nested() as body:
        for carry, add, array in zip(fold.carries, adds, arrays, strict=True):
            share = next(arg for arg in add.args if arg is not carry.entry)
            stores.append(Store(array, (index.var,), share, False, fold.origin))
            entry, item, after = (Var(carry.entry.type) for _ in range(3))
            emit(Let((item,), Load, (array, place), {}, fold.origin))
            emit(Let((after,), Add, (entry, item), dict(add.attrs), fold.origin))
            carries.append(Carry(entry, carry.init, after, carry.out))
    inside = [stmt for stmt in fold.body if stmt not in adds]
    return [*(Allocate(array, SHARES, fold.origin) for array in arrays),
            Nest([index], [*inside, *stores], fold.origin),
            Fold([Index(place, index.size)], carries, body, fold.origin)]
