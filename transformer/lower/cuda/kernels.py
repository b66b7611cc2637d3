"""Kernels as source: what each thread does.

    threads                                      a block of threads
    i = Place(cuda.grid(1))                      i = Place(cuda.blockIdx.x)
    while i < n:                                 while i < n:
        y[i] = x[i] * x[i]                           total = np.float32(0.0)
        i = Place(i + cuda.gridsize(1))              j = Place(cuda.threadIdx.x)
                                                     while j < m:
                                                         total += x[i, j]
                                                         j = Place(j + cuda.blockDim.x)
                                                     total = add_of_block(total, shared)
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from typing import Any

from ...core.grammar import Loop, Var
from ...core.sizes import Extent, product
from ...core.types import INT
from ...core.walk import atom_vars
from ...write.expressions import dotted
from ...write.layout import Group, Item, Line
from ..fusion.sums import at_most
from ..nest.nest_walk import loaded, statements
from ..nest.nests import Allocate, Block, Fold, Launch, Nest, Store
from ..printing.numbers import dtype_tree
from ..printing.sharing import taken
from ..threads.private import private_arrays
from . import grids, long_axes
from .mirrored import Mirrored, is_mirrored
from .private import made_inside
from .shares import by_axes
from .strided import LINE_OF_GRID, of_blocks, of_grid
from .telling import Telling, may_fail, status
from .transposed import across

AXES = "xyz"
GRIDS = {"threads": grids.over_threads, "blocks": grids.over_blocks, "block": grids.one_block,
         "thread": grids.one_thread}


class Kernels(Mirrored):
    """Prints launches, and the kernels that they launch."""

    telling: Telling | None = None

    def _launch(self, stmt: Launch) -> list[Item]:
        if may_fail(stmt.body):
            return self._telling(stmt)
        return self._launched(stmt)

    def _telling(self, stmt: Launch) -> list[Item]:
        """A launch, with what the kernel tells of errors."""
        self.telling = told = Telling(self.names.give(status(), "status"), self.in_driver())
        launch = self._launched(stmt)
        self.telling = None
        return [told.before(), *launch, *told.after(self.names.give(Var(INT), "code"))]

    def in_driver(self) -> Any:
        """What prints expressions in the driver."""
        raise NotImplementedError

    def _launched(self, stmt: Launch) -> list[Item]:
        outside = {*self.names.of.values(), *self.names.sizes.values()}
        with self.names.scope():
            self.shared, self.fours, self.singly = {}, {}, set()
            self.added = stmt.added
            self.has_tiles = False
            self.inside = made_inside(stmt.body)
            self.read = _touched_again(stmt.body)
            items = getattr(self, f"_by_{stmt.form}")(stmt)
            items = [*self._memory(), *items]
            given = taken(items, {*outside, *(name for name, _ in self.fours.values())})
            self.names.kept.clear()
        name = self._kernel(items, given, f"fill_{self._filled(stmt)}")
        call = ast.Call(ast.Subscript(self.function_name(name), self._grid(stmt)), self.handed(given), [])
        known = {*self.names.of, *self.trees}                            # what only this kernel computes is not
        sizes = [self.size(size) for size in long_axes.computed(stmt) if known.issuperset(atom_vars((size,)))]
        return [*self.checks(sizes, stmt.origin), *self._counts(stmt.origin), Line(ast.Expr(call), stmt.origin)]

    def checks(self, sizes: list[ast.expr], origin: Any = None) -> list[Item]:
        """`check_places(n, m)`."""
        if not sizes:
            return []
        function = self.function_name(self.numbers.functions.grid(grids.check_places))
        return [Line(ast.Expr(ast.Call(function, list(sizes), [])), origin)]

    def _counts(self, origin: Any) -> list[Item]:
        """`fours = in_fours(n, x, y)`."""
        items: list[Item] = []
        for size, (name, arrays) in self.fours.items():
            function = self.function_name(self.numbers.functions.grid(grids.in_fours))
            call = ast.Call(function, [self.size(size), *map(self.atom, arrays)], [])
            items.append(Line(ast.Assign([ast.Name(name)], call), origin))
        return items

    def _kernel(self, items: list[Item], given: list[str], wish: str) -> str:
        params = ast.arguments([], [ast.arg(name) for name in given], None, [], [], None, [])
        task = Group(ast.FunctionDef("", params, [], [dotted("cuda.jit")], None), items)
        return self.numbers.functions.share(task, wish, self.names.used | self.names.reserved)

    def _filled(self, stmt: Launch) -> str:
        own = {each.target for each in statements(stmt.body) if isinstance(each, Allocate)}
        arrays = [each.array for each in statements(stmt.body) if isinstance(each, Store)]
        arrays.sort(key=lambda array: array in own)
        return next((self.names.of[array] for array in arrays if array in self.names.of), "nothing")

    def _memory(self) -> list[Item]:
        """`shared = cuda.shared.array(THREADS, np.float32)`, for each dtype that a block combines."""
        return [Line(ast.Assign([ast.Name(name)], ast.Call(dotted("cuda.shared.array"), [
            ast.Name("THREADS"), dtype_tree(dtype)], []))) for (dtype, _), name in self.shared.items()]

    # -- who does what ------------------------------------------------------------------------

    def _by_thread(self, stmt: Launch) -> list[Item]:
        return self.block(stmt.body)

    def _by_block(self, stmt: Launch) -> list[Item]:
        return self.as_block(lambda: self.block(stmt.body))

    def _by_threads(self, stmt: Launch) -> list[Item]:
        if across(stmt):
            return self.by_pairs(stmt) if is_mirrored(stmt) else self.by_tiles(stmt)
        *before, nest = stmt.body
        items = self.block(before)
        steps = [LINE_OF_GRID] if len(stmt.indices) == 1 else map(of_grid, AXES)
        return items + self.over(nest, list(zip(by_axes(stmt.indices), steps)))

    def _by_blocks(self, stmt: Launch) -> list[Item]:
        *before, nest = stmt.body
        items = self.as_block(lambda: self.block(before))
        memory = {each.target for each in before if isinstance(each, Allocate)}
        self.has_tiles = bool(memory)
        self.read |= private_arrays(nest.body, memory) or memory             # by all their names
        return items + self.over(nest, list(zip(by_axes(stmt.indices), map(of_blocks, AXES))),
                                 lambda: self.as_block(lambda: self.block(nest.body)))

    # -- grids --------------------------------------------------------------------------------

    def _grid(self, stmt: Launch) -> ast.expr:
        """How many blocks, of how many threads: `over_threads(m, n)`, the innermost axis first."""
        over_tiles = grids.over_pairs if is_mirrored(stmt) else grids.over_tiles
        name = self.numbers.functions.grid(over_tiles if across(stmt) else GRIDS[stmt.form])
        counts = [product(index.size for index in indices) for indices in by_axes(stmt.indices)]
        is_first = [stmt.form == "threads" and k == 0 for k in range(len(counts))]
        sizes = [self.steps_along(count) if first else self.size(count) for count, first in zip(counts, is_first)]
        along = [self.size(size) if size in self.singly else self.steps_along(size)
                 for size in _rows(stmt)] if stmt.form == "blocks" else []
        longest = along[0] if len(along) == 1 else ast.Call(ast.Name("max"), along, [])
        return ast.Call(self.function_name(name), sizes, [ast.keyword("along", longest)] if along else [])


def _touched_again(block: Block) -> set[Var]:
    """The arrays that one statement may write after another thread has touched them: that are read too, or written by
    several statements, or again and again."""
    stores = Counter(each.array for each in statements(block) if isinstance(each, Store))
    again = {each.array for loop in statements(block) if isinstance(loop, Loop) for each in statements(loop.body)
             if isinstance(each, Store)}
    return {array for each in block for array in loaded(each)} | again | {
        array for array, count in stores.items() if count > 1}


def _rows(stmt: Launch) -> list[Extent]:
    """How long the rows are that blocks of threads go along, where that is known before; else how long parts of rows
    are at most, unless they are those of one long axis."""
    inside = made_inside(stmt.body)

    def known(sizes: Iterable[Extent]) -> list[Extent]:
        return list(dict.fromkeys(size for size in sizes if inside.isdisjoint(atom_vars((size,)))))

    rows = [each.indices[-1].size for each in statements(stmt.body[-1].body) if isinstance(each, (Fold, Nest))]
    return known(rows) or known(each for size in rows for each in long_axes.part_of(size)
                                if len(stmt.indices) > 1 or (at_most(each) or grids.THREADS) < grids.THREADS)
