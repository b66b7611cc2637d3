"""What compiled code has for `round` of Python's numbers to digits. It is not in the table: no program calls it."""

from __future__ import annotations

from ..core.types import ArrayType
from . import scalars
from .elementwise import FLAT, Elementwise


class RoundDecimal(Elementwise):
    """Python's `round` of its own numbers, to digits of the exact decimal value."""

    name = "round_decimal"
    calls = (scalars.rounded_decimal,)
    loop = {"f": scalars.rounded_decimal, "i": scalars.rounded_integer}
    derivative = FLAT

    def types(x: ArrayType, ndigits: int = 0) -> ArrayType:
        return x
