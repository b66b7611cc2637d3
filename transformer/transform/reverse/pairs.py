"""Reverse mode of calls: a pair of functions in place of one.

    y = f(x, n)          y, saved = f_forward(x, n)      gives also what the reverse needs
                         …
                         dx = f_reverse(x, n, saved, dy)

To the cotangents of arrays that are handed down, the reverse adds: `f_reverse(x, n, saved, dy, dx)` (`handing_down`).
`saved` holds what cannot be computed again from the arguments at little cost, among it what the calls
inside saved: a tree of tuples, as deep as the recursion (`saving`). Being a value like others it has a
tangent and a cotangent (`saved`), so that every order is the same step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...core.grammar import Atom, Call, Function, Var, type_of
from ...core.types import ArrayType, SavedType, Type
from ...ops.value import Value
from ..activity import Places
from ..calls import Calls, named, strong
from ..naming import derivative_name
from .callee import Callee
from .handing_down import handed_down
from .overwriting import overwritten
from .pullbacks import pullback_of
from .restoring import restore
from .saved import full_cotangent
from .saving import Saving


@dataclass(frozen=True)
class Pair:
    """The two functions; `params` and `results` are those that carry derivatives, and to the cotangents of those in
    `added_to` the reverse adds."""

    forward: Function
    reverse: Function
    params: Places
    results: Places
    added_to: Places


def pull_call(sweep: Any, stmt: Call) -> None:
    """Makes a call that of the forward function, and emits one of the reverse function."""
    given = [sweep.take(target) for target in stmt.targets]
    params, results = sweep.calls.pulled(stmt, sweep.active)
    keeps = any(isinstance(type_of(stmt.args[k]), SavedType) for k in params)
    if not params or not results or all(dy is None for dy in given) and not keeps:
        return
    sweep.calls.check(stmt)
    params, results = sweep.patterns.get(stmt.function, (params, results))
    made = (pullback_of if stmt.function.again else pair_of)(sweep.calls, stmt.function, params, results)
    wanted = [full_cotangent(sweep.builder, given[k], stmt.targets[k]) for k in sorted(made.results)]
    places, own = sorted(made.params), stmt.function.params
    cotangents = [Var(_type(own[k], stmt.args[k]), derivative_name(stmt.args[k], sweep.builder)) for k in places]
    if isinstance(made, Pair):
        saved = Var(SavedType(stmt.function.name), "saved")
        stmt.function, stmt.targets = made.forward, (*stmt.targets, saved)
        wanted = [saved, *wanted, *(_begun(sweep, stmt.args[k]) for k in sorted(made.added_to))]
    sweep.builder.emit(Call(tuple(cotangents), made.reverse, (*stmt.args, *wanted), stmt.origin))
    with sweep.supports.of_call(stmt, given) as counting:
        for k, cotangent in zip(places, cotangents):
            sweep.contribute(stmt.args[k], counting(Value(cotangent)))


def _begun(sweep: Any, array: Atom) -> Atom:
    """What is known of the cotangent of an array by now, to which a call adds."""
    assert isinstance(array, Var)
    return full_cotangent(sweep.builder, sweep.take(array), array)


def _type(param: Var, atom: Atom) -> Type:
    """The type of the cotangent of an argument: as the function has it, in the sizes of the call."""
    type, given = strong(param.type), type_of(atom)
    return type.with_sizes(given.sizes) if isinstance(type, ArrayType) and isinstance(given, ArrayType) else type


def pair_of(calls: Calls, function: Function, params: Places, results: Places) -> Pair:
    """The pair for a function where these parameters and results carry derivatives."""
    params, results = calls.closed(function, (params, results), reverse=True)
    return calls.twin(
        ("pair", function, params, results),
        lambda: Pair(named(function, "forward"), named(function, "reverse"), params, results,
                     params & handed_down(function)),
        lambda pair: _fill(calls, function, pair))


def _fill(calls: Calls, function: Function, pair: Pair) -> None:
    callee = Callee(calls, function, pair.params, pair.results)
    own, body = callee.own, callee.body
    gone = {own.params[k] for k in overwritten(function)}
    saving = Saving(calls, function.name, body, own.results, gone)
    callee.sweep(pair.added_to)
    restore(body, callee.backwards, callee.mirrors, calls.builder.assumptions, own.results, calls_again=False,
            gone=gone)
    results = saving.save(callee.backwards, callee.cotangents, callee.mirrors)
    forward = pair.forward
    forward.params, forward.body, forward.results = own.params, body, [*own.results, saving.saved]
    forward.dims = own.dims
    callee.fill(pair.reverse, [saving.param], callee.backwards, results)
