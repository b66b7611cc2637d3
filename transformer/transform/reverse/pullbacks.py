"""Reverse mode of calls of small functions: the reverse takes the arguments again, and computes what it needs of them.

    y = f(x, k)          y = f(x, k)
                         …
                         dx, dk = f_reverse(x, k, dy)

Nothing is saved, as `pairs` do: calls in loops and branches are made again rather than recorded. A function of which no
call stands in one has a pair, as nothing has to be computed twice then.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...core.grammar import Call, Effect, Function, Var, type_of
from ...core.naming import cotangent_name, numbered
from ...core.walk import all_statements, blocks_of, reachable
from ...ops.value import Value
from ..activity import Places
from ..calls import Calls, copy_of, named, strong
from ..custom.applied import prepared, without_links
from .chosen_calls import without_chosen_calls
from .restoring import restore, without_effects


@dataclass(frozen=True)
class Pullback:
    """The function that gives cotangents of those `params` for cotangents of those `results`."""

    reverse: Function
    params: Places
    results: Places


def settle(function: Function) -> None:
    """Calls of functions are made again where some of them stand in loops or branches."""
    nested = (inner for each in reachable(function) for stmt in each.body for block in blocks_of(stmt)
              for inner in all_statements(block))
    called = {stmt.function for stmt in nested if isinstance(stmt, Call)}
    again = {each for callee in called for each in reachable(callee)}
    for each in reachable(function):
        each.again = each.again and each in again


def pullback_of(calls: Calls, function: Function, params: Places, results: Places) -> Pullback:
    """The reverse of a function where these parameters and results carry derivatives."""
    return calls.twin(("again", function, params, results),
                      lambda: Pullback(named(function, "reverse"), params, results),
                      lambda made: _fill(calls, function, made))


def _fill(calls: Calls, function: Function, made: Pullback) -> None:
    from .sweep import Reverse
    own, builder = copy_of(function, calls.builder), calls.builder
    inputs = [own.params[k] for k in sorted(made.params)]
    seeded = [own.results[k] for k in sorted(made.results)]
    with builder.apart():
        body = prepared(without_chosen_calls(own.body), inputs, seeded, builder)
    sweep = Reverse.of(body, inputs, seeded, builder, calls)
    name = cotangent_name([p.name for p in own.params if p.name])
    given = [Var(strong(type_of(result)), numbered(name, k + 1)) for k, result in enumerate(seeded)]
    with builder.apart() as backwards:
        builder.emit(Effect("comment", (), {"text": "reverse"}))
        for var, dy in zip(seeded, given):
            sweep.contribute(var, Value(dy))
        sweep.block(body)
        cotangents = [sweep.result(param) for param in inputs]
    without_links(body)
    without_effects(body)
    restore(body, backwards, sweep.mirrors, builder.assumptions)
    whole = Function(function.name, [*own.params, *given], [*body, *backwards], cotangents, own.dims)
    again, reverse = copy_of(whole, builder), made.reverse
    reverse.params, reverse.body, reverse.results, reverse.dims = again.params, again.body, again.results, again.dims
    reverse.again = True
