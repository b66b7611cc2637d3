"""Which parameters of functions that are called are given to them: arrays that nobody else looks at.

    x, saved = f_forward(x, n - 1)      where x was made in the caller, and only the result is used later

Such an array may be written in place and returned. All calls of a function have to give it. What several devices
have together is given to none.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..core.grammar import Call, Function, Let, Var
from .aliasing import Aliases, is_array
from .demand import demand
from .flow import READ, STEPS, Flow, flow
from .liveness import Pieces, live_ranges
from .ranges import ranges
from .sizes import SizePlan
from .storage import decide_storage
from .stores import stores


def given_params(functions: list[Function], together: frozenset[Var] = frozenset()) -> frozenset[Var]:
    """The parameters of the functions but the first, which is called by who knows what, that are given. `together`
    are variables of a driver whose memory devices have together."""
    given = {param for function in functions[1:] for param in function.params if is_array(param)}
    while given:
        kept = {param for function in functions for param in _not_given(function, frozenset(given), together)}
        if not kept:
            break
        given -= kept
    return frozenset(given)


def _not_given(function: Function, given: frozenset[Var], together: frozenset[Var]) -> set[Var]:
    """The parameters that a call in this function does not give."""
    forms, stored = ranges(function), stores(function)
    needed = demand(function, forms, stored)
    order = flow(function, needed, forms, stored, SizePlan(function, needed, forms, stored))
    alive = live_ranges(order)
    aliases = decide_storage(order, alive, given)
    shared = aliases.ways_of([*(var for var in together if var in needed.homes), *_handed_on(order)])
    return {
        param
        for stmt in order.spans
        if isinstance(stmt, Call)
        for k, param in enumerate(stmt.function.params)
        if param in given
        and not _gives(stmt, k, order, alive, aliases, shared)
    }


def _handed_on(order: Flow) -> Iterator[Var]:
    """What other devices may read at any later time."""
    for stmt in order.spans:
        if isinstance(stmt, Let) and stmt.op.shares:
            yield from filter(is_array, stmt.args)


def _gives(stmt: Call, k: int, order: Flow, alive: dict[Var, Pieces], aliases: Aliases, shared: set[Var]) -> bool:
    """Whether an argument is an array of this function that nothing else shares, then or later, and none of those
    that devices have together."""
    array = stmt.args[k]
    if not is_array(array) or not aliases.is_owned(array) or not shared.isdisjoint(aliases.ways_of([array])):
        return False
    place = order.spans[stmt].head * STEPS + READ
    later = [
        var
        for var, pieces in alive.items()
        if is_array(var) and any(first <= place < last for first, last in pieces)
    ]
    beside = [atom for j, atom in enumerate(stmt.args) if j != k and is_array(atom)]
    kept = filter(is_array, order.kept())
    return not any(aliases.may_share(array, other) for other in (*later, *beside, *kept))
