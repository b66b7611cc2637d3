"""Methods of arrays that are more than one op: those that write, and conversions."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import BadArgument, NotSupported, ShapeError
from ...core.halves import promoted
from ...ops.arithmetic import PYTHON_TYPES, converted
from ...ops.table import method as op_of_method
from ...ops.value import Value
from ..branches.casts import PYTHON
from ..library import methods
from ..library.by_columns import by_columns
from ..library.calls import call_library
from ..raising.blame import as_numpy_raises
from ..subscripts import subscript
from ..values import ArrayMethod, is_array
from .applying import apply_found

if TYPE_CHECKING:
    from ..reader import Reader


def call_array_method(reader: Reader, method: ArrayMethod, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`x.name(*args)`."""
    special = SPECIAL.get(method.name)
    if special is not None:
        return special(reader, method.value, *args, **kwargs)
    written = methods().get(method.name)
    if written is not None:
        return call_library(reader, written, (method.value, *args), kwargs)
    columns = by_columns(method.name, (method.value, *args), kwargs)
    if columns is not None:
        return call_library(reader, *columns, {})
    op = op_of_method(method.name)
    if op is None or method.name in INSTEAD:
        instead = INSTEAD.get(method.name, USE_OTHERS)
        raise NotSupported(f"the method {method.name!r} of an array is not supported", reader.builder.origin,
                           instead=instead)
    out = kwargs.pop("out", None)
    kwargs = as_wide_as(out, op, (method.value, *args), kwargs)
    try:
        result = apply_found(reader, op, (method.value, *args), kwargs, None)
    except (NotSupported, BadArgument, ShapeError) as error:
        unbound = getattr(np.ndarray, method.name)
        raise as_numpy_raises(reader, error, unbound, (method.value, *args), kwargs) from None
    return result if out is None else write_out(reader, out, result)


def _fill(reader: Reader, array: Value, value: Any) -> None:
    from ..assignment import write_item

    write_item(reader, array, ..., value)


def _item(reader: Reader, array: Value, *index: Any) -> Any:
    """`x.item()`: a Python number."""
    if len(index) == 1 and array.ndim != 1:
        raise NotSupported("a flat index is not supported", instead="Use one index per axis.")
    if index:
        array = subscript(reader, array, index)
    elif array.ndim:
        array = subscript(reader, array, (0,) * array.ndim)
    kind = PYTHON[array.dtype.kind]
    assert kind in PYTHON_TYPES.values()
    return array if array.type.weak else converted(array, kind, kind.__name__)


def _view(reader: Reader, array: Value, dtype: Any = None, type: Any = None) -> Any:
    """`x.view()`: another array of the same memory, and of the same type."""
    same_dtype = dtype is None or dtype is np.ndarray or not isinstance(dtype, builtins.type) and dtype == array.dtype
    if not (same_dtype or dtype is array.dtype.type) or type not in (None, np.ndarray):
        raise NotSupported("a view of an array as another type is not supported", reader.builder.origin,
                           instead=INSTEAD["view"])
    return subscript(reader, array, ...) if is_array(array) else array


def _repeat(reader: Reader, array: Value, *args: Any, **kwargs: Any) -> Any:
    """`x.repeat(n)`, which may have a number for each element."""
    return reader.call(np.repeat, (array, *args), kwargs)


def as_wide_as(out: Any, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments of a sum or product whose result goes to `out`: it is computed as wide as that."""
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if not isinstance(out, Value) or not args or not isinstance(args[0], Value) or kwargs.get("dtype") is not None:
        return kwargs
    is_total = "dtype" in op.defaults and op.operands == ("a",) and (op.step is not None or bool(op.linear))
    common = promoted((args[0].dtype, out.dtype)) if is_total and out.dtype.kind in "fc" else args[0].dtype
    return kwargs if common == args[0].dtype else {**kwargs, "dtype": common}


def write_out(reader: Reader, out: Any, result: Any) -> Any:
    """`out=`: the result is written to an array, which is returned."""
    from ..augmented import write_whole

    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if isinstance(out, tuple) and isinstance(result, tuple) and len(out) == len(result):
        return tuple(part if one is None else write_out(reader, one, part) for one, part in zip(out, result))
    if not isinstance(out, Value):
        raise NotSupported("an `out` argument that is not a single array is not supported", reader.builder.origin,
                           instead="Create the array first, or assign the result: y[:] = np.sin(x).")
    write_whole(reader, out, result)
    return out


USE_OTHERS = "Use supported NumPy functions, or pass the result as an argument."
SPECIAL = {"fill": _fill, "item": _item, "repeat": _repeat, "view": _view}
INSTEAD = {
    "tobytes": "Call it outside, and pass the bytes as an argument.",
    "setflags": "Remove it, or write to a copy: x = x.copy().",
    "view": "Use astype, or .real and .imag.",
    "resize": "Use np.resize or np.concatenate.",
    "itemset": "Write x[i] = v.",
}
