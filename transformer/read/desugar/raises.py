"""`raise` inside of the `try` that may catch it: a flag, by which the rest of the block is passed over.

>>> print(preview(rewrite, '''
... try:
...     for x in xs:
...         if x < 0:
...             raise ValueError("negative")
...         y = y + x
... except ValueError:
...     y = 0
... '''))
raised = False
try:
    for x in xs:
        if x < 0:
            raised = True
            break
        y = y + x
except ValueError:
    y = 0
if raised:
    try:
        raise ValueError('negative')
    except ValueError:
        y = 0

The second `try` is read where an exception is certain, so that its class chooses the handler. The first one is left
for what else may be raised in it. A number says which exception was raised, where there are several.

>>> print(preview(rewrite, '''
... try:
...     if x < 0:
...         raise ValueError
...     if x > limit:
...         raise OverflowError
... except ValueError:
...     raise
... except OverflowError:
...     x = limit
... ''').partition("if raised:")[2])
<BLANKLINE>
    if which == 0:
        try:
            raise ValueError
        except ValueError:
            raise ValueError
        except OverflowError:
            x = limit
    else:
        try:
            raise OverflowError
        except ValueError:
            raise OverflowError
        except OverflowError:
            x = limit

A `with` that is passed on the way has the `raise` as its attribute `passed`: what its object would be told is not what
the flag tells. What a function raises that is called inside of `try` is not seen here, nor what is raised in another
`try` inside of it (but for its handlers).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from .blocks import (
    SILENT,
    TRIES,
    Block,
    Occurred,
    assignment,
    at,
    blocks_of,
    changed,
    conditional,
    constant,
    exits,
    is_caught,
    leaves,
    map_blocks,
    variable,
)
from .far_exits import FarExitRemover
from .scope import Scope, preview

__all__ = ["preview", "rewrite"]


def rewrite(block: Block, scope: Scope) -> Block:
    rewritten: Block = []
    for statement in block:
        statement = map_blocks(statement, lambda inner: rewrite(inner, scope))
        rewritten += _without_raises(statement, scope) if _may_catch(statement) else [statement]
    return rewritten


def _may_catch(statement: Any) -> bool:
    """Whether a `try` may catch exceptions that are raised in its block, and in no other `try` there."""
    if not isinstance(statement, gast.Try) or not statement.handlers:
        return False
    raised = list(exits(statement.body, gast.Raise))
    return bool(raised) and all(each.exc is not None for each in raised) and not _are_seen_before(statement.body)


def _are_seen_before(block: Block) -> bool:
    """Whether something is raised in another `try`, but for its handlers."""
    return any(
        isinstance(statement, TRIES) and any(leaves(part, gast.Raise) for part in _tried(statement))
        or any(map(_are_seen_before, blocks_of(statement)))
        for statement in block
    )


def _tried(statement: Any) -> Iterator[Block]:
    if not is_caught(statement, statement.body):
        yield statement.body
    yield from (statement.orelse, statement.finalbody)


def _passed(block: Block) -> Block:
    """A block in which each `with` has the first `raise` that leaves it."""
    noted: Block = []
    for statement in block:
        statement = map_blocks(statement, _passed)
        if isinstance(statement, gast.With):
            statement = changed(statement, passed=next(exits(statement.body, gast.Raise), None))
        noted.append(statement)
    return noted


def _without_raises(statement: Any, scope: Scope) -> Block:
    remover = _RaiseRemover(scope, list(exits(statement.body, gast.Raise)))
    body = remover.remove(_passed(statement.body), followed=True, ready=True)
    handlers = statement.handlers
    if hasattr(statement, "error"):                       # all that is caught is flagged
        occurred = at(statement, gast.Raise(at(statement, Occurred(statement.error, gast.Load(), None, None)), None))
        handlers = [map_blocks(handler, lambda block: _named(block, occurred)) for handler in handlers]
    inside = changed(statement, body=body or [at(statement, gast.Pass())], handlers=handlers, orelse=[], finalbody=[])
    whole = [remover.set_flag(False, statement), inside, remover.handled(statement)]
    if not statement.finalbody:
        return whole
    return [changed(statement, body=whole, handlers=[], orelse=[])]


class _RaiseRemover(FarExitRemover):
    """Puts a flag in place of each `raise`, and the number of the exception, if there are several."""

    kind = gast.Raise
    wanted_flag = "raised"

    def __init__(self, scope: Scope, raises: Block) -> None:
        super().__init__(scope)
        self._different = list({gast.dump(each.exc): each for each in raises}.values())
        self._which = scope.names.fresh("which") + SILENT if len(self._different) > 1 else None

    def instead(self, statement: Any, followed: bool) -> Block:
        done = super().instead(statement, followed)
        if self._which is None:
            return done
        number = [gast.dump(each.exc) for each in self._different].index(gast.dump(statement.exc))
        return [assignment(self._which, constant(number, statement), statement), *done]

    def handled(self, statement: Any) -> Any:
        """What follows the block: the handlers, or the `else`."""
        caught = [self._caught(statement, each) for each in self._different]
        test = caught[-1]
        for number in range(len(caught) - 2, -1, -1):
            is_it = at(statement, gast.Compare(variable(self._which or "", statement), [gast.Eq()],
                                               [constant(number, statement)]))
            test = conditional(is_it, [caught[number]], [test], statement)
        return conditional(variable(self.flag, statement), [test], statement.orelse, statement)

    def _caught(self, statement: Any, raised: Any) -> Any:
        handlers = [map_blocks(handler, lambda block: _named(block, raised)) for handler in statement.handlers]
        return changed(statement, body=[raised], handlers=handlers, orelse=[], finalbody=[], raised=raised)


def _named(block: Block, raised: Any) -> Block:
    """A block of a handler, where `raise` alone means the exception that is known by now."""
    named: Block = []
    for statement in block:
        if isinstance(statement, gast.Raise) and statement.exc is None:
            statement = changed(statement, exc=raised.exc, cause=raised.cause)
        elif not isinstance(statement, TRIES):
            statement = map_blocks(statement, lambda inner: _named(inner, raised))
        named.append(statement)
    return named
