"""Conditions: `if`, `x if c else y`, `and`, `or`, `not`, and the truth of a value."""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ...core.errors import NotSupported, ShapeError, TransformError
from ...core.sizes import Size
from ...ops.value import Value
from ..calls.applying import apply_op, emit_named
from ..kinds import described
from ..lists.list_demands import WantsOpen
from ..lists.recorded import RecordedList, Recording
from ..operators import binary, on_sizes
from ..raising.demand import Unroll, need
from ..values import UNKNOWN, Conflict, DynamicRange, OrNone, known_of
from .branches import choose
from .or_none import Early, early, implied
from .testing import Untested

if TYPE_CHECKING:
    from ..reader import Reader


def read_if(reader: Reader, node: Any) -> None:
    cond = condition(reader, node.test)
    branch(reader, cond, lambda: reader.execute(node.body), lambda: reader.execute(node.orelse))


def read_conditional(reader: Reader, node: Any) -> Any:
    cond = condition(reader, node.test)
    return branch(reader, cond, lambda: reader.evaluate(node.body), lambda: reader.evaluate(node.orelse))


def condition(reader: Reader, node: Any) -> Any:
    """The truth of an expression of which nothing else is used: `a and b` may be numbers of two types in it."""
    with reader.builder.at(reader.frame.origin(node)):
        match node:
            case gast.BoolOp():
                return _decided(reader, node, list(node.values), isinstance(node.op, gast.And), condition)
            case gast.UnaryOp(op=gast.Not()):
                return negated(reader, condition(reader, node.operand))
        return truth(reader, reader.evaluate(node))


def branch(reader: Reader, cond: Any, then: Callable[[], Any], orelse: Callable[[], Any],
           since: int | None = None) -> Any:
    """Reads one side if the condition is known, as it is in a branch on the same one, else both."""
    known = reader.facts.get(cond.atom, cond) if isinstance(cond, Value) else cond
    if isinstance(known, Value):
        return choose(reader, known, then, orelse, since)
    return then() if known else orelse()


def truth(reader: Reader, value: Any) -> Any:
    """The truth of a value: a bool, or a `Value` of type bool."""
    known = known_of(value)
    if known is not UNKNOWN and not isinstance(value, (RecordedList, Recording, DynamicRange)):
        return _static_truth(reader, known)
    if isinstance(value, OrNone):
        return _one_there(reader, value)
    if isinstance(value, Size):
        decided = on_sizes(reader, operator.ne, value, 0)
        return apply_op(reader, operator.ne, (value, 0), {}) if decided is UNKNOWN else decided
    if isinstance(value, (RecordedList, Recording)):
        return truth(reader, binary(reader, operator.gt, value.length(reader), 0))
    if not isinstance(value, Value):
        return need(reader, value, f"the truth value of {described(value)}")
    return _dynamic_truth(reader, value)


def _one_there(reader: Reader, value: OrNone) -> Any:
    """The truth of what may be None: that it is there, and true."""
    def read() -> Any:
        return truth(reader, reader.usable(value.item))

    try:
        return joined(reader, value.there, early(reader, {value.there.atom: True}, read), True)
    except Early:
        return choose(reader, value.there, read, lambda: False)


def _static_truth(reader: Reader, value: Any) -> bool:
    user = getattr(type(value), "__bool__", None)
    if hasattr(user, "__code__"):
        return truth(reader, reader.call(user, (value,), {}))
    length = getattr(type(value), "__len__", None)
    if user is None and hasattr(length, "__code__"):
        return truth(reader, reader.call(length, (value,), {}))
    return bool(value)


def _dynamic_truth(reader: Reader, value: Value) -> Value:
    if value.ndim:
        if not all(size == 1 for size in value.shape):
            raise ShapeError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()",
                reader.builder.origin,
            )
        value = apply_op(reader, operator.getitem, (value, (0,) * value.ndim), {})
    if value.dtype.kind == "b":
        return value
    return apply_op(reader, operator.ne, (value, 0), {})


def negated(reader: Reader, cond: Any) -> Any:
    return apply_op(reader, operator.not_, (cond,), {}) if isinstance(cond, Value) else not cond


