"""Reductions, scans and products: a fold in every element of the result."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from ...core.builder import current
from ...core.grammar import Carry, Let, Var, type_of
from ...core.sizes import Extent
from ...core.types import INT, ArrayType
from ...core.walk import atom_of_size
from ...ops.arithmetic import Add
from ...ops.einsum import split
from ...ops.elements import flat_place
from ...ops.reduction import gone
from ...ops.value import Value, rule_attrs, value
from ..nest.access import Stored, fitted, running
from ..nest.nests import Allocate, Fold, Nest, emit
from .filling import filled, stored
from .python_numbers import raised, refuse

Place = tuple[Any, ...]


def folded(stmt: Let) -> None:
    """A reduction or a scan."""
    x, axes = Stored(stmt.args[0]), axes_of(stmt)
    if stmt.op.running:
        _scanned(stmt, x, axes)
        return
    if stmt.op.init is None:
        require_items(stmt, tuple(x.shape[k] for k in axes))

    def element(at: Place) -> Any:
        steps = Steps(stmt, lambda inner: x[joined(at, inner, axes)])
        return steps.over(tuple(x.shape[k] for k in axes))

    filled(stmt, element)


def require_items(stmt: Let, sizes: tuple[Extent, ...]) -> None:
    """Emits what raises where a reduction has no items, if it needs one."""
    for size in sizes:
        if not current().assumptions.decide(size - 1):
            refuse(Value(atom_of_size(size)) == 0, raised(stmt.op.run, np.zeros(0)))


def axes_of(stmt: Let) -> tuple[int, ...]:
    """The axes that a reduction or a scan goes along."""
    return gone(type_of(stmt.args[0]).rank, stmt.attrs.get("axis"))      # type: ignore[union-attr]


def joined(outer: Place, inner: Place, axes: tuple[int, ...]) -> Place:
    """A place, of its numbers along `axes` and along the others."""
    others, own = iter(outer), iter(inner)
    return tuple(next(own) if k in axes else next(others) for k in range(len(outer) + len(inner)))


class Steps:
    """What an op does with one item after another; `item` gives the one at a place of the folded
    axes."""

    def __init__(self, stmt: Let, item: Callable[[Place], Any]) -> None:
        self.op = stmt.op
        self.item = item
        self.attrs = rule_attrs(stmt)
        self.operands = [Stored(atom) for atom in stmt.args]
        self.dtype = stmt.target.type.dtype                              # type: ignore[union-attr]

    def begin(self, sizes: tuple[Extent, ...]) -> tuple[Value, ...]:
        """The state before the first item; or after it, for an op that has no neutral one."""
        if self.op.init is not None:
            return (fitted(self.op.init(*self.operands, **self.attrs), ArrayType(self.dtype)),)
        first = self.item((value(0),) * len(sizes))
        if self.op.start is None:
            return (fitted(first, ArrayType(self.dtype)),)
        return tuple(map(value, self.op.start(first)))

    def next(self, state: tuple[Value, ...], at: Place, sizes: tuple[Extent, ...]) -> tuple[Value, ...]:
        """The state after the item at a place."""
        alone = self.op.start is None
        made = self.op.step(state[0] if alone else state, self.item(at), flat_place(at, sizes))
        return tuple(fitted(new, old.type) for new, old in zip((made,) if alone else made, state, strict=True))

    def over(self, sizes: tuple[Extent, ...]) -> Any:
        """The result of all items."""
        with running(sizes) as (indices, at):
            state = self.begin(sizes)
            if not indices:
                state = self.next(state, at, sizes)
            else:
                state = fold(indices, state, lambda entries: self.next(entries, at, sizes))
        result = state[0] if self.op.start is None else state
        if self.op.undefined is not None:
            condition, sample = self.op.undefined(result)
            refuse(condition, raised(self.op.run, sample))
        return result if self.op.finish is None else self.op.finish(result)


def fold(indices: Any, state: tuple[Value, ...],
         step: Callable[[tuple[Value, ...]], tuple[Value, ...]]) -> tuple[Value, ...]:
    """Emits a fold: numbers that go from one place of an index space to the next."""
    builder = current()
    entries = tuple(Var(INT if first.type == INT else first.type.strong()) for first in state)
    with builder.nested() as body:
        after = step(tuple(map(Value, entries)))
    carries = [Carry(entry, first.atom, last.atom, Var(entry.type))
               for entry, first, last in zip(entries, state, after, strict=True)]
    emit(Fold(indices, carries, body, builder.origin))
    return tuple(Value(carry.out) for carry in carries)


def _scanned(stmt: Let, x: Stored, axes: tuple[int, ...]) -> None:
    """The nest of the other axes, and in it a fold that stores every total."""
    builder, target = current(), stmt.target
    flat = stmt.attrs.get("axis") is None
    others = tuple(size for k, size in enumerate(x.shape) if k not in axes)
    sizes = tuple(x.shape[k] for k in axes)
    emit(Allocate(target, stmt.op.name, builder.origin))
    with running(others) as (indices, outer), builder.nested() as body, running(sizes) as (inner, at):
        place = joined(outer, at, axes)
        steps = Steps(stmt, lambda inner: x[joined(outer, inner, axes)])

        def step(entries: tuple[Value, ...]) -> tuple[Value, ...]:
            after = steps.next(entries, at, sizes)
            emit(stored(target, (flat_place(at, sizes),) if flat else place, after[0]))
            return after

        state = steps.begin(sizes)
        fold(inner, state, step) if inner else step(state)
    emit(Nest(indices, body, builder.origin))


def contracted(stmt: Let) -> None:
    """A product of arrays, summed over the labels that the result does not have."""
    operands = [Stored(atom) for atom in stmt.args]
    types = [type_of(atom) for atom in stmt.args]
    inputs, output = split(stmt.op.contraction(*types, **rule_attrs(stmt)))
    sizes: dict[str, Extent] = {}
    for labels, x in zip(inputs, operands, strict=True):
        for label, size in zip(labels, x.shape, strict=True):
            sizes[label] = size if sizes.get(label, 1) == 1 else sizes[label]
    inner = [label for label in sizes if label not in output]
    type = ArrayType(stmt.target.type.dtype)                             # type: ignore[union-attr]

    def element(at: Place) -> Any:
        def item(own: Place) -> Value:
            place = dict(zip([*output, *inner], (*at, *own), strict=True))
            factors = [x[tuple(0 if size == 1 else place[label] for label, size in zip(labels, x.shape, strict=True))]
                       for labels, x in zip(inputs, operands, strict=True)]
            return reduce(operator.mul, (fitted(factor, type) for factor in factors))

        with running(tuple(sizes[label] for label in inner)) as (indices, own):
            if not indices:
                return item(own)
            zero = fitted(value(0), type)
            return fold(indices, (zero,), lambda totals: (_in_any_order(totals[0], fitted(item(own), type)),))[0]

    filled(stmt, element)


def _in_any_order(total: Value, item: Value) -> Value:
    """The next sum of products, which may be added up in any order, as BLAS does."""
    return Value(current().let(Add, (total.atom, item.atom), {"order": "any"}, [total.type])[0])
