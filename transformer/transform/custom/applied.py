"""Where derivatives meet functions with rules: `ruled` statements in forward and in reverse mode.

Reverse mode first puts the forward part of the rule in place of every active statement, and leaves a
`ruled` one behind it whose `use` is a `Link`: it knows how cotangents go. When the sweep has passed, the
link is nothing but another name for its values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...core.builder import Builder
from ...core.errors import NotSupported
from ...core.grammar import Block, Effect, Function, If, Let, Loop, Var
from ...core.walk import all_statements, blocks_of, free_vars, reachable
from ...ops.identity import Same
from ...ops.ruled import Ruled
from ...ops.value import Value
from ...read.interface import Interface
from ..activity import active_vars
from ..definitions import expanded
from .custom import Application, Pullback, Tangents
from .described import ruling


class Link:
    """Stands for the pullback in the `ruled` statement that takes the place of a function's."""

    def __init__(self, pullback: Pullback) -> None:
        self.pullback = pullback

    def __core_text__(self) -> str:
        return "pullback"


def is_ruled(stmt: Any) -> bool:
    return isinstance(stmt, Let) and stmt.op is Ruled


# -- forward mode ----------------------------------------------------------------------------------


def push(stmt: Let, tangents: Tangents, forward: Any) -> Tangents:
    """Emits the results of a `ruled` statement by its rule; gives their tangents."""
    at = Application(stmt)
    custom = ruling(at.use.custom)
    custom.check_active(at.use, [t is not None for t in tangents])
    results, pushed = custom.pushforward(at, tangents, forward)
    if not custom.stays:
        forward.replaced.add(at.use.serial)
    _name_again(stmt, results, forward.builder)
    return pushed


def _name_again(stmt: Let, results: Sequence[Value], builder: Builder) -> None:
    for target, result in zip(stmt.targets, results):
        builder.emit(Let((target,), Same, (result.atom,), {}, stmt.origin))


# -- reverse mode ----------------------------------------------------------------------------------


def prepared(block: Block, inputs: Iterable[Var], results: Iterable[Any], builder: Builder) -> Block:
    """The block as reverse mode goes through it: definitions expanded, rules in place."""
    block = expanded(block, builder)
    if any(map(is_ruled, all_statements(block))):
        replaced: set[int] = set()
        block = _with_rules(block, active_vars(block, inputs, results), builder, replaced)
        drop_effects(block, replaced)
    return block


def _with_rules(block: Block, active: set[Var], builder: Builder, replaced: set[int]) -> Block:
    found: Block = []
    for stmt in block:
        if is_ruled(stmt) and not active.isdisjoint(stmt.targets):            # type: ignore[union-attr]
            found += _linked(stmt, active, builder, replaced)                 # type: ignore[arg-type]
            continue
        if isinstance(stmt, If):
            stmt.then = _with_rules(stmt.then, active, builder, replaced)
            stmt.orelse = _with_rules(stmt.orelse, active, builder, replaced)
        elif isinstance(stmt, Loop):
            stmt.body = _with_rules(stmt.body, active, builder, replaced)
        found.append(stmt)
    return found


def _linked(stmt: Let, active: set[Var], builder: Builder, replaced: set[int]) -> Block:
    at = Application(stmt)
    custom = ruling(at.use.custom)
    moving = [isinstance(atom, Var) and atom in active for atom in at.operands]
    with builder.nested() as block, builder.at(stmt.origin):
        custom.check_active(at.use, moving)
        results, pullback = custom.reversible(at, moving)
        args = (*(result.atom for result in results), *at.operands)
        attrs = {"count": len(results), "use": Link(pullback)}
        builder.emit(Let(stmt.targets, Ruled, args, attrs, stmt.origin))
    if not custom.stays:
        replaced.add(at.use.serial)
    return block


def drop_effects(block: Block, replaced: set[int]) -> None:
    """Drops, in place, the effects of functions whose rules have taken their place."""
    for stmt in block:
        for inner in blocks_of(stmt):
            drop_effects(inner, replaced)
    if any(_is_replaced(stmt, replaced) for stmt in block):
        block[:] = [stmt for stmt in block if not _is_replaced(stmt, replaced)]


def _is_replaced(stmt: Any, replaced: set[int]) -> bool:
    return isinstance(stmt, Effect) and not replaced.isdisjoint(stmt.attrs.get("within", ()))


def pull(stmt: Let, cotangents: Tangents, sweep: Any) -> list[tuple[int, Value]]:
    """Emits the cotangents of the operands of a link: pairs (place, cotangent)."""
    count = stmt.attrs["count"]
    terms = stmt.attrs["use"].pullback(cotangents, sweep)
    return [(count + k, term) for k, term in enumerate(terms) if term is not None]


def without_links(block: Block) -> None:
    """Makes links in a block, and in those nested in it, other names for their values; in place."""
    for stmt in block:
        for inner in blocks_of(stmt):
            without_links(inner)
    if any(is_ruled(stmt) and isinstance(stmt.attrs["use"], Link) for stmt in block):   # type: ignore[union-attr]
        block[:] = [new for stmt in block for new in _unlinked(stmt)]


def _unlinked(stmt: Any) -> Block:
    if not is_ruled(stmt) or not isinstance(stmt.attrs["use"], Link):
        return [stmt]
    return names_of(stmt)


def names_of(stmt: Let) -> Block:
    """What is left of a `ruled` statement where no derivative is taken."""
    return [Let((target,), Same, (atom,), {}, stmt.origin) for target, atom in zip(stmt.targets, stmt.args)]


def take_hidden(function: Function, interface: Interface) -> None:
    """Makes the arrays from outside that a rule uses, which was read just now, parameters of the function."""
    names = {hidden.var: hidden.name for hidden in interface.hidden}
    function.params += [var for var in names if var not in function.params]
    for called in reachable(function)[1:]:
        taken = [var for var in free_vars(called.body) if var in names and var not in called.params]
        if taken:
            raise NotSupported(f"a rule used by {called.name} uses the outside array {names[taken[0]]!r}",
                               called.origin, why="The function is recursive.",
                               instead="Pass the array to the function with the rule as an argument.")


def settled(function: Function) -> None:
    """Puts other names for values in place of all `ruled` statements of a function and of those that it
    calls: no derivative is taken any more."""
    for each in reachable(function):
        _settle(each.body)


def _settle(block: Block) -> None:
    for stmt in block:
        for inner in blocks_of(stmt):
            _settle(inner)
    if any(map(is_ruled, block)):
        block[:] = [new for stmt in block for new in (names_of(stmt) if is_ruled(stmt) else [stmt])]  # type: ignore[arg-type]
