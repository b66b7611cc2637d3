"""Matrices that are read across: a block of threads copies a tile of one to shared memory, along the rows, and reads it
there along the columns.

    nest i, j                          tile = cuda.shared.array((TILE, PADDED), np.float32)
        store y, i, j, x[j, i]    →    for every tile of places i, j
                                           tile[k, lane] = x[j, i]     neighbouring lanes: neighbouring i
                                           cuda.syncthreads()
                                           y[i, j] = tile[lane, k]     neighbouring lanes: neighbouring j

Otherwise each thread of a warp would have a row of memory for itself. The tile has a column too many, so that the
numbers of one column lie in different banks of memory. How many lines a thread has is known to the compiler, which
reads all of them before it waits for one.
"""

from __future__ import annotations

import ast
from itertools import accumulate
from typing import Any

from ...core.grammar import If, Let, Var
from ...core.types import INT
from ...core.walk import atom_vars
from ...write.expressions import dotted
from ...write.layout import Group, Item, Line
from ..nest.nest_walk import is_load, statements
from ..nest.nests import Index, Launch, Nest, Store
from ..nest.places import sole
from . import grids
from .halves import dtype_in_kernels
from .places import as_place
from .private import made_inside
from .strided import of_blocks, parsed
from .tiles import MOST_SHARED
from .together import WAIT, Together

TILE, PADDED, ROWS = "TILE", "PADDED", "ROWS"
MOST_TILES = 4                         # of a block


class Transposed(Together):
    """Prints kernels that read matrices across, tile by tile."""

    def by_tiles(self, stmt: Launch) -> list[Item]:
        """A kernel over tiles of the last two indices, and over places of the others."""
        *before, nest = stmt.body
        *outer, i, j = stmt.indices
        self.unsigned.update(index.var for index in stmt.indices)
        for index in stmt.indices:
            self.names.index(index.var)
        items = self.block(before)
        row, column, k, lane, step = (self.names.give(Var(INT), name)
                                      for name in ("row", "column", "k", "lane", "step"))
        tiles = {load: self.names.give(Var(INT), "tile") for load in across(stmt)}
        arrays = [self._tile(load, name) for load, name in tiles.items()]
        bring = [assigned(f"{name}[{k}, {lane}]", self.subscript(*load), nest.origin) for load, name in tiles.items()]
        bring = self._of_tile(bring, (i, row, lane), (j, column, k), k, step, nest)
        self.instead = {load: parsed(f"{name}[{lane}, {k}]") for load, name in tiles.items()}
        use = self._of_tile(self.block(nest.body), (i, row, k), (j, column, lane), k, step, nest)
        self.instead = {}
        wait = Line(ast.Expr(WAIT), nest.origin)
        inner: list[Item] = [wait, *bring, wait, *use]
        for index, name, axis in (j, column, "x"), (i, row, "y"):
            inner = self._over_tiles(index, name, axis, inner, nest)
        if outer:
            inner = self.joined(outer, inner, of_blocks("z"), nest.origin)
        return [*arrays, assigned(lane, as_place(parsed("cuda.threadIdx.x")), nest.origin), *items, *inner]

    def _tile(self, load: Any, name: str, *count: ast.expr) -> Item:
        dtype = dtype_in_kernels(load[0].type.dtype)
        shape = ast.Tuple([*count, ast.Name(TILE), ast.Name(PADDED)])
        return Line(ast.Assign([ast.Name(name)], ast.Call(dotted("cuda.shared.array"), [shape, dtype], [])))

    def _of_tile(self, items: list[Item], row: Any, column: Any, k: str, step: str, nest: Nest) -> list[Item]:
        """What threads do for the places of a tile, each for some lines: `(index, start, place)` along each axis."""
        places = [ast.Assign([ast.Name(self.names.of[index.var])], as_place(parsed(f"{start} + {place}")))
                  for index, start, place in (row, column)]
        tests: list[ast.expr] = [ast.Compare(ast.Name(self.names.of[index.var]), [ast.Lt()], [self.size(index.size)])
                                 for index, *_ in (row, column)]
        body: list[Item] = [assigned(k, as_place(parsed(f"{step} + cuda.threadIdx.y")), nest.origin),
                            *(Line(place, nest.origin) for place in places),
                            Group(ast.If(ast.BoolOp(ast.And(), tests), [], []), items, [], nest.origin)]
        lines = parsed(f"range(0, {TILE}, {ROWS})")
        return [Group(ast.For(ast.Name(step), lines, [], [], None), body, [], nest.origin)]

    def _over_tiles(self, index: Index, name: str, axis: str, items: list[Item], nest: Nest) -> list[Item]:
        first, step = (parsed(f"{TILE} * cuda.{what}.{axis}") for what in ("blockIdx", "gridDim"))
        return self.counting(ast.Name(name), first, self.size(index.size), step, items, nest.origin)


def across(stmt: Launch) -> list[tuple[Var, tuple[Any, ...]]]:
    """The reads of a kernel that go across memory, by array and places; none where it has no tiles."""
    nest = stmt.body[-1]
    if stmt.form != "threads" or len(stmt.indices) < 2 or not isinstance(nest, Nest):
        return []
    if len(nest.indices) != len(stmt.indices) or not all(
            isinstance(each, (Let, If, Store)) for each in statements(nest.body)):
        return []
    *_, i, j = stmt.indices
    loads = [(each.args[0], each.args[1:]) for each in nest.body if is_load(each)]
    written = {each.array for each in statements(nest.body) if isinstance(each, Store)}
    computed = made_inside(nest.body)
    found = dict.fromkeys(load for load in loads if _is_across(load, i, j, computed) and load[0] not in written)
    return [] if stmt.added else _with_room(list(found))


def _with_room(loads: list[tuple[Var, tuple[Any, ...]]]) -> list[tuple[Var, tuple[Any, ...]]]:
    """The first of the reads, as many as a block has tiles for; others stay what they are."""
    ends = accumulate(map(bytes_of, loads))
    return [load for load, end in zip(loads[:MOST_TILES], ends) if end <= MOST_SHARED]


def bytes_of(load: Any) -> int:
    """The memory of a tile."""
    size: int = load[0].type.dtype.itemsize
    return grids.TILE * grids.PADDED * size


def _is_across(load: tuple[Var, tuple[Any, ...]], i: Index, j: Index, computed: set[Var]) -> bool:
    """Whether a place goes across memory, and is known before the iteration has `computed` anything."""
    _, at = load
    used = set(atom_vars(at[:-1]))
    return len(at) > 1 and sole(at[-1]) is i.var and j.var in used and used.isdisjoint({i.var, *computed})


def assigned(target: str, tree: ast.expr, origin: Any) -> Item:
    return Line(ast.Assign([parsed(target)], tree), origin)
