"""Giving an atom the type of the slot that it goes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.grammar import Atom, Const, Undefined, Var, type_of
from ...core.types import BOOL, ArrayType
from ...ops import value as values
from ...ops.arithmetic import converted
from ...ops.value import Value

if TYPE_CHECKING:
    from ..reader import Reader

class Nothing(Undefined):
    """What is in the place of a value that is None: zeros, which nobody looks at."""


NOTHING = Nothing()
PYTHON = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


class Widen(Exception):
    """A name that may be unbound, with this key, has to get its final type wherever it is bound: what
    may be unbound cannot be converted."""

    def __init__(self, key: Any, type: ArrayType) -> None:
        super().__init__(key, type)
        self.key = key
        self.type = type


def cast(reader: Reader, atom: Atom, type: ArrayType) -> Atom:
    """The atom with another dtype, as NumPy and Python convert it; emitted where that takes an op. A
    truth value of Python is one of NumPy's on a path of its own."""
    if atom is NOTHING:
        return zeros_of(type).atom
    own = type_of(atom)
    if isinstance(atom, Undefined) or not isinstance(own, ArrayType):
        return atom
    if own.dtype == type.dtype and (own.weak == type.weak or own == BOOL):
        return _unnamed(reader, atom)
    if isinstance(atom, Var) and atom in reader.partial:
        raise Widen(reader.partial[atom], type)
    if isinstance(atom, Const):
        return Const(PYTHON[type.dtype.kind](atom.value), type)
    if type.weak:
        kind = PYTHON[type.dtype.kind]
        return converted(Value(atom), kind, kind.__name__).atom
    return converted(Value(atom), type.dtype).atom


def zeros_of(type: ArrayType) -> Value:
    """A number, or an array, of this type."""
    if type.sizes:
        made: Value = values.call(np.zeros, (type.sizes,), {"dtype": type.dtype})
        return made
    number = type.dtype.type(0)
    return Value(values.atom(number.item() if type.weak else number))


def _unnamed(reader: Reader, atom: Atom) -> Atom:
    """A constant that got its name from a local variable loses it where that variable changes."""
    if isinstance(atom, Const) and atom in reader.local_constants:
        return Const(atom.value, atom.type)
    return atom
