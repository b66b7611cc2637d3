"""Expressions in lowered source: numbers, places, sizes."""

from __future__ import annotations

import ast
from functools import reduce
from typing import Any

from ...core.equations import of_range
from ...core.errors import NotSupported
from ...core.factoring import factored, is_product, sums_in
from ...core.grammar import Const, Function, Var
from ...core.sizes import Dim, Extent, Floor, Greatest, Least, Size, Unknown, replaced
from ...write.composites import Composites
from ...write.layout import Item
from ...write.numbers import number
from ..nest.aliases import Memories
from ..nest.nest_walk import statements
from ..nest.nests import Allocate, Block, Lowered
from ..ordering.raveling import raveled_arrays
from .depth import Depth
from .functions import Functions
from .hosted import Call, collect
from .inlining import Inlining
from .lists import Lists, put_for_good
from .naming import Names
from .numbers import Numbers, literal


class Expressions:
    """The trees of atoms. `callees` are the names of functions that are called, `trees` those of numbers
    that are printed where they are used, `for_good` the arrays that are put into lists as they are."""

    def __init__(self, lowered: Lowered, functions: Functions, callees: dict[Function, str], lists: Lists | None = None
                 ) -> None:
        self.lowered = lowered
        self.callees = callees
        self.names = Names(lowered.function.params, lowered.body)
        self.numbers = Numbers(functions)
        self.numbers.collect(lowered.body)
        self.composites = Composites(())
        self.existing: dict[Any, Extent] = {}                            # what `max(n - 1, 0)` is of such arrays
        self.known_sums: list[Size] | None = None                        # that may be factors, found when asked for
        self.size_names: dict[Any, str] = {}                             # what the user calls dimensions
        self.names.used |= {*functions.trees, *callees.values()}
        self.inlining = Inlining(lowered.body, lowered.results)
        self.hosted: dict[int, Call] = {}                                # of statements, by their identity
        self.collect_hosted(lowered.body)
        self.trees: dict[Var, ast.expr] = {}
        self.items: dict[int, list[Item]] = {}                           # what statements are printed as
        self.passing: set[Var] = set()                                   # numbers under whose names loops may go on
        self.entries: set[Var] = set()                                   # those of the body that is printed next
        self.depth = Depth(lowered.function)
        self.lists = lists or Lists([lowered])
        self.names.used.update(self.lists.names.values())
        self.for_good = put_for_good(lowered.body, lowered.results)
        self.allocated = {stmt.target for stmt in statements(lowered.body) if isinstance(stmt, Allocate)}
        self.raveled = raveled_arrays(lowered.body)                      # by arrays and numbers of places in them
        self.memories: Memories | None = None                            # of a kernel, whose arguments are apart
        self.whole: dict[Extent, list[Var]] = {}                         # what `ravel` gives, by how much that is
        given = {*lowered.function.params, *lowered.outside}
        for (array, count), rows in self.raveled.items():
            if count == 1 and array in given:
                self.whole.setdefault(rows.type.sizes[0], []).append(rows)   # type: ignore[union-attr]

    def collect_hosted(self, block: Block) -> None:
        """Names the functions in which Python does something."""
        collect(self, block)

    def atom(self, atom: Any) -> ast.expr:
        if isinstance(atom, Var):
            return self.trees[atom] if atom in self.trees else ast.Name(self.names.of[atom])
        if isinstance(atom, Const):
            return literal(atom)
        return self.size(atom)

    def subscript(self, array: Any, at: tuple[Any, ...]) -> ast.Subscript:
        places, of_all = [self.atom(k) for k in at], self.atom(self.raveled.get((array, len(at)), array))
        return ast.Subscript(of_all, places[0] if len(places) == 1 else ast.Tuple(places))

    def size(self, size: Extent) -> ast.expr:
        """A size, in terms of those that have names."""
        return self.sum(self.composites.shorter(self.normal(size)))

    def trips(self, size: Extent) -> ast.expr:
        """How often a loop over a range runs."""
        return self.size(self.of_range(size))

    def of_range(self, size: Extent) -> Extent:
        return of_range(size)

    def normal(self, size: Extent) -> Extent:
        """A size; of an array that there is, it is not negative."""
        return replaced(size, self.existing.get)

    def sum(self, size: Extent) -> ast.expr:
        """A size as it is; what counts positively comes first, and numbers last."""
        if not isinstance(size, Size):
            return number(int(size))
        if is_product(size) and len(factors := factored(size, self._sums())) > 1:
            return reduce(lambda one, other: ast.BinOp(one, ast.Mult(), other), map(self.size, factors))
        terms = sorted(size.terms.items(), key=lambda term: (not term[0], term[1] < 0, self._index_last(term[0])))
        if not terms[0][0]:
            terms.reverse()
        if terms[0][1] < 0 and () in size.terms and size.terms[()] > 0:
            terms = [terms[-1], *terms[:-1]]
        tree: ast.expr | None = None
        for monomial, count in terms:
            tree = self._added(tree, monomial, count)
        assert tree is not None
        return tree

    def _sums(self) -> list[Size]:
        """The extents of arrays that are sums, as they are printed."""
        if self.known_sums is None:
            arrays = (*self.lowered.function.params, *self.lowered.outside)
            extents = (size for array in arrays for size in getattr(array.type, "sizes", ()))
            self.known_sums = sums_in(self.composites.shorter(self.normal(size)) for size in extents)
        return self.known_sums

    def _index_last(self, monomial: Any) -> bool:
        return any(isinstance(atom, Unknown) for atom in monomial)

    def _added(self, tree: ast.expr | None, monomial: Any, count: int) -> ast.expr:
        term: ast.expr | None = None if abs(count) == 1 and monomial else number(abs(count))
        for atom in monomial:
            factor = self._size_atom(atom)
            term = factor if term is None else ast.BinOp(term, ast.Mult(), factor)
        assert term is not None
        if tree is None:
            return ast.UnaryOp(ast.USub(), term) if count < 0 else term
        return ast.BinOp(tree, ast.Sub() if count < 0 else ast.Add(), term)

    def _unknown_size(self) -> NotSupported:
        origin = self.lowered.function.origin
        if len(self.callees) > 1:                                         # besides this one
            return NotSupported("a recursive function that uses a size which is not one of its arguments cannot be "
                                "compiled", origin, instead="Pass the size as an argument.")
        return NotSupported("an array whose size is known only in another part of the program cannot be compiled",
                            origin, instead="Run it without jit.")

    def _size_atom(self, atom: Any) -> ast.expr:
        match atom:
            case Dim():
                return ast.Name(self.names.sizes[atom])
            case Unknown(var):
                if var not in self.trees and var not in self.names.of:
                    raise self._unknown_size()
                return self.atom(var)
            case Floor(numerator, denominator):
                return ast.BinOp(self.size(numerator), ast.FloorDiv(), self.size(denominator))
            case Least(first, second):
                return ast.Call(ast.Name("min"), [self.size(first), self.size(second)], [])
            case Greatest(first, second):
                return ast.Call(ast.Name("max"), [self.size(first), self.size(second)], [])
        raise AssertionError(atom)

