"""Simplification: rewrites of Core that keep what a function computes, until none applies.

One rewrite per module, each with an example of before and after in its text. All work in place.
"""

from __future__ import annotations

from ..core.builder import Builder
from ..core.grammar import Call, Function
from ..core.guards import Assumptions
from ..core.walk import all_statements

ROUNDS = 12


def simplify(function: Function, assumptions: Assumptions | None = None, *, last: bool = False
             ) -> Function:
    """Simplifies a function, and those that it calls, in place and gives it back.

    With `last`, no transformation follows: integers that only types mention, and counts of loops
    that nothing uses, go too.
    """
    builder = Builder(assumptions)
    seen, pending = {function}, [function]
    with builder.active():                      # the types of ops ask what is assumed of sizes
        while pending:
            each = pending.pop()
            _simplify(each, builder.assumptions, last)
            called = {s.function for s in all_statements(each.body) if isinstance(s, Call)} - seen
            seen |= called
            pending += called
    return function


def _simplify(function: Function, assumptions: Assumptions, last: bool) -> None:
    # At the top these names would hide the modules.
    from .branches import branches
    from .copies import copies
    from .cse import cse
    from .dead import dead
    from .fold import fold
    from .loops import loops
    dead(function, assumptions)
    for _ in range(ROUNDS):
        changed = [rewrite(function, assumptions) for rewrite in (copies, branches, loops, cse, fold)]
        if not any(changed):
            break
        dead(function, assumptions)
    if last:
        dead(function, assumptions, last=True)
