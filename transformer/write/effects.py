"""What is done for its effect: `print`, `assert`, `raise`, `with np.errstate(...)`, comments.

The attributes of an `Effect`, whose `args` stand in the places of slots (`ops.regions.Slot`):

    print     "parts": arguments, static objects and slots; "options": keyword arguments
    assert    args[0] is the condition; "message": parts of an f-string (str, slot, (slot, format)), or
              absent; its slots count among all args
    raise     "exception": a class or its name; "message" as above, or absent
    enter     "options": keyword arguments of np.errstate; ends at the next "exit" of the block
    comment   "text", or "reverse of": the origin of the loop that the next one reverses
    host      "function": a callable or its name; "parts" and "options" as for print
"""

from __future__ import annotations

import ast
from typing import Any

from ..core.errors import NotSupported
from ..core.grammar import Effect
from ..ops.regions import Slot
from .expressions import dotted
from .layout import Group, Item, Line, Note


def opens_block(stmt: Effect) -> bool:
    """Whether the statements after this one are indented under it."""
    return stmt.kind == "enter"


def effect(stmt: Effect, e: Any) -> list[Item]:
    """The items of an effect; `e` are the `Expressions`."""
    if stmt.kind == "comment":
        return [Note(text, stmt.origin) for text in _comment(stmt)]
    if stmt.kind == "enter":
        context = ast.Call(dotted("np.errstate"), [], _keywords(stmt, e))
        return [Group(ast.With([ast.withitem(context)], []), [], [], stmt.origin)]
    return [Line(_plain(stmt, e), stmt.origin)]


def _comment(stmt: Effect) -> list[str]:
    if "text" in stmt.attrs:
        return [stmt.attrs["text"]]
    origin = stmt.attrs.get("reverse of")
    if origin is None:
        return []
    line = origin.text.strip()
    return [f"reverse of line {origin.line}: {line}" if line else f"reverse of line {origin.line}"]


def _plain(stmt: Effect, e: Any) -> ast.stmt:
    if stmt.kind in ("print", "host"):
        function = "print" if stmt.kind == "print" else _name_of(stmt.attrs["function"])
        parts = stmt.attrs.get("parts")
        args = [e.atom(a) for a in stmt.args] if parts is None else [_part(p, stmt, e) for p in parts]
        return ast.Expr(ast.Call(dotted(function), args, _keywords(stmt, e)))
    if stmt.kind == "assert":
        return ast.Assert(e.atom(stmt.args[0]), _message(stmt, e))
    if stmt.kind == "raise":
        message = _message(stmt, e)
        exception = dotted(_name_of(stmt.attrs["exception"]))
        return ast.Raise(ast.Call(exception, [message] if message is not None else [], []), None)
    raise NotSupported(f"the effect {stmt.kind!r} in generated source", stmt.origin)


def _keywords(stmt: Effect, e: Any) -> list[ast.keyword]:
    return [ast.keyword(key, _part(item, stmt, e)) for key, item in stmt.attrs.get("options", {}).items()]


def _part(part: Any, stmt: Effect, e: Any) -> ast.expr:
    """An argument: a slot, an f-string, or a static object."""
    if isinstance(part, Slot):
        return e.atom(stmt.args[part.k])
    if isinstance(part, (tuple, list)) and any(_is_hole(item) for item in part):
        return _text(part, stmt, e)
    return e.attribute(part)


def _is_hole(item: Any) -> bool:
    return isinstance(item, Slot) or isinstance(item, (tuple, list)) and any(isinstance(i, Slot) for i in item)


def _message(stmt: Effect, e: Any) -> ast.expr | None:
    message = stmt.attrs.get("message")
    if message is None:
        return None
    return ast.Constant(message) if isinstance(message, str) else _text(message, stmt, e)


def _text(parts: Any, stmt: Effect, e: Any) -> ast.expr:
    """An f-string, or a string where nothing is put in."""
    if all(isinstance(part, str) for part in parts):
        return ast.Constant("".join(parts))
    values: list[ast.expr] = []
    for part in parts:
        if isinstance(part, str):
            values.append(ast.Constant(part))
            continue
        slot, form = part if isinstance(part, (tuple, list)) else (part, "")
        spec = ast.JoinedStr([ast.Constant(form)]) if form else None
        values.append(ast.FormattedValue(e.atom(stmt.args[slot.k]), -1, spec))
    return ast.JoinedStr(values)


def _name_of(function: Any) -> str:
    return function if isinstance(function, str) else function.__name__
