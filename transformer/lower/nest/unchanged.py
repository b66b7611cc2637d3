"""Whether what an iteration adds is the same when it is added elsewhere: numbers are read again there."""

from __future__ import annotations

from typing import Any

from ...core.grammar import Let
from ...core.walk import atom_vars
from ..ordering.contractions import Term
from .dependence import Frame, accesses, conflicts
from .nest_walk import defined, is_load, statements, uses_before
from .nests import Block


def are_apart(terms: list[Term], body: Block) -> bool:
    """Whether terms need no number that a body computes, but for what they read and compute themselves."""
    inside = {var for stmt in statements(body) for var in defined(stmt)}
    for term in terms:
        own = {target for stmt in term.steady for target in stmt.targets}
        used = atom_vars((term.before, term.after, [stmt.args for stmt in term.steady], term.places,
                          list(term.spans.values())))
        if not inside.isdisjoint(var for var in used if var not in own):
            return False
    return True


def are_read_again(terms: list[Term], body: Block, k: int, count: int, frame: Frame) -> bool:
    """Whether the factors of terms, which `count` statements behind the first `k` ones of an iteration add, are
    there what they were where they were read before."""
    own = {read.array for term in terms for read in term.reads}
    numbers = {target: stmt for stmt in body if isinstance(stmt, Let) for target in stmt.targets}
    inside = {var for stmt in statements(body[k:k + count]) for var in (*defined(stmt), *uses_before(stmt))}
    used: list[Any] = []
    waiting: list[Any] = [var for var in inside if var in numbers]
    while waiting:
        stmt = numbers[waiting.pop()]
        if stmt not in used:
            used.append(stmt)
            waiting += [var for var in atom_vars((*stmt.args, stmt.attrs)) if var in numbers]
    return stay([stmt for stmt in used if is_load(stmt) and stmt.args[0] in own], body, k, frame)


def stay(numbers: Block, body: Block, k: int, frame: Frame) -> bool:
    """Whether numbers are the same when they are read again behind `k` statements of an iteration."""
    for stmt in numbers:
        if is_load(stmt) and body.index(stmt) < k:
            read, between = accesses([stmt]) or [], accesses(body[body.index(stmt) + 1:k])
            if between is None or any(frame.meet_in_one(*pair) for pair in conflicts(read, between)):
                return False
    return True
