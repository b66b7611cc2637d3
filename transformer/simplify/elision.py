"""Copies that a write makes needless: as nothing reads the old array afterwards, that one is written. Its
elements can be read before.

>>> from .examples import shown
>>> shown(elision, '''
... function f(x: f64[n], n: int)
...     loop i: int in n
...         carry y: f64[n] = x
...         body
...             c: f64[n] = copy(y)
...             z: f64[n] = put(c, 1.0, i, index=(Slot(k=0),))
...             e: f64 = get(y, index=(0,))
...             effect print(e)
...         next y_1: f64[n] = z
...     return y_1
... ''')
function f(x: f64[n], n: int)
    loop i: int in n
        carry y: f64[n] = x
        body
            e: f64 = get(y, index=(0,))
            z: f64[n] = put(y, 1.0, i, index=(Slot(k=0),))
            effect print(e)
        next y_1: f64[n] = z
    return y_1

Where an array lives is decided later: the one that `y` begins as is an argument, so that there will be a copy before
the loop. The copy of an argument, or of a part of an array, stays where the program has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

from ..core.grammar import Block, Call, Effect, Function, Let, Loop, Var
from ..core.guards import Assumptions
from ..core.walk import WRITES, all_statements, head_uses, targets_of
from .aliasing import may_share
from .rewriter import Rewriter, array_type
from .timeline import Timeline
from .uses import Uses


def elision(function: Function, assumptions: Assumptions) -> bool:
    """Removes copies in place; says whether there were any."""
    if not any(_is_copy(stmt) for stmt in all_statements(function.body)):
        return False
    return Elision(function, assumptions).run()


def _is_copy(stmt: Any) -> TypeGuard[Let]:
    return isinstance(stmt, Let) and stmt.op.name == "copy"


def _early_reads(block: Block, array: Any) -> Iterator[Let]:
    """The reads of elements of an array that may as well come at the start of a block."""
    defined: set[Var] = set()
    for stmt in block:
        if any(isinstance(each, (Effect, Call)) for each in all_statements([stmt])):
            return
        if isinstance(stmt, Let) and stmt.op.name == "get" and stmt.args[0] is array and (
                not array_type(stmt.target).sizes and defined.isdisjoint(head_uses(stmt))):
            yield stmt
        defined.update(targets_of(stmt))


class Elision(Rewriter):
    def __init__(self, function: Function, assumptions: Assumptions) -> None:
        super().__init__(function, assumptions)
        self.users = Uses(function).users
        self.timeline = Timeline(function)
        self.views = {stmt.target for stmt in all_statements(function.body)
                      if isinstance(stmt, Let) and stmt.op.name not in WRITES and may_share(stmt)}
        self.reads: dict[Let, list[Let]] = {}       # what can be read before a copy
        self.moved: set[Let] = set()

    def block(self, block: Block) -> Block:
        self.reads.update((stmt, [*_early_reads(block[k:], stmt.args[0])]) for k, stmt in enumerate(block)
                          if _is_copy(stmt))
        return super().block(block)

    def let(self, stmt: Let) -> None:
        if stmt in self.moved:
            return
        source = stmt.args[0] if _is_copy(stmt) else None
        if isinstance(source, Var) and self._is_needless(stmt, source):
            self._read(self.reads[stmt])
            self.timeline.join(stmt.target, source)
            self.replace(stmt.target, source)
        else:
            self.out.append(stmt)

    def _read(self, reads: list[Let]) -> None:
        """Moves statements to here."""
        for stmt in reads:
            if stmt not in self.moved:
                stmt.args, stmt.attrs = self.atoms(stmt.args), self.attrs(stmt.attrs)
                self.out.append(stmt)
        self.moved.update(reads)

    def _is_needless(self, stmt: Let, source: Var) -> bool:
        copy = stmt.target
        if source in self.function.params or source in self.views or not self.same_type(source.type, copy.type):
            return False
        return self._is_only_written(copy) and self._is_written_last((copy, source), self.reads[stmt])

    def _is_written_last(self, names: tuple[Var, ...], reads: list[Let]) -> bool:
        """Whether an array of these names is not used again after it has been written, but by `reads`."""
        return not any(use.writes and self.timeline.is_used_after(use, names, reads)
                       for name in names for use in self.timeline.uses[name])

    def _is_only_written(self, var: Var) -> bool:
        """Whether nothing hands the memory of an array on, but writes to it, which give new values."""
        return all(isinstance(user, Let) and self._keeps(user) or isinstance(user, Loop) and self._is_begun(user, var)
                   for user in self.users[var])

    def _keeps(self, user: Let) -> bool:
        return user.op.name in WRITES or not may_share(user) or all(map(self._is_only_written, user.targets))

    def _is_begun(self, loop: Loop, var: Var) -> bool:
        """Whether a loop begins with an array, which it writes to, and has no other use for it."""
        entries = [carry.entry for carry in loop.carries if carry.init is var]
        return len(entries) == self.users[var].count(loop) == 1 and any(
            isinstance(user, Let) and user.op.name in WRITES and user.args[0] is entries[0]
            for user in self.users[entries[0]])
