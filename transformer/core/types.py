"""Types of Core values: arrays (rank 0 is a scalar), the sequences that loops record, what calls save."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Union

import numpy as np

from .halves import BFLOAT16, of_core
from .sizes import Extent, product


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array of `dtype` and `sizes`; `weak` marks a Python number (NEP 50).

    >>> ArrayType(np.dtype("float64"), (3,))
    f64[3]
    >>> ArrayType(np.dtype("float64"), (), weak=True)
    float
    """

    dtype: np.dtype
    sizes: tuple[Extent, ...] = ()
    weak: bool = False
    __tree_leaf__: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.dtype.kind == "V":
            object.__setattr__(self, "dtype", of_core(self.dtype))

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def elements(self) -> Extent:
        return product(self.sizes)

    @property
    def is_inexact(self) -> bool:
        """Whether values of this type carry derivatives: floating point and complex ones do."""
        return self.dtype.kind in "fc"

    def with_sizes(self, sizes: tuple[Extent, ...]) -> ArrayType:
        return ArrayType(self.dtype, tuple(sizes), self.weak and not sizes)

    def strong(self) -> ArrayType:
        return ArrayType(self.dtype, self.sizes) if self.weak else self

    def __repr__(self) -> str:
        if self.weak:
            return WEAK_NAMES[self.dtype.kind]
        name = SHORT_NAMES.get(self.dtype.name, self.dtype.name)
        return f"{name}[{', '.join(map(str, self.sizes))}]" if self.sizes else SCALAR_NAMES.get(name, name)


@dataclass(frozen=True, slots=True)
class SeqType:
    """What a loop recorded: one `element` per position. Nested for nested loops, possibly ragged."""

    element: Type
    __tree_leaf__: ClassVar[bool] = True

    @property
    def is_inexact(self) -> bool:
        return self.element.is_inexact

    def __repr__(self) -> str:
        return f"Seq[{self.element}]"


@dataclass(frozen=True, slots=True)
class SavedType:
    """What a call of the function `name` saved for its reverse: values of any kinds, which only its reverse takes
    apart. They may include what inner calls saved, so the type says no more."""

    name: str
    sizes: ClassVar[tuple[Extent, ...]] = ()
    is_inexact: ClassVar[bool] = True
    __tree_leaf__: ClassVar[bool] = True

    def __repr__(self) -> str:
        return f"Saved[{self.name}]"


Type = Union[ArrayType, SeqType, SavedType]

SHORT_NAMES = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "bool": "bool",
}
SCALAR_NAMES = {"bool": "bool_"}              # NumPy's truth value beside Python's
LONG_NAMES = {short: long for long, short in SHORT_NAMES.items()} | {"bool_": "bool"}
WEAK_NAMES = {"i": "int", "f": "float", "c": "complex", "b": "bool"}


def dtype_of_name(name: str) -> Any:
    """The dtype that a text of Core names.

    >>> dtype_of_name("f32"), dtype_of_name("bf16")
    (dtype('float32'), dtype(bfloat16))
    """
    return BFLOAT16 if name in ("bf16", "bfloat16") else np.dtype(LONG_NAMES.get(name, name))


FLOAT = ArrayType(np.dtype("float64"), (), weak=True)
INT = ArrayType(np.dtype("int64"), (), weak=True)
COMPLEX = ArrayType(np.dtype("complex128"), (), weak=True)
BOOL = ArrayType(np.dtype("bool"), (), weak=True)
NUMBERS: tuple[Any, ...] = bool, int, float, complex


def type_of_number(value: object) -> ArrayType:
    """The Core type of a Python or NumPy number.

    >>> type_of_number(2), type_of_number(2.5), type_of_number(np.float32(2))
    (int, float, f32)
    >>> type_of_number(True), type_of_number(np.True_)
    (bool, bool_)
    """
    if isinstance(value, np.generic):
        return ArrayType(value.dtype)
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INT
    if isinstance(value, float):
        return FLOAT
    if isinstance(value, complex):
        return COMPLEX
    raise TypeError(f"{type(value).__name__} is not a number")


def plain_number(value: Any) -> Any:
    """A number of a class that comes from Python's, as a number of Python's.

    >>> from enum import IntEnum
    >>> plain_number(IntEnum("Level", ["LOW", "HIGH"]).HIGH)
    2
    """
    if type(value) in NUMBERS or isinstance(value, np.generic):
        return value
    return next((kind(value) for kind in NUMBERS if isinstance(value, kind)), value)


def has_own_meaning(array: object) -> bool:
    """Whether an array is of a subclass that may give operators another meaning.

    >>> has_own_meaning(np.ones(3)), has_own_meaning(np.ma.ones(3))
    (False, True)
    """
    return isinstance(array, np.ndarray) and type(array) not in (np.ndarray, np.memmap)
