"""Sums of floating numbers: fast, as their order is free, and accurate, as they are made in blocks.

    for b in range((n + 1023) // 1024):
        part = 0.0
        for i in range(min(1024, n - 1024 * b)):
            part = plus(part, x[1024 * b + i])
        whole = total + part
        lost += rounding(total, part, whole)
        total = whole

A part is added up in as many registers as the processor has lanes for (`plus` may be regrouped, no other
addition may), some tens of additions one behind the other; what is rounded away where parts are added is
added at the end. The error stays below that of NumPy's pairwise sums, in the same time for any number of
elements, and is the same in every run.
"""

from __future__ import annotations

from typing import Any

from ...core.builder import current
from ...core.equations import only_atom
from ...core.grammar import Atom, Carry, Const, Let, Loop, Var
from ...core.sizes import Extent, Greatest, Least, Size, Unknown, least
from ...core.types import INT, ArrayType
from ...core.walk import Copier, atom_of_size
from ...ops import scalars
from ...ops.arithmetic import Add
from ...ops.base import Op
from ..nest.clean import Renaming
from ..nest.nest_walk import all_uses, inner_blocks, is_float, statements
from ..nest.nests import Block, Fold, Index, Nest, split

BLOCK = 1024                           # elements that are added without care for what is rounded away


class Plus(Op):
    """A sum of two numbers, one of many that may be added up in any order."""

    operands = ("a", "b")
    elementwise = True
    loop = scalars.plus
    types = staticmethod(lambda a, b: a)
    run: Any = staticmethod(scalars.plus)


class Rounding(Op):
    """What is rounded away in `whole = a + b`."""

    operands = ("a", "b", "whole")
    elementwise = True
    loop = scalars.rounding
    types = staticmethod(lambda a, b, whole: a)
    run: Any = staticmethod(scalars.rounding)


def accurate(block: Block, repeated: bool = False) -> Block:
    """The block with its sums in parts; `repeated` says that it is inside of a loop or nest."""
    made: Block = []
    for stmt in block:
        if isinstance(stmt, Fold):
            made += _accurate(stmt, repeated)
            continue
        for inner in inner_blocks(stmt):
            inner[:] = accurate(inner, repeated or isinstance(stmt, (Nest, Loop)))
        made.append(stmt)
    return made


def _accurate(stmt: Fold, repeated: bool) -> Block:
    sums = [carry for carry in stmt.carries if is_float(carry.entry)]
    if sums and len(stmt.indices) > 1:
        stmt = split(stmt, 1)                                            # type: ignore[assignment]
    for carry in stmt.carries:
        opened(carry, stmt)
    is_innermost = not any(isinstance(each, (Nest, Fold)) for each in statements(stmt.body))
    stmt.body = accurate(stmt.body, True)
    found = {carry: add for carry in stmt.carries if (add := added(carry, stmt)) is not None}
    if not found:
        return [stmt]
    if not is_innermost or any("of" in add.attrs for add in found.values()):     # of sums of chunks
        return _compensated(stmt, found)
    size = stmt.indices[0].size
    for add in found.values():
        stmt.body[stmt.body.index(add)] = Let(add.targets, Plus, add.args, {}, add.origin)
    exact = {carry for carry, add in found.items() if "order" not in add.attrs}
    if not exact or _is_short(size, repeated):
        return [stmt]
    return _in_blocks(stmt, set(found))


def _is_short(size: Extent, repeated: bool) -> bool:
    """Whether a sum is one block; of many short ones code is made for calls in which they are."""
    assumptions, bound = current().assumptions, at_most(size)
    if bound is not None and bound <= BLOCK:
        return True
    return assumptions.certainly_at_least(BLOCK, size) or repeated and assumptions.choose(BLOCK, size)


def at_most(size: Extent) -> int | None:
    """A number that a size does not exceed."""
    if isinstance(size, int):
        return size
    sole = only_atom(size)
    if not isinstance(sole, (Least, Greatest)):
        return None
    ends = [end for end in map(at_most, (sole.first, sole.second)) if end is not None]
    if isinstance(sole, Least):
        return min(ends, default=None)
    return max(ends) if len(ends) == 2 else None


