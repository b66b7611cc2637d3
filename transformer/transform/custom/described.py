"""Derivatives of what is known by a description: roots and integrals of functions (`read/calls/given_functions.py`).

The way to them carries none; what they are tells the derivative.

    f(x, p) = 0                  (df/dx) dx = -(df/dp) dp               dp = (df/dp)ᵀ λ with (df/dx)ᵀ λ = -dx
    y = ∫ f(x, p) dx, a to b     dy = f(b) db - f(a) da + ∫ (df/dp) dp      dp = ∫ (df/dp)ᵀ dy

x and the integrals of derivatives are under descriptions again, so that higher derivatives go the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.builder import current
from ...core.grammar import Atom, Block, Effect, Function, Var, type_of
from ...core.types import ArrayType
from ...core.walk import Copier, blocks_of
from ...ops.creation import zeros
from ...ops.value import Value, atom, value
from ...read.calls.given_functions import Evaluated, Given, Integral, Solution, copied, evaluated, integrated
from ...read.calls.ruled import Use, as_value
from .. import rules
from ..inside import Inside
from .custom import Application, Pullback, Tangents

if TYPE_CHECKING:
    from ..forward import Forward
    from ..reverse.sweep import Reverse


class OfCall:
    """The derivatives of a call: calls of functions of their own, which are made once."""

    stays = True

    def __init__(self, call: Evaluated) -> None:
        self.call = call

    def check_active(self, use: Use, active: Sequence[bool]) -> None:
        """Nothing that it rests on is declared constant."""

    def pushforward(self, at: Application, tangents: Tangents, forward: Forward) -> tuple[list[Value], Tangents]:
        moving = tuple(t is not None for t in tangents)
        given = [cast(t, operand).atom for t, operand in zip(tangents, at.operands) if t is not None]
        found = evaluated(self._made(("jvp", moving), self._along), [*at.operands, *given])
        return at.again(), list(found)

    def _along(self, key: Any) -> Function:
        from ..forward import jvp
        derived = jvp(copied(self.call.function), key[1], current())
        derived.results = derived.results[len(self.call.function.results):]
        return derived

    def reversible(self, at: Application, active: list[bool]) -> tuple[list[Value], Pullback]:
        def pullback(cotangents: Tangents, sweep: Reverse) -> Tangents:
            given = [cast(t, result).atom for t, result in zip(cotangents, at.values) if t is not None]
            if not given:
                return [None] * len(at.operands)
            key = "vjp", tuple(active), tuple(t is not None for t in cotangents)
            found = iter(evaluated(self._made(key, self._against), [*at.operands, *given]))
            return [next(found) if on else None for on in active]
        return at.again(), pullback

    def _against(self, key: Any) -> Function:
        from ..reverse.reverse import reverse
        copy = copied(self.call.function)
        seeds = [Var(type_of(result), f"d{self.call.function.name}") if on else None
                 for result, on in zip(copy.results, key[2])]
        derived = reverse(copy, key[1], seeds, current(), asked=())
        derived.params = [*derived.params, *(seed for seed in seeds if seed is not None)]
        derived.results = derived.results[len(copy.results):]
        return derived

    def _made(self, key: Any, make: Any) -> Evaluated:
        if key not in self.call.made:
            with current().apart():
                function: Function = make(key)
            function.name, function.role = f"{self.call.function.name}_{key[0]}", "called"
            drop_messages(function.body)
            self.call.made[key] = Evaluated(copied(function), function)
        return self.call.made[key]


class OfSolution:
    """The derivatives of a root."""

    stays = True

    def __init__(self, solution: Solution) -> None:
        self.function = solution.function

    def check_active(self, use: Use, active: Sequence[bool]) -> None:
        """Nothing that it rests on is declared constant."""

    def pushforward(self, at: Application, tangents: Tangents, forward: Forward) -> tuple[list[Value], Tangents]:
        x, = at.again()
        change: Any = along(self.function, (x.atom, *at.operands), [None, *tangents])
        return [x], [None if change is None else cast(self._solved(x, at, -change), x.atom)]

    def reversible(self, at: Application, active: list[bool]) -> tuple[list[Value], Pullback]:
        x, = at.again()

        def pullback(cotangents: Tangents, sweep: Reverse) -> Tangents:
            dx: Any = cotangents[0]
            if dx is None:
                return [None] * len(at.operands)
            return against(self.function, (x.atom, *at.operands), [False, *active], self._solved(x, at, -dx, True))[1:]
        return [x], pullback

    def _solved(self, x: Value, at: Application, right: Any, is_transposed: bool = False) -> Any:
        """The solution of linear equations with df/dx, or with its transpose."""
        if not x.ndim:
            still = [None] * len(at.operands)
            return right / along(self.function, (x.atom, *at.operands), [ones(x.type), *still])
        slopes = at.read(Slopes(self.function, at.operands), (x,), [x.atom])
        if x.ndim > 1:
            slopes = np.reshape(slopes, (x.size, x.size))
        solution = np.linalg.solve(slopes.T if is_transposed else slopes, np.ravel(right))
        return np.reshape(solution, x.shape)


@dataclass(frozen=True, eq=False)
class Slopes:
    """df/dx: the Jacobian of a function for its first argument."""

    function: Function
    operands: Sequence[Atom]

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from ..jacobians import Jacobian
        return reader.call(Inside(Placed(self.function, self.operands), Jacobian()), args, {})


@dataclass(frozen=True, eq=False)
class Placed:
    """A function of its first argument alone."""

    function: Function
    operands: Sequence[Atom]

    @property
    def __name__(self) -> str:
        return self.function.name

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return placed(copied(self.function), [atom(args[0]), *self.operands])[0]


class OfIntegral:
    """The derivatives of an integral: Leibniz's rule."""

    stays = True

    def __init__(self, integral: Integral) -> None:
        self.integral = integral
        self.function = integral.function

    def check_active(self, use: Use, active: Sequence[bool]) -> None:
        """Nothing that it rests on is declared constant."""

    def pushforward(self, at: Application, tangents: Tangents, forward: Forward) -> tuple[list[Value], Tangents]:
        _, _, *inside = tangents
        terms: list[Any] = [self._at_end(at, k) * t * sign
                            for k, (t, sign) in enumerate(zip(tangents, (-1, 1))) if t is not None]
        if any(t is not None for t in inside):
            terms.append(self._integrated(at, Along(self.function, at.operands[2:], inside), inside))
        y, = at.again()
        return [y], [cast(sum(terms[1:], terms[0]), y.atom) if terms else None]

    def reversible(self, at: Application, active: list[bool]) -> tuple[list[Value], Pullback]:
        def pullback(cotangents: Tangents, sweep: Reverse) -> Tangents:
            dy, = cotangents
            if dy is None:
                return [None] * len(at.operands)
            return [cast(self._cotangent(at, k, dy), at.operands[k]) if on else None for k, on in enumerate(active)]
        return at.again(), pullback

    def _cotangent(self, at: Application, k: int, dy: Any) -> Any:
        if k < 2:
            return np.sum(self._at_end(at, k) * dy * (-1, 1)[k])
        if not dy.ndim:
            return dy * self._integrated(at, Against(self.function, at.operands[2:], k - 2, None), [])
        scale = np.max(np.abs(dy))
        seed: Any = dy / np.where(scale == 0, 1.0, scale)
        return scale * self._integrated(at, Against(self.function, at.operands[2:], k - 2, seed), [seed])

    def _at_end(self, at: Application, k: int) -> Any:
        """The function at an end of the range."""
        return placed(copied(self.function), [at.operands[k], *at.operands[2:]])[0]

    def _integrated(self, at: Application, integrand: Any, given: Tangents) -> Any:
        rule = Integrated(self.integral, integrand, at.operands[:2])
        return at.read(rule, (), [each.atom for each in given if each is not None])


