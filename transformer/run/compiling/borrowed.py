"""Arrays that a kernel is given, as types of their own: their memory belongs to the caller for the duration of the
call.

So no reference to it is counted, and what a call passes on is an address and sizes; for arrays in one piece, all else
follows from these. numba's own form of a matrix is nine numbers, and the function by which Python calls a kernel has
sixty instructions for each array: for a network of many layers, that was as much code as the kernel's. From Python's
object, address and sizes are read as they lie there, since the types of a call have been told by then.

A kernel that returns an array has none of these: it might be an argument, or a view of one, and would belong to nobody.
This module imports numba, and is imported when something is compiled or loaded.
"""

from __future__ import annotations

import ctypes
from functools import reduce
from itertools import accumulate
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel.models import ArrayModel
from numba.core.datamodel.registry import register_default
from numba.core.imputils import lower_cast
from numba.core.pythonapi import NativeValue, unbox
from numba.np.numpy_support import as_dtype

of_arrays: Any = types.Array
model: Any = ArrayModel
size_of_dtype: Any = as_dtype
NUMBERS = types.Number, types.Boolean


class Borrowed(of_arrays):
    """The type of such an array. Parts of it are arrays as numba knows them, with nothing that counts references."""

    def __init__(self, kind: Any) -> None:
        super().__init__(kind.dtype, kind.ndim, kind.layout, readonly=not kind.mutable, aligned=kind.aligned,
                         name=f"borrowed {kind.name}")

    def __reduce__(self) -> Any:
        return Borrowed, (self.owned,)

    @property
    def owned(self) -> Any:
        """numba's own type of such arrays."""
        return self.copy()


def borrowed(kind: Any) -> Any:
    """The type in which a kernel takes a value."""
    return Borrowed(kind) if type(kind) is types.Array and kind.ndim and isinstance(kind.dtype, NUMBERS) else kind


def owned(kind: Any) -> Any:
    """The type of the value that was given."""
    return kind.owned if isinstance(kind, Borrowed) else kind


@register_default(Borrowed)
class BorrowedModel(model):
    """How it is passed on. Records of numba's are made of it where a function begins, which remember what they were
    made of: most are only passed on again."""

    def inner_models(self) -> list[Any]:
        return []                                # none of which counts references

    def traverse(self, builder: Any) -> list[Any]:
        return []

    def has_nrt_meminfo(self) -> bool:
        return False

    def get_argument_type(self) -> Any:
        fields = ("data", "shape", "strides") if self._fe_type.layout == "A" else ("data", "shape")
        return tuple(self._models[self.get_field_position(name)].get_argument_type() for name in fields)

    def as_argument(self, builder: Any, value: Any) -> Any:
        data, sizes, steps = value.parts if hasattr(value, "parts") else _taken(self, builder, value)
        return (data, tuple(sizes), tuple(steps)) if self._fe_type.layout == "A" else (data, tuple(sizes))

    def from_argument(self, builder: Any, value: Any) -> Any:
        data, sizes = value[:2]
        bytes_each = sizes[0].type(size_of_dtype(self._fe_type.dtype).itemsize)
        steps = value[2] if self._fe_type.layout == "A" else in_one_piece(builder, self._fe_type, sizes, bytes_each)
        made: Any = ir.Constant(self.get_value_type(), None)
        for name, part in (("nitems", reduce(builder.mul, sizes)), ("itemsize", bytes_each), ("data", data),
                           ("shape", cgutils.pack_array(builder, sizes)),
                           ("strides", cgutils.pack_array(builder, steps))):
            made = self.set(builder, made, part, self.get_field_position(name))
        made.parts = data, sizes, steps
        return made


def parts_of(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Address, sizes and steps of an array, as they were given or from its record."""
    return value.parts if hasattr(value, "parts") else _taken(context.data_model_manager[kind], builder, value)


def _taken(record: Any, builder: Any, value: Any) -> Any:
    data, sizes, steps = (record.get(builder, value, record.get_field_position(name))
                          for name in ("data", "shape", "strides"))
    return data, cgutils.unpack_tuple(builder, sizes), cgutils.unpack_tuple(builder, steps)


def in_one_piece(builder: Any, kind: Any, sizes: Any, bytes_each: Any) -> list[Any]:
    """How many bytes neighbours along each axis are apart."""
    inner = sizes[:0:-1] if kind.layout == "C" else sizes[:-1]
    steps = list(accumulate(inner, builder.mul, initial=bytes_each))
    return steps[::-1] if kind.layout == "C" else steps


class _Head(ctypes.Structure):
    """How the object of an array begins."""

    _fields_ = [("head", ctypes.c_char * object.__basicsize__), ("data", ctypes.c_void_p), ("ndim", ctypes.c_int),
                ("sizes", ctypes.c_void_p), ("steps", ctypes.c_void_p)]


@unbox(Borrowed)
def _given(kind: Any, array: Any, c: Any) -> Any:
    """An array of Python's, which is only passed on: it needs no record."""
    builder, word, address = c.builder, ir.IntType(8 * ctypes.sizeof(ctypes.c_ssize_t)), ir.IntType(8).as_pointer()

    def field(name: str) -> Any:
        place = cgutils.pointer_add(builder, array, getattr(_Head, name).offset, address.as_pointer())
        return builder.load(place)

    def words(name: str) -> list[Any]:
        first = builder.bitcast(field(name), word.as_pointer())
        return [builder.load(builder.gep(first, [word(k)])) for k in range(kind.ndim)]

    found = c.context.data_model_manager[kind]
    number = found._models[found.get_field_position("data")].get_value_type()
    passed: Any = ir.Constant(found.get_value_type(), ir.Undefined)
    passed.parts = builder.bitcast(field("data"), number), words("sizes"), words("steps") if kind.layout == "A" else []
    return NativeValue(passed)


@lower_cast(Borrowed, types.Array)
def _as_array(context: Any, builder: Any, kind: Any, other: Any, value: Any) -> Any:
    """Where a variable holds either. It counts no references then, as its record has nobody who does."""
    return value
