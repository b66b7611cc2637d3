"""`break`: a flag that a loop looks at before each iteration.

>>> print(preview(rewrite, '''
... while x > 1:
...     y = f(x)
...     if y < 0:
...         break
...     x = x - y
... '''))
stop = False
while not stop and x > 1:
    y = f(x)
    if y < 0:
        stop = True
    else:
        x = x - y

A `for` loop gets the name of its flag as an attribute `stop`, which is None if it has none.

>>> print(preview(rewrite, '''
... for x in xs:
...     if x < 0:
...         break
... '''))
stop = False
for x in xs:  # until stop
    if x < 0:
        stop = True
"""

from __future__ import annotations

from typing import Any

import gast

from .blocks import LOOPS, Block, and_not, assignment, changed, constant, exits, map_blocks
from .exits import ExitRemover
from .scope import Scope, preview

__all__ = ["preview", "rewrite"]


def rewrite(block: Block, scope: Scope) -> Block:
    rewritten: Block = []
    for statement in block:
        statement = map_blocks(statement, lambda inner: rewrite(inner, scope))
        is_loop = isinstance(statement, LOOPS)
        rewritten += _without_breaks(statement, scope) if is_loop else [statement]
    return rewritten


def _without_breaks(loop: Any, scope: Scope) -> Block:
    breaks = list(exits(loop.body, gast.Break))
    if not breaks:
        return [_stopped_by(loop, None)]
    remover = _BreakRemover(scope, breaks)
    loop = map_blocks(loop, lambda body: remover.remove(body, followed=True, ready=True))
    stopped = _stopped_by(loop, remover.flag)
    if remover.is_set_before:
        return [stopped]
    return [assignment(remover.flag, constant(False, loop), loop), stopped]


def _stopped_by(loop: Any, flag: str | None) -> Any:
    if isinstance(loop, gast.For):
        return changed(loop, stop=flag)
    return changed(loop, test=and_not(flag, loop.test)) if flag else loop


class _BreakRemover(ExitRemover):
    """Uses a flag that is False before the loop and set before each break, if there is one."""

    kind = gast.Break
    wanted_flag = "stop"

    def __init__(self, scope: Scope, breaks: Block) -> None:
        super().__init__(scope)
        flags = {scope.flag_of_break.get(statement) for statement in breaks}
        # A loop with an `else` has set one flag before all its breaks but those of exits that leave all loops.
        usable = flags - scope.flags_of_exits or flags
        given = usable.pop() if len(usable) == 1 else None
        self.is_set_before = given is not None
        if given is not None:
            self.flag = given

    def instead(self, statement: Any, followed: bool) -> Block:
        if self.scope.flag_of_break.get(statement) == self.flag:
            return []
        return super().instead(statement, followed)
