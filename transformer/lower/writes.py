"""Ops that write: memory that begins as the array, and a nest over the part that is written."""

from __future__ import annotations

from ..core.builder import current
from ..core.grammar import Let, type_of
from ..core.types import ArrayType
from ..ops.regions import is_mask, rank_of, region
from ..ops.value import rule_attrs
from .access import Stored, fitted, running
from .filling import stored
from .nests import Allocate, Nest, emit


def written(stmt: Let, operands: list[Stored]) -> None:
    """`x` with a part written, with its operands as rules see them: its nest is in order where an element may be
    written twice."""
    builder, attrs = current(), rule_attrs(stmt)
    x, slots = operands[0], operands[2:]
    emit(Allocate(stmt.target, stmt.op.name, builder.origin, x.atom))
    types = tuple(type_of(atom) for atom in stmt.args[2:])
    sizes = attrs.get("sizes") or region(x.shape, attrs["index"], types, {})
    with running(sizes) as (indices, at), builder.nested() as body:
        place, number = stmt.op.store(at, *operands, **attrs)
        emit(stored(stmt.target, place, fitted(number, ArrayType(x.dtype)), stmt.op.adds))
    again = not attrs.get("distinct") and any(rank_of(slot) and not is_mask(slot) for slot in slots)
    emit(Nest(indices, body, builder.origin, again))
