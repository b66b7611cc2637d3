"""Definitions in place of the ops that they define, before the reverse of a function is taken.

    y = ptp(x)       becomes        high = max(x)
                                    low = min(x)
                                    y = high - low

Ops that state a derivative of their own stay.
"""

from __future__ import annotations

from ..core.builder import Builder
from ..core.grammar import Block, If, Let, Loop
from ..ops.identity import Same
from . import rules


def expanded(block: Block, builder: Builder) -> Block:
    """The block with every defined op that states no derivative replaced by its definition."""
    result: Block = []
    for stmt in block:
        if isinstance(stmt, Let) and not rules.has_rule(stmt.op) and stmt.op.definition is not None:
            with builder.nested() as inner:
                atoms = rules.expand(stmt, builder)
            result += expanded(inner, builder)
            result += [Let((t,), Same, (a,), {}, stmt.origin) for t, a in zip(stmt.targets, atoms)]
            continue
        if isinstance(stmt, If):
            stmt.then, stmt.orelse = expanded(stmt.then, builder), expanded(stmt.orelse, builder)
        elif isinstance(stmt, Loop):
            stmt.body = expanded(stmt.body, builder)
        result.append(stmt)
    return result
