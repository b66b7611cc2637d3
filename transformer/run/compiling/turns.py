"""`as_columns` and `as_rows` in code that numba compiles: eight rows by eight columns at a time, turned in registers.

    0 1 2 3        0 4 2 6        0 4 8 C
    4 5 6 7   →    1 5 3 7   →    1 5 9 D          numbers change places with those of the next row, then pairs of
    8 9 A B        8 C A E        2 6 A E          numbers with those of the row after the next, and so on
    C D E F        9 D B F        3 7 B F

LLVM would move single numbers. Rows have eight numbers at least, and the last eight columns may overlap with those
before; where fewer than eight rows are left, the last one stands for the others. This module imports numba, and is
imported when something is compiled.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .dispatchers import part_of_callers

SIDE = 8
LANE = ir.IntType(32)


def _turn(back: bool) -> Any:
    """What turns eight rows of `x` before one, from a row on, and eight `columns`, from one on."""
    def turn(context: Any, x: Any, row: Any, behind: Any, column: Any, columns: Any, at: Any) -> Any:
        return types.void(x, row, behind, column, columns, at), generate

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = _Turn(context, builder, signature.args, args)
        code.to_rows() if back else code.to_columns()
        return context.get_dummy_value()

    of_numba: Any = intrinsic                          # its type is that of what it decorates
    return of_numba(turn)


turn_rows, turn_columns = _turn(back=False), _turn(back=True)


@cache
def compiled_turns() -> dict[str, Any]:
    """The compiled forms of the functions in `lower.printing.turns`, by their names."""

    @part_of_callers
    def as_columns(x: Any, first: Any, count: Any, columns: Any) -> None:
        length = columns.shape[0]
        for i in range((count + 7) // 8):
            for j in range((length + 7) // 8):
                turn_rows(x, first + 8 * i, first + count, min(8 * j, length - 8), columns, 8 * i)

    @part_of_callers
    def as_rows(columns: Any, x: Any, first: Any, count: Any) -> None:
        length = columns.shape[0]
        for i in range((count + 7) // 8):
            for j in range((length + 7) // 8):
                turn_columns(x, first + 8 * i, first + count, min(8 * j, length - 8), columns, 8 * i)

    return {"as_columns": as_columns, "as_rows": as_rows}


class _Turn:
    """Code for one square. Of an array in one piece, eight numbers of a row are a vector in memory."""

    def __init__(self, context: Any, builder: Any, kinds: Any, args: Any) -> None:
        self.builder = builder
        row, behind, column, at = (context.cast(builder, args[k], kinds[k], types.intp) for k in (1, 2, 3, 5))
        x, columns = (context.make_array(kinds[k])(context, builder, args[k]) for k in (0, 4))
        kind = context.get_data_type(kinds[0].dtype)
        self.number, self.align = ir.IntType(8 * context.get_abi_sizeof(kind)), context.get_abi_alignment(kind)
        self.step = None if kinds[0].layout == "C" else cgutils.unpack_tuple(builder, x.strides)[1]
        last = builder.sub(behind, behind.type(1))
        rows = [builder.add(row, row.type(k)) for k in range(SIDE)]
        rows = [builder.select(builder.icmp_signed("<", each, last), each, last) for each in rows]
        self.rows = [self._address(x, each, column) for each in rows]
        self.columns = [self._address(columns, builder.add(column, column.type(k)), at) for k in range(SIDE)]

    def to_columns(self) -> None:
        turned = self._turned([self._load(each, self.step) for each in self.rows])
        for value, address in zip(turned, self.columns, strict=True):
            self._store(value, address, None)

    def to_rows(self) -> None:
        """The last row comes first: what is stored there in place of rows that are not is overwritten."""
        turned = self._turned([self._load(each, None) for each in self.columns])
        for value, address in zip(reversed(turned), reversed(self.rows), strict=True):
            self._store(value, address, self.step)

    def _turned(self, rows: list[Any]) -> list[Any]:
        """Vectors whose numbers have changed places: the k-th of row r with the r-th of row k."""
        apart = 1
        while apart < SIDE:
            for k in range(SIDE):
                if not k & apart:
                    pair = rows[k], rows[k + apart]
                    rows[k] = self._mixed(pair, [i + SIDE - apart if i & apart else i for i in range(SIDE)])
                    rows[k + apart] = self._mixed(pair, [i + SIDE if i & apart else i + apart for i in range(SIDE)])
            apart *= 2
        return rows

    def _mixed(self, pair: Any, lanes: list[int]) -> Any:
        """A vector of numbers of two."""
        return self.builder.shuffle_vector(*pair, ir.Constant(ir.VectorType(LANE, SIDE), lanes))

    def _address(self, array: Any, row: Any, place: Any) -> Any:
        steps = cgutils.unpack_tuple(self.builder, array.strides)
        offset = self.builder.add(self.builder.mul(row, steps[0]), self.builder.mul(place, steps[1]))
        return cgutils.pointer_add(self.builder, array.data, offset)

    def _load(self, address: Any, step: Any) -> Any:
        """Eight numbers, which are neighbours unless there is a step."""
        kind = ir.VectorType(self.number, SIDE)
        if step is None:
            return self.builder.load(self.builder.bitcast(address, kind.as_pointer()), align=self.align)
        value = ir.Constant(kind, ir.Undefined)
        for k, each in enumerate(self._single(address, step)):
            value = self.builder.insert_element(value, self.builder.load(each, align=self.align), LANE(k))
        return value

    def _store(self, value: Any, address: Any, step: Any) -> None:
        if step is None:
            self.builder.store(value, self.builder.bitcast(address, value.type.as_pointer()), align=self.align)
            return
        for k, each in enumerate(self._single(address, step)):
            self.builder.store(self.builder.extract_element(value, LANE(k)), each, align=self.align)

    def _single(self, address: Any, step: Any) -> list[Any]:
        offsets = (self.builder.mul(step, step.type(k)) for k in range(SIDE))
        return [self.builder.bitcast(cgutils.pointer_add(self.builder, address, each), self.number.as_pointer())
                for each in offsets]
