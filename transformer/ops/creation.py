"""Arrays made from nothing but their shape: zeros, ones, ranges, identities. They are constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import NotSupported, ShapeError
from ..core.grammar import Const, Var
from ..core.sizes import Extent
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Bound, Kwargs
from .base import Op
from .elements import spread
from .elementwise import shape_text
from .rewritten import Rewritten
from .shape import Sizes, widened
from .value import Value, apply, call, emit, value

CONSTANT = None, "it depends on nothing but its shape"
FLOAT64 = np.dtype(np.float64)


def zeros(type: ArrayType) -> Value:
    """Zeros of a type, for rules and engines; of rank 0 they are a constant."""
    return _filled(Zeros, 0, type)


def zeros_for(x: Any) -> Any:
    """Zeros of the type of an operand of a rule, a `Value` or an array."""
    return zeros(x.type) if isinstance(x, Value) else np.zeros(np.shape(x), np.asarray(x).dtype)


def is_zeros(x: Any) -> bool:
    """Whether an operand of a rule is known to be zeros: the cotangent of a result that has none."""
    stmt = current().numbering.definitions.get(x.atom) if isinstance(x, Value) and isinstance(x.atom, Var) else None
    return stmt is not None and stmt.op is Zeros


def ones(type: ArrayType) -> Value:
    """Ones of a type, for rules and engines; of rank 0 they are a constant."""
    return _filled(Ones, 1, type)


def _filled(op: Any, number: int, type: ArrayType) -> Value:
    if not type.sizes:
        single = type.dtype.type(number)
        return Value(Const(single.item() if type.weak else single, type))
    attrs = {"shape": type.sizes} | ({} if type.dtype == FLOAT64 else {"dtype": type.dtype})
    return emit(op, (), attrs, f"np.{op.name}")


def arange(*bounds: Extent) -> Any:
    """`np.arange` of sizes, which NumPy does not dispatch on."""
    return call(np.arange, bounds, {})


class Creation(Op):
    """An op without operands. `dtype` is left out when it is float64."""

    derivative = CONSTANT

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        kwargs = {key: item for key, item in kwargs.items() if key not in ("order", "device")}
        operands, attrs = super().bind(args, kwargs)
        if "dtype" in attrs:
            attrs["dtype"] = arguments.dtype(attrs["dtype"])
            if attrs["dtype"] == FLOAT64:
                del attrs["dtype"]
        return operands, attrs

    @classmethod
    def batch(cls, lead: Any, **attrs: Any) -> Any:
        raise AssertionError(f"{cls.name} has no operands")


class Shaped(Creation):
    makes_array = "always"
    sized = True

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        operands, attrs = super().bind(args, kwargs)
        return operands, {**attrs, "shape": arguments.shape(attrs.get("shape"))}


def _shaped_cases(rng: Any) -> Any:
    return [((), {"shape": (2, 3)}), ((), {"shape": (3,), "dtype": np.dtype(np.float32)})]


class Zeros(Shaped):
    calls = np.zeros
    domain = _shaped_cases

    def element(at, shape=None, dtype=None):
        return 0

    def types(shape=None, dtype=None):
        return ArrayType(dtype or FLOAT64, shape)


class Ones(Shaped):
    calls = np.ones
    domain = _shaped_cases

    def element(at, shape=None, dtype=None):
        return 1

    def types(shape=None, dtype=None):
        return ArrayType(dtype or FLOAT64, shape)


class Empty(Shaped):
    """What it holds is left open, so it has no sample calls."""

    calls = np.empty

    def element(at, shape=None, dtype=None):
        return None if shape else (dtype or FLOAT64).type(0)         # left open; but a number has to be one

    def domain(rng):
        return []

    def types(shape=None, dtype=None):
        return ArrayType(dtype or FLOAT64, shape)


class Full(Op):
    calls = np.full
    makes_array = "always"
    sized = True
    linear = "fill_value"

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        given = dict(zip(("shape", "fill_value", "dtype"), args, strict=False)) | kwargs
        given = {key: item for key, item in given.items() if key not in ("order", "device")}
        fill, shape = value(given.pop("fill_value")), arguments.shape(given.pop("shape"))
        dtype = given.pop("dtype", None)
        (fill,), attrs = super().bind((fill,), {**given, "shape": shape})
        if dtype is not None and arguments.dtype(dtype) != fill.dtype:
            attrs["dtype"] = arguments.dtype(dtype)
        _check_fill(fill, shape, attrs.get("dtype", fill.dtype))
        return (fill,), attrs

    def types(fill_value: ArrayType, shape=None, dtype=None) -> ArrayType:
        return ArrayType(dtype or fill_value.dtype, shape)

    def element(at, fill_value, shape=None, dtype=None):
        return spread(fill_value, at)

    def vjp(dy, fill_value, shape=None, dtype=None):
        return dy

    def batch(lead, fill_value, shape=None, dtype=None):
        lying = widened(fill_value, len(shape) + 1 - fill_value.ndim)
        lanes = np.broadcast_to(lying, (fill_value.shape[0], *shape))
        return lanes if dtype is None else lanes.astype(dtype)

    def run(fill_value, shape=None, dtype=None):
        return np.full(shape, fill_value, dtype)

    def domain(rng):
        return [((rng.normal(),), {"shape": (2, 3)}), ((rng.normal(size=3),), {"shape": (2, 3)})]


def _check_fill(fill: Value, shape: Sizes, dtype: np.dtype) -> None:
    if fill.dtype.kind == "c" and dtype.kind != "c":
        raise NotSupported("np.full of a real array with a complex fill value is not supported",
                           instead="Omit the dtype, or fill with np.real(value).")
    pairs = zip(fill.shape[::-1], shape[::-1], strict=False)
    equal = current().assumptions.equal
    if fill.ndim > len(shape) or not all(a == 1 or equal(a, b) for a, b in pairs):
        raise ShapeError(f"could not broadcast input array from shape {shape_text(fill.shape)} "
                         f"into shape {shape_text(shape)}")


def _like(prototype: Any, shape: Any, dtype: Any) -> tuple[Sizes, np.dtype]:
    array = value(prototype)
    return (array.shape if shape is None else arguments.shape(shape),
            array.dtype if dtype is None else arguments.dtype(dtype))


class ZerosLike(Rewritten):
    """Zeros of the shape of an array, which need not be alive for it."""

    name = "zeros_like"
    calls = np.zeros_like

    def rewrite(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
        return apply(Zeros, _like(a, shape, dtype), {}, "np.zeros_like")


class OnesLike(Rewritten):
    name = "ones_like"
    calls = np.ones_like

    def rewrite(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
        return apply(Ones, _like(a, shape, dtype), {}, "np.ones_like")


class EmptyLike(Rewritten):
    name = "empty_like"
    calls = np.empty_like

    def rewrite(prototype, dtype=None, order="K", subok=True, shape=None, *, device=None):
        return apply(Empty, _like(prototype, shape, dtype), {}, "np.empty_like")


class FullLike(Rewritten):
    name = "full_like"
    calls = np.full_like

    def rewrite(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
        sizes, dtype = _like(a, shape, dtype)
        return apply(Full, (sizes, fill_value, dtype), {}, "np.full_like")


class Eye(Creation):
    """`M` is left out when the matrix is square."""

    calls: Any = np.eye
    sized = True

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        operands, attrs = super().bind(args, kwargs)
        (rows,) = arguments.shape(attrs["N"])
        (columns,) = arguments.shape(attrs.pop("M", rows))
        k = arguments.whole(attrs.pop("k", 0), "k")
        own = {"N": rows} | ({"M": columns} if columns != rows else {}) | ({"k": k} if k else {})
        return operands, {**attrs, **own}

    def types(N=None, M=None, k=0, dtype=None):
        return ArrayType(dtype or FLOAT64, (N, N if M is None else M))

    def element(at, N=None, M=None, k=0, dtype=None):
        return at[0] + k == at[1]

    def domain(rng):
        return [((), {"N": 3}), ((), {"N": 3, "M": 4, "k": 1}),
                ((), {"N": 2, "dtype": np.dtype(bool)})]


class Tri(Eye):
    """Ones at and below diagonal `k`."""

    calls = np.tri

    def element(at, N=None, M=None, k=0, dtype=None):
        return at[1] <= at[0] + k


class Identity(Rewritten):
    calls = np.identity

    def rewrite(n, dtype=None):
        return apply(Eye, (n,), {"dtype": dtype}, "np.eye")
