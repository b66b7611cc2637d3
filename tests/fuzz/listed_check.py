"""What is checked of programs that change lists: value, gradient and exceptions are those of Python."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from bounds import Raised, outcome
from evaluate import evaluate_call, read_call
from lowered import as_loops

from transformer import grad, value_and_grad, vmap
from transformer.core.errors import NotSupported

from .checks import Check
from .program import Program
from .reference import Rejected, slope
from .verdicts import Failure, Refused, ours

LARGEST = 1e6
POINTS = 2


def check_lists(program: Program) -> None:
    """Raises `Rejected`, `Refused` or `Failure`, or nothing."""
    ListCheck(program, ()).run()


class ListCheck(Check):

    def run(self) -> None:
        """The program at its point and at another, where other paths may be taken; some as loops or under `vmap`."""
        if not self.wrt:
            raise Rejected("nothing to differentiate")
        self.direction = self.rng.standard_normal(len(self.at)).round(2)
        points = [self.at + 0.7 * k * self.direction for k in range(POINTS)]
        expected = [self.expected(point) for point in points]
        for point, value in zip(points, expected):
            self.at_point(point, value)
        further = len(self.program.source) % 4
        if further == 0:
            self.loops(points, expected)
        elif further == 1 and not any(isinstance(each, Raised) for each in expected):
            self.lanes(points)

    def expected(self, point: np.ndarray) -> Any:
        """What Python gives or raises."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = outcome(lambda: self.function(*self.with_vector(point)))
        if not isinstance(found, Raised) and not abs(found) < LARGEST:
            raise Rejected("large")
        if isinstance(found, Raised) and not issubclass(found.type, IndexError | ZeroDivisionError | ValueError):
            raise Rejected(found.type.__name__)
        return found

    def at_point(self, point: np.ndarray, expected: Any) -> None:
        found = self.ours("gradient", self.transformed(value_and_grad), point, expected)
        if isinstance(expected, Raised):
            return
        self.same("value", found[0], expected)
        try:
            reference = slope(self.plain, point, self.direction)
        except Rejected:
            return
        along = np.array([found[1][0] @ self.direction])
        self.close("gradient", along, reference.value, reference.uncertainty)

    def ours(self, what: str, call: Callable[..., Any], point: np.ndarray, expected: Any) -> Any:
        """What we give, which is an exception where Python raises one."""
        if not isinstance(expected, Raised):
            with ours(what):
                return call(*self.with_vector(point))
        with np.errstate(all="ignore"):
            found = outcome(lambda: call(*self.with_vector(point)))
        if not isinstance(found, Raised):
            if self.is_dead(point):
                raise Rejected("what raises is needed for nothing")
            raise Failure(f"{what}: no {expected.type.__name__}", f"{found!r}")
        if issubclass(found.type, expected.type):
            return found
        if issubclass(found.type, NotSupported):
            raise Refused(found.text)
        raise Failure(f"{what}: {found.type.__name__} for {expected.type.__name__}", found.text)

    def is_dead(self, point: np.ndarray) -> bool:
        """Whether what was read raises an exception: what is generated of it lacks what nobody needs."""
        args = self.with_vector(point)
        return isinstance(outcome(lambda: evaluate_call(read_call(self.function, *args), self.function, *args)), Raised)

    def same(self, what: str, found: Any, expected: Any) -> None:
        if not np.allclose(found, expected, rtol=1e-9, atol=1e-9):
            raise Failure(what, f"{found!r}, by Python {expected!r}")

    def loops(self, points: list[np.ndarray], expected: list[Any]) -> None:
        """As what is compiled, run as plain Python."""
        for point, value in zip(points, expected):
            found = self.ours("loops", lambda *args: as_loops(self.function, self.function, args), point, value)
            if not isinstance(value, Raised):
                self.same("value by loops", found, value)
        if not isinstance(expected[0], Raised):
            with ours("loops of the gradient"):
                value, slopes = as_loops(self.transformed(value_and_grad), self.function, self.values())
                self.gradient = self.transformed(grad)(*self.values())[0]
            self.same("value by loops of the gradient", value, expected[0])
            self.close("gradient by loops", slopes[0], self.gradient)

    def lanes(self, points: list[np.ndarray]) -> None:
        """Under `vmap`, with a lane for each point."""
        axes = (0, None, None)
        for what, function in (("vmap", self.function), ("vmap of the gradient", grad(self.function))):
            with ours(what):
                found = vmap(function, in_axes=axes)(np.stack(points), *self.values()[1:])
                each = np.stack([np.asarray(function(*self.with_vector(point))) for point in points])
            self.same(what, found, each)
