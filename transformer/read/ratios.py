"""Whole numbers made of ratios of sizes: `int((n - 3) / 2 + 1)` is the size `(n - 3) // 2 + 1`.

The float is that of one division, which rounds correctly, and of sums with whole numbers: it lies on the same side of
each whole number as the ratio itself.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.equations import value_of
from ..core.grammar import Const, Let, Var, type_of
from ..core.sizes import Extent, Size
from ..core.types import ArrayType
from ..ops.value import Value
from .calls.applying import apply_op

if TYPE_CHECKING:
    from .reader import Reader

FLOAT = np.dtype(np.float64)
SUMS: dict[str, Callable[[Any, Any], Any]] = {"add": operator.add, "subtract": operator.sub}
DOWN, UP = "floor", "ceil"


class Ratio(NamedTuple):
    """`numerator / denominator + whole`."""

    numerator: Extent
    denominator: int
    whole: Extent

    @property
    def total(self) -> Extent:
        """The numerator of all of it."""
        return self.numerator + self.whole * self.denominator


def whole(reader: Reader, value: Value) -> Extent | None:
    """`int(value)`, where that is a size in all calls that this code is made for."""
    stmt = _made(reader, value.atom)
    if stmt is not None and stmt.op.name in (DOWN, UP):
        return _rounded(_ratio(reader, stmt.args[0]), stmt.op.name)
    ratio = _ratio(reader, value.atom)
    return _rounded(ratio, DOWN) if ratio is not None and _rounds_down(reader, ratio) else None


def _rounds_down(reader: Reader, ratio: Ratio) -> bool:
    """Whether `int` rounds it down: if it is whole, or not negative. Where no sizes are known, that is tested."""
    assumptions, total = reader.assumptions, ratio.total
    if ratio.denominator == 1 or assumptions.decide(total):
        return True
    return value_of(assumptions.normal(total), assumptions.hints) is None and assumptions.at_least(total, 0)


def floor(reader: Reader, x: Any) -> Any:
    """`math.floor`."""
    return _whole_of(reader, math.floor, x, DOWN)


def ceil(reader: Reader, x: Any) -> Any:
    """`math.ceil`."""
    return _whole_of(reader, math.ceil, x, UP)


def _whole_of(reader: Reader, function: Any, x: Any, direction: str) -> Any:
    found = _rounded(_ratio(reader, x.atom), direction) if isinstance(x, Value) else None
    return apply_op(reader, function, (x,), {}) if found is None else found


def _rounded(ratio: Ratio | None, direction: str) -> Extent | None:
    if ratio is None:
        return None
    up = ratio.denominator - 1 if direction == UP else 0
    return (ratio.total + up) // ratio.denominator


def _ratio(reader: Reader, atom: Any) -> Ratio | None:
    """The ratio of which an atom has the value."""
    stmt = _made(reader, atom)
    if stmt is None or type_of(atom) != ArrayType(FLOAT, (), weak=True):
        return None
    left, right = (*stmt.args, None)[:2]
    if stmt.op.name == "divide":
        numerator, denominator = _count(left), _count(right)
        fits = isinstance(numerator, Size) and isinstance(denominator, int) and denominator > 0
        return Ratio(numerator, denominator, 0) if fits else None          # type: ignore[arg-type]
    if stmt.op.name not in SUMS:
        return None
    together = SUMS[stmt.op.name]
    ratio, count = _ratio(reader, left), _count(right)
    if ratio is not None and count is not None:
        return ratio._replace(whole=together(ratio.whole, count))
    ratio, count = _ratio(reader, right), _count(left)
    if ratio is not None and count is not None:
        return Ratio(together(0, ratio.numerator), ratio.denominator, together(count, ratio.whole))
    return None


def _made(reader: Reader, atom: Any) -> Let | None:
    return reader.builder.numbering.definitions.get(atom) if isinstance(atom, Var) else None


def _count(atom: Any) -> Extent | None:
    """A whole number that is known, or a size."""
    if isinstance(atom, Size):
        return atom
    value = atom.value if isinstance(atom, Const) else None
    return int(value) if isinstance(value, (int, float)) and float(value).is_integer() else None
