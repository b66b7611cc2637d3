"""Places in arrays, as kernels compute them: without a sign, and in 32 bits.

    i = Place(cuda.grid(1))
    while i < n:
        y[i] = x[Place(i + 1)] - x[i]
        i = Place(i + cuda.gridsize(1))

`Place` is `np.uint32`. With a signed one, numba writes at every access what counts negative places from the end (which
ours never are), and an address takes three times as many instructions. Where an axis is longer than `MOST` places,
the same module runs with `np.int64`.

Elsewhere an index is a number like all others: numba would make of the difference of two unsigned numbers one that
is not negative, and of one and a signed number of 64 bits a float.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ...core.grammar import Const, Let, Var
from ...core.sizes import Extent, Size, Unknown
from ...ops.arithmetic import Cast
from ...ops.comparison import Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual
from ...write.expressions import dotted
from ..nest.nests import Load
from ..nest.places import sole
from .halves import Halves

PLACE = "Place"
ALONE = Cast, Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual    # take a place for the number that it is


class Places(Halves):
    """Prints expressions of kernels. `unsigned` are the indices that are of the type `Place`."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.unsigned: set[Var] = set()
        self.instead: dict[Any, Any] = {}                                # what is read in place of an element
        self.plain: set[Var] = set()                                     # those that may stay what they are just now

    def function_name(self, name: str) -> ast.Name:
        """The name of a function of the module, which no variable has from now on."""
        self.names.reserved.add(name)
        return ast.Name(name)

    def subscript(self, array: Any, at: tuple[Any, ...]) -> ast.Subscript:
        if not self.in_kernel:
            return super().subscript(array, at)
        if (array, at) in self.instead:
            return self.instead[array, at]
        places = list(map(self.place, at))
        return ast.Subscript(self.atom(array), places[0] if len(places) == 1 else ast.Tuple(places))

    def place(self, atom: Any) -> ast.expr:
        """Where something is along an axis: what may be computed with signs is a place in the end."""
        if isinstance(atom, Const):
            return self.atom(atom)
        index = sole(atom)
        if index in self.unsigned:
            return ast.Name(self.names.of[index])
        tree = self.atom(atom)
        return tree if isinstance(tree, ast.Constant) else as_place(tree)

    def atom(self, atom: Any) -> ast.expr:
        tree = super().atom(atom)
        if isinstance(atom, Var) and atom in self.unsigned and atom not in self.plain:
            return ast.Call(dotted("np.int64"), [tree], [])
        return tree

    def value(self, stmt: Let) -> ast.expr:
        if stmt.op is Load or stmt.op not in ALONE:
            return super().value(stmt)
        with self._as_they_are(index for index in map(sole, stmt.args) if index is not None):
            return super().value(stmt)

    def size(self, size: Extent) -> ast.expr:
        if sole(size) in self.plain:
            return super().size(size)
        with self._as_they_are(_signed_with_others(size, self.unsigned)):
            return super().size(size)

    @contextmanager
    def _as_they_are(self, indices: Iterable[Var]) -> Iterator[None]:
        outer, self.plain = self.plain, set(indices)
        yield
        self.plain = outer


def as_place(tree: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(PLACE), [tree], [])


def _signed_with_others(size: Extent, unsigned: set[Var]) -> set[Var]:
    """The unsigned indices of a sum that meet signed numbers alone, and make signed ones with them."""
    if not isinstance(size, Size):
        return set()
    bare = [monomial[0].var for monomial, count in size.terms.items() if abs(count) == 1 and len(monomial) == 1
            and isinstance(monomial[0], Unknown) and monomial[0].var in unsigned]
    times = {atom.var for monomial in size.terms for atom in monomial if isinstance(atom, Unknown)} - set(bare)
    return _factors(size, times) | set(bare if len(bare) == 1 < len(size.terms) else ())


def _factors(size: Size, indices: set[Var]) -> set[Var]:
    """Those that are multiplied by numbers, or by sizes, and by no other index."""
    found = set(indices)
    for monomial in size.terms:
        own = [atom.var for atom in monomial if isinstance(atom, Unknown)]
        if len(own) > 1:
            found -= set(own)
    return found
