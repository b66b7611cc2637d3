"""Matrices that are read across and along: a block of threads brings the two tiles that lie opposite each other, on
both sides of the diagonal, and does the places of both, for which it needs no others. So every number comes from memory
once.

    nest i, j                                  tile = cuda.shared.array((2, TILE, PADDED), np.float32)
        store y, i, j, x[i, j] * x[j, i]   →   for every tile of places i, j on the diagonal or above it
                                                   for side in range(2):
                                                       tile[side, k, lane] = x[i, j]
                                                       row, column = column, row
                                                   cuda.syncthreads()
                                                   for side in range(2):
                                                       y[i, j] = tile[side, k, lane] * tile[1 - side, lane, k]
                                                       row, column = column, row

The two tiles of a pair on the diagonal are one, which is done twice: nothing may be read that is written.
"""

from __future__ import annotations

import ast
from typing import Any

from ...core.grammar import Var
from ...core.types import INT
from ...core.walk import atom_vars
from ...write.layout import Group, Item, Line
from ...write.numbers import number
from ..nest.nest_walk import is_load, loaded, statements
from ..nest.nests import Launch, Nest, Store
from ..nest.places import sole
from .places import as_place
from .strided import of_blocks, parsed
from .tiles import MOST_SHARED
from .together import WAIT
from .transposed import TILE, Transposed, across, assigned, bytes_of

SIDES = 2


class Mirrored(Transposed):
    """Prints kernels over pairs of tiles."""

    def by_pairs(self, stmt: Launch) -> list[Item]:
        """A kernel over pairs of tiles of the last two indices, and over places of the others."""
        *before, nest = stmt.body
        *outer, i, j = stmt.indices
        self.unsigned.update(index.var for index in stmt.indices)
        for index in stmt.indices:
            self.names.index(index.var)
        items = self.block(before)
        row, column, k, lane, step, side = (self.names.give(Var(INT), name)
                                            for name in ("row", "column", "k", "lane", "step", "side"))
        tiles = {load: self.names.give(Var(INT), "tile") for load in across(stmt)}
        places = (i, row, k), (j, column, lane)
        bring: list[Item] = [assigned(f"{name}[{side}, {k}, {lane}]", self.subscript(*_along(load)), nest.origin)
                             for load, name in tiles.items()]
        bring = self._of_tile(bring, *places, k, step, nest)
        for load, name in tiles.items():
            self.instead[load] = parsed(f"{name}[1 - {side}, {lane}, {k}]")
            self.instead[_along(load)] = parsed(f"{name}[{side}, {k}, {lane}]")
        use = self._of_tile(self.block(nest.body), *places, k, step, nest)
        self.instead = {}
        bring, use = (_on_both_sides(each, side, row, column, nest.origin) for each in (bring, use))
        wait = Line(ast.Expr(WAIT), nest.origin)
        inner: list[Item] = [wait, *bring, wait, *use]
        for index, name, begin, axis in (j, column, f"{row} + ", "x"), (i, row, "", "y"):
            first, distance = parsed(f"{begin}{TILE} * cuda.blockIdx.{axis}"), parsed(f"{TILE} * cuda.gridDim.{axis}")
            inner = self.counting(ast.Name(name), first, self.size(index.size), distance, inner, nest.origin)
        if outer:
            inner = self.joined(outer, inner, of_blocks("z"), nest.origin)
        arrays = [self._tile(load, name, number(SIDES)) for load, name in tiles.items()]
        return [*arrays, assigned(lane, as_place(parsed("cuda.threadIdx.x")), nest.origin), *items, *inner]


def _on_both_sides(items: list[Item], side: str, row: str, column: str, origin: Any) -> list[Item]:
    turned = ast.Assign([parsed(f"({row}, {column})")], parsed(f"({column}, {row})"))
    return [Group(ast.For(ast.Name(side), parsed(f"range({SIDES})"), [], [], None), [*items, Line(turned)], [], origin)]


def is_mirrored(stmt: Launch) -> bool:
    """Whether a kernel has tiles of square matrices, one of which it reads along as well, and none of which is more
    than there is room for."""
    loads = across(stmt)
    if not loads or stmt.indices[-1].size != stmt.indices[-2].size:
        return False
    nest = stmt.body[-1]
    stores = [each for each in statements(nest.body) if isinstance(each, Store)]
    if any(each.adds for each in stores) or not {each.array for each in stores}.isdisjoint(loaded(nest)):
        return False
    along = {(each.args[0], each.args[1:]) for each in statements(nest.body) if is_load(each)}
    return (all(_is_turned(load, nest) for load in loads) and any(_along(load) in along for load in loads)
            and SIDES * sum(map(bytes_of, loads)) <= MOST_SHARED)


def _is_turned(load: Any, nest: Nest) -> bool:
    """Whether an element is that of the other index, and of this one."""
    *_, i, j = nest.indices
    *before, first, last = load[1]
    return sole(first) is j.var and sole(last) is i.var and {i.var, j.var}.isdisjoint(atom_vars(tuple(before)))


def _along(load: Any) -> Any:
    """The element on the other side of the diagonal."""
    array, (*before, first, last) = load
    return array, (*before, last, first)
