"""How deep a recursion is: functions that call themselves count it, as the memory for calls has an end.

    def power(x, n, depth):
        if depth > 2000:
            raise RecursionError("maximum recursion depth exceeded")
        …
            value = power(x, n - 1, depth + 1)
"""

from __future__ import annotations

import ast
from typing import Any

from ...core.grammar import Function, Var
from ...core.types import INT
from ...core.walk import calls_itself
from ...write.layout import Group, Item, Line
from ...write.numbers import number

DEEPEST = 2000


class Depth:
    """Of the function that is being printed."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.name = ""

    def param(self, names: Any) -> list[str]:
        """The parameter that counts, if it is needed."""
        if calls_itself(self.function):
            self.name = names.give(Var(INT), "depth")
        return [self.name] if self.name else []

    def test(self) -> list[Item]:
        if not self.name:
            return []
        error = ast.Call(ast.Name("RecursionError"), [ast.Constant("maximum recursion depth exceeded")], [])
        test = ast.Compare(ast.Name(self.name), [ast.Gt()], [number(DEEPEST)])
        return [Group(ast.If(test, [], []), [Line(ast.Raise(error, None), self.function.origin)])]

    def deeper(self, callee: Function) -> list[ast.expr]:
        """What a function that is called gets for its parameter."""
        if not calls_itself(callee):
            return []
        return [ast.BinOp(ast.Name(self.name), ast.Add(), number(1)) if self.name else number(1)]
