"""Logic and bits."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from . import scalars
from .elementwise import FLAT, Elementwise, constant


def is_true(x: Any) -> Any:
    """A number as a truth value."""
    return x if x.dtype.kind == "b" else x != 0


class LogicalAnd(Elementwise):
    name = "logical_and"
    calls = (np.logical_and,)
    is_total = True
    def simpler(x, y):
        return is_true(x) & is_true(y)
    where = "truth"
    derivative = FLAT


class LogicalOr(Elementwise):
    name = "logical_or"
    calls = (np.logical_or,)
    is_total = True
    def simpler(x, y):
        return is_true(x) | is_true(y)
    where = "truth"
    derivative = FLAT


class LogicalXor(Elementwise):
    name = "logical_xor"
    calls = (np.logical_xor,)
    is_total = True
    def simpler(x, y):
        return is_true(x) ^ is_true(y)
    where = "truth"
    derivative = FLAT


class LogicalNot(Elementwise):
    name = "logical_not"
    calls = np.logical_not, operator.not_
    is_total = True
    asks_truth = True

    def simpler(x):
        return None if x.dtype.kind == "b" else x == 0

    where = "truth"
    derivative = FLAT


class BitwiseAnd(Elementwise):
    name = "bitwise_and"
    calls = np.bitwise_and, operator.and_
    keeps_truth = True
    symbol = "&"
    where = "integer"
    derivative = FLAT


class BitwiseOr(Elementwise):
    name = "bitwise_or"
    calls = np.bitwise_or, operator.or_
    keeps_truth = True
    symbol = "|"
    where = "integer"
    derivative = FLAT


class BitwiseXor(Elementwise):
    name = "bitwise_xor"
    calls = np.bitwise_xor, operator.xor
    keeps_truth = True
    symbol = "^"
    where = "integer"
    derivative = FLAT


class Invert(Elementwise):
    calls = np.invert, operator.invert, operator.inv
    symbol = "~"
    loop = {"b": operator.not_}
    where = "integer"
    derivative = FLAT


def _is_short(shift: Any) -> bool:
    """Whether a shift is known to leave some of 64 bits, as processors shift."""
    return constant(shift) in range(64)


class LeftShift(Elementwise):
    name = "left_shift"
    calls = np.left_shift, operator.lshift
    symbol = "<<"
    loop = scalars.shifted_left
    where = "integer"
    derivative = FLAT

    def by_operator(x1, x2):
        return _is_short(x2)


class RightShift(Elementwise):
    name = "right_shift"
    calls = np.right_shift, operator.rshift
    symbol = ">>"
    loop = scalars.shifted_right
    where = "integer"
    derivative = FLAT

    def by_operator(x1, x2):
        return _is_short(x2)
