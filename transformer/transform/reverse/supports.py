"""Where cotangents count: what no path and no choice used has no part in the result.

    r = np.sqrt(x)
    y = 0.0
    for k in range(n):
        if x > 0:
            y += r * k

Where `x` is 0, `r` has a cotangent of 0 that no iteration added to, and 0 / 0 were handed on to `x`. So of statements
whose derivative may be infinite (`is_steep`) what their result counts for is found together with its cotangent: a truth
value for branches and loops, an array for choices between elements, for elements at places of an array, and for those
that branches in a loop read. It rests on what was looked at and never on the cotangent, so that a derivative of the
derivative holds, too. What nobody asks for is dead code.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from ...core.builder import current
from ...core.errors import TransformError
from ...core.grammar import Block, Call, Carry, Const, If, Let, Merge, Var, type_of
from ...core.types import BOOL, ArrayType
from ...core.walk import all_statements, head_uses, reachable, tail_uses
from ...ops.elementwise import where
from ...ops.indexing import Get, Put
from ...ops.logic import LogicalNot
from ...ops.registry import Defined
from ...ops.value import Value, call, value
from .. import rules
from ..activity import Summaries, differentiable_args, varied_vars

EVERYWHERE, NOWHERE = Value(Const(True)), Value(Const(False))
BORDERS = 0.0, 1.0, -1.0            # where elementary functions have infinite derivatives, if anywhere


class Supports:
    """For the variables in `watched` that have a cotangent, where it counts."""

    def __init__(self, watched: Collection[Var] = (), steep: Collection[Let | Call] = ()) -> None:
        self.watched = watched
        self.steep = steep                      # statements whose derivative may be infinite
        self.known: dict[Var, Value] = {}
        self.now = EVERYWHERE                   # of the statement being visited
        self.sometimes: set[Var] = set()        # of which loops read elements on some paths only
        self.negated: dict[Any, Any] = {}       # of which truth value one is the opposite

    @classmethod
    def of(cls, body: Block, active: set[Var], summaries: Summaries) -> Supports:
        steep = [stmt for stmt in all_statements(body)
                 if isinstance(stmt, Let) and stmt.target in active and is_steep(stmt, active)
                 or isinstance(stmt, Call) and not active.isdisjoint(stmt.targets) and may_be_steep([stmt])]
        starts = [target for stmt in steep for target in stmt.targets]
        watched = varied_vars(body, starts, summaries) & active if steep else set()
        return cls(watched, set(steep))

    def contributed(self, var: Any, is_first: bool, support: Value | None = None) -> None:
        """Notes that a contribution to a variable counts where `support` says, or else as the statement being
        visited."""
        if var not in self.watched:
            return
        support = _fitting(self.now if support is None else support, var)
        self.known[var] = support if is_first else self.either(self.of_var(var), support)

    def contributed_part(self, stmt: Let, is_first: bool) -> None:
        """Notes that a contribution counts to the part of an array that a statement takes."""
        array: Any = stmt.args[0]
        known = _nowhere(array) if is_first and array in self.watched and _has_places(stmt) else self.of_var(array)
        if array not in self.watched or not known.ndim or stmt.op is not Get:
            return self.contributed(array, is_first, self.at(stmt, 0))
        if self.now is not EVERYWHERE:
            self.sometimes.add(array)
        _, *slots = rules.operands_of(stmt)
        attrs, part = rules.rule_attrs(stmt), self.now
        if part is not EVERYWHERE:
            part = EVERYWHERE if _has_places(stmt) else self.either(Get.applied(known, *slots, **attrs), part)
        self.known[array] = _name(Put.applied(known, part, *slots, **attrs), array)

    def of_var(self, var: Var) -> Value:
        """Where a cotangent counts that a variable has."""
        return self.known.get(var, EVERYWHERE)

    @contextmanager
    def of_statement(self, stmt: Let) -> Iterator[None]:
        """While a statement is visited whose definition has been reached."""
        before, self.now = self.now, EVERYWHERE
        if len(stmt.targets) == 1:
            self.now = self.known.pop(stmt.target, EVERYWHERE)
        yield
        self.now = before

    @contextmanager
    def of_call(self, stmt: Call, given: Iterable[Any]) -> Iterator[Callable[[Value], Value]]:
        """While a call is visited whose results have cotangents where something is `given`; gives what is done to the
        contributions to its arguments. What counts by element has no calls (`chosen_calls`)."""
        supports = [self.known.pop(target, EVERYWHERE) for target, dy in zip(stmt.targets, given) if dy is not None]
        before, self.now = self.now, reduce(self.either, supports, NOWHERE)
        if self.now is NOWHERE or self.now.ndim:
            self.now = EVERYWHERE
        now = self.now if stmt in self.steep else EVERYWHERE

        def counting(term: Value) -> Value:
            is_known = now is EVERYWHERE or not isinstance(type_of(term.atom), ArrayType)       # what a call saved
            return term if is_known else where(now, term, 0.0)

        yield counting
        self.now = before

    @contextmanager
    def inside(self, known: dict[Var, Value]) -> Iterator[dict[Var, Value]]:
        """While a block is visited that begins with what is `known`; gives what is known after it."""
        before, self.known, self.now = (self.known, self.now), dict(known), EVERYWHERE
        yield self.known
        self.known, self.now = before

    def at(self, stmt: Let, place: int) -> Value:
        """Where an operand counts, if the result counts where the statement being visited does."""
        if stmt.args[place] not in self.watched:
            return EVERYWHERE
        now = self._before(stmt) if self.now.ndim else self.now
        counts = stmt.op.counts and stmt.op.counts(place, *rules.operands_of(stmt), **rules.rule_attrs(stmt))
        if counts is None:
            return now
        if stmt.op is Put:
            _name(counts, stmt.args[place])
        made = current().block[-1] if current().block else None
        if isinstance(made, Let) and made.op is LogicalNot and made.target is counts.atom:
            self.negated[made.target] = made.args[0]
        return both(now, counts)

    def _before(self, stmt: Let) -> Value:
        """Where operands of a statement count, if its result counts where the statement being visited does."""
        if stmt.op.elementwise or stmt.op is Put:
            return self.now
        takes_all = stmt.op.takes_all and stmt.op.takes_all(**rules.rule_attrs(stmt))
        if not takes_all and not (stmt.op.view is True and stmt.op.linear):
            return EVERYWHERE
        return value(stmt.op.vjp[0](self.now, *rules.operands_of(stmt), **rules.rule_attrs(stmt)))

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

    def flags(self, variables: Iterable[Var], given: Collection[Var], body: Block) -> dict[Var, Value]:
        """For what the iterations of a loop use, whether one did by now; of arrays of which its body takes nothing but
        parts, which of their elements. `given` are those with a cotangent."""
        watched = [var for var in variables if var in self.watched]
        whole = taken_whole(body) if watched else set()
        flags = {}
        for var in watched:
            known = self.of_var(var) if var in given else NOWHERE
            flag = Value(flag_of(var, by_element=var not in whole and (known is NOWHERE or bool(known.ndim))))
            if known is NOWHERE or known is not EVERYWHERE and known.ndim == flag.ndim:
                flags[var] = flag
            else:
                self.known[var] = EVERYWHERE            # what iterations use besides is not found out
        return flags

    def filled(self, flags: dict[Var, Value], after: dict[Var, Value]) -> None:
        """At the end of an iteration, the elements of an array that counts everywhere by then."""
        for var, flag in flags.items():
            if flag.ndim and after[var] is EVERYWHERE:
                after[var] = call(np.ones, (Value(var).shape,), {"dtype": np.dtype(bool)})

    def carried(self, flags: dict[Var, Value], after: dict[Var, Value], given: Collection[Var]) -> list[Carry]:
        """What a loop hands on of its `flags`, that are `after` an iteration; notes what they are in the end."""
        carries = []
        for var, flag in flags.items():
            init = self.of_var(var) if var in given else _nowhere(var) if flag.ndim else NOWHERE
            assert isinstance(flag.atom, Var)
            carries.append(Carry(flag.atom, init.atom, after[var].atom, flag_of(var, bool(flag.ndim))))
            is_open = after[var] is EVERYWHERE or flag.ndim and var not in self.sometimes
            self.known[var] = EVERYWHERE if is_open else Value(carries[-1].out)
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
            elif then is orelse or then.ndim != orelse.ndim:
                self.known[var] = then if then is orelse else EVERYWHERE
            else:
                self.sometimes.add(var)
                merges.append(Merge(flag_of(var, bool(then.ndim)), then.atom, orelse.atom))
                self.known[var] = Value(merges[-1].target)
        return merges


def flag_of(var: Var, by_element: bool = False) -> Var:
    """Whether a variable was used, or which of its elements."""
    type = ArrayType(BOOL.dtype, var.type.sizes) if by_element and isinstance(var.type, ArrayType) else BOOL
    return Var(type, var.name and f"{var.name}_is_used")


def _name(support: Value, var: Any) -> Value:
    """A support that was made here, named as that of a variable."""
    support.atom.name = flag_of(var).name                                                     # type: ignore[union-attr]
    return support


def _nowhere(array: Var) -> Value:
    """That no element of an array counts."""
    return call(np.zeros, (Value(array).shape,), {"dtype": np.dtype(bool)})


def _has_places(stmt: Let) -> bool:
    """Whether a part of an array is taken by arrays of places."""
    return stmt.op is Get and any(each.ndim and each.dtype.kind != "b" for each in rules.operands_of(stmt)[1:])


def taken_whole(block: Block) -> set[Any]:
    """The variables that a block uses, but arrays of which it takes nothing but parts."""
    found: set[Any] = set()
    for stmt in all_statements(block):
        found.update(stmt.args[1:] if isinstance(stmt, Let) and stmt.op is Get else head_uses(stmt), tail_uses(stmt))
    return found


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


def may_be_steep(block: Block) -> bool:
    """Whether a statement of a block, or of what it calls, may have an infinite derivative."""
    statements = list(all_statements(block))
    called = {each for stmt in statements if isinstance(stmt, Call) for each in reachable(stmt.function)}
    statements += [stmt for each in called for stmt in all_statements(each.body)]
    return any(isinstance(stmt, Let) and is_steep(stmt, {atom for atom in stmt.args if isinstance(atom, Var)})
               for stmt in statements)


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
