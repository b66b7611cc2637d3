"""Functions that a routine of SciPy is given, and what the routine finds out about them.

A function is read on its own, once for each type of its arguments: what it uses of the code around it
becomes parameters. So the routine calls it as often as it likes, and its derivatives are taken for all that
it rests on, whether that was passed or captured. The routine is a function of its own as well; its results
are told apart by what they are (`Solution`, `Integral`), from which `transform/custom/described.py` has their
derivatives, whatever the way to them was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.builder import current
from ...core.errors import BadArgument, NotSupported, TransformError
from ...core.grammar import Atom, Call, Const, Function, Var, type_of
from ...core.types import ArrayType
from ...core.walk import Copier, all_statements, reachable
from ...ops.identity import stop_gradient
from ...ops.ruled import Ruled
from ...ops.value import Value, atom, call, value
from ..frames import stamp
from ..interface import Result
from ..kinds import described
from .lifting import lift
from .own_functions import standing_alone
from .ruled import Use, check_no_writes, origin_of, through
from .subfunctions import signature_for

if TYPE_CHECKING:
    from ..reader import Reader

Form = tuple[Function, list[Atom]]           # of which the first parameters are arguments, and what the others are
Known = tuple["Evaluated", list[Atom]]


class Given:
    """``f(x, *args)`` as a function of x alone."""

    def __init__(self, reader: Reader, function: Any, args: tuple[Any, ...] = ()) -> None:
        self.reader = reader
        self.function = function
        self.args = args
        self.forms: list[Known] = []
        name = getattr(function, "__name__", "")
        self.__name__ = name if name.isidentifier() else "f"

    def __transformer_read__(self, reader: Reader, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call, as it stands in the routine."""
        given = [value(arg) for arg in args]
        function, captured = self.form([each.type for each in given])
        found = evaluated(function, [*(each.atom for each in given), *captured])
        return found[0] if len(found) == 1 else tuple(found)

    def form(self, types: Sequence[ArrayType]) -> Known:
        """The function for arguments of these types, and the atoms of what else it rests on."""
        for known, captured in self.forms:
            if all(self._fits(param.type, type) for param, type in zip(known.function.params, types)):
                return known, captured
        params = [Var(type, name) for type, name in zip(types, self._names())]
        function, captured = apart(self.reader, self.__name__, params, lambda: self._result(params))
        self.forms.append((Evaluated(copied(function), function), captured))
        return self.forms[-1]

    def _fits(self, known: Any, type: ArrayType) -> bool:
        equal = self.reader.assumptions.certainly_equal
        same = known.with_sizes(()) == type.with_sizes(()) and len(known.sizes) == len(type.sizes)
        return same and all(map(equal, known.sizes, type.sizes))

    def _names(self) -> Iterable[str]:
        if hasattr(self.function, "__transformer_read__"):
            return "xyz"
        try:
            return signature_for(self.function).parameters
        except (BadArgument, TransformError, ValueError, TypeError):
            return "xyz"

    def _result(self, params: list[Var]) -> Any:
        mark, made = self.reader.journal.mark(), stamp()
        result = self.reader.call(self.function, (*map(Value, params), *self.args), {})
        check_no_writes(self.reader, mark, made, f"{self.__name__}, which a routine calls,")
        self.reader.journal.rollback(mark)
        return result


def apart(reader: Reader, name: str, params: list[Var], body: Callable[[], Any]) -> Form:
    """A function of Core that gives what is read in `body`."""
    origin = reader.builder.origin
    with standing_alone(reader) as block:
        found = body()
        results = [value(each).atom for each in (found if isinstance(found, tuple) else (found,))]
    function = Function(name, params, block, results, origin=origin, role="called", size_names=reader.size_names)
    return function, lift(reader, function)


def copied(function: Function) -> Function:
    """A copy that may be taken to pieces, with copies of what it calls."""
    twins = {each: _twin(each) for each in reachable(function)}
    for twin in twins.values():
        for stmt in all_statements(twin.body):
            if isinstance(stmt, Call):
                stmt.function = twins[stmt.function]
    return twins[function]


def _twin(function: Function) -> Function:
    copier = Copier()
    params = [copier.fresh(param) for param in function.params]
    for param in params:
        param.type = copier.type(param.type)
    body = copier.block(function.body)
    dims = {dim: (copier.atom(param), axis) for dim, (param, axis) in function.dims.items()}
    return Function(function.name, params, body, list(copier.args(function.results)), dims, function.guards,
                    function.origin, function.role, function.size_names)


def called(function: Function, atoms: Sequence[Atom]) -> list[Value]:
    """Emits a call of a function of Core."""
    builder = current()
    copier = Copier(dict(zip(function.params, atoms)))
    targets = tuple(Var(copier.type(type_of(result))) for result in function.results)
    builder.emit(Call(targets, function, tuple(atoms), builder.origin))
    return list(map(Value, targets))


def evaluated(known: Evaluated, atoms: Sequence[Atom]) -> list[Value]:
    """A call under a mark, so that its derivative calls functions made of this one."""
    found = called(known.whole(), atoms)
    if not any(each.type.is_inexact for each in found):
        return found
    use = Use(known, None, None, (), None)  # type: ignore[arg-type]
    attrs = {"count": len(found), "use": use}
    targets = current().let(Ruled, (*[each.atom for each in found], *atoms), attrs, [each.type for each in found])
    return list(map(Value, targets))


