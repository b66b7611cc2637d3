"""Functions with rules of their own, for all lanes: the derivative that a rule gives for one lane is batched.

A `ruled` statement of all lanes knows the one of a lane. Where a derivative passes through it, the derivative of the
latter is taken, as a function of its own, and that is batched in its place. What all lanes share gets the sum of
the cotangents of the lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.builder import current
from ...core.grammar import Atom, Effect, Function, Let, Var, type_of
from ...core.sizes import Extent
from ...ops.identity import Same
from ...ops.ruled import Ruled
from ...ops.value import Value
from ...read.calls.ruled import Use
from .. import rules
from ..custom.described import ruling

if TYPE_CHECKING:
    from ..custom.custom import Application, Pullback, Tangents
    from ..forward import Forward
    from ..reverse.sweep import Reverse


@dataclass(eq=False)
class OfLanes:
    """The rule of a function, for all lanes. `one` is the statement of a lane, `lead` says which of its arguments
    differ."""

    one: Let
    lead: tuple[bool, ...]
    size: Extent
    axis_name: Any

    stays = True                                # the results are those that the function itself computed

    @property
    def use(self) -> Use:
        found: Use = self.one.attrs["use"]
        return found

    @property
    def kind(self) -> str:
        return f"batched {self.use.custom.kind}"

    @property
    def __name__(self) -> str:
        return str(self.use.custom.__name__)

    def check_active(self, use: Use, active: Sequence[bool]) -> None:
        ruling(self.use.custom).check_active(self.use, active)

    def pushforward(self, at: Application, tangents: Tangents, forward: Forward) -> tuple[list[Value], Tangents]:
        from ..forward import jvp
        lane, atoms = self._lane(at)
        moving = [t is not None for t in tangents]
        count = len(at.values)
        derived = jvp(lane, self._of_operands(lane, moving), current())
        seeds = derived.params[len(lane.params):]
        given = [Value(t.atom) for t in tangents if t is not None]
        lead = [on for on, moves in zip(self.lead[count:], moving) if moves]
        pushed = self._batched(derived, atoms, dict(zip(seeds, zip(given, lead))))
        return at.again(), list(pushed[count:])

    def reversible(self, at: Application, active: list[bool]) -> tuple[list[Value], Pullback]:
        def pullback(cotangents: Tangents, sweep: Reverse) -> Tangents:
            return self._pulled(at, active, cotangents)
        return at.again(), pullback

    def _pulled(self, at: Application, active: list[bool], cotangents: Tangents) -> Tangents:
        from ..reverse.reverse import reverse
        lane, atoms = self._lane(at)
        count = len(at.values)
        seeds = [None if d is None else Var(type_of(r)) for r, d in zip(lane.results, cotangents)]
        derived = reverse(lane, self._of_operands(lane, active), seeds, current(), asked=())
        given = {seed: (rules.full(d, type_of(value)), True) for seed, d, value in zip(seeds, cotangents, at.values)
                 if seed is not None and d is not None}
        pulled = iter(self._batched(derived, atoms, given)[count:])
        found: Tangents = [None] * len(at.operands)
        for k, atom in enumerate(self.one.args[count:]):
            if active[k] and isinstance(atom, Var):
                whole = next(pulled)
                found[k] = whole if self.lead[count + k] else np.sum(whole, axis=0)
        return found

    def _lane(self, at: Application) -> tuple[Function, dict[Var, tuple[Atom, bool]]]:
        """The statement of one lane as a function, and for its parameters what they are here, and whether that has
        lanes."""
        args: list[Atom] = []
        atoms: dict[Var, tuple[Atom, bool]] = {}
        for old, atom, on in zip(self.one.args, (*at.values, *at.operands), self.lead):
            if isinstance(old, Var):
                old = Var(old.type, old.name)
                atoms[old] = atom, on
            args.append(old)
        targets = tuple(Var(target.type, target.name) for target in self.one.targets)
        body = [Let(targets, Ruled, tuple(args), self.one.attrs, self.one.origin)]
        return Function(self.__name__, list(atoms), body, list(targets), origin=self.one.origin), atoms      # type: ignore[arg-type]

    def _of_operands(self, lane: Function, moving: Sequence[bool]) -> list[bool]:
        """Which parameters of the function of a lane carry derivatives: not the values."""
        count = len(self.one.targets)
        stmt = lane.body[0]
        assert isinstance(stmt, Let)
        active = {id(arg) for arg, on in zip(stmt.args[count:], moving) if on}
        return [id(param) in active for param in lane.params]

    def _batched(self, derived: Function, *given: dict[Var, tuple[Any, bool]]) -> list[Value]:
        """Emits a function of a lane for all lanes; gives all of its results."""
        from .batched import all_lanes
        builder = current()
        lanes: dict[Var, Var] = {}
        for param, (value, on) in {**given[0], **given[1]}.items():
            atom = value.atom if isinstance(value, Value) else value
            if on and isinstance(atom, Var):
                lanes[param] = atom
            else:
                builder.emit(Let((param,), Same, (atom,)))
        derived.body = [stmt for stmt in derived.body if not (isinstance(stmt, Effect) and stmt.kind == "comment")]
        body, results = all_lanes(derived, self.size, builder, self.axis_name, lambda: lanes,
                                  lambda batching: [Value(batching.whole(atom)) for atom in derived.results])
        builder.block += body
        found: list[Value] = results
        return found


def use_of_lanes(stmt: Let, lead: tuple[bool, ...], size: Extent, axis_name: Any) -> Use:
    """How a `ruled` statement of all lanes is used, for that of one lane."""
    return replace(stmt.attrs["use"], custom=OfLanes(stmt, lead, size, axis_name), rule=None, arguments=(), result=None)
