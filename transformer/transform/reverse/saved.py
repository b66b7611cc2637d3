"""What calls saved, in both modes: its tangents and cotangents are put together and taken apart as it is itself."""

from __future__ import annotations

from typing import Any

from ...core.builder import Builder
from ...core.grammar import Atom, Const, Let, Var, type_of
from ...core.types import SavedType, SeqType
from ...ops.saved import AddSaved, Pack, Unpack, ZerosLikeSaved, packed
from ...ops.sequences import ZerosLike
from ...ops.value import Value
from .. import rules
from ..calls import strong
from ..naming import derivative_name


def zeros_like_saved(builder: Builder, var: Var) -> Var:
    """Emits the derivative of what was saved and not used."""
    return builder.let(ZerosLikeSaved, (var,), {}, (var.type,))[0]


def zeros_like_sequence(builder: Builder, var: Var) -> Var:
    """Emits zeros for what a loop recorded."""
    element = var.type
    while isinstance(element, SeqType):
        element = element.element
    if isinstance(element, SavedType):
        return zeros_like_saved(builder, var)
    return builder.let(ZerosLike, (var,), {}, (var.type,))[0]


def full_cotangent(builder: Builder, dy: Value | None, var: Var) -> Atom:
    """A cotangent in full size, zeros if there is none."""
    if dy is None and isinstance(var.type, SavedType):
        return zeros_like_saved(builder, var)
    return rules.zero_or(dy, var.type).atom


def added(before: Value, term: Value) -> Value:
    """The sum of two contributions to the cotangent of what was saved."""
    return AddSaved.applied(before, term)


def push_saved(forward: Any, stmt: Let) -> None:
    """The tangent of what is put together or taken apart."""
    layout = forward.calls.dual(stmt.attrs["layout"])
    carries = layout.carries
    if stmt.op is Pack:
        fields = [forward.tangent_of(atom) if on else Const(0) for atom, on in zip(stmt.args, carries)]
        forward.tangent[stmt.target] = packed(layout, fields, forward.named(stmt.target))
        return
    given = forward.given(stmt.args[0])
    targets = [Var(strong(target.type), forward.named(target)) for target in stmt.targets]
    forward.builder.emit(Let(tuple(targets), Unpack, (given.atom,), {"layout": layout}, stmt.origin))
    forward.tangent.update((t, new) for t, new, on in zip(stmt.targets, targets, carries) if on)


def pull_saved(sweep: Any, stmt: Let) -> None:
    """The cotangent of what was put together or taken apart."""
    layout = sweep.calls.dual(stmt.attrs["layout"])
    if stmt.op is Unpack:
        _pull_unpack(sweep, stmt, layout)
        return
    dy = sweep.take(stmt.target)
    if dy is None:
        return
    types = [strong(type_of(atom)) for atom in stmt.args]
    targets = [Var(type, derivative_name(atom, sweep.builder)) for type, atom in zip(types, stmt.args)]
    sweep.builder.emit(Let(tuple(targets), Unpack, (dy.atom,), {"layout": layout}, stmt.origin))
    for atom, target, on in zip(stmt.args, targets, layout.carries):
        if on:
            sweep.contribute(atom, Value(target))


def _pull_unpack(sweep: Any, stmt: Let, layout: Any) -> None:
    if not sweep.is_active(stmt.args[0]):
        return
    fields = []
    for target, on in zip(stmt.targets, layout.carries):
        if isinstance(target.type, SeqType):
            fields.append(_of_sequence(sweep, target) if on else Const(0))
        else:
            fields.append(full_cotangent(sweep.builder, sweep.take(target), target) if on else Const(0))
    sweep.contribute(stmt.args[0], Value(packed(layout, fields)))


def _of_sequence(sweep: Any, var: Var) -> Atom:
    """The cotangent of what a loop recorded and a call saved."""
    found = sweep.elements.pop(var, [])
    if not found:
        return zeros_like_sequence(sweep.builder, var)
    total = found[0]
    for other in found[1:]:
        total, = sweep.builder.let(AddSaved, (total, other), {}, (total.type,))
    return total
