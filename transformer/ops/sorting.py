"""Sorting and order statistics.

The derivative follows the elements to where sorting puts them; of equal elements, which are told apart
by `np.argsort`, each gets the derivative of its place.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np

from ..core.errors import NotSupported
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Bound, Kwargs
from .base import Op
from .elementwise import FLAT
from .indexing import Get
from .reduction import apart_cases
from .regions import Slot
from .value import value

POSITION = np.dtype(np.int64)
IGNORED = ("kind", "order", "stable")


class Ordering(Op):
    """An op on lines along `axis`, left out where it is the last; an array with `axis=None` is flattened."""

    loop = None, "NumPy sorts"

    @classmethod
    def front(cls, args: Args, kwargs: Kwargs, spelling: str | None) -> Any:
        if "descending" in kwargs and "descending" in signature(cls.calls[0]).parameters:     # from NumPy 2.5 on
            return cls.either_way(*args, **kwargs)
        a, args = value(args[0]) if args else value(kwargs.pop("a")), args[1:]
        options = args[cls.before_axis + 1:]
        if options:                                                       # kind and order, given by position
            return cls.calls[0](a, *args[:cls.before_axis + 1], **dict(zip(("kind", "order"), options)), **kwargs)
        axis = kwargs.get("axis", args[cls.before_axis] if len(args) > cls.before_axis else -1)
        if axis is not None:
            return None
        rest = {key: item for key, item in kwargs.items() if key != "axis"}
        return cls.calls[0](np.ravel(a), *args[:cls.before_axis], **rest)

    before_axis = 0

    @classmethod
    def either_way(cls, a: Any, *args: Any, descending: Any, **kwargs: Any) -> Any:
        """The op with `descending`: nan, which is last in any case, is so where the numbers are turned."""
        cls.calls[0](np.zeros(0), descending=descending, **{k: v for k, v in kwargs.items() if k in IGNORED})   # raises
        return cls.downwards(value(a), *args, **kwargs) if descending else cls.calls[0](a, *args, **kwargs)

    @classmethod
    def downwards(cls, a: Any, *args: Any, **kwargs: Any) -> Any:
        return cls.calls[0](_turned(a), *args, **kwargs)

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        order = kwargs.get("order")
        if order is not None:
            raise NotSupported(f"np.{cls.name} with order is not supported",
                               why="Structured arrays with fields are not supported.",
                               instead="Sort by np.argsort of one array.")
        kind = {"kind": "stable"} if cls.keeps_kind and _is_stable(kwargs) else {}
        (a,), attrs = super().bind(args, {key: item for key, item in kwargs.items() if key not in IGNORED} | kind)
        a = value(a)
        axis = arguments.axis(attrs.pop("axis", -1), a.ndim)
        return (a,), attrs if axis == a.ndim - 1 else {**attrs, "axis": axis}

    keeps_kind = False

    @classmethod
    def batch(cls, lead: Any, a: Any, axis: int = -1, **attrs: Any) -> Any:
        return cls.calls[0](a, axis=axis if axis < 0 else axis + 1, **attrs)


def _turned(a: Any) -> Any:
    """Numbers that are the smaller, the greater those of `a` are: no integer is too large for `~`."""
    return ~a if a.dtype.kind in "biu" else -a


def _is_stable(kwargs: Kwargs) -> bool:
    return kwargs.get("kind") in ("stable", "mergesort") or bool(kwargs.get("stable"))


def _cases(rng: Any) -> list[Any]:
    return [((apart_cases(rng, shape),), attrs)
            for shape, attrs in (((5,), {}), ((2, 3), {}), ((3, 2), {"axis": 0}), ((2, 3, 2), {"axis": 1}))]


def _kth_cases(rng: Any) -> list[Any]:
    return [(operands, {"kth": 1, **attrs}) for operands, attrs in _cases(rng)]


def in_order(a: Any, order: Any, axis: int) -> Any:
    """The elements of the lines of `a` in the order of positions, none of which occurs twice."""
    if a.ndim == 1:
        return Get.applied(a, order, index=(Slot(0),), distinct=True)
    return np.take_along_axis(a, order, axis=axis)


class Argsort(Ordering):
    calls = (np.argsort,)
    methods = ("argsort",)
    derivative = FLAT
    domain = _cases
    keeps_kind = True

    def types(a: ArrayType, axis=-1, kind=None) -> ArrayType:
        return ArrayType(POSITION, a.sizes)


class Sort(Ordering):
    calls = (np.sort,)
    domain = _cases

    @classmethod
    def downwards(cls, a: Any, *args: Any, **kwargs: Any) -> Any:
        return _turned(super().downwards(a, *args, **kwargs))

    def types(a: ArrayType, axis=-1) -> ArrayType:
        return a

    def definition(a, axis=-1):
        return in_order(a, np.argsort(a, axis), axis)


class Kth(Ordering):
    """An op that puts the elements `kth` of each line to their places."""

    before_axis = 1

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        (a,), attrs = super().bind(args, kwargs)
        kth = attrs["kth"]
        attrs["kth"] = tuple(arguments.extent(k, "kth") for k in kth) if isinstance(kth, (tuple, list)) else \
            arguments.extent(kth, "kth")
        return (a,), attrs


class Argpartition(Kth):
    calls = (np.argpartition,)
    methods = ("argpartition",)
    derivative = FLAT
    domain = _kth_cases

    def types(a: ArrayType, kth=None, axis=-1) -> ArrayType:
        return ArrayType(POSITION, a.sizes)


class Partition(Kth):
    """The elements before and behind the k-th may stand in any order, also in the value."""

    calls = (np.partition,)
    domain = _kth_cases

    def types(a: ArrayType, kth=None, axis=-1) -> ArrayType:
        return a

    def definition(a, kth=None, axis=-1):
        return in_order(a, np.argpartition(a, kth, axis), axis)
