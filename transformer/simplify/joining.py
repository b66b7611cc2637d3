"""Branches of the reverse sweep that follow one another on one condition: one branch. What the user wrote stays apart.

>>> from .examples import shown
>>> shown(joining, '''
... function f(c: bool, x: f64)
...     effect comment(text='reverse')
...     if c
...         then
...             t: f64 = sin(x)
...         merge u: f64 = t, undefined saved
...     if c
...         then
...             v: f64 = multiply(u, x)
...         merge y: f64 = v, x
...     return y
... ''')
function f(c: bool, x: f64)
    effect comment(text='reverse')
    if c
        then
            t: f64 = sin(x)
            v: f64 = multiply(t, x)
        merge u: f64 = t, undefined saved
        merge y: f64 = v, x
    return y
"""

from __future__ import annotations

from ..core.grammar import UNDEFINED, Block, Function, If, Stmt, Var
from ..core.guards import Assumptions
from ..core.headings import reverse_from
from ..core.walk import blocks_of, free_vars, substitute
from .rewriter import same_atom


def joining(function: Function, assumptions: Assumptions) -> bool:
    """Joins such branches in place; says whether there were any."""
    begins = reverse_from(function.body)
    reverse = function.body[begins:]
    changed = _joined(reverse)
    function.body[begins:] = reverse
    return changed


def _joined(block: Block) -> bool:
    changed = False
    made: Block = []
    for stmt in block:
        for inner in blocks_of(stmt):
            changed |= _joined(inner)
        before = made[-1] if made else None
        if isinstance(before, If) and isinstance(stmt, If) and _fits(before, stmt):
            _join(before, stmt)
            changed = True
        else:
            made.append(stmt)
    block[:] = made
    return changed


def _fits(before: If, stmt: If) -> bool:
    """Whether a branch may be joined to the one before: nothing that it uses is undefined there."""
    if not same_atom(before.cond, stmt.cond):
        return False
    for side, block in (("then", stmt.then), ("orelse", stmt.orelse)):
        used = free_vars(block, [atom for merge in stmt.merges if isinstance(atom := getattr(merge, side), Var)])
        if any(merge.target in used and getattr(merge, side) is UNDEFINED for merge in before.merges):
            return False
    return True


def _join(before: If, stmt: If) -> None:
    for side in ("then", "orelse"):
        known = {merge.target: getattr(merge, side) for merge in before.merges
                 if getattr(merge, side) is not UNDEFINED}
        block: list[Stmt] = getattr(stmt, side)
        for inner in block:
            substitute(inner, known)
        getattr(before, side).extend(block)
        for merge in stmt.merges:
            atom = getattr(merge, side)
            setattr(merge, side, known.get(atom, atom) if isinstance(atom, Var) else atom)
    before.merges += stmt.merges
