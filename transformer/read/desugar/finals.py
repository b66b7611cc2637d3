"""`finally` inside of a `try` that catches: done both where an exception leaves the block and where none does.

>>> print(preview(rewrite, '''
... try:
...     try:
...         y = step(y)
...     finally:
...         n = n + 1
... except ValueError:
...     y = 0
... '''))
try:
    try:
        y = step(y)
    except ValueError:
        n = n + 1
        raise
    n = n + 1
except ValueError:
    y = 0

So attempts need not know of it. What is caught nowhere ends the program. A block that is left by a jump stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from .blocks import Block, at, changed, leaves, map_blocks
from .scope import Scope, preview

__all__ = ["preview", "rewrite"]

JUMPS = (gast.Return, gast.Break, gast.Continue)


def rewrite(block: Block, scope: Scope) -> Block:
    return _rewritten(block, ())


def _rewritten(block: Block, around: Sequence[Any]) -> Block:
    """A block without such; `around` are the handlers of the `try`s around it."""
    rewritten: Block = []
    for statement in block:
        if not isinstance(statement, gast.Try):
            rewritten.append(map_blocks(statement, lambda inner: _rewritten(inner, around)))
        elif around and statement.finalbody and not any(leaves([statement], jump) for jump in JUMPS):
            rewritten += _rewritten(_parted(statement, around), around)
        else:
            outside = map_blocks(changed(statement, body=[]), lambda inner: _rewritten(inner, around))
            inside = _rewritten(statement.body, [*statement.handlers, *around])
            rewritten.append(changed(outside, body=inside))
    return rewritten


def _parted(statement: Any, around: Sequence[Any]) -> Block:
    inside = [changed(statement, finalbody=[])] if statement.handlers else statement.body
    raised = at(statement, gast.Raise(None, None))
    leaving = [changed(each, name=None, body=[*statement.finalbody, raised]) for each in around]
    return [changed(statement, body=inside, handlers=leaving, orelse=[], finalbody=[]), *statement.finalbody]
