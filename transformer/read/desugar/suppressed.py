"""`with contextlib.suppress(…)`: a `try` that does nothing else with what it catches.

>>> print(preview(partial(rewrite, ended={(1, 5)}), '''
... with suppress(KeyError), scaled(x):
...     y = table[x]
... '''.lstrip()))
try:
    with scaled(x):
        y = table[x]
except suppress(KeyError):
    pass

That a `with` is one is found when it is read (`managers.py`), which tells the places of the managers that are.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

import gast

from .blocks import Block, at, changed, map_blocks
from .scope import Scope, preview

__all__ = ["partial", "preview", "rewrite"]


def rewrite(block: Block, scope: Scope, ended: Collection[tuple[int, int]]) -> Block:
    rewritten = [map_blocks(statement, lambda inner: rewrite(inner, scope, ended)) for statement in block]
    return [_entered(statement, ended) if isinstance(statement, gast.With) else statement for statement in rewritten]


def _entered(statement: Any, ended: Collection[tuple[int, int]]) -> Any:
    for number, item in enumerate(statement.items):
        manager = item.context_expr
        if (manager.lineno, manager.col_offset) in ended:
            caught = at(statement, gast.ExceptHandler(manager, None, [at(statement, gast.Pass())]))
            inside = _with(statement, statement.items[number + 1:], ended)
            return _within(statement, statement.items[:number], at(statement, gast.Try(inside, [caught], [], [])))
    return statement


def _with(statement: Any, items: list[Any], ended: Collection[tuple[int, int]]) -> Block:
    return [_entered(changed(statement, items=items), ended)] if items else statement.body


def _within(statement: Any, items: list[Any], body: Any) -> Any:
    return changed(statement, items=items, body=[body]) if items else body
