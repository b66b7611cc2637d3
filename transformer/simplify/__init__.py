"""Simplification: rewrites of Core that keep what a function computes, until none applies.

One rewrite per module, each with an example of before and after in its text. All work in place.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core.builder import Builder
from ..core.grammar import Function
from ..core.guards import Assumptions
from ..core.walk import called_in
from .dead import Before

ROUNDS = 12


def simplify(function: Function, assumptions: Assumptions | None = None, before: Before = Before.TRANSFORMATIONS
             ) -> Function:
    """Simplifies a function, and those that it calls, in place and gives it back: what is kept depends on what it
    is `before`."""
    from .calls import calls
    builder = Builder(assumptions)
    with builder.active():                      # the types of ops ask what is assumed of sizes
        called = _simplify_all(function, builder.assumptions, before)
        for _ in range(ROUNDS if called else 0):
            if not calls(function, called, before):
                break
            called = _simplify_all(function, builder.assumptions, before)
        if before is not Before.TRANSFORMATIONS:
            _join([function, *called], builder.assumptions, before)
    return function


def _join(functions: list[Function], assumptions: Assumptions, before: Before) -> None:
    """Lets go of what keeps equal computations apart (`Again`), when nothing looks for them any more, joins branches
    that follow one another and loops with their arrays, lets loops count up that may, and divides once what two
    quotients share, in compiled code by no constants."""
    from .by_rows import by_rows
    from .copies import copies
    from .cse import cse
    from .dead import dead
    from .first_writes import first_writes
    from .fold import fold
    from .joining import joining
    from .order import order
    from .reciprocals import reciprocals
    from .shared_quotients import shared_quotients
    for each in functions:
        with _in_all_calls(each, assumptions):
            order(each, assumptions)
            if copies(each, assumptions, apart=False):
                dead(each, assumptions, before)
            if joining(each, assumptions):
                cse(each, assumptions)
                dead(each, assumptions, before)
            if by_rows(each, assumptions):
                fold(each, assumptions)
                dead(each, assumptions, before)
            first_writes(each, assumptions)
            if before is Before.SOURCE:
                _for_readers(each, assumptions)
            else:
                reciprocals(each, assumptions)
            if shared_quotients(each, assumptions):
                dead(each, assumptions, before)


@contextmanager
def _in_all_calls(function: Function, assumptions: Assumptions) -> Iterator[None]:
    """While a function is looked at whose sizes are the same in all calls."""
    with assumptions.block():
        for pair in function.equal:
            assumptions.is_tested(*pair)
        yield


def _for_readers(function: Function, assumptions: Assumptions) -> None:
    """In source, parts are cleared when they have been used, pieces put together or added to what is whole, what is
    spread over neighbours is repeated, and terms of a total are put together."""
    from .clearing import clearing
    from .dead import dead
    from .pieces import pieces
    from .repeats import repeats
    from .running_totals import running_totals
    from .terms_apart import terms_apart
    from .whole_first import whole_first
    clearing(function, assumptions)
    rewrites = pieces, repeats, whole_first, running_totals, terms_apart
    if any([rewrite(function, assumptions) for rewrite in rewrites]):
        dead(function, assumptions, Before.SOURCE)


def _simplify_all(function: Function, assumptions: Assumptions, before: Before) -> list[Function]:
    """Simplifies a function and those that it calls, which are given back."""
    found = [function]
    for each in found:
        with _in_all_calls(each, assumptions):
            _simplify(each, assumptions, before)
        found += [callee for callee in called_in(each) if callee not in found]
    return found[1:]


def _simplify(function: Function, assumptions: Assumptions, before: Before) -> None:
    from .certain import certain
    from .dead import dead
    dead(function, assumptions)
    _until_none_applies(function, assumptions)
    for _ in range(ROUNDS):
        if not certain(function, assumptions):
            break
        dead(function, assumptions)
        _until_none_applies(function, assumptions)
    if before is not Before.TRANSFORMATIONS:
        dead(function, assumptions, before)


def _until_none_applies(function: Function, assumptions: Assumptions) -> None:
    # At the top these names would hide the modules.
    from .branches import branches
    from .copies import copies
    from .cse import cse
    from .dead import dead
    from .elision import elision
    from .fold import fold
    from .loops import loops
    changes = 0
    settled: dict[Any, int] = {}                # after how many changes a rewrite found nothing to do
    for _ in range(ROUNDS):
        before = changes
        for rewrite in (copies, elision, branches, loops, cse, fold):
            if settled.get(rewrite) == changes:
                continue
            if rewrite(function, assumptions):
                changes += 1
            else:
                settled[rewrite] = changes
        if changes == before:
            break
        changes += dead(function, assumptions)
