"""What parts of a kernel cost in a call, estimated: bytes that are read and written, and arithmetic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..core.equations import value_of
from ..core.grammar import Const, Let, Loop, Var
from ..core.sizes import Size, Unknown
from ..core.walk import atom_vars
from ..lower.nest.nest_walk import inner_blocks, is_load
from ..lower.nest.nests import Length, Library, Product, Store


@dataclass
class Cost:
    """Bytes read and written, and operations on numbers; `known` is False where a loop runs an unknown number of times,
    or a library computes: the cost is then higher."""

    read: int = 0
    written: int = 0
    operations: int = 0
    known: bool = True

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.read + other.read, self.written + other.written, self.operations + other.operations,
                    self.known and other.known)


class Costs:
    """Of statements, in a call with these sizes. An array counts once for every time that a statement runs, or as
    often as its elements are visited, if that is less: while a nest runs, it is in the caches."""

    def __init__(self, hints: Mapping[Any, int]) -> None:
        self.hints = dict(hints)

    def of(self, stmt: Any, times: int, known: bool = True) -> Cost:
        """What a statement costs that runs so many times, as far as that is `known`."""
        visit = _Visit(self.hints)
        visit.block([stmt], 1)
        read = sum(self._bytes(array, count) for array, count in visit.loads.items())
        written = sum(self._bytes(array, count) for array, count in visit.stores.items())
        return Cost(times * read, times * written, times * visit.operations, known and visit.known)

    def trips(self, stmt: Any) -> tuple[int, bool]:
        """How often the blocks of a statement run, and whether that is known; else it is once."""
        visit = _Visit(self.hints)
        return visit.trips(stmt), visit.known

    def _bytes(self, array: Var, count: int) -> int:
        type: Any = array.type
        sizes = [number_of(size, self.hints) for size in type.sizes]
        whole = 1
        for size in sizes:
            whole *= count if size is None else size
        return int(min(count, whole) * type.dtype.itemsize)


class _Visit:
    """Counts loads, stores and operations, as often as the loops around them run."""

    def __init__(self, hints: dict[Any, int]) -> None:
        self.hints = dict(hints)
        self.loads: Counter[Var] = Counter()
        self.stores: Counter[Var] = Counter()
        self.operations = 0
        self.known = True

    def block(self, block: Iterable[Any], times: int) -> None:
        for stmt in block:
            self.stmt(stmt, times)
            inner = times * self.trips(stmt)
            for each in inner_blocks(stmt):
                self.block(each, inner)

    def stmt(self, stmt: Any, times: int) -> None:
        if is_load(stmt):
            self.loads[stmt.args[0]] += times
        elif isinstance(stmt, Let) and stmt.op is not Length and stmt.op.elementwise:
            self.operations += times
        elif isinstance(stmt, Store):
            self.stores[stmt.array] += times
            self.loads[stmt.array] += times * bool(stmt.adds)
            self.operations += times * bool(stmt.adds)
        elif isinstance(stmt, Product):
            self.product(stmt, times)
        elif isinstance(stmt, Library):
            self.known = False
            for array in atom_vars(stmt.args):
                self.loads[array] += times * self.elements(array)
            for array in stmt.targets:
                self.stores[array] += times * self.elements(array)

    def product(self, stmt: Product, times: int) -> None:
        rows, columns, inner = (self.extent(indices) for indices in (stmt.rows, stmt.columns, stmt.inner))
        self.loads[stmt.left.array] += times * rows * inner
        self.loads[stmt.right.array] += times * inner * columns
        self.stores[stmt.target.array] += times * rows * columns
        self.loads[stmt.target.array] += times * rows * columns * stmt.adds
        self.operations += 2 * times * rows * columns * inner

    def elements(self, array: Var) -> int:
        total = 1
        for size in getattr(array.type, "sizes", ()):
            total *= number_of(size, self.hints) or 1
        return total

    def trips(self, stmt: Any) -> int:
        if isinstance(stmt, Loop):
            known = stmt.trips.value if isinstance(stmt.trips, Const) else number_of(stmt.trips, self.hints)
            self.known = self.known and known is not None and stmt.cond is None
            return 1 if known is None else int(known)
        return self.extent(getattr(stmt, "indices", [])) if not isinstance(stmt, Product) else 1

    def extent(self, indices: list[Any]) -> int:
        total = 1
        for index in indices:
            size = number_of(index.size, self.hints)
            self.known = self.known and size is not None
            total *= 1 if size is None else max(size, 0)
            self.hints[Unknown(index.var)] = (size or 0) // 2            # what depends on it: on average
        return total


def number_of(size: Any, hints: Mapping[Any, int]) -> int | None:
    """The number that a size is, if it is known."""
    return size if isinstance(size, int) else value_of(size, hints) if isinstance(size, Size) else None
