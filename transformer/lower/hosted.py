"""What Python does in the middle of compiled code: calls of libraries, and effects.

    with objmode():                     with objmode(det="float64"):
        w[:], v[:] = np.linalg.eigh(a)      det = np.linalg.det(a)

What raises the same every time is a statement of its own; a text that is made of numbers is made by a function
in Python, as numba does not read it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from ..core.grammar import Const, Effect, Let, Var, type_of
from ..core.types import ArrayType
from ..write.effects import PLAIN
from ..write.expressions import Expressions as Written
from ..write.layout import Group, Item, Line
from ..write.names import NATURAL, fresh
from .nests import Library
from .numbers import typed


class Hosted(Written):
    """Expressions as they are written for NumPy, of the atoms of lowered code; `e` are its `Expressions`."""

    def __init__(self, e: Any) -> None:
        self.e = e
        self.namespace = e.numbers.functions.given

    def atom(self, atom: Any, among: tuple[Any, ...] = ()) -> ast.expr:
        """What arrives in Python is one of its own numbers, which becomes one of NumPy's again."""
        tree, type = self.e.atom(atom), type_of(atom)
        if isinstance(atom, Var) and not type.sizes and not type.weak:   # type: ignore[union-attr]
            return typed(tree, type.dtype)                               # type: ignore[union-attr]
        return tree

    def application(self, stmt: Let) -> ast.expr:
        return self._application(stmt)                                   # its results are copied anyway

    def attribute(self, value: Any) -> ast.expr:
        if isinstance(value, tuple):
            return ast.Tuple([self.attribute(item) for item in value])
        return super().attribute(value)


def library_call(e: Any, stmt: Library) -> list[Item]:
    """A call whose arrays are written to memory that is there."""
    let = Let(stmt.targets, stmt.op, stmt.args, stmt.attrs, stmt.origin)
    tree = Hosted(e).application(let)
    places = [_place(e, target, let) for target in stmt.targets]
    numbers = [target for target in stmt.targets if not target.type.sizes and e.inlining.uses[target]]   # type: ignore[union-attr]
    place = places[0] if len(places) == 1 else ast.Tuple(places)
    return [_in_python(e, numbers, [Line(ast.Assign([place], tree), stmt.origin)], stmt.origin)]


def _place(e: Any, target: Var, let: Let) -> ast.expr:
    if target.type.sizes:                                                # type: ignore[union-attr]
        return ast.Subscript(e.atom(target), ast.Slice(None, None, None))
    if not e.inlining.uses[target]:                                      # numba refuses the type of what is not used
        return ast.Name("_")
    return ast.Name(e.names.give(target, NATURAL.get(let.op.name, let.op.name)))


def _in_python(e: Any, numbers: Iterable[Var], body: list[Item], origin: Any) -> Item:
    keywords = [ast.keyword(e.names.of[var], ast.Constant(_type_name(var.type))) for var in numbers]   # type: ignore[arg-type]
    return Group(ast.With([ast.withitem(ast.Call(ast.Name("objmode"), [], keywords))], []), body, [], origin)


def _type_name(type: ArrayType) -> str:
    return "boolean" if type.dtype.kind == "b" else type.dtype.name


# -- effects --------------------------------------------------------------------------------------

NAMES = {"print": "show", "warn": "warn", "assert": "refuse", "raise": "refuse"}


def effect(e: Any, stmt: Effect) -> list[Item]:
    """The statements of an effect."""
    if stmt.kind in ("print", "warn"):
        node = PLAIN[stmt.kind](stmt, Hosted(e))
        return [_in_python(e, (), [_called(e, stmt, stmt.args) if _has_text(node) else Line(node, stmt.origin)],
                           stmt.origin)]
    if _is_fixed(stmt):
        return [Line(PLAIN[stmt.kind](stmt, _Fixed(e)), stmt.origin)]
    if stmt.kind == "raise":
        return [_in_python(e, (), [_called(e, stmt, stmt.args)], stmt.origin)]
    failed = ast.UnaryOp(ast.Not(), e.atom(stmt.args[0]))
    body = [_in_python(e, (), [_called(e, stmt, stmt.args[1:])], stmt.origin)]
    return [Group(ast.If(failed, [], []), body, [], stmt.origin)]


def _has_text(node: ast.stmt) -> bool:
    """Whether a statement makes a text of numbers, which numba does not read."""
    return any(isinstance(each, ast.JoinedStr) for each in ast.walk(node))


def _called(e: Any, stmt: Effect, atoms: tuple[Any, ...]) -> Line:
    """The call of a function in Python that has the effect, with the numbers of its text."""
    own = list(dict.fromkeys(atom for atom in atoms if not isinstance(atom, Const)))
    functions = e.numbers.functions
    name = fresh(NAMES[stmt.kind], {*functions.taken, *functions.plain, *e.names.used, *e.names.reserved})
    e.names.used.add(name)
    arguments = list(map(e.atom, own))
    params: dict[Any, str] = {}
    for atom, tree in zip(own, arguments, strict=True):
        params[atom] = fresh(tree.id if isinstance(tree, ast.Name) else "value", set(params.values()))
    signature = ast.arguments([], [ast.arg(param) for param in params.values()], None, [], [], None, [])
    body = PLAIN["raise" if stmt.kind == "assert" else stmt.kind](_as_raised(stmt), _Inside(e, params))
    functions.plain[name] = ast.FunctionDef(name, signature, [body], [], None)
    return Line(ast.Expr(ast.Call(ast.Name(name), arguments, [])), stmt.origin)


def _as_raised(stmt: Effect) -> Effect:
    """What an `assert` raises; other effects as they are."""
    if stmt.kind != "assert":
        return stmt
    text = {"exception": AssertionError, "template": (stmt.attrs["template"],)}
    return Effect("raise", stmt.args, text, stmt.origin)


class _Inside(Hosted):
    """Of a function in Python: numbers are its parameters."""

    def __init__(self, e: Any, params: dict[Any, str]) -> None:
        super().__init__(e)
        self.params = params

    def atom(self, atom: Any, among: tuple[Any, ...] = ()) -> ast.expr:
        if atom not in self.params:
            return super().atom(atom)
        type: Any = type_of(atom)
        tree = ast.Name(self.params[atom])
        return tree if type.sizes or type.weak else typed(tree, type.dtype)


class _Fixed(Hosted):
    """Of a condition, numba's own number is tested."""

    def atom(self, atom: Any, among: tuple[Any, ...] = ()) -> ast.expr:
        tree: ast.expr = self.e.atom(atom)
        return tree


def _is_fixed(stmt: Effect) -> bool:
    """Whether what is raised says the same every time; numba takes no other text."""
    own = stmt.args[1:] if stmt.kind == "assert" else stmt.args
    parts = stmt.attrs.get("template")
    texts = [parts] if stmt.kind == "assert" else list(parts or ())
    return not own and all(not isinstance(text, tuple) or all(isinstance(piece, str) for piece in text)
                           for text in texts)
