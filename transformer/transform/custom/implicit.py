"""Fixed points: derivatives by the implicit function theorem.

At x = step(x, p), tangents and cotangents are fixed points themselves, of linear steps:

    dx = (d step/dx) dx + (d step/dp) dp
    λ  = dy + (d step/dx)ᵀ λ                        dp = (d step/dp)ᵀ λ

So each is one more `fixed_point`, with x among its parameters, and has derivatives in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...core.grammar import Block, Effect, type_of
from ...core.headings import is_heading
from ...core.walk import blocks_of
from ...ops.creation import zeros
from ...ops.value import Value
from ...read.calls.ruled import Leaves, check_captured, filled, frozen, matched, places_in, read_call
from ...read.library.fixed_points import iterated, iterated_derivative
from ...read.raising.demand import static
from ..inside import Inside, read_jvp
from ..modes import Pullback as Transpose
from .custom import Application, Custom, Pullback, Tangents, fitted

if TYPE_CHECKING:
    from ..forward import Forward
    from ..reverse.sweep import Reverse

Options = tuple[float, int]                  # tolerance, most


def read_fixed_point(reader: Any, check: Callable[..., None], step: Any, start: Any, *parameters: Any,
                     tolerance: Any = 1e-10, most: Any = 1000) -> Any:
    """What a call of `fixed_point` gives; `check` raises for options that make no sense."""
    tolerance, most = (static(reader, option, f"`{name}` of fixed_point")
                       for name, option in (("tolerance", tolerance), ("most", most)))
    check(step, tolerance, most)
    return solved(reader, frozen(reader, step), start, parameters, (tolerance, most))


def solved(reader: Any, step: Any, start: Any, parameters: tuple[Any, ...], options: Options,
           iteration: Any = iterated) -> Any:
    """The fixed point of a step, which may use nothing but what it is given."""
    before, given = len(reader.builder.block), Leaves(reader)
    given.tree((start, parameters))
    result = read_call(reader, FixedPoint(iteration), (step, start, parameters, *options), {})
    check_captured(reader, step, reader.builder.block[before:], given.atoms, "the step of fixed_point", WHY, INSTEAD)
    return result


WHY = "The derivative is taken with respect to the parameters."
INSTEAD = "Pass it as a parameter: fixed_point(step, start, a)."


@dataclass(frozen=True, eq=False)
class Along:
    """The step of tangents: ``db + (d step/dx) dx``."""

    step: Any

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        dx, db, x, parameters = args
        return db + _along(reader, self.step, (x, *parameters), (dx, *[None] * len(parameters)))


@dataclass(frozen=True, eq=False)
class Against:
    """The step of cotangents: ``dy + (d step/dx)ᵀ dx``."""

    step: Any

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        dx, dy, x, parameters = args
        return dy + _against(reader, self.step, 0, (x, *parameters, dx))


@dataclass(frozen=True, eq=False)
class Tangent:
    """The rule of forward mode: the tangent of the solution for those of the parameters."""

    step: Any
    options: Options

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        x, parameters, tangents = args
        db = _along(reader, self.step, (x, *parameters), (None, *tangents))
        return solved(reader, Along(self.step), db, (db, x, parameters), self.options, iterated_derivative)


@dataclass(frozen=True, eq=False)
class Cotangent:
    """The rule of reverse mode: the cotangents of the parameters for that of the solution."""

    step: Any
    options: Options

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        x, parameters, dy = args
        dx = solved(reader, Against(self.step), dy, (dy, x, parameters), self.options, iterated_derivative)
        return _against(reader, self.step, None, (x, *parameters, dx))[1:]


def _along(reader: Any, step: Any, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """The tangent of what a step gives."""
    with _silent(reader):
        return read_jvp(reader, (step, primals, tangents), {})[1]


def _against(reader: Any, step: Any, wrt: int | None, args: tuple[Any, ...]) -> Any:
    """The cotangents of the arguments of a step, of which the last one is that of its result."""
    with _silent(reader):
        return reader.call(Inside(step, Transpose(wrt)), args, {})


@contextmanager
def _silent(reader: Any) -> Iterator[None]:
    """Drops what a step says, which it has said on the way to the solution."""
    block, start = reader.builder.block, len(reader.builder.block)
    yield
    block[start:] = [stmt for stmt in block[start:] if not is_heading(stmt)]
    _drop_messages(block, start)


def _drop_messages(block: Block, start: int = 0) -> None:
    block[start:] = [stmt for stmt in block[start:] if not (isinstance(stmt, Effect) and stmt.kind in MESSAGES)]
    for stmt in block[start:]:
        for inner in blocks_of(stmt):
            _drop_messages(inner)


MESSAGES = ("print", "warn", "log")


class FixedPoint(Custom):
    """The iteration of one call of `fixed_point`, with the derivative of its solution."""

    kind = "fixed_point"
    rule = ()
    stays = True

    def pushforward(self, at: Application, tangents: Tangents, forward: Forward) -> tuple[list[Value], Tangents]:
        results, (step, _, trees, *options) = at.again(), at.use.arguments
        moving = tuple(self._tangent(at, tree, tangents) for tree in trees)
        if all(tangent is None for tangent in moving):
            return results, [None]
        given = [t.atom for t in (*results, *tangents) if t is not None]
        rule = Tangent(step, tuple(options))
        return results, self._fitted(results, at.read(rule, (results[0], *at.arguments((trees,)), moving), given))

    def _tangent(self, at: Application, tree: Any, tangents: Tangents) -> Any:
        """The tangent of a parameter, with zeros for the leaves that stand still; None if all of it does."""
        if all(tangents[k] is None for k in places_in(tree)):
            return None

        def leaf(k: int) -> Any:
            type, given = type_of(at.operands[k]), tangents[k]
            return given if given is not None or not type.is_inexact else zeros(type)    # type: ignore[arg-type]
        return filled(at.use.reader, tree, leaf, lambda item: 0.0 if isinstance(item, (float, complex)) else None)

    def _fitted(self, results: list[Value], tangent: Any) -> Tangents:
        return [fitted(tangent, results[0].type, "the tangent of a fixed point")]

    def reversible(self, at: Application, active: list[bool]) -> tuple[list[Value], Pullback]:
        results, (step, _, trees, *options) = at.again(), at.use.arguments

        def pullback(cotangents: Tangents, sweep: Reverse) -> Tangents:
            found: Tangents = [None] * len(at.operands)
            dy, = cotangents
            if dy is not None and any(active[k] for k in places_in(trees)):
                rule, given = Cotangent(step, tuple(options)), [results[0].atom, dy.atom]
                terms = at.read(rule, (results[0], *at.arguments((trees,)), dy), given)
                for k, term in matched(at.use.reader, trees, terms, "the cotangents of a fixed point"):
                    if active[k]:
                        found[k] = fitted(term, type_of(at.operands[k]), "the cotangent of a parameter")
            return found
        return results, pullback
