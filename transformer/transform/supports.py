"""Where cotangents count: what no path and no choice looked at has no part in the result.

    r = np.sqrt(x)
    y = 0.0
    for k in range(n):
        if x > 0:
            y += r * k

Where `x` is 0, `r` has a cotangent of 0 that no iteration added to, and 0 / 0 were handed on to `x`. So of statements
whose derivative may be infinite (`is_steep`) what their result counts for is found together with its cotangent: a truth
value for branches and loops, an array for choices between elements. It rests on what was looked at and never on the
cotangent, so that a derivative of the derivative holds, too. What nobody asks for is dead code.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import TransformError
from ..core.grammar import Block, Carry, Const, If, Let, Merge, Var
from ..core.types import BOOL
from ..core.walk import all_statements
from ..ops.elementwise import where
from ..ops.logic import LogicalNot
from ..ops.registry import Defined
from ..ops.value import Value, call
from . import rules
from .activity import Summaries, differentiable_args, varied_vars

EVERYWHERE, NOWHERE = Value(Const(True)), Value(Const(False))
BORDERS = 0.0, 1.0, -1.0            # where elementary functions have infinite derivatives, if anywhere


class Supports:
    """For the variables in `watched` that have a cotangent, where it counts."""

    def __init__(self, watched: Collection[Var] = (), steep: Collection[Let] = ()) -> None:
        self.watched = watched
        self.steep = steep                      # statements whose derivative may be infinite
        self.known: dict[Var, Value] = {}
        self.now = EVERYWHERE                   # of the statement that is gone through
        self.negated: dict[Any, Any] = {}       # of which truth value one is the opposite

    @classmethod
    def of(cls, body: Block, active: set[Var], summaries: Summaries) -> Supports:
        steep = [stmt for stmt in all_statements(body)
                 if isinstance(stmt, Let) and stmt.target in active and is_steep(stmt, active)]
        watched = varied_vars(body, (stmt.target for stmt in steep), summaries) & active if steep else set()
        return cls(watched, set(steep))

    def contributed(self, var: Any, is_first: bool, support: Value | None = None) -> None:
        """Notes that a contribution to a variable counts where `support` says, or else as what is gone through."""
        if var not in self.watched:
            return
        support = _fitting(self.now if support is None else support, var)
        self.known[var] = support if is_first else self.either(self.of_var(var), support)

    def of_var(self, var: Var) -> Value:
        """Where a cotangent counts that a variable has."""
        return self.known.get(var, EVERYWHERE)

    @contextmanager
    def of_statement(self, stmt: Let) -> Iterator[None]:
        """While a statement is gone through whose definition has been reached."""
        before, self.now = self.now, EVERYWHERE
        if len(stmt.targets) == 1:
            self.now = self.known.pop(stmt.target, EVERYWHERE)
        yield
        self.now = before

    @contextmanager
    def inside(self, known: dict[Var, Value]) -> Iterator[dict[Var, Value]]:
        """While a block is gone through that begins with what is `known`; gives what is known after it."""
        before, self.known, self.now = (self.known, self.now), dict(known), EVERYWHERE
        yield self.known
        self.known, self.now = before

    def at(self, stmt: Let, place: int) -> Value:
        """Where an operand counts, if the result does where what is gone through does."""
        if stmt.args[place] not in self.watched:
            return EVERYWHERE
        now = self.now if stmt.op.elementwise or not self.now.ndim else EVERYWHERE
        counts = stmt.op.counts and stmt.op.counts(place, *rules.operands_of(stmt), **rules.rule_attrs(stmt))
        if counts is None:
            return now
        made = current().block[-1] if current().block else None
        if isinstance(made, Let) and made.op is LogicalNot and made.target is counts.atom:
            self.negated[made.target] = made.args[0]
        return both(now, counts)

    def guard(self, stmt: Let, chosen: Any) -> Any:
        """What is done to the contributions to an operand of a statement: where it does not count, and its derivative
        may be infinite, there is none. `chosen` is done to what is going to be summed."""
        support = self.now if stmt in self.steep else EVERYWHERE
        sizes = rules.sizes_of(stmt.target) if chosen is not None else None

        def guarded(term: Value, atom: Any) -> Value:
            if support is not EVERYWHERE:
                return where(support, term, 0.0)
            return term if chosen is None or rules.sizes_of(atom) == sizes else chosen(term)

        return guarded

    def either(self, first: Value, second: Value) -> Value:
        """Where one of two supports is, as far as that can be said."""
        if first is NOWHERE or second is NOWHERE:
            return second if first is NOWHERE else first
        if first is EVERYWHERE or second is EVERYWHERE or first.ndim != second.ndim:
            return EVERYWHERE
        if self.negated.get(first.atom) is second.atom or self.negated.get(second.atom) is first.atom:
            return EVERYWHERE
        return call(operator.or_, (first, second), {})

    # -- branches and loops ----------------------------------------------------------------

    def flags(self, variables: Iterable[Var], given: Collection[Var]) -> dict[Var, Value]:
        """For what the iterations of a loop use, whether one did by now; `given` are those with a cotangent."""
        return {var: Value(flag_of(var)) for var in variables if var in self.watched
                and (var not in given or self.of_var(var) is not EVERYWHERE and not self.of_var(var).ndim)}

    def carried(self, flags: dict[Var, Value], after: dict[Var, Value], given: Collection[Var]) -> list[Carry]:
        """What a loop hands on of its `flags`, that are `after` an iteration; notes what they are in the end."""
        carries = []
        for var, flag in flags.items():
            init = self.of_var(var) if var in given else NOWHERE
            assert isinstance(flag.atom, Var)
            carries.append(Carry(flag.atom, init.atom, after[var].atom, flag_of(var)))
            self.known[var] = EVERYWHERE if after[var] is EVERYWHERE else Value(carries[-1].out)
        return carries

    def merged(self, branch: If, sides: tuple[Any, Any], changed: Iterable[Var]) -> list[Merge]:
        """What a branch hands on about the variables whose cotangent a side changed."""
        merges = []
        for var in changed:
            if var not in self.watched:
                continue
            then, orelse = (side.supports.get(var, EVERYWHERE) if var in side.cotangent else NOWHERE for side in sides)
            if then is EVERYWHERE and orelse is NOWHERE:
                self.known[var] = Value(branch.cond)
            elif then is orelse or then.ndim or orelse.ndim:
                self.known[var] = then if then is orelse else EVERYWHERE
            else:
                merges.append(Merge(flag_of(var), then.atom, orelse.atom))
                self.known[var] = Value(merges[-1].target)
        return merges


def flag_of(var: Var) -> Var:
    """Whether a variable was used."""
    return Var(BOOL, var.name and f"{var.name}_is_used")


def _fitting(support: Value, var: Any) -> Value:
    """A support as one of this variable, to which it has to broadcast."""
    own, sizes = rules.sizes_of(support.atom)[::-1], rules.sizes_of(var)[::-1] if support.ndim else ()
    fits = len(own) <= len(sizes) and all(size in (1, other) for size, other in zip(own, sizes))
    return support if fits else EVERYWHERE


def both(first: Value, second: Value) -> Value:
    """Where both supports are; the second one is an operand's own."""
    if first is EVERYWHERE or second is EVERYWHERE:
        return second if first is EVERYWHERE else first
    return call(operator.and_, (first, second), {})


def is_steep(stmt: Let, active: set[Var]) -> bool:
    """Whether the derivative of a statement may be infinite; a function of the user's is not called to find out."""
    if not stmt.op.elementwise or stmt.op.partials is None:
        return False
    if issubclass(stmt.op, Defined):
        return True
    moving = active.intersection(differentiable_args(stmt))
    given = [BORDERS if arg in moving else (arg.value if isinstance(arg, Const) else 2.0,) for arg in stmt.args]
    return any(_is_infinite(stmt, point, k) for point in product(*given)
               for k, arg in enumerate(stmt.args) if arg in moving)


def _is_infinite(stmt: Let, point: tuple[Any, ...], k: int) -> bool:
    if stmt.op.partials[k] is None:
        return False
    try:
        with np.errstate(all="ignore"):
            operands = [np.float64(x) if isinstance(x, float) else x for x in point]
            y = stmt.op.run(*operands, **rules.rule_attrs(stmt))
            return not np.all(np.isfinite(stmt.op.partials[k](1.0, *operands, y)))
    except (TypeError, ValueError, ArithmeticError, AttributeError, TransformError):
        return False                    # what has no derivative is refused where that is asked for
