"""Reductions: sums, products, extremes, tests, counts and positions over axes.

`axis` is normal: None for all axes, an int for one, else a sorted tuple.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import NotSupported, ShapeError
from ..core.sizes import Extent, product
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Bound, Kwargs
from .base import Op
from .elementwise import FLAT, result_dtype, where
from .logic import is_true
from .scans import delayed
from .shape import reshaped, widened
from .value import value

Axis = None | int | tuple[int, ...]


class Reduction(Op):
    """An op that folds the axes `axis` of its operand into one element each."""

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        (x, *others), attrs = super().bind(args, kwargs)
        x = value(x)
        axis = arguments.reduced_axes(attrs.pop("axis", None), x.ndim)
        if axis is not None:
            attrs["axis"] = axis
        if "keepdims" in attrs:
            attrs["keepdims"] = bool(arguments.known(attrs["keepdims"], "keepdims"))
        if "dtype" in attrs:
            attrs["dtype"] = arguments.dtype(attrs["dtype"])
            if attrs["dtype"] == cls.types(x.type).dtype:
                del attrs["dtype"]
        return (x, *others), attrs

    @classmethod
    def batch(cls, lead: Any, x: Any, axis: Axis = None, **attrs: Any) -> Any:
        return cls.calls[0](x, axis=inner_axes(x, axis), **attrs)


def folded(x: ArrayType, axis: Axis, keepdims: bool, dtype: Any) -> ArrayType:
    """The type of a reduction: `x` without the axes `axis`."""
    axes = gone(x.rank, axis)
    if keepdims:
        return ArrayType(dtype, tuple(1 if k in axes else n for k, n in enumerate(x.sizes)))
    return ArrayType(dtype, tuple(n for k, n in enumerate(x.sizes) if k not in axes))


def gone(rank: int, axis: Axis) -> tuple[int, ...]:
    """The axes that a reduction folds."""
    return tuple(range(rank)) if axis is None else (axis,) if isinstance(axis, int) else axis


def kept(reduced: Any, axis: Axis, keepdims: bool) -> Any:
    """A result of a reduction with axes of size 1 where it needs them to broadcast against the operand."""
    return reduced if keepdims or axis is None or leads(axis) else np.expand_dims(reduced, axis)


def are_inner(axis: Axis) -> bool:
    """Whether axes that a reduction takes out have to be put in again, to broadcast against the operand."""
    return axis is not None and not leads(axis)


def leads(axis: int | tuple[int, ...]) -> bool:
    """Whether axes stand before all others, where broadcasting puts them by itself."""
    return axis == 0 or isinstance(axis, tuple) and axis == tuple(range(len(axis)))


def inner_axes(x: Any, axis: Axis) -> int | tuple[int, ...]:
    """The axes of a reduction behind a batch axis."""
    if axis is None:
        return arguments.alone(tuple(range(1, x.ndim)))
    return axis + 1 if isinstance(axis, int) else tuple(k + 1 for k in axis)


def reduced_count(shape: tuple[Extent, ...], axis: Axis) -> Extent:
    """How many elements of an array make up one of a reduction."""
    if axis is None:
        return product(shape)
    return product(shape[k] for k in ((axis,) if isinstance(axis, int) else axis))


def cases_of(draw: Any) -> Any:
    """Domains of reductions: every form of `axis`; `draw` gives an array of a shape."""
    def domain(rng: Any) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        cases = [((4,), {}), ((2, 3), {"axis": 0}), ((), {}), ((2, 3), {"keepdims": True}),
                 ((2, 3), {"axis": 1, "keepdims": True}), ((2, 3, 2), {"axis": (0, 2)})]
        return [((draw(rng, shape),), attrs) for shape, attrs in cases]
    return domain


def normal_cases(rng: Any, shape: tuple[int, ...]) -> Any:
    """Numbers of both signs."""
    return rng.normal(size=shape)


def apart_cases(rng: Any, shape: tuple[int, ...]) -> Any:
    """Numbers that are not close to each other."""
    return (rng.permutation(int(np.prod(shape))) * 0.5 - 1.1).reshape(shape)


class Sum(Reduction):
    calls = np.sum
    methods = ("sum",)
    linear = "a"
    domain = cases_of(normal_cases)

    def types(a: ArrayType, axis=None, dtype=None, *, keepdims=False) -> ArrayType:
        return folded(a, axis, keepdims, dtype or result_dtype(np.sum, (a.dtype,)))

    def init(a, **attrs):
        return 0

    def step(total, item, k):
        return total + item.astype(total.dtype)

    def vjp(dy, a, axis=None, dtype=None, keepdims=False):
        return kept(dy, axis, keepdims)


class Prod(Reduction):
    """Its derivatives divide by nothing: there may be zeros."""

    calls = np.prod
    methods = ("prod",)

    def domain(rng):
        zeros = [((np.array(items),), {}) for items in ([0.0, 2.0, -1.5], [3.0, 0.0, 0.0, 1.0])]
        return [*cases_of(normal_cases)(rng), *zeros]

    def types(a: ArrayType, axis=None, dtype=None, *, keepdims=False) -> ArrayType:
        return folded(a, axis, keepdims, dtype or result_dtype(np.prod, (a.dtype,)))

    def init(a, **attrs):
        return 1

    def step(total, item, k):
        return total * item.astype(total.dtype)

    def jvp(t, a, y, axis=None, dtype=None, keepdims=False):
        return np.sum(t * product_of_others(a, axis), axis=axis, keepdims=keepdims)

    def vjp(dy, a, y, axis=None, dtype=None, keepdims=False):
        return kept(dy, axis, keepdims) * product_of_others(a, axis)


def product_of_others(x: Any, axis: Axis = None) -> Any:
    """For each element, the product of all others along `axis`; nothing is divided by."""
    if x.ndim == 0 or axis == ():
        return 1.0
    if axis is None and x.ndim == 1:
        axis = 0
    if isinstance(axis, int):
        return _product_before(x, axis) * _product_after(x, axis)
    if axis is None:
        return np.reshape(product_of_others(np.reshape(x, (x.size,))), x.shape)
    rest = tuple(k for k in range(x.ndim) if k not in axis)
    front = np.transpose(x, (*axis, *rest))
    flat = np.reshape(front, (reduced_count(x.shape, axis), *(x.shape[k] for k in rest)))
    others = np.reshape(product_of_others(flat, 0), front.shape)
    return np.transpose(others, tuple(int(k) for k in np.argsort((*axis, *rest))))


def _product_before(x: Any, axis: int) -> Any:
    return np.cumprod(delayed(x, axis, 1), axis=axis)


def _product_after(x: Any, axis: int) -> Any:
    return np.flip(_product_before(np.flip(x, axis), axis), axis)


def extreme_type(a: ArrayType, axis: Axis, keepdims: bool, name: str) -> ArrayType:
    result = folded(a, axis, keepdims, a.dtype)
    if reduced_count(a.sizes, axis) == 0 and result.elements != 0:
        raise ShapeError(f"zero-size array to reduction operation {name} which has no identity")
    return result


def _extreme_tangent(t, a, y, axis=None, keepdims=False):
    """The mean of the tangents of the elements that are extreme."""
    at = a == kept(y, axis, keepdims)
    count = as_float(np.sum(at, axis=axis, keepdims=keepdims), a)
    return np.sum(at * t, axis=axis, keepdims=keepdims) / count


def _extreme_cotangent(dy, a, y, axis=None, keepdims=False):
    """Elements that are extreme get equal shares."""
    at = a == kept(y, axis, keepdims)
    count = as_float(np.sum(at, axis=axis, keepdims=keepdims or are_inner(axis)), a)
    return at * (kept(dy, axis, keepdims) / count)


def as_float(count: Any, x: Any) -> Any:
    """A count that does not widen what it divides: int64 would make float64 of float32."""
    return count if x.dtype.itemsize >= 8 else count.astype(x.dtype)


class Max(Reduction):
    """Equal extremes share their derivative equally."""

    calls = np.max, np.amax
    methods = ("max",)
    jvp = _extreme_tangent
    vjp = _extreme_cotangent
    domain = cases_of(apart_cases)

    def step(extreme, item, k):
        return np.maximum(extreme, item)

    def types(a: ArrayType, axis=None, *, keepdims=False) -> ArrayType:
        return extreme_type(a, axis, keepdims, "maximum")


class Min(Reduction):
    """Equal extremes share their derivative equally."""

    calls = np.min, np.amin
    methods = ("min",)
    jvp = _extreme_tangent
    vjp = _extreme_cotangent
    domain = cases_of(apart_cases)

    def step(extreme, item, k):
        return np.minimum(extreme, item)

    def types(a: ArrayType, axis=None, *, keepdims=False) -> ArrayType:
        return extreme_type(a, axis, keepdims, "minimum")


class AnyTrue(Reduction):
    name = "any"
    calls = np.any
    methods = ("any",)
    derivative = FLAT
    domain = cases_of(lambda rng, shape: rng.normal(size=shape) > 0.5)

    def init(a, **attrs):
        return False

    def step(found, item, k):
        return found | is_true(item)

    def types(a: ArrayType, axis=None, *, keepdims=False) -> ArrayType:
        return folded(a, axis, keepdims, np.dtype(bool))


class AllTrue(Reduction):
    name = "all"
    calls = np.all
    methods = ("all",)
    derivative = FLAT
    domain = cases_of(lambda rng, shape: rng.normal(size=shape) > -0.5)

    def init(a, **attrs):
        return True

    def step(found, item, k):
        return found & is_true(item)

    def types(a: ArrayType, axis=None, *, keepdims=False) -> ArrayType:
        return folded(a, axis, keepdims, np.dtype(bool))


class CountNonzero(Reduction):
    name = "count_nonzero"
    calls = np.count_nonzero
    derivative = FLAT
    domain = cases_of(lambda rng, shape: rng.integers(0, 2, shape))

    def init(a, **attrs):
        return 0

    def step(count, item, k):
        return count + (item if item.dtype.kind == "b" else item != 0)

    def types(a: ArrayType, axis=None, *, keepdims=False) -> ArrayType:
        return folded(a, axis, keepdims, np.dtype(np.int64))

    def batch(lead, a, axis=None, keepdims=False):
        found = a if a.dtype == np.bool_ else a != 0
        return np.sum(found, axis=inner_axes(a, axis), keepdims=keepdims)


class Position(Reduction):
    """The position of an extreme: along one axis, or in the flattened array."""

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        operands, attrs = super().bind(args, kwargs)
        if isinstance(attrs.get("axis"), tuple):
            raise NotSupported(f"{cls.name} over several axes is not supported",
                               why="NumPy supports one axis or all axes.",
                               instead="Reshape those axes into one first.")
        return operands, attrs

    @classmethod
    def start(cls, item: Any) -> tuple[Any, Any]:
        return item, 0

    @classmethod
    def finish(cls, best: Any) -> Any:
        return best[1]

    @classmethod
    def batch(cls, lead: Any, x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        if isinstance(axis, int):
            return cls.calls[0](x, axis=axis + 1, keepdims=keepdims)
        found = cls.calls[0](reshaped(x, (x.shape[0], product(x.shape[1:]))), axis=1)
        return widened(found, x.ndim - 1) if keepdims else found


def best_of(best: Any, item: Any, k: Any, is_better: Any) -> Any:
    """The best item so far and its position; the first nan is the best there is."""
    own, place = best
    better = is_better(item, own)
    if item.dtype.kind in "fc":
        better = better | (item != item) & (own == own)
    return where(better, item, own), where(better, k, place)


def position_type(a: ArrayType, axis: Axis, keepdims: bool, name: str) -> ArrayType:
    if reduced_count(a.sizes, axis) == 0:
        raise ShapeError(f"attempt to get {name} of an empty sequence")
    return folded(a, axis, keepdims, np.dtype(np.intp))


def position_cases(rng: Any) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    cases = [((4,), {}), ((2, 3), {"axis": 0}), ((2, 3), {}),
             ((2, 3), {"axis": 1, "keepdims": True})]
    return [((apart_cases(rng, shape),), attrs) for shape, attrs in cases]


class Argmax(Position):
    """The first of equal ones."""

    calls = np.argmax
    methods = ("argmax",)
    derivative = FLAT
    domain = position_cases

    def step(best, item, k):
        return best_of(best, item, k, np.greater)

    def types(a: ArrayType, axis=None, *, keepdims=False) -> ArrayType:
        return position_type(a, axis, keepdims, "argmax")


class Argmin(Position):
    """The first of equal ones."""

    calls = np.argmin
    methods = ("argmin",)
    derivative = FLAT
    domain = position_cases

    def step(best, item, k):
        return best_of(best, item, k, np.less)

    def types(a: ArrayType, axis=None, *, keepdims=False) -> ArrayType:
        return position_type(a, axis, keepdims, "argmin")
