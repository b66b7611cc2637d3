"""Operands as rules see them: arrays that are read at a place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Const, Var, type_of
from ...core.sizes import Extent
from ...core.types import INT, ArrayType
from ...core.walk import atom_of_size
from ...ops.arithmetic import converted
from ...ops.integers import affine
from ...ops.value import Value, value
from .nests import Index, Load


class Stored:
    """An array in memory, or a number. Fusion will put in its place what computes the element."""

    def __init__(self, atom: Atom) -> None:
        self.atom = atom
        self.type: ArrayType = type_of(atom)                           # type: ignore[assignment]
        self.from_front = False          # as places, its elements are not negative

    @property
    def shape(self) -> tuple[Extent, ...]:
        return tuple(map(current().assumptions.normal, self.type.sizes))

    @property
    def dtype(self) -> Any:
        return self.type.dtype

    @property
    def ndim(self) -> int:
        return self.type.rank

    @property
    def size(self) -> Extent:
        return current().assumptions.normal(self.type.elements)

    def __getitem__(self, at: Any) -> Value:
        if not self.type.sizes:
            return Value(self.atom)
        places = at if isinstance(at, tuple) else (at,)
        assert len(places) == self.ndim, f"{len(places)} indices for {self.type}"
        return loaded(self.atom, tuple(atom_of_size(affine(k)) for k in places))


def place_key(at: tuple[Atom, ...]) -> tuple[Any, ...]:
    """What tells the places of two accesses apart: constants are equal by their numbers."""
    return tuple(place.value if isinstance(place, Const) else place for place in at)


def loaded(array: Atom, at: tuple[Atom, ...]) -> Value:
    """The number at a place; the one read before where it is the same."""
    builder = current()
    atoms = (array, *at)
    var = builder.earlier(Load, atoms, {})
    if var is None:
        var, = builder.let(Load, atoms, {}, [ArrayType(type_of(array).dtype)])   # type: ignore[union-attr]
        builder.numbering.number(var)
    return Value(var)


@contextmanager
def running(sizes: tuple[Extent, ...]) -> Iterator[tuple[list[Index], tuple[Any, ...]]]:
    """Indices for an index space, and the place they are at; axes of size 1 need none."""
    indices: list[Index] = []
    at: list[Any] = []
    for size in sizes:
        if size == 1:
            at.append(value(0))
            continue
        var = Var(INT)
        current().assumptions.within(var, 0, size - 1)
        indices.append(Index(var, size))
        at.append(Value(var))
    yield indices, tuple(at)


def fitted(number: Any, type: ArrayType) -> Value:
    """A number in the dtype of a type."""
    number = value(number)
    if number.dtype == type.dtype and number.type.weak == type.weak:
        return number
    return converted(number, PYTHON[type.dtype.kind] if type.weak else type.dtype)


PYTHON = {"b": bool, "i": int, "f": float, "c": complex}
