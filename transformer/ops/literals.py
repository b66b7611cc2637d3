"""Arrays written out: `np.array([[a, b], [c, d]])`, and the other ways to make sure of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import NotSupported, ShapeError
from ..core.grammar import Const
from ..core.halves import promoted
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Bound, Kwargs
from .base import Op
from .creation import Zeros
from .elements import flat_place, one_of
from .joining import filled_tangents, lanes
from .rewritten import Rewritten
from .shape import Copy, reshaped
from .value import Value, apply, call, emit, value

INHOMOGENEOUS = ("setting an array element with a sequence. The requested array has an "
                 "inhomogeneous shape after 1 dimensions. The detected shape was ({},) + "
                 "inhomogeneous part.")


class Array(Op):
    """`np.array` of nested lists. The operands are the elements in order, numbers or arrays of one
    shape; `shape` is how they are nested where that is more than one list."""

    calls = np.array
    makes_array = "always"
    variadic = True
    operands = ("elements",)
    linear = "elements"

    def front(args, kwargs, spelling):
        given, dtype, ndmin = _checked(*args, **kwargs)
        if ndmin:
            return _with_rank(call(np.array, args, {**kwargs, "ndmin": 0}), ndmin)
        if not isinstance(given, (list, tuple)):
            if not kwargs.get("copy", True):
                return AsArray.rewrite(given, dtype)
            whole = value(given)
            copied = emit(Copy, (whole.atom,), {}, "np.array") if dtype is None else None
            return whole.astype(dtype) if copied is None else copied
        if not given:
            return apply(Zeros, ((0,), dtype or float), {}, "np.zeros")
        return None

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        given, dtype, _ = _checked(*args, **kwargs)
        shape, elements = nested(given)
        if not elements:
            raise NotSupported("an array of nested empty lists is not supported",
                               instead="Use np.zeros with the shape.")
        attrs = {"shape": shape} if len(shape) > 1 else {}
        if dtype is not None and dtype != cls.types([e.type for e in elements], **attrs).dtype:
            attrs["dtype"] = dtype
        return tuple(elements), attrs

    def types(elements: list[ArrayType], shape=None, dtype=None) -> ArrayType:
        first, *others = elements
        equal = current().assumptions.equal
        outer = (len(elements),) if shape is None else shape
        for other in others:
            if other.rank != first.rank or not all(map(equal, other.sizes, first.sizes)):
                raise ShapeError(INHOMOGENEOUS.format(outer[0]))
        natural = promoted({element.dtype for element in elements})
        return ArrayType(dtype or natural, outer + first.sizes)

    def element(at, *elements, shape=None, dtype=None):
        outer = (len(elements),) if shape is None else shape
        which, inner = flat_place(at[:len(outer)], outer), at[len(outer):]
        return one_of([lambda x=x: x[inner] for x in elements], which)

    def vjp(dy, i, *elements, shape=None, dtype=None):
        place = (i,) if shape is None else np.unravel_index(i, shape)
        return dy[tuple(int(k) for k in place)]

    def tangent(given, *elements, shape=None, dtype=None):
        attrs = {"shape": shape, "dtype": dtype}
        attrs = {key: item for key, item in attrs.items() if item is not None}
        return Array.applied(*filled_tangents(given, elements), **attrs)

    def batch(lead, *elements, shape=None, dtype=None):
        flat = np.stack(lanes(lead, elements), axis=1)
        if shape is not None:
            flat = np.reshape(flat, (flat.shape[0], *shape, *flat.shape[2:]))
        return flat if dtype is None else flat.astype(dtype)

    def run(*elements, shape=None, dtype=None):
        flat = np.array(elements, dtype)
        return flat if shape is None else flat.reshape(*shape, *flat.shape[1:])

    def domain(rng):
        rows = tuple(rng.normal(size=(2, 3)))
        square = tuple(rng.normal(size=4)), {"shape": (2, 2)}
        return [(tuple(rng.normal(size=3)), {}), (rows, {}), square]


def _checked(object: Any, dtype: Any = None, *, copy: Any = True, order: Any = None,
             subok: bool = False, ndmin: int = 0) -> tuple[Any, Any, int]:
    """What an array is made of, its dtype, and how many axes it has at least."""
    return object, None if dtype is None else arguments.dtype(dtype), ndmin


def _with_rank(array: Any, ndmin: int) -> Any:
    """An array with new axes in front, if it has fewer."""
    return array if array.ndim >= ndmin else array[(None,) * (ndmin - array.ndim)]


def nested(given: Any) -> tuple[tuple[int, ...], list[Value]]:
    """How lists are nested, and what they hold in order.

    A list beside an array counts as one: ``[x, [1, 2]]`` are two elements.
    """
    if not isinstance(given, (list, tuple)):
        return (), [_element(given)]
    parts = [nested(item) for item in given]
    shapes = {shape for shape, _ in parts}
    ranks = {elements[0].ndim if elements else 0 for _, elements in parts}
    if len(shapes) == 1 and len(ranks) == 1:
        return (len(given), *shapes.pop()), [e for _, elements in parts for e in elements]
    if len({len(shape) + elements[0].ndim if elements else 0 for shape, elements in parts}) > 1:
        raise ShapeError(INHOMOGENEOUS.format(len(given)))
    return (len(given),), [value(item) for item in given]


def _element(item: Any) -> Value:
    element = value(item)
    constant = element.atom.value if isinstance(element.atom, Const) else 0
    if isinstance(constant, int) and not -2**63 <= constant < 2**63:
        raise NotSupported(f"the integer {constant} in an array is not supported", why="It does not fit into 64 bits.",
                           instead="Write it as a float.")
    return element


class AsArray(Rewritten):
    """Arrays are handed on as they are, as NumPy does."""

    name = "asarray"
    calls = np.asarray, np.asanyarray

    def rewrite(a, dtype=None, order=None, *, copy=None):
        if isinstance(a, (list, tuple)):
            return np_array(a, dtype)
        if copy:
            return np_array(a, dtype)
        array = value(a)
        if dtype is None or arguments.dtype(dtype) == array.dtype and not array.type.weak:
            return array if not array.type.weak else np_array(array)
        return array.astype(dtype)


def np_array(object: Any, dtype: Any = None) -> Any:
    """`np.array`, also of what NumPy would not dispatch on."""
    return apply(Array, (object,), {} if dtype is None else {"dtype": dtype}, "np.array")


class AsContiguousArray(Rewritten):
    """As `np.ravel` does, this makes a copy if the elements do not lie in C order."""

    name = "ascontiguousarray"
    calls = np.ascontiguousarray

    def rewrite(a, dtype=None):
        array = AsArray.rewrite(a, dtype)
        return reshaped(np.ravel(array), array.shape if array.ndim else (1,))


class AsFortranArray(Rewritten):
    name = "asfortranarray"
    calls = np.asfortranarray

    def rewrite(a, dtype=None):
        return np.transpose(AsContiguousArray.rewrite(np.transpose(AsArray.rewrite(a, dtype))))
