"""What a caller may write for an axis, a shape, a dtype or a whole number, brought into one form.

Axes become non-negative, dtypes `np.dtype`, shapes tuples of `int | Size`. The errors say what
NumPy's own say.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.exceptions import AxisError

from ..core.builder import current
from ..core.errors import BadArgument, NotSupported, ShapeError, as_raised
from ..core.grammar import Const
from ..core.halves import of_core
from ..core.sizes import Extent, Size
from .integers import affine, is_exact, shared
from .value import Value

NEGATIVE = "negative dimensions are not allowed"           # as NumPy says

Args = tuple[Any, ...]
Kwargs = dict[str, Any]
Bound = tuple[Args, Kwargs]


class NotKnown(NotSupported):
    """An argument, `value`, has to be known while the function is read, and is not."""

    value: Any


def not_known(argument: Any, message: str, why: str, instead: str) -> NotKnown:
    """The error about an argument that has to be known."""
    error = NotKnown(message, why=why, instead=instead)
    error.value = argument
    return error


def known(argument: Any, what: str) -> Any:
    """A static argument; a `Value` will do when it is a constant."""
    if not isinstance(argument, Value):
        return argument
    if argument.known is not None:
        return argument.known
    if isinstance(argument.atom, Const):
        return argument.atom.value
    raise _open(argument, what)


def _open(argument: Any, what: str) -> NotKnown:
    return not_known(argument, f"{what} must be known when the function is transformed",
                     "the shape of the result depends on it, and it is computed by the program",
                     "Pass it as a Python number that does not come out of an array.")


def whole(argument: Any, what: str) -> int:
    """A static whole number; that of a size, which has none, is asked for."""
    argument = known(argument, what)
    if isinstance(argument, Size):
        raise _open(argument, what)
    try:
        return operator.index(argument)
    except TypeError:
        name = type(argument).__name__
        raise BadArgument(f"'{name}' object cannot be interpreted as an integer",
                          why=f"{what} must be an integer.") from None


def extent(argument: Any, what: str = "a size") -> Extent:
    """A whole number that may be symbolic: a size, or an integer that the program computes."""
    if isinstance(argument, Size):
        return affine(argument)
    if is_dynamic(argument):
        if argument.ndim or argument.dtype.kind not in "iu":
            raise BadArgument(f"{what} must be an integer, not {argument.type}")
        return affine(argument) if is_exact(argument.atom) else affine(_in_python(argument))
    return whole(argument, what)


def _in_python(integer: Value) -> Value:
    """An integer of few bits, or without a sign, as a size is one: -n is not to wrap around."""
    from .arithmetic import Cast
    return shared(Cast, (integer,), {"dtype": int}, "int")


def is_dynamic(argument: Any) -> bool:
    """Whether an argument is computed by the program."""
    return (isinstance(argument, Value) and argument.known is None
            and not isinstance(argument.atom, Const))


def shape(argument: Any) -> tuple[Extent, ...]:
    """A shape given as one size or as a sequence of them."""
    return tuple(map(length, items(argument)))


def length(argument: Any, what: str = "a size", refusal: str = NEGATIVE) -> Extent:
    """A size for a new array. Where only the program itself can tell whether it is negative, the program does."""
    size = extent(argument, what)
    if isinstance(size, int) and size < 0:
        raise ShapeError(refusal.format(size))
    current().assumptions.test_sign(size)
    return size


def items(shape: Any) -> tuple[Any, ...]:
    """The sizes in a shape, as they were given. A list that the program computes has to be known."""
    if isinstance(shape, Value) and shape.ndim:
        shape = list(known(shape, "a shape"))
    return tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)


def axis(argument: Any, rank: int) -> int:
    """One axis of an array of rank `rank`."""
    k = whole(argument, "an axis")
    if not -rank <= k < rank:
        raise as_raised(AxisError(k, rank))
    return k % rank


def axes(argument: Any, rank: int, repeated: str = "duplicate value in 'axis'") -> tuple[int, ...]:
    """Axes in the order given; one of them may be given alone."""
    items = argument if isinstance(argument, (tuple, list)) else (argument,)
    result = tuple(axis(item, rank) for item in items)
    if len(set(result)) < len(result):
        raise ShapeError(repeated)
    return result


def alone(items: tuple[Any, ...]) -> Any:
    """The only item of a tuple, or the tuple."""
    return items[0] if len(items) == 1 else items


def reduced_axes(argument: Any, rank: int) -> None | int | tuple[int, ...]:
    """The axes of a reduction: None for all of them, an int for one, else a sorted tuple."""
    if isinstance(argument, Value):
        argument = known(argument, "an axis")
    if argument is None:
        return None
    result = tuple(sorted(axes(argument, rank)))
    return None if len(result) == rank else alone(result)


def dtype(argument: Any) -> np.dtype:
    """The dtype that ``np.float32``, ``"float32"``, ``float`` … name."""
    try:
        result = of_core(np.dtype(argument))
    except TypeError as error:
        raise BadArgument(str(error)) from None
    if result.kind not in "biufc":
        raise NotSupported(f"arrays of dtype {result} are not supported",
                           why="Only numeric and boolean dtypes are supported.",
                           instead="Keep such arrays out of the transformed function.")
    return result


def in_c_order(order: Any, what: str) -> None:
    """Raises unless elements are to be taken in C order: of what lies in memory in whatever order nothing is known."""
    if order not in (None, "C"):
        raise NotSupported(f"{what} with order={order!r} is not supported", why="Only C order is supported.",
                           instead="Transpose the array before and after.")
