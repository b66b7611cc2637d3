"""Blocks of statements: which a statement has, where they end, and how new ones are built.

Trees are never changed: a statement with a changed block is a new node. Functions and classes
within a function are single statements here, as no exit leaves them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gast

Block = list[Any]

LOOPS = (gast.For, gast.While)
TRIES = (gast.Try, gast.TryStar)


class Attempt(gast.If):
    """A statement that may raise something: what follows where it does not stands in `body`, and where it does in
    `orelse`. Its `error` is the name that holds what was raised. The test shows the text of the statement."""

    _fields = (*gast.If._fields, "statement")
    statement: Any
    error: str


class Occurred(gast.Name):
    """The exception that an attempt has raised."""


_PARTS: dict[type, tuple[str, ...]] = {
    gast.If: ("body", "orelse"),
    Attempt: ("body", "orelse"),
    gast.For: ("body", "orelse"),
    gast.While: ("body", "orelse"),
    gast.With: ("body",),
    gast.Match: ("cases",),
    gast.match_case: ("body",),
    gast.Try: ("body", "handlers", "orelse", "finalbody"),
    gast.TryStar: ("body", "handlers", "orelse", "finalbody"),
    gast.ExceptHandler: ("body",),
}


def blocks_of(statement: Any) -> Iterator[Block]:
    """The blocks of a statement in the order of the source, empty ones too."""
    for part in _PARTS.get(type(statement), ()):
        items = getattr(statement, part)
        if part in ("cases", "handlers"):
            yield from (item.body for item in items)
        else:
            yield items


def map_blocks(statement: Any, rewrite: Callable[[Block], Block]) -> Any:
    """The statement with each of its blocks rewritten."""
    parts = _PARTS.get(type(statement))
    if parts is None:
        return statement
    fields: dict[str, Block] = {}
    for part in parts:
        items = getattr(statement, part)
        if part in ("cases", "handlers"):
            fields[part] = [map_blocks(item, rewrite) for item in items]
        else:
            fields[part] = rewrite(items)
    if not fields.get("body", True):
        fields["body"] = [at(_first_place(statement), gast.Pass())]
    return changed(statement, **fields)


def _first_place(statement: Any) -> Any:
    return statement.body[0] if statement.body else statement


def falls_through(block: Block) -> bool:
    """Whether control may reach the end of a block.

    A `with` is taken to let exceptions pass, as one that stops them cannot be read anyway.
    """
    return all(map(_statement_falls_through, block))


def _statement_falls_through(statement: Any) -> bool:
    match statement:
        case gast.Return() | gast.Break() | gast.Continue() | gast.Raise():
            return False
        case gast.If():
            return falls_through(statement.body) or falls_through(statement.orelse)
        case gast.With():
            return falls_through(statement.body)
        case gast.Match():
            bodies = [falls_through(case.body) for case in statement.cases]
            return any(bodies) or not is_exhaustive(statement)
        case gast.While():
            return not _is_true(statement.test) or leaves(statement.body, gast.Break)
    return True


def is_exhaustive(match: Any) -> bool:
    """Whether the last case of a `match` takes whatever is left."""
    last = match.cases[-1]
    return last.guard is None and _takes_all(last.pattern)


def _takes_all(pattern: Any) -> bool:
    match pattern:
        case gast.MatchAs():
            return pattern.pattern is None or _takes_all(pattern.pattern)
        case gast.MatchOr():
            return any(map(_takes_all, pattern.patterns))
    return False


def leaves(block: Block, kind: type) -> bool:
    """Whether a block may be left by `return` or `raise`, or by a `break` or `continue` not of its loops."""
    return next(exits(block, kind), None) is not None


def exits(block: Block, kind: type) -> Iterator[Any]:
    """The exits of a kind by which a block may be left."""
    for statement in block:
        if isinstance(statement, kind):
            yield statement
        elif kind in (gast.Return, gast.Raise) or not isinstance(statement, LOOPS):
            for inner in blocks_of(statement):
                if not (kind is gast.Raise and is_caught(statement, inner)):
                    yield from exits(inner, kind)
        else:
            yield from exits(statement.orelse, kind)


def is_caught(statement: Any, block: Block) -> bool:
    """Whether a block is that of a `try` which raises what its handlers are asked for (see `raises`)."""
    return getattr(statement, "raised", None) is not None and block is statement.body


def changed(node: Any, **fields: Any) -> Any:
    """A copy of a node with some fields replaced; children are shared."""
    kind: Any = type(node)
    copy = kind.__new__(kind)
    vars(copy).update(vars(node), **fields)
    return copy


def at(place: Any, node: Any) -> Any:
    """A new node, it and its new children placed where an existing one stands."""
    gast.copy_location(node, place)
    for child in gast.iter_child_nodes(node):
        if "lineno" in child._attributes and getattr(child, "lineno", None) is None:
            at(place, child)
    return node


SILENT = "."                   # behind a name of ours after which nothing is called
UNNAMED = "unnamed"            # the type comment of a name that says nothing about what it stands for


def assignment(name: str, value: Any, place: Any, named: bool = True) -> Any:
    """`name = value`; the value is called by that name unless said."""
    target = gast.Name(name, gast.Store(), None, None if named else UNNAMED)
    return at(place, gast.Assign([target], value, None))


def constant(value: object, place: Any) -> Any:
    return at(place, gast.Constant(value, None))


def variable(name: str, place: Any) -> Any:
    return at(place, gast.Name(name, gast.Load(), None, None))


def negation(test: Any) -> Any:
    """What is true where a test is false; its value matters no further."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return test.operand
    return at(test, gast.UnaryOp(gast.Not(), test))


def conditional(test: Any, body: Block, orelse: Block, place: Any) -> Any:
    """An `if` whose first block is not empty unless both are."""
    if not body and orelse:
        test, body, orelse = negation(test), orelse, []
    return at(place, gast.If(test, body or [at(place, gast.Pass())], orelse))


def and_not(flag: str, test: Any) -> Any:
    """`not flag and test`, which leaves the test alone once the flag is set."""
    unset = negation(variable(flag, test))
    if _is_true(test):
        return unset
    is_conjunction = isinstance(test, gast.BoolOp) and isinstance(test.op, gast.And)
    tests = test.values if is_conjunction else [test]
    return at(test, gast.BoolOp(gast.And(), [unset, *tests]))


def _is_true(test: Any) -> bool:
    return isinstance(test, gast.Constant) and bool(test.value)