@dataclass(frozen=True, eq=False)
class Integrated:
    """The integral of another function, by the same routine over the same range."""

    integral: Integral
    integrand: Any
    ends: Sequence[Atom]

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        ends = [as_value(end) for end in self.ends]
        function = Given(reader, self.integrand)
        found, _ = reader.call(integrated, (self.integral.routine, function, *ends, *self.integral.options), {})
        return found


@dataclass(frozen=True, eq=False)
class Along:
    """The tangent of a function at x, given the tangents of everything else that it depends on."""

    function: Function
    operands: Sequence[Atom]
    tangents: Tangents

    @property
    def __name__(self) -> str:
        return f"{self.function.name}_jvp"

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        x, = args
        return along(self.function, [atom(x), *self.operands], [None, *self.tangents])


@dataclass(frozen=True, eq=False)
class Against:
    """The cotangent of one of the values that a function at x depends on."""

    function: Function
    operands: Sequence[Atom]
    place: int
    seed: Value | None

    @property
    def __name__(self) -> str:
        return f"{self.function.name}_vjp"

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        x, = args
        active = [k == self.place for k in range(len(self.operands))]
        dy = value(1.0) if self.seed is None else self.seed
        return against(self.function, [atom(x), *self.operands], [False, *active], dy)[self.place + 1]


