"""Integers that NumPy refuses: compiled code refuses them as well, before it computes with any.

    image + 300                 if k < 0 or k > 255:
                                    raise OverflowError("Python integer out of bounds for uint8")

A Python int takes the dtype of the array that it meets, and has to fit; a negative power of an integer is none.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.builder import current
from ...core.grammar import Const, If, Let, type_of
from ...ops.arithmetic import Cast, converted
from ...ops.creation import Full
from ...ops.elements import number
from ...ops.literals import Array
from ...ops.selection import Where
from ...ops.value import Value, value
from ..nest.access import Stored, running
from ..nest.nests import emit
from .folds import fold
from .magnitudes import Magnitudes
from .promotion import working_dtypes
from .python_numbers import raised, refuse

NEGATIVE_POWER = raised(operator.pow, np.int64(2), np.int64(-1))


def before(stmt: Let, magnitudes: Magnitudes) -> None:
    """Emits the tests of the integers that a statement on numbers, or one that writes, takes."""
    for atom, dtype in _conversions(stmt):
        if dtype.kind in "iu" and (_is_python_int(atom) or _is_stored_as_number(stmt, atom)):
            _tested(atom, dtype, magnitudes)
    if stmt.op.store is not None and not stmt.op.adds:
        _test_float(stmt)
    if stmt.op.name == "power":
        _test_power(stmt, magnitudes)


def _conversions(stmt: Let) -> Iterator[tuple[Any, np.dtype]]:
    """The operands, and the dtypes that they take. What `where` chooses wraps around, and what is added at places of an
    array of them."""
    type: Any = stmt.target.type
    if stmt.op in (Cast, Full, Array):
        yield from ((atom, type.dtype) for atom in stmt.args)
    elif stmt.op.elementwise and stmt.op is not Where:
        yield from zip(stmt.args, working_dtypes(stmt), strict=True)
    elif stmt.op.store is not None and not (stmt.op.adds and _at_places(stmt)):
        yield stmt.args[1], type.dtype


def _is_python_int(atom: Any) -> bool:
    type: Any = type_of(atom)
    return bool(type.weak) and type.dtype.kind == "i"


def _is_stored_as_number(stmt: Let, atom: Any) -> bool:
    """Whether NumPy writes an integer of its own as it writes one of Python's: to an element or a slice of integers
    with a sign. Those without wrap it around, as do all arrays at places of an array of integers."""
    target: Any = stmt.target.type
    stored: Any = type_of(atom)
    if stmt.op.store is None or target.dtype.kind != "i" or stored.sizes or stored.dtype.kind not in "iu":
        return False
    return not _at_places(stmt)


def _at_places(stmt: Let) -> bool:
    """Whether a statement writes at places that arrays select."""
    return any(getattr(type_of(slot), "sizes", ()) for slot in stmt.args[2:])


def _tested(atom: Any, dtype: np.dtype, magnitudes: Magnitudes) -> None:
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    low, high = (atom.value,) * 2 if isinstance(atom, Const) else magnitudes.of(atom)
    integer: Any = Value(atom)
    tests = [integer < least] if low < least else []
    tests += [integer > most] if high > most else []
    for test in tests:
        known = f" {atom.value}" if isinstance(atom, Const) else ""
        refuse(test, OverflowError(f"Python integer{known} out of bounds for {dtype}"))


def _test_float(stmt: Let) -> None:
    """A floating number that is written to integers has to be one of them, but for its fraction: Python's anywhere,
    and NumPy's where NumPy writes it as a number, to an element or a slice of integers with a sign."""
    target: Any = stmt.target.type
    type: Any = type_of(stmt.args[1])
    dtype = target.dtype
    if dtype.kind not in "iu" or type.sizes or type.dtype.kind != "f":
        return
    if not type.weak and (dtype.kind != "i" or _at_places(stmt)):
        return
    is_long = dtype.itemsize == 8                                        # beyond which the next ones are no floats
    least, most = float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)
    x: Any = Value(stmt.args[1])
    if isinstance(x.atom, Const) and np.isfinite(x.atom.value) and least <= int(x.atom.value) <= most:
        return
    lower = x >= least if least < 0 and is_long else x > least - 1.0
    beyond = "Python int too large to convert to C long" if is_long else f"Python integer out of bounds for {dtype}"
    with current().nested() as otherwise:
        refuse(np.isnan(x), raised(int, np.nan))
        refuse(np.isinf(x), raised(int, np.inf))
        refuse(True, OverflowError(beyond))
    fits: Any = operator.and_(lower, x < most + 1.0)
    emit(If(fits.atom, [], otherwise, [], current().origin))


def _test_power(stmt: Let, magnitudes: Magnitudes) -> None:
    """NumPy refuses a negative power of an integer, if there is one to compute."""
    type: Any = stmt.target.type
    x, p = map(Stored, stmt.args)
    total: Any
    some: Any
    if type.weak or type.dtype.kind not in "iu" or p.dtype.kind != "i":
        return
    if p.ndim:
        with running(p.shape) as (indices, at):
            total, = fold(indices, (value(0),), lambda state: (state[0] + converted(_is_negative(p[at]), int),))
        refuse(total > 0, NEGATIVE_POWER)
    elif magnitudes.of(p.atom)[0] < 0:
        some = number(x.size)
        refuse(operator.and_(_is_negative(p[()]), some > 0), NEGATIVE_POWER)


def _is_negative(integer: Any) -> Any:
    return integer < 0