def routine(reader: Reader, function: Callable[..., Any], args: tuple[Any, ...]) -> list[Value]:
    """What a routine gives, as a function of its own whose arguments carry no derivative."""
    core, atoms = apart(reader, function.__name__, [], lambda: reader.call(function, args, {}))
    return called(core, [_held(each) for each in atoms])


def _held(each: Atom) -> Atom:
    is_moving = isinstance(each, Var) and type_of(each).is_inexact
    return call(stop_gradient, (Value(each),), {}).atom if is_moving else each


# -- what a routine finds --------------------------------------------------------------------------


@dataclass(eq=False)
class Evaluated:
    """What a function gives for the operands: as it was read, as it is `called`, and what derivatives have made
    of it."""

    function: Function
    called: Function
    made: dict[Any, Evaluated] = field(default_factory=dict)

    def whole(self) -> Function:
        """The function that is called, with all parameters and results: those that no call needed may be gone."""
        read, now = self.function, self.called
        if len(now.params) != len(read.params) or len(now.results) != len(read.results):
            self.called = copied(read)
        return self.called

    kind = "call"

    @property
    def __name__(self) -> str:
        return self.function.name


@dataclass(frozen=True, eq=False)
class Solution:
    """The x with ``f(x, *operands) = 0``: a number, or an array of as many as f gives."""

    function: Function

    kind = "solution"

    @property
    def __name__(self) -> str:
        return self.function.name


@dataclass(frozen=True, eq=False)
class Integral:
    """The integral of ``f(x, *operands[2:])`` from ``operands[0]`` to ``operands[1]``, by a routine of the library with
    these options."""

    function: Function
    routine: Callable[..., Any]
    options: tuple[Any, ...]

    kind = "integral"

    @property
    def __name__(self) -> str:
        return self.function.name


class _Own:
    """``own(f, *args)`` in the library: f as a function of its own, however often it is called."""

    def __transformer_read__(self, reader: Reader, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Given:
        return Given(reader, args[0], args[1:])


class _Unmoved:
    """``unmoved(f, *args)`` in the library: what a function gives, which carries no derivative."""

    def __transformer_read__(self, reader: Reader, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        found = routine(reader, args[0], args[1:])
        return found[0] if len(found) == 1 else tuple(found)


class OfNumbers(Given):
    """A function of the user's, from which a routine needs a number."""

    def _result(self, params: list[Var]) -> Any:
        result = super()._result(params)
        if not isinstance(result, (int, float, Value)) or np.ndim(result):
            raise NotSupported(f"{self.__name__} returns {described(result)}, but must return a number here",
                               origin_of(self.function), instead="Return a number.")
        return result


class _OfNumbers(_Own):
    """``of_numbers(f, *args)`` in the library: the same of a function of the user's."""

    def __transformer_read__(self, reader: Reader, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Given:
        return OfNumbers(reader, args[0], args[1:])


class Shaped(Given):
    """A function of the user's whose result a function of the library brings into the shape that is needed."""

    def __init__(self, reader: Reader, shape: Any, function: Any, args: tuple[Any, ...]) -> None:
        super().__init__(reader, function, args)
        self.shape = shape

    def _result(self, params: list[Var]) -> Any:
        return self.reader.call(self.shape, (super()._result(params), *map(Value, params)), {})


class _Shaped:
    """``shaped(shape, f, *args)`` in the library: ``shape(f(x, *args), x)`` as a function of its own."""

    def __transformer_read__(self, reader: Reader, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Given:
        return Shaped(reader, args[0], args[1], args[2:])


class _IsInfinite:
    """``is_infinite(x)`` in the library: whether x is known to be infinite, and not computed."""

    def __transformer_read__(self, reader: Reader, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        x = atom(args[0])
        return isinstance(x, Const) and math.isinf(x.value)


class _Solved:
    """``solved(search, f, *options)`` in the library: the x that ``search(f, *options)`` gives, at which f is zero, and
    whatever else it gives."""

    def __transformer_read__(self, reader: Reader, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        search, f, *options = args
        x, *others = routine(reader, search, (f, *options))
        known, captured = f.form([x.type])
        root = marked(reader, Solution(known.function), x, captured)
        return (root, *others) if others else root


class _Integrated:
    """``integrated(routine, f, a, b, *options)`` in the library: the integral of f that the routine gives, and how far
    it may be from that."""

    def __transformer_read__(self, reader: Reader, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        through_pieces, f, a, b, *options = args
        found, error = routine(reader, through_pieces, (f, a, b, *options))
        known, captured = f.form([value(0.0).type])
        description = Integral(known.function, through_pieces, tuple(options))
        return marked(reader, description, found, [atom(a), atom(b), *captured]), error


def marked(reader: Reader, description: Any, found: Value, operands: list[Atom]) -> Any:
    """What a routine found, under a mark that says what it is."""
    return through(reader, Result(0), [found], operands, Use(description, None, reader, (), Result(0)))


own, unmoved, of_numbers, shaped, is_infinite = _Own(), _Unmoved(), _OfNumbers(), _Shaped(), _IsInfinite()
solved, integrated = _Solved(), _Integrated()
