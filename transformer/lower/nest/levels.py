"""Every number is computed once, in the outermost nest that it depends on.

What is computed or read twice is computed once; what is read where it has just been written is the
number that was written; what does not depend on an index is computed before that loop:

    nest i < n, j < m                   nest i < n
        store y, i, j, exp(x[i]) * z[j]     t = exp(x[i])
                                            nest j < m
                                                store y, i, j, t * z[j]

Arrays are values here (nobody reads one before all of it is written, but for what the same iteration
wrote), so that reading one twice gives the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from ...core.grammar import Atom, Const, If, Let, Loop, Var, type_of
from ...core.sizes import Size
from ...core.walk import Copier, atom_vars, inner_targets
from ...ops.logic import BitwiseAnd, BitwiseOr
from ...ops.selection import Maximum, Minimum, Where
from .copying import NestCopier
from .nest_walk import defined, inner_blocks, is_load, statements
from .nests import Allocate, Block, Fold, Library, Nest, Product, Store, split
from .places import are_apart


def level(block: Block, results: list[Atom]) -> Block:
    """The block with every number in its place. `results` are renamed as well."""
    leveling = _Leveling(block)
    made = leveling.run(block, None)
    results[:] = [leveling.copier.atom(atom) for atom in results]
    return made


@dataclass(slots=True)
class Scope:
    """A block that is being made: what it defines, and what is known in it. `nest` tells whether it is
    the body of a nest or fold, whose numbers may move out."""

    parent: Scope | None
    nest: bool
    block: Block = field(default_factory=list)
    defined: set[Var] = field(default_factory=set)
    known: dict[Hashable, Var] = field(default_factory=dict)
    written: dict[Hashable, Atom] = field(default_factory=dict)

    def find(self, table: str, key: Hashable) -> Atom | None:
        scope: Scope | None = self
        while scope is not None:
            if key in getattr(scope, table):
                return getattr(scope, table)[key]
            scope = scope.parent
        return None


class _Leveling:
    """Makes every block anew, outer ones first, so that a number finds those of the scopes around it. Elements are only
    taken from what has just been written where an array is `written_once`: other stores could lie in between."""

    def __init__(self, block: Block) -> None:
        self.copier = Copier()
        stores = [stmt for stmt in statements(block) if isinstance(stmt, Store)]
        places: dict[Var, list[Any]] = defaultdict(list)
        for stmt in stores:
            places[stmt.array].append(stmt.at)
        several = {stmt.target for stmt in statements(block) if isinstance(stmt, Allocate) and stmt.source is not None}
        adding = {stmt.array for stmt in stores if stmt.adds}
        self.written_once = {array for array, ats in places.items() if are_apart(ats)} - several - adding

    def run(self, block: Block, parent: Scope | None, nest: bool = False, own: tuple[Var, ...] = ()) -> Block:
        scope = Scope(parent, nest)
        scope.defined.update(own)
        for stmt in block:
            self._stmt(stmt, scope)
        return scope.block

    def _stmt(self, stmt: Any, scope: Scope) -> None:
        for target in (*defined(stmt), *inner_targets(stmt)):
            if getattr(target.type, "sizes", True):
                target.type = self.copier.type(target.type)
        match stmt:
            case Let():
                self._let(stmt, scope)
                return
            case Store():
                value = self.copier.atom(stmt.value)
                stmt = Store(stmt.array, self.copier.args(stmt.at), value, stmt.adds, stmt.origin)
                if stmt.array in self.written_once:
                    scope.written[stmt.array, _keys(stmt.at)] = stmt.value
            case Product():
                stmt = NestCopier(self.copier.mapping).stmt(stmt)
            case Nest() | Fold():
                self._nest(stmt, scope)
                return
            case If():
                stmt.cond = self.copier.atom(stmt.cond)
                stmt.then, stmt.orelse = self.run(stmt.then, scope), self.run(stmt.orelse, scope)
                for merge in stmt.merges:
                    merge.then, merge.orelse = self.copier.atom(merge.then), self.copier.atom(merge.orelse)
            case Loop():
                self._loop(stmt, scope)
            case _:
                _renamed_args(stmt, self.copier)
        scope.block.append(stmt)
        scope.defined.update(defined(stmt))

    def _let(self, stmt: Let, scope: Scope) -> None:
        args, attrs = self.copier.args(stmt.args), self.copier.attr(stmt.attrs) if stmt.attrs else {}
        stmt = Let(stmt.targets, stmt.op, args, attrs, stmt.origin)
        same = _same(stmt)
        if same is not None:
            self.copier.mapping[stmt.target] = same
            return
        key = _key(stmt)
        earlier = scope.find("known", key)
        if earlier is None and is_load(stmt):
            earlier = scope.find("written", (args[0], _keys(args[1:])))
        if earlier is not None and key is not None:
            self.copier.mapping[stmt.target] = earlier
            return
        home = self._home(stmt, scope)
        home.block.append(stmt)
        home.defined.update(stmt.targets)
        if key is not None:
            home.known[key] = stmt.target

    def _home(self, stmt: Let, scope: Scope) -> Scope:
        """The outermost scope in which a number can be computed."""
        if stmt.op.of_sequences or getattr(stmt.target.type, "sizes", ()):
            return scope
        needed = set(atom_vars((*stmt.args, stmt.attrs)))
        if is_load(stmt) and not _is_safe_early(stmt):
            return scope
        while scope.nest and scope.parent is not None and needed.isdisjoint(scope.defined):
            if is_load(stmt) and not _depends_on_nest(stmt, scope.parent):
                break
            scope = scope.parent
        return scope

    def _nest(self, stmt: Nest | Fold, scope: Scope) -> None:
        for index in stmt.indices:
            index.size = self.copier.size(index.size)
        carries = getattr(stmt, "carries", ())
        for carry in carries:
            carry.init = self.copier.atom(carry.init)
        depth = _useful_split(stmt)
        if depth:
            stmt = split(stmt, depth)
            carries = getattr(stmt, "carries", ())
        own = (*(index.var for index in stmt.indices), *(carry.entry for carry in carries))
        stmt.body = self.run(stmt.body, scope, True, own)
        for carry in carries:
            carry.next = self.copier.atom(carry.next)
        scope.block.append(stmt)
        scope.defined.update(defined(stmt))

    def _loop(self, stmt: Any, scope: Scope) -> None:
        stmt.trips = self.copier.atom(stmt.trips)
        for read in stmt.reads:
            read.source = self.copier.atom(read.source)
        for carry in getattr(stmt, "carries", ()):
            carry.init = self.copier.atom(carry.init)
        own = inner_targets(stmt)
        if isinstance(stmt, Loop):
            stmt.test = self.run(stmt.test, scope, own=own)
            stmt.cond = self.copier.atom(stmt.cond)
            own = (*own, *(var for each in stmt.test for var in defined(each)))
        stmt.body = self.run(stmt.body, scope, own=own)
        for carry in getattr(stmt, "carries", ()):
            carry.next = self.copier.atom(carry.next)
        for record in stmt.records:
            record.value = self.copier.atom(record.value)


def _renamed_args(stmt: Any, copier: Copier) -> None:
    if isinstance(stmt, Allocate):
        stmt.source = None if stmt.source is None else copier.atom(stmt.source)
    else:
        stmt.args = copier.args(stmt.args)
    if isinstance(stmt, Library):
        stmt.attrs = copier.attr(stmt.attrs)


def _useful_split(stmt: Nest | Fold) -> int:
    """Behind how many indices something is computed that needs none of the others; 0 if nothing is."""
    variables = [index.var for index in stmt.indices]
    if len(variables) < 2:
        return 0
    inside = {var for each in stmt.body for var in defined(each)}
    inside.update(carry.entry for carry in getattr(stmt, "carries", ()))
    best = 0
    depths: dict[Var, int] = {}
    for each in stmt.body:
        if isinstance(each, Let) and not each.op.of_sequences:
            needed = set(atom_vars((*each.args, each.attrs)))
            depth = max((depths.get(var, len(variables)) if var in inside else
                         variables.index(var) + 1 if var in variables else 0 for var in needed), default=0)
            depths.update(dict.fromkeys(each.targets, depth))
            if 0 < depth < len(variables):
                best = max(best, depth)
    return best


def _is_safe_early(load: Let) -> bool:
    """Whether all of a place is indices and what is counted from them, which lie inside of an array."""
    return all(isinstance(k, (Const, Size, Var)) for k in load.args[1:])


def _depends_on_nest(load: Let, outer: Scope) -> bool:
    """Whether an element is read at the index of a nest around, so that the array has it."""
    scope: Scope | None = outer
    mine = set(atom_vars(load.args[1:]))
    while scope is not None and scope.nest:
        if not mine.isdisjoint(scope.defined):
            return True
        scope = scope.parent
    return False


def _same(stmt: Let) -> Atom | None:
    """The operand that a number is, whatever it is: the larger one of a number and itself. (The first item of a fold
    that begins with it.)"""
    if stmt.op not in (Maximum, Minimum, BitwiseAnd, BitwiseOr, Where):
        return None
    first, second = stmt.args[-2:]
    is_one = _keys((first,)) == _keys((second,)) and type_of(first) == stmt.target.type
    return first if is_one and not getattr(stmt.target.type, "sizes", ()) else None


def _key(stmt: Let) -> Hashable:
    """What two statements have in common that give the same number."""
    return None if getattr(stmt.target.type, "sizes", ()) else key_of(stmt)


def key_of(stmt: Let) -> Hashable:
    """What two statements have in common that give the same; None where that cannot be told."""
    if len(stmt.targets) != 1 or stmt.op.of_sequences:
        return None
    try:
        key = stmt.op, _keys(stmt.args), tuple(sorted((k, v) for k, v in stmt.attrs.items())), stmt.target.type
        hash(key)
    except TypeError:
        return None
    return key


def _keys(atoms: Any) -> tuple[Hashable, ...]:
    return tuple((repr(atom.value), atom.type) if isinstance(atom, Const) else atom for atom in atoms)


def as_one(block: Block) -> None:
    """Takes back that numbers of nests are computed in outer loops, in place, where nothing else is done there: what
    makes the elements of an array stands together then."""
    for stmt in block:
        for inner in inner_blocks(stmt):
            as_one(inner)
        if isinstance(stmt, Nest) and stmt.body and all(isinstance(each, Let) for each in stmt.body[:-1]):
            last = stmt.body[-1]
            if isinstance(last, Nest) and last.ordered == stmt.ordered and _is_of_outer_sizes(last, stmt):
                stmt.indices, stmt.body = [*stmt.indices, *last.indices], [*stmt.body[:-1], *last.body]


def _is_of_outer_sizes(inner: Nest, outer: Nest) -> bool:
    """Whether the sizes of a nest are the same in every iteration of the one around it."""
    changing = {index.var for index in outer.indices}.union(*(each.targets for each in outer.body[:-1]))
    return changing.isdisjoint(atom_vars(tuple(index.size for index in inner.indices)))
