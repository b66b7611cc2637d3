"""What kernels tell of errors: a kernel cannot raise, so it leaves a number, and the driver raises.

    status = cp.zeros(3, np.int64)
    fill_y[over_threads(n)](n, k, x, y, status)
    code = status[0].item()
    if code == 1:
        raise IndexError("index", status[1].item(), "is out of bounds for axis 0 with size", status[2].item())

A thread that finds an error ends; the first one is told. Texts with numbers in them, but for those of places, are left
to the driver, which then runs the iterations itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.grammar import Effect, Var
from ...core.types import ArrayType
from ...write.effects import PLAIN
from ...write.layout import Group, Item, Line
from ...write.numbers import number
from ..expand.checks import CHECK, printed
from ..nest.nest_walk import statements
from ..nest.nests import Block
from ..printing.hosted import is_fixed

WORDS = 3                              # of the status: which error, a place, and the size that it is not in


def is_told(stmt: Any) -> bool:
    """Whether a kernel can find an error, and tell it."""
    return isinstance(stmt, Effect) and (stmt.kind == CHECK or is_fixed(stmt))


def may_fail(block: Block) -> bool:
    return any(isinstance(stmt, Effect) for stmt in statements(block))


def status() -> Var:
    return Var(ArrayType(np.dtype(np.int64), (WORDS,)), "status")


class Telling:
    """The errors of one kernel; `inside` prints expressions in the driver."""

    def __init__(self, name: str, inside: Any) -> None:
        self.name, self.inside = name, inside
        self.errors: dict[str, tuple[int, Item]] = {}

    def found(self, e: Any, stmt: Effect) -> list[Item]:
        """The statements of a kernel where an error may be; `e` prints expressions there."""
        lines: list[Item] = [Line(ast.Return(None), stmt.origin)]
        code = self._code(stmt)
        first = ast.parse(f"cuda.atomic.compare_and_swap({self.name}, 0, {code}) == 0", mode="eval").body
        if stmt.kind == CHECK:
            (group,) = printed(e, stmt)
            assert isinstance(group, Group)
            k, size = map(e.atom, stmt.args)
            places = [Line(ast.Assign([ast.Subscript(ast.Name(self.name), number(at))], tree), stmt.origin)
                      for at, tree in ((1, k), (2, size))]
            return [Group(group.head, [Group(ast.If(first, [], []), [*places]), *lines], [], stmt.origin)]
        lines.insert(0, Line(ast.Expr(first.left), stmt.origin))         # type: ignore[attr-defined]
        if stmt.kind == "assert":
            return [Group(ast.If(ast.UnaryOp(ast.Not(), e.atom(stmt.args[0])), [], []), lines, [], stmt.origin)]
        return lines

    def _code(self, stmt: Effect) -> int:
        """The number of an error; of the same one, if there is one with this text at this place."""
        raised = self._raised(stmt)
        text = f"{ast.unparse(ast.fix_missing_locations(raised))} {stmt.origin}"
        return self.errors.setdefault(text, (len(self.errors) + 1, Line(raised, stmt.origin)))[0]

    def _raised(self, stmt: Effect) -> Any:
        if stmt.kind == CHECK:
            where, (k, size) = f"is out of bounds for axis {stmt.attrs['axis']} with size", (
                f"{self.name}[{at}].item()" for at in (1, 2))
            return ast.parse(f'raise IndexError("index", {k}, "{where}", {size})').body[0]
        made: Any = PLAIN[stmt.kind](stmt, self.inside)
        if isinstance(made, ast.Assert):
            made = ast.Raise(ast.Call(ast.Name("AssertionError"), [made.msg] if made.msg else [], []), None)
        return made

    def before(self) -> Item:
        return Line(ast.parse(f"{self.name} = cp.zeros({WORDS}, np.int64)").body[0])

    def after(self, code: str) -> Iterable[Item]:
        """What the driver does when the kernel has run."""
        yield Line(ast.parse(f"{code} = {self.name}[0].item()").body[0])
        for k, raised in self.errors.values():
            yield Group(ast.If(ast.Compare(ast.Name(code), [ast.Eq()], [number(k)]), [], []), [raised])
