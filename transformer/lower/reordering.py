"""Loops that add up products, in the order in which memory lies; several steps of a sum in one pass over a row.

    for j in range(n - i):                      for k in range(i // 4):
        total = 0.0                                 x0, x1, x2, x3 = a[i, 4 * k], …
        for k in range(i):                  →       for j in range(n - i):
            total += a[i, k] * a[k, i + j]              a[i, i + j] += -(x0 * a[4 * k, i + j] + …)
        a[i, i + j] += -total                   for k in range(i % 4): …

It is done where nothing is read that is written, and where the innermost loop goes across more rows than another one would.
"""

from __future__ import annotations

from typing import Any

from ..core.grammar import Loop, Var
from ..core.types import INT
from ..core.walk import atom_vars
from .contractions import Term, terms_of
from .dependence import Frame, Ranges, accesses, as_nest, conflicts, is_above
from .explicit import along_memory, loops
from .nests import Block, Fold, Nest, inner_blocks


def reordered(stmt: Any, around: Ranges) -> Block | None:
    """The loops of one term in a better order; None where they are in it, or where their order matters."""
    terms = terms_of(stmt, {})
    if terms is None or len(terms) != 1 or not _is_free(terms[0], around) or not _reads_no_writes(stmt, around):
        return None
    term, = terms
    innermost = _innermost(stmt)
    best = max(along_memory(term, var) for var in term.spans)
    if innermost is None or along_memory(term, innermost) >= best or len(term.reads) != 2:
        return None
    return loops(term)


def _innermost(stmt: Any) -> Var | None:
    """The position of the innermost loop, if each has one loop inside at most."""
    inside = [each for block in inner_blocks(stmt) for each in block if isinstance(each, (Nest, Fold, Loop))]
    if len(inside) == 1:
        return _innermost(inside[0])
    nest = as_nest(stmt) if isinstance(stmt, Loop) else stmt
    return None if inside or nest is None else nest.indices[-1].var


def _is_free(term: Term, around: Ranges) -> bool:
    """Whether a term may be added up in any order: no span depends on another one, and none is negative."""
    if term.after or term.spans.keys() & set(atom_vars(tuple(term.spans.values()))):
        return False
    return all(is_above(stop - start, around, 0) for start, stop in term.spans.values())


def _reads_no_writes(stmt: Any, around: Ranges) -> bool:
    found = accesses([stmt])
    if found is None:
        return False
    frame = Frame(Var(INT), 1, around=around)
    writes, reads = ([each for each in found if each.writes is way] for way in (True, False))
    return not any(frame.meet_in_one(*pair) for pair in conflicts(writes, reads))
