"""Sorted arrays of which a program looks at a few elements alone, as of the middle ones for a median.

    ordered = sort(x)                       ordered = chosen(x, n // 2, n - 1)
    a = get(ordered, n // 2)          →     a = get(ordered, n // 2)
    b = get(ordered, n - 1)                 b = get(ordered, n - 1)

What is chosen stands where sorting would put it, and everything else somewhere: `np.partition`, which takes a fifth of
the time. It waits for the first element that is read, and what makes the places comes before that.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Block, Const, Function, If, Let, Loop, Var, type_of
from ...core.sizes import Size
from ...core.types import INT
from ...core.walk import all_statements, all_uses, atom_of_size, atom_vars, counted_uses, targets_of
from ...ops.base import Op
from ...ops.regions import Slot
from ...ops.selection import Maximum, Minimum
from ...ops.sorting import Sort
from ...write.expressions import dotted

SHORTEST = 1024                        # elements; NumPy sorts fewer in no time
MOST_PLACES = 8


def partly_sorted(function: Function) -> Function:
    """The function with choices in place of such sorting; the same one, if there is none."""
    if not any(map(_sorts, all_statements(function.body))):
        return function
    uses = counted_uses(function)
    uses.update(atom_vars(tuple(function.results)))
    return replace(function, body=_block(function.body, uses))


class Chosen(Op):
    """The elements of a vector, those at some places where they stand in the sorted one."""

    operands = "a", *("place",) * MOST_PLACES
    calls = "np.partition"
    loop = None, "NumPy chooses"

    def text(a: Any, *places: Any) -> ast.expr:
        return ast.Call(dotted("np.partition"), [a, ast.List(list(places), ast.Load())], [])


def _sorts(stmt: Any) -> bool:
    if not isinstance(stmt, Let) or stmt.op is not Sort:
        return False
    type: Any = stmt.target.type
    return type.rank == 1 and type.dtype.kind in "fiu"


def _block(block: Block, uses: Counter[Var]) -> Block:
    """The block written anew."""
    made = [_inside(stmt, uses) for stmt in block]
    for stmt in filter(_sorts, block):
        reads = [k for k, each in enumerate(made) if isinstance(each, Let) and each.op.name == "get"
                 and each.args[0] is stmt.target]                        # type: ignore[union-attr]
        places = list(dict.fromkeys(_place(made[k]) for k in reads))
        if not reads or len(reads) != uses[stmt.target] or None in places or len(places) > MOST_PLACES:   # type: ignore[union-attr]
            continue
        needed = _needed(made[reads[0]:], places, stmt.target)           # type: ignore[union-attr]
        if needed is not None and current().assumptions.choose(stmt.target.type.sizes[0], SHORTEST):   # type: ignore[union-attr]
            rest = [each for each in made if each is not stmt and each not in needed]
            first = rest.index(made[reads[0]])
            made = [*rest[:first], *needed, *_chosen(stmt, places), *rest[first:]]
    return made


def _inside(stmt: Any, uses: Counter[Var]) -> Any:
    if isinstance(stmt, If):
        return replace(stmt, then=_block(stmt.then, uses), orelse=_block(stmt.orelse, uses))
    if isinstance(stmt, Loop):
        return replace(stmt, test=_block(stmt.test, uses), body=_block(stmt.body, uses))
    return stmt


def _place(read: Any) -> Atom | None:
    """Where the element that is read stands, counted from the beginning."""
    size, (entry, *_) = read.args[0].type.sizes[0], read.attrs["index"]
    if isinstance(entry, Slot):
        entry = read.args[1]
        type: Any = type_of(entry)
        if type != INT and (type.sizes or type.dtype != INT.dtype):
            return None
    if isinstance(entry, int):
        return atom_of_size(entry if entry >= 0 else size + entry)
    return entry if isinstance(entry, Var | Size | Const) else None


def _needed(block: Block, places: list[Any], ordered: Var) -> Block | None:
    """The statements of a block that make places; None if these rest on what has been sorted, or on what is done."""
    wanted, found = set(atom_vars(tuple(places))), list[Any]()
    for stmt in reversed(block):
        if wanted.isdisjoint(targets_of(stmt)):
            continue
        if not all(isinstance(each, Let | If) for each in all_statements([stmt])):
            return None
        wanted.update(all_uses(stmt))
        found.insert(0, stmt)
    return None if ordered in wanted else found


def _chosen(stmt: Any, places: list[Any]) -> Block:
    made: Block = []
    inside = [_inside_of(place, stmt, made) for place in places]
    return [*made, Let(stmt.targets, Chosen, (*stmt.args, *inside), {}, stmt.origin)]


def _inside_of(place: Atom, stmt: Any, made: Block) -> Atom:
    """A place that NumPy takes; whoever reads the element tests whether it is inside."""
    if not isinstance(place, Var):
        return place
    size = stmt.target.type.sizes[0]
    for op, bound in ((Minimum, size - 1), (Maximum, -size)):
        made.append(Let((Var(place.type),), op, (place, atom_of_size(bound)), {}, stmt.origin))
        place = made[-1].target                                          # type: ignore[union-attr]
    return place
