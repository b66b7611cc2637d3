"""Arrays that are not kept: where one is read, what makes its element is computed instead.

    nest i < n - 2                          nest k < m
        a = load x, i + 2                       a = load x, order[k] + 2
        store part, i, a            and         …
    nest k < m
        p = load part, order[k]

An array is given up if its elements cost nothing to make (slices, transposes, spread or constant
arrays), or little and are read in few places, or are each read once (``p[0] + p[1] + p[2]``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Any

from ...core.grammar import If, Let, Loop, Var
from ...core.walk import atom_vars
from ...ops.arithmetic import Cast
from ...ops.identity import Same
from ..nest.copying import NestCopier
from ..nest.nest_walk import all_uses, defined, inner_blocks, is_load, statements, uses_after, uses_before, writes
from ..nest.nests import Allocate, Block, Fold, Load, Nest, Store
from ..nest.places import are_apart
from ..ordering.unrolling import VECTOR

FREE, CHEAP = 0, 8                     # what recomputing an element may cost in all
RATHER_THAN_A_ROW = 48                 # the same, where it takes less time than to keep a row in memory


@dataclass(slots=True)
class Site:
    """A load of an array: its block, the statements around it between there and the array's own block,
    and whether a loop or another nest runs it again and again."""

    load: Let
    block: Block
    around: tuple[Any, ...]


@dataclass(slots=True)
class Producer:
    """An array that one nest fills, element by element, and where it is read. `within` are the nests of which each
    iteration fills and reads a row of its own, if that is so, and `home` is the block of the nest that fills it.
    `lasting` are arrays that are written once, and kept."""

    memory: Allocate
    block: Block
    nest: Nest | Fold | None = None
    home: Block = field(default_factory=list)
    around: tuple[Any, ...] = ()
    within: tuple[Any, ...] = ()
    sites: list[Site] = field(default_factory=list)
    kept: bool = False
    lasting: frozenset[Var] = frozenset()

    @property
    def array(self) -> Var:
        return self.memory.target

    @property
    def store(self) -> Store:
        return filled_arrays(self.nest, self.rows)[self.array]

    @property
    def rows(self) -> set[Var]:
        """The places of rows."""
        return _places_of(self.within)

    def reads_own_rows(self) -> bool:
        """Whether what reads the array reads the row that its iteration has filled."""
        where = [(axis, k) for axis, k in enumerate(self.store.at) if k in self.rows]
        return all(site.around[:len(self.within)] == self.within
                   and all(site.load.args[1 + axis] is k for axis, k in where) for site in self.sites)

    def makers(self) -> Block:
        """The statements that make an element. What the nest stores in an array that is kept is read there."""
        assert self.nest is not None
        lasting = {each.value: each for each in self.nest.body
                   if isinstance(each, Store) and each.array in self.lasting and _fills(self.nest, each)}
        return makers_of(self.nest, self.store, lasting)


def substitute_arrays(block: Block, results: list[Any], most: int = CHEAP, of_sums: bool = False,
                      of_rows: int | None = None, of_read: bool = False) -> bool:
    """Gives up arrays, in place; tells whether there was any. What is read where an array has been given
    up is looked at when it is called again. `most` is what making an element may cost; with `of_sums`, only arrays
    of what is then added up are looked at, with `of_read` only those made of one that others read.
    `of_rows` is what it may cost in all for an array that is filled row by row, if such arrays are looked at."""
    moved: set[Var] = set()
    given_up = False
    loads = Counter(stmt.args[0] for stmt in statements(block) if is_load(stmt)) if of_read else Counter()
    for producer in reversed(_Producers(block, results).found):
        pays = _pays_for_rows(producer, of_rows) if producer.within else _pays(producer, most)
        pays = pays and (not of_sums or _is_added_up(producer)) and (not of_read or _is_of_read(producer, loads))
        if producer.array not in moved and pays:
            moved.update(stmt.args[0] for stmt in statements([producer.nest])
                         if is_load(stmt))
            _substitute(producer)
            given_up = True
    return given_up


class _Producers:
    """Finds the arrays of a function that could be given up."""

    def __init__(self, block: Block, results: list[Any]) -> None:
        self.by_array: dict[Var, Producer] = {}
        self.fillings: dict[int, dict[Var, Store]] = {}                  # what the statements around fill
        self._block(block, ())
        for var in atom_vars(results):
            self._keep(var)
        counts = Counter(array for stmt in statements(block) for array in writes(stmt))
        lasting = frozenset(array for array, each in self.by_array.items()
                            if each.kept and each.memory.source is None and counts[array] == 1)
        self.found = [each for each in self.by_array.values()
                      if not each.kept and each.nest is not None and each.reads_own_rows()]
        for each in self.found:
            each.lasting = lasting

    def _keep(self, var: Var) -> None:
        if var in self.by_array:
            self.by_array[var].kept = True

    def _block(self, block: Block, around: tuple[Any, ...]) -> None:
        """Looks at the statements of a block inside of the statements `around`."""
        for stmt in block:
            match stmt:
                case Allocate():
                    self._allocated(stmt, block, around)
                case Store():
                    self._stored(stmt, around)
                case Let() if is_load(stmt):
                    self._loaded(stmt, block, around)
                case Let():
                    self._uses(uses_before(stmt))
                case _:
                    self._other(stmt, block, around)

    def _allocated(self, stmt: Allocate, block: Block, around: tuple[Any, ...]) -> None:
        self.by_array[stmt.target] = Producer(stmt, block, around=around)
        if stmt.source is not None:
            self._keep(stmt.target)
        self._uses(uses_before(stmt))

    def _stored(self, stmt: Store, around: tuple[Any, ...]) -> None:
        if not around or stmt.array not in self.fillings[id(around[-1])]:
            self._keep(stmt.array)
        self._uses((*stmt.at, stmt.value))

    def _loaded(self, stmt: Let, block: Block, around: tuple[Any, ...]) -> None:
        source, *at = stmt.args
        producer = self.by_array.get(source)                             # type: ignore[arg-type]
        if producer is not None:
            producer.sites.append(Site(stmt, block, around[len(producer.around):]))
        self._uses(at)

    def _other(self, stmt: Any, block: Block, around: tuple[Any, ...]) -> None:
        filled = self.fillings[id(stmt)] = filled_arrays(stmt, _places_of(around))
        for array in filled:
            if array in self.by_array:
                self._filled(self.by_array[array], stmt, block, around)
        self._uses(uses_before(stmt))
        for inner in inner_blocks(stmt):
            self._block(inner, (*around, stmt))
        self._uses(uses_after(stmt))

    def _filled(self, producer: Producer, nest: Nest | Fold, home: Block, around: tuple[Any, ...]) -> None:
        """Notes which nest fills an array."""
        producer.kept |= producer.nest is not None
        producer.nest, producer.home, producer.within = nest, home, around[len(producer.around):]
        producer.kept |= not all(isinstance(each, Nest) for each in producer.within)
        producer.kept |= producer.array not in filled_arrays(nest, producer.rows)

    def _uses(self, items: Any) -> None:
        for var in atom_vars(tuple(items)):
            self._keep(var)


def _places_of(nests: Iterable[Any]) -> set[Var]:
    return {index.var for nest in nests if isinstance(nest, Nest) for index in nest.indices}


def filled_arrays(stmt: Any, rows: Container[Var] = ()) -> dict[Var, Store]:
    """The arrays that a nest (or a fold, by the way) of plain numbers fills, every element in an iteration of
    its own, with the stores that do it; or, of those that have one row for each of the places `rows`, that row."""
    if not isinstance(stmt, (Nest, Fold)):
        return {}
    stores = [each for each in stmt.body if isinstance(each, Store)]
    if not all(is_plain(each) or isinstance(each, Store) for each in stmt.body):
        return {}
    counts = Counter(store.array for store in stores)
    return {store.array: store for store in stores
            if counts[store.array] == 1 and _fills(stmt, store, rows) and _is_alone(stmt, store)}


def _is_alone(stmt: Nest | Fold, store: Store) -> bool:
    """Whether what is stored rests on nothing that one iteration hands on to the next: numbers of a fold, or rows of
    an array, where iterations are done in order."""
    handed = {carry.entry for carry in getattr(stmt, "carries", ())}
    if isinstance(stmt, Fold) or stmt.ordered:
        handed.update(each.array for each in stmt.body if isinstance(each, Store))
    return not handed or handed.isdisjoint((*all_uses(makers_of(stmt, store)), *atom_vars(store.value)))


def _fills(nest: Nest | Fold, store: Store, rows: Container[Var] = ()) -> bool:
    """Whether a store reaches every element of its array, or of its row, once."""
    indices = {index.var: index.size for index in nest.indices}
    seen: set[Var] = set()
    for k, size in zip(store.at, store.array.type.sizes, strict=True):   # type: ignore[union-attr]
        if isinstance(k, Var) and k in indices and k not in seen and indices[k] == size:
            seen.add(k)
        elif size != 1 and not (isinstance(k, Var) and k in rows):
            return False
    return not store.adds and len(seen) == len(indices)


def makers_of(nest: Nest | Fold, store: Store, lasting: dict[Any, Store] | None = None) -> Block:
    """The statements of a nest that make what is stored; of what is also stored to `lasting` arrays, loads."""
    needed, made = set(atom_vars(store.value)), []
    for stmt in reversed(nest.body):
        if not isinstance(stmt, Store) and not needed.isdisjoint(defined(stmt)):
            other = lasting.get(stmt.target) if lasting and isinstance(stmt, Let) and not is_load(stmt) else None
            if other is not None:
                stmt = Let(stmt.targets, Load, (other.array, *other.at), {}, stmt.origin)
            made.append(stmt)
            for each in statements([stmt]):
                needed.update(uses_before(each))
                needed.update(uses_after(each))
    return made[::-1]


def is_plain(stmt: Any) -> bool:
    return isinstance(stmt, Let) or isinstance(stmt, If) and all(map(is_plain, (*stmt.then, *stmt.orelse)))


def _pays(producer: Producer, most: int) -> bool:
    nest, sites = producer.nest, producer.sites
    assert nest is not None
    cost = cost_of(producer.makers())
    if cost <= FREE:
        return True
    if cost > most and most == FREE or any(_is_repeated(site) for site in sites):
        return False
    return len(sites) <= 1 or cost * len(sites) <= CHEAP or _are_read_once(sites) and not _is_of_vectors(producer)


def _is_of_vectors(producer: Producer) -> bool:
    """Whether an array is a matrix whose rows are vectors of a size that is known: a row is made at once then, which
    its single elements are not."""
    type: Any = producer.array.type
    return type.rank > 1 and isinstance(type.sizes[-1], int) and type.sizes[-1] >= VECTOR


def _pays_for_rows(producer: Producer, most: int | None) -> bool:
    """Whether making elements again costs less than to keep rows."""
    if most is None or any(_is_repeated(site) for site in producer.sites):
        return False
    nest = producer.nest
    makers = producer.makers()
    is_needed = isinstance(nest, Fold) or sum(isinstance(stmt, Store) for stmt in nest.body) > 1   # type: ignore[union-attr]
    return cost_of(makers) * _width(makers) * (len(producer.sites) + is_needed) <= most


def _width(block: Block) -> int:
    """How many times as much as one of float32 an operation on these numbers costs."""
    return 2 if any(isinstance(stmt, Let) and stmt.target.type.dtype.itemsize > 4 for stmt in statements(block)) else 1   # type: ignore[union-attr]


def _is_added_up(producer: Producer) -> bool:
    """Whether an array has more elements than what is made of it: products, of which sums are made."""
    sites = producer.sites
    return len(sites) > 1 and _are_read_once(sites) or len(sites) == 1 and any(
        _adds_up(stmt, sites[0].load) for stmt in sites[0].around[-1:])


def _is_of_read(producer: Producer, loads: Counter[Any]) -> bool:
    """Whether an array of numbers, read once, is made of another one that is also read elsewhere: nests that read the
    same are merged, and so the array would lie in memory until it is read."""
    made = Counter(stmt.args[0] for stmt in producer.makers() if is_load(stmt))
    is_float = producer.array.type.dtype.kind in "fc"                    # type: ignore[union-attr]
    return is_float and len(producer.sites) == len(made) == 1 and any(loads[array] > made[array] for array in made)


def _adds_up(stmt: Any, load: Let) -> bool:
    mentioned = set(atom_vars(load.args[1:]))
    if isinstance(stmt, Fold):
        return not mentioned.isdisjoint(index.var for index in stmt.indices)
    return isinstance(stmt, Nest) and stmt.ordered and any(
        isinstance(each, Store) and each.adds and not mentioned <= set(atom_vars(each.at)) for each in stmt.body)


def _are_read_once(sites: list[Site]) -> bool:
    """Whether no element is read at two of several sites."""
    return are_apart([site.load.args[1:] for site in sites])


def _is_repeated(site: Site) -> bool:
    """Whether more elements are read than there are places of a nest that they depend on: a loop around,
    or an index that does not count, with one inside that does."""
    if any(isinstance(stmt, Loop) for stmt in site.around):
        return True
    indices = [index.var for stmt in site.around for index in getattr(stmt, "indices", ())]
    mentioned = set(atom_vars(site.load.args[1:]))
    used = [k for k, var in enumerate(indices) if var in mentioned]
    if not mentioned <= set(indices):                                    # places that are computed
        return bool(indices)
    return used != list(range(len(used))) or not used and bool(indices)


COSTS = {"add": 1, "subtract": 1, "multiply": 1, "negative": 1, "divide": 4, "sqrt": 8, "where": 1, "maximum": 1,
         "minimum": 1, "absolute": 1, "square": 1, "cast": 0, "same": 0}


def cost_of(block: Block) -> int:
    """About how many operations on numbers a block takes; reading places of arrays and computing with
    places is free."""
    total, loads = 0, 0
    for stmt in block:
        match stmt:
            case Let() if is_load(stmt):
                loads += 1
            case Let():
                total += _cost(stmt)
            case If():
                total += 1 + max(cost_of(stmt.then), cost_of(stmt.orelse))
    return total + max(0, loads - 1)


def _cost(stmt: Let) -> int:
    type: Any = stmt.target.type
    if stmt.op is Cast or type.dtype.kind in "ib":
        return 0
    return COSTS.get(stmt.op.name, 20)


def _substitute(producer: Producer) -> None:
    """Computes at every place where the array is read what makes its element."""
    nest = producer.nest
    assert nest is not None
    store, makers = producer.store, producer.makers()
    for site in producer.sites:
        places = dict(zip(store.at, site.load.args[1:], strict=True))
        copier = NestCopier({var: place for var, place in places.items() if isinstance(var, Var)})
        made = copier.block(makers)
        value = copier.atom(store.value)
        at = next(k for k, stmt in enumerate(site.block) if stmt is site.load)
        site.block[at:at + 1] = [*made, Let(site.load.targets, Same, (value,), {}, site.load.origin)]
    nest.body.remove(store)
    producer.block.remove(producer.memory)
    if isinstance(nest, Nest) and not any(isinstance(stmt, Store) for stmt in nest.body):
        producer.home.remove(nest)
