"""Bits of numbers, and barriers that there are none of."""

from __future__ import annotations

import enum
from functools import partial
from typing import Any

import numpy as np

from ..core.halves import finfo
from ..custom import custom_jvp
from ..taking import taking_arrays

__all__ = ["Precision", "broadcast_shapes", "clz", "optimization_barrier", "reduce_precision"]


class Precision(enum.Enum):
    """What programs of JAX give to products. It changes nothing: all are computed in the precision of their dtype."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2


@taking_arrays
def clz(x: Any) -> Any:
    """How many zeros an integer begins with.

    >>> clz(np.array([0, 1, -1], np.int8))
    array([8, 7, 0], dtype=int8)
    """
    whole = np.asarray(x)
    if whole.dtype.kind not in "iu":
        raise TypeError(f"lax.clz takes integers, got {whole.dtype}")
    unsigned = whole.astype(np.dtype(f"u{whole.dtype.itemsize}"))
    width = 8 * whole.dtype.itemsize
    step = 1
    while step < width:
        unsigned = unsigned | unsigned >> unsigned.dtype.type(step)
        step *= 2
    return (width - np.bitwise_count(unsigned)).astype(whole.dtype)


@taking_arrays
def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Any:
    """Floating-point numbers rounded to those with fewer bits; too large ones are infinite, and what would not be
    normal is 0. As `jax.lax.reduce_precision`; derivatives pass as they are, while JAX rounds them, too.

    >>> reduce_precision(np.array([1.0009, 1e6, 1e-6]), 5, 10)
    array([1.00097656,        inf, 0.        ])
    """
    return _reduced(np.asarray(operand), exponent_bits, mantissa_bits)[()]


@partial(custom_jvp, nondiff_argnums=(1, 2))
def _reduced(operand: Any, exponent_bits: int, mantissa_bits: int) -> Any:
    dtype = operand.dtype
    size = np.abs(operand)
    least, most = 2.0 ** (2 - 2 ** (exponent_bits - 1)), 2.0 ** (2 ** (exponent_bits - 1) - 1)
    rounded = _rounded(operand, finfo(dtype).nmant - mantissa_bits)
    flushed = np.where(size < least, np.copysign(dtype.type(0), operand), rounded)
    return np.where(np.abs(rounded) / 2 >= most, np.copysign(dtype.type(np.inf), operand), flushed)


def _rounded(x: Any, drop: int) -> Any:
    """Numbers with fewer digits: the nearest ones, of two the one that is even in the last of them."""
    if drop <= 0:
        return x
    is_number = np.isfinite(x) & (x != 0)
    size = np.where(is_number, np.abs(x), x.dtype.type(1))
    step = (size - np.nextafter(size, x.dtype.type(0))) * x.dtype.type(2.0 ** drop)
    return np.where(is_number, np.rint(np.where(is_number, x, x.dtype.type(1)) / step) * step, x)


@_reduced.defjvp
def _along(exponent_bits: int, mantissa_bits: int, primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return _reduced(x, exponent_bits, mantissa_bits), dx


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape to which these broadcast.

    >>> broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    return np.broadcast_shapes(*shapes)


def optimization_barrier(operand: Any) -> Any:
    """The operand, a pytree: there is nothing that it would hold back."""
    return operand
