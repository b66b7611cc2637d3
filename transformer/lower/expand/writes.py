"""Ops that write: memory that begins as the array, and a nest over the part that is written."""

from __future__ import annotations

from typing import Any

from ...core.builder import current
from ...core.grammar import Let, type_of
from ...core.halves import promoted
from ...core.types import ArrayType
from ...ops.regions import is_mask, rank_of, region
from ...ops.value import Value, rule_attrs, value
from ..nest.access import Stored, fitted, running
from ..nest.nests import Allocate, Nest, emit
from .filling import stored


def written(stmt: Let, operands: list[Stored]) -> None:
    """`x` with a part written, with its operands as rules see them: its nest is in order where an element may be
    written twice."""
    builder, attrs = current(), rule_attrs(stmt)
    x, slots = operands[0], operands[2:]
    emit(Allocate(stmt.target, stmt.op.name, builder.origin, x.atom))
    types = tuple(type_of(atom) for atom in stmt.args[2:])
    with builder.assumptions.consistent():                         # arrays of places have been found to fit together
        sizes = attrs.get("sizes") or region(x.shape, attrs["index"], types, {})
    again = not attrs.get("distinct") and any(rank_of(slot) and not is_mask(slot) for slot in slots)
    with running(sizes) as (indices, at), builder.nested() as body:
        place, number = stmt.op.store(at, *operands, **attrs)
        own, adds = ArrayType(x.dtype), stmt.op.adds
        if adds and _is_wider(value(number), x.dtype):
            if again:
                own = ArrayType(promoted((x.dtype, number.dtype)))
            else:
                number, adds = x[place] + number, False        # what has been there before
        emit(stored(stmt.target, place, fitted(number, own), adds))
    emit(Nest(indices, body, builder.origin, again))


def _is_wider(number: Value, dtype: Any) -> bool:
    """Whether a number is added to elements in more digits than they have: it is not rounded before."""
    return dtype.kind in "fc" and not number.type.weak and promoted((dtype, number.dtype)) != dtype
