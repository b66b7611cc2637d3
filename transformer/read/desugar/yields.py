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

A `with` around a `yield` has that as its attribute `left`: Python tells its object of a `GeneratorExit`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from .blocks import Block, at, blocks_of, changed, map_blocks
from .scope import Scope, preview

__all__ = ["Ended", "preview", "ways_out_of", "with_ends", "without_results"]


class Ended(gast.Name):
    """Whether the loop that uses the items of a generator has ended."""


def with_ends(block: Block, scope: Scope | None = None) -> Block:
    done: Block = []
    for statement in block:
        if isinstance(statement, gast.Expr) and isinstance(statement.value, gast.YieldFrom):
            statement = changed(statement, value=changed(statement.value, with_result=False))
        if isinstance(statement, gast.With):
            statement = changed(statement, left=next(yields_in(statement.body), None))
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


def yields_in(block: Block) -> Iterator[Any]:
    """The statements of a block, and of those inside, that yield."""
    for statement in block:
        if _yields(statement):
            yield statement
        for inner in blocks_of(statement):
            yield from yields_in(inner)


def ways_out_of(block: Block) -> Iterator[Any]:
    """The `try`s and `with`s around a `yield`: they do something when the generator is left there."""
    for statement in block:
        for inner in blocks_of(statement):
            yield from ways_out_of(inner)
        if isinstance(statement, gast.Try | gast.With) and any(yields_in([statement])):
            yield statement


def _yields(statement: Any) -> bool:
    value = getattr(statement, "value", None)
    return isinstance(statement, gast.Expr | gast.Assign) and isinstance(value, gast.Yield | gast.YieldFrom)
