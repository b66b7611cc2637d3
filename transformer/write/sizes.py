"""Printing sizes: through names given at the top (`n, m = x.shape`), as `x.shape[0]`, or as `x.shape`."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Mapping
from math import prod
from typing import Any

from ..core.equations import bound_size, single_atom, solved
from ..core.factoring import factored, is_product, sums_in
from ..core.grammar import Const, Function, Let, Loop, Stmt, Var
from ..core.sizes import Dim, Extent, Floor, Greatest, Least, Size, SizeAtom, Unknown, leaves, replaced
from ..core.types import ArrayType
from ..core.walk import all_definitions, all_statements
from .composites import Composites
from .demand import Demand, printed_attrs
from .numbers import number
from .ranges import Range
from .stores import Stores

Shape = tuple[Extent, ...]


class SizePlan:
    """Which dimensions get a name at the top of the function, and where the others are found."""

    def __init__(self, function: Function, needed: Demand, forms: dict[Stmt, Range], stored: Stores) -> None:
        self.bound = bound_by(function.guards)
        self.solved = _solved_by(function.guards, self)
        self.places = _places(forms)
        self.params, self.body = function.params, function.body
        self.known: list[Size] | None = None     # the sums that may be factors, found when asked for
        self.sources = _sources(function)
        self.names: dict[Dim, str] = {}  # set when names are chosen
        self.composites = Composites(())
        self.lasting = _lasting_params(function)
        self.shapes = self._shapes()
        self.counts = self._counts(function.size_names)
        printed = list(_printed(self, function, needed, forms, stored))
        self._name([size for size, _ in printed], function.size_names, self.lasting)
        counts: dict[Dim, int] = {}
        for size, weight in printed:
            for dim in self._dims(size):
                counts[dim] = counts.get(dim, 0) + weight
        self.named |= {
            dim: None for dim, count in counts.items() if count > 1 or self.sources[dim][0] not in self.lasting
        }

    def _name(self, printed: list[Size], wished: Mapping[Size, str], given: Container[Var] = ()) -> None:
        """Chooses the sizes that get a name, of all that are printed; those that they are made of get one, too."""
        normal: dict[Size, str] = {}
        for size, name in wished.items():
            normal.setdefault(self.normal(size), name)
        self.composites = Composites(map(self.normal, printed), normal, given)
        self.given: dict[Any, str] = {single_atom(size): name for size, name in normal.items()} | self.composites.names
        self.named: dict[Dim, None] = {
            dim: None for size in self.composites.sizes.values() for dim in self._dims_in(size)
        }

    def to_be_named(self) -> list[Dim]:
        """Everything that gets a name; what the user has a name for comes first, so that nothing else takes it."""
        return sorted((*self.named, *self.composites.sizes), key=lambda dim: dim not in self.given)

    def _dims(self, size: Size) -> Iterator[Dim]:
        """The dimensions that a size is printed with."""
        return self._dims_in(self.shorter(size))

    def _dims_in(self, size: Extent) -> Iterator[Dim]:
        return (leaf for leaf in leaves(size) if isinstance(leaf, Dim) and leaf not in self.composites.sizes)

    def shorter(self, size: Extent) -> Extent:
        """A size as it is printed: in terms of one dimension of each group of equal ones, of the sizes that have a
        name, and of the indices of loops: `i - 1 + 1` is `i`."""
        if self.places and isinstance(size, Size):
            size = replaced(size, self.places.get)
        return self.composites.shorter(self.normal(size))

    def _shapes(self) -> dict[Shape, Var]:
        """Parameters by their symbolic shape, the first of each; a name that is bound anew is no good."""
        found: dict[Shape, Var] = {}
        for param in self.params:
            sizes = param.type.sizes if isinstance(param.type, ArrayType) else ()
            if param in self.lasting and any(isinstance(size, Size) for size in sizes):
                found.setdefault(self.normal_shape(sizes), param)
        return found

    def _counts(self, wished: Container[Size]) -> dict[Size, Var]:
        """Parameters by how many elements they have, where that is a product, and the user has no name for it."""
        found: dict[Size, Var] = {}
        for shape, param in self.shapes.items():
            count = prod(shape)
            if isinstance(count, Size) and len([*count.atoms()]) > 1 and len(count.terms) == 1 and count not in wished:
                found.setdefault(count, param)
        return found

    def counted(self, size: Any) -> Var | None:
        """The parameter whose `size` a size that stands by itself is."""
        return self.counts.get(self.normal(size)) if self.counts and isinstance(size, Size) else None

    def whole(self, sizes: Any) -> Var | None:
        """The parameter whose shape a tuple of sizes is."""
        is_shape = isinstance(sizes, tuple) and any(isinstance(size, Size) for size in sizes)
        return self.shapes.get(self.normal_shape(sizes)) if is_shape and all(map(_is_extent, sizes)) else None

    def are_named(self, sizes: Any) -> bool:
        """Whether sizes are numbers and dimensions with names, so that they tell more than the shape of a parameter."""
        atoms = [single_atom(self.shorter(size)) for size in sizes if isinstance(size, Size)]
        return bool(atoms) and all(atom in self.named for atom in atoms)

    def normal(self, size: Any) -> Any:
        """A size in terms of one dimension of each group of equal ones."""
        if isinstance(size, Dim):
            return single_atom(self.normal(Size.of(size))) or size
        if not self.bound or not isinstance(size, Size):
            return size
        found = replaced(size, self._representative)
        return found if found == size else replaced(found, self._representative)

    def _representative(self, atom: SizeAtom) -> Extent | None:
        size = bound_size(atom, self.bound)
        return None if size is None else self.normal(size)

    def normal_shape(self, sizes: Shape) -> Shape:
        return tuple(map(self.normal, sizes))

    def same_type(self, one: Any, other: Any) -> bool:
        """Whether two types are the same, by the equalities that the function rests on."""
        if one == other or not isinstance(one, ArrayType) or not isinstance(other, ArrayType):
            return bool(one == other)
        return (one.dtype, one.weak, one.rank) == (other.dtype, other.weak, other.rank) and all(
            map(self._are_equal, one.sizes, other.sizes)
        )

    def _are_equal(self, one: Extent, other: Extent) -> bool:
        difference = self.normal(one - other)
        for _ in range(len(self.solved) if isinstance(difference, Size) else 0):
            difference = replaced(difference, self.solved.get)
        return bool(difference == 0)

    def variables(self, value: Any) -> Iterator[Var]:
        """The variables that are read where an atom, a size or an attribute is printed."""
        if isinstance(value, Var):
            yield value
        elif isinstance(value, Size):
            counted = self.counted(value)
            yield from (counted,) if counted is not None else self._in_size(value)
        elif isinstance(value, (tuple, list)):
            whole = self.whole(value)
            yield from (whole,) if whole is not None else self._all(value)
        elif isinstance(value, dict):
            yield from self._all(value.values())
        elif isinstance(value, slice):
            yield from self._all((value.start, value.stop, value.step))

    def _in_size(self, size: Size) -> Iterator[Var]:
        for leaf in leaves(self.shorter(size)):
            if isinstance(leaf, Unknown):
                yield leaf.var
            elif leaf not in self.named and leaf not in self.composites.sizes:
                yield self.sources[leaf][0]

    def _all(self, values: Iterable[Any]) -> Iterator[Var]:
        for value in values:
            yield from self.variables(value)

    # -- printing ---------------------------------------------------------------------------

    def tree(self, size: Extent | Const, name: Any) -> ast.expr:
        """A size as an expression, that of all elements of a parameter as its `size`; `name` gives the expression of
        a variable."""
        if isinstance(size, Const):
            return number(size.value) if size.name is None else ast.parse(size.name, mode="eval").body
        if (counted := self.counted(size)) is not None:
            return ast.Attribute(name(counted), "size")
        return self.added(None, size, name) or number(0)

    def added(self, left: ast.expr | None, size: Extent, name: Any, sign: int = 1) -> ast.expr | None:
        """`left + size` or, with the sign -1, `left - size`, term by term: `i + n - 1`."""
        return self._sum(left, self.shorter(size) * sign, name)

    def _sum(self, left: ast.expr | None, size: Extent, name: Any) -> ast.expr | None:
        if isinstance(size, int):
            return self._plus(left, (), size, name) if size else left
        if left is None and is_product(size) and len(factors := factored(size, self.known_sums())) > 1:
            return _product([self._sum(None, self.shorter(each), name) for each in factors])  # type: ignore[misc]
        positive = any(monomial and count > 0 for monomial, count in size.terms.items()) or left is not None
        terms = sorted(
            size.terms.items(), key=lambda term: (not term[0], term[1] < 0) if positive else (term[1] < 0, not term[0])
        )
        for monomial, count in terms:
            left = self._plus(left, monomial, count, name)
        return left

    def known_sums(self) -> list[Size]:
        """The extents of arrays that are sums, as they are printed."""
        if self.known is None:
            types = [var.type for var in (*self.params, *all_definitions(self.body))]
            self.known = sums_in(self.shorter(size) for type in types for size in getattr(type, "sizes", ()))
        return self.known

    def _plus(self, left: ast.expr | None, monomial: tuple[SizeAtom, ...], count: int, name: Any) -> ast.expr:
        factors = [self._atom(atom, name) for atom in monomial]
        if left is None and count == -1 and factors:
            return ast.UnaryOp(ast.USub(), _product(factors))
        if abs(count) != 1 or not factors:
            factors.insert(0, number(count if left is None else abs(count)))
        right = _product(factors)
        if left is None:
            return right
        return _shifted(left, count) if not monomial else ast.BinOp(left, ast.Sub() if count < 0 else ast.Add(), right)

    def _atom(self, atom: SizeAtom, name: Any) -> ast.expr:
        if isinstance(atom, Dim):
            return self.dimension(atom, name)
        if isinstance(atom, Unknown):
            return name(atom.var)
        if isinstance(atom, Floor):
            return ast.BinOp(self.tree(atom.numerator, name), ast.FloorDiv(), self.tree(atom.denominator, name))
        assert isinstance(atom, (Least, Greatest))
        function = "min" if isinstance(atom, Least) else "max"
        return ast.Call(ast.Name(function), [self.tree(atom.first, name), self.tree(atom.second, name)], [])

    def dimension(self, dim: Dim, name: Any) -> ast.expr:
        """A dimension by its name, or where it is found."""
        if dim in self.names:
            return ast.Name(self.names[dim])
        param, axis = self.sources[dim]
        return extent_of_axis(name(param), param, axis)

    def shape(self, sizes: Shape, name: Any) -> ast.expr:
        """A shape: `x.shape` of a parameter, or its sizes one by one."""
        whole = self.whole(sizes)
        if whole is not None and not self.are_named(sizes):
            return ast.Attribute(name(whole), "shape")
        return ast.Tuple([self.added(None, size, name) or number(0) for size in sizes])

    def takes_from(self, param: Var) -> bool:
        """Whether a size with a name is made of a parameter, or is one of its axes."""
        made_of = (leaf for size in self.composites.sizes.values() for leaf in leaves(size))
        return Unknown(param) in made_of or any(self.sources[dim][0] is param for dim in self.named)

    def sums(self, name: Any = None) -> Iterator[tuple[str, ast.expr]]:
        """The other sizes that have a name, and what they are."""
        for dim, size in self.composites.sizes.items():
            tree = self._sum(None, size, name)
            assert tree is not None
            yield self.names[dim], tree

    def definitions(self) -> Iterator[tuple[Var, list[tuple[int, Dim]]]]:
        """The named dimensions by the parameter that has them."""
        by_param: dict[Var, list[tuple[int, Dim]]] = {}
        for dim in self.named:
            param, axis = self.sources[dim]
            by_param.setdefault(param, []).append((axis, dim))
        for param in self.params:
            if param in by_param:
                yield param, sorted(by_param[param], key=lambda item: item[0])


def extent_of_axis(tree: ast.expr, param: Var, axis: int) -> ast.expr:
    """`len(x)` for a vector, `x.shape[axis]` for others."""
    assert isinstance(param.type, ArrayType)
    if param.type.rank == 1:
        return ast.Call(ast.Name("len"), [tree], [])
    return ast.Subscript(ast.Attribute(tree, "shape"), number(axis))


def _shifted(tree: ast.expr, shift: int) -> ast.expr:
    """A tree and a number, which joins the one that the tree ends with: `n // 2 + 1`, and not `n // 2 + 2 - 1`."""
    last = tree.right if isinstance(tree, ast.BinOp) and isinstance(tree.op, (ast.Add, ast.Sub)) else None
    if isinstance(tree, ast.BinOp) and isinstance(last, ast.Constant) and type(last.value) is int:
        shift += last.value if isinstance(tree.op, ast.Add) else -last.value
        tree = tree.left
    if not shift:
        return tree
    return ast.BinOp(tree, ast.Sub() if shift < 0 else ast.Add(), number(abs(shift)))


def _product(factors: list[ast.expr]) -> ast.expr:
    result = factors[0]
    for factor in factors[1:]:
        result = ast.BinOp(result, ast.Mult(), factor)
    return result


def _is_extent(value: Any) -> bool:
    return isinstance(value, (int, Size))


def bound_by(guards: list[Any]) -> dict[SizeAtom, Extent]:
    """For each dimension that a guard equates with something, that something. Guards of other kinds are
    printed in terms of dimensions, which have to stay what they are for that."""
    bound: dict[SizeAtom, Extent] = {}
    for guard in guards:
        for size, other in ((guard.right, guard.left), (guard.left, guard.right)):
            atom = single_atom(size)
            if guard.kind == "equal" and atom and atom not in bound and atom not in set(leaves(other)):
                bound[atom] = other
                break
        count = not_negative(guard.left - guard.right) if guard.kind == "at least" else None
        if count is not None:
            bound[Greatest(count, 0)] = count
    return bound


def not_negative(difference: Extent) -> Extent | None:
    """What is not negative where ``n - max(n, 0)`` is not: n."""
    for atom in difference.atoms() if isinstance(difference, Size) else ():
        if isinstance(atom, Greatest) and atom.second == 0 and atom.first - Size.of(atom) == difference:
            return atom.first
    return None


def _solved_by(guards: list[Any], plan: SizePlan) -> dict[SizeAtom, Extent]:
    """What dimensions are by the guards that equate no dimension with something: ``n - 3*m == m``."""
    found: dict[SizeAtom, Extent] = {}
    for guard in guards:
        left, right = plan.normal(guard.left), plan.normal(guard.right)
        equation = solved(left, right) if guard.kind == "equal" and left != right else None
        if equation is not None and isinstance(equation[0], Dim):
            found.setdefault(*equation)
    return found


def _sources(function: Function) -> dict[Dim, tuple[Var, int]]:
    """Where each dimension is found; beyond what the function says, any axis that consists of it."""
    found = dict(function.dims)
    for param in function.params:
        for axis, size in enumerate(getattr(param.type, "sizes", ())):
            atoms = list(size.atoms()) if isinstance(size, Size) else []
            if len(atoms) == 1 and isinstance(atoms[0], Dim) and size == Size.of(atoms[0]):
                found.setdefault(atoms[0], (param, axis))
    return found


def _places(forms: dict[Stmt, Range]) -> dict[SizeAtom, Extent]:
    """The positions of loops in terms of what their `for` counts, where that is something else."""
    return {Unknown(loop.position): form.place for loop, form in forms.items()      # type: ignore[union-attr]
            if form.variable is not loop.position}                                  # type: ignore[union-attr]


def _lasting_params(function: Function) -> set[Var]:
    """Parameters whose name nothing else has, so that it means the same everywhere."""
    taken = {var.name for var in all_definitions(function.body)}
    return {param for param in function.params if param.name not in taken}


def _printed(
    plan: SizePlan, function: Function, needed: Demand, forms: dict[Stmt, Range], stored: Stores
) -> Iterator[tuple[Size, int]]:
    """Every size that is printed, with a weight: what is in a loop counts twice."""
    inside: set[Stmt] = set()
    for stmt in all_statements(function.body):
        if stmt not in needed.alive:
            continue
        weight = 2 if stmt in inside else 1
        values: list[Any] = []
        if isinstance(stmt, Let):
            atoms = [atom for atom in stmt.args if plan.counted(atom) is None]
            values = [*atoms, *printed_attrs(stmt).values()]
        elif isinstance(stmt, Loop):
            values = _of_loop(stmt, needed, forms, stored)
            inside.update(all_statements(stmt.body))
        else:
            values = list(getattr(stmt, "args", ())) + [
                a for m in getattr(stmt, "merges", ()) for a in (m.then, m.orelse)
            ]
        for size in _sizes(plan, values):
            yield size, weight
    for size in _sizes(plan, function.results):
        yield size, 1


def _of_loop(loop: Any, needed: Demand, forms: dict[Stmt, Range], stored: Stores) -> list[Any]:
    values: list[Any] = []
    if loop.trips is not None:
        values += [forms[loop].start, forms[loop].stop]
    for carry in getattr(loop, "carries", ()):
        values += [carry.init, carry.next, carry.next]
    for record in loop.records:
        store = stored.of[record.target]
        if store.kind not in ("row", "states") and record.target in needed.used:
            values += [store.sizes, loop.trips]
    return values


def _sizes(plan: SizePlan, values: Any) -> Iterator[Size]:
    for value in values:
        if type(value) is Var or type(value) is Const:
            continue
        if isinstance(value, Size):
            yield value
        elif isinstance(value, (tuple, list)):
            if plan.whole(value) is None:
                yield from _sizes(plan, value)
        elif isinstance(value, slice):
            yield from _sizes(plan, (value.start, value.stop, value.step))
        elif isinstance(value, dict):
            yield from _sizes(plan, value.values())
