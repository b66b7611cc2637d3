"""The functions of the module `operator`: what the operators mean, of objects and sequences as of numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..branches.conditions import negated, truth
from ..operators import BINARY, COMPARE, UNARY, binary, compare, contains, unary
from ..subscripts import subscript

if TYPE_CHECKING:
    from ..reader import Reader


def _binary(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda reader, left, right, /: binary(reader, function, left, right)


def _unary(function: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda reader, operand, /: unary(reader, function, operand)


def _compared(op: Any) -> Callable[..., Any]:
    return lambda reader, left, right, /: compare(reader, op, left, right)


def _not(reader: Reader, value: Any, /) -> Any:
    return negated(reader, truth(reader, value))


OPERATORS: dict[Any, Callable[..., Any]] = {
    **{function: _binary(function) for function in BINARY.values()},
    **{function: _unary(function) for function in UNARY.values()},
    **{function: _compared(kind()) for kind, function in COMPARE.items()},
    operator.getitem: subscript,
    operator.contains: contains,
    operator.truth: truth,
    operator.not_: _not,
}
