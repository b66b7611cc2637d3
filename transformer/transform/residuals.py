"""Residuals: what a reverse sweep needs from inside the loops and branches of the forward sweep.

The reverse sweep is built first and mentions values of the forward sweep freely. Afterwards one minimum
cut over the function (`cut`) decides how each of them comes to where it is needed:

* computed again, from values that are there or come there;
* taken again from an array that still has it (`retaking`);
* kept: a loop records it, and a branch hands it on by a merge that is undefined on the other side.

A loop that is to be run again (`blocks`) records nothing in the forward sweep: its copy in the reverse
sweep does.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ..core.grammar import Atom, If, Let, Loop, Stmt, Var
from ..core.guards import Assumptions
from ..core.sizes import Extent, replaced
from ..core.types import ArrayType, SeqType
from ..core.walk import atom_vars, free_vars
from ..ops.regions import is_basic
from .cut import Node
from .retaking import Retaking
from .scopes import Scopes
from .touching import induction

Mirrors = dict[Stmt, Stmt]          # loops and branches of the forward sweep, and their reverses
LONG = 100.0                        # a size that is not known, where costs are compared
MOST_RECOMPUTED = 4                 # statements computed again rather than kept, outside of loops


class Values:
    """The values inside loops and branches, and how each can be had in the reverse sweep."""

    def __init__(self, scopes: Scopes, assumptions: Assumptions) -> None:
        self.scopes = scopes
        self.retaking = Retaking(scopes, assumptions)
        self.kept: dict[Var, Var] = {}
        for stmt in scopes.time:
            self.kept.update((var, outer) for var, outer in _kept_by(stmt) if scopes.scope(var).owner is stmt)
        self.later = cache(self._later)
        self.sources = cache(self._sources)

    def is_position(self, var: Var) -> bool:
        stmt = self.scopes.definition.get(var)
        return isinstance(stmt, Loop) and var is stmt.position

    def is_free(self, var: Var) -> bool:
        """Whether a value is at hand in the reverse sweep: outer ones, positions, what is kept anyway."""
        if not self.scopes.is_inner(var) or self.is_position(var):
            return True
        return var in self.kept and self.is_free(self.kept[var])

    def read_from(self, var: Var) -> Atom | None:
        """The sequence or array of which a variable of a loop is the element at its position."""
        stmt = self.scopes.definition.get(var)
        if isinstance(stmt, Loop):
            return next((read.source for read in stmt.reads if read.target is var), None)
        return None

    def run_again(self, var: Var) -> Loop | None:
        """The loop to run again for a value that it gives."""
        stmt = self.scopes.definition.get(var)
        given = isinstance(stmt, Loop) and stmt.again and self.scopes.scope_of[stmt] is self.scopes.scope(var)
        return stmt if given and self.scopes.is_inner(var) else None             # type: ignore[return-value]

    def _loops_run_again(self, var: Var) -> Iterator[Loop]:
        """The loops around a value that are run again to record it."""
        for scope in self.scopes.scope(var).path():
            if isinstance(scope.owner, Loop) and scope.owner.again and scope.parent is not self.scopes.top:
                yield scope.owner

    def _later(self, var: Var) -> tuple[Var, Let] | None:
        """The version of an array to take a value from again, and the statement that says where."""
        stmt = self.scopes.let(var)
        if stmt is None or isinstance(var.type, SeqType):
            return None
        version = self.retaking.of_read(stmt)
        if version is not None:
            return version, stmt
        found = self.retaking.of_written(var)
        if found is None or self.scopes.is_inner(found[0]) and self._computed_from(stmt) is not None:
            return None
        return found

    def _sources(self, var: Var) -> list[Var] | None:
        """What a value is computed again from, or taken from; None when it has to be kept."""
        loop = self.run_again(var)
        if loop is not None:
            return list(free_vars([loop]))
        source = self.read_from(var)
        if source is not None:
            return list(atom_vars(source))
        found = induction(self.scopes, var)
        if found is not None:
            return list(atom_vars(found))
        later = self.later(var)
        if later is not None:
            version, stmt = later
            return [version, *atom_vars((*slots_of(stmt), stmt.attrs, var.type))]
        definition = self.scopes.let(var)
        return None if definition is None else self._computed_from(definition)

    def _computed_from(self, stmt: Let) -> list[Var] | None:
        if stmt.op.heavy or stmt.op.writes or isinstance(stmt.target.type, SeqType):
            return None
        if not self.scopes.scope_of[stmt].loops() and not self._is_little(stmt, set()):
            return None
        return list(dict.fromkeys(atom_vars((*stmt.args, stmt.attrs, stmt.target.type))))

    def _is_little(self, stmt: Let, seen: set[Let]) -> bool:
        """Whether computing a value again costs no more than keeping it: a little arithmetic on numbers
        and on elements of arrays."""
        seen.add(stmt)
        if stmt.target in self.kept or len(seen) > MOST_RECOMPUTED or not (is_cheap(stmt) or self._is_view(stmt)):
            return False
        inner = [self.scopes.let(v) for v in atom_vars(stmt.args) if self.scopes.is_inner(v)]
        return all(s is not None and (s in seen or self._is_little(s, seen)) for s in inner)

    def _is_view(self, stmt: Let) -> bool:
        """Whether a statement gives a part of an array that nobody writes to, which costs nothing."""
        base, lineage = stmt.args[0] if stmt.args else None, self.retaking.lineage
        return (stmt.op.name == "get" and isinstance(base, Var) and is_basic(stmt.attrs["index"], stmt.args[1:])
                and not lineage.writes.get(lineage.group(base)))

    def graph(self, needed: list[Var]) -> list[Node]:
        """The nodes of the cut: everything that is needed and not free, and what it comes from."""
        nodes: dict[Var, Node] = {}
        pending = [v for v in needed if not self.is_free(v)]
        goals = set(pending)
        while pending:
            var = pending.pop()
            if var in nodes:
                continue
            sources = self.sources(var)
            rest = None if sources is None else [s for s in sources if not self.is_free(s)]
            nodes[var] = Node(var, self.weight(var), rest, var in goals)
            pending += rest or []
            for loop in self._loops_run_again(var):
                inputs = [v for v in free_vars([loop]) if not self.is_free(v)]
                goals.update(inputs)
                pending += inputs
        return list(nodes.values())

    def weight(self, var: Var) -> float:
        """What keeping a value costs: its elements, in every iteration of the loops around."""
        total = elements(var)
        for trips in self.trips_around(var):
            total *= LONG if trips is None else guessed(trips)
        return total

    def trips_around(self, var: Var) -> list[Extent | None]:
        """How often the loops around a value run that keep it; None where that is not known."""
        counts: list[Extent | None] = []
        for scope in reversed(self.scopes.scope(var).loops()):
            trips = scope.loop.trips
            counts.append(None if trips is None else self.retaking.touching.extent(trips))
            if getattr(scope.loop, "again", False) and scope.parent is not self.scopes.top:
                break
        return counts


def elements(var: Var) -> float:
    """How many elements a value has, guessed where that is symbolic."""
    type, total = var.type, 1.0
    while isinstance(type, SeqType):
        type, total = type.element, total * LONG
    for size in type.sizes:
        total *= guessed(size)
    return total


def guessed(size: Extent) -> float:
    """A size as a number, at least 1."""
    known = replaced(size, lambda leaf: int(LONG))
    assert isinstance(known, int)
    return float(max(known, 1))


def is_cheap(stmt: Let) -> bool:
    """Whether a statement is a little arithmetic on numbers, or takes an element of an array."""
    if not isinstance(stmt.target.type, ArrayType) or stmt.target.type.sizes:
        return False
    return stmt.op.symbol in CHEAP or stmt.op.name == "get"


CHEAP = ("+", "-", "*", "<", "<=", ">", ">=", "==", "!=")


def _kept_by(stmt: Stmt) -> Iterator[tuple[Var, Var]]:
    """The values of a loop or branch that leave it anyway, and as what."""
    match stmt:
        case Loop():
            yield from ((r.value, r.target) for r in stmt.records if isinstance(r.value, Var))
        case If():
            for merge in stmt.merges:
                yield from ((atom, merge.target) for atom in (merge.then, merge.orelse) if isinstance(atom, Var))


def slots_of(stmt: Let) -> tuple[Atom, ...]:
    return stmt.args[1:] if stmt.op.name == "get" else stmt.args[2:]
