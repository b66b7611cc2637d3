"""Where loops keep what they record: in an array with a row for every position."""

from __future__ import annotations

from typing import Any

from ..core.errors import NotSupported
from ..core.grammar import Atom, Var, type_of
from ..core.types import ArrayType, SeqType
from ..core.walk import size_of_atom
from .nests import Block, statements


class Storage:
    """The type of the array in which each sequence is kept. Of a loop whose number of iterations is not
    known before, the length is left open (0): that array grows."""

    def __init__(self, body: Block) -> None:
        self.loops = {record.target: (stmt, record) for stmt in statements(body)
                      for record in getattr(stmt, "records", ())}

    def of(self, var: Var) -> ArrayType:
        if var not in self.loops:
            raise NotSupported("a sequence that is not recorded where it is used has no compiled form")
        loop, record = self.loops[var]
        row = self._row(record.value)
        length: Any = 0 if loop.trips is None else size_of_atom(loop.trips)
        return ArrayType(row.dtype, (length, *row.sizes))

    def _row(self, value: Atom) -> ArrayType:
        type = type_of(value)
        if isinstance(type, SeqType):
            inner = self.of(value)                                       # type: ignore[arg-type]
            if inner.sizes[0] == 0:
                raise NotSupported("what a while loop records inside of another loop has no compiled form")
            return inner
        assert isinstance(type, ArrayType), type
        return type
