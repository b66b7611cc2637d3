"""Which variables differ from lane to lane, when some of the parameters do.

What is computed from them differs, and so does all that is decided by them: the results of an `if` or a loop
whose condition or number of iterations differs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

from ...core.grammar import Block, Call, Effect, If, Let, Loop, Stmt, Var, type_of
from ...core.types import ArrayType
from ...core.walk import all_uses, atom_vars, blocks_of, calls_itself, targets_of
from ..activity import flows


def differing_vars(block: Block, inputs: Iterable[Var], axis_name: Any) -> set[Var]:
    """The variables of a block, and of those in it, that differ from lane to lane."""
    found = set(inputs)
    before = -1
    while len(found) != before:
        before = len(found)
        for stmt in block:
            _mark(stmt, found, axis_name)
    return found


def _mark(stmt: Stmt, found: set[Var], axis_name: Any) -> None:
    for block in blocks_of(stmt):
        for inner in block:
            _mark(inner, found, axis_name)
    match stmt:
        case Let():
            if _let_differs(stmt, found, axis_name):
                found.update(stmt.targets)
        case Call():
            found.update(_differing_results(stmt, found, axis_name))
        case If() | Loop():
            if is_decided(stmt, found):
                found.update(targets_of(stmt))
            for target, source in flows(stmt):
                if source in found:
                    found.add(target)
        case Effect():
            pass
        case _:
            assert_never(stmt)


def _differing_results(stmt: Call, found: set[Var], axis_name: Any) -> Iterable[Var]:
    """The results of a call that differ. Of what calls itself, all, if one of the arguments does."""
    params = [param for param, on in zip(stmt.function.params, leading(stmt, found)) if on]
    if not params or calls_itself(stmt.function):
        return stmt.targets if params else ()
    inside = differing_vars(stmt.function.body, params, axis_name)
    return [target for target, result in zip(stmt.targets, stmt.function.results)
            if not inside.isdisjoint(atom_vars(result))]


def leading(stmt: Call, differing: set[Var]) -> tuple[bool, ...]:
    """Which arguments of a call have lanes: those that differ, and an array, as it tells how many lanes there are."""
    lead = [not differing.isdisjoint(atom_vars(arg)) for arg in stmt.args]
    arrays = [k for k, arg in enumerate(stmt.args) if isinstance(type_of(arg), ArrayType)]
    if any(lead) and arrays and not any(lead[k] for k in arrays):
        lead[arrays[-1]] = True
    return tuple(lead)


def _let_differs(stmt: Let, found: set[Var], axis_name: Any) -> bool:
    if is_over(stmt, axis_name):
        return bool(stmt.op.differs)
    return not found.isdisjoint(atom_vars((stmt.args, stmt.attrs)))


def is_decided(stmt: Stmt, differing: set[Var]) -> bool:
    """Whether lanes may part in a statement: an `if` or a loop whose condition or trip count differs."""
    if isinstance(stmt, If):
        return not differing.isdisjoint(atom_vars(stmt.cond))
    if isinstance(stmt, Loop):
        return not differing.isdisjoint(atom_vars((stmt.trips, stmt.cond)))
    return False


def is_over(stmt: Stmt, axis_name: Any) -> bool:
    """Whether a statement is about all lanes of the axis with this name."""
    return isinstance(stmt, Let) and stmt.op.over_lanes is not None and axis_name is not None \
        and stmt.attrs["axis_name"] == axis_name


def is_touched(stmt: Stmt, differing: set[Var], axis_name: Any) -> bool:
    """Whether a statement, or one inside of it, has to do with what differs."""
    return not differing.isdisjoint(all_uses(stmt)) or not differing.isdisjoint(targets_of(stmt)) \
        or is_over(stmt, axis_name) \
        or any(is_touched(inner, differing, axis_name) for block in blocks_of(stmt) for inner in block)
