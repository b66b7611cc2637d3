"""Functions of NumPy on arrays that are answered, or done, while a function is read: sizes, dtypes and writes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import BadArgument
from ...core.halves import PYTHON_KINDS, promoted
from ...core.sizes import Size
from ...ops.value import Value
from ..raising.demand import static
from ..strides import with_places
from ..values import (
    has_dynamic,
    is_array,
    known_of,
)
from .applying import apply_op, prepared

if TYPE_CHECKING:
    from ..reader import Reader


def copy_to(reader: Reader, dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """`np.copyto`."""
    from ..assignment import write_item
    from ..augmented import check_cast

    if where is not True and where is not False:
        from ..library.calls import call_library
        from ..library.writing import copyto

        return call_library(reader, copyto, (dst, src, casting, where), {})
    if where is False:
        return
    source = prepared(reader, src)
    if isinstance(source, Value):
        check_cast(reader, source, dst.dtype, casting)
    write_item(reader, dst, ..., source)


def add_at(reader: Reader, array: Any, index: Any, values: Any) -> None:
    """`np.add.at`."""
    from ..augmented import add_to_items

    if not isinstance(array, Value):
        raise BadArgument("the first argument of np.add.at must be an array", reader.builder.origin)
    add_to_items(reader, array, with_places(reader, array, index), prepared(reader, values))


def shape_of(reader: Reader, value: Any) -> Any:
    """`np.shape`."""
    value = prepared(reader, value)
    if isinstance(value, Value):
        return value.shape
    return (
        ()
        if isinstance(value, Size)
        else np.shape(value)
        if not has_dynamic(value)
        else apply_op(reader, np.array, (value,), {}).shape
    )


def rank_of(reader: Reader, value: Any) -> int:
    return len(shape_of(reader, value))


def is_scalar(reader: Reader, element: Any) -> bool:
    """`np.isscalar`, which is not true of arrays without axes."""
    element = prepared(reader, element)
    if isinstance(element, Value):
        return not is_array(element)
    return isinstance(element, Size) or bool(np.isscalar(known_of(element)))


def size_of(reader: Reader, value: Any, axis: Any = None) -> Any:
    """`np.size`."""
    shape = shape_of(reader, value)
    return math.prod(shape) if axis is None else shape[static(reader, axis, "an axis")]


def result_type(reader: Reader, *args: Any) -> Any:
    """`np.result_type`, of dynamic values by their types."""
    from ...ops.elementwise import weak_or_dtype

    def kind(arg: Any) -> Any:
        if isinstance(arg, Value):
            found = weak_or_dtype(arg.type)
            return PYTHON_KINDS[np.dtype(found).kind] if isinstance(found, type) else found
        return 0 if isinstance(arg, Size) else np.dtype(arg) if isinstance(arg, type | str) else arg

    return promoted([kind(arg) for arg in args])


def hypotenuse(reader: Reader, *coordinates: Any) -> Any:
    """`math.hypot`, of two numbers or of any other count."""
    if len(coordinates) == 2:
        return apply_op(reader, math.hypot, coordinates, {})
    from ..library.calls import call_library
    from ..library.numbers import hypot

    return call_library(reader, hypot, coordinates, {})
