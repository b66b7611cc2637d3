"""The parts of a kernel in their order: nests, loops of the program around them, and what libraries and Python do.

    for k in range(steps)                       a loop of the program, with the parts in it below
        for i in range(n): for j in range(m)    a nest, with what it costs in a call
        product of matrices, in BLAS
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..core.errors import Origin
from ..core.grammar import Call, Effect, If, Let, Loop
from ..lower.nest.nest_walk import inner_blocks, statements
from ..lower.nest.nests import Fold, Library, Nest, Product, Task
from ..lower.printing.hosted import NAMES, is_fixed
from ..write.expressions import spelled
from ..write.layout import Group, Line, spans
from .compiling.assembly import Arithmetic
from .costs import Cost, Costs

NESTS = Nest, Fold, Task


@dataclass
class Row:
    """A part of a kernel: `text` is the head of its loops as they are printed, or what is called, `depth` how many
    loops of the program are around it, `origins` the places in the user's source that it computes,
    `cost` what it costs in a call. `arithmetic` is what stands in its machine code; None where that cannot
    be told. `threads` says how it is shared; empty where it is not."""

    text: str
    depth: int
    origins: list[Origin]
    cost: Cost
    is_nest: bool = False
    arithmetic: Arithmetic | None = None
    threads: str = ""
    first: int = 0
    last: int = 0
    task: str = ""


class Rows:
    """Makes the rows of a kernel. `start` is the line of its function in the module."""

    def __init__(self, kernel: Any, hints: Mapping[Any, int], start: int) -> None:
        self.lowered, self.printed = kernel.lowered, kernel.printed
        self.costs = Costs(hints)
        self.lines = {id(item): (first, last) for item, first, last in spans([self.printed.tree], start)}

    def all(self) -> list[Row]:
        return list(self.block(self.lowered.body, 0, 1, True))

    def block(self, block: list[Any], depth: int, times: int, known: bool) -> Iterator[Row]:
        for stmt in block:
            if isinstance(stmt, (Loop, If, *NESTS)) and any(map(_is_part, _below(stmt))):
                yield self.around(stmt, depth)
                trips, counted = self.costs.trips(stmt)
                for inner in inner_blocks(stmt):
                    yield from self.block(inner, depth + 1, times * trips, known and counted)
            elif _is_part(stmt):
                yield self.row(stmt, depth, self.costs.of(stmt, times, known))

    def around(self, stmt: Any, depth: int) -> Row:
        """A loop or branch of which the parts have rows of their own."""
        return Row(self.head(stmt, False), depth, [stmt.origin] if stmt.origin else [], Cost())

    def row(self, stmt: Any, depth: int, cost: Cost) -> Row:
        first, last = self.place(stmt)
        row = Row(self.text(stmt), depth, origins_in(stmt), cost,
                  isinstance(stmt, (Loop, *NESTS)), first=first, last=last)
        if isinstance(stmt, Task):
            call: Any = self.printed.items[id(stmt)][0].node.value
            row.task, row.threads = call.args[0].id, "shared"
        return row

    def place(self, stmt: Any) -> tuple[int, int]:
        found = [self.lines[id(item)] for item in self.printed.items.get(id(stmt), ()) if id(item) in self.lines]
        return (found[0][0], found[-1][1]) if found else (0, 0)

    def text(self, stmt: Any) -> str:
        match stmt:
            case Product():
                return "product of matrices, in BLAS"
            case Library():
                return f"{spelled(Let(stmt.targets, stmt.op, stmt.args, stmt.attrs, stmt.origin))[0]}, in Python"
            case Effect():
                return f"{stmt.kind}, in Python"
            case Call():
                return f"call of {stmt.function.name}"
        return self.head(stmt, True)

    def head(self, stmt: Any, with_inner: bool) -> str:
        """`for i in range(n): for j in range(m)`."""
        if isinstance(stmt, Task):
            call: Any = self.printed.items[id(stmt)][0].node.value
            size = ast.unparse(ast.fix_missing_locations(call.args[1]))
            return self.head(stmt.nest, with_inner).replace("places(first, count)", f"range({size})", 1)
        groups = [item for item in self.printed.items.get(id(stmt), ()) if isinstance(item, Group)]
        return _head(groups[-1], with_inner) if groups else type(stmt).__name__.lower()


def _head(group: Group, with_inner: bool) -> str:
    head: Any = group.head
    kind = (f"for {ast.unparse(head.target)} in {ast.unparse(head.iter)}" if isinstance(head, ast.For) else
            f"while {_condition(group)}" if isinstance(head, ast.While) else f"if {ast.unparse(head.test)}")
    loops = [item for item in group.body if isinstance(item, Group) and isinstance(item.head, (ast.For, ast.While))]
    inner = " and ".join(_head(item, True) for item in loops) if with_inner else ""
    return f"{kind}: {inner}" if inner else kind


def _condition(group: Group) -> str:
    """What a loop goes on with, which begins with ``if not …: break``."""
    leave = next((item for item in group.body if isinstance(item, Group) and isinstance(item.head, ast.If)
                  and item.body and isinstance(item.body[0], Line) and isinstance(item.body[0].node, ast.Break)), None)
    test: Any = leave and leave.head.test
    return ast.unparse(test.operand) if isinstance(test, ast.UnaryOp) else "True"


def _is_part(stmt: Any) -> bool:
    """Whether a statement has a row."""
    if isinstance(stmt, Effect):
        return stmt.kind in NAMES and stmt.kind not in ("assert", "raise") and not is_fixed(stmt)
    return isinstance(stmt, (Loop, Product, Library, Call, *NESTS))


def _below(stmt: Any) -> Iterator[Any]:
    """The statements in a statement that have rows of their own: of a nest, only what others compute."""
    inside = [stmt.nest] if isinstance(stmt, Task) else [stmt]
    for each in statements([block for outer in inside for inner in inner_blocks(outer) for block in inner]):
        if not isinstance(stmt, NESTS) or isinstance(each, (Product, Library, Effect, Call)):
            yield each


def origins_in(stmt: Any) -> list[Origin]:
    """The places in the user's source that a statement and those in it come from."""
    found = [each.origin for each in statements([stmt]) if getattr(each, "origin", None) is not None]
    return list(dict.fromkeys(found))
