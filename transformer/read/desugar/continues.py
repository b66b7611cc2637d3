"""`continue`: what follows it in the body of the loop is guarded.

>>> print(preview(rewrite, '''
... for x in xs:
...     if x < 0:
...         continue
...     total = total + x
... '''))
for x in xs:
    if not x < 0:
        total = total + x

>>> print(preview(rewrite, '''
... for x in xs:
...     if x < 0:
...         if skip_negative:
...             continue
...         x = -x
...     total = total + x
... '''))
for x in xs:
    skip = False
    if x < 0:
        if skip_negative:
            skip = True
        else:
            x = -x
    if not skip:
        total = total + x
"""

from __future__ import annotations

from typing import Any

import gast

from .blocks import LOOPS, Block, leaves, map_blocks
from .exits import ExitRemover
from .scope import Scope, preview

__all__ = ["preview", "rewrite"]


def rewrite(block: Block, scope: Scope) -> Block:
    rewritten: Block = []
    for statement in block:
        statement = map_blocks(statement, lambda inner: rewrite(inner, scope))
        if isinstance(statement, LOOPS) and leaves(statement.body, gast.Continue):
            statement = _without_continues(statement, scope)
        rewritten.append(statement)
    return rewritten


def _without_continues(loop: Any, scope: Scope) -> Any:
    remover = _ContinueRemover(scope)
    return map_blocks(loop, lambda body: remover.remove(body, followed=False, ready=False))


class _ContinueRemover(ExitRemover):
    kind = gast.Continue
    wanted_flag = "skip"
