"""`while` with a test that does more than to ask: it moves into the body, where it is done once in each iteration.

>>> print(preview(partial(rewrite, asked=()), '''
... while (error := norm(a @ x - b)) > 0.1:
...     x = x - a.T @ (a @ x - b)
... '''))
while True:
    if not (error := norm(a @ x - b)) > 0.1:
        break
    x = x - a.T @ (a @ x - b)

Whether it binds names can be seen; that a function it calls writes something is found when it is read
(`loops/loop_reading.py`), which tells the places of such tests in `asked`. An `else` asks whether the test has ended
the loop, if there are other ways.

>>> print(preview(partial(rewrite, asked={(1, 6)}), '''
... while step():
...     if x > 1:
...         break
... else:
...     x = 0
... '''.lstrip()))
over = False
while True:
    if not step():
        over = True
        break
    if x > 1:
        break
if over:
    x = 0
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

import gast

from .blocks import Block, assignment, at, changed, conditional, constant, leaves, map_blocks, negation, variable
from .scope import Scope, preview

__all__ = ["partial", "preview", "rewrite", "with_test_inside"]


def rewrite(block: Block, scope: Scope, asked: Collection[tuple[int, int]]) -> Block:
    rewritten: Block = []
    for statement in block:
        statement = map_blocks(statement, lambda inner: rewrite(inner, scope, asked))
        moves = isinstance(statement, gast.While) and _does_more(statement.test, asked)
        rewritten += with_test_inside(statement, [], statement.test, scope) if moves else [statement]
    return rewritten


def _does_more(test: Any, asked: Collection[tuple[int, int]]) -> bool:
    binds = any(isinstance(part, gast.NamedExpr) for part in gast.walk(test))
    return binds or (test.lineno, test.col_offset) in asked


def with_test_inside(loop: Any, before: Block, test: Any, scope: Scope) -> Block:
    """A `while` that asks in each iteration, behind the statements `before`."""
    is_one_way = bool(loop.orelse) and leaves(loop.body, gast.Break)
    over = scope.names.fresh("over") if is_one_way else None
    ended = [] if over is None else [assignment(over, constant(True, loop), loop)]
    leave = conditional(negation(test), [*ended, at(loop, gast.Break())], [], loop)
    whole = changed(loop, test=constant(True, loop), body=[*before, leave, *loop.body], orelse=[])
    if over is None:
        return [whole, *loop.orelse]
    return [assignment(over, constant(False, loop), loop), whole,
            conditional(variable(over, loop), loop.orelse, [], loop)]
