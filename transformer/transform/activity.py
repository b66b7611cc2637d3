"""Activity: which variables carry derivatives from the chosen parameters to the results.

A variable is *varied* when it depends on an active parameter through floating point values, and
*useful* when a result depends on it in that way. Only variables that are both get a cotangent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..core.grammar import Block, Call, If, Let, Loop, Map, Stmt, Var, type_of
from ..core.walk import blocks_of


def active_vars(block: Block, inputs: Iterable[Var], results: Iterable[object]) -> set[Var]:
    """The variables that are both varied from `inputs` and useful for `results`."""
    varied = set(inputs)
    _until_stable(varied, lambda: _mark_varied(block, varied))
    useful = {atom for atom in results if isinstance(atom, Var)}
    _until_stable(useful, lambda: _mark_useful(block, useful))
    return varied & useful


def varied_vars(block: Block, inputs: Iterable[Var]) -> set[Var]:
    """The variables that depend on `inputs` through floating point values."""
    varied = set(inputs)
    _until_stable(varied, lambda: _mark_varied(block, varied))
    return varied


def _until_stable(found: set[Var], step: Callable[[], None]) -> None:
    before = -1
    while len(found) != before:
        before = len(found)
        step()


def differentiable_args(stmt: Let) -> list[Var]:
    """The operands through which derivatives pass."""
    if stmt.op.derivative is not None:
        return []
    return [a for a in stmt.args if isinstance(a, Var) and type_of(a).is_inexact]


def flows(stmt: Stmt) -> Iterable[tuple[Var, object]]:
    """Pairs (target, source): `target` takes the value of `source` at an edge of a statement."""
    match stmt:
        case If():
            for merge in stmt.merges:
                yield merge.target, merge.then
                yield merge.target, merge.orelse
        case Loop() | Map():
            for carry in getattr(stmt, "carries", ()):
                yield carry.entry, carry.init
                yield carry.entry, carry.next
                yield carry.out, carry.entry
                yield carry.out, carry.init
                yield carry.out, carry.next
            for read in stmt.reads:
                yield read.target, read.source
            for record in stmt.records:
                yield record.target, record.value


def _mark_varied(block: Block, varied: set[Var]) -> None:
    for stmt in block:
        if isinstance(stmt, Let):
            if not varied.isdisjoint(differentiable_args(stmt)):
                varied.update(t for t in stmt.targets if t.type.is_inexact)
            continue
        if isinstance(stmt, Call):
            if not varied.isdisjoint(a for a in stmt.args if isinstance(a, Var)):
                varied.update(t for t in stmt.targets if t.type.is_inexact)
            continue
        _pass_on(stmt, varied, forwards=True)
        for inner in blocks_of(stmt):
            _mark_varied(inner, varied)
        _pass_on(stmt, varied, forwards=True)


def _mark_useful(block: Block, useful: set[Var]) -> None:
    for stmt in reversed(block):
        if isinstance(stmt, Let):
            if not useful.isdisjoint(stmt.targets):
                useful.update(differentiable_args(stmt))
            continue
        if isinstance(stmt, Call):
            if not useful.isdisjoint(stmt.targets):
                useful.update(a for a in stmt.args if isinstance(a, Var) and a.type.is_inexact)
            continue
        _pass_on(stmt, useful, forwards=False)
        for inner in reversed(blocks_of(stmt)):
            _mark_useful(inner, useful)
        _pass_on(stmt, useful, forwards=False)


def _pass_on(stmt: Stmt, found: set[Var], forwards: bool) -> None:
    for target, source in flows(stmt):
        if not isinstance(source, Var) or not target.type.is_inexact:
            continue
        if forwards and source in found:
            found.add(target)
        elif not forwards and target in found and source.type.is_inexact:
            found.add(source)
