"""Calls whose results count only in some of their elements.

    y = np.where(x > 0, f(x), 0.0)            f(x) divides by x

What is not chosen has no part in the derivative (`supports`), which has to be known where the division is. So the lines
of a function take the place of its call, if its derivative, or that of what it is given, may be infinite.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.grammar import Block, Call, If, Let, Loop, Stmt, Var, type_of
from ...core.walk import all_definitions, all_statements, calls_itself, free_vars
from ...ops.identity import Same
from ...ops.indexing import Get, Put
from ...ops.value import rule_attrs
from ..calls import sizes_of_call
from .restoring import Given
from .supports import may_be_steep, taken_whole

Around = tuple[tuple[If, Block], ...]       # the branches around a statement, and what follows each


def without_chosen_calls(block: Block) -> Block:
    """The block with the lines of functions in place of their calls, where only some of their results count."""
    has_calls = any(isinstance(stmt, Call) for stmt in all_statements(block))
    return _placed(block, ()) if has_calls and may_be_steep(block) else block


def _placed(block: Block, around: Around) -> Block:
    found: Block = []
    for k, stmt in enumerate(block):
        rest = block[k + 1:]
        match stmt:
            case If():
                stmt.then, stmt.orelse = (_placed(side, ((stmt, rest), *around)) for side in (stmt.then, stmt.orelse))
            case Loop():
                stmt.body = _placed(stmt.body, ())
            case Call() if not calls_itself(stmt.function) and _is_chosen_from(stmt, rest, around):
                found += _placed([*_lines_of(stmt), *rest], around)
                return found
        found.append(stmt)
    return found


def _lines_of(stmt: Call) -> Block:
    """The body of a function for the arguments of a call."""
    function = stmt.function
    made = set(all_definitions(function.body))
    pairs = list(zip(stmt.targets, function.results))
    ends: dict[Any, Any] = {result: target for target, result in pairs if result in made}
    copier = Given({**dict(zip(function.params, stmt.args)), **ends}, ends, sizes_of_call(stmt).get)
    body = copier.block(function.body)
    return body + [Let((target,), Same, (copier.atom(result),), {}, stmt.origin)
                   for target, result in pairs if ends.get(result) is not target]


# -- what is chosen --------------------------------------------------------------------------------


def _is_chosen_from(stmt: Call, rest: Block, around: Around) -> bool:
    """Whether a choice by element looks at what a call gives."""
    reached = {target for target in stmt.targets if getattr(target.type, "sizes", ())}
    if _meets_choice(rest, reached):
        return True
    for owner, after in around:
        reached |= _merged(owner, reached)
        if _meets_choice(after, reached):
            return True
    return False


def _meets_choice(block: Iterable[Stmt], reached: set[Var]) -> bool:
    return any(_chooses(stmt, reached) for stmt in block)


def _chooses(stmt: Stmt, reached: set[Var]) -> bool:
    """Whether a statement chooses elements of what was `reached`; if not, what it makes of that is reached, too."""
    match stmt:
        case Let() if not reached.isdisjoint(stmt.args):
            if _is_choice(stmt):
                return True
            if _hands_on(stmt):
                reached.update(stmt.targets)
        case If():
            if _meets_choice([*stmt.then, *stmt.orelse], reached):
                return True
            reached |= _merged(stmt, reached)
        case Loop():
            used = reached.intersection(free_vars(stmt.body))
            return not used <= taken_whole(stmt.body)
    return False


def _is_choice(stmt: Let) -> bool:
    """Whether it may be that some elements of an operand count, and some do not; parts at fixed places all do."""
    slots = {Get: stmt.args[1:], Put: stmt.args[2:]}.get(stmt.op)
    return stmt.op.counts is not None and (slots is None or any(getattr(type_of(slot), "sizes", ()) for slot in slots))


def _hands_on(stmt: Let) -> bool:
    """Whether elements of the result count as those of the operands do."""
    takes_all = stmt.op.takes_all and stmt.op.takes_all(**rule_attrs(stmt))
    return bool(stmt.op.elementwise or stmt.op in (Put, Get) or takes_all or stmt.op.view is True and stmt.op.linear)


def _merged(branch: If, reached: set[Var]) -> set[Var]:
    return {merge.target for merge in branch.merges if {merge.then, merge.orelse} & reached}
