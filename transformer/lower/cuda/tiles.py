"""Loops that the program promises to be independent, as blocks of threads: a block does an iteration together.

    loop i < cdiv(n, 8), independent            launch blocks over i
        allocate tile: f64[8, 8]                    allocate tile: f64[8, 8], shared
        nest l < 8, p < 8: store tile, …   →        nest l < 8, p < 8: store tile, …
        product dot = tile * tile2                  nest l, p: fold k: …; store dot, l, p
        nest l < min(8, n - 8*i): store y, …        nest l < min(8, n - 8*i): store y, …

What an iteration allocates is memory that the threads of a block share, if sizes that are known before bound it; and
products that fill such memory are loops.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from ...core.builder import current
from ...core.grammar import Carry, Const, If, Let, Loop, Var
from ...core.guards import Assumptions
from ...core.halves import FLOAT32, is_half
from ...core.sizes import Extent, product
from ...core.types import ArrayType
from ...core.walk import atom_vars
from ...ops.arithmetic import Add, Cast, Multiply
from ..fusion.sums import at_most
from ..nest.dependence import as_nest
from ..nest.nest_walk import inner_blocks, statements
from ..nest.nests import Allocate, Block, Fold, Index, Load, Nest, Part, Product, Store
from ..threads.promises import keeps_promise
from .grids import THREADS
from .placing import records
from .shares import MOST_AXES, is_together

MOST_SHARED = 48 << 10                 # bytes of a block, on every device


def tiles(loop: Loop, own: list[Allocate]) -> tuple[Block, Nest] | None:
    """The memory of a block and the nest of its blocks; None where a loop has no such form. `own` is memory from before
    the loop that only its iterations use."""
    indices, body = _grid(loop)
    arrays = [*own, *_allocated(body)]
    nest = Nest(indices, body, loop.origin)
    if not indices or not _fits(arrays, _combined(body)) or not keeps_promise(nest, {each.target for each in arrays}):
        return None
    if any(map(records, statements(body))) or not _are_together(body):
        return None
    nest.body = _with_loops(body, arrays)
    return [_bounded(each) for each in arrays], nest


def _grid(loop: Loop) -> tuple[list[Index], Block]:
    """The positions of loops of which each is all there is in the one before, and what is done at them."""
    indices: list[Index] = []
    body: Block = [loop]
    while len(body) == 1 and len(indices) < MOST_AXES and isinstance(body[0], Loop) and body[0].independent:
        nest, outer = as_nest(body[0]), {index.var for index in indices}
        if nest is None or not outer.isdisjoint(atom_vars((nest.indices[0].size,))):
            break
        indices, body = [*indices, *nest.indices], nest.body
    return indices, body


def _together(block: Block) -> Iterable[Any]:
    """The statements that the threads of a block come to together."""
    for stmt in block:
        yield stmt
        if isinstance(stmt, (If, Loop)):
            for inner in inner_blocks(stmt):
                yield from _together(inner)


def _allocated(body: Block) -> list[Allocate]:
    return [stmt for stmt in _together(body) if isinstance(stmt, Allocate)]


def _are_together(block: Block) -> bool:
    """Whether the threads of a block can do statements together, once products of tiles are loops."""
    for stmt in block:
        match stmt:
            case Allocate():
                possible = True
            case Product():
                possible = _is_tile(stmt) and is_together([_as_loops(stmt)])
            case If() | Loop():
                possible = all(map(_are_together, inner_blocks(stmt)))
            case _:
                possible = is_together([stmt])
        if not possible:
            return False
    return True


def bound(size: Extent, assumptions: Assumptions) -> int | None:
    """A number that a size does not exceed, also by a guard: in calls for which others were made it may."""
    known = at_most(size)
    if known is not None:
        return known
    sums = [guard.left - guard.right + size for guard in assumptions.guards if guard.kind != "equal"]
    return min((each for each in sums if isinstance(each, int)), default=None)


def _is_tile(stmt: Product) -> bool:
    return all(bound(index.size, current().assumptions) is not None for index in (*stmt.rows, *stmt.columns))


def _sizes(array: Allocate) -> list[int | None]:
    return [bound(size, current().assumptions) for size in array.target.type.sizes]           # type: ignore[union-attr]


def _combined(body: Block) -> int:
    """The bytes through which the threads of a block combine what they fold, each dtype in memory of its own."""
    most: Counter[Any] = Counter()
    for stmt in _together(body):
        for fold in statements([stmt]) if isinstance(stmt, Fold) else ():
            most |= Counter(carry.entry.type.dtype for carry in getattr(fold, "carries", ()))
    return sum(THREADS * dtype.itemsize * count for dtype, count in most.items())


def _fits(arrays: list[Allocate], count: int) -> bool:
    """Whether a block has room for what it allocates, beside so many bytes."""
    for each in arrays:
        sizes = _sizes(each)
        if None in sizes or each.source is not None:
            return False
        total: Any = product(sizes)
        count += total * each.target.type.dtype.itemsize                 # type: ignore[union-attr]
    return count <= MOST_SHARED


def _bounded(array: Allocate) -> Allocate:
    array.target.type = ArrayType(array.target.type.dtype, tuple(_sizes(array)))      # type: ignore
    return array


def _with_loops(body: Block, arrays: list[Allocate]) -> Block:
    """The statements without allocations, and with products as loops."""
    made: Block = []
    for stmt in body:
        if isinstance(stmt, (If, Loop)):
            for inner in inner_blocks(stmt):
                inner[:] = _with_loops(inner, arrays)
        if stmt not in arrays:
            made.append(_as_loops(stmt) if isinstance(stmt, Product) else stmt)
    return made


def _as_loops(stmt: Product) -> Nest:
    """A product as what it computes."""
    own = stmt.target.array.type.dtype                                   # type: ignore[union-attr]
    dtype = FLOAT32 if is_half(own) else own
    left, right, scaled, entry, after, out, value = (Var(ArrayType(dtype)) for _ in range(7))
    body: Block = [*_loaded(left, stmt.left, stmt.origin), *_loaded(right, stmt.right, stmt.origin),
                   Let((scaled,), Multiply, (left, right), {}, stmt.origin),
                   Let((after,), Add, (entry, scaled), {}, stmt.origin)]
    start = Const(dtype.type(0), ArrayType(dtype))
    fold = Fold(stmt.inner, [Carry(entry, start, after, out)], body, stmt.origin)
    last: Block = [] if stmt.factor is None else [Let((value,), Multiply, (stmt.factor, out), {}, stmt.origin)]
    result = value if last else out
    if dtype != own:
        last.append(Let((Var(ArrayType(own)),), Cast, (result,), {"dtype": own}, stmt.origin))
        result = last[-1].target
    store = Store(stmt.target.array, stmt.target.at, result, stmt.adds, stmt.origin)
    return Nest([*stmt.rows, *stmt.columns], [fold, *last, store], stmt.origin)


def _loaded(target: Var, part: Part, origin: Any) -> Block:
    """A number of a part of an array, in the dtype of the target."""
    type: Any = part.array.type
    if type.dtype == target.type.dtype:                                  # type: ignore[union-attr]
        return [Let((target,), Load, (part.array, *part.at), {}, origin)]
    found = Var(ArrayType(type.dtype))
    return [Let((found,), Load, (part.array, *part.at), {}, origin),
            Let((target,), Cast, (found,), {"dtype": target.type.dtype}, origin)]     # type: ignore[union-attr]
