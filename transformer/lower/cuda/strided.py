"""Loops over places that threads share: each begins at its own, and goes on by as many as there are threads.

    i = Place(cuda.grid(1))
    while i < n:
        ...
        i = Place(i + cuda.gridsize(1))

What one thread goes through is counted up likewise, `k = 0; while k < n: …; k += 1`: of such steps a compiler does four
at once, with numbers for all of them on their way from memory. It does so with a `range` as well, which numba counts
down beside, with two tests of 64 bits for each step.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from typing import Any

from ...core.equations import only_atom
from ...core.grammar import Var
from ...core.sizes import Dim, Extent, Least, Size, Unknown, least, product
from ...core.types import INT
from ...core.walk import Copier, atom_of_size, atom_vars, size_of_atom
from ...write.layout import Group, Item, Line
from ...write.numbers import number
from ..nest.clean import Renaming
from ..nest.nest_walk import is_load, statements
from ..nest.nests import Block, Fold, Index, Nest, Store
from ..printing.statements import steps as range_of
from .places import Places, as_place
from .private import made_inside

Steps = tuple[ast.expr, ast.expr]      # where a thread begins, and how far it goes each time


class Strided(Places):
    """Prints such loops."""

    def over(self, nest: Nest, axes: list[tuple[list[Index], Steps]], body: Callable[[], list[Item]] | None = None
             ) -> list[Item]:
        """Loops over the places that are a thread's, the innermost first, around those over other indices."""
        shared = [index for indices, _ in axes for index in indices]
        self.unsigned.update(index.var for index in shared)
        for index in nest.indices:
            self.names.index(index.var)
        others = [index for index in nest.indices if index not in shared]
        ((index,), steps), *outer = axes
        if body is None and not others:
            items = self.along(index, nest.body, steps, nest.origin)
        else:
            items = self.plainly(others, body or (lambda: self.block(nest.body)), nest.origin)
            items = self.strided(index, items, steps, nest.origin)
        for indices, steps in outer:
            items = self.joined(indices, items, steps, nest.origin)
        return items

    def along(self, index: Index, block: Block, steps: Steps, origin: Any) -> list[Item]:
        """A loop over the places of one index."""
        return self.strided(index, self.block(block), steps, origin)

    def plainly(self, indices: list[Index], body: Callable[[], list[Item]], origin: Any) -> list[Item]:
        """Loops over all places."""
        items = body()
        for index in reversed(indices):
            items = self._through(index, items, origin)
        return items

    def _loops(self, stmt: Nest | Fold, body: Callable[[], list[Item]]) -> list[Item]:
        if not self.in_kernel:
            return super()._loops(stmt, body)
        for index in stmt.indices:
            self.names.index(index.var)
        return self.plainly(stmt.indices, body, stmt.origin)

    def _through(self, index: Index, items: list[Item], origin: Any) -> list[Item]:
        """A loop of one thread. A size that is computed is looked at once: a name may have another value later."""
        name, size = ast.Name(self.names.of[index.var]), self.trips(index.size)
        if isinstance(index.size, int) or not self.unsigned.issuperset(atom_vars((index.size,))):
            return [Group(ast.For(name, range_of(size), [], [], None), items, [], origin)]
        body = [*items, Line(ast.AugAssign(name, ast.Add(), number(1)), origin)]
        begin = Line(ast.Assign([name], number(0)), origin)
        return [begin, Group(ast.While(ast.Compare(name, [ast.Lt()], [size]), [], []), body, [], origin)]

    def strided(self, index: Index, items: list[Item], steps: Steps, origin: Any, start: Extent = 0) -> list[Item]:
        """`i = Place(first); while i < n: …; i = Place(i + step)`."""
        first, step = steps
        begin = first if start == 0 else ast.BinOp(self.size(start), ast.Add(), first)
        end = self.size(later(start, index.size))
        return self.counting(ast.Name(self.names.of[index.var]), begin, end, step, items, origin)

    def joined(self, indices: list[Index], items: list[Item], steps: Steps, origin: Any) -> list[Item]:
        """A loop over the places of several indices as those of one line: `i = Place(place // Place(n))`."""
        if len(indices) == 1:
            return self.strided(indices[0], items, steps, origin)
        line = Index(Var(INT, "place"), product(index.size for index in indices))
        self.unsigned.add(line.var)
        place = ast.Name(self.names.index(line.var))
        split: list[Item] = []
        rest: ast.expr = place
        for index in reversed(indices):
            size = number(index.size) if isinstance(index.size, int) else as_place(self.size(index.size))
            own = rest if index is indices[0] else ast.BinOp(rest, ast.Mod(), size)
            split.append(Line(ast.Assign([ast.Name(self.names.of[index.var])], as_place(own)), origin))
            rest = ast.BinOp(rest, ast.FloorDiv(), size)
        return self.strided(line, [*split, *items], steps, origin)

    def counting(self, name: ast.Name, begin: ast.expr, end: ast.expr, step: ast.expr, items: list[Item],
                 origin: Any) -> list[Item]:
        def assigned(tree: ast.expr) -> Item:
            return Line(ast.Assign([name], as_place(tree)), origin)

        body = [*items, assigned(ast.BinOp(name, ast.Add(), step))]
        return [assigned(begin), Group(ast.While(ast.Compare(name, [ast.Lt()], [end]), [], []), body, [], origin)]


