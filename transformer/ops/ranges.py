"""Evenly spaced numbers, and the indices of a grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import NotSupported, ShapeError
from ..core.halves import promoted
from ..core.sizes import Extent, Size
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Bound, Kwargs
from .base import Op
from .creation import FLOAT64, Creation
from .elements import number, one_of, spread
from .elementwise import aligned, broadcast, result_dtypes, weak_or_dtype, where
from .integers import affine
from .rewritten import Rewritten
from .shape import along, reshaped
from .slices import not_negative
from .value import Value, call, value

INT64 = np.dtype(np.int64)
NOT_STATIC = ("np.arange of numbers that are not whole must be known when the function is transformed",
              "the number of elements depends on them",
              "Write start + step * np.arange(count), or use np.linspace.")


class Arange(Creation):
    """`start`, `stop` and `step` are whole and may be symbolic, or are known floats.

    `dtype` is left out when it is int64 for whole numbers, float64 for others.
    """

    calls = np.arange

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        only_stop = len(args) == 1 and "stop" not in kwargs
        names = ("stop",) if only_stop else ("start", "stop", "step", "dtype")
        given: Kwargs = {"start": 0, "step": 1, "dtype": None}
        given |= dict(zip(names, args, strict=False)) | kwargs
        dtype = given["dtype"]
        numbers = [_number(given[name]) for name in ("start", "stop", "step")]
        if any(isinstance(number, float) for number in numbers):
            numbers, dtype = _whole_if_possible(numbers), FLOAT64 if dtype is None else dtype
        natural = FLOAT64 if any(isinstance(number, float) for number in numbers) else INT64
        attrs = {"start": numbers[0], "stop": numbers[1], "step": numbers[2]}
        attrs = {key: item for key, item in attrs.items() if cls.defaults[key] != item}
        if dtype is not None and arguments.dtype(dtype) != natural:
            attrs["dtype"] = arguments.dtype(dtype)
        return (), attrs

    def types(start=0, stop=None, step=1, dtype=None):
        floats = [number for number in (start, stop, step) if isinstance(number, float)]
        count = len(np.arange(start, stop, step)) if floats else count_of_range(start, stop, step)
        return ArrayType(dtype or (FLOAT64 if floats else INT64), (count,))

    def element(at, start=0, stop=None, step=1, dtype=None):
        if any(isinstance(bound, float) for bound in (start, stop, step)):
            return start + at[0] * ((start + step) - start)
        if isinstance(at[0], (Value, Size)):     # as a size, which says which places of an array it reaches
            return number(start + affine(at[0]) * step)
        return start + at[0] * step

    def run(start=0, stop=None, step=1, dtype=None):
        return np.arange(start, stop, step, dtype)

    def domain(rng):
        return [((), {"stop": 4}), ((), {"start": 1, "stop": 6, "step": 2}),
                ((), {"stop": 1.0, "step": 0.3}),
                ((), {"start": 3, "stop": 0, "step": -1, "dtype": FLOAT64})]


def _number(argument: Any) -> Any:
    """A bound or step of a range: a size, or a float that is known."""
    if arguments.is_dynamic(argument) and argument.dtype.kind == "f":
        raise arguments.not_known(argument, *NOT_STATIC)
    if not arguments.is_dynamic(argument) and not isinstance(argument, Size):
        argument = arguments.known(argument, "a range")
        if isinstance(argument, (float, np.floating)):
            return float(argument)
    return arguments.extent(argument, "a bound of a range")


def _whole_if_possible(numbers: list[Any]) -> list[Any]:
    """Floats that are whole as integers; all of them or none."""
    if all(not isinstance(number, float) or number.is_integer() for number in numbers):
        return [int(number) if isinstance(number, float) else number for number in numbers]
    if any(isinstance(number, Size) for number in numbers):
        raise NotSupported(NOT_STATIC[0], why=NOT_STATIC[1], instead=NOT_STATIC[2])
    return [float(number) for number in numbers]


def count_of_range(start: Extent, stop: Extent, step: Extent) -> Extent:
    """How many numbers ``range(start, stop, step)`` has.

    >>> from ..core.builder import Builder
    >>> with Builder().active():
    ...     count_of_range(1, 8, 3), count_of_range(5, 0, -1)
    (3, 5)
    """
    at_least = current().assumptions.at_least if isinstance(step, Size) else lambda a, b: a >= b
    if step == 0:
        raise ShapeError("Maximum allowed size exceeded")
    if at_least(step, 1):
        return (not_negative(stop - start) + step - 1) // step
    if at_least(-1, step):
        return (not_negative(start - stop) - step - 1) // -step
    raise NotSupported("np.arange with a step of unknown sign is not supported",
                       instead="Write start + step * np.arange(n).")


class Linspace(Op):
    calls = np.linspace
    sized = True

    def front(args, kwargs, spelling):
        """With the numbers along another axis than the first one, or with their step beside them."""
        names = ("start", "stop", "num", "endpoint", "retstep", "dtype", "axis")
        given = dict(zip(names, args, strict=False)) | kwargs
        gives_step, axis = given.pop("retstep", False), given.pop("axis", 0)
        if len(args) < 5 and not gives_step and axis == 0 and "retstep" not in kwargs and "axis" not in kwargs:
            return None
        start, stop = given.pop("start"), given.pop("stop")
        numbers = call(np.linspace, (start, stop), given)
        numbers = np.moveaxis(numbers, 0, axis) if axis != 0 else numbers
        if not gives_step:
            return numbers
        count = number(given.get("num", 50)) - (1 if given.get("endpoint", True) else 0)
        length = 1.0 * value(stop) - 1.0 * value(start)
        if isinstance(count, int):
            return numbers, length / count if count > 0 else np.nan
        return numbers, where(count > 0, length / np.maximum(count, 1), np.nan)

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        names = ("start", "stop", "num", "endpoint")
        given = dict(zip(names, args, strict=False)) | kwargs
        operands = value(given.pop("start")), value(given.pop("stop"))
        operands, attrs = super().bind(operands, given)
        if "num" in attrs:
            refusal = "Number of samples, {}, must be non-negative."
            attrs["num"] = arguments.length(attrs["num"], "the number of samples", refusal)
        if attrs.get("dtype") is not None:
            attrs["dtype"] = arguments.dtype(attrs["dtype"])
        return operands, attrs

    def types(start: ArrayType, stop: ArrayType, num=50, endpoint=True, *, dtype=None) -> ArrayType:
        natural, = result_dtypes(np.linspace, (weak_or_dtype(start), weak_or_dtype(stop)))
        return ArrayType(dtype or natural, (num, *broadcast(start.sizes, stop.sizes)))

    def element(at, start, stop, num=50, endpoint=True, dtype=None):
        first, last = 1.0 * spread(start, at[1:]), 1.0 * spread(stop, at[1:])
        count = number(num - 1 if endpoint else num)
        span = last - first
        inner = _as_wide(at[0], span) * (span / _as_wide(np.maximum(count, 1), span)) + first
        if not isinstance(count, int) or count > 0:                      # a single number is the first
            inner = where((at[0] == count) & (count > 0), last, inner)
        return np.floor(inner) if dtype is not None and dtype.kind in "iu" else inner

    jvp = (lambda t, start, stop, y, **attrs: t * _weights(y, 1, **attrs),
           lambda t, start, stop, y, **attrs: t * _weights(y, 0, **attrs))
    vjp = (lambda dy, start, stop, y, **attrs: np.sum(dy * _weights(y, 1, **attrs), axis=0),
           lambda dy, start, stop, y, **attrs: np.sum(dy * _weights(y, 0, **attrs), axis=0))

    def batch(lead, start, stop, num=50, endpoint=True, dtype=None):
        start, stop = aligned(lead, (start, stop))
        return np.moveaxis(np.linspace(start, stop, num, endpoint, dtype=dtype), 0, 1)

    def domain(rng):
        return [((0.5, 2.0), {"num": 4}), ((rng.normal(size=3), rng.normal(size=3)), {"num": 5}),
                ((rng.normal(size=3), 1.0), {"num": 3, "endpoint": False})]


def _as_wide(k: Any, like: Any) -> Any:
    """A whole number that makes nothing wider: one of NumPy's beside a float32 would."""
    return k if like.dtype == FLOAT64 or isinstance(k, int) else value(number(k)).astype(like.dtype)


