"""`with`: notes the first jump out of its block, for objects to which that matters.

>>> import gast
>>> from .scope import Names, Scope
>>> def noted(text):
...     tree = gast.parse(text)
...     return type(rewrite(tree.body, Scope(Names(tree), "", ""))[0].way_out).__name__
>>> noted("with grad_of(x) as dx: return x")
'Return'
>>> noted("with grad_of(x) as dx: dx = 2 * dx")
'NoneType'
"""

from __future__ import annotations

import gast

from .blocks import Block, blocks_of, changed, exits, map_blocks
from .scope import Scope

JUMPS = (gast.Return, gast.Break, gast.Continue)


def rewrite(block: Block, scope: Scope) -> Block:
    if not _has_with(block):
        return block
    rewritten: Block = []
    for statement in block:
        statement = map_blocks(statement, lambda inner: rewrite(inner, scope))
        if isinstance(statement, gast.With):
            jumps = (jump for kind in JUMPS for jump in exits(statement.body, kind))
            statement = changed(statement, way_out=next(jumps, None))
        rewritten.append(statement)
    return rewritten


def _has_with(block: Block) -> bool:
    return any(isinstance(statement, gast.With) or any(map(_has_with, blocks_of(statement))) for statement in block)
