"""Functions of arrays called with abstract values: what they emit, and what NumPy makes of that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from op_cases import evaluate, statements, type_of_value

from transformer.core.builder import Builder
from transformer.core.grammar import Function, Var
from transformer.core.guards import Assumptions
from transformer.core.sizes import Dim, Size, Unknown
from transformer.core.types import INT
from transformer.ops.value import Value


class Reading:
    """Arguments as values, and what a function of them emits.

    Axes longer than 1 have each a name if `symbolic`. Integers are arguments of the call that is
    read, or, if `hidden`, integers of which nothing is known.
    """

    def __init__(self, *arguments: Any, symbolic: bool = False, hidden: bool = False) -> None:
        self.arguments = arguments
        self.hints: dict[Any, int] = {}
        self.values = [self._value(x, symbolic, hidden) for x in arguments]
        self.builder = Builder(Assumptions(self.hints, smallest=2 if symbolic else 0))

    def _value(self, x: Any, symbolic: bool, hidden: bool) -> Value:
        if isinstance(x, int):
            var = Var(INT, is_parameter=not hidden)
            if not hidden:
                self.hints[Unknown(var)] = x
            return Value(var)
        type = type_of_value(x)
        if symbolic:
            type = type.with_sizes(tuple(map(self._dim, type.sizes)))
        return Value(Var(type, is_parameter=True))

    def _dim(self, length: int) -> Any:
        if length < 2:
            return length
        dim = Dim(f"n{len(self.hints)}")
        self.hints[dim] = length
        return Size.of(dim)

    def emitted(self, function: Callable[..., Value]) -> Value:
        with self.builder.active():
            return function(*self.values)

    def run(self, result: Value) -> Any:
        """The result by NumPy; every type on the way is compared with what there is."""
        params = [value.atom for value in self.values]
        function = Function("f", params, self.builder.block, [result.atom])
        return evaluate(function, self.arguments, self.hints)[0]

    def names(self) -> list[str]:
        """The names of the ops that were emitted."""
        return [stmt.op.name for stmt in statements(self.builder.block)]

    def shape(self, result: Value) -> tuple[Any, ...]:
        with self.builder.active():
            return result.shape


def agrees(function: Callable[..., Any], *arguments: Any, **kinds: bool) -> Reading:
    """Emits the function of the arguments and compares its result with NumPy's."""
    reading = Reading(*arguments, **kinds)
    result = reading.emitted(function)
    expected = function(*arguments)
    found = reading.run(result)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_array_equal(found, expected)
    return reading
