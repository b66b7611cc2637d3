"""Reverse mode: the forward sweep as it was, then its statements backwards with cotangents (`sweep`).

    f(x, y):                          f(x, y, dresult):
        t = sin(x)                        t = sin(x)
        r = t * y                         r = t * y
        return r          becomes         dt = dresult * y
                                          dy = dresult * t
                                          dx = dt * cos(x)
                                          return r, dx, dy

The output is Core again, so it can be transformed again. What the reverse sweep needs from inside a loop or branch
is found afterwards (`residuals`). Where loops would keep more than `memory` allows, the function is reversed once
more, with these loops run again or split into blocks (`memory`, `blocks`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from ...core.builder import Builder
from ...core.grammar import (
    Atom,
    Effect,
    Function,
    Loop,
    Stmt,
    type_of,
)
from ...core.naming import COTANGENT
from ...core.walk import Copier, all_statements
from ...ops.value import Value
from ..calls import Calls
from ..cancelling import hold
from ..custom.applied import prepared, without_links
from ..naming import named_apart
from ..rules import cast, mixes_widths
from ..symmetric import symmetric_matrices
from .blocks import can_be_split, has_loops, in_blocks
from .chosen_calls import without_chosen_calls
from .folding import folded
from .hoisting import hoist
from .memory import Needs, splits, too_large
from .pullbacks import settle
from .restoring import restore
from .sweep import Reverse
from .unequal import mark_distinct


def reverse(function: Function, active: Sequence[bool], seeds: Sequence[Atom | None], builder: Builder,
            memory: int | None = None, asked: Iterable[int] | None = None, of_arguments: bool = False) -> Function:
    """The function that also gives the cotangents of its active parameters, after its results.

    `seeds` are the cotangents of the results (None for zero); they may be variables that the caller
    makes parameters. The body of `function` becomes part of the new one: hand over a copy. `memory` is
    how many bytes the records of a loop may take; raises `BadArgument` where that cannot be. `asked` says
    which results somebody will look at; all, if it is not given. With `of_arguments`, conventions for what a user
    differentiates for hold for the active parameters (`symmetric`).
    """
    settle(function)
    asked = range(len(function.results)) if asked is None else list(asked)
    builder.derivatives.mixes_widths |= mixes_widths(function)
    spare = with_twins(function) if any(map(can_be_split, function.body)) else None
    swept = partial(_swept, active=active, seeds=seeds, builder=builder, asked=asked, of_arguments=of_arguments)
    new, needs = swept(function)
    if spare is None:
        return new
    copy, twins = spare
    in_question = {twins[loop]: need for loop, need in needs.items() if can_be_split(twins.get(loop))}
    large = too_large(in_question, memory, builder.assumptions, function.params)
    if large and memory is None and not builder.derivatives.splits_unasked:
        builder.derivatives.has_large_records = True
        return new
    if not large:
        return new
    spare = with_twins(copy)
    if any(has_loops(loop.body) for loop in large):
        new, needs = swept(copy, short=large)
        if not too_large(needs, memory, builder.assumptions, function.params):
            return new
    copy, again = spare
    in_question = {again[loop]: need for loop, need in in_question.items()}
    for loop, blocks in splits(in_question, memory, builder.assumptions, function.params).items():
        loop.blocks = blocks
    return swept(copy)[0]


def with_twins(function: Function) -> tuple[Function, dict[Stmt, Any]]:
    """A copy of a function with its own statements, and which of them is the twin of which."""
    copier = Copier()
    body = copier.block(function.body)
    copy = Function(function.name, function.params, body, list(copier.args(function.results)), function.dims,
                    function.guards, function.origin, size_names=function.size_names)
    return copy, dict(zip(all_statements(function.body), all_statements(body)))


def _swept(function: Function, active: Sequence[bool], seeds: Sequence[Atom | None], builder: Builder,
           asked: Iterable[int], of_arguments: bool, short: Iterable[Loop] = ()) -> tuple[Function, Needs]:
    inputs = [p for p, on in zip(function.params, active) if on]
    with builder.active(), named_apart(function, builder, COTANGENT):
        seeded = [r for r, seed in zip(function.results, seeds) if seed is not None]
        body = prepared(in_blocks(without_chosen_calls(function.body), builder), inputs, seeded, builder)
        hold(body, inputs, function.results)
        hoist(body, builder.assumptions)
        mark_distinct(body, builder.assumptions)
        calls = Calls(builder, function)
        sweep = Reverse.of(body, inputs, seeded, builder, calls)
        with (builder.nested() as backwards,
              symmetric_matrices(body, inputs if of_arguments else (), builder)):
            builder.emit(Effect("comment", (), {"text": "reverse"}))
            for result, seed in zip(function.results, seeds):
                if seed is not None:
                    sweep.contribute(result, cast(Value(seed), type_of(result)))         # type: ignore[arg-type]
            sweep.block(body)
            cotangents = [sweep.result(p) for p in inputs]
        cotangents = folded(body, backwards, cotangents, function.results, builder.assumptions, asked)
        without_links(body)
        needs = restore(body, backwards, sweep.mirrors, builder.assumptions, [function.results[k] for k in asked],
                        short)
        calls.finish()
    results = [*function.results, *cotangents]
    return Function(function.name, function.params, [*body, *backwards], results, function.dims, function.guards,
                    function.origin, size_names=function.size_names), needs
