"""Functions with rules of their own: `custom_jvp` and `custom_vjp`, as transformations see them.

A call leaves a `ruled` statement (`read/calls/ruled.py`). Where a derivative passes through it, the rule is
read in its place. A jvp rule and a backward rule are linear maps, so each serves both modes: in one of
them as it is written, in the other transposed (`linear.py`).
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ... import tree
from ...core.builder import current, is_building
from ...core.errors import BadArgument, NotDifferentiable, NotSupported, ShapeError
from ...core.grammar import Atom, Effect, Let, Var, type_of
from ...core.types import ArrayType
from ...core.walk import all_statements
from ...ops.creation import zeros
from ...ops.elementwise import shape_text
from ...ops.identity import Same
from ...ops.ruled import Ruled
from ...ops.value import Value, emit, value
from ...read.calls.ruled import (
    Leaves,
    Use,
    as_value,
    filled,
    matched,
    origin_of,
    places_in,
    read_call,
    read_rule,
    what_is,
)
from .. import rules
from ..reverse.linear import Linear

if TYPE_CHECKING:
    from ..forward import Forward
    from ..reverse.sweep import Reverse

Tangents = list[Value | None]
Residuals = tuple[Any, list[Atom]]                       # a tree, and what stands in it
Pullback = Callable[[Tangents, "Reverse"], Tangents]


class Application:
    """One `ruled` statement: `values` are the results of the function itself, `operands` the leaves of
    its arguments."""

    def __init__(self, stmt: Let) -> None:
        count = stmt.attrs["count"]
        self.stmt = stmt
        self.use: Use = stmt.attrs["use"]
        self.values, self.operands = stmt.args[:count], stmt.args[count:]

    def arguments(self, trees: Sequence[Any]) -> tuple[Any, ...]:
        """Trees of arguments with the operands in place."""
        return tuple(filled(self.use.reader, tree, lambda k: as_value(self.operands[k])) for tree in trees)

    def read(self, rule: Any, args: tuple[Any, ...], more: Sequence[Atom] = ()) -> Any:
        """What a rule gives for arguments made of the operands and of `more` atoms."""
        return read_rule(self.use.reader, rule, args, [*self.operands, *more])

    def results(self, given: Any, what: str) -> list[Value]:
        """The results that a rule gives, which have the types of those of the function."""
        found = dict(matched(self.use.reader, self.use.result, given, what))
        return [self._result(found.get(k), atom, what) for k, atom in enumerate(self.values)]

    def _result(self, given: Any, atom: Atom, what: str) -> Value:
        item = fitted(given, type_of(atom), what)
        return zeros(type_of(atom)) if item is None else item              # type: ignore[arg-type]

    def again(self) -> list[Value]:
        """The results once more, with the rule for the next derivative."""
        found = emit(Ruled, self.stmt.args, self.stmt.attrs)
        return list(found)

    def atoms(self, tree: Any) -> list[Atom]:
        """The atoms in a tree of values."""
        leaves = Leaves(self.use.reader)
        leaves.tree(tree)
        return leaves.atoms

    def tree(self, parts: Sequence[Any]) -> Any:
        """The result of the function with other leaves."""
        return filled(self.use.reader, self.use.result, lambda k: parts[k])


class Custom:
    """A function with a rule of its own. Called outside of any transformation, it just runs. Where it
    `stays`, its rule goes on from what the function itself has computed, effects included."""

    kind = "custom rule"
    stays = False
    rule: Any = None
    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[..., Any], nondiff: tuple[int, ...] = ()) -> None:
        self.function = function
        self.nondiff = nondiff
        self.__name__ = self.__qualname__ = "function"
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if is_building() and any(isinstance(leaf, Value) for leaf in tree.leaves((args, kwargs))):
            return current().reader.call(self, args, kwargs)          # called by a rule that is not read
        return self.function(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.__qualname__}>"

    def __reduce__(self) -> Any:
        """What its module calls by its name is found there; others go with their rules."""
        found: Any = sys.modules.get(self.__module__)
        for part in getattr(self, "__qualname__", "<none>").split("."):
            found = getattr(found, part, None)
        return self.__qualname__ if found is self else (type(self), (self.function, self.nondiff), {"rule": self.rule})

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.rule is None:
            raise NotSupported(f"{self.__name__} has no rule yet", reader.builder.origin,
                               why=f"It is decorated with {self.kind}.", instead=self.missing())
        return read_call(reader, self, args, kwargs)

    def missing(self) -> str:
        """How to give the rule."""
        raise NotImplementedError

    def pushforward(self, at: Application, tangents: Tangents, forward: Forward) -> tuple[list[Value], Tangents]:
        """Emits the results and their tangents, for those of the operands."""
        raise NotImplementedError

    def reversible(self, at: Application, active: list[bool]) -> tuple[list[Value], Pullback]:
        """Emits the results and what their pullback needs; the pullback emits the cotangents of the
        operands for those of the results. `active` are the operands that get one."""
        raise NotImplementedError

    def check_active(self, use: Use, active: Sequence[bool]) -> None:
        """Raises where an argument that is declared constant is differentiated for."""
        for k in self.nondiff:
            if any(active[place] for place in places_in(use.arguments[k])):
                raise NotDifferentiable(
                    f"argument {k} of {self.__name__} is in nondiff_argnums, but is differentiated",
                    current().origin, instead="Pass stop_gradient(...) of it, or remove it from nondiff_argnums.")

    def split(self, use: Use) -> tuple[list[Any], list[Any]]:
        """The trees of the arguments that are constants, and of the others."""
        places = [k % len(use.arguments) for k in self.nondiff]
        return ([use.arguments[k] for k in places],
                [tree for k, tree in enumerate(use.arguments) if k not in places])


# -- custom_jvp ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PerArgument:
    """A jvp rule by one function per argument."""

    jvps: tuple[Any, ...]


class CustomJvp(Custom):
    """A function whose derivative along a direction is given by a rule; see `transformer.custom_jvp`."""

    kind = "custom_jvp"

    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Gives the rule, ``rule(*nondiff, primals, tangents) -> (result, tangent of the result)``, and
        gives it back, so that this can be a decorator."""
        self.rule = (rule,)
        return rule

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Gives the rule by one function per argument, ``jvp(tangent, result, *primals)``, which are
        added up; None for an argument without derivative."""
        if self.nondiff:
            raise BadArgument(f"{self.__name__}.defjvps does not support nondiff_argnums", instead="Use defjvp.")
        if not any(jvps):
            raise BadArgument(f"{self.__name__}.defjvps needs at least one function", instead="Use stop_gradient.")
        self.rule = PerArgument(jvps)

    def missing(self) -> str:
        return f"Write @{self.__name__}.defjvp above a function (primals, tangents) -> (result, tangent)."

    def pushforward(self, at: Application, tangents: Tangents, forward: Forward) -> tuple[list[Value], Tangents]:
        sources = self._sources(at, [t is not None for t in tangents], "d")
        with current().nested() as block:
            results, linear = self._linear(at, sources)
        linear.block = block
        given = {var: t for k, var in sources.items() if (t := tangents[k]) is not None}
        return results, linear.pushed(given, forward)

    def reversible(self, at: Application, active: list[bool]) -> tuple[list[Value], Pullback]:
        sources = self._sources(at, active, "")
        with current().nested() as block:
            results, linear = self._linear(at, sources)
        linear.prepare(block, current())
        current().block.extend(linear.block)

        def pullback(cotangents: Tangents, sweep: Reverse) -> Tangents:
            found = dict(zip(sources, linear.pulled(cotangents, sweep)))
            return [found.get(k) for k in range(len(at.operands))]
        return results, pullback

    def _sources(self, at: Application, moving: list[bool], prefix: str) -> dict[int, Var]:
        """Variables for the tangents of the operands for which the rule needs one; the derivatives with
        respect to them, which are what is printed, are called after the operands."""
        every = not isinstance(at.use.rule, PerArgument)
        wanted = [k for k, atom in enumerate(at.operands) if type_of(atom).is_inexact and (every or moving[k])]
        return {k: tangent_variable(at.operands[k], prefix) for k in wanted}

    def _linear(self, at: Application, sources: dict[int, Var]) -> tuple[list[Value], Linear]:
        """Reads the rule with variables for the tangents: the results, and the linear part."""
        if isinstance(at.use.rule, PerArgument):
            first, (results, ends) = next(filter(None, at.use.rule.jvps)), self._by_argument(at, sources)
        else:
            first, (results, ends) = at.use.rule[0], self._by_rule(at, sources)
        name = f"the jvp rule of {self.__name__}"
        return results, Linear([], list(sources.values()), ends, name, origin_of(first))

    def _by_rule(self, at: Application, sources: dict[int, Var]) -> tuple[list[Value], list[Atom | None]]:
        rule, = at.use.rule
        constant, moving = self.split(at.use)
        with current().at(origin_of(rule)):
            args = (*at.arguments(constant), at.arguments(moving), _tangent_trees(at, moving, sources))
            given = at.read(rule, args, list(sources.values()))
            if not isinstance(given, (tuple, list)) or len(given) != 2:
                raise BadArgument(f"the jvp rule of {self.__name__} returns {what_is(given)}, expected a pair",
                                  instead="Return a pair: the result and its tangent.")
            results = at.results(given[0], f"the result in what the jvp rule of {self.__name__} returns")
            what = f"the tangent returned by the jvp rule of {self.__name__}"
            return results, self._ends(at, given[1], results, what)

    def _ends(self, at: Application, given: Any, results: list[Value], what: str) -> list[Atom | None]:
        found = dict(matched(at.use.reader, at.use.result, given, what))
        ends = [fitted(found.get(k), result.type, what) for k, result in enumerate(results)]
        return [None if end is None else end.atom for end in ends]

    def _by_argument(self, at: Application, sources: dict[int, Var]) -> tuple[list[Value], list[Atom | None]]:
        jvps, trees = at.use.rule.jvps, at.use.arguments
        if len(jvps) != len(trees):
            raise BadArgument(f"{self.__name__}.defjvps got {len(jvps)} functions", current().origin,
                              instead=f"Pass one for each of the {len(trees)} arguments, None for a zero derivative.")
        results = at.again()
        totals: list[Value | None] = [None] * len(results)
        for jvp, argument in zip(jvps, trees):
            tangent, = _tangent_trees(at, [argument], sources)
            if jvp is not None and at.atoms(tangent):
                self._add(at, jvp, (tangent, at.tree(results), *at.arguments(trees)), sources, totals)
        return results, [None if total is None else total.atom for total in totals]

    def _add(self, at: Application, jvp: Any, args: tuple[Any, ...], sources: dict[int, Var], totals: Tangents
             ) -> None:
        what = f"the result of {getattr(jvp, '__name__', 'a function')} for {self.__name__}.defjvps"
        with current().at(origin_of(jvp)):
            given = at.read(jvp, args, [*sources.values(), *at.atoms(args[1])])
            for k, item in matched(at.use.reader, at.use.result, given, what):
                before, term = totals[k], fitted(item, type_of(at.values[k]), what)
                if term is not None:
                    totals[k] = term if before is None else rules.added(before, term)


def tangent_variable(atom: Atom, prefix: str = "") -> Var:
    """A variable for the tangent of an operand, which is emitted as zeros: what depends on it is replaced
    by the derivative."""
    type = type_of(atom)
    assert isinstance(type, ArrayType)
    var, = current().let(Same, (zeros(type).atom,), {}, (type,))
    name = getattr(atom, "name", None)
    var.name = f"{prefix}{name}" if name and name.isidentifier() else None
    return var


def _tangent_trees(at: Application, trees: Sequence[Any], sources: dict[int, Var]) -> tuple[Any, ...]:
    """Trees of tangents; 0.0 for numbers that are constants, None for what carries no derivative."""
    def leaf(k: int) -> Any:
        return Value(sources[k]) if k in sources else None

    def other(item: Any) -> Any:
        return 0.0 if isinstance(item, (float, complex)) else None
    return tuple(filled(at.use.reader, tree, leaf, other) for tree in trees)


# -- custom_vjp ------------------------------------------------------------------------------------


class CustomVjp(Custom):
    """A function whose pullback is given by two rules; see `transformer.custom_vjp`."""

    kind = "custom_vjp"

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Gives the rules: ``fwd(*args) -> (result, residuals)``, and ``bwd(*nondiff, residuals, cotangent)``,
        which returns a tuple of one cotangent per argument, None for zeros."""
        self.rule = fwd, bwd

    def missing(self) -> str:
        return f"Write {self.__name__}.defvjp(fwd, bwd)."

    def pushforward(self, at: Application, tangents: Tangents, forward: Forward) -> tuple[list[Value], Tangents]:
        results, residuals = self._forward(at)
        linear = self._linear(at, residuals, [t is not None for t in tangents])
        linear.prepare(linear.block, current())
        pulled = linear.transposed(tangents, forward)
        return results, [None if t is None else rules.full(t, r.type) for t, r in zip(pulled, results)]

    def _linear(self, at: Application, residuals: Residuals, wanted: list[bool]) -> Linear:
        """Reads the backward rule with variables for the cotangents, for the operands that are wanted."""
        sources = [tangent_variable(value) for value in at.values]
        with current().nested() as block:
            found = self._backward(at, residuals, [Value(var) for var in sources])
        ends = [d.atom if d is not None and on else None for d, on in zip(found, wanted)]
        return Linear(block, sources, ends, f"the backward rule of {self.__name__}", origin_of(at.use.rule[1]))

    def reversible(self, at: Application, active: list[bool]) -> tuple[list[Value], Pullback]:
        results, residuals = self._forward(at)

        def pullback(cotangents: Tangents, sweep: Reverse) -> Tangents:
            if any(d is None for d in cotangents):
                found = self._without_zeros(at, residuals, cotangents, sweep)
                if found is not None:
                    return found
            return self._backward(at, residuals, cotangents)
        return results, pullback

    def _without_zeros(self, at: Application, residuals: Residuals, cotangents: Tangents, sweep: Reverse
                       ) -> Tangents | None:
        """Cotangents where those of some results are zero: a backward rule that is linear loses the terms
        of those. None where it is not."""
        from ..forward import Forward
        linear = self._linear(at, residuals, [True] * len(at.operands))
        if any(isinstance(stmt, Effect) for stmt in all_statements(linear.block)):
            return None
        given = {var: d for var, d in zip(linear.sources, cotangents) if d is not None}
        try:
            return linear.pushed(given, Forward(current(), set(), sweep.calls))
        except NotDifferentiable:
            return None

    def _forward(self, at: Application) -> tuple[list[Value], Residuals]:
        """Reads the forward rule: the results, and the residuals as a tree and its atoms."""
        fwd = at.use.rule[0]
        with current().at(origin_of(fwd)):
            given = at.read(fwd, at.arguments(at.use.arguments))
            if not isinstance(given, (tuple, list)) or len(given) != 2:
                raise BadArgument(f"the forward rule of {self.__name__} returns {what_is(given)}, expected a pair",
                                  instead="Return a pair: the result and the residuals.")
            results = at.results(given[0], f"the result in what the forward rule of {self.__name__} returns")
            leaves = Leaves(at.use.reader)
            return results, (leaves.tree(given[1]), leaves.atoms)

    def _backward(self, at: Application, residuals: Residuals, cotangents: Tangents) -> Tangents:
        """Reads the backward rule: the cotangents of the operands for those of the results."""
        reader, bwd = at.use.reader, at.use.rule[1]
        constant, moving = self.split(at.use)
        tree, atoms = residuals
        dys = [d if d is not None else zeros(type_of(a)) for d, a in zip(cotangents, at.values)]  # type: ignore[arg-type]
        args = (*at.arguments(constant), filled(reader, tree, lambda k: as_value(atoms[k])), at.tree(dys))
        with current().at(origin_of(bwd)):
            given = at.read(bwd, args, [*atoms, *(d.atom for d in dys)])
            if not isinstance(given, (tuple, list)) or len(given) != len(moving):
                raise BadArgument(f"the backward rule of {self.__name__} returns {what_is(given)}, expected a tuple of "
                                  f"{len(moving)}",
                                  instead=f"Return a tuple of {len(moving)}: one cotangent for each argument of "
                                          f"{self.__name__} that is differentiated, None for a zero cotangent.")
            found: Tangents = [None] * len(at.operands)
            for place, (wanted, item) in enumerate(zip(moving, given)):
                what = f"cotangent {place} returned by the backward rule of {self.__name__}"
                for k, leaf in matched(reader, wanted, item, what):
                    if type_of(at.operands[k]).is_inexact:
                        found[k] = fitted(leaf, type_of(at.operands[k]), what)
            return found


# -- what rules give -------------------------------------------------------------------------------


def fitted(given: Any, type: Any, what: str) -> Value | None:
    """What a rule gives for a leaf of this type, checked and cast; None stands for zeros."""
    if given is None or isinstance(given, (int, float)) and given == 0:
        return None
    try:
        found = value(given)
    except (NotSupported, BadArgument):
        raise BadArgument(f"{what} is {what_is(given)}, expected an array or a number") from None
    equal = current().assumptions.equal
    if found.ndim != len(type.sizes) or not all(map(equal, found.shape, type.sizes)):
        raise ShapeError(f"{what} has shape {shape_text(found.shape)}, expected {shape_text(type.sizes)}",
                         instead="It must have the shape of the value that it belongs to.")
    if found.dtype.kind == "c" and type.dtype.kind != "c":
        raise BadArgument(f"{what} is complex, but the value that it belongs to is real", instead="Take np.real of it.")
    if found.dtype.kind == "b":
        raise BadArgument(f"{what} is boolean, expected numbers")
    return rules.cast(found, type)
