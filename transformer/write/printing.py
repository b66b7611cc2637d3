"""The text of a statement.

Brackets stand where Python needs them; strings are in double quotes, powers have spaces (`x ** 2`), tuples no
brackets where they can do without. Python's own `ast.unparse` differs in that from one version to the next; it
prints what no program that is generated has.

>>> text_of(ast.parse("z=(a+b)*-c**2 if p else (x [ 1: , 0 ], 'it')").body[0])
'z = (a + b) * -c ** 2 if p else (x[1:, 0], "it")'
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

INDENT = "    "

# How tightly an expression binds: what stands where something tighter is needed has brackets.
COMMA, CHOICE, OR, AND, NOT, COMPARED, SUM, PRODUCT, SIGN, POWER, ATOM = 0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14
BINARY: dict[type, tuple[str, int]] = {
    ast.BitOr: ("|", 6), ast.BitXor: ("^", 7), ast.BitAnd: ("&", 8), ast.LShift: ("<<", 9), ast.RShift: (">>", 9),
    ast.Add: ("+", SUM), ast.Sub: ("-", SUM), ast.Mult: ("*", PRODUCT), ast.Div: ("/", PRODUCT),
    ast.FloorDiv: ("//", PRODUCT), ast.Mod: ("%", PRODUCT), ast.MatMult: ("@", PRODUCT), ast.Pow: ("**", POWER),
}
UNARY: dict[type, tuple[str, int]] = {
    ast.Not: ("not ", NOT), ast.Invert: ("~", SIGN), ast.UAdd: ("+", SIGN), ast.USub: ("-", SIGN),
}
COMPARISONS: dict[type, str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in",
    ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}


def text_of(node: ast.stmt) -> str:
    """A statement, with those in it."""
    return "\n".join(_lines(node))


# -- expressions ------------------------------------------------------------------------------


def _text(node: Any, needed: int = CHOICE) -> str:
    """An expression, in brackets where it binds less tightly than is needed."""
    printer = EXPRESSIONS.get(type(node))
    if printer is None:
        return ast.unparse(node)
    text, binding = printer(node)
    return text if binding >= needed else f"({text})"


def _list(nodes: Iterable[Any]) -> str:
    return ", ".join(map(_text, nodes))


Printed = tuple[str, int]


def _name(node: ast.Name) -> Printed:
    return node.id, ATOM


def _constant(node: ast.Constant) -> Printed:
    value = node.value
    if isinstance(value, str):
        return _string(value), ATOM
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        text = repr(value) if isinstance(value, int) else _number(value)
        return text, SIGN if text[0] == "-" else ATOM
    if isinstance(value, complex):
        return _complex(value)
    return "..." if value is Ellipsis else repr(value), ATOM


def _number(value: float) -> str:
    return repr(value).replace("inf", "1e1000") if math.isfinite(value) or math.isinf(value) else "(1e1000 - 1e1000)"


def _complex(value: complex) -> Printed:
    imag = f"{_number(value.imag)}j"
    if value.real == 0:
        return imag, SIGN if imag[0] == "-" else ATOM
    sign = "" if imag[0] == "-" else "+"
    return f"({_number(value.real)}{sign}{imag})" if value.imag else f"({_number(value.real)}+0j)", ATOM


def _string(text: str) -> str:
    """Strings in double quotes, unless that needs more backslashes."""
    shown = repr(text)
    return f'"{shown[1:-1]}"' if shown[0] == "'" and '"' not in text else shown


def _formatted(node: ast.JoinedStr) -> Printed:
    return f"f{_string(''.join(map(_part, node.values)))}", ATOM


def _part(part: ast.expr) -> str:
    """A text, or an expression in braces, whose strings have the quotes that the whole has not."""
    if isinstance(part, ast.Constant):
        return str(part.value).replace("{", "{{").replace("}", "}}")
    assert isinstance(part, ast.FormattedValue)
    inner = _text(part.value, COMMA)
    inner = inner if "'" in inner else inner.replace('"', "'")
    how = "" if part.conversion == -1 else f"!{chr(part.conversion)}"
    spec = part.format_spec
    return f"{{{inner}{how}{':' + ''.join(map(_part, spec.values)) if isinstance(spec, ast.JoinedStr) else ''}}}"


def _attribute(node: ast.Attribute) -> Printed:
    owner = _text(node.value, ATOM)
    return f"({owner}).{node.attr}" if owner.isdigit() else f"{owner}.{node.attr}", ATOM


def _subscript(node: ast.Subscript) -> Printed:
    return f"{_text(node.value, ATOM)}[{_text(node.slice, COMMA)}]", ATOM


def _slice(node: ast.Slice) -> Printed:
    lower, upper = ("" if part is None else _text(part) for part in (node.lower, node.upper))
    return f"{lower}:{upper}" + ("" if node.step is None else f":{_text(node.step)}"), ATOM


def _call(node: ast.Call) -> Printed:
    if len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp) and not node.keywords:
        return f"{_text(node.func, ATOM)}{_text(node.args[0])}", ATOM
    named = (f"**{_text(each.value, OR)}" if each.arg is None else f"{each.arg}={_text(each.value)}"
             for each in node.keywords)
    return f"{_text(node.func, ATOM)}({', '.join([*map(_text, node.args), *named])})", ATOM


def _binary(node: ast.BinOp) -> Printed:
    symbol, binding = BINARY[type(node.op)]
    left, right = (ATOM, SIGN) if binding == POWER else (binding, binding + 1)
    return f"{_text(node.left, left)} {symbol} {_text(node.right, right)}", binding


def _unary(node: ast.UnaryOp) -> Printed:
    symbol, binding = UNARY[type(node.op)]
    return f"{symbol}{_text(node.operand, binding)}", binding


def _boolean(node: ast.BoolOp) -> Printed:
    word, binding = (" and ", AND) if isinstance(node.op, ast.And) else (" or ", OR)
    return word.join(_text(value, binding + 1) for value in node.values), binding


def _compared(node: ast.Compare) -> Printed:
    rest = (f" {COMPARISONS[type(op)]} {_text(value, COMPARED + 1)}" for op, value in zip(node.ops, node.comparators))
    return f"{_text(node.left, COMPARED + 1)}{''.join(rest)}", COMPARED


def _choice(node: ast.IfExp) -> Printed:
    return f"{_text(node.body, OR)} if {_text(node.test, OR)} else {_text(node.orelse)}", CHOICE


def _lambda(node: ast.Lambda) -> Printed:
    arguments = _arguments(node.args)
    return f"lambda{' ' if arguments else ''}{arguments}: {_text(node.body)}", CHOICE


def _tuple(node: ast.Tuple) -> Printed:
    if not node.elts:
        return "()", ATOM
    return f"{_list(node.elts)}{',' if len(node.elts) == 1 else ''}", COMMA


def _dictionary(node: ast.Dict) -> Printed:
    items = (f"**{_text(value, OR)}" if key is None else f"{_text(key)}: {_text(value)}"
             for key, value in zip(node.keys, node.values))
    return f"{{{', '.join(items)}}}", ATOM


def _named(node: ast.NamedExpr) -> Printed:
    return f"({node.target.id} := {_text(node.value)})", ATOM


def _starred(node: ast.Starred) -> Printed:
    return f"*{_text(node.value, OR)}", CHOICE


def _loops(node: Any) -> str:
    return "".join(f" for {_text(each.target, COMMA)} in {_text(each.iter, OR)}"
                   + "".join(f" if {_text(test, OR)}" for test in each.ifs) for each in node.generators)


EXPRESSIONS: dict[type, Callable[[Any], Printed]] = {
    ast.Name: _name, ast.Constant: _constant, ast.JoinedStr: _formatted, ast.Attribute: _attribute,
    ast.Subscript: _subscript, ast.Slice: _slice, ast.Call: _call, ast.BinOp: _binary, ast.UnaryOp: _unary,
    ast.BoolOp: _boolean, ast.Compare: _compared, ast.IfExp: _choice, ast.Lambda: _lambda, ast.Tuple: _tuple,
    ast.Dict: _dictionary, ast.NamedExpr: _named, ast.Starred: _starred,
    ast.List: lambda node: (f"[{_list(node.elts)}]", ATOM),
    ast.Set: lambda node: (f"{{{_list(node.elts)}}}" if node.elts else "set()", ATOM),
    ast.ListComp: lambda node: (f"[{_text(node.elt)}{_loops(node)}]", ATOM),
    ast.GeneratorExp: lambda node: (f"({_text(node.elt)}{_loops(node)})", ATOM),
}


# -- statements -------------------------------------------------------------------------------


def _value(node: Any) -> str:
    """What a statement takes: `a, b`, but `(a,)`, whose comma would not be seen."""
    return _text(node, CHOICE if isinstance(node, ast.Tuple) and len(node.elts) == 1 else COMMA)


def _lines(node: ast.stmt) -> Iterator[str]:
    """The lines of a statement."""
    match node:
        case ast.If() | ast.For() | ast.While():
            yield _head(node)
            yield from _inside(node.body)
            yield from _otherwise(node.orelse, isinstance(node, ast.If))
        case ast.FunctionDef():
            yield from (f"@{_text(each)}" for each in node.decorator_list)
            result = "" if node.returns is None else f" -> {_text(node.returns)}"
            yield f"def {node.name}({_arguments(node.args)}){result}:"
            yield from _inside(node.body)
        case ast.With():
            yield f"with {', '.join(map(_managed, node.items))}:"
            yield from _inside(node.body)
        case ast.Try():
            yield "try:"
            yield from _inside(node.body)
            for handler in node.handlers:
                kind = "" if handler.type is None else f" {_text(handler.type)}"
                yield f"except{kind}{f' as {handler.name}' if handler.name else ''}:"
                yield from _inside(handler.body)
            yield from _otherwise(node.orelse, False)
            if node.finalbody:
                yield "finally:"
                yield from _inside(node.finalbody)
        case _:
            printer = STATEMENTS.get(type(node))
            yield from ast.unparse(node).split("\n") if printer is None else [printer(node)]


def _head(node: ast.If | ast.For | ast.While) -> str:
    if isinstance(node, ast.For):
        return f"for {_text(node.target, COMMA)} in {_text(node.iter)}:"
    return f"{'if' if isinstance(node, ast.If) else 'while'} {_text(node.test)}:"


def _managed(item: ast.withitem) -> str:
    name = "" if item.optional_vars is None else f" as {_text(item.optional_vars)}"
    return f"{_text(item.context_expr)}{name}"


def _inside(body: list[ast.stmt]) -> Iterator[str]:
    return (f"{INDENT}{line}" for stmt in body for line in _lines(stmt))


def _otherwise(body: list[ast.stmt], chained: bool) -> Iterator[str]:
    if chained and len(body) == 1 and isinstance(body[0], ast.If):
        first, *rest = _lines(body[0])
        yield from [f"el{first}", *rest]
    elif body:
        yield "else:"
        yield from _inside(body)


def _arguments(node: ast.arguments) -> str:
    """Parameters with their defaults."""
    plain = [*node.posonlyargs, *node.args]
    first = len(plain) - len(node.defaults)
    shown = [_argument(arg, node.defaults[k - first] if k >= first else None) for k, arg in enumerate(plain)]
    if node.posonlyargs:
        shown.insert(len(node.posonlyargs), "/")
    if node.vararg or node.kwonlyargs:
        shown.append(f"*{_argument(node.vararg, None) if node.vararg else ''}")
    shown += map(_argument, node.kwonlyargs, node.kw_defaults)
    return ", ".join([*shown, *([f"**{_argument(node.kwarg, None)}"] if node.kwarg else [])])


def _argument(node: ast.arg, default: ast.expr | None) -> str:
    kind = "" if node.annotation is None else f": {_text(node.annotation)}"
    return f"{node.arg}{kind}{'' if default is None else f'={_text(default)}'}"


def _aliases(names: list[ast.alias]) -> str:
    return ", ".join(each.name if each.asname is None else f"{each.name} as {each.asname}" for each in names)


def _returned(node: ast.Return) -> str:
    return "return" if node.value is None else f"return {_value(node.value)}"


def _raised(node: ast.Raise) -> str:
    cause = "" if node.cause is None else f" from {_text(node.cause)}"
    return "raise" if node.exc is None else f"raise {_text(node.exc)}{cause}"


def _asserted(node: ast.Assert) -> str:
    return f"assert {_text(node.test)}{'' if node.msg is None else f', {_text(node.msg)}'}"


def _annotated(node: ast.AnnAssign) -> str:
    return f"{_text(node.target)}: {_text(node.annotation)}{'' if node.value is None else f' = {_value(node.value)}'}"


STATEMENTS: dict[type, Callable[[Any], str]] = {
    ast.Assign: lambda node: "".join(f"{_value(each)} = " for each in node.targets) + _value(node.value),
    ast.AugAssign: lambda node: f"{_text(node.target)} {BINARY[type(node.op)][0]}= {_value(node.value)}",
    ast.AnnAssign: _annotated, ast.Return: _returned, ast.Raise: _raised, ast.Assert: _asserted,
    ast.Expr: lambda node: _value(node.value),
    ast.Pass: lambda node: "pass", ast.Break: lambda node: "break", ast.Continue: lambda node: "continue",
    ast.Delete: lambda node: f"del {_list(node.targets)}",
    ast.Import: lambda node: f"import {_aliases(node.names)}",
    ast.ImportFrom: lambda node: f"from {'.' * node.level}{node.module or ''} import {_aliases(node.names)}",
}