def along(function: Function, atoms: Sequence[Atom], tangents: Tangents) -> Value | None:
    """The tangent of what a function gives; None where nothing moves."""
    from ..forward import jvp
    moving = [tangent is not None for tangent in tangents]
    if not any(moving):
        return None
    derived = jvp(copied(function), moving, current())
    given = [cast(t, atom).atom for t, atom in zip(tangents, atoms) if t is not None]
    return placed(derived, [*atoms, *given])[1]


def against(function: Function, atoms: Sequence[Atom], active: Sequence[bool], dy: Value) -> Tangents:
    """The cotangents of the active arguments of a function for that of its result, None for the others."""
    from ..reverse.reverse import reverse
    copy = copied(function)
    result, = function.results
    seed = Var(type_of(result))
    derived = reverse(copy, active, [seed], current(), asked=())
    derived.params = [*derived.params, seed]
    found = iter(placed(derived, [*atoms, cast(dy, result).atom])[1:])
    return [next(found) if on else None for on in active]


def ones(type: ArrayType) -> Value:
    return value(zeros(type) + 1)  # type: ignore[operator]


def cast(given: Any, atom: Atom) -> Value:
    """What a rule gives for an atom, in its dtype and shape."""
    type = type_of(atom)
    assert isinstance(type, ArrayType)
    return rules.full(rules.cast(value(given), type), type)


def placed(function: Function, atoms: Sequence[Atom]) -> list[Value]:
    """Emits the statements of a function for these arguments, without what it says; gives its results."""
    builder = current()
    copier = Copier(dict(zip(function.params, atoms)))
    block = copier.block(function.body)
    drop_messages(block)
    for stmt in block:
        builder.emit(stmt)
    builder.assumptions.inherit(copier.mapping, copier.size)
    return [value(Value(copier.atom(result))) for result in function.results]


def drop_messages(block: Block) -> None:
    """Drops what statements say, which they have said on the way to the result."""
    block[:] = [stmt for stmt in block if not (isinstance(stmt, Effect) and stmt.kind in MESSAGES)]
    for stmt in block:
        for inner in blocks_of(stmt):
            drop_messages(inner)


MESSAGES = ("print", "warn", "log", "comment")

RULES: dict[type, Any] = {Evaluated: OfCall, Solution: OfSolution, Integral: OfIntegral}


def ruling(custom: Any) -> Any:
    """What knows the derivatives: of a description, the rule for descriptions of its kind."""
    rule = RULES.get(type(custom))
    return custom if rule is None else rule(custom)
