"""Functions of NumPy over float16 and bfloat16: computed in float32, and rounded once at the end.

    in_float32(np.sum, (x,), {})                # x: bfloat16[n], and so is the sum, which is added up in float32

Which dtypes results have is what NumPy itself says of float16: the first call of a function with dtypes like these is
made in float16, too, to see. bfloat16 follows float16.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import tree
from ..core.halves import FLOAT16, FLOAT32, has_half_loop, is_half, promoted
from ..precision import names_half


def has_half(args: Any) -> bool:
    """Whether there is a number of 16 bits with a point, an array of them, or their dtype among arguments."""
    return any(map(_is_half, leaves(args)))


def _is_half(leaf: Any) -> bool:
    return is_half(leaf.dtype) if isinstance(leaf, (np.ndarray, np.generic)) else names_half(leaf)


def leaves(node: Any) -> Iterator[Any]:
    """What is in tuples, lists and dictionaries, however deep."""
    if isinstance(node, (tuple, list)):
        for item in node:
            yield from leaves(item)
    elif isinstance(node, dict):
        for item in node.values():
            yield from leaves(item)
    else:
        yield node


def in_float32(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a function gives for numbers of 16 bits, with its results in the dtypes that NumPy has for them."""
    if function in MOVING:
        return function(*args, **kwargs)
    if function in (np.result_type, np.promote_types):
        return promoted([_promoting(leaf) for leaf in leaves(args)])
    found = [leaf for leaf in leaves((args, kwargs)) if _is_half(leaf)]
    asked = [np.dtype(leaf) for leaf in found if names_half(leaf)]
    kinds = {leaf.dtype for leaf in found if not names_half(leaf)}
    result = function(*converted(args, FLOAT32, FLOAT32), **converted(kwargs, FLOAT32, FLOAT32))
    target = asked[-1] if asked else kinds.pop() if len(kinds) == 1 else FLOAT32
    if target == FLOAT32:
        return result
    if not has_half_loop(function):              # of float16 it computes in float64
        return function(*args, **kwargs) if target == FLOAT16 else tree.map(lambda leaf: leaf.astype(target), result)
    return _restored(result, _dtypes(function, args, kwargs, FLOAT16 if len(kinds) <= 1 else FLOAT32), target)


def _promoting(leaf: Any) -> Any:
    """A dtype, or a number of Python's, of an argument of `np.result_type`."""
    if isinstance(leaf, (np.ndarray, np.generic)):
        return leaf.dtype
    return np.dtype(leaf) if isinstance(leaf, (type, str)) else leaf


def converted(node: Any, to: np.dtype[Any], named: np.dtype[Any]) -> Any:
    """Arguments with another dtype in place of those of 16 bits: `to` for arrays, `named` for dtypes."""
    if type(node) in (tuple, list):
        return type(node)([converted(item, to, named) for item in node])
    if type(node) is dict:
        return {key: converted(item, to, named) for key, item in node.items()}
    if not _is_half(node):
        return node
    return named if names_half(node) else node.astype(to)


# Functions that compute nothing, and those that look at the digits of a number.
MOVING: set[Any] = {
    np.nextafter, np.spacing, np.frexp, np.signbit, np.isnan, np.isfinite, np.isinf, np.array, np.asarray, np.astype,
    np.copy, np.full, np.zeros, np.ones, np.empty, np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.reshape,
    np.ravel, np.transpose, np.squeeze, np.expand_dims, np.broadcast_to, np.take, np.flip, np.roll, np.sort, np.argsort,
    np.shape, np.ndim, np.size, np.can_cast, np.ndarray.astype, np.ndarray.copy, np.ndarray.reshape, np.ndarray.ravel,
    operator.getitem, np.ndarray.flatten, np.ndarray.transpose, np.ndarray.squeeze, np.ndarray.take,
    np.ndarray.repeat, np.ndarray.view,
}
MOST = 4096                             # kinds of calls that are remembered
_known: dict[Any, list[Any]] = {}


def _dtypes(function: Callable[..., Any], args: Any, kwargs: Any, to: np.dtype[Any]) -> list[Any]:
    """The dtypes of results, by what NumPy gives for float16. Raises what it raises where it takes none."""
    key = function, to, tuple(map(_kind, leaves(args))), tuple(kwargs), tuple(map(_kind, leaves(kwargs)))
    if key not in _known:
        if len(_known) > MOST:
            _known.clear()
        _known[key] = _tried(function, converted(args, to, FLOAT16), converted(kwargs, to, FLOAT16))
    return _known[key]


def _kind(leaf: Any) -> Any:
    if isinstance(leaf, (np.ndarray, np.generic)):
        return leaf.dtype
    return leaf if isinstance(leaf, (str, type, np.dtype)) else type(leaf)


def _tried(function: Callable[..., Any], args: Any, kwargs: Any) -> list[Any]:
    with np.errstate(all="ignore"):
        result = function(*args, **kwargs)
    return [getattr(leaf, "dtype", None) for leaf in tree.leaves(result)]


def _restored(result: Any, dtypes: list[Any], target: np.dtype[Any]) -> Any:
    """Results in the dtypes that NumPy gives for float16, for which `target` stands."""
    found, structure = tree.flatten(result)
    return tree.unflatten(structure, [
        leaf if dtype is None or leaf.dtype == dtype else leaf.astype(target if dtype == FLOAT16 else dtype)
        for leaf, dtype in zip(found, dtypes, strict=True)])
