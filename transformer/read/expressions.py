"""Expressions: names, constants, operators, comparisons, attributes, calls, displays."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import gast

from ..core.errors import BadArgument, TransformError, raised_as
from ..ops.value import Value
from .branches.bound import certainly_bound
from .branches.branches import Unreachable, choose
from .branches.conditions import condition, is_safe, joined, truth
from .branches.or_none import Early, early, implied
from .frames import Unbound, load
from .kinds import type_name
from .lists.recorded import RecordedList
from .loops.folds import extreme_of_more
from .objects.attributes import attribute
from .objects.containers import iterated
from .objects.keys import ITEM, KEY, hashed
from .operators import BINARY, UNARY, binary, compare, unary
from .raising.errors import as_user_error
from .values import ABSENT

if TYPE_CHECKING:
    from .reader import Reader


def read_name(reader: Reader, node: Any) -> Any:
    try:
        return certainly_bound(reader, load(reader, reader.frame, node.id), node.id)
    except Unbound:
        if reader.may_be_bound_later(node.id):
            raise Unreachable from None
        raise unbound(reader, node.id) from None


def unbound(reader: Reader, name: str) -> TransformError:
    """What Python raises for a name that has no value yet."""
    missing = "where it is not associated with a value"
    if name in reader.frame.scope.bound:
        return raised_as(UnboundLocalError, f"cannot access local variable {name!r} {missing}", reader.builder.origin)
    message = f"cannot access free variable {name!r} {missing} in enclosing scope"
    return raised_as(NameError, message, reader.builder.origin)


def read_constant(reader: Reader, node: Any) -> Any:
    return node.value


def read_binary(reader: Reader, node: Any) -> Any:
    left, right = reader.evaluate(node.left), reader.evaluate(node.right)
    if _is_complex_literal(node, left, right):
        return BINARY[type(node.op)](left, right)
    return binary(reader, BINARY[type(node.op)], left, right)


def _is_complex_literal(node: Any, left: Any, right: Any) -> bool:
    """``2 + 3j``."""
    return (
        isinstance(node.right, gast.Constant)
        and type(right) is complex
        and type(left) in (int, float)
        and isinstance(node.op, gast.Add | gast.Sub)
    )


def read_unary(reader: Reader, node: Any) -> Any:
    if isinstance(node.op, gast.Not):
        return condition(reader, node)
    operand = reader.evaluate(node.operand)
    function = UNARY[type(node.op)]
    if type(operand) in (int, float, complex):
        return function(operand)
    return unary(reader, function, operand)


def read_compare(reader: Reader, node: Any) -> Any:
    left = reader.evaluate(node.left)
    return _chain(reader, left, list(node.ops), list(node.comparators))


def _chain(reader: Reader, left: Any, ops: list[Any], nodes: list[Any]) -> Any:
    """``a < b < c`` is ``a < b and b < c`` with `b` evaluated once."""
    right = reader.evaluate(nodes[0])
    result = compare(reader, ops[0], left, right)
    if len(ops) == 1:
        return result
    cond = truth(reader, result)
    if not isinstance(cond, Value):
        return _chain(reader, right, ops[1:], nodes[1:]) if cond else result
    rest = lambda: _chain(reader, right, ops[1:], nodes[1:])  # noqa: E731
    if all(map(is_safe, nodes[1:])):
        with suppress(Early):
            other = early(reader, implied(reader, cond.atom, True), lambda: truth(reader, rest()))
            return joined(reader, cond, other, True)
    return choose(reader, cond, rest, lambda: result)


def read_attribute(reader: Reader, node: Any) -> Any:
    return certainly_bound(reader, attribute(reader, reader.evaluate(node.value), node.attr))


def read_call(reader: Reader, node: Any) -> Any:
    if isinstance(node.func, gast.Name) and node.func.id == "super" and not node.args:
        return _super(reader)
    function = reader.evaluate(node.func)
    if (function is min or function is max) and _may_be_many(node):
        return _extreme(reader, function, node.args)
    args = positional(reader, node.args)
    kwargs = keywords(reader, node.keywords)
    return reader.call(function, args, kwargs)


def _extreme(reader: Reader, function: Any, nodes: list[Any]) -> Any:
    """``max(a, *items)``, where only the program may know how many items there are."""
    args, items = [reader.evaluate(node) for node in nodes[:-1]], reader.evaluate(nodes[-1].value)
    if isinstance(items, RecordedList) and not isinstance(items.length(reader), int):
        return extreme_of_more(reader, function, args, items)
    return reader.call(function, (*args, *iterated(reader, items)), {})


def _may_be_many(node: Any) -> bool:
    """Whether there are arguments and items of something behind them, as in ``max(a, *items)``."""
    starred = [isinstance(arg, gast.Starred) for arg in node.args]
    return len(starred) > 1 and starred[-1] and not any(starred[:-1]) and not node.keywords


def positional(reader: Reader, nodes: list[Any]) -> tuple[Any, ...]:
    """Arguments or items, with what is starred in its place."""
    values: list[Any] = []
    for node in nodes:
        if isinstance(node, gast.Starred):
            values += iterated(reader, reader.evaluate(node.value))
        else:
            values.append(reader.evaluate(node))
    return tuple(values)


def keywords(reader: Reader, nodes: list[Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for node in nodes:
        value = reader.evaluate(node.value)
        if node.arg is None and not isinstance(value, Mapping):
            message = f"argument after ** must be a mapping, not {type_name(value)}"
            raise BadArgument(message, reader.frame.origin(node.value))
        values.update({node.arg: value} if node.arg else value)
    return values


def _super(reader: Reader) -> Any:
    frame = reader.frame
    cell = next((each.cells["__class__"] for each in frame.lineage() if "__class__" in each.cells), None)
    if cell is None or frame.first is ABSENT:
        raise raised_as(RuntimeError, "super(): no arguments", reader.builder.origin)
    return super(cell.cell_contents, frame.first)


def read_tuple(reader: Reader, node: Any) -> Any:
    return positional(reader, node.elts)


def read_list(reader: Reader, node: Any) -> Any:
    return reader.own(list(positional(reader, node.elts)))


def read_set(reader: Reader, node: Any) -> Any:
    items = [hashed(reader, item, ITEM, "Use a list.") for item in positional(reader, node.elts)]
    with as_user_error(reader):
        return reader.own(set(items))


def read_dict(reader: Reader, node: Any) -> Any:
    made: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values):
        if key is None:
            made.update(reader.evaluate(value))
        else:
            found = reader.evaluate(key)
            with reader.builder.at(reader.frame.origin(key)):
                found = hashed(reader, found, KEY)
            made[found] = reader.evaluate(value)
    return reader.own(made)


def read_walrus(reader: Reader, node: Any) -> Any:
    from .assignment import bind

    value = reader.evaluate(node.value)
    bind(reader, node.target, value)
    return value


def read_starred(reader: Reader, node: Any) -> Any:
    raise TransformError("can't use starred expression here", reader.builder.origin)


EXPRESSIONS = {
    gast.Name: read_name,
    gast.Constant: read_constant,
    gast.BinOp: read_binary,
    gast.UnaryOp: read_unary,
    gast.Compare: read_compare,
    gast.Attribute: read_attribute,
    gast.Call: read_call,
    gast.Tuple: read_tuple,
    gast.List: read_list,
    gast.Set: read_set,
    gast.Dict: read_dict,
    gast.NamedExpr: read_walrus,
    gast.Starred: read_starred,
}
