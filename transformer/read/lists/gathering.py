"""Lists that get several items in an iteration of a loop: from a loop inside, or by several calls of `append`.

An iteration begins with none of them; what it has in the end is a row of the loop's records:

    for i in range(n):                   row_k[i] = [f(i, j) for j in range(m)]
        for j in range(m):
            xs.append(f(i, j))           xs = row_k.reshape(n * m)

Rows that differ in length are as long as the longest may be, and a mask tells which items there are.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.grammar import Atom, Var
from ...core.sizes import Extent, greatest
from ...core.types import ArrayType
from ...core.walk import Copier
from ...ops import indexing
from ...ops.sequences import stacked
from ...ops.value import Value, call
from ..branches.structures import Clash, Slot, Template
from ..branches.template_joins import Joiner
from ..calls.applying import apply_op
from ..raising.demand import Unroll
from ..values import may_be_array
from .joining import Laid, laid_out
from .list_demands import refusal
from .recorded import Part, RecordedList
from .tokens import APPENDED, Token

if TYPE_CHECKING:
    from ..reader import Reader

WHAT = "a list to which an iteration appends no item or several items"


@dataclass(eq=False)
class Gathered:
    """A list to which one iteration of the loop with this key appends a row of items."""

    home: list[Any]
    loop: Any
    token: Token = field(init=False)
    before: RecordedList = field(init=False)
    template: Template = field(init=False)
    masked: bool = False
    atoms: list[Atom] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    targets: list[Var] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.token = Token(self.loop)
        self.before = RecordedList(self.home)

    def begin(self, held: RecordedList) -> RecordedList:
        """What stands in place of the list when an iteration begins; before the loop it was `held`."""
        self.before = held
        return RecordedList(self.home, (), within=self.loop)

    def collect(self, reader: Reader, held: Any, joiner: Joiner) -> None:
        """Notes the row that an iteration has made."""
        laid = laid_out(reader, held.parts) if isinstance(held, RecordedList) and held.within == self.loop else None
        row = None if laid is None else _evened(reader, laid, joiner)
        if laid is None or row is None:
            raise Unroll(self.loop, refusal(reader, WHAT))
        self.template, self.masked = laid.template, row.mask is not None
        arrays = [*([row.mask] if row.mask is not None else []), *row.arrays]
        types = [joiner.checked(Slot(array.type)) for array in arrays]
        if any(isinstance(type, Clash) for type in types):
            raise Unroll(self.loop, refusal(reader, "a list of items of different sizes"))
        self.atoms = [array.atom for array in arrays]
        self.values = list(_appended(reader, held))
        for value in self.values:
            reader.aliases.relate(value, self.token, APPENDED)

    def substitute(self, copier: Copier) -> None:
        self.atoms = list(map(copier.atom, self.atoms))

    def leave(self, reader: Reader, length: Extent) -> RecordedList:
        """What stands in place of the list after the loop."""
        tables = [stacked(target, length) for target in self.targets]
        mask = _in_one_row(tables.pop(0)) if self.masked else None

        def items(table: Value) -> Value:
            array = _in_one_row(table)
            return array if mask is None else Value(apply_op(reader, operator.getitem, (array, mask), {}).atom)

        arrays = tuple(map(items, tables))
        fresh = partial(items, tables[0]) if isinstance(self.template, Slot) else None
        part = Part(self.template, arrays, arrays[0].shape[0], self.token, fresh)
        if mask is not None:
            part = part.chosen_by(mask, tuple(_in_one_row(table) for table in tables))
        return self.before.with_parts((*self.before.parts, part))


def _evened(reader: Reader, laid: Laid, joiner: Joiner) -> Laid | None:
    """The row with a length that is known outside of the loop; None where there is no bound."""
    length = laid.arrays[0].shape[0] if laid.arrays else 0
    if not laid.arrays or _is_known(joiner, length):
        return laid if laid.arrays else None
    bound = reader.assumptions.highest(length)
    if bound is None or not _is_known(joiner, bound):
        return None
    if not reader.assumptions.certainly_at_least(bound, 0):
        bound = greatest(bound, 0)

    def evened(array: Any) -> Value:
        return _beginning_with(reader, array, length, (bound, *array.shape[1:]), array.dtype)

    there = _beginning_with(reader, True if laid.mask is None else laid.mask, length, (bound,), np.dtype(bool))
    return Laid(laid.template, tuple(map(evened, laid.arrays)), there)


def _is_known(joiner: Joiner, length: Extent) -> bool:
    return not isinstance(joiner.checked(Slot(ArrayType(np.dtype(bool), (length,)))), Clash)


def _beginning_with(reader: Reader, items: Any, length: Extent, shape: tuple[Extent, ...], dtype: np.dtype) -> Value:
    """An array of zeros but for its first `length` rows."""
    made = apply_op(reader, np.zeros, (shape,), {"dtype": dtype})
    row = indexing.write(made, items, slice(None, length)).atom
    for version in (made.atom, row):
        if isinstance(version, Var):
            version.name = "there" if dtype.kind == "b" else "row"
    return Value(row)


def _in_one_row(array: Value) -> Value:
    """The rows behind each other: to the program another array, whose memory nothing else has."""
    first, second, *rest = array.shape
    found: Value = call(np.reshape, (array, (first * second, *rest)), {})
    return found


def _appended(reader: Reader, held: RecordedList) -> Iterator[Any]:
    """The arrays that the list may hold: written to, they would change in it."""
    from ..values import contained

    for part in held.parts:
        found = reader.aliases.group(part.token) if isinstance(part, Part) else contained(list(part))
        yield from (value for value in found if isinstance(value, Value) and may_be_array(value))
