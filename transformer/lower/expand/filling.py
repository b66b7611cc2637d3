"""Arrays filled element by element: the nest around what a rule says of one element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.builder import current
from ...core.grammar import Let
from ...core.walk import atom_of_size
from ...ops.identity import Same
from ...ops.integers import affine
from ...ops.value import Value
from ..nest.access import fitted, running
from ..nest.nests import Allocate, Nest, Store, emit


def filled(stmt: Let, element: Callable[[Any], Any], maker: str | None = None) -> None:
    """Emits a nest in which every element of a statement's result is what `element(place)` says; a
    single number where the result is one. The array is named after the op `maker`, if not after that of the
    statement."""
    builder, target = current(), stmt.target
    type: Any = target.type
    if not type.sizes:
        result = element(())
        emit(Let((target,), Same, (fitted(result, type).atom,), {}, builder.origin))
        return
    emit(Allocate(target, maker or stmt.op.name, builder.origin))
    with running(type.sizes) as (indices, at), builder.nested() as body:
        result = element(at)
        if result is not None:
            emit(stored(target, at, fitted(result, type)))
    if body:
        emit(Nest(indices, body, builder.origin))


def stored(array: Any, at: Any, number: Value, adds: bool = False) -> Store:
    """The statement that writes a number at a place."""
    places = tuple(atom_of_size(affine(k)) for k in at)
    return Store(array, places, number.atom, adds, current().origin)
