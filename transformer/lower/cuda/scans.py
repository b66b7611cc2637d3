"""Scans: folds that write what they hand on, from place to place. A device does them in chunks, all at once.

    total = fold i < n                 nest c: store parts, c, fold x[128*c + i] over i
        after = total + x[i]           total = fold c
        store y, i, after        →         store begins, c, total
                                           after = total + parts[c]
                                       nest c: fold i, total = begins[c]
                                           after = total + x[128*c + i]
                                           store y, 128*c + i, after

What is before a chunk is a scan again, of so many fewer numbers. Places that are counted, `if mask: store found, count,
i` with a count of the masks, are apart as the count goes on wherever one is written.
"""

from __future__ import annotations

from typing import Any

from ...core.builder import current
from ...core.equations import only_atom
from ...core.grammar import UNDEFINED, Carry, If, Let, Loop, Var
from ...core.sizes import Dim, Size, Unknown, least
from ...core.types import INT, ArrayType
from ...core.walk import Copier, atom_of_size, size_of_atom
from ...ops.arithmetic import Add, Cast
from ...ops.selection import Where
from ..nest.clean import Renaming, swept
from ..nest.combinations import CHUNKS, combinations
from ..nest.copying import NestCopier
from ..nest.dependence import as_nest
from ..nest.lifetimes import written
from ..nest.nest_walk import inner_blocks, is_load, loaded, statements
from ..nest.nests import Allocate, Block, Fold, Index, Load, Nest, Store, split
from ..threads.threads import in_parts, is_independent, may_be_chunked
from .long_axes import is_bounded
from .placing import is_number

LENGTH = 128                           # numbers that a thread goes through
LEVELS = 2                             # scans of what is before chunks that are done in chunks


def scan_in_chunks(stmt: Any) -> Block | None:
    """A scan in chunks; None where a statement is none."""
    before, fold = _linked(stmt) or ([], as_fold(stmt))
    if fold is None or not isinstance(fold.indices[0].size, Size) or may_be_chunked(fold, for_gpu=True):
        return None
    fold = split(fold, 1)                                                # type: ignore[assignment]
    total = _without_stores(fold)
    if total is None or combinations(total) is None or not _is_apart(fold):
        return None
    return [*before, *_in_chunks(fold, total, LEVELS)]


def _linked(stmt: Any) -> tuple[Block, Fold] | None:
    """A loop along a whole array that reads the element before the one it writes, as a fold that hands that on."""
    nest = as_nest(stmt) if isinstance(stmt, Loop) and not stmt.down and _is_plain(stmt.body) else None
    stores = [] if nest is None else [each for each in statements(nest.body) if isinstance(each, Store)]
    if nest is None or len(stores) != 1 or stores[0] not in nest.body:
        return None
    (index,), (store,) = nest.indices, stores
    (size, *others) = store.array.type.sizes                             # type: ignore[union-attr]
    if others or not _has_a_first(size) or size != index.size + 1:
        return None
    place = Size.of(Unknown(index.var))
    loads = {each: size_of_atom(each.args[1]) - place for each in statements(nest.body)
             if is_load(each) and each.args[0] is store.array}
    links = [each for each in loads if loads[each] == 0]
    if len(links) != 1 or links[0] not in nest.body or {*loads.values()} > {0, 1} or {
            *loads.values(), size_of_atom(store.at[0]) - place} != {0, 1}:
        return None
    entry, begin, after = links[0].target, Var(links[0].target.type), Var(links[0].target.type)
    body, written_there = _with_sum([each for each in nest.body if each is not links[0]], store)
    fold = Fold([index], [Carry(entry, begin, written_there, after)], _with_choices(body), nest.origin)
    return [Let((begin,), Load, (store.array, 0), {}, nest.origin)], fold      # type: ignore[arg-type]


def _has_a_first(size: Any) -> bool:
    """Whether an axis has a place for certain: modules for axes of arguments with none or one are others."""
    return isinstance(only_atom(size), Dim) or isinstance(size, Size) and size.constant > 0 and all(
        count > 0 for count in size.terms.values())


