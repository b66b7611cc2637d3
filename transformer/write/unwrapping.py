"""A function that does nothing but call one that calls itself, with its own arguments, is that function.

    def power_jvp(x, n, dx):                    def power_jvp(x, n, dx):
        y, dy = power_jvp2(x, n, dx)                … power_jvp(x, n - 1, dx) …
        return y, dy
"""

from __future__ import annotations

import inspect
from typing import Any

from ..core.grammar import Call, Effect, Function
from ..core.walk import Copier, all_statements, calls_itself, reachable
from ..read.interface import Result

BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def unwrapped(function: Function, interface: Any) -> Function:
    """The function that is called in place of the one that calls it, if that is all it does."""
    body = [stmt for stmt in function.body if not isinstance(stmt, Effect) or stmt.kind != "comment"]
    if len(body) != 1 or not isinstance(body[0], Call) or not _hands_on(function, body[0], interface):
        return function
    inner = body[0].function
    if not calls_itself(inner):
        return function                          # it is a part of it that somebody wants apart
    copier = Copier(dict(zip(inner.params, function.params)))
    made = Function(function.name, function.params, copier.block(inner.body), list(copier.args(inner.results)),
                    function.dims, function.guards, function.origin, function.role, function.size_names)
    places = dict(zip(inner.params, function.params))
    made.dims = {**function.dims, **{dim: (places[var], axis) for dim, (var, axis) in inner.dims.items()}}
    for stmt in all_statements(made.body):
        if isinstance(stmt, Call) and stmt.function is inner:
            stmt.function = made
    return made if inner not in reachable(made) else function


def has_tests(function: Function) -> bool:
    """Whether the shapes of arguments may have to be tested, which is done once and not in every call."""
    return bool(function.guards) or any(getattr(param.type, "sizes", ()) for param in function.params)


def _hands_on(function: Function, stmt: Call, interface: Any) -> bool:
    """Whether arguments and results are passed as they come, in print too."""
    plain = list(stmt.args) == function.params and list(stmt.targets) == function.results
    trees = [p.tree for p in interface.parameters if p.kind in BY_POSITION and p.default is inspect.Parameter.empty]
    results = [Result(k) for k in range(len(function.results))]
    whole = interface.result == (results[0] if len(results) == 1 else tuple(results))
    return plain and whole and trees == function.params and len(trees) == len(interface.parameters)

