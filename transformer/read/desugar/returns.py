"""Early `return`: afterwards a function has at most one, as its last statement.

>>> print(preview(rewrite, '''
... if x < 0:
...     return -x
... y = x * x
... return y + 1
... '''))
if x < 0:
    result = -x
else:
    y = x * x
    result = y + 1
return result

A `return` inside loops leaves them by `break`, and what follows them is guarded.

>>> print(preview(rewrite, '''
... for row in table:
...     for x in row:
...         if x > limit:
...             return x
...     limit = limit / 2
... return limit
... '''))
returned = False
for row in table:
    for x in row:
        if x > limit:
            result = x
            returned = True
            break
    if returned:
        break
    limit = limit / 2
if not returned:
    result = limit
return result

No `result` is needed if every `return` gives the same variable, or none gives a value.

>>> print(preview(rewrite, '''
... while True:
...     x = x / 2
...     if x < 1:
...         return x
... '''))
returned = False
while True:
    x = x / 2
    if x < 1:
        returned = True
        break
return x
"""

from __future__ import annotations

from typing import Any

import gast

from .blocks import SILENT, Block, assignment, at, constant, exits, falls_through, variable
from .far_exits import FarExitRemover
from .scope import Scope, preview

__all__ = ["preview", "rewrite"]


def rewrite(block: Block, scope: Scope) -> Block:
    returns = list(exits(block, gast.Return))
    if not returns or returns == block[-1:]:
        return block
    if all(_gives_none(statement) for statement in returns):
        remover = _ReturnRemover(scope, None, None)
        return remover.remove(block, followed=False, ready=False) or [at(block[0], gast.Pass())]
    if falls_through(block):
        end = at(block[-1], gast.Return(None))
        block, returns = [*block, end], [*returns, end]
    given = _variable_of_all(returns)
    result = given or scope.names.fresh("result") + SILENT
    remover = _ReturnRemover(scope, result, given)
    body = remover.remove(block, followed=False, ready=False)
    last = returns[-1]
    return [*body, at(last, gast.Return(variable(result, last)))]


def _gives_none(statement: Any) -> bool:
    value = statement.value
    return value is None or isinstance(value, gast.Constant) and value.value is None


def _variable_of_all(returns: Block) -> str | None:
    values = [statement.value for statement in returns]
    names = {value.id if isinstance(value, gast.Name) else None for value in values}
    return names.pop() if len(names) == 1 else None


class _ReturnRemover(FarExitRemover):
    """Puts a flag in place of each `return`, and the value into `result`; where all of them return one name that is
    `given`, it has the value already."""

    kind = gast.Return
    wanted_flag = "returned"

    def __init__(self, scope: Scope, result: str | None, given: str | None) -> None:
        super().__init__(scope)
        self._result = None if result == given else result

    def instead(self, statement: Any, followed: bool) -> Block:
        done = super().instead(statement, followed)
        if self._result is None:
            return done
        value = statement.value or constant(None, statement)
        return [assignment(self._result, value, statement, named=False), *done]
