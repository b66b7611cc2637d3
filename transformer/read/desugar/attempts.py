"""Statements in a `try` that may raise by themselves: each becomes an attempt, which what follows may not come behind.

>>> print(preview(rewrite, '''
... try:
...     for x in xs:
...         y = y / x
...     z = log(y)
... except ZeroDivisionError:
...     z = 0
... '''))
try:
    for x in xs:
        if 'y = y / x':
            pass
        else:
            raise error
    if 'z = log(y)':
        pass
    else:
        raise error
except ZeroDivisionError:
    z = 0

What an attempt may raise is found when it is read, and may be nothing. The `raise` is a jump as any other
(see `raises`), and what follows moves to where nothing was raised. What an `if`, a `while` or a `for` asks
for is an attempt before it.

>>> print(preview(rewrite, '''
... try:
...     while x / y > 2:
...         x = f(x)
... except ZeroDivisionError:
...     pass
... '''))
try:
    while True:
        if 'test = x / y > 2':
            pass
        else:
            raise error
        if not test:
            break
        if 'x = f(x)':
            pass
        else:
            raise error
except ZeroDivisionError:
    pass

A `try` in another one raises again what only that one catches; so do its handlers, which are attempts of the outer one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from .asking import with_test_inside
from .blocks import (
    Attempt,
    Block,
    Occurred,
    assignment,
    at,
    changed,
    constant,
    leaves,
    map_blocks,
    negation,
    variable,
)
from .scope import Scope, preview

__all__ = ["preview", "rewrite"]

SIMPLE = (gast.Assign, gast.AugAssign, gast.AnnAssign, gast.Expr, gast.Delete, gast.Return, gast.Assert)
SAFE_OPERATORS = (gast.Add, gast.Sub, gast.Mult, gast.MatMult, gast.BitAnd, gast.BitOr, gast.BitXor)
SAFE_CALLS = frozenset({"range", "len", "zip", "enumerate", "reversed", "isinstance", "print"})


def rewrite(block: Block, scope: Scope) -> Block:
    return _rewritten(block, scope, ())


def _rewritten(block: Block, scope: Scope, around: Sequence[Any]) -> Block:
    """A block with attempts in each `try`; `around` are the handlers of those around it."""
    rewritten: Block = []
    for statement in block:
        if not isinstance(statement, gast.Try) or not statement.handlers:
            rewritten.append(map_blocks(statement, lambda inner: _rewritten(inner, scope, around)))
            continue
        error = scope.names.fresh("error")
        body = _attempted(statement.body, error, scope)
        handlers = [*statement.handlers, *(_handing_on(each) for each in around if leaves(body, gast.Raise))]
        outside = map_blocks(changed(statement, body=[]), lambda inner: _rewritten(inner, scope, around))
        handlers = [*outside.handlers, *handlers[len(statement.handlers):]]
        rewritten.append(changed(outside, body=_rewritten(body, scope, handlers), handlers=handlers, error=error))
    return rewritten


def _handing_on(handler: Any) -> Any:
    """What a `try` does with an exception that one around it catches, and it does not."""
    return changed(handler, name=None, body=[at(handler, gast.Raise(None, None))])


def _attempted(block: Block, error: str, scope: Scope) -> Block:
    """A block with an attempt in place of each statement that may raise something."""
    done: Block = []
    for statement in block:
        done += _attempt(statement, error, scope)
    return done


def _attempt(statement: Any, error: str, scope: Scope) -> Block:
    match statement:
        case gast.Return() if statement.value is not None and not _is_safe(statement.value):
            computed, value = _ahead(statement.value, "result", error, scope)
            return [*computed, changed(statement, value=value)]
        case gast.Assert():
            raised = at(statement, gast.Call(variable("AssertionError", statement),
                                             [statement.msg] if statement.msg else [], []))
            failed = at(statement, gast.If(negation(statement.test), [at(statement, gast.Raise(raised, None))], []))
            return _attempt(failed, error, scope)
        case _ if isinstance(statement, SIMPLE):
            return [statement] if _is_safe(statement) else [_attempt_of(statement, error)]
        case gast.With() | gast.Match():
            return [statement]
        case gast.Try():
            handlers = [map_blocks(each, lambda inner: _attempted(inner, error, scope)) for each in statement.handlers]
            return [changed(statement, handlers=handlers)]
        case gast.While() if not _is_safe(statement.test):
            computed, test = _ahead(statement.test, "test", error, scope)
            inside = changed(statement, body=_attempted(statement.body, error, scope),
                             orelse=_attempted(statement.orelse, error, scope))
            return with_test_inside(inside, computed, test, scope)
    before: Block = []
    for part in ("test", "iter"):
        asked = getattr(statement, part, None)
        if asked is not None and not _is_safe(asked):
            more, value = _ahead(asked, part, error, scope)
            before, statement = [*before, *more], changed(statement, **{part: value})
    return [*before, map_blocks(statement, lambda inner: _attempted(inner, error, scope))]


def _attempt_of(statement: Any, error: str) -> Any:
    raised = at(statement, gast.Raise(at(statement, Occurred(error, gast.Load(), None, None)), None))
    made = at(statement, Attempt(constant(gast.unparse(statement).strip(), statement), [], [raised]))
    made.statement, made.error = statement, error
    return made


def _ahead(asked: Any, name: str, error: str, scope: Scope) -> tuple[Block, Any]:
    """An attempt that computes what is asked for, and the name that holds it."""
    name = scope.names.fresh(name)
    return [_attempt_of(assignment(name, asked, asked), error)], variable(name, asked)


def _is_safe(node: Any) -> bool:
    """Whether nothing in an expression or a simple statement can raise what a program would catch."""
    return all(map(_is_safe_part, gast.walk(node)))


def _is_safe_part(node: Any) -> bool:
    match node:
        case gast.BinOp() | gast.AugAssign():
            return isinstance(node.op, SAFE_OPERATORS)
        case gast.Call():
            return isinstance(node.func, gast.Name) and node.func.id in SAFE_CALLS
        case gast.Tuple() | gast.List():
            return not isinstance(node.ctx, gast.Store)    # there may be more or fewer items than names
    return not isinstance(node, gast.Subscript | gast.Attribute | gast.Yield | gast.YieldFrom | gast.Await)
