"""Complex numbers: parts, conjugate, angle.

A cotangent `u` of a complex value stands for the real-linear form `dy -> Re(u * dy)`, as in JAX;
so a holomorphic function multiplies it by its derivative, and others have a `vjp` of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import BadArgument, as_raised
from ..core.types import ArrayType, type_of_number
from . import scalars, scalars_of_complex
from .creation import zeros
from .elementwise import PI, Elementwise, aligned, elementwise_type
from .value import value


def of_parts(real: Any, imag: Any) -> complex:
    """``complex(real, imag)`` of real numbers."""
    if np.iscomplexobj(real) or np.iscomplexobj(imag):
        raise TypeError("a part of a complex number is real")
    return complex(real, imag)


class OfParts(Elementwise):
    """``complex(real, imag)`` of numbers, which adds nothing up: parts may be infinite."""

    name = "of_parts"
    calls = (of_parts,)
    loop = scalars_of_complex.of_parts
    partials = (lambda t, real, imag, y: t,
                lambda t, real, imag, y: 1j * t)

    def types(real: ArrayType, imag: ArrayType) -> ArrayType:
        if "c" in (real.dtype.kind, imag.dtype.kind):
            raise BadArgument("complex(re, im) with complex arguments is not supported", instead="Write re + 1j * im.")
        if real.sizes or imag.sizes:
            raise BadArgument("complex accepts numbers, not arrays", instead="Write re + 1j * im for arrays.")
        return type_of_number(0j)

    def batch(lead, real, imag):
        return ComplexOf.applied(*aligned(lead, (real.astype(np.float64), imag.astype(np.float64))))

    def domain(rng):
        return [((1.5, -0.5), {}), ((2, 0.3), {})]


def complex_of(real, imag):
    """Complex numbers of these parts, which may be infinite."""
    shape = np.broadcast_shapes(np.shape(real), np.shape(imag))
    z = np.empty(shape, np.result_type(real, imag, np.complex64))
    z.real = real
    z.imag = imag
    return z


def complex_of_real(real, imag):
    """The same, of arrays of real numbers only."""
    if np.iscomplexobj(real) or np.iscomplexobj(imag):
        raise TypeError("a part of a complex number is real")
    if not (np.ndim(real) or np.ndim(imag)):
        raise TypeError("numbers are made by complex()")
    return complex_of(real, imag)


class ComplexOf(Elementwise):
    """The same of arrays; with ``re + 1j * im`` an infinite part makes the other one nan."""

    name = "complex_of"
    calls = (complex_of_real,)
    helper = True
    loop = scalars_of_complex.of_parts
    partials = OfParts.partials

    def types(real: ArrayType, imag: ArrayType) -> Any:
        if not (real.sizes or imag.sizes):
            raise TypeError("numbers are made by complex()")
        return elementwise_type(complex_of_real, (real, imag))

    def domain(rng):
        return [((rng.normal(size=3), rng.normal(size=(2, 3))), {}), ((rng.normal(size=3), 0.5), {})]


def _with_parts(real, imag):
    return (ComplexOf if real.ndim else OfParts).applied(real, imag)


class Real(Elementwise):
    calls = (np.real,)
    methods = ("real",)
    makes_array = "of arrays"
    loop = {"c": scalars.real_part, "biuf": scalars.same}
    linear = "val"
    view = True

    def types(val: ArrayType) -> ArrayType:
        return _part(val)

    def vjp(dy, val):
        return dy

    def write_back(base, part):
        return _with_parts(part, np.imag(base)) if base.dtype.kind == "c" else part


class Imag(Elementwise):
    """Zero for real numbers."""

    calls = (np.imag,)
    methods = ("imag",)
    makes_array = "of arrays"
    loop = {"c": scalars.imaginary_part}
    view = True
    jvp = (lambda t, val, y: np.imag(t) if val.dtype.kind == "c" else None,)
    vjp = (lambda dy, val, y: -1j * dy if val.dtype.kind == "c" else None,)

    def types(val: ArrayType) -> ArrayType:
        return _part(val)

    def write_back(base, part):
        if base.dtype.kind != "c":
            raise as_raised(ValueError("assignment destination is read-only"), current().origin,
                            instead="Real numbers have no imaginary part to write: make them complex first.")
        return _with_parts(np.real(base), part)

    def simpler(val):
        return None if val.dtype.kind == "c" else zeros(val.type)


def _part(type: ArrayType) -> ArrayType:
    """The type of a part of a number; a Python number's is one."""
    if type.dtype.kind != "c":
        return type
    dtype = np.empty(0, type.dtype).real.dtype
    return ArrayType(dtype, type.sizes, type.weak)


class Conjugate(Elementwise):
    calls = (np.conjugate,)
    methods = "conj", "conjugate"
    loop = {"c": np.conjugate, "biuf": scalars.same}
    linear = "x"

    def front(args, kwargs, spelling):
        """Real arrays and numbers are their own conjugates, by the method: `np.conj` makes int8 of truth values."""
        own = spelling is None and len(args) == 1 and not kwargs and value(args[0]).dtype.kind != "c"
        return args[0] if own else None

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

    def simpler(z, deg=False):
        height, width = (np.imag(z), np.real(z)) if z.dtype.kind == "c" else (0.0, z)
        return _scaled(np.arctan2(height, width), deg)


def _scaled(angle, deg):
    return angle * (180 / PI) if deg else angle
