"""Derivatives against central differences: `check_grads`, and the figures of `transformer check`.

A derivative of order k is compared with differences of our own derivative of order k - 1, so that
each order is checked as closely as the first. The pairing of a cotangent with a tangent is the real
part of their product, without conjugation, as in JAX.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import tree
from .api import Transformed
from .core.errors import BadArgument
from .differences import (
    Difference,
    Point,
    Vector,
    directional,
    flat,
    inexact_leaves,
    is_inexact,
    like,
    places,
    precision,
    random_direction,
    shaped,
    summed,
)
from .read.kinds import described
from .read.places import place_of, place_of_call
from .transform.modes import Gradient, Mode, Pullback, Pushforward

MODES = ("fwd", "rev")
TOLERANCES = {"float64": 1e-6, "float32": 5e-3, "float16": 1e-1, "bfloat16": 3e-1}  # absolute and relative
MOST_WIDENED = 100  # how much an uncertain difference may add, in tolerances


@dataclass(frozen=True)
class Limits:
    """How far a derivative may be from a difference."""

    absolute: float
    relative: float

    @staticmethod
    def for_numbers(values: Any, atol: float | None = None, rtol: float | None = None) -> Limits:
        usual = TOLERANCES[precision(values).name]
        return Limits(usual if atol is None else atol, usual if rtol is None else rtol)

    def around(self, difference: Difference) -> Vector:
        usual = self.absolute + self.relative * np.abs(difference.value)
        widened: Vector = usual + np.minimum(4 * difference.uncertainty, MOST_WIDENED * usual)
        return widened


def check(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    order: int,
    modes: tuple[str, ...],
    atol: float | None,
    rtol: float | None,
    seed: int,
) -> None:
    """See `transformer.check_grads`. The result of `function` may be any pytree."""
    if not callable(function):
        raise BadArgument(f"check_grads expects a function, got {described(function)}", place_of_call(),
                          instead="Write check_grads(f, (x,)).")
    if not isinstance(order, int) or order < 1:
        raise BadArgument(f"the order of check_grads is {order!r}, expected a positive integer", place_of_call(),
                          instead="Pass order=1 or higher.")
    if not modes or not set(modes) <= set(MODES):
        raise BadArgument(f"the modes of check_grads are {modes!r}, which is not supported", place_of_call(),
                          instead=f"Choose from {MODES}.")
    program = Program(Point(function, args, {}), getattr(function, "__name__", "the function"))
    limits = Limits.for_numbers((args, program.value()), atol, rtol)
    check_program(program, order, modes, limits, np.random.default_rng(seed))


@dataclass(frozen=True)
class Program:
    """A function at a point; `modes` are the derivatives taken of it so far, the last first."""

    point: Point
    name: str
    modes: tuple[str, ...] = ()

    def value(self) -> Any:
        return self.point.value()

    def derivative(self, mode: Mode, label: str, *extras: Any) -> Program:
        derived = Transformed(self.point.function, mode)
        return Program(
            Point(derived, (*self.point.args, *extras), {}), self.name, (label, *self.modes)
        )

    def __str__(self) -> str:
        return (
            f"check_grads of {self.name}, order {len(self.modes)}, mode {' of '.join(self.modes)}"
        )


def check_program(
    program: Program, order: int, modes: tuple[str, ...], limits: Limits, rng: np.random.Generator
) -> None:
    """Checks the derivatives of a program, and those of its derivatives up to `order`."""
    step = Step(program, limits, rng)
    derivatives = [step.forward()] if "fwd" in modes else []
    derivatives += [step.reverse()] if "rev" in modes else []
    for derivative in derivatives if order > 1 else []:
        check_program(derivative, order - 1, modes, limits, rng)


class Step:
    """The derivatives of one program, each compared with differences of that program."""

    def __init__(self, program: Program, limits: Limits, rng: np.random.Generator) -> None:
        self.program, self.limits = program, limits
        self.result = program.value()
        args = program.point.args
        self.moving = tuple(k for k, arg in enumerate(args) if inexact_leaves(arg))
        self._require_numbers()
        self.directions = [random_direction(args[k], rng) for k in self.moving]
        self.cotangent = shaped(random_direction(self.result, rng), self.result)
        self.differences = [
            directional(program.point, k, direction)
            for k, direction in zip(self.moving, self.directions, strict=True)
        ]

    def _require_numbers(self) -> None:
        without = "arguments hold" if not self.moving else "result holds"
        if not self.moving or not inexact_leaves(self.result):
            raise BadArgument(
                f"check_grads found nothing to differentiate in {self.program.name}",
                place_of(self.program.point.function),
                why=f"The {without} no floating point values.",
                instead="Pass floating point numbers (3.0, x.astype(float)).",
            )

    def forward(self) -> Program:
        tangents = [
            shaped(direction, self.program.point.args[k])
            for k, direction in zip(self.moving, self.directions, strict=True)
        ]
        derivative = self.program.derivative(Pushforward(self.moving), "fwd", *tangents)
        tangent = derivative.value()[1]
        require(
            derivative,
            flat(tangent),
            summed(self.differences),
            self.limits,
            places(tangent, "result"),
        )
        return derivative

    def reverse(self) -> Program:
        """Checks the pullback and, where the function has one, the gradient, which then stands for
        both in higher orders."""
        derivative = self.program.derivative(Pullback(self.moving), "rev", self.cotangent)
        self._require_each(derivative, flat(self.cotangent))
        if is_real_number(self.result) and self._all_inexact():
            derivative = self.program.derivative(Gradient(self.moving), "grad")
            self._require_each(derivative, np.ones(1))
        return derivative

    def _all_inexact(self) -> bool:
        return all(
            is_inexact(leaf)
            for k in self.moving
            for leaf in tree.leaves(self.program.point.args[k])
        )

    def _require_each(self, derivative: Program, weights: Vector) -> None:
        """Compares the product of each cotangent and its tangent with the weighted difference."""
        found = zip(self.moving, derivative.value(), self.directions, self.differences, strict=True)
        for k, cotangent, direction, difference in found:
            ours = np.array(
                [paired(flat(cotangent), flat(direction), f"{derivative}: argument {k}")]
            )
            require(
                derivative,
                ours,
                difference.along(weights),
                self.limits,
                [f"along a direction of argument {k}"],
            )


def require(
    derivative: Program, ours: Vector, difference: Difference, limits: Limits, names: Sequence[str]
) -> None:
    """Raises `AssertionError` with both numbers unless they agree, entry by entry."""
    if ours.shape != difference.value.shape:
        raise AssertionError(
            f"{derivative}: the derivative has {ours.size} numbers, the result "
            f"{difference.value.size}"
        )
    allowed = limits.around(difference)
    excess = np.nan_to_num(np.abs(ours - difference.value) / allowed, nan=np.inf)
    if np.all(excess <= 1):
        return
    worst = int(np.argmax(excess))
    raise AssertionError(
        f"{derivative}: {int(np.sum(excess > 1))} of {ours.size} numbers are off\n"
        f"  {names[worst]}: derivative {ours[worst]}, differences {difference.value[worst]}\n"
        f"  off by {abs(ours[worst] - difference.value[worst]):.3g}, allowed {allowed[worst]:.3g}"
    )


def paired(cotangent: Vector, tangent: Vector, what: str) -> float:
    """The real part of the sum of the products, which does not conjugate."""
    if cotangent.shape != tangent.shape:
        raise AssertionError(f"{what}: {cotangent.size} numbers for {tangent.size} of the primal")
    return float(np.real(np.sum(cotangent * tangent)))


def is_real_number(value: Any) -> bool:
    return is_inexact(value) and np.ndim(value) == 0 and not np.iscomplexobj(value)


@dataclass(frozen=True)
class Figure:
    """A derivative along a random direction of one argument: by reverse mode, by forward mode, by
    differences, and how far the former two may be from the last."""

    name: str
    reverse: float
    forward: float
    difference: float
    allowed: float

    @property
    def error(self) -> float:
        return max(abs(self.reverse - self.difference), abs(self.forward - self.difference))

    @property
    def agrees(self) -> bool:
        return self.error <= self.allowed


def figures(point: Point, arguments: dict[str, int | str], seed: int = 0) -> list[Figure]:
    """How the derivatives for the named arguments compare with differences. `arguments` says where
    each is: a position in the arguments of the point, or a keyword. A result other than a real
    number is weighted with a random cotangent."""
    rng = np.random.default_rng(seed)
    result = point.value()
    limits = Limits.for_numbers((point.args, point.kwargs, result))
    number = is_real_number(result)
    cotangent = like(result, 1.0) if number else shaped(random_direction(result, rng), result)
    found = _cotangents(point, tuple(arguments.values()), None if number else cotangent)
    return [
        _figure(point, name, where, ours, flat(cotangent), limits, rng)
        for (name, where), ours in zip(arguments.items(), found, strict=True)
    ]


def _cotangents(point: Point, wrt: tuple[int | str, ...], cotangent: Any) -> tuple[Any, ...]:
    mode: Mode = Gradient(wrt) if cotangent is None else Pullback(wrt)
    extras = () if cotangent is None else (cotangent,)
    derived = Point(Transformed(point.function, mode), (*point.args, *extras), point.kwargs)
    cotangents: tuple[Any, ...] = derived.value()
    return cotangents


def _figure(
    point: Point,
    name: str,
    where: int | str,
    ours: Any,
    weights: Vector,
    limits: Limits,
    rng: np.random.Generator,
) -> Figure:
    value = point.argument(where)
    direction = random_direction(value, rng)
    pushed = Transformed(point.function, Pushforward((where,)))
    tangent = Point(pushed, (*point.args, shaped(direction, value)), point.kwargs).value()[1]
    difference = directional(point, where, direction).along(weights)
    return Figure(
        name,
        paired(flat(ours), flat(direction), name),
        paired(weights, flat(tangent), name),
        float(difference.value[0]),
        float(limits.around(difference)[0]),
    )
