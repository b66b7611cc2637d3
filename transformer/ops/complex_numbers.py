"""Complex numbers: parts, conjugate, angle.

A cotangent `u` of a complex value stands for the real-linear form `dy -> Re(u * dy)`, as in JAX;
so a holomorphic function multiplies it by its derivative, and others have a `vjp` of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.types import ArrayType
from .elementwise import PI, Elementwise, elementwise_type


class Real(Elementwise):
    calls = (np.real,)
    methods = ("real",)
    linear = "val"
    view = True

    def types(val: ArrayType) -> ArrayType:
        return _part(val)

    def vjp(dy, val):
        return dy


class Imag(Elementwise):
    """Zero for real numbers."""

    calls = (np.imag,)
    methods = ("imag",)
    view = True
    jvp = (lambda t, val, y: np.imag(t) if val.dtype.kind == "c" else None,)
    vjp = (lambda dy, val, y: -1j * dy if val.dtype.kind == "c" else None,)

    def types(val: ArrayType) -> ArrayType:
        return _part(val)


def _part(type: ArrayType) -> ArrayType:
    """The type of a part of a number; a Python number's is one."""
    if type.dtype.kind != "c":
        return type
    dtype = np.empty(0, type.dtype).real.dtype
    return ArrayType(dtype, type.sizes, type.weak)


class Conjugate(Elementwise):
    calls = (np.conjugate,)
    methods = "conj", "conjugate"
    linear = "x"

    def vjp(dy, x):
        return np.conj(dy)


class Angle(Elementwise):
    """Zero or pi for real numbers, so flat there."""

    calls = (np.angle,)
    where = "nonzero"
    jvp = (lambda t, z, y, deg=False:
           _scaled(np.imag(t / z), deg) if z.dtype.kind == "c" else None,)
    vjp = (lambda dy, z, y, deg=False:
           _scaled(-1j * dy / z, deg) if z.dtype.kind == "c" else None,)

    def types(z: ArrayType, deg: bool = False) -> Any:
        return elementwise_type(np.angle, (z,))


def _scaled(angle, deg):
    return angle * (180 / PI) if deg else angle
