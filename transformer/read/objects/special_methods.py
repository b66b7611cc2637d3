"""Operators that the class of an operand defines: `a + b` is `a.__add__(b)`, else `b.__radd__(a)`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ...core.errors import raised_as
from ...core.sizes import Size
from ...ops.value import Value
from ..kinds import python_type
from ..lists.recorded import RecordedList
from ..values import UNKNOWN, Text

if TYPE_CHECKING:
    from ..reader import Reader

METHODS = {
    operator.add: "add",
    operator.sub: "sub",
    operator.mul: "mul",
    operator.truediv: "truediv",
    operator.floordiv: "floordiv",
    operator.mod: "mod",
    operator.pow: "pow",
    operator.matmul: "matmul",
    operator.and_: "and",
    operator.or_: "or",
    operator.xor: "xor",
    operator.lt: "lt",
    operator.le: "le",
    operator.gt: "gt",
    operator.ge: "ge",
    operator.eq: "eq",
    operator.ne: "ne",
    operator.lshift: "lshift",
    operator.rshift: "rshift",
    operator.neg: "neg",
    operator.pos: "pos",
    operator.invert: "invert",
}
MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}

OURS = (Value, Size, Text, RecordedList)


def users_special(value: Any, name: str) -> Any:
    """A method of a user's class with a meaning in Python's language, a Python function; else None."""
    if isinstance(value, OURS):
        return None
    found = getattr(type(value), name, None)
    return found if hasattr(found, "__code__") else None


def users_unary(function: Any, operand: Any) -> Any:
    """The method of the operand's class that an operator runs, if the user wrote one."""
    return users_special(operand, f"__{METHODS[function]}__") if function in METHODS else None


def answered_by_class(reader: Reader, function: Any, left: Any, right: Any) -> Any:
    """What the methods of the operands' classes make of `left op right`; UNKNOWN where the user wrote none."""
    if function not in METHODS or isinstance(left, Value) and isinstance(right, Value):
        return UNKNOWN
    asked = False
    for method, args in _methods(METHODS[function], left, right):
        answer = reader.call(method, args, {})
        if answer is not NotImplemented:
            return answer
        asked = True
    return _declined(reader, function, left, right) if asked else UNKNOWN


def _methods(name: str, left: Any, right: Any) -> Iterator[tuple[Callable[..., Any], tuple[Any, Any]]]:
    """Whom Python asks, one after the other. The more special class comes first where it compares, or has a mirrored
    method of its own; of operands of one class, the left one computes or none does."""
    compares, other = name in MIRRORED, f"__{MIRRORED.get(name, f'r{name}')}__"
    own = users_special(left, f"__{name}__")
    mirrored = None if _is_taken(left, right) else users_special(right, other)
    if type(right) is type(left) and not compares:
        mirrored = None
    ways = [(own, (left, right)), (mirrored, (right, left))]
    if _is_more_special(right, left) and (compares or users_special(left, other) is not mirrored):
        ways.reverse()
    return ((method, args) for method, args in ways if method is not None)


def _is_more_special(value: Any, other: Any) -> bool:
    return type(value) is not type(other) and isinstance(value, type(other))


def _is_taken(left: Any, right: Any) -> bool:
    """Whether a number on the left computes with the right one as a number, of a class derived from Python's ones, too:
    NumPy's do with all, and Python's with those that need no wider kind."""
    kind: Any = python_type(left)
    narrower = {complex: (int, float, complex), float: (int, float), int: (int,)}.get(kind, (int, float, complex))
    return isinstance(left, Value) and isinstance(right, narrower) and not isinstance(right, kind)


def _declined(reader: Reader, function: Any, left: Any, right: Any) -> Any:
    """What Python does where all that were asked gave NotImplemented: an object is equal to itself alone."""
    from ..operators import is_one

    if function in (operator.eq, operator.ne):
        return is_one(reader, left, right) == (function is operator.eq)
    kinds = " and ".join(repr(python_type(side).__name__) for side in (left, right))
    raise raised_as(TypeError, f"unsupported operands for {METHODS[function]}: {kinds}", reader.builder.origin)
