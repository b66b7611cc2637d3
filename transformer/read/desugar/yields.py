"""Generators that may be left before their end: behind each `yield` they return where no further item is wanted.

>>> print(preview(with_ends, '''
... for v in xs:
...     yield v * v
...     count = count + 1
... '''))
for v in xs:
    yield (v * v)
    if ended:
        return
    count = count + 1
"""

from __future__ import annotations

from typing import Any

import gast

from .blocks import Block, at, changed, map_blocks
from .scope import Scope, preview

__all__ = ["Ended", "preview", "with_ends", "without_results"]


class Ended(gast.Name):
    """Whether the loop that uses the items of a generator has ended."""


def with_ends(block: Block, scope: Scope | None = None) -> Block:
    done: Block = []
    for statement in block:
        if isinstance(statement, gast.Expr) and isinstance(statement.value, gast.YieldFrom):
            statement = changed(statement, value=changed(statement.value, with_result=False))
        done.append(map_blocks(statement, with_ends))
        if _yields(statement):
            ended = at(statement, Ended("ended", gast.Load(), None, None))
            done.append(at(statement, gast.If(ended, [at(statement, gast.Return(None))], [])))
    return done


def without_results(block: Block) -> Block:
    """A block whose `return`s give nothing: what they would give is computed."""
    done: Block = []
    for statement in block:
        if isinstance(statement, gast.Return) and statement.value is not None:
            done += [at(statement, gast.Expr(statement.value)), at(statement, gast.Return(None))]
        else:
            done.append(map_blocks(statement, without_results))
    return done


def _yields(statement: Any) -> bool:
    value = getattr(statement, "value", None)
    return isinstance(statement, gast.Expr | gast.Assign) and isinstance(value, gast.Yield | gast.YieldFrom)
