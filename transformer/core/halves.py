"""Floating types of 16 bits, in which numbers are kept and not computed: float16 and bfloat16.

What computes with them does so in float32. bfloat16 is a dtype that `ml_dtypes` adds to NumPy, which is imported when
it is first asked for. It is promoted as float16 is, and the two together are float32.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

FLOAT16 = np.dtype(np.float16)
FLOAT32 = np.dtype(np.float32)


@cache
def bfloat16() -> np.dtype[Any]:
    """The dtype. Raises ImportError where `ml_dtypes` is not installed.

    >>> bfloat16().itemsize
    2
    """
    import ml_dtypes
    return np.dtype(ml_dtypes.bfloat16)


class Bfloat16:
    """Stands for the dtype in Core, and is equal to it. The dtype itself has the kind ``"V"`` in NumPy, and needs its
    library. Functions that make arrays take it for a dtype."""

    kind, name, itemsize, char, isnative = "f", "bfloat16", 2, "E", True

    @property
    def dtype(self) -> np.dtype[Any]:
        return bfloat16()

    @property
    def type(self) -> Any:
        return bfloat16().type

    def newbyteorder(self, order: str = "S") -> Bfloat16:
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bfloat16) or isinstance(other, np.dtype) and is_bfloat16(other)

    def __hash__(self) -> int:
        return hash(bfloat16())

    def __repr__(self) -> str:
        return "dtype(bfloat16)"

    def __str__(self) -> str:
        return "bfloat16"

    def __reduce__(self) -> str:
        return "BFLOAT16"


BFLOAT16: Any = Bfloat16()


def is_bfloat16(dtype: Any) -> bool:
    return dtype is BFLOAT16 or dtype.kind == "V" and dtype.name == "bfloat16"


def is_bfloat16_class(value: Any) -> bool:
    """Whether an object is the class of numbers in bfloat16."""
    return isinstance(value, type) and value.__name__ == "bfloat16" and issubclass(value, np.generic)


def of_core(dtype: Any) -> Any:
    """A dtype as Core has it.

    >>> of_core(bfloat16()).kind, of_core(np.dtype(int)).kind
    ('f', 'i')
    """
    return BFLOAT16 if dtype.kind == "V" and dtype.name == "bfloat16" else dtype


def of_numpy(dtype: Any) -> Any:
    """A dtype of Core as NumPy has it."""
    return bfloat16() if dtype is BFLOAT16 else dtype


class _Numbers(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, (np.number, np.bool_)) or isinstance(value, np.generic) and is_bfloat16(value.dtype)


class NumpyNumber(metaclass=_Numbers):
    """NumPy's numbers and truth values. Those of bfloat16 are not instances of `np.number`.

    >>> isinstance(np.float32(1), NumpyNumber), isinstance(bfloat16().type(1), NumpyNumber)
    (True, True)
    """


def is_inexact(value: Any) -> bool:
    """Whether a value is a number of NumPy's with a point, or a complex one."""
    return isinstance(value, np.inexact) or isinstance(value, np.generic) and is_bfloat16(value.dtype)


def is_half(dtype: Any) -> bool:
    """Whether a dtype is one of the two.

    >>> is_half(np.dtype(np.float16)), is_half(np.dtype(np.int16))
    (True, False)
    """
    return dtype.itemsize == 2 and (dtype.kind == "f" or is_bfloat16(dtype))


def kind_of(dtype: Any) -> str:
    """The kind of a dtype, which for bfloat16 is that of floating-point numbers, too.

    >>> kind_of(bfloat16()), kind_of(np.dtype(np.int8))
    ('f', 'i')
    """
    return "f" if is_bfloat16(dtype) else dtype.kind


# A number of Python's of each kind, for `promoted`.
PYTHON_KINDS: dict[str, Any] = {"i": 0, "f": 0.0, "c": 0j}


def promoted(kinds: Iterable[Any]) -> np.dtype[Any]:
    """NumPy's `result_type` of dtypes and Python's numbers, with bfloat16 promoted as float16 is.

    >>> promoted([bfloat16(), 2.0]), promoted([bfloat16(), np.dtype(np.float16)])
    (dtype(bfloat16), dtype('float32'))
    """
    kinds = list(kinds)
    if not any(map(_is_brain, kinds)):
        return np.result_type(*kinds)
    found = np.result_type(*without_bfloat16(kinds))
    return bfloat16() if found == FLOAT16 else found


def without_bfloat16(kinds: Iterable[Any]) -> list[Any]:
    """What promotes as dtypes, among which is bfloat16, and Python's numbers do: float16 in its place, or float32
    where there is float16, too. Of what comes of it float16 stands for bfloat16."""
    kinds = list(kinds)
    kept = FLOAT32 if any(isinstance(kind, np.dtype) and kind == FLOAT16 for kind in kinds) else FLOAT16
    return [kept if _is_brain(kind) else kind for kind in kinds]


def _is_brain(kind: Any) -> bool:
    return kind is BFLOAT16 or isinstance(kind, np.dtype) and is_bfloat16(kind)


def has_half_loop(function: Any) -> bool:
    """Whether a function of NumPy or SciPy knows float16: ufuncs of `scipy.special` do not, and take it for float64."""
    return not isinstance(function, np.ufunc) or any("e" in types for types in function.types)


def can_cast(source: Any, target: Any, casting: Any) -> bool:
    """`np.can_cast`, with bfloat16 as float16."""
    one, other = without_bfloat16((source, target)) if source != target else (source, source)
    return source == target or np.can_cast(one, other, casting)


def finfo(dtype: Any) -> Any:
    """`np.finfo`, of bfloat16, too.

    >>> finfo(bfloat16()).eps
    0.0078125
    """
    found = np.dtype(dtype) if isinstance(dtype, (type, str, np.dtype, Bfloat16)) else dtype.dtype
    if is_bfloat16(found):
        import ml_dtypes
        return ml_dtypes.finfo(found)
    return np.finfo(found)
