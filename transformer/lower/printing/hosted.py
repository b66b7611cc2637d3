"""What Python does for compiled code: calls of libraries, and effects, each in a function of its own.

    def solve_into(result, a, b):               def det_of(a):
        with objmode():                             with objmode(det="float64"):
            result[:] = np.linalg.solve(a, b)           det = np.linalg.det(a)
                                                    return det

numba joins what several of these blocks in one function have in common, and fails; hence the functions.
What raises the same every time is a statement of the compiled code itself.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.grammar import Const, Effect, Let, Var, type_of
from ...core.types import ArrayType
from ...write.effects import PLAIN, class_tree, raised_value, text_tree
from ...write.expressions import BINARY, spelled
from ...write.expressions import Expressions as Written
from ...write.layout import Group, Item, Line
from ...write.names import HELPERS, fresh, identifier
from ...write.natural import NATURAL
from ..nest.nest_walk import statements, writes
from ..nest.nests import Block, Library
from ..options import OF_LAPACK
from .numbers import literal, typed

NAMES = {"print": "show", "warn": "warn", "log": "log", "assert": "refuse", "raise": "refuse"}


@dataclass(slots=True)
class Call:
    """How a function is called: with these atoms. It gives these numbers."""

    name: str
    atoms: list[Any]
    numbers: list[Var]


class Inside(Written):
    """Expressions as they are written for NumPy, in a function of which `params` are the parameters: what it
    needs of the code around. One of Python's numbers that arrives becomes one of NumPy's again."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.namespace = given
        self.params: dict[Any, str] = {}

    def param(self, atom: Any, wish: str) -> str:
        if atom not in self.params:
            self.params[atom] = fresh(identifier(wish), {"np", *HELPERS, *self.params.values()})
        return self.params[atom]

    def atom(self, atom: Any, among: tuple[Any, ...] = ()) -> ast.expr:
        if isinstance(atom, Const):
            return literal(atom)
        name, type = ast.Name(self.param(atom, getattr(atom, "name", None) or "x")), type_of(atom)
        return name if type.sizes or type.weak else typed(name, type.dtype)   # type: ignore[union-attr]

    def application(self, stmt: Let) -> ast.expr:
        return self._application(stmt)                                   # its results are copied anyway

    def moved(self, stmt: Let) -> ast.expr:
        """A size is an operand like any other: what it is made of is not known here."""
        left, right = map(self.atom, stmt.args)
        return ast.BinOp(left, BINARY[stmt.op.symbol](), right)

    def _leads_with_sign(self, atom: Any) -> bool:
        """Signs of integers stay where they are: what an operand is made of is not known here."""
        return bool(type_of(atom).dtype.kind in "fc")                    # type: ignore[union-attr]

    def _has_opposite(self, operand: Any, result: Var) -> bool:
        return bool(result.type.dtype.kind in "fc")                      # type: ignore[union-attr]

    def attribute(self, value: Any) -> ast.expr:
        if isinstance(value, tuple):
            return ast.Tuple([self.attribute(item) for item in value])
        return super().attribute(value)

    def function(self, body: list[ast.stmt]) -> ast.FunctionDef:
        signature = ast.arguments([], [ast.arg(name) for name in self.params.values()], None, [], [], None, [])
        return ast.FunctionDef("", signature, body, [], None)


def collect(e: Any, block: Block) -> None:
    """Names the functions that a block calls, before anything else gets a name."""
    for stmt in statements(block):
        if isinstance(stmt, Library):
            e.hosted[id(stmt)] = _library(e, stmt)
        elif isinstance(stmt, Effect) and stmt.kind in NAMES and not is_fixed(stmt):
            inside = Inside(e.numbers.functions.given)
            body = _raising(inside, stmt) if stmt.kind in ("assert", "raise") else _doing(inside, stmt)
            e.hosted[id(stmt)] = _call(e, inside, body, NAMES[stmt.kind], [])


def _call(e: Any, inside: Inside, body: list[ast.stmt], wish: str, numbers: list[Var]) -> Call:
    """The call of a function with this body: of the one that is there already, if it does the same."""
    name = e.numbers.functions.host(inside.function(body), wish, e.names.used | e.names.reserved)
    e.names.take(name)
    return Call(name, list(inside.params), numbers)


def in_python(body: list[ast.stmt], types: dict[str, str]) -> ast.stmt:
    """A block that Python runs, with the names that are taken out of it."""
    keywords = [ast.keyword(name, ast.Constant(type)) for name, type in types.items()]
    return ast.With([ast.withitem(ast.Call(ast.Name("objmode"), [], keywords))], body)


# -- calls of libraries ---------------------------------------------------------------------------


def _library(e: Any, stmt: Library) -> Call:
    """The function of a call whose arrays are written to memory that is there."""
    inside, let = Inside(e.numbers.functions.given), Let(stmt.targets, stmt.op, stmt.args, stmt.attrs, stmt.origin)
    arrays, numbers = writes(stmt), [var for var in stmt.targets if not stmt.is_array(var) and e.inlining.uses[var]]
    name = identifier(spelled(let)[0].rpartition(".")[2])
    for array, wish in zip(arrays, getattr(stmt.op, "results", ("result",) * len(arrays)), strict=True):
        inside.param(array, wish)
    for atom, wish in zip(stmt.args, stmt.op.operands if not stmt.op.variadic else ()):
        if not isinstance(atom, Const):
            inside.param(atom, wish)
    names = {var: inside.param(var, name) for var in numbers}            # each one is a local variable
    text = getattr(stmt.op, "text", None)
    tree = text(*map(inside.atom, stmt.args)) if text else inside.application(let)
    places = [_place(var, inside, arrays) for var in stmt.targets]
    for var in numbers:
        del inside.params[var]
    body = [in_python([ast.Assign([_together(places)], tree)],
                      {names[var]: _type_name(var.type) for var in numbers})]   # type: ignore[arg-type]
    if numbers:
        body.append(ast.Return(_together([ast.Name(names[var]) for var in numbers])))
    call = _call(e, inside, body, name + ("_into" if arrays else "_of"), numbers)
    if stmt.op.of_lapack:
        used = [str(stmt.targets.index(var)) for var in numbers] if len(stmt.targets) > 1 else []
        e.numbers.functions.forms[call.name] = OF_LAPACK + " ".join([stmt.op.name, *used])
    return call


