"""What NumPy itself says of a call that is refused: where it would raise too, its error is the one to show."""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.equations import value_of
from ...core.errors import NotSupported, TransformError, as_raised
from ...core.sizes import Size
from ...ops.value import Value
from ..branches.asked_classes import is_whole_on_a_path, not_whole_on_all_paths
from ..lists.recorded import RecordedList
from ..values import UNKNOWN, Text, known_of

if TYPE_CHECKING:
    from ..reader import Reader

LARGEST = 100_000  # elements of an array that is made to try a call
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), np.generic, np.dtype, type)


class NoSample(Exception):
    """There is no small plain object that stands for a value."""


def as_numpy_raises(
    reader: Reader, error: TransformError, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> TransformError:
    """The refusal of a call; where NumPy raises on arrays of these types and shapes, its own error.

    The call is tried on arrays of ones: what NumPy says of values does not count."""
    home = getattr(function, "__module__", None)
    refused = isinstance(error, NotSupported)
    error.is_raised = False                      # a rule may take fewer arguments than NumPy does
    try:
        given = [sample(reader, arg) for arg in args], {key: sample(reader, arg) for key, arg in kwargs.items()}
        with np.errstate(all="ignore"):
            function(*given[0], **given[1])
    except TransformError:
        return error
    except np.linalg.LinAlgError as raised:
        return error if refused else as_raised(raised, error.origin or reader.builder.origin, error.instead)
    except (TypeError, ValueError, LookupError, ArithmeticError) as raised:
        if isinstance(raised, TypeError | IndexError) and _is_right_of_integers(reader, function, args, kwargs):
            return not_whole_on_all_paths(reader)
        if refused and home in ("math", "cmath") and not isinstance(raised, TypeError):
            return error
        own = None if refused else error.instead
        is_operator = home == "_operator" and function is not operator.getitem
        instead = advice(args) or own if is_operator else own
        return as_raised(raised, error.origin or reader.builder.origin, instead)
    except Exception:
        return error
    return error


def _is_right_of_integers(reader: Reader, function: Callable[..., Any], args: Any, kwargs: Any) -> bool:
    """Whether NumPy takes the arguments if those that are integers on some path are."""
    def whole(value: Any) -> Any:
        if isinstance(value, slice):
            return slice(*map(whole, (value.start, value.stop, value.step)))
        if type(value) in (list, tuple):
            return type(value)(map(whole, value))
        return 0 if is_whole_on_a_path(reader, value) else value

    try:
        function(*(sample(reader, whole(arg)) for arg in args),
                 **{key: sample(reader, whole(arg)) for key, arg in kwargs.items()})
    except Exception:
        return False
    return True


def sample(reader: Reader, value: Any) -> Any:
    """A plain object of the type and shape that a value has in this call."""
    known = known_of(value)
    if isinstance(value, Value):
        return known if known is not UNKNOWN else _array(value, [_size(reader, n) for n in value.type.sizes])
    if isinstance(value, Size):
        return _size(reader, value)
    if isinstance(value, Text):
        return ""
    if isinstance(value, RecordedList):
        return [1.0]
    if type(value) in (list, tuple):
        return type(value)(sample(reader, item) for item in value)
    if type(value) is dict:
        return {key: sample(reader, item) for key, item in value.items()}
    if isinstance(value, slice):
        return slice(*(sample(reader, part) for part in (value.start, value.stop, value.step)))
    if isinstance(value, PLAIN):
        return value
    if hasattr(type(value), "__array__") or callable(value):
        raise NoSample
    return type(type(value).__name__, (), {})()


def _array(value: Value, shape: list[int]) -> Any:
    if value.dtype.kind in "iu":  # it may be an index or a size, of which the value counts
        raise NoSample
    if not shape:
        return value.dtype.type(1).item() if value.type.weak else value.dtype.type(1)
    if prod(shape) > LARGEST:
        raise NoSample
    return np.ones(shape, value.dtype)


def _size(reader: Reader, size: Any) -> int:
    found = size if isinstance(size, int) else value_of(size, reader.assumptions.hints)
    if found is None:
        raise NoSample
    return int(found)


def advice(operands: tuple[Any, ...]) -> str | None:
    """What to write where an operand of an operator is no array and no number."""
    for operand in operands:
        if isinstance(operand, (list, tuple, RecordedList)):
            return "Convert the list to an array first: np.array(items)."
        if isinstance(operand, dict):
            return "Work on the items of the dictionary one by one."
    return None
