"""Arrays that the writer considers dead are spoiled as soon as they are, so that reading them shows.

The writer lets versions of an array share memory, and writes in place, where it believes that nobody
looks at the older ones any more. What it believes is put to the test: after the statement that reads an
array last, unless something alive may share its memory, the array is filled with NaN.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from transformer.core.grammar import Let, Stmt, Var
from transformer.core.types import SeqType
from transformer.write import page
from transformer.write.aliasing import is_array
from transformer.write.flow import STEPS
from transformer.write.layout import Item, Line
from transformer.write.loops import Loops
from transformer.write.undefined import HANDS_ON
from transformer.write.variables import Variable

from .poison import WRONG_INTEGER


@contextmanager
def spoiled() -> Iterator[None]:
    """What is generated inside the `with` spoils the arrays that are dead."""
    with mock.patch.object(page, "Loops", Spoiling):
        yield


def spoil(array: Any) -> None:
    """Makes an array useless; None stands for one that was not made on this path."""
    if isinstance(array, np.ndarray) and array.flags.writeable:
        array[...] = {"f": np.nan, "c": np.nan, "i": WRONG_INTEGER}.get(array.dtype.kind, 0)


class Spoiling(Loops):
    """Prints functions with a line `spoil(locals().get("x"))` for every array that is not needed any more."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.seen = 0                     # up to which place of the flow dead arrays have been spoiled
        self.held = list(self._held())    # arrays that are looked at later by another way than a name

    def _held(self) -> Iterator[Var]:
        """What is stored, saved for a reverse, or given away."""
        yield from self.flow.kept()
        yield from (array for _, array in self.aliases.given_away())
        for stmt in self.flow.spans:
            if isinstance(stmt, Let) and stmt.op.name in (*HANDS_ON, "stacked", "unstacked"):
                yield from (atom for atom in stmt.args if isinstance(atom, Var))

    def _let(self, stmt: Let) -> list[Item]:
        return self._with_dead(stmt, super()._let)

    def _if(self, stmt: Any) -> list[Item]:
        return self._with_dead(stmt, super()._if)

    def _loop(self, stmt: Any) -> list[Item]:
        return self._with_dead(stmt, super()._loop)

    def _map(self, stmt: Any) -> list[Item]:
        return self._with_dead(stmt, super()._map)

    def _call(self, stmt: Any) -> list[Item]:
        return self._with_dead(stmt, super()._call)

    def _with_dead(self, stmt: Stmt, made: Callable[[Any], list[Item]]) -> list[Item]:
        items = made(stmt)
        span = self.flow.spans[stmt]
        last = max(span.head, span.end, span.exit) * STEPS + STEPS - 1
        dead = list(self._dead(last))
        self.seen = last
        return items + [Line(_spoiling(name)) for name in dead]

    def _dead(self, place: int) -> Iterator[str]:
        """The names of arrays that were read last between the place seen before and this one."""
        variables = dict.fromkeys(self.variables.values())
        for variable in variables:
            variable.stretch()
        covering = [variable for variable in variables if variable.covers(place + 1, place + 1)]
        taken = {self.names.chosen.get(variable) for variable in covering}
        alive = [value for variable in covering for value in variable.values if is_array(value)]
        for variable in filter(self._has_names, variables):
            # What begins where it ends is bound to nothing, or is nothing that anybody reads.
            ended = any(first < last and self.seen < last <= place for first, last in variable.pieces)
            if ended and variable not in covering and self._is_ours(variable, [*alive, *self.held]):
                name = self.names.of(variable.values[0])
                if name not in taken:
                    self.expressions.namespace["spoil"] = spoil
                    yield name

    def _has_names(self, variable: Variable) -> bool:
        """Whether a variable holds all its values by name."""
        return self.expressions.nesting.values.isdisjoint(variable.values)

    def _is_ours(self, variable: Variable, others: list[Var]) -> bool:
        """Whether the memory belongs to this function, and is not that of something else."""
        arrays = [value for value in variable.values if is_array(value)]
        if not arrays:
            kept = {id(other) for other in others}
            return self._is_record(variable) and not any(id(value) in kept for value in variable.values) \
                and not any(map(self._is_row, filter(is_array, others)))
        return all(map(self.aliases.is_owned, arrays)) and not any(
            self.aliases.may_share(array, other) for array in arrays for other in filter(is_array, others))

    def _is_record(self, variable: Variable) -> bool:
        stores = [self.flow.stored.of.get(value) for value in variable.values]
        return all(isinstance(value.type, SeqType) for value in variable.values) and all(
            store is not None and store.kind in ("array", "growing") for store in stores)

    def _is_row(self, var: Var) -> bool:
        """Whether an array may be a row of a record."""
        pending, seen = [var], {var}
        while pending:
            each = pending.pop()
            sources = self.aliases.sources(each)
            if sources is None and self.aliases.homes[each].kind != "param":
                return True
            pending += [source for source in sources or () if source not in seen]
            seen.update(sources or ())
        return False


def _spoiling(name: str) -> ast.stmt:
    return ast.parse(f"spoil(locals().get({name!r}))").body[0]
