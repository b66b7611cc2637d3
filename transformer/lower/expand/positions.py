"""Positions of what is not zero, one behind another: a fold that hands on how many there are so far."""

from __future__ import annotations

from ...core.builder import current
from ...core.grammar import If, Let
from ...ops.arithmetic import converted
from ...ops.logic import is_true
from ...ops.value import Value, value
from ..nest.access import Stored, running
from ..nest.nests import Allocate, Nest, emit
from .filling import stored
from .folds import fold


def found(stmt: Let) -> None:
    """What an op keeps of the place of every element that is not zero. How many there are has been
    counted before: it is the size of the targets."""
    builder, x = current(), Stored(stmt.args[0])
    for target in stmt.targets:
        emit(Allocate(target, stmt.op.name, builder.origin))

    def step(counts: tuple[Value, ...]) -> tuple[Value, ...]:
        is_one = is_true(x[at])
        with builder.nested() as block:
            for k, rest, number in stmt.op.found(at, x.shape):
                emit(stored(stmt.targets[k], (counts[0], *rest), value(number)))
        emit(If(is_one.atom, block, [], [], builder.origin))
        return (counts[0] + converted(is_one, int),)

    with running(x.shape) as (indices, at), builder.nested() as body:
        fold(indices, (value(0),), step) if indices else step((value(0),))
    emit(Nest([], body, builder.origin, ordered=True))
