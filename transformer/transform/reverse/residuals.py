"""Residuals: what a reverse sweep needs from inside the loops and branches of the forward sweep.

The reverse sweep is built first and mentions values of the forward sweep freely. Afterwards one minimum
cut over the function (`cut`) decides how each of them comes to where it is needed:

* computed again, from values that are there or come there;
* taken again from an array that still has it (`retaking`);
* kept: a loop records it, and a branch hands it on by a merge that is undefined on the other side.

A loop that is to be run again (`blocks`) records nothing in the forward sweep: its copy in the reverse
sweep does. So it is with all that stands in the body of a loop whose iterations do not depend on each
other (`lanes`): the reverse of an iteration runs it again, and then back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, assert_never

from ...core.grammar import Atom, Call, Const, Effect, If, Let, Loop, Stmt, Var
from ...core.guards import Assumptions
from ...core.sizes import Extent, replaced
from ...core.types import ArrayType, SeqType
from ...core.walk import atom_vars, runs_again
from ...ops.arithmetic import Multiply
from ...ops.regions import is_view, slots_of
from ..scopes import Scope, Scopes
from .cut import Node
from .retaking import Retaking
from .slicing import Slices
from .touching import induction

Key = Var | tuple[Loop, Var]        # a value, or one made by a loop that is run again
Mirrors = dict[Stmt, Stmt]          # loops and branches of the forward sweep, and their reverses
A_TURN = 1.001                      # `x` is kept rather than `x[:, None]`, `2 * x`, or `x[0]` and `x[1]`
LONG = 100.0                        # a size that is not known, where costs are compared
FEW = 8.0                           # products that take less time to form and add up again than a number to be read
MOST_RECOMPUTED = 4                 # statements computed again rather than kept, outside of loops


class Values:
    """The values inside loops and branches, and how each can be obtained in the reverse sweep, where the arrays in
    `gone` have been overwritten."""

    def __init__(self, scopes: Scopes, assumptions: Assumptions, calls_again: bool, gone: Iterable[Var]) -> None:
        self.scopes = scopes
        self.calls_again = calls_again
        self.retaking = Retaking(scopes, assumptions)
        self.gone = frozenset(map(self.retaking.lineage.group, gone))
        self.slices = Slices(scopes)
        self.kept: dict[Var, Var] = {}
        for stmt in scopes.time:
            self.kept.update((var, outer) for var, outer in _kept_by(stmt) if scopes.scope(var).owner is stmt)
        self.answers: dict[frozenset[Loop], Any] = {}
        self.run_lanes_again(frozenset())

    def run_lanes_again(self, lanes: frozenset[Loop]) -> None:
        """Says of which loops each iteration is run again in its reverse."""
        self.lanes = lanes
        if lanes not in self.answers:                       # found before the program changes, and kept
            self.answers[lanes] = cache(self._later), cache(self._sources), {}
        self.later, self.sources, self.resting = self.answers[lanes]

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

    def run_again(self, var: Var) -> If | Loop | Call | None:
        """The statement to run again for a value that it gives."""
        stmt = self.scopes.definition.get(var)
        if not isinstance(stmt, (If, Loop, Call)) or not self.scopes.is_inner(var):
            return None
        given = self.scopes.scope_of[stmt] is self.scopes.scope(var)
        return stmt if given and self._is_run_again(stmt) else None

    def is_made_again(self, var: Var) -> bool:
        """Whether a value is one of those that are there because a lane is run again."""
        stmt = self.scopes.let(var)
        return self.run_again(var) is not None or stmt is not None and self.in_lane(stmt) and (
            is_heavy(stmt) or stmt.op.writes)

    def _is_run_again(self, stmt: Stmt) -> bool:
        if isinstance(stmt, Loop) and stmt.again or isinstance(stmt, Call) and stmt.function.again:
            return True
        is_open = not isinstance(stmt, Call) or self.calls_again and runs_again(stmt.function)
        return is_open and self.in_lane(stmt)

    def in_lane(self, stmt: Stmt) -> bool:
        return self.is_lane(self.scopes.scope_of[stmt])

    def is_lane(self, scope: Scope) -> bool:
        """Whether a block belongs to a loop of which each iteration is run again, and to no loop in it."""
        return bool(self.lanes) and next((s.owner for s in scope.path() if s.is_loop), None) in self.lanes

    def loops_run_again(self, var: Var) -> Iterator[Loop]:
        """The loops around a value that are run again to record it, innermost first."""
        for scope in self.scopes.scope(var).path():
            if isinstance(scope.owner, Loop) and self._records_again(scope):
                yield scope.owner

    def _records_again(self, scope: Scope) -> bool:
        """Whether the loop with this body records in the reverse sweep."""
        return scope.parent is not self.scopes.top and isinstance(scope.owner, Loop) and self._is_run_again(scope.owner)

    def _later(self, var: Var) -> tuple[Var, Let] | None:
        """The version of an array to take a value from again, and the statement that says where."""
        stmt = self.scopes.let(var)
        if stmt is None or isinstance(var.type, SeqType):
            return None
        version = self.retaking.of_read(stmt)
        if version is not None and not self._is_gone(version):
            return version, stmt
        found = self.retaking.of_written(var)
        if found is None or self._is_gone(found[0]):
            return None
        if self.scopes.is_inner(found[0]) and self._computed_from(stmt) is not None:
            return None
        return found

    def _is_gone(self, array: Any) -> bool:
        """Whether an array of the function's own block is a version of one that is not as it was."""
        is_outer = isinstance(array, Var) and not self.scopes.is_inner(array)
        return is_outer and self.retaking.lineage.group(array) in self.gone

    def _sources(self, var: Var) -> list[Var] | None:
        """What a value is computed again from, or taken from; None when it has to be kept."""
        again = self.run_again(var)
        if again is not None:
            return self.slices.inputs(again, var)
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
        if stmt.op.name == "get" and self._is_gone(stmt.args[0]):
            return None
        if not self.in_lane(stmt):
            if is_heavy(stmt) or stmt.op.writes or isinstance(stmt.target.type, SeqType):
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
        return (stmt.op.name == "get" and isinstance(base, Var) and is_view(stmt)
                and not lineage.writes.get(lineage.group(base)))

    def graph(self, needed: list[Var]) -> list[Node]:
        """The nodes of the cut: everything that is needed and not free, and what it comes from."""
        nodes: dict[Key, Node] = {}
        pending: list[Key] = [v for v in needed if not self.is_free(v)]
        goals = set(pending)
        while pending:
            key = pending.pop()
            if key in nodes:
                continue
            demands = self.demands(key)
            if isinstance(key, Var):
                sources = self.sources(key)
                rest = None if sources is None else [s for s in sources if not self.is_free(s)]
                nodes[key] = Node(key, self.weight(key), rest, key in goals, demands)
                pending += rest or ()
            else:
                nodes[key] = Node(key, float("inf"), [], False, demands)
            pending += demands
        return list(nodes.values())

    def demands(self, key: Key) -> list[Key]:
        """What has to be there besides: for a value, that the loops around that record it, or what it is computed
        from, are run again; for a value in a loop that is run again, what it is made from there."""
        if isinstance(key, Var):
            return [(loop, key) for loop in self.loops_run_again(key)
                    if self.rests_on(self._is_kept, key, loop) or not self.rests_on(self.later, key, loop)]
        loop, var = key
        made_from = dict.fromkeys(self.slices.made_from(var, loop))
        inside = [(loop, v) for v in made_from if self.slices.is_within(v, loop)]
        return [*inside, *(v for v in made_from if not self.slices.is_within(v, loop) and not self.is_free(v))]

    def _is_kept(self, var: Var) -> bool:
        return self.sources(var) is None

    def rests_on(self, test: Callable[[Var], Any], var: Var, loop: Loop) -> bool:
        """Whether a value of a loop, or what in the loop it is computed from, passes a test: that the loop has to keep
        it, or that it is to be found in an array later."""
        known, pending = self.resting.setdefault((loop, test), {}), [var]
        while pending:
            one = pending[-1]
            sources = self.sources(one)
            inside = [v for v in sources or () if not self.is_free(v) and self.slices.is_within(v, loop)]
            open_ones = [v for v in inside if v not in known]
            known[one] = bool(test(one)) or any(known.get(v) for v in inside)
            if known[one] or not open_ones:
                pending.pop()
            pending += [] if known[one] else open_ones
        return known[var]

    def weight(self, var: Var) -> float:
        """What keeping a value costs: its elements, in every iteration of the loops around."""
        total = elements(var, self.retaking.assumptions.normal) * (A_TURN if self._is_turned(var) else 1)
        for trips in self.trips_around(var):
            total *= LONG if trips is None else guessed(trips)
        return total

    def _is_turned(self, var: Var) -> bool:
        """Whether a value is a part or a multiple of another one, or has its elements in other axes: that one, which
        costs as much, reads better."""
        stmt = self.scopes.let(var)
        if stmt is not None and stmt.op is Multiply and any(isinstance(factor, Const) for factor in stmt.args):
            return var.name is None
        whole = stmt.args[0] if stmt is not None and stmt.args else None
        if stmt is None or not isinstance(whole, Var):
            return False
        if stmt.op.name == "get":
            return is_view(stmt)
        return stmt.op.view is True and elements(whole) == elements(var)

    def trips_around(self, var: Var) -> list[Extent | None]:
        """How often the loops around a value run that keep it; None where that is not known."""
        counts: list[Extent | None] = []
        for scope in reversed(self.scopes.scope(var).loops()):
            trips = scope.loop.trips
            counts.append(None if trips is None else self.retaking.touching.extent(trips))
            if self._records_again(scope):
                break
        return counts


def elements(var: Var, normal: Callable[[Extent], Extent] = lambda size: size) -> float:
    """How many elements a value has, guessed where that is symbolic; `normal` says what sizes are known to be."""
    type, total = var.type, 1.0
    while isinstance(type, SeqType):
        type, total = type.element, total * LONG
    for size in type.sizes:
        total *= guessed(normal(size))
    return total


def guessed(size: Extent) -> float:
    """A size as a number, at least 1."""
    known = replaced(size, lambda leaf: int(LONG))
    assert isinstance(known, int)
    return float(max(known, 1))


def is_heavy(stmt: Let) -> bool:
    """Whether a statement takes too long to be done a second time; the product of two points in space does not."""
    return stmt.op.heavy and not (elements(stmt.targets[0]) == 1 and all(_count(atom) <= FEW for atom in stmt.args))


def _count(atom: Atom) -> float:
    return elements(atom) if isinstance(atom, Var) else 1.0


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
        case Let() | Call() | Effect():
            pass
        case _:
            assert_never(stmt)
