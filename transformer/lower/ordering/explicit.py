"""A term as loops, in the order in which memory lies.

    c[i, j] += a[k, i] * b[k, j]        →       for i, k:
                                                    x = a[k, i]
                                                    for j:
                                                        c[i, j] += x * b[k, j]
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Carry, Const, Let, Var
from ...core.sizes import Size, Unknown
from ...core.types import INT, ArrayType
from ...core.walk import atom_of_size, atom_vars
from ...ops.arithmetic import Add, Multiply, Negative
from ..nest.nests import Block, Fold, Index, Load, Nest, Store
from .contractions import Term, moved, slope


def loops(term: Term, first: Sequence[Var] = (), last: Var | None = None) -> Block:
    """The loops that add a term; the positions `first` are outermost, if it is a part of one, and `last` is that of the
    innermost loop, if it is known."""
    free = [var for var in term.spans if var not in first]
    last = last or max(free, key=lambda var: (along_memory(term, var), var not in _vars(term.at)))
    order = [*first, *(var for var in free if var is not last), last]
    spans: dict[Var, Any] = {}
    places: dict[Var, Any] = {}
    for var in order:
        own = Var(INT, var.name)
        start, stop = (moved(end, places) for end in term.spans[var])
        current().assumptions.within(own, 0, stop - start - 1)
        places[var] = start + Size.of(Unknown(own))
        spans[own] = stop - start
    at, *reads = (tuple(moved(k, places) for k in at) for at in term.places)
    placed = replace(term, at=at, reads=[replace(read, at=own) for read, own in zip(term.reads, reads, strict=True)])
    loads, factors = _loads(placed, set(spans), set(), list(term.before))
    return [*([] if first else term.steady), *loads, *_nested(placed, spans, factors)]


def along_memory(term: Term, var: Var, but: Collection[Var] = ()) -> int:
    """How much is read and written along memory where a position is that of the innermost loop, less what is
    across it; what is written counts twice. Arrays in `but` do not count."""
    own = 0 if term.array in but else 2 * along(term.at, var)
    return own + sum(along(read.at, var) for read in term.reads if read.array not in but)


def along(at: Sequence[Any], var: Var) -> int:
    """Whether places lie along memory (1) for a position, or across it (-1)."""
    return 1 if slope(at[-1], var) == 1 and var not in _vars(at[:-1]) else -1 if var in _vars(at) else 0


def _nested(term: Term, spans: dict[Var, Any], known: list[Atom]) -> Block:
    """The loops over the remaining positions; `known` are factors that are computed outside of them."""
    if not spans:
        return [*_stored(term, known)]
    var, size = next(iter(spans.items()))
    rest = {each: size for each, size in spans.items() if each is not var}
    if not rest and var not in _vars(term.at):
        return _summed(term, Index(var, size), known)
    loads, factors = _loads(term, set(rest), {var}, known)
    return [Nest([Index(var, size)], [*loads, *_nested(term, rest, factors)], term.origin, var not in _vars(term.at))]


def _loads(term: Term, later: set[Var], here: set[Var], known: list[Atom]) -> tuple[Block, list[Atom]]:
    """The factors that are known `here` and no earlier, multiplied with those that were; `later` are the positions of
    the loops inside."""
    block: Block = []
    values: list[Atom] = []
    for read in term.reads:
        own = _vars(read.at)
        if later.isdisjoint(own) and (not here or not here.isdisjoint(own)):
            value = Var(ArrayType(read.array.type.dtype))                # type: ignore[union-attr]
            block.append(Let((value,), Load, (read.array, *map(atom_of_size, read.at)), {}, term.origin))
            values.append(value)
    if not values:
        return [], known
    product, atom = number(values, known, term)
    return [*block, *product], [atom]


def _summed(term: Term, index: Index, known: list[Atom]) -> Block:
    """A sum along the innermost position, which is added to one element."""
    type = ArrayType(term.array.type.dtype)                              # type: ignore[union-attr]
    loads, (item,) = _loads(term, set(), {index.var}, known)
    entry, after, out = Var(type), Var(type), Var(type)
    total = Let((after,), Add, (entry, item), {"order": "any"}, term.origin)
    fold = Fold([index], [Carry(entry, Const(type.dtype.type(0), type), after, out)], [*loads, total], term.origin)
    return [fold, *_stored(term, [out])]


def _stored(term: Term, known: list[Atom]) -> Block:
    body, atom = number(known[:1], [*known[1:], *term.after], term)
    if term.negative:
        body, atom = negated(body, atom, term)
    return [*body, Store(term.array, tuple(map(atom_of_size, term.at)), atom, True, term.origin)]


def number(values: Sequence[Atom], factors: Sequence[Atom], term: Term) -> tuple[Block, Atom]:
    """The product of factors and values."""
    atom, *others = [*factors, *values]
    block: Block = []
    for other in others:
        result = Var(ArrayType(term.array.type.dtype))                   # type: ignore[union-attr]
        block.append(Let((result,), Multiply, (atom, other), {}, term.origin))
        atom = result
    return block, atom


def negated(block: Block, atom: Atom, term: Term) -> tuple[Block, Atom]:
    result = Var(ArrayType(term.array.type.dtype))                       # type: ignore[union-attr]
    return [*block, Let((result,), Negative, (atom,), {}, term.origin)], result


def _vars(at: Any) -> set[Var]:
    return set(atom_vars(tuple(at)))