def _weights(y: Any, first: int, num: Any = 50, endpoint: bool = True, dtype: Any = None) -> Any:
    """How much of the first bound (`first` = 1) or of the second is in each number."""
    bounds = (1.0, 0.0) if first else (0.0, 1.0)
    attrs: Kwargs = {} if endpoint else {"endpoint": False}
    attrs |= {} if y.dtype == FLOAT64 else {"dtype": y.dtype}
    if isinstance(y, Value):
        weights = call(np.linspace, (*bounds, num), attrs)
    else:
        weights = np.linspace(*bounds, num, **attrs)
    return reshaped(weights, along(num, 0, y.ndim))


class Logspace(Rewritten):
    calls = np.logspace

    def rewrite(start, stop, num=50, endpoint=True, base=10.0, dtype=None):
        powers = call(np.power, (base, _between(start, stop, num, endpoint)), {})
        return powers if dtype is None else powers.astype(dtype)


class Geomspace(Rewritten):
    calls = np.geomspace

    def rewrite(start, stop, num=50, endpoint=True, dtype=None):
        start, stop = (value(bound).astype(promoted((value(bound).dtype, FLOAT64))) for bound in (start, stop))
        ratio = stop / start
        numbers = start * ratio ** _between(0.0, 1.0, num, endpoint)
        return numbers if dtype is None else numbers.astype(dtype)


def _between(start: Any, stop: Any, num: Any, endpoint: Any) -> Any:
    return call(np.linspace, (start, stop, num, endpoint), {})


class Indices(Creation):
    """The index of every place of a grid, one axis after another in front."""

    calls = np.indices

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        (), attrs = super(Creation, cls).bind(args, kwargs)
        attrs["dimensions"] = arguments.shape(attrs["dimensions"])
        if "dtype" in attrs and arguments.dtype(attrs.pop("dtype")) != INT64:
            raise NotSupported("np.indices with a dtype is not supported", instead="Convert the result with astype.")
        return (), attrs

    def types(dimensions=None, dtype=None):
        return ArrayType(INT64, (len(dimensions), *dimensions))

    def element(at, dimensions=None, dtype=None):
        return one_of([lambda k=k: k for k in at[1:]], at[0])

    def domain(rng):
        return [((), {"dimensions": (2, 3)})]


class DiagIndices(Rewritten):
    name = "diag_indices"
    calls = np.diag_indices

    def rewrite(n, ndim=2):
        places = call(np.arange, (n,), {})
        return (places,) * arguments.whole(ndim, "ndim")
