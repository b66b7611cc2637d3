"""Loops that add up products, in the order in which memory lies.

    for j in range(n - i):                      for k in range(i):
        total = 0.0                                 a_ik = a[i, k]
        for k in range(i):                  →       for j in range(n - i):
            total += a[i, k] * a[k, i + j]              a[i, i + j] += -(a_ik * a[k, i + j])
        a[i, i + j] += -total

It is done where nothing is read that is written, and where the innermost loop goes across more rows than another
one would. Several products that are added in one loop get loops of their own then.
"""

from __future__ import annotations

from typing import Any

from ...core.grammar import Var
from ...core.types import INT
from ...core.walk import atom_vars
from ..nest.dependence import Frame, Ranges, accesses, conflicts, is_above
from ..nest.nests import Block
from .contractions import Term, terms_of
from .explicit import along_memory, loops

SHORT = 16                             # places along which a loop had better not be the inner one


def reordered(stmt: Any, around: Ranges) -> Block | None:
    """The loops of each term in a better order; None where they are in it, or where their order matters."""
    terms = terms_of(stmt, {}) or []
    if not terms or not all(len(term.reads) == 2 and _is_free(term, around) for term in terms):
        return None
    if all(map(_is_in_order, terms)) or not reads_no_writes(stmt, around):
        return None
    return [each for term in terms for each in loops(term)]


def _is_in_order(term: Term) -> bool:
    """Whether no other innermost loop would be better than the one that is."""
    *_, innermost = term.spans
    return along_memory(term, innermost) >= max(along_memory(term, var) for var in term.spans)


def _is_free(term: Term, around: Ranges) -> bool:
    """Whether a term may be added up in any order: no span depends on another one, and none is negative. Where one is
    short, its loop is written out where it is."""
    if term.after or term.spans.keys() & set(atom_vars(tuple(term.spans.values()))):
        return False
    sizes = [stop - start for start, stop in term.spans.values()]
    return all(is_above(size, around, 0) and not (isinstance(size, int) and size < SHORT) for size in sizes)


def reads_no_writes(stmt: Any, around: Ranges) -> bool:
    """Whether a loop reads no element that it writes, or adds to, anywhere."""
    found = accesses([stmt])
    if found is None:
        return False
    frame = Frame(Var(INT), 1, around=around)
    writes, reads = ([each for each in found if each.writes is way] for way in (True, False))
    return not any(frame.meet_in_one(*pair) for pair in conflicts(writes, reads))
