"""Matrix products: a library multiplies matrices, loops multiply all else.

    y = x @ w                           product y[i, j] = x[i, k] * w[k, j]
    y[b] = x[b] @ w[b]                  nest b
                                            product y[b, i, j] = x[b, i, k] * w[b, k, j]

Small products stay loops, which fuse; so do products of a vector with a matrix that is computed for them. An
operand that is only a view of an array (a transpose, a slice) is read where it lies.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Const, Let, Var, type_of
from ...core.halves import FLOAT32, is_half
from ...core.sizes import Extent, product
from ...core.types import ArrayType
from ...core.walk import Copier, atom_vars, size_of_atom
from ...ops.arithmetic import Cast
from ...ops.axes import Transpose
from ...ops.einsum import split
from ..fusion.substitution import filled_arrays, makers_of
from ..nest.access import running
from ..nest.nest_walk import is_load, statements
from ..nest.nests import Allocate, Block, Index, Nest, Part, Product, emit

WORTH_A_CALL = 256                     # multiplications, of matrices whose sizes are fixed
WORTH_READING = 4096                   # elements of a matrix that is multiplied by a vector
SHORT_ROW = 4                          # numbers that are read for many rows at once
UNKNOWN = 16                           # what a size is taken for that is not known


@dataclass
class Axes:
    """The axes of a product of two arrays by their labels: `rows` those of the left one that the result has,
    `columns` those of the right one, `inner` those that are summed, and `stack` those for each of which there
    is a product: those of both, and what is in front of rows or columns that lie apart. An axis of size 1
    is none of them, nor is one along which an operand is spread, for that operand."""

    labels: tuple[str, str, str]       # of the operands and of the result
    sizes: dict[str, Extent]
    spread: tuple[set[str], set[str]]

    def __post_init__(self) -> None:
        moving = {label for label, size in self.sizes.items() if size != 1}
        left, right = ((set(own) & moving) - spread for own, spread in zip(self.labels, self.spread, strict=False))
        first, _, output = self.labels
        self.inner = [label for label in first if label in (left & right) - set(output)]
        own = [label for label in output if label in moving]
        shared = [label for label in own if label in left & right]
        count = len(shared) if own[:len(shared)] != shared else next(
            (k for k in range(len(shared), len(own)) if self._are_together(own[k:])), len(shared))
        self.stack = own[:count] if own[:len(shared)] == shared else shared
        self.rows = [label for label in own if label in left and label not in self.stack]
        self.columns = [label for label in own if label in right and label not in self.stack]
        self.lost = moving.difference(*self.groups)

    def _are_together(self, labels: list[str]) -> bool:
        """Whether axes of the result are rows and columns that lie side by side in the operands."""
        sides = [[label for label in labels if label in own] for own in self.labels[:2]]
        return labels in (sides[0] + sides[1], sides[1] + sides[0]) and all(
            "".join(side) in "".join(label for label in own if self.sizes[label] != 1)
            for side, own in zip(sides, self.labels, strict=False))

    @property
    def groups(self) -> tuple[list[str], ...]:
        return self.stack, self.rows, self.columns, self.inner

    @property
    def are_of_matrices(self) -> bool:
        repeated = any(len(set(labels)) < len(labels) for labels in self.labels)
        return not (repeated or self.lost) and all((self.rows, self.columns, self.inner))

    @property
    def are_of_vector(self) -> bool:
        """Whether one operand is a vector and the other one a matrix of several rows and columns."""
        ranks = [len(labels) for labels in self.labels]
        return not (self.stack or self.lost) and ranks in ([2, 1, 1], [1, 2, 1]) and len(self.inner) == 1 and (
            len(self.rows + self.columns) == 1 and len(set(self.labels[0] + self.labels[1])) == 2)

    @property
    def pays(self) -> bool:
        sizes = [self.sizes[label] for group in self.groups[1:] for label in group]
        known = [size for size in sizes if isinstance(size, int)]
        return len(known) < len(sizes) - 1 or product(known) * UNKNOWN ** (len(sizes) - len(known)) >= WORTH_A_CALL

    @property
    def has_columns_first(self) -> bool:
        own = [label for label in self.labels[2] if self.sizes[label] != 1]
        return bool(self.rows and self.columns) and own == [*self.stack, *self.columns, *self.rows]

    def turned(self) -> Axes:
        """Those of `y.T = b.T @ a.T`."""
        left, right, output = self.labels
        return Axes((right, left, output), self.sizes, self.spread[::-1])

    def order(self) -> str:
        """The labels of the result with the stack first, then the rows; those of size 1 stay in place."""
        moving = iter([*self.stack, *self.rows, *self.columns])
        return "".join(label if self.sizes[label] == 1 else next(moving) for label in self.labels[2])


def multiplied(stmt: Let, emitted: Callable[[Let], None], computed: Container[Any]) -> bool:
    """Emits a contraction as a product of matrices, if it is one; `emitted` expands a statement, `computed` are
    arrays that need not be kept in memory."""
    if is_half(stmt.target.type.dtype):                                  # type: ignore[union-attr]
        return _of_halves(stmt, emitted)
    axes = _axes_of(stmt)
    if axes is None or not (axes.are_of_matrices and axes.pays
                            or axes.are_of_vector and _is_read(axes, stmt, computed)):
        return False
    type: Any = stmt.target.type
    left, right = (_in_dtype(atom, type.dtype, emitted) for atom in stmt.args)
    _ordered(axes, left, right, stmt, emitted)
    return True


def _of_halves(stmt: Let, emitted: Callable[[Let], None]) -> bool:
    """Two matrices of 16 bits are multiplied as they are; all else is, in float32: libraries have nothing better for
    stacks of matrices, and what is added up in a loop needs the digits."""
    axes = _axes_of(stmt)
    if axes is not None and axes.are_of_matrices and axes.pays and not axes.stack:
        left, right = stmt.args
        _ordered(axes, left, right, stmt, emitted)
        return True
    type: Any = stmt.target.type
    wide = Var(ArrayType(FLOAT32, type.sizes))
    args = tuple(_in_dtype(atom, FLOAT32, emitted) for atom in stmt.args)
    emitted(Let((wide,), stmt.op, args, stmt.attrs, stmt.origin))
    emitted(Let(stmt.targets, Cast, (wide,), {"dtype": type.dtype}, stmt.origin))
    return True


def _ordered(axes: Axes, left: Any, right: Any, stmt: Let, emitted: Callable[[Let], None]) -> None:
    """The product, and its axes in the order of the result."""
    if axes.has_columns_first:
        axes, left, right = axes.turned(), right, left
    order, output = axes.order(), axes.labels[2]
    if order == output:
        _emit(axes, stmt.target, left, right, stmt)
        return
    type: Any = stmt.target.type
    result = Var(type.with_sizes(tuple(axes.sizes[label] for label in order)))
    _emit(axes, result, left, right, stmt)
    emitted(Let(stmt.targets, Transpose, (result,), {"axes": tuple(map(order.index, output))}, stmt.origin))


def _is_read(axes: Axes, stmt: Let, computed: Container[Any]) -> bool:
    """Whether a matrix is there, and large enough for a call; for small ones other code is made. Rows of a few
    numbers are read by loops, with what else is done for each of them."""
    matrix = stmt.args[len(axes.labels[1]) == 2]
    summed = axes.sizes[axes.inner[0]]
    if isinstance(summed, int) and summed <= SHORT_ROW:
        return False
    return matrix not in computed and current().assumptions.choose(product(axes.sizes.values()), WORTH_READING)


def _axes_of(stmt: Let) -> Axes | None:
    types: list[Any] = list(map(type_of, stmt.args))
    if len(types) != 2 or stmt.target.type.dtype.kind not in "fc":       # type: ignore[union-attr]
        return None
    attrs = {key: item for key, item in stmt.attrs.items() if key != "spelling"}
    (first, second), output = split(stmt.op.contraction(*types, **attrs))
    normal = current().assumptions.normal
    own = [dict(zip(labels, map(normal, type.sizes), strict=True))
           for labels, type in zip((first, second), types, strict=True)]
    sizes = {label: own[0].get(label, 1) if own[0].get(label, 1) != 1 else own[1].get(label, 1)
             for label in first + second}
    spread = [{label for label in each if each[label] == 1} for each in own]
    return Axes((first, second, output), sizes, (spread[0], spread[1]))


def _in_dtype(atom: Atom, dtype: Any, emitted: Callable[[Let], None]) -> Any:
    type: Any = type_of(atom)
    if type.dtype == dtype:
        return atom
    converted = Var(ArrayType(dtype, type.sizes))
    emitted(Let((converted,), Cast, (atom,), {"dtype": dtype}, current().origin))
    return converted


def _emit(axes: Axes, result: Var, left: Any, right: Any, stmt: Let) -> None:
    """The product, for every place of the stack."""
    places: dict[str, Atom] = {}
    indices: list[list[Index]] = []
    for group in axes.groups:
        with running(tuple(axes.sizes[label] for label in group)) as (own, at):
            indices.append(own)
            places.update(zip(group, (k.atom for k in at), strict=True))

    def part(array: Var, labels: str, spread: set[str]) -> Part:
        return Part(array, tuple(Const(0) if label in spread else places.get(label, Const(0)) for label in labels))

    operands = (part(*each) for each in zip((left, right), axes.labels, axes.spread, strict=False))
    made = Product(part(result, axes.order(), set()), *operands, *indices[1:], stmt.origin)   # type: ignore[call-arg, arg-type]
    emit(Allocate(result, stmt.op.name, stmt.origin))
    emit(Nest(indices[0], [made], stmt.origin) if indices[0] else made)


# -- operands that are views --------------------------------------------------------------------


def see_through(block: Block) -> None:
    """Reads the operands of products where they lie, in place: a view of an array is that array, at other
    places."""
    fillers = {array: (stmt, store) for stmt in statements(block) if isinstance(stmt, Nest)
               for array, store in filled_arrays(stmt).items()}
    for stmt in statements(block):
        if isinstance(stmt, Product):
            for part in (stmt.left, stmt.right):
                while part.array in fillers and _is_moved(part, *fillers[part.array], stmt.indices):
                    pass


def _is_moved(part: Part, nest: Nest, store: Any, indices: list[Index]) -> bool:
    """Makes a part of a view one of what it is a view of; tells whether that is possible."""
    makers = makers_of(nest, store)
    if len(makers) != 1 or not is_load(makers[0]) or makers[0].target is not store.value:
        return False
    own = {var: k for var, k in zip(store.at, part.at, strict=True) if isinstance(var, Var)}
    at = Copier(own).args(makers[0].args[1:])
    if not are_slices(at, indices) or len(_moving(at, indices)) < len(_moving(part.at, indices)):
        return False
    part.array, part.at = makers[0].args[0], at
    return True


def are_slices(at: tuple[Atom, ...], indices: list[Index]) -> bool:
    """Whether every axis stands still, or runs with an index of its own."""
    moving = [[index for index in indices if index.var in atom_vars((k,))] for k in at]
    alone = all(len(own) <= 1 for own in moving) and len(_moving(at, indices)) == sum(map(len, moving))
    return alone and all(own[0].var not in atom_vars((size_of_atom(k) - size_of_atom(own[0].var),))
                         for k, own in zip(at, moving, strict=True) if own)


def _moving(at: tuple[Atom, ...], indices: list[Index]) -> set[Var]:
    return {index.var for index in indices} & set(atom_vars(at))
