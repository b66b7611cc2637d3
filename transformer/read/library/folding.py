"""Reductions with `where` and `initial`, and the methods of ufuncs that go through an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.special import logaddexp_reduce
from .refusing import refused

ABSENT: Any = object()


def sum_where(a, axis=None, dtype=None, keepdims=False, initial=ABSENT, where=True):
    total = np.sum(selected(a, where, 0), axis=axis, dtype=dtype, keepdims=keepdims)
    return total if initial is ABSENT else total + stored(initial, total.dtype)


def prod_where(a, axis=None, dtype=None, keepdims=False, initial=ABSENT, where=True):
    product = np.prod(selected(a, where, 1), axis=axis, dtype=dtype, keepdims=keepdims)
    return product if initial is ABSENT else product * stored(initial, product.dtype)


def selected(a, where, neutral):
    return a if where is True else np.where(where, a, neutral)


def max_where(a, axis=None, keepdims=False, initial=ABSENT, where=True):
    return extreme(np.max, np.maximum, a, axis, keepdims, initial, where)


def min_where(a, axis=None, keepdims=False, initial=ABSENT, where=True):
    return extreme(np.min, np.minimum, a, axis, keepdims, initial, where)


def extreme(reduction, of_two, a, axis, keepdims, initial, where):
    if initial is ABSENT:
        raise ValueError(f"reduction operation '{of_two.__name__}' does not have an identity, so to use a where mask "
                         "one has to specify 'initial'")
    a = np.asarray(a)
    first = stored(initial, a.dtype)
    if a.size == 0:
        shape = np.any(a, axis=axis, keepdims=keepdims).shape
        return np.full(shape, first) if len(shape) else first
    return of_two(reduction(selected(a, where, first), axis=axis, keepdims=keepdims), first)


def stored(number, dtype):
    """`initial` as NumPy has it, which writes it to an element of the dtype of the result."""
    if dtype.kind in "fc":
        return np.asarray(number, dtype=dtype)[()]
    element = np.zeros(1, dtype)
    element[0] = number
    return element[0]


def any_where(a, axis=None, keepdims=False, where=True):
    return np.any(np.where(where, a, False), axis=axis, keepdims=keepdims)


def all_where(a, axis=None, keepdims=False, where=True):
    return np.all(np.where(where, a, True), axis=axis, keepdims=keepdims)


def mean_where(a, axis=None, keepdims=False, where=True):
    count = np.sum(np.broadcast_to(where, np.shape(a)), axis=axis, keepdims=keepdims)
    return divided(np.sum(np.where(where, a, 0.0), axis=axis, keepdims=keepdims), count)


def var_where(a, axis=None, ddof=0, keepdims=False, where=True):
    apart = np.where(where, a - mean_where(a, axis, True, where), 0.0)
    squares = apart.real**2 + apart.imag**2 if apart.dtype.kind == "c" else apart**2
    count = np.sum(np.broadcast_to(where, np.shape(a)), axis=axis, keepdims=keepdims)
    return divided(np.sum(squares, axis=axis, keepdims=keepdims), np.maximum(count - ddof, 0) if ddof else count)


def divided(total, count):
    """As wide as the total: the number of elements would widen a float32."""
    return (total / count).astype(total.dtype)


def std_where(a, axis=None, ddof=0, keepdims=False, where=True):
    return np.sqrt(var_where(a, axis, ddof, keepdims, where))


WITH_WHERE: dict[Any, Any] = {
    np.sum: sum_where,
    np.prod: prod_where,
    np.max: max_where,
    np.amax: max_where,
    np.min: min_where,
    np.amin: min_where,
    np.any: any_where,
    np.all: all_where,
    np.mean: mean_where,
    np.var: var_where,
    np.std: std_where,
}


def reducing(whole):
    """`ufunc.reduce`, along the first axis unless said; `whole` is the function that NumPy has for it."""

    def reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True):
        given = {} if where is True else {"where": where}
        if initial is not None:
            given["initial"] = initial
        array = np.asarray(array)
        if dtype is None:
            return whole(array, axis=axis, keepdims=keepdims, out=out, **given)
        if out is not None:
            out[...] = reduce(array, axis, dtype, None, keepdims, initial, where)
            return out
        return whole(array.astype(dtype), axis=axis, keepdims=keepdims, **given).astype(dtype)

    return reduce


def converted(function, array):
    """In the type of what the function gives: NumPy folds in that from the first element on."""
    return array.astype(function(np.ones(1, array.dtype), np.ones(1, array.dtype)).dtype)


def folding(function):
    """`ufunc.reduce` of one for which NumPy has no function of its own."""

    def reduce(array, axis=0, dtype=None, out=None, keepdims=False):
        if dtype is not None or out is not None or isinstance(axis, tuple):
            refused("`reduce` with dtype, out or several axes is not supported", "Write a loop.")
        array = converted(function, np.asarray(array))
        lines = np.ravel(array) if axis is None else np.moveaxis(array, axis, 0)
        if function.identity is not None and len(lines) == 0:
            lines = np.full((1, *lines.shape[1:]), function.identity).astype(lines.dtype)
        total = lines[0]
        for k in range(1, len(lines)):
            total = function(total, lines[k])
        if not keepdims:
            return total
        return np.reshape(total, (1,) * array.ndim) if axis is None else np.expand_dims(total, axis)

    return reduce


def total_of_exponentials(array, axis=0, dtype=None, out=None, keepdims=False):
    """`np.logaddexp.reduce`."""
    if dtype is not None or out is not None:
        refused("`reduce` with dtype or out is not supported", "Convert the array first, or assign the result.")
    array = converted(np.logaddexp, np.asarray(array))
    if array.size == 0:
        shape = np.any(array, axis=axis, keepdims=keepdims).shape
        return np.full(shape, -np.inf, array.dtype) if len(shape) else array.dtype.type(-np.inf)
    return logaddexp_reduce(array, axis=axis, keepdims=keepdims)


def accumulating(whole):
    """`ufunc.accumulate`, along the first axis unless said."""

    def accumulate(array, axis=0, dtype=None, out=None):
        array = np.asarray(array)
        if dtype is None:
            return whole(array, axis=axis, out=out)
        found = whole(array.astype(dtype), axis=axis).astype(dtype)
        if out is None:
            return found
        out[...] = found
        return out

    return accumulate


def running(function):
    """`ufunc.accumulate` of one for which NumPy has no function of its own: one element after the other."""

    def accumulate(array, axis=0, dtype=None, out=None):
        if dtype is not None:
            refused("`accumulate` with dtype is not supported", "Convert the array first: x.astype(dtype).")
        lines = np.moveaxis(converted(function, np.asarray(array)), axis, 0)
        found = lines.copy()
        for k in range(1, len(lines)):
            found[k] = function(found[k - 1], lines[k])
        whole = np.moveaxis(found, 0, axis)
        if out is None:
            return whole
        out[...] = whole
        return out

    return accumulate


def pairing(function):
    """`ufunc.outer`: each element of the first with each of the second."""

    def outer(A, B, **options):
        A, B = np.asarray(A), np.asarray(B)
        return function(A[(..., *(None,) * B.ndim)], B, **options)

    return outer


def by_parts(name, reduce):
    """`ufunc.reduceat`: what `reduce` gives of the rows from each index to the next one; a row where that is not
    behind it. The sum of narrow integers is a wider one, as that of all of them is."""

    def reduceat(array, indices, axis=0, dtype=None, out=None):
        if dtype is not None or out is not None:
            refused("`reduceat` with dtype or out is not supported", "Write a loop over the parts.")
        lines = np.moveaxis(np.asarray(array), axis, 0)
        count, dtype = len(indices), reduce(np.ones(1, lines.dtype)).dtype
        found = np.zeros((count, *lines.shape[1:]), dtype)
        for k in range(count):
            start = indices[k]
            if start < 0 or start >= len(lines):
                raise IndexError(f"index {start} out-of-bounds in {name}.reduceat [0, {len(lines)})")
            stop = indices[k + 1] if k + 1 < count else len(lines)
            found[k] = reduce(lines[start:stop]) if start < stop else lines[start].astype(dtype)
        return np.moveaxis(found, 0, axis)

    return reduceat


# -- which ufuncs have which methods --------------------------------------------------------------

UFUNCS = {ufunc for ufunc in vars(np).values() if isinstance(ufunc, np.ufunc) and ufunc.signature is None}
BINARY = {ufunc for ufunc in UFUNCS if (ufunc.nin, ufunc.nout) == (2, 1)}


def folds(ufunc):
    """Whether a ufunc of two numbers gives one of their type, which can be its operand again."""
    return any(types[0] != "?" and types == f"{types[0]}{types[0]}->{types[0]}" for types in ufunc.types)


FOLDED = {ufunc for ufunc in BINARY if folds(ufunc)}
# NumPy's vector code reduces by these in another order on some processors, and gives other numbers.
IN_NO_ORDER = {np.power, np.arctan2}
WHOLE: dict[Any, Any] = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.logical_and: np.all,
    np.logical_or: np.any,
}
CALLS: dict[Any, Any] = {
    **{ufunc.reduce: folding(ufunc) for ufunc in (FOLDED | {np.logical_xor}) - IN_NO_ORDER},
    **{ufunc.reduce: reducing(whole) for ufunc, whole in WHOLE.items()},
    **{ufunc.accumulate: running(ufunc) for ufunc in FOLDED},
    np.logaddexp.reduce: total_of_exponentials,
    np.add.accumulate: accumulating(np.cumsum),
    np.multiply.accumulate: accumulating(np.cumprod),
    **{ufunc.reduceat: by_parts(ufunc.__name__, folding(ufunc)) for ufunc in FOLDED - IN_NO_ORDER},
    **{ufunc.reduceat: by_parts(ufunc.__name__, reducing(WHOLE[ufunc])) for ufunc in FOLDED & WHOLE.keys()},
    **{ufunc.outer: pairing(ufunc) for ufunc in BINARY},
}
