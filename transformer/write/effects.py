"""What is done for its effect: `print`, `assert`, `raise`, `warnings.warn`, loggers, `with`, comments.

The texts are templates, as `read.raising.effects` makes them: strings, and holes for the arguments of the effect.
A comment has a "text", or is about the loop that follows it: "reverse of" an origin. The "end of" a
derivative is not said.
"""

from __future__ import annotations

import ast
import builtins
import sys
from typing import Any

from ..core.errors import NotSupported
from ..core.grammar import Effect
from ..read.values import Hole
from .expressions import dotted
from .layout import Group, Item, Line, Note

HOMES = "numpy.exceptions", "numpy.linalg", "statistics"     # of the classes that functions of libraries raise
CONVERSIONS = {"": -1, "r": 114, "s": 115, "a": 97}


def opens_block(stmt: Effect) -> bool:
    """Whether the statements after this one are indented under it."""
    return stmt.kind == "enter"


def effect(stmt: Effect, e: Any) -> list[Item]:
    """The items of an effect; `e` are the `Expressions`."""
    if stmt.kind == "comment":
        return [Note(text, stmt.origin, "text" not in stmt.attrs) for text in _comment(stmt)]
    if stmt.kind == "enter":
        context = ast.parse(stmt.attrs["context"], mode="eval").body
        return [Group(ast.With([ast.withitem(context)], []), [], [], stmt.origin)]
    if stmt.kind not in PLAIN:
        raise NotSupported(f"the effect {stmt.kind!r} cannot be written as source", stmt.origin,
                           instead="Remove it.")
    return [Line(PLAIN[stmt.kind](stmt, e), stmt.origin)]


def _comment(stmt: Effect) -> list[str]:
    if "text" in stmt.attrs:
        return [stmt.attrs["text"]]
    origin = stmt.attrs.get("reverse of")
    if origin is None:
        return []
    line = origin.text.strip()
    return [f"reverse of line {origin.line}: {line}" if line else f"reverse of line {origin.line}"]


def _print(stmt: Effect, e: Any) -> ast.stmt:
    args = [text_tree(template, stmt, e) for template in stmt.attrs["template"]]
    options = [
        ast.keyword(key, ast.Constant(stmt.attrs[key]))
        for key, usual in (("sep", " "), ("end", "\n"))
        if stmt.attrs.get(key, usual) != usual
    ]
    return ast.Expr(ast.Call(ast.Name("print"), args, options))


def _warn(stmt: Effect, e: Any) -> ast.stmt:
    category = class_tree(stmt.attrs["category"], e)
    args = [text_tree(stmt.attrs["template"], stmt, e)]
    args += [category] if stmt.attrs["category"] is not UserWarning else []
    return ast.Expr(ast.Call(dotted("warnings.warn"), args, []))


def _log(stmt: Effect, e: Any) -> ast.stmt:
    name, level = stmt.attrs["logger"], stmt.attrs["level"]
    logger = dotted("logging") if name is None else ast.Call(dotted("logging.getLogger"), [ast.Constant(name)], [])
    return ast.Expr(ast.Call(ast.Attribute(logger, level), [text_tree(stmt.attrs["template"], stmt, e)], []))


def _assert(stmt: Effect, e: Any) -> ast.stmt:
    template = stmt.attrs.get("template")
    return ast.Assert(e.atom(stmt.args[0]), None if template is None else text_tree(template, stmt, e))


def _raise(stmt: Effect, e: Any) -> ast.stmt:
    args = [raised_value(k, stmt, e) or text_tree(part, stmt, e) if isinstance(part, tuple) else e.attribute(part)
            for k, part in enumerate(stmt.attrs["template"])]
    return ast.Raise(ast.Call(class_tree(stmt.attrs["exception"], e), args, []), None)


def _forget(stmt: Effect, e: Any) -> ast.stmt:
    """A record that is not needed any more, before the next one of its kind is made. (numba knows no `del`.)"""
    return ast.Assign([e.atom(stmt.args[0])], ast.Constant(None))


def _breakpoint(stmt: Effect, e: Any) -> ast.stmt:
    return ast.Expr(ast.Call(ast.Name("breakpoint"), [], []))


PLAIN = {"print": _print, "warn": _warn, "log": _log, "assert": _assert, "raise": _raise, "forget": _forget,
         "breakpoint": _breakpoint}


def raised_value(k: int, stmt: Effect, e: Any) -> ast.expr | None:
    """The number or array that an exception is raised with at this place; None for a text."""
    if k not in stmt.attrs.get("values", ()):
        return None
    tree: ast.expr = e.atom(stmt.args[stmt.attrs["template"][k][0].k])
    return tree


def class_tree(cls: Any, e: Any) -> ast.expr:
    """A class by its name; one that is neither Python's own nor NumPy's is given to the function."""
    name = cls.__name__
    if getattr(builtins, name, None) is cls:
        return ast.Name(name)
    if cls.__module__ in HOMES and getattr(sys.modules[cls.__module__], name, None) is cls:
        return dotted(f"{cls.__module__.replace('numpy', 'np', 1)}.{name}")
    e.namespace[name] = cls
    return ast.Name(name)


def text_tree(template: tuple[Any, ...], stmt: Effect, e: Any) -> ast.expr:
    """A string, an f-string, or an argument that is shown as it is."""
    if all(isinstance(piece, str) for piece in template):
        return ast.Constant("".join(template))
    if len(template) == 1 and not template[0].conversion and not template[0].spec:
        tree = e.atom(stmt.args[template[0].k])
        return tree if stmt.kind == "print" else _joined(template, stmt, e)
    return _joined(template, stmt, e)


def _joined(template: tuple[Any, ...], stmt: Effect, e: Any) -> ast.expr:
    return ast.JoinedStr(
        [
            ast.Constant(piece) if isinstance(piece, str) else _hole(piece, e.atom(stmt.args[piece.k]))
            for piece in template
        ]
    )


def _hole(hole: Hole, tree: ast.expr) -> ast.expr:
    spec = ast.JoinedStr([ast.Constant(hole.spec)]) if hole.spec else None
    return ast.FormattedValue(tree, CONVERSIONS[hole.conversion], spec)
