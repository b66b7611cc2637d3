"""`else` of a loop: it runs unless a `break` left the loop.

>>> print(preview(rewrite, '''
... for x in xs:
...     if x > limit:
...         break
... else:
...     x = limit
... '''))
stop = False
for x in xs:
    if x > limit:
        stop = True
        break
if not stop:
    x = limit

Without a `break` it simply follows the loop.

>>> print(preview(rewrite, '''
... while x > 1:
...     x = x / 2
... else:
...     x = 1 - x
... '''))
while x > 1:
    x = x / 2
x = 1 - x
"""

from __future__ import annotations

from typing import Any

import gast

from .blocks import (
    LOOPS,
    Block,
    assignment,
    at,
    changed,
    conditional,
    constant,
    leaves,
    map_blocks,
    negation,
    variable,
)
from .exits import replace_exits
from .scope import Scope, preview

__all__ = ["preview", "rewrite"]


def rewrite(block: Block, scope: Scope) -> Block:
    rewritten: Block = []
    for statement in block:
        statement = map_blocks(statement, lambda inner: rewrite(inner, scope))
        has_else = isinstance(statement, LOOPS) and statement.orelse
        rewritten += _split(statement, scope) if has_else else [statement]
    return rewritten


def _split(loop: Any, scope: Scope) -> Block:
    if not leaves(loop.body, gast.Break):
        return [changed(loop, orelse=[]), *loop.orelse]
    stop = scope.names.fresh("stop")

    def set_and_break(statement: Any) -> Block:
        exit_ = at(statement, gast.Break())
        scope.flag_of_break[exit_] = stop
        return [assignment(stop, constant(True, statement), statement), exit_]

    body = replace_exits(loop.body, gast.Break, set_and_break)
    return [
        assignment(stop, constant(False, loop), loop),
        changed(loop, body=body, orelse=[]),
        conditional(negation(variable(stop, loop)), loop.orelse, [], loop),
    ]
