"""Functions of arrays that promote nothing: operands have one dtype and one shape, or it is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.types import ArrayType, type_of_number

PYTHONS = {"b": "bool", "i": "int", "f": "float", "c": "complex"}
REAL, INEXACT, WHOLE = "f", "fc", "biu"
TAKEN = {REAL: "real floating point numbers", INEXACT: "floating point numbers", WHOLE: "integers and booleans"}


class Strict:
    """A function of NumPy's that takes operands of one dtype and shape only; operands without axes go with any shape,
    and Python's numbers with any dtype of their kind. `kinds` are those of the dtypes it takes.

    >>> add = Strict("add", np.add)
    >>> add(42, 42)
    84
    >>> add(42, 42.0)
    Traceback (most recent call last):
        ...
    TypeError: lax.add requires arguments of equal dtype, got int and float (np.add converts them)
    """

    def __init__(self, name: str, function: Callable[..., Any], kinds: str = "") -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"`{name}` of operands of one dtype and shape."
        self.function = function
        self.kinds = kinds

    def __call__(self, *operands: Any) -> Any:
        types = [_type(operand) for operand in operands]
        self.check(types)
        result = _narrowed(self.function(*operands), types)
        return result.item() if all(map(_is_python, operands)) and isinstance(result, np.generic) else result

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from ..core.errors import raised_as
        from ..ops.value import Value, value
        operands = [reader.usable(arg) for arg in args]
        types = [value(operand).type if isinstance(operand, Value) else _type(operand) for operand in operands]
        try:
            self.check(types)
        except TypeError as error:
            raise raised_as(TypeError, str(error), reader.builder.origin,
                            "Functions of lax do not promote dtypes.") from None
        return _narrowed(reader.call(self.function, tuple(operands), kwargs), types)

    def check(self, types: list[ArrayType]) -> None:
        """Raises `TypeError` for operands of these types."""
        if len({type.dtype for type in types if not type.weak}) > 1 or not all(map(_goes_with, types, types[1:])):
            found = " and ".join(map(_shown, types))
            name = self.function.__name__
            hint = f" (np.{name} converts them)" if getattr(np, name, None) is self.function else ""
            raise TypeError(f"lax.{self.__name__} requires arguments of equal dtype, got {found}{hint}")
        for type in types:
            if self.kinds and type.dtype.kind not in self.kinds:
                raise TypeError(f"lax.{self.__name__} expects {TAKEN[self.kinds]}, got {_shown(type)}")
        shapes = [type.sizes for type in types if type.sizes]
        if not all(map(_is_one_shape, shapes, shapes[1:])):
            shown = " and ".join(str(type.sizes) for type in types)
            raise TypeError(f"lax.{self.__name__} requires arguments of equal shape, got {shown}")


def _narrowed(result: Any, types: list[ArrayType]) -> Any:
    """A result in the dtype of operands with 16 bits, for which SciPy has no functions."""
    own = next((type.dtype for type in types if not type.weak), None)
    if own is None or own.kind != "f" or own.itemsize != 2 or result.dtype.kind != "f":
        return result
    return result if result.dtype == own else result.astype(own)


def check_fits(name: str, operand: Any, other: Any) -> None:
    """Raises `TypeError` unless an operand may hold the numbers of another one, or one of Python's, as they are."""
    if np.result_type(operand, other) != operand.dtype:
        found = np.asarray(other).dtype
        raise TypeError(f"lax.{name} requires arguments of equal dtype, got {operand.dtype} and {found}")


def _is_one_shape(first: Any, second: Any) -> bool:
    """In a function that is read, sizes are equal where nothing is against it, which calls make sure of then."""
    return len(first) == len(second) and all(map(_is_one_size, first, second))


def _is_one_size(first: Any, second: Any) -> bool:
    if isinstance(first, int) and isinstance(second, int):
        return first == second
    from ..ops.products import equal
    return equal(first, second)


def _goes_with(first: ArrayType, second: ArrayType) -> bool:
    return first.dtype == second.dtype or (first.weak or second.weak) and first.dtype.kind == second.dtype.kind


def _type(operand: Any) -> ArrayType:
    if _is_python(operand):
        return type_of_number(operand)
    array = np.asarray(operand)
    return ArrayType(array.dtype, array.shape)


def _is_python(operand: Any) -> bool:
    return isinstance(operand, (bool, int, float, complex)) and not isinstance(operand, np.generic)


def _shown(type: ArrayType) -> str:
    return PYTHONS.get(type.dtype.kind, str(type.dtype)) if type.weak else str(type.dtype)
