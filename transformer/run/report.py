"""What was compiled for a call: nests, what numba made of them, and what they cost."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import tree
from ..core.equations import value_of
from ..core.grammar import Const, Let, Loop
from ..core.sizes import Size, Unknown, leaves, replaced
from ..lower.nests import Load, Product, inner_blocks


@dataclass
class Report:
    """`nests` are the loops at the top of the kernel as they are printed, `vectorised` how many loops of the
    machine code work on several elements at once and `packed` the share of its floating point
    instructions that do; `read`, `written` are the bytes of the arguments and of the results,
    `operations` the arithmetic of one call as far as its loops are counted. `refusal` is why nothing was compiled."""

    name: str
    nests: list[str] = field(default_factory=list)
    vectorised: int = 0
    packed: float = 0.0
    read: int = 0
    written: int = 0
    operations: int = 0
    uncounted: list[str] = field(default_factory=list)
    refusal: str | None = None

    def __str__(self) -> str:
        if self.refusal is not None:
            return f"{self.name} runs as NumPy: {self.refusal}"
        lines = [f"{self.name}: {counted(len(self.nests), 'nest')}, {counted(self.vectorised, 'vectorised loop')}, "
                 f"{self.packed:.0%} of the floating point instructions are packed",
                 f"reads {size_text(self.read)}, writes {size_text(self.written)}, "
                 f"{self.operations:,} operations{' at least' * bool(self.uncounted)}",
                 *(f"  {nest}" for nest in self.nests)]
        return "\n".join([*lines, *(f"  not counted: {each}" for each in self.uncounted)])


def counted(number: int, noun: str) -> str:
    """
    >>> counted(1, "nest"), counted(2, "nest")
    ('1 nest', '2 nests')
    """
    return f"{number} {noun}{'s' * (number != 1)}"


def size_text(size: float) -> str:
    """
    >>> size_text(12), size_text(2.5e6)
    ('12 B', '2.5 MB')
    """
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def report_on(looped: Any, args: tuple[Any, ...], kwargs: dict[str, Any], hints: Mapping[Any, int], function: Any
              ) -> Report:
    """The report on a module of loops for a call; `hints` are the sizes of the call, `function` is compiled."""
    printed = looped.module.kernel.printed
    made = Report(looped.interface.name, nests=list(nests_in(printed.source, printed.name)))
    made.read = sum(leaf.nbytes for leaf in tree.leaves((args, kwargs)) if isinstance(leaf, np.ndarray))
    outside = looped.module.kernel.lowered.outside
    made.written = sum(_number(_product(target.type.sizes), hints) * target.type.dtype.itemsize for target in outside)
    counter = _Counter(hints)
    counter.block(looped.module.kernel.lowered.body, 1)
    made.operations, made.uncounted = counter.operations, counter.uncounted
    kernel = function.__globals__[printed.name]
    made.vectorised, made.packed = machine_code(kernel)
    return made


def nests_in(source: str, name: str) -> Iterator[str]:
    """The heads of the loops at the top of a function, with those inside: `for i in range(n): for j …`."""
    function = next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == name)
    for node in function.body:
        if isinstance(node, (ast.For, ast.While)):
            yield _head(node)


def _head(node: Any) -> str:
    kind = f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}" if isinstance(node, ast.For) else (
        f"while {ast.unparse(node.test)}")
    inner = [_head(each) for each in node.body if isinstance(each, (ast.For, ast.While))]
    text = " and ".join(inner)
    return f"{kind}: {text}" if text else kind


# -- arithmetic -----------------------------------------------------------------------------------


class _Counter:
    """Counts operations on numbers, as often as the loops around them run."""

    def __init__(self, hints: Mapping[Any, int]) -> None:
        self.hints = dict(hints)
        self.operations = 0
        self.uncounted: list[str] = []

    def block(self, block: list[Any], times: int) -> None:
        for stmt in block:
            if isinstance(stmt, Let) and stmt.op is not Load and stmt.op.elementwise:
                self.operations += times
            elif isinstance(stmt, Product):
                self.operations += 2 * times * self.extent(stmt.indices)
            inner = self.times(stmt, times)
            for each in inner_blocks(stmt):
                self.block(each, inner)

    def times(self, stmt: Any, times: int) -> int:
        if isinstance(stmt, Loop):
            trips = stmt.trips
            known = trips.value if isinstance(trips, Const) else self.size(trips)
            if known is None:
                self.uncounted.append(f"the iterations of the loop in line {getattr(stmt.origin, 'line', '?')}")
            return times * (1 if known is None else int(known))
        return times * self.extent(getattr(stmt, "indices", []))

    def extent(self, indices: list[Any]) -> int:
        total = 1
        for index in indices:
            size = self.size(index.size)
            total *= 1 if size is None else size
            self.hints[Unknown(index.var)] = (size or 0) // 2          # what depends on it: on average
        return total

    def size(self, size: Any) -> int | None:
        return size if isinstance(size, int) else value_of(size, self.hints) if isinstance(size, Size) else None


def _product(sizes: Any) -> Any:
    total: Any = 1
    for size in sizes:
        total = total * size
    return total


def _number(size: Any, hints: Mapping[Any, int]) -> int:
    if isinstance(size, int):
        return size
    known = replaced(size, lambda leaf: hints.get(leaf, 0) if leaf in set(leaves(size)) else None)
    return known if isinstance(known, int) else 0


# -- machine code ---------------------------------------------------------------------------------

PACKED = re.compile(r"^\s+v?(?:add|sub|mul|div|sqrt|max|min|f(?:n?m(?:add|sub))\d+)p[sd]\b", re.M)
SINGLE = re.compile(r"^\s+v?(?:add|sub|mul|div|sqrt|max|min|f(?:n?m(?:add|sub))\d+)s[sd]\b", re.M)
FLOATS = re.compile(r"^\s+f(?:add|sub|mul|div|mla|madd|sqrt|max|min)\w*\s+(v\d+\.\d+[sd])?", re.M)


def machine_code(kernel: Any) -> tuple[int, float]:
    """How many loops of a compiled kernel are vectorised, and the share of packed instructions. Compiles anew,
    since what was loaded from disk has no text."""
    from .kernels import compiled_again
    found = compiled_again(kernel)
    vectorised = sum(len(re.findall(r"^vector\.body[\w.]*:", text, re.M)) for text in found.inspect_llvm().values())
    packed = single = 0
    for text in found.inspect_asm().values():
        packed += len(PACKED.findall(text)) + sum(map(bool, FLOATS.findall(text)))
        single += len(SINGLE.findall(text)) + sum(not each for each in FLOATS.findall(text))
    return vectorised, packed / (packed + single) if packed + single else 0.0
