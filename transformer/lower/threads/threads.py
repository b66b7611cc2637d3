"""Loops whose iterations are shared out to threads: each in a function of its own, over a range.

    for i in range(n):                       def fill_y(first, count, x, y):
        y[i] = x[i] * x[i]           →           for i in places(first, count):
                                                     y[i] = x[i] * x[i]

                                             in_threads(fill_y, n, 3, x, y)

Iterations may be shared out if they are independent, write apart from each other, and test nothing. That they write
apart is seen, or promised by the program (`independent`) for arrays that they write only. Memory that each of them uses
for itself is made by each thread. A long sum is one of the sums of its chunks, which are the
same for any number of threads, and so is the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Carry, Effect, If, Let, Loop, Var
from ...core.sizes import Extent, Floor, Least, Size, Unknown, least, product
from ...core.types import INT, ArrayType
from ...core.walk import Copier, atom_of_size, atom_vars, size_of_atom
from .. import vecmath
from ..fusion.sums import BLOCK
from ..nest.changing import Changing, counted, defined_inside
from ..nest.clean import Renaming
from ..nest.combinations import CHUNKS, IN_ANY_ORDER, Combined, combinations, dtype_of, of_parts
from ..nest.dependence import Frame, accesses, as_nest
from ..nest.nest_walk import inner_blocks, is_load, statements, uses_after, uses_before
from ..nest.nests import Allocate, Block, Fold, Index, Nest, Product, Store, Task
from .private import PLAIN, has_sequences, private_arrays
from .promises import keeps_promise

ROWS = 1 << 4                          # of a long sum make a chunk, where its elements are rows
DEAR = 16                              # what a function of vector mathematics costs, in additions
UNKNOWN_TRIPS = 16                     # of a loop whose end depends on numbers
COPYING = 2                            # the cost of what is bound by memory, with nothing to share
LEAST_COST = 1 << 16                   # additions below which a loop stays where it is


# -- sums in chunks -------------------------------------------------------------------------------


def in_chunks(block: Block, length: int = BLOCK, rows: int = ROWS, for_gpu: bool = False) -> Block:
    """The block with long folds in chunks, of this length where their elements are numbers, or of so many rows; on a
    GPU of so many rows, no longer than that."""
    made: Block = []
    for stmt in block:
        if not isinstance(stmt, Fold) or not may_be_chunked(stmt, for_gpu):
            made.append(stmt)
        elif for_gpu and _is_of_numbers(stmt):
            lengths = [*[1] * (len(stmt.indices) - 2), rows, length][-len(stmt.indices):]
            *parts, whole = in_parts(stmt, *lengths)
            made += [*parts, *(in_chunks([whole], length, rows) if len(lengths) > 2 else [whole])]
        else:
            made += in_parts(stmt, rows if len(stmt.indices) > 1 or _has_loops(stmt) else length)
    return made


def _is_of_numbers(stmt: Fold) -> bool:
    """Whether a fold goes along several axes, adds up what does not depend on which comes first, and writes nothing."""
    inside = list(statements(stmt.body))
    own = {index.var for index in stmt.indices}
    return (len(stmt.indices) > 1 and not any(isinstance(each, (Store, Fold, Nest, Loop)) for each in inside)
            and all(own.isdisjoint(atom_vars((index.size,))) for index in stmt.indices)
            and all(isinstance(each, Combined) for each in combinations(stmt) or ()))


def may_be_chunked(stmt: Fold, for_gpu: bool) -> bool:
    """Whether chunks of a fold can be done at once, which pays; a GPU reads memory no faster otherwise."""
    first = stmt.indices[0]
    is_open = any(not isinstance(index.size, int) or index.size > BLOCK for index in (
        stmt.indices if for_gpu and _is_of_numbers(stmt) else [first]))
    pays = is_open if for_gpu else not isinstance(first.size, int) and _is_worth_it(stmt)
    return pays and is_independent(stmt, first, set()) and _is_combined(stmt, for_gpu)


def _is_combined(stmt: Fold, for_gpu: bool) -> bool:
    """Whether results of chunks can be combined. A processor takes as long for products and places of extremes, which
    it computes many at a time; sums of several items in an iteration are as exact as they are only in their order."""
    found = combinations(stmt)
    if found is None or for_gpu:
        return found is not None
    folds = [each for each in [stmt, *statements(stmt.body)] if isinstance(each, Fold)]
    entries = {carry.entry for each in folds for carry in each.carries}
    return all(isinstance(each, Combined) and each.step.op in IN_ANY_ORDER and not entries.isdisjoint(each.step.args)
               for each in found)


@dataclass
class Cut:
    """An index in parts of a length, of which the `chunk`-th has places of its `own`, or `is_one` place."""

    index: Index
    length: int
    chunk: Var
    own: Var
    is_one: bool

    @property
    def parts(self) -> Extent:
        return (self.index.size + (self.length - 1)) // self.length

    @property
    def start(self) -> Extent:
        return Size.of(Unknown(self.chunk)) * self.length

    @property
    def count(self) -> Extent:
        return least(self.length, self.index.size - self.start)

    @property
    def place(self) -> Atom:
        """Where an item of a part is."""
        return self.chunk if self.is_one else atom_of_size(self.start + Size.of(Unknown(self.own)))


def in_parts(stmt: Fold, *lengths: int) -> Block:
    """Folds over chunks, what they give in arrays, and a fold over those; `lengths` are those of chunks along the first
    axes."""
    cuts = _cuts(stmt, lengths)
    place: Extent = 0
    for cut in cuts:
        place = place * cut.parts + Size.of(Unknown(cut.chunk))
    parts = product([cut.parts for cut in cuts])
    groups: Any = combinations(stmt)
    begins = {carry: begin for each in groups for carry, begin in zip(each.carries, each.begins(), strict=True)}
    arrays = {carry: Var(ArrayType(dtype_of(carry), (parts,))) for carry in stmt.carries}
    whole = of_parts(stmt, groups, arrays, parts)
    inner = _of_chunk(stmt, cuts, begins)
    stores: Block = [Store(array, (atom_of_size(place),), carry.out, False, stmt.origin)
                     for array, carry in zip(arrays.values(), inner.carries, strict=True)]
    chunks = Nest([Index(cut.chunk, cut.parts) for cut in cuts], [inner, *stores], stmt.origin, apart=len(cuts) > 1)
    return [*(Allocate(array, CHUNKS, stmt.origin) for array in arrays.values()), chunks, whole]


def _cuts(stmt: Fold, lengths: Sequence[int]) -> list[Cut]:
    """The indices that are longer than their chunks, cut."""
    cuts = [Cut(index, length, Var(INT), Var(INT, index.var.name), length == 1 and index is not stmt.indices[-1])
            for index, length in zip(stmt.indices, lengths) if not isinstance(index.size, int) or index.size > length]
    for cut in cuts:
        current().assumptions.within(cut.chunk, 0, cut.parts - 1)
        current().assumptions.within(cut.own, 0, cut.count - 1)
    return cuts


def _of_chunk(stmt: Fold, cuts: list[Cut], begins: dict[Carry, Any]) -> Fold:
    """The fold over one chunk, with names of its own."""
    inner = [Carry(Var(carry.entry.type, carry.entry.name), begins[carry], carry.next, Var(carry.out.type))
             for carry in stmt.carries]
    mapping: dict[Var, Atom] = {cut.index.var: cut.place for cut in cuts}
    mapping.update((old.entry, new.entry) for old, new in zip(stmt.carries, inner, strict=True))
    renaming = Renaming(Copier(mapping))
    body = renaming.block(stmt.body)
    for carry in inner:
        carry.next = renaming.copier.atom(carry.next)
    cut_at = {cut.index.var: cut for cut in cuts}
    indices = [Index(cut_at[each.var].own, cut_at[each.var].count) if each.var in cut_at else
               Index(each.var, renaming.copier.size(each.size)) for each in stmt.indices]
    ones = {cut.own for cut in cuts if cut.is_one}
    return Fold([index for index in indices if index.var not in ones], inner, body, stmt.origin)


def _has_loops(stmt: Fold) -> bool:
    return any(isinstance(each, (Nest, Fold, Loop)) for each in statements(stmt.body))


# -- sharing out ----------------------------------------------------------------------------------


def shared_out(block: Block, results: list[Atom]) -> Block:
    """The block with tasks in place of nests that threads may share."""
    uses = used_by(block)
    uses.update(set(atom_vars(results)))
    return _shared_out(block, uses)


def used_by(block: Block) -> Counter[Var]:
    """How many statements use a variable."""
    return Counter(var for stmt in statements(block) for var in {*uses_before(stmt), *uses_after(stmt)})


def _shared_out(block: Block, uses: Counter[Var]) -> Block:
    made: Block = []
    for stmt in block:
        task = _task(stmt, made, uses)
        if task is not None:
            made = [each for each in made if each not in task.body]
            stmt = task
        elif isinstance(stmt, (If, Loop)):
            for inner in inner_blocks(stmt):
                inner[:] = _shared_out(inner, uses)
        made.append(stmt)
    return made


def _task(stmt: Any, before: Block, uses: Counter[Var]) -> Task | None:
    """A nest, or a loop that does what a nest does, as a task; None if threads had better not share it."""
    nest = as_nest(stmt) if isinstance(stmt, Loop) else stmt
    if not isinstance(nest, Nest) or not _is_worth_it(nest):
        return None
    carried = {carry.entry for carry in getattr(stmt, "carries", ())}
    own = [] if nest is stmt and nest.ordered else [
        each for each in own_memory(nest, before, uses) if each.target not in carried]
    private = {each.target for each in own}
    promised = getattr(stmt, "independent", False)
    index = next((each for each in nest.indices if is_independent(nest, each, private)
                  or promised and keeps_promise(nest, private)), None)
    return None if index is None else Task([*own, nest], index, _cost(nest, index), nest.origin)


def own_memory(stmt: Nest, before: Block, uses: Counter[Var]) -> list[Allocate]:
    """Memory that nothing but a nest uses."""
    inside = used_by([stmt])
    return [each for each in before if isinstance(each, Allocate) and each.source is None
            and uses[each.target] == inside[each.target] and not _is_read_first(each.target, stmt)]


def _is_read_first(array: Var, stmt: Nest) -> bool:
    """Whether a nest adds to an array, or reads it before it writes it."""
    for each in statements([stmt]):
        if isinstance(each, Store) and each.array is array:
            return bool(each.adds)
        if is_load(each) and each.args[0] is array:
            return True
        if isinstance(each, Product) and array in {part.array for part in each.parts}:
            return each.adds or array in (each.left.array, each.right.array)
    return True


def _is_worth_it(stmt: Nest | Fold) -> bool:
    """Whether there is a size of arrays for which sharing out pays."""
    each = Extents(stmt).cost(stmt.body)
    whole = _cost(stmt, stmt.indices[0]) * stmt.indices[0].size
    return (not isinstance(each, int) or each > COPYING) and (not isinstance(whole, int) or whole >= LEAST_COST)


def is_independent(stmt: Nest | Fold, index: Index, own: set[Var], may_fail: bool = False) -> bool:
    """Whether iterations of an index write apart from each other, and do nothing else; unless they `may_fail`, they
    test nothing."""
    if not {each.var for each in stmt.indices}.isdisjoint(atom_vars((index.size,))):
        return False
    inside = list(statements(stmt.body))
    if not all(isinstance(each, PLAIN) or may_fail and isinstance(each, Effect) for each in inside):
        return False
    if has_sequences(inside):
        return False
    private = private_arrays(stmt.body, own)
    places = None if private is None else _places(inside, private)
    if places is None:
        return False
    changing = Changing(stmt, inside)
    rest = {array for array, all_places in places.items() if not changing.are_apart(all_places, index.var)}
    return not rest or _never_meet(stmt, index, rest)


def _never_meet(stmt: Nest | Fold, index: Index, arrays: set[Var]) -> bool:
    """Whether no iteration touches an element of these arrays that another one writes."""
    others = [each for each in stmt.indices if each is not index]
    found = accesses([Nest(others, stmt.body)] if others else stmt.body, with_numbers=True)
    if found is None:
        return False
    frame, touched = Frame(index.var, index.size), [each for each in found if each.array in arrays]
    return not any(frame.meet(one, other) or frame.meet(other, one)
                   for one in touched if one.writes for other in touched)


def _places(inside: list[Any], private: set[Var]) -> dict[Var, list[tuple[Any, ...]]] | None:
    """Where iterations read and write the arrays that they write for others; None where they are used otherwise."""
    places: dict[Var, list[tuple[Any, ...]]] = {}
    for each in inside:
        if isinstance(each, Store) and each.array not in private:
            places.setdefault(each.array, []).append(each.at)
    for each in inside:
        if is_load(each):
            if each.args[0] in places:
                places[each.args[0]].append(each.args[1:])
        elif isinstance(each, Let) and not places.keys().isdisjoint(each.args):
            return None
        elif isinstance(each, Allocate) and each.source in places:
            return None
    return places


# -- cost -----------------------------------------------------------------------------------------


def _cost(stmt: Nest | Fold, index: Index) -> Extent:
    """What one iteration of an index costs, in additions, at most."""
    inner = Extents(stmt)
    return inner.cost(stmt.body) * product(inner.longest(each.size) for each in stmt.indices if each is not index)


class Extents:
    """Sizes without the indices of a nest: what they are at most."""

    def __init__(self, outer: Nest | Fold) -> None:
        self.sizes = dict(pair for each in statements([outer]) for pair in counted(each))
        self.inside = {*self.sizes, *defined_inside(list(statements(outer.body)))}

    def longest(self, size: Extent) -> Extent:
        """What a size does not exceed, in terms of what is known before the nest."""
        if not isinstance(size, Size) or not any(map(self._changes, size.atoms())):
            return size
        total: Extent = 0
        for atoms, count in size.terms.items():
            if count > 0 or not any(map(self._changes, atoms)):
                total = total + product(map(self._most, atoms)) * count
        return total

    def _most(self, atom: Any) -> Extent:
        match atom:
            case Least(first, second):
                sides = [self.longest(first), self.longest(second)]
                return next((side for side in sides if isinstance(side, int)), sides[0])
            case Floor(numerator, int() as denominator) if denominator > 0:
                return self.longest(numerator) // denominator
            case Unknown(var) if var in self.sizes:
                return self.longest(self.sizes[var])
        return UNKNOWN_TRIPS if self._changes(atom) else Size.of(atom)

    def _changes(self, atom: Any) -> bool:
        return not self.inside.isdisjoint(atom_vars((Size.of(atom),)))

    def cost(self, block: Block) -> Extent:
        total: Extent = 0
        for stmt in block:
            inner: Extent = _sum(map(self.cost, inner_blocks(stmt)))
            if isinstance(stmt, (Nest, Fold)):
                inner = inner * product(self.longest(index.size) for index in stmt.indices)
            elif isinstance(stmt, Loop):
                inner = inner * (UNKNOWN_TRIPS if stmt.trips is None else self.longest(size_of_atom(stmt.trips)))
            elif isinstance(stmt, Product):
                inner = product(self.longest(index.size) for index in stmt.indices)
            elif isinstance(stmt, Let):
                inner = DEAR if stmt.op.name in vecmath.FORMS or stmt.op.helper else 1
            total = total + inner + isinstance(stmt, Store)
        return total


def _sum(sizes: Any) -> Extent:
    total: Extent = 0
    for size in sizes:
        total = total + size
    return total
