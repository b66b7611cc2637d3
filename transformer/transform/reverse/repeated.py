"""Heavy computations that the forward sweep does as well: the reverse sweep takes their results.

    for k in range(n):                              for k in range(n - 1, -1, -1):
        inverse = inv(S)                                dS += t * inv(S).T
        total += log(det(S)) + v @ inverse @ v              → dS += t * inverse.T

What a rule asks for, such as the inverse in the derivative of a determinant, the program may have computed by itself.
In a function's own block equal statements are found later; those of two loops are not next to each other.
"""

from __future__ import annotations

from typing import Any

from ...core.grammar import Block, Let, Var
from ...core.walk import all_statements, blocks_of, substitute
from ..scopes import Scopes


def take_repeated(scopes: Scopes, backwards: Block) -> None:
    """Replaces such statements of the reverse sweep, which mentions values of the forward sweep freely; in place."""
    made = {key: stmt for stmt in scopes.time
            if isinstance(stmt, Let) and (key := _key(stmt)) is not None and _stands_by_its_operands(stmt, scopes)}
    found: dict[Var, Any] = {stmt.target: made[key].target for stmt in all_statements(backwards)
                             if isinstance(stmt, Let) and (key := _key(stmt)) in made}
    if found:
        _drop(backwards, found)
        for stmt in backwards:
            substitute(stmt, found)


def _key(stmt: Let) -> Any:
    """What says that two statements compute the same; None for what is not heavy."""
    if not stmt.op.heavy or stmt.op.writes or len(stmt.targets) != 1:
        return None
    return stmt.op, tuple(atom if isinstance(atom, Var) else repr(atom) for atom in stmt.args), repr(stmt.attrs)


def _stands_by_its_operands(stmt: Let, scopes: Scopes) -> bool:
    """Whether its result is there wherever all of its operands are."""
    home = scopes.scope_of[stmt]
    return home is not scopes.top and any(scopes.home.get(atom) is home for atom in stmt.args if isinstance(atom, Var))


def _drop(block: Block, targets: dict[Var, Any]) -> None:
    block[:] = [stmt for stmt in block if not (isinstance(stmt, Let) and stmt.targets[0] in targets)]
    for stmt in block:
        for inner in blocks_of(stmt):
            _drop(inner, targets)