def read_bool_op(reader: Reader, node: Any) -> Any:
    """`a and b and c`: the rest is read only where what stands before does not decide."""
    is_and = isinstance(node.op, gast.And)
    return _decided(reader, node, list(node.values), is_and, lambda _, operand: reader.evaluate(operand))


def _decided(reader: Reader, node: Any, operands: list[Any], is_and: bool, read: Callable[[Reader, Any], Any]) -> Any:
    first = read(reader, operands[0])
    if len(operands) == 1:
        return first
    cond = truth(reader, first)
    if not isinstance(cond, Value):
        return _decided(reader, node, operands[1:], is_and, read) if cond == is_and else first
    rest_of = lambda: _decided(reader, node, operands[1:], is_and, read)  # noqa: E731
    if all(map(is_safe, operands[1:])) and _is_truth(first):
        with suppress(Early):
            rest = early(reader, implied(reader, cond.atom, is_and), rest_of)
            if _is_truth(rest):
                return joined(reader, first, rest, is_and)
            return _one_of(reader, cond, first, rest, is_and)
    return choose(reader, cond, rest_of, lambda: first) if is_and else choose(reader, cond, lambda: first, rest_of)


def _one_of(reader: Reader, cond: Value, first: Any, rest: Any, is_and: bool) -> Any:
    then, orelse = (rest, first) if is_and else (first, rest)
    return choose(reader, cond, lambda: then, lambda: orelse)


def _is_truth(value: Any) -> bool:
    dynamic = isinstance(value, Value) and not value.ndim and value.dtype.kind == "b"
    return dynamic or isinstance(value, (bool, np.bool_))


def joined(reader: Reader, one: Any, other: Any, is_and: bool) -> Any:
    """`one and other` of truth values that are both at hand."""
    for value, rest in ((one, other), (other, one)):
        if isinstance(value, (bool, np.bool_)):
            return rest if value == is_and else value
    name, spelling = ("logical_and", "and") if is_and else ("logical_or", "or")
    return emit_named(name, (one, other), spelling)


def is_safe(node: Any) -> bool:
    """Whether an expression may be evaluated early: it has no effect and raises nothing."""
    match node:
        case gast.Constant():
            return True
        case gast.Name():
            return True
        case gast.Compare():
            plain = not any(isinstance(op, gast.In | gast.NotIn) for op in node.ops)
            return plain and all(map(is_safe, [node.left, *node.comparators]))
        case gast.BoolOp():
            return all(map(is_safe, node.values))
        case gast.UnaryOp():
            return is_safe(node.operand)
        case gast.BinOp(op=gast.Add() | gast.Sub() | gast.Mult()):
            return is_safe(node.left) and is_safe(node.right)
        case gast.Call(func=gast.Name(id="abs")):
            return all(map(is_safe, node.args)) and not node.keywords
    return False


def conflict_error(reader: Reader, conflict: Conflict) -> Exception:
    """What is raised where a value is used that depends on the path."""
    kind = NotSupported if conflict.place is None else partial(Untested, conflict.place)
    refusal = kind(
        conflict.message,
        conflict.origin or reader.builder.origin,
        why="It is used afterwards, so its type and structure must be the same on all paths.",
        instead=conflict.instead,
    )
    if conflict.cond is not None and refusal.origin is not None:
        reader.refused.forks[refusal] = refusal.origin, conflict.mentioned or ""
    by_size = isinstance(refusal, Untested) and refusal.place in reader.tested
    if (by_size or conflict.by_length) and reader.loops and not reader.loops[-1].is_open:
        return Unroll(reader.loops[-1].plan.key, refusal)            # which carries sizes then
    if conflict.list is not None and reader.loops and reader.made_before(conflict.list, reader.loops[-1].made):
        return WantsOpen(conflict.list, conflict.sampled, refusal)
    if conflict.loop is not None:
        reader.refused.loops[refusal] = conflict.loop
        return Unroll(conflict.loop, refusal, conflict.first_apart)
    if conflict.cond is not None:
        try:
            need(reader, conflict.cond, "the condition of this branch")
        except TransformError:
            return refusal
        except Exception as request:  # a Demand or an Unroll with the better message
            request.refusal = refusal  # type: ignore[attr-defined]
            return request
    return refusal


STATEMENTS = {gast.If: read_if}
EXPRESSIONS = {gast.IfExp: read_conditional, gast.BoolOp: read_bool_op}
