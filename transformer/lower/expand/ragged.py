"""Loops in loops that record nobody knows how much: their rows lie one behind the other, in the order in which they
come about, and it is recorded where those of each iteration begin.

    loop i < n                          loop i < n
                                            carry begin = 0
        loop k in none                      loop k in none
            …                                   …
            record u_k = u                      record u_k = u              row `begin + k` of one array
                                            count m
                                        next begin + m
        record u_k_k = u_k                  record u_k_k = u_k
                                            record begins = begin

The same for loops deeper inside, for branches between them, and for counted loops whose number of trips is not known
before the outermost one. `Recording` makes the array, and reads and writes its rows. What says where rows begin is a
record as all others; where it is nested and ragged itself, it has its own rows in turn.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.builder import current
from ...core.grammar import UNDEFINED, Atom, Block, Carry, Const, Function, If, Loop, Merge, Read, Record, Var, type_of
from ...core.sizes import Extent
from ...core.types import INT, ArrayType, SeqType
from ...core.walk import all_definitions, all_statements, atom_of_size, atom_vars, size_of_atom


@dataclass(eq=False)
class Chain:
    """A record of records: the loops that keep it and the branches between, outermost first, each with the sequence
    that it hands outwards."""

    path: list[Any]
    sequences: list[Var]

    @property
    def loops(self) -> list[Loop]:
        return [stmt for stmt in self.path if isinstance(stmt, Loop)]


@dataclass
class Ragged:
    """Of which sequences the rows lie one behind the other; of those that consist of rows, where they begin."""

    function: Function
    sequences: set[Any] = field(default_factory=set)
    begins: dict[Any, Atom] = field(default_factory=dict)


def with_begins(function: Function) -> Ragged:
    """The function with records of where the rows of ragged records begin."""
    made = Ragged(function)
    while groups := _ragged(made.function, made.sequences):
        if made.function is function:
            made.function = replace(function, body=_own(function.body))
            groups = _ragged(made.function, made.sequences)
        for chains in groups:
            _extend(made, chains)
    return made


def _own(block: Block) -> Block:
    """The block with loops and branches of its own, which may be changed."""
    made: Block = []
    for stmt in block:
        if isinstance(stmt, Loop):
            stmt = replace(stmt, test=_own(stmt.test), body=_own(stmt.body), carries=list(stmt.carries),
                           reads=list(stmt.reads), records=list(stmt.records))
        elif isinstance(stmt, If):
            stmt = replace(stmt, then=_own(stmt.then), orelse=_own(stmt.orelse), merges=list(stmt.merges))
        made.append(stmt)
    return made


# -- what is ragged -------------------------------------------------------------------------------


def _ragged(function: Function, known: set[Any]) -> list[list[Chain]]:
    """The chains of ragged records that are not known yet, those of the same loops together."""
    statements = [stmt for stmt in all_statements(function.body) if isinstance(stmt, (If, Loop))]
    kept = {atom for stmt in statements for _, values in _sequences(stmt) for atom in values}
    defined = {*function.params, *all_definitions(function.body)}
    groups: dict[tuple[int, ...], list[Chain]] = defaultdict(list)
    for stmt in statements:
        for target, _ in _sequences(stmt):
            chain = _chain(stmt, target) if target not in kept | known else None
            if chain is not None and _is_ragged(chain, defined):
                groups[tuple(map(id, chain.path))].append(chain)
    return list(groups.values())


def _sequences(stmt: Any) -> list[tuple[Var, list[Any]]]:
    """The sequences that a loop or branch hands outwards, with what it makes them of."""
    if isinstance(stmt, Loop):
        return [(record.target, [record.value]) for record in stmt.records]
    merges = (merge for merge in stmt.merges if isinstance(merge.target.type, SeqType))
    return [(merge.target, [merge.then, merge.orelse]) for merge in merges]


def _chain(stmt: Any, target: Var) -> Chain | None:
    """How a sequence comes about; None where it is no record of one row for each iteration."""
    value = _value(stmt, target)
    if isinstance(stmt, Loop) and isinstance(type_of(value), ArrayType):
        return Chain([stmt], [target])
    blocks = (stmt.body,) if isinstance(stmt, Loop) else (stmt.then, stmt.orelse)
    inner = next((each for block in blocks for each in block if isinstance(each, (If, Loop))
                  and any(value is handed for handed, _ in _sequences(each))), None)
    rest = None if inner is None else _chain(inner, value)       # what calls save is no sequence
    return None if rest is None else Chain([stmt, *rest.path], [target, *rest.sequences])


def _value(stmt: Any, target: Var) -> Any:
    """What a sequence is made of: of a branch, what the only side gives that has any."""
    values = next(values for each, values in _sequences(stmt) if each is target)
    sides = [value for value in values if value is not UNDEFINED]
    return sides[0] if len(sides) == 1 else None


def _is_ragged(chain: Chain, defined: set[Var]) -> bool:
    """Whether there is no array with a row for every iteration, made before the outermost statement."""
    first, *rest = chain.loops
    grows = first.trips is None
    if chain.path == [first]:
        return grows and not _has_known_rows(chain, defined)
    if not rest and not grows:
        return False
    if any(isinstance(stmt, If) for stmt in chain.path[1:]) or grows and first is not chain.path[0]:
        return True
    before = defined - set(all_definitions([chain.path[0]]))
    return not all(_is_known(loop, before, not grows) for loop in rest)


def _has_known_rows(chain: Chain, defined: set[Var]) -> bool:
    before = defined - set(all_definitions([chain.path[0]]))
    row: Any = chain.sequences[-1].type
    return all(before.issuperset(atom_vars((largest(size, before),))) for size in row.element.sizes)


def _is_known(loop: Loop, before: set[Var], or_largest: bool) -> bool:
    if loop.trips is None:
        return False
    trips = size_of_atom(loop.trips)
    return before.issuperset(atom_vars((largest(trips, before) if or_largest else trips,)))


def largest(size: Extent, before: set[Var]) -> Extent:
    """A size in terms of what is defined `before`: where it changes, the largest."""
    bound = None if before.issuperset(atom_vars((size,))) else current().assumptions.highest(size)
    return size if bound is None else bound


# -- where rows begin -----------------------------------------------------------------------------


def _extend(made: Ragged, chains: list[Chain]) -> None:
    """Makes the loops of some chains count their rows, and record how many there were before."""
    path, loops = chains[0].path, chains[0].loops
    _counted(path[path.index(loops[0]):], Const(0))
    places = _places(path, loops)
    found: dict[Any, Atom] = {}
    for chain in chains:
        made.sequences.update(chain.sequences)
        found.update(zip(chain.sequences, places, strict=True))
    _read(made, found)
    made.begins.update((seq, place) for seq, place in found.items() if isinstance(seq.type.element, ArrayType))


def _counted(path: list[Any], now: Atom) -> Atom:
    """How many rows there are behind a statement, where there are so many before it."""
    stmt, rest = path[0], path[1:]
    if isinstance(stmt, If):
        after, target = _counted(rest, now), Var(INT)
        stmt.merges.append(Merge(target, *((after, now) if rest[0] in stmt.then else (now, after))))
        return target
    if not rest:
        return atom_of_size(size_of_atom(now) + _trips(stmt))
    entry, out = Var(INT, "begin"), Var(INT)
    stmt.carries.append(Carry(entry, now, _counted(rest, entry), out))
    return out


def _trips(loop: Loop) -> Extent:
    """How often a loop has run."""
    trips = None if loop.trips is None else size_of_atom(loop.trips)
    if trips is not None and loop.cond is None and current().assumptions.certainly_at_least(trips, 0):
        return trips
    loop.count = loop.count or Var(INT)
    return size_of_atom(loop.count)


def _places(path: list[Any], loops: list[Loop]) -> list[Atom]:
    """For every statement of a path, what says where the rows of its sequence begin: a number where it consists of
    rows, else a record of them."""
    if len(loops) == 1:
        return [Const(0)] * len(path)
    last = path.index(loops[-2])
    place: Any = loops[-2].carries[-1].entry
    places: list[Atom] = [place] * (len(path) - last - 1)
    for stmt in reversed(path[:last + 1]):
        if isinstance(stmt, Loop):
            stmt.records.append(Record(Var(SeqType(type_of(place)), "begins"), place, saved=True))
            place = stmt.records[-1].target
        else:
            inner = path[path.index(stmt) + 1]
            sides = (place, UNDEFINED) if inner in stmt.then else (UNDEFINED, place)
            stmt.merges.append(Merge(Var(place.type, "begins"), *sides, saved=True))
            place = stmt.merges[-1].target
        places.insert(0, place)
    return places


def _read(made: Ragged, found: dict[Any, Atom]) -> None:
    """Wherever a sequence of sequences is read, what says where rows begin is read as well."""
    for loop in all_statements(made.function.body):
        read: dict[Any, Var] = {}
        for each in list(getattr(loop, "reads", ())):
            if each.source in found and isinstance(each.target.type, SeqType):
                source: Any = found[each.source]
                if source not in read:
                    read[source] = Var(source.type.element, "begin")
                    loop.reads.append(Read(read[source], source))        # type: ignore[union-attr]
                made.sequences.add(each.target)
                found[each.target] = read[source]