def opened(carry: Carry, stmt: Fold) -> None:
    """Makes a sum that goes on in an inner fold the sum of those of that fold."""
    inner = next((each for each in stmt.body if isinstance(each, Fold)
                  and any(c.out is carry.next and c.init is carry.entry for c in each.carries)), None)
    if inner is None or not is_float(carry.entry) or uses_in(stmt, carry.entry) != 1:
        return
    mine = next(c for c in inner.carries if c.out is carry.next)
    if not _is_sum(mine, inner):
        return
    mine.init = _zero(carry.entry)
    whole = Var(carry.entry.type)
    stmt.body.append(Let((whole,), Add, (carry.entry, mine.out), {}, stmt.origin))
    carry.next = whole


def _is_sum(carry: Carry, stmt: Fold) -> bool:
    """Whether a fold does nothing to a number but add to it, in the folds inside of it as well."""
    if added(carry, stmt) is not None:
        return True
    inner = [(each, c) for each in stmt.body if isinstance(each, Fold) for c in each.carries
             if c.out is carry.next and c.init is carry.entry]
    return bool(inner) and uses_in(stmt, carry.entry) == 1 and _is_sum(inner[0][1], inner[0][0])


def added(carry: Carry, stmt: Fold) -> Let | None:
    """The addition that makes the next value of a sum, if it is one."""
    return combined(carry, stmt, (Add,)) if is_float(carry.entry) else None


def combined(carry: Carry, stmt: Fold, ops: tuple[Any, ...]) -> Let | None:
    """What makes the next value of a fold of its last one and an item, in this order, if it is one of these ops."""
    made = next((each for each in stmt.body if isinstance(each, Let) and carry.next in each.targets), None)
    if made is None or made.op not in ops or uses_in(stmt, carry.entry) != 1:
        return None
    if carry.entry not in made.args or made.target.type != carry.entry.type or uses_in(stmt, made.target):
        return None
    made.args = (carry.entry, made.args[made.args[0] is carry.entry])
    return made


def uses_in(stmt: Fold, var: Var) -> int:
    """How often the statements inside of a fold use a number."""
    return list(all_uses(stmt.body)).count(var)


def _in_blocks(stmt: Fold, sums: set[Any]) -> Block:
    """A fold over blocks, with one over the places of a block inside."""
    index, assumptions = stmt.indices[0], current().assumptions
    size = index.size
    block, inner = Var(INT), Var(INT, index.var.name)
    first = Size.of(Unknown(block)) * BLOCK
    count = least(BLOCK, size - first)
    assumptions.within(block, 0, (size + (BLOCK - 1)) // BLOCK - 1)
    assumptions.within(inner, 0, count - 1)
    outer = [Carry(Var(c.entry.type, c.entry.name), c.init, Var(c.out.type), c.out) for c in stmt.carries]
    mapping: dict[Var, Atom] = {index.var: atom_of_size(first + Size.of(Unknown(inner)))}
    renaming = Renaming(Copier(mapping))
    body = renaming.block(stmt.body)
    carries = [Carry(c.entry, _zero(c.entry) if c in sums else o.entry, renaming.copier.atom(c.next), Var(c.out.type))
               for c, o in zip(stmt.carries, outer, strict=True)]
    rest: Block = [Fold([Index(inner, count)], carries, body, stmt.origin)]
    found: dict[Carry, Let] = {}
    for c, o, part in zip(stmt.carries, outer, carries, strict=True):
        if c in sums:
            total: Any = o.next
            found[o] = Let((total,), Add, (o.entry, part.out), {}, stmt.origin)
            rest.append(found[o])
        else:
            o.next = part.out
    blocks = Index(block, (size + (BLOCK - 1)) // BLOCK)
    return _compensated(Fold([blocks], outer, rest, stmt.origin), found)


def _compensated(stmt: Fold, sums: dict[Carry, Let]) -> Block:
    """A fold that also adds up what its sums lose by rounding."""
    ends: Block = []
    for carry, add in sums.items():
        entry, rounded, after, out, whole = (Var(carry.entry.type) for _ in range(5))
        stmt.body += [Let((rounded,), Rounding, (*add.args, add.target), {}, stmt.origin),
                      Let((after,), Add, (entry, rounded), {}, stmt.origin)]
        entry.name = "lost"
        stmt.carries.append(Carry(entry, _zero(carry.entry), after, out))
        ends.append(Let((carry.out,), Add, (whole, out), {}, stmt.origin))
        carry.out = whole
    return [stmt, *ends]


def _zero(var: Var) -> Const:
    return Const(var.type.dtype.type(0), ArrayType(var.type.dtype))      # type: ignore[union-attr]

