"""Loops whose iterations do not depend on each other: the reverse of each iteration (a lane) reruns it and then
reverses it, so that nothing is kept for it.

    for i in range(n):                  for i in range(n - 1, -1, -1):
        t = x[i]                            t = x[i]
        for _ in range(m):                  for k in range(m):
            t = step(t)         becomes         t_k[k] = t
        total += t                              t = step(t)
                                            for k in range(m - 1, -1, -1): …

Which these are is not asked of the loop, but of what would have to be kept: a lane can be run again if
what its statements need is there, or comes there in the lane itself. Sums, places that are written and
whatever else is handed on do not matter as long as no statement needs them that is to be run again.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from ...core.grammar import Block, Call, Effect, Let, Loop, Stmt, Var
from ...core.walk import all_statements, atom_vars, free_vars, has_effects, targets_of
from ...ops.regions import slots_of
from ..scopes import Scope
from .cut import minimum_cut
from .residuals import LONG, Key, Mirrors, Values, elements, guessed, is_heavy
from .touching import Pairing, induction

Lanes = frozenset[Loop]


def cut(values: Values, needed: list[Var], mirrors: Mirrors, dead: set[Loop], short: Iterable[Loop]) -> set[Var]:
    """What is kept, after it was said which lanes are run again: those that would keep more than a number for
    an iteration (`_Choice._most`), and those of loops that have nothing else to do in the forward sweep
    (`dead`). Where memory is `short`, iterations that depend on each other are lanes, too: what one hands
    on is kept."""
    recorded = minimum_cut(values.graph(needed))
    kept = {var: _loops(values, var) for var in recorded}
    outermost = [loop for loop in mirrors if isinstance(loop, Loop) and loop.cond is None
                 and any(loop in loops for loops in kept.values())]
    if not outermost:
        return recorded
    return _Choice(values, needed, recorded, dead, frozenset(short)).taken(outermost, kept)


def _loops(values: Values, var: Var) -> list[Loop]:
    """The loops that keep a value, outermost first."""
    around = [scope.loop for scope in values.scopes.scope(var).loops()]
    again = list(values.loops_run_again(var))
    return around[around.index(again[0]):] if again else around


class _Choice:
    """Takes the lanes that can be run again, one outermost loop at a time, as long as less is kept."""

    def __init__(self, values: Values, needed: list[Var], recorded: set[Var], dead: set[Loop], short: Lanes) -> None:
        self.values, self.needed, self.dead, self.short = values, needed, dead, short
        self.lanes: Lanes = frozenset()
        self.recorded, self.weight = recorded, self._weight(recorded)

    def _weight(self, recorded: set[Var]) -> float:
        return sum(map(self.values.weight, recorded))

    def taken(self, outermost: Iterable[Loop], kept: dict[Var, list[Loop]]) -> set[Var]:
        for loop in sorted(outermost, key=self.values.scopes.time.__getitem__):
            inside = {var: loops for var, loops in kept.items() if loop in loops}
            if loop not in self.lanes and (loop in self.dead or self._most(inside, loop, frozenset()) > 1):
                self._try(loop, inside)
        self.values.run_lanes_again(self.lanes)
        return self.recorded

    def _most(self, kept: dict[Var, list[Loop]], outer: Loop, lanes: Lanes) -> float:
        """How much is kept at most of a value for one iteration of a loop, or of the innermost of the `lanes` in
        it where running that again would take more than a few steps."""
        found = 0.0
        for var, loops in kept.items():
            inner = max(k for k, loop in enumerate(loops) if loop is outer or loop in lanes)
            if not self._takes_long(var, loops[inner]):
                inner = loops.index(outer)
            found = max(found, elements(var) * prod(map(self._trips, loops[inner + 1:])))
        return found

    def _takes_long(self, var: Var, lane: Loop) -> bool:
        """Whether a loop, a call or a large product has to run in a lane to make a value."""
        scopes, pending, seen = self.values.scopes, [var], {var}
        while pending:
            one = pending.pop()
            stmt = scopes.definition[one]
            if isinstance(stmt, Call) or isinstance(stmt, Let) and is_heavy(stmt) \
                    or isinstance(stmt, Loop) and stmt is not lane:
                return True
            new = {v for v in self.values.slices.direct(one) if self.values.slices.is_within(v, lane)} - seen
            seen |= new
            pending += new
        return False

    def _trips(self, loop: Loop) -> float:
        return LONG if loop.trips is None else guessed(self.values.retaking.touching.extent(loop.trips))

    def _try(self, loop: Loop, kept: dict[Var, list[Loop]]) -> None:
        """Takes the lanes of a loop, and of loops in it, where these would keep more than a number each."""
        inside = [s for s in all_statements([loop]) if isinstance(s, Loop) and s.cond is None]
        lanes = self.lanes | frozenset(inside)
        while loop in lanes:
            self.values.run_lanes_again(lanes)
            recorded = minimum_cut(self.values.graph(self.needed))
            dependent = self._unfit(recorded) & lanes - self.short
            if not dependent:
                weight = self._weight(recorded)
                apart = lanes - self._chained(recorded)
                if weight < self.weight and (loop in self.dead or self._most(kept, loop, apart) > 1):
                    self.lanes, self.recorded, self.weight = lanes, recorded, weight
                return
            lanes -= dependent

    def _unfit(self, recorded: set[Var]) -> Lanes:
        """The loops that keep what statements in them need to be run again, because one iteration hands it to the
        next; and those that are run again as a whole, which may just as well record: else each level of
        a nest would run those inside of it once more."""
        values = self.values
        seen: set[tuple[Key, bool]] = set()
        pending: list[tuple[Key, bool]] = [(var, False) for var in self.needed]
        found = set()
        while pending:
            key, again = pending.pop()
            if (key, again) in seen or isinstance(key, Var) and values.is_free(key):
                continue
            seen.add((key, again))
            if not isinstance(key, Var) or key in recorded:
                pending += [(other, True) for other in values.demands(key)]
            if isinstance(key, Var) and key in recorded:
                if again and (loops := values.scopes.scope(key).loops()) and self._is_handed_on(key, loops[-1]):
                    found.add(loops[-1].loop)
            elif isinstance(key, Var):
                if isinstance(stmt := values.run_again(key), Loop):
                    found.add(stmt)
                pending += [(v, again or values.is_made_again(key)) for v in values.sources(key) or ()]
        return frozenset(found)

    def _chained(self, recorded: set[Var]) -> Lanes:
        """The loops that keep what one iteration hands to the next."""
        found = [(var, self.values.scopes.scope(var).loops()) for var in recorded]
        return frozenset(loops[-1].loop for var, loops in found if loops and self._is_handed_on(var, loops[-1]))

    def _is_handed_on(self, var: Var, lane: Scope) -> bool:
        """Whether a value of an iteration is made from what another iteration left."""
        values, entries = self.values, {c.entry for c in lane.loop.carries}
        pending, seen = [var], {var}
        while pending:
            one = pending.pop()
            if one in entries and induction(values.scopes, one) is None:
                return True
            stmt = values.scopes.let(one)
            own = stmt is not None and self._reads_its_own(stmt, lane)
            new = atom_vars(slots_of(stmt)) if own else values.slices.direct(one)      # type: ignore[arg-type]
            new = [v for v in new if v not in seen and values.scopes.scope(v).is_inside(lane)]
            seen.update(new)
            pending += new
        return False

    def _reads_its_own(self, stmt: Let, lane: Scope) -> bool:
        """Whether a statement takes elements of an array that no other iteration writes."""
        retaking = self.values.retaking
        if stmt.op.name != "get" or not isinstance(stmt.args[0], Var):
            return False
        access, outer = retaking.touching.access(stmt), tuple(lane.loops()[:-1])
        writes = [w for w in retaking.lineage.writes.get(retaking.lineage.group(stmt.args[0]), ())
                  if self.values.scopes.scope_of[w].is_inside(lane)]
        return not any(retaking.touching.may_touch(w, access, Pairing(outer, lane, earlier=True)) for w in writes)


# -- loops that have nothing else to do ----------------------------------------------------------------


def dead_loops(body: Block, backwards: Block, asked: Iterable[object], mirrors: Mirrors) -> set[Loop]:
    """The loops of a function's own block that would only run for what they record: nothing that is
    `asked` for, nor the reverse sweep itself, uses what they give."""
    live = {*atom_vars(tuple(asked)), *free_vars(backwards)}
    found = set()
    for stmt in reversed(body):
        if any(target in live for target in targets_of(stmt)) or _has_effects(stmt):
            live.update(free_vars([stmt]))
        elif stmt in mirrors:
            live.update(free_vars([stmt]))
            if isinstance(stmt, Loop):
                found.add(stmt)
    return found


def _has_effects(stmt: Stmt) -> bool:
    return any(isinstance(each, Effect) and each.kind != "comment"
               or isinstance(each, Call) and has_effects(each.function) for each in all_statements([stmt]))