def started(stmt: Fold | Nest, index: Index, unsigned: set[Var]) -> Extent:
    """Where all that a loop reads and writes begins: in it, the index then stands for the places themselves.

        nest j < min(1024, n - 1024*i): x[1024*i + j]   →   nest 1024*i <= j < min(1024*i + 1024, n): x[j]

    Elements that a choice leaves out at the first places, `x[j - 1] if j > 0 else 0`, stay as they are: they would
    begin at -1, and a place has no sign. The `unsigned` are indices, which are not negative.
    """
    own, one = Unknown(index.var), Size.of(Unknown(index.var))
    begins: Counter[Extent] = Counter()
    for size in map(size_of_atom, _places(stmt.body)):
        if isinstance(size, Size) and size.terms.get((own,)) == 1:
            begins[size - one] += 1
    (start, _), = begins.most_common(1) or [(0, 0)]
    if not isinstance(start, Size) or len(begins) > 1 or not made_inside([stmt]).isdisjoint(atom_vars((start,))):
        return 0
    if not _is_place(start, unsigned):
        return 0
    renaming = Renaming(Copier({index.var: atom_of_size(one - start)}))
    stmt.body = renaming.block(stmt.body)
    for carry in getattr(stmt, "carries", ()):
        carry.next = renaming.copier.atom(carry.next)
    return start


def _is_place(size: Size, unsigned: set[Var]) -> bool:
    """Whether a sum has no part that may be negative."""
    return all(count > 0 and all(isinstance(atom, Dim) or isinstance(atom, Unknown) and atom.var in unsigned
                                 for atom in monomial) for monomial, count in size.terms.items())


def _places(block: Block) -> list[Any]:
    found = [place for each in statements(block) if is_load(each) for place in each.args[1:]]
    return found + [place for each in statements(block) if isinstance(each, Store) for place in each.at]


def later(start: Extent, size: Extent) -> Extent:
    """Where something ends that begins there."""
    part = only_atom(size)
    return least(start + part.first, start + part.second) if isinstance(part, Least) and start != 0 else start + size


def parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def of_grid(axis: str) -> Steps:
    """The first place of a thread in the grid along an axis, and the distance to its next."""
    first = f"cuda.blockIdx.{axis} * cuda.blockDim.{axis} + cuda.threadIdx.{axis}"
    return parsed(first), parsed(f"cuda.gridDim.{axis} * cuda.blockDim.{axis}")


def of_blocks(axis: str) -> Steps:
    return parsed(f"cuda.blockIdx.{axis}"), parsed(f"cuda.gridDim.{axis}")


LINE_OF_GRID = parsed("cuda.grid(1)"), parsed("cuda.gridsize(1)")
OF_BLOCK = parsed("cuda.threadIdx.x"), parsed("cuda.blockDim.x")