def _with_sum(block: Block, store: Store) -> tuple[Block, Any]:
    """The statements, of which one that adds to an element writes the sum; and what it writes."""
    if not store.adds:
        return block, store.value
    own, total = (Var(ArrayType(store.array.type.dtype)) for _ in range(2))      # type: ignore[union-attr]
    summed: Block = [Let((own,), Load, (store.array, *store.at), {}, store.origin),
                     Let((total,), Add, (store.value, own), {}, store.origin),
                     Store(store.array, store.at, total, False, store.origin)]
    at = block.index(store)
    return [*block[:at], *summed, *block[at + 1:]], total


def as_fold(stmt: Any) -> Fold | None:
    """A fold, or a loop over as many places as an axis has that hands on numbers alone, and makes no arrays."""
    if isinstance(stmt, Fold):
        return stmt
    if not isinstance(stmt, Loop) or stmt.trips is None or stmt.test or stmt.cond is not None or stmt.down:
        return None
    size, carries = size_of_atom(stmt.trips), [c for c in stmt.carries if not c.entry is c.init is c.next is c.out]
    if stmt.count is not None or stmt.reads or stmt.records or not is_bounded(size) or _is_often_negative(size):
        return None
    if not carries or not all(is_number(carry.entry) for carry in carries) or not _is_plain(stmt.body, Loop):
        return None
    return Fold([Index(stmt.position, size)], carries, _with_choices(stmt.body), stmt.origin)


def _is_plain(block: Block, *others: Any) -> bool:
    """Whether statements compute numbers and write them, and do nothing else."""
    return all(isinstance(each, (Let, Store, If, Fold, Nest, *others)) for each in statements(block))


def _with_choices(block: Block) -> Block:
    """The statements, of which branches that only choose between numbers do so in one operation."""
    made: Block = []
    for stmt in block:
        is_choice = isinstance(stmt, If) and not stmt.then and not stmt.orelse and all(
            is_number(merge.target) and UNDEFINED not in (merge.then, merge.orelse) for merge in stmt.merges)
        made += [Let((merge.target,), Where, (stmt.cond, merge.then, merge.orelse), {}, stmt.origin)
                 for merge in stmt.merges] if is_choice else [stmt]
    return made


def _is_often_negative(size: Any) -> bool:
    """Whether there may be fewer places than memory can be made for: none by a few counts as none."""
    return isinstance(size, Size) and (size.constant <= -LENGTH or any(
        count < 0 for monomial, count in size.terms.items() if monomial))


def _without_stores(fold: Fold) -> Fold | None:
    """A copy that hands on the same, and writes nothing; None where the original does not write, or does more, or hands
    on what it has read of its writing."""
    if not _is_plain(fold.body) or not written(fold):
        return None
    total: Any = NestCopier().stmt(fold)
    _remove_stores(total.body)
    (total,) = swept([total], {carry.out for carry in total.carries}) or (None,)
    if total is None or any(_is_read_again(array, fold) for array in loaded(total) & written(fold)):
        return None
    return total


def _is_read_again(array: Var, fold: Fold) -> bool:
    """Whether an iteration may read what it has written: in any order if there are loops in it, and else behind."""
    inside = list(statements(fold.body))
    reads = [k for k, each in enumerate(inside) if is_load(each) and each.args[0] is array]
    stores = [k for k, each in enumerate(inside) if isinstance(each, Store) and each.array is array]
    is_looped = any(array in loaded(each) | written(each) for each in inside if isinstance(each, (Fold, Nest, Loop)))
    return is_looped or max(reads, default=-1) > min(stores)


def _remove_stores(block: Block) -> None:
    for stmt in block:
        for inner in inner_blocks(stmt):
            _remove_stores(inner)
    block[:] = [stmt for stmt in block if not isinstance(stmt, Store)]


