"""Shapes and dtypes in place of arrays, as `jax.eval_shape` gives them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from . import tree
from .ops.value import Value

__all__ = ["ShapeDtypeStruct", "eval_shape", "linear_transpose"]


class ShapeDtypeStruct:
    """A shape and a dtype. A leaf of pytrees.

    >>> ShapeDtypeStruct((2, 3), np.float32)
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    __tree_leaf__: ClassVar[bool] = True

    def __init__(self, shape: Any, dtype: Any) -> None:
        self.shape = tuple(shape)
        self.dtype = np.dtype(dtype)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Any:
        size = 1
        for length in self.shape:
            size = size * length
        return size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype})"


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The shapes and dtypes of what a function gives, as a pytree of `ShapeDtypeStruct`s. The arguments may be such,
    too. As `jax.eval_shape`.

    The function is called with zeros in place of arrays. So it takes the time of a call, except in a function that is
    transformed.

    >>> eval_shape(lambda x: {"y": x @ x.T}, ShapeDtypeStruct((2, 3), np.float32))
    {'y': ShapeDtypeStruct(shape=(2, 2), dtype=float32)}
    """
    given, named = tree.map(zeros_like, (args, kwargs))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return tree.map(struct_of, fun(*given, **named))


def _read_shapes(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    fun, *rest = args

    def made(leaf: Any) -> Any:
        return reader.call(np.zeros, (leaf.shape, leaf.dtype), {}) if isinstance(leaf, ShapeDtypeStruct) else leaf

    given, named = tree.map(made, (tuple(rest), kwargs))
    return tree.map(struct_of, reader.call(fun, given, named))


eval_shape.__transformer_read__ = _read_shapes  # type: ignore[attr-defined]


def zeros_like(leaf: Any) -> Any:
    """Zeros in place of a shape or an array; keys, which are whole numbers, and what is no array stay."""
    if isinstance(leaf, ShapeDtypeStruct) or isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc":
        return np.zeros(leaf.shape, leaf.dtype)
    return leaf


def struct_of(leaf: Any) -> ShapeDtypeStruct:
    found = leaf if isinstance(leaf, Value) or hasattr(leaf, "dtype") else np.asarray(leaf)
    return ShapeDtypeStruct(np.shape(found), found.dtype)


def linear_transpose(fun: Callable[..., Any], *primals: Any) -> Callable[[Any], tuple[Any, ...]]:
    """The transpose of a linear function: a function of a cotangent of its result that gives those of its arguments.
    `primals` are arguments, of which only shapes and dtypes matter, or `ShapeDtypeStruct`s. As `jax.linear_transpose`.

    >>> linear_transpose(lambda x: 3.0 * x[1:], ShapeDtypeStruct((3,), np.float64))(np.array([1.0, 2.0]))
    (array([0., 3., 6.]),)
    """
    from .api import vjp
    zeros = tree.map(lambda leaf: np.zeros(np.shape(leaf), getattr(leaf, "dtype", np.float64))[()], primals)
    pullback: Callable[[Any], tuple[Any, ...]] = vjp(fun, *zeros)[1]
    return pullback
