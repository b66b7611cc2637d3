"""Which names statements need and bind: the variables of a function that are read before they are bound, and those read
afterwards.

    total += x[k]               needs total, x and k, and gives total
    for k in range(n): y = k    needs n, may give k and y, and gives neither for certain
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

SCOPES = ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
COMPREHENSIONS = ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp
Names = frozenset[str]
NOTHING: Names = frozenset()


def loads(node: Any) -> Names:
    """Every name that is read in a node, in functions inside of it as well."""
    found = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Store)}
    augmented = {each.target.id for each in ast.walk(node)
                 if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name)}
    return frozenset(found | augmented)


def stores(node: Any) -> Names:
    """Every name that a statement may bind, but for what functions inside of it bind for themselves."""
    return frozenset(name for each in within(node) for name in _bound_by(each))


def _bound_by(node: Any) -> Iterator[str]:
    match node:
        case ast.Name(ctx=ast.Store()):
            yield node.id
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Import() | ast.ImportFrom():
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar() if node.name:
            yield node.name
        case ast.MatchMapping() if node.rest:
            yield node.rest


def within(node: Any) -> Iterator[Any]:
    """A node and those in it, but for what is in functions and comprehensions."""
    yield node
    if isinstance(node, SCOPES + COMPREHENSIONS):
        return
    for child in ast.iter_child_nodes(node):
        yield from within(child)


def captured(node: Any) -> Names:
    """What functions inside of a function read: at any time."""
    inner = [each for each in ast.walk(node) if isinstance(each, (*SCOPES, ast.GeneratorExp)) and each is not node]
    return NOTHING.union(*map(loads, inner))


@dataclass(frozen=True)
class Around:
    """What is read after a list of statements: `end` where it ends, `leave` and `again` where a `break` or a
    `continue` in it goes."""

    end: Names
    leave: Names = NOTHING
    again: Names = NOTHING

    def before(self, rest: Sequence[ast.stmt]) -> Around:
        """The same at the first of these statements."""
        return Around(live_before(rest, self), self.leave, self.again)

    def inside(self, loop: Any) -> Around:
        """At the end of the body of a loop."""
        head = self.end | live_before(loop.orelse, self) | _head_loads(loop)
        bound = stores(loop.target) if isinstance(loop, ast.For) else NOTHING
        for _ in range(2):
            head |= live_before(loop.body, Around(head, self.end, head)) - bound
        return Around(head, self.end, head)


def live_before(block: Sequence[ast.stmt], around: Around) -> Names:
    """The names that are read from these statements on, before they are bound."""
    live = around.end
    for stmt in reversed(block):
        live = _live_before(stmt, Around(live, around.leave, around.again))
    return live


def _live_before(stmt: ast.stmt, around: Around) -> Names:
    match stmt:
        case ast.If():
            return loads(stmt.test) | live_before(stmt.body, around) | live_before(stmt.orelse, around)
        case ast.For() | ast.While():
            return around.inside(stmt).end
        case ast.Break():
            return around.leave
        case ast.Continue():
            return around.again
        case ast.Return() | ast.Raise():
            return loads(stmt)
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Expr() | ast.Assert():
            return (around.end - definite([stmt])) | loads(stmt)
    return around.end | around.leave | around.again | loads(stmt)


def _head_loads(loop: Any) -> Names:
    return loads(loop.iter) if isinstance(loop, ast.For) else loads(loop.test)


def definite(block: Iterable[ast.stmt]) -> Names:
    """The names that are bound for certain when these statements have run."""
    found: Names = NOTHING
    for stmt in block:
        match stmt:
            case ast.If():
                found |= definite(stmt.body) & definite(stmt.orelse)
            case ast.AnnAssign(value=None):
                pass
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.FunctionDef() | ast.Import() | ast.ImportFrom():
                found |= stores(stmt)
    return found


def needed(block: Iterable[ast.stmt], bound: Names = NOTHING) -> Names:
    """The names that statements read and have not bound themselves, when they do for the first time."""
    found: Names = NOTHING
    for stmt in block:
        match stmt:
            case ast.If():
                found |= (loads(stmt.test) - bound) | needed(stmt.body, bound) | needed(stmt.orelse, bound)
            case ast.For():
                found |= (loads(stmt.iter) | loads(stmt.target)) - bound
                found |= needed(stmt.body, bound | stores(stmt.target)) | needed(stmt.orelse, bound)
            case ast.While():
                found |= (loads(stmt.test) - bound) | needed(stmt.body, bound) | needed(stmt.orelse, bound)
            case _:
                found |= loads(stmt) - bound
        bound |= definite([stmt])
    return found
