"""Methods of arrays that are more than one op: those that write, and conversions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import NotSupported
from ..ops.arithmetic import PYTHON_TYPES, converted
from ..ops.table import method as op_of_method
from ..ops.value import Value
from .applying import apply_found
from .casts import PYTHON
from .subscripts import subscript
from .values import ArrayMethod

if TYPE_CHECKING:
    from .reader import Reader


def call_array_method(reader: Reader, method: ArrayMethod, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`x.name(*args)`."""
    special = SPECIAL.get(method.name)
    if special is not None:
        return special(reader, method.value, *args, **kwargs)
    op = op_of_method(method.name)
    if op is None or method.name in INSTEAD:
        raise NotSupported(
            f"the method {method.name!r} of an array", reader.builder.origin, instead=INSTEAD.get(method.name)
        )
    out = kwargs.pop("out", None)
    result = apply_found(reader, op, (method.value, *args), kwargs, None)
    return result if out is None else write_out(reader, out, result)


def _fill(reader: Reader, array: Value, value: Any) -> None:
    from .assignment import write_item

    write_item(reader, array, ..., value)


def _item(reader: Reader, array: Value, *index: Any) -> Any:
    """`x.item()`: a Python number."""
    if index:
        array = subscript(reader, array, index if len(index) > 1 or array.ndim == 1 else _flat(array))
    elif array.ndim:
        array = subscript(reader, array, (0,) * array.ndim)
    kind = PYTHON[array.dtype.kind]
    assert kind in PYTHON_TYPES.values()
    return array if array.type.weak else converted(array, kind, kind.__name__)


def _flat(array: Value) -> Any:
    raise NotSupported("a flat index", instead="Give one index per axis.")


def write_out(reader: Reader, out: Any, result: Any) -> Any:
    """`out=`: the result is written to an array, which is returned."""
    from .assignment import write_whole

    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if not isinstance(out, Value):
        raise NotSupported("out= that is not one array", reader.builder.origin)
    write_whole(reader, out, result)
    return out


SPECIAL = {"fill": _fill, "item": _item}
INSTEAD = {
    "sort": "Write x = np.sort(x).",
    "partition": "Write x = np.sort(x).",
    "tolist": "Leave the array as it is.",
    "view": "Use astype, or .real and .imag.",
    "resize": "Use np.resize or np.concatenate.",
    "put": "Write x[i] = v.",
    "itemset": "Write x[i] = v.",
}
