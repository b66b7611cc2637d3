"""What the driver of a function compiled for a GPU does: kernels that it launches, calls of CuPy, and where it waits.

    refused: 2 kernels, 2 arrays made, waits in 1 place
      line 3  kernel  fill_number[one_block()](n, x, number)
      line 3  waits   if number[0].item():
      line 5  kernel  fill_total[over_threads(n)](n, total, x)
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...core.errors import Origin
from ...write.layout import Group, Item, Line
from ..report import counted, ranges

WAITING = "item", "asnumpy", "get"      # methods and functions that wait for the device
MAKING = "empty", "empty_like", "zeros"
WIDEST = 96


@dataclass(frozen=True)
class Step:
    """Something that a driver asks for. `kind` is ``"kernel"``, ``"library"`` (a call of CuPy) or ``"waits"``, `depth`
    in how many loops and branches it is, `in_loop` whether it is done again and again; `origins` are the places in the
    program that it comes from."""

    kind: str
    text: str
    depth: int
    in_loop: bool
    origins: tuple[Origin, ...]


@dataclass(repr=False)
class GpuReport:
    """What the driver of `name` does, in its order. `kernels` are the names of the kernels, `made` is how many arrays
    it makes outside of loops; `refusal` is why the function runs as NumPy instead."""

    name: str
    steps: list[Step] = field(default_factory=list)
    kernels: list[str] = field(default_factory=list)
    made: int = 0
    refusal: str | None = None

    @property
    def launches(self) -> int | None:
        """How many kernels a call launches; None where that depends on values."""
        found = [step for step in self.steps if step.kind == "kernel"]
        return None if any(step.depth for step in found) else len(found)

    @property
    def waits(self) -> list[Step]:
        """Where the program waits for the device."""
        return [step for step in self.steps if step.kind == "waits"]

    def __str__(self) -> str:
        if self.refusal is not None:
            return f"{self.name} runs as NumPy: {self.refusal}"
        often = "" if self.launches is None or self.launches == len(self.kernels) else f" in {self.launches} launches"
        waits = f"waits in {counted(len(self.waits), 'place')}" if self.waits else "nothing waits"
        kernels, made = counted(len(self.kernels), "kernel"), counted(self.made, "array")
        head = f"{self.name}: {kernels}{often}, {made} made, {waits}"
        files = Counter(origin.file for step in self.steps for origin in step.origins)
        own = max(files, key=files.__getitem__, default="")
        rows = [(lines_text(step.origins, own), step.kind + " in a loop" * step.in_loop, step.text)
                for step in self.steps]
        widths = [max((len(row[k]) for row in rows), default=0) for k in range(2)]
        return "\n".join([head, *(f"  {line.rjust(widths[0])}  {kind.ljust(widths[1])}  {text[:WIDEST]}"
                                  for line, kind, text in rows)])

    __repr__ = __str__


def report_on_driver(name: str, printed: Any) -> GpuReport:
    """The report on a driver as it was printed."""
    report = GpuReport(name, kernels=sorted(printed.tasks))
    for item, depth, in_loop in _items(printed.tree.body):
        node = item.head if isinstance(item, Group) else item.node
        whole = ast.fix_missing_locations(node)
        kind = _kind(whole, printed.tasks)
        if kind is not None:
            report.steps.append(Step(kind, ast.unparse(whole).split("\n")[0], depth, in_loop,
                                     tuple(_origins(item, whole, printed.origins))))
        report.made += not in_loop and any(_called(each) in MAKING for each in ast.walk(whole))
    return report


def _items(items: list[Item], depth: int = 0, in_loop: bool = False) -> Iterator[tuple[Any, int, bool]]:
    """The statements of a driver, with how deep they are, and whether they are in a loop; of those that have others in
    them, first what is tested."""
    for item in items:
        if isinstance(item, Line):
            yield item, depth, in_loop
        elif isinstance(item, Group):
            loops = isinstance(item.head, (ast.For, ast.While))
            yield item, depth, in_loop or isinstance(item.head, ast.While)
            yield from _items([*item.body, *item.orelse], depth + 1, in_loop or loops)


def _kind(node: ast.AST, tasks: set[str]) -> str | None:
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    launched = [call.func.value for call in calls if isinstance(call.func, ast.Subscript)]
    if any(isinstance(name, ast.Name) and name.id in tasks for name in launched):
        return "kernel"
    if any(_called(call) in WAITING for call in calls):
        return "waits"
    named = [ast.unparse(call.func) for call in calls if _called(call) not in MAKING]
    return "library" if any(each.startswith("cp.") for each in named) else None


def _called(node: ast.AST) -> str | None:
    """The last part of the name of what is called."""
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None


def _origins(item: Any, node: ast.AST, of_kernels: Mapping[str, Iterable[Origin]]) -> Iterator[Origin]:
    """The places of a statement, and those of what a kernel does that it launches."""
    if item.origin is not None:
        yield item.origin
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            yield from of_kernels.get(each.id, ())


def lines_text(origins: Iterable[Origin], file: str) -> str:
    """`line 3`, `lines 3-5, 8`: those in a file."""
    lines = sorted({origin.line for origin in origins if origin.file == file})
    return f"line{'s' * (len(lines) > 1)} {', '.join(ranges(lines))}" if lines else ""