# -- what iterations write -------------------------------------------------------------------------


def _is_apart(fold: Fold) -> bool:
    """Whether no iteration touches what another one writes."""
    counted = _counted(fold)
    return counted.isdisjoint(loaded(fold)) and is_independent(fold, fold.indices[0], counted)


def _counted(fold: Fold) -> set[Var]:
    """The arrays whose places are counted."""
    counts = _counts(fold)
    inside = list(statements(fold.body))
    branches: list[tuple[Any, Block]] = [(each.cond, each.then) for each in inside if isinstance(each, If)]
    kept = {id(stmt) for cond, then in branches for stmt in then
            if isinstance(stmt, Store) and not stmt.adds and counts.get(stmt.at[0]) is cond}
    stores = [each for each in inside if isinstance(each, Store)]
    return written(fold) - {each.array for each in stores if id(each) not in kept}


def _counts(fold: Fold) -> dict[Any, Any]:
    """The masks that are counted, by how many there were before."""
    folds = [each for each in [fold, *statements(fold.body)] if isinstance(each, Fold)]
    made: dict[Any, Let] = {each.target: each for each in statements(fold.body) if isinstance(each, Let)}
    found: dict[Any, Any] = {}
    for carry in (carry for each in folds for carry in each.carries):
        step, type = made.get(carry.next), carry.entry.type
        if step is not None and step.op is Add and carry.entry in step.args:
            item = made.get(next((arg for arg in step.args if arg is not carry.entry), None))
            if item is not None and item.op is Cast and type.dtype.kind in "iu":      # type: ignore[union-attr]
                found[carry.entry] = item.args[0]
    return found


# -- in chunks -------------------------------------------------------------------------------------


def _in_chunks(fold: Fold, total: Fold, levels: int) -> Block:
    """A scan in chunks, of which `total` gives what they hand on."""
    has_rows = any(isinstance(stmt, (Fold, Nest)) for stmt in statements(fold.body))
    length = 1 if has_rows else LENGTH
    *parts, chunks, whole = in_parts(total, length)
    count = chunks.indices[0].size
    arrays = [Var(ArrayType(carry.entry.type.dtype, (count,))) for carry in fold.carries]     # type: ignore[union-attr]
    (place,) = (index.var for index in whole.indices)
    whole.body[:0] = [Store(array, (place,), carry.entry, False, fold.origin)
                      for array, carry in zip(arrays, whole.carries, strict=True)]
    for ours, theirs in zip(whole.carries, fold.carries, strict=True):
        ours.out = theirs.out
    rest = _without_stores(whole) if levels > 1 else None
    before = [whole] if rest is None else _in_chunks(whole, rest, levels - 1)
    return [*parts, chunks, *(Allocate(array, CHUNKS, fold.origin) for array in arrays), *before,
            _chunks(fold, arrays, count, length)]


def _chunks(fold: Fold, begins: list[Var], count: Any, length: int) -> Nest:
    """The chunks of a scan, each of which begins with what is before it."""
    (index,) = fold.indices
    chunk, own = Var(INT), Var(INT, index.var.name)
    start = Size.of(Unknown(chunk)) * length
    size = least(length, index.size - start)
    current().assumptions.within(chunk, 0, count - 1)
    current().assumptions.within(own, 0, size - 1)
    renaming = Renaming(Copier({index.var: atom_of_size(start + Size.of(Unknown(own)))}))
    body = renaming.block(fold.body)
    carries, loads = [], []
    for carry, array in zip(fold.carries, begins, strict=True):
        begin = Var(carry.entry.type)
        loads.append(Let((begin,), Load, (array, chunk), {"of": CHUNKS}, fold.origin))
        carries.append(Carry(carry.entry, begin, renaming.copier.atom(carry.next), Var(carry.out.type)))
    inner = Fold([Index(own, size)], carries, body, fold.origin)
    return Nest([Index(chunk, count)], [*loads, inner], fold.origin, apart=True)