def _place(var: Var, inside: Inside, arrays: tuple[Var, ...]) -> ast.expr:
    name = inside.params.get(var, "_")                                   # numba refuses a type of what is not used
    return ast.Subscript(ast.Name(name), ast.Slice(None, None, None)) if var in arrays else ast.Name(name)


def _together(trees: list[ast.expr]) -> ast.expr:
    return trees[0] if len(trees) == 1 else ast.Tuple(trees)


def _type_name(type: ArrayType) -> str:
    return "boolean" if type.dtype == np.bool_ else type.dtype.name


def library_call(e: Any, stmt: Library) -> list[Item]:
    """The statement that calls a library."""
    call = e.hosted[id(stmt)]
    tree = ast.Call(ast.Name(call.name), list(map(e.atom, call.atoms)), [])
    if not call.numbers:
        return [Line(ast.Expr(tree), stmt.origin)]
    wish = NATURAL.get(stmt.op.name, stmt.op.noun or stmt.op.name)
    names: list[ast.expr] = [ast.Name(e.names.give(var, wish)) for var in call.numbers]
    return [Line(ast.Assign([_together(names)], tree), stmt.origin)]


# -- effects --------------------------------------------------------------------------------------


def _doing(inside: Inside, stmt: Effect) -> list[ast.stmt]:
    return [in_python([_Formats().visit(PLAIN[stmt.kind](stmt, inside))], {})]


def _raising(inside: Inside, stmt: Effect) -> list[ast.stmt]:
    """Python makes the texts; what they are raised with is the compiled code's."""
    kind, parts = stmt.attrs.get("exception", AssertionError), stmt.attrs["template"]
    texts: dict[str, ast.expr] = {}
    args: list[ast.expr] = []
    for k, part in enumerate((parts,) if stmt.kind == "assert" else parts):
        value = raised_value(k, stmt, inside) if isinstance(part, tuple) else inside.attribute(part)
        if value is not None:
            args.append(value)
            continue
        name = fresh("text", set(texts))
        texts[name] = _Formats().visit(text_tree(part, stmt, inside))
        args.append(ast.Name(name))
    made: list[ast.stmt] = [ast.Assign([ast.Name(name)], tree) for name, tree in texts.items()]
    return [*([in_python(made, dict.fromkeys(texts, "unicode_type"))] if made else []),
            ast.Raise(ast.Call(class_tree(kind, inside), args, []), None)]


class _Formats(ast.NodeTransformer):
    """`"{:.3f}".format(x)` in place of `f"{x:.3f}"`, which numba does not read."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        values = [part for part in node.values if isinstance(part, ast.FormattedValue)]
        if all(part.conversion == -1 and part.format_spec is None for part in values):
            return node
        text = "".join(_hole(part) if isinstance(part, ast.FormattedValue) else
                       str(part.value).replace("{", "{{").replace("}", "}}") for part in node.values)   # type: ignore[attr-defined]
        return ast.Call(ast.Attribute(ast.Constant(text), "format"), [part.value for part in values], [])


def _hole(part: ast.FormattedValue) -> str:
    conversion = "" if part.conversion == -1 else f"!{chr(part.conversion)}"
    spec = "" if part.format_spec is None else f":{part.format_spec.values[0].value}"   # type: ignore[attr-defined]
    return "{" + conversion + spec + "}"


class Fixed(Inside):
    """Expressions for NumPy in the code itself, with its names."""

    def __init__(self, e: Any) -> None:
        super().__init__(e.numbers.functions.given)
        self.e = e

    def atom(self, atom: Any, among: tuple[Any, ...] = ()) -> ast.expr:
        tree: ast.expr = self.e.atom(atom)
        return tree


def is_fixed(stmt: Effect) -> bool:
    """Whether what is raised says the same every time; numba takes no other text."""
    if stmt.kind not in ("assert", "raise"):
        return False
    own = stmt.args[1:] if stmt.kind == "assert" else stmt.args
    parts = stmt.attrs.get("template")
    texts = [parts] if stmt.kind == "assert" else list(parts or ())
    return not own and all(not isinstance(text, tuple) or all(isinstance(piece, str) for piece in text)
                           for text in texts)


def effect(e: Any, stmt: Effect) -> list[Item]:
    """The statements of an effect."""
    if is_fixed(stmt):
        return [Line(PLAIN[stmt.kind](stmt, Fixed(e)), stmt.origin)]
    call = e.hosted[id(stmt)]
    line = Line(ast.Expr(ast.Call(ast.Name(call.name), list(map(e.atom, call.atoms)), [])), stmt.origin)
    if stmt.kind != "assert":
        return [line]
    return [Group(ast.If(ast.UnaryOp(ast.Not(), e.atom(stmt.args[0])), [], []), [line], [], stmt.origin)]
