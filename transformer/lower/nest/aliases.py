"""The names of arrays: what branches, loops and calls hand on lives under several.

    if c: z = x else: z = y              z is x or y
    loop (u = x, next v): …              u is x or v, and so is what it is after the loop
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, assert_never

from ...core.grammar import UNDEFINED, Call, Effect, If, Let, Loop, Var
from .lifetimes import written
from .nest_walk import statements
from .nests import Allocate, Block, Fold, Launch, Library, Nest, Product, Stmt, Store, Task


def is_written(array: Var, block: Block) -> bool:
    """Whether a block may write the memory that an array has at first, under whatever name."""
    names = names_of(array, block)
    return any(names & written(stmt) for stmt in block)


def names_of(array: Var, block: Block) -> set[Var]:
    """The names that the memory of an array may get in a block."""
    given = [pair for stmt in statements(block) for pair in names_given(stmt)]
    names = {array}
    while new := {name for name, value in given if value in names} - names:
        names |= new
    return names


def names_given(stmt: Stmt) -> list[tuple[Var, Any]]:
    """Pairs of a name and an array that it may stand for after or in a statement."""
    match stmt:
        case If():
            return [(merge.target, side) for merge in stmt.merges for side in (merge.then, merge.orelse)]
        case Loop():
            return [pair for carry in stmt.carries for pair in (
                (carry.entry, carry.init), (carry.entry, carry.next), (carry.out, carry.entry))]
        case Call():
            return [(target, arg) for target in stmt.targets for arg in stmt.args]
        case Let() | Effect() | Allocate() | Nest() | Fold() | Store() | Product() | Library() | Task() | Launch():
            return []
        case _:
            assert_never(stmt)


class Memories:
    """Which arrays of a function may share memory: those that are names of one another, as in `others`, too. `own` are
    those that lie in memory of their own; of what is neither one of them nor a name of one nothing is known."""

    def __init__(self, block: Block, own: Iterable[Var], others: Iterable[tuple[Var, Any]]) -> None:
        self.groups: dict[Var, set[Var]] = {}
        pairs = [*others, *(pair for stmt in statements(block) for pair in names_given(stmt))]
        for name, value in pairs:
            if isinstance(value, Var) and value is not UNDEFINED:
                self._join(name, value)
        self.known = {*own, *(name for name, _ in pairs)}

    def _join(self, name: Var, value: Var) -> None:
        joined = self.group(name) | self.group(value)
        self.groups.update(dict.fromkeys(joined, joined))

    def group(self, array: Var) -> set[Var]:
        return self.groups.get(array, {array})

    def are_apart(self, arrays: Sequence[Iterable[Var]], written: set[Var]) -> bool:
        """Whether none of these shares memory with another one, unless nobody writes there; each may be any of
        several."""
        groups = [set[Var]().union(*map(self.group, each)) for each in arrays]
        if not all(group <= self.known for group in groups):
            return False
        return all(groups[k].isdisjoint(group) or written.isdisjoint(groups[k] | group)
                   for k in range(len(groups)) for group in groups[:k])


def handed_on(loop: Loop) -> set[Any]:
    """Arrays that get other names in a loop, under which they may live on."""
    found: set[Any] = {carry.next for carry in loop.carries}
    for stmt in statements(loop.body):
        match stmt:
            case Allocate():
                found.add(stmt.source)
            case If():
                found.update(side for merge in stmt.merges for side in (merge.then, merge.orelse))
            case Loop():
                found.update(atom for carry in stmt.carries for atom in (carry.init, carry.next))
            case Call():
                found.update(stmt.args)
            case Let() | Effect() | Nest() | Fold() | Store() | Product() | Library() | Task() | Launch():
                pass
            case _:
                assert_never(stmt)
    return found


def renamings(block: Block) -> Counter[Any]:
    """Arrays that get another name, which may live longer than the first, and how often they do."""
    found: Counter[Any] = Counter()
    for stmt in statements(block):
        if isinstance(stmt, If):
            found.update(side for merge in stmt.merges for side in (merge.then, merge.orelse))
        elif isinstance(stmt, Loop):
            found.update(carry.init for carry in stmt.carries)
        elif isinstance(stmt, Call):
            found.update(stmt.args)
    return found


def handed_in(stmt: Any) -> set[Any]:
    """The arrays that statements inside of one give other names."""
    return {value for each in statements([stmt]) for _, value in names_given(each)}
