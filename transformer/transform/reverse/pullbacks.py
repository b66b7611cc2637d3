"""Reverse mode of calls of small functions: the reverse takes the arguments again, and computes what it needs of them.

    y = f(x, k)          y = f(x, k)
                         …
                         dx, dk = f_reverse(x, k, dy)

Nothing is saved, as `pairs` do: calls in loops and branches are made again rather than recorded. A function of which no
call stands in one has a pair, as nothing has to be computed twice then.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...core.grammar import Call, Function
from ...core.walk import all_statements, blocks_of, reachable
from ..activity import Places
from ..calls import Calls, named
from .callee import Callee
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
    callee = Callee(calls, function, made.params, made.results)
    callee.sweep(heading="reverse")
    without_effects(callee.body)
    restore(callee.body, callee.backwards, callee.mirrors, calls.builder.assumptions)
    callee.fill(made.reverse, [], [*callee.body, *callee.backwards], callee.cotangents)
    made.reverse.again = True
