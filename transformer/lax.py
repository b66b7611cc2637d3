"""Control flow as functions, and strict arithmetic: the names of `jax.lax` over native code.

Each function is a few lines of ordinary Python, which is what a transformation reads: `while_loop` is a ``while``,
`scan` a ``for`` that fills arrays. So what they become is what one would have written without them.

    from transformer import grad, lax

    def total(xs):
        return lax.scan(lambda carry, x: (carry * 0.5 + x, carry), 0.0, xs)[0]

Arithmetic is strict, as in JAX: operands have one dtype, and one shape unless one of them has no axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import tree
from .ops.collectives import (  # noqa: F401
    all_gather,
    axis_index,
    axis_size,
    pmax,
    pmean,
    pmin,
    psum,
)
from .ops.exchanges import all_to_all, ppermute, pshuffle, psum_scatter  # noqa: F401
from .ops.identity import stop_gradient  # noqa: F401
from .strict import INEXACT, REAL, WHOLE, Strict
from .taking import taking_arrays


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """`true_fun(*operands)` where `pred` holds, else `false_fun(*operands)`: only that one is computed.

    >>> cond(3 > 2, lambda x: x + 1, lambda x: x - 1, 10)
    11
    """
    if pred:
        return true_fun(*operands)
    return false_fun(*operands)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """The branch with this number, which is clipped to those there are, of the operands.

    >>> switch(7, [np.sin, np.cos, abs], -2.0)
    2.0
    """
    for k, branch in enumerate(branches[:-1]):
        if index <= k:
            return branch(*operands)
    return branches[-1](*operands)


def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any) -> Any:
    """`body_fun` again and again, as long as `cond_fun` of the value holds.

    >>> while_loop(lambda x: x < 100, lambda x: x * 2, 3)
    192
    """
    value = init_val
    while cond_fun(value):
        value = body_fun(value)
    return value


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """`body_fun(i, value)` for i from `lower` to `upper`, without it.

    >>> fori_loop(0, 4, lambda i, x: x + i, 10)
    16
    """
    value = init_val
    for i in range(lower, upper):
        value = body_fun(i, value)
    return value


def scan(f: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any = None, length: int | None = None,
         reverse: bool = False, unroll: int | bool = 1) -> tuple[Any, Any]:
    """`f(carry, x)` gives the next carry and a row of the result, for the rows `x` of `xs` along their first axes:
    the last carry, and all rows stacked. `xs` and both results are pytrees; where `xs` is None, `length` says how
    often. With `reverse` it begins with the last row. `unroll` changes nothing: it is there for programs of JAX.

    >>> scan(lambda total, x: (total + x, total), 0.0, np.array([1.0, 2.0, 3.0]))
    (np.float64(6.0), array([0., 1., 3.]))
    """
    count = row_count("scan", xs, length)
    carry, rows = init, []
    for k in range(count):
        place = count - 1 - k if reverse else k
        carry, row = f(carry, tree.map(lambda leaf, place=place: leaf[place], xs))
        rows.append(row)
    stacked = stack_trees(rows)
    return carry, tree.map(lambda leaf: leaf[::-1], stacked) if reverse else stacked


def map(f: Callable[[Any], Any], xs: Any) -> Any:
    """`f` of each row of `xs`, stacked: one after the other, unlike `vmap`.

    >>> map(np.sum, np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([3., 7.])
    """
    rows = []
    for k in range(row_count("map", xs, None)):
        rows.append(f(tree.map(lambda leaf, k=k: leaf[k], xs)))
    return stack_trees(rows)


def row_count(name: str, xs: Any, length: Any) -> Any:
    """How many rows the leaves of a pytree have, which is the same in all of them."""
    found = [len(leaf) for leaf in tree.leaves(xs)]
    count = found[0] if length is None else length
    for other in found:
        if other != count:
            raise ValueError(f"lax.{name} takes arrays of one length, got {count} and {other}")
    return count


NO_ROWS = "there are no rows, so that it is not known what a row is"


def stack_trees(rows: list[Any]) -> Any:
    """A list of pytrees as a pytree of arrays with one more axis.

    >>> stack_trees([(1.0, 2.0), (3.0, 4.0)])
    (array([1., 3.]), array([2., 4.]))
    """
    if not rows:
        raise ValueError(NO_ROWS)
    return tree.map(lambda *leaves: np.stack(leaves), rows[0], *rows[1:])


def _read_stack(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from .read.stacking import trees
    return trees(reader, args[0], NO_ROWS)


stack_trees.__transformer_read__ = _read_stack  # type: ignore[attr-defined]


def associative_scan(fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """All partial results of an associative function, ``fn(fn(a[0], a[1]), a[2])`` and so on, along an axis of the
    leaves of a pytree. As in JAX, `fn` works on whole arrays; it is given slices of length 1.

    >>> associative_scan(np.add, np.array([1.0, 2.0, 3.0]))
    array([1., 3., 6.])
    """
    leading = tree.map(lambda leaf: np.moveaxis(leaf, axis, 0), elems)
    if reverse:
        leading = tree.map(lambda leaf: leaf[::-1], leading)
    result = tree.map(lambda leaf: leaf.copy(), leading)
    for k in range(1, row_count("associative_scan", leading, None)):
        before = tree.map(lambda leaf, k=k: leaf[k - 1:k], result)
        here = tree.map(lambda leaf, k=k: leaf[k:k + 1], leading)
        _assign(result, fn(before, here), k)
    if reverse:
        result = tree.map(lambda leaf: leaf[::-1], result)
    return tree.map(lambda leaf: np.moveaxis(leaf, 0, axis), result)


def _assign(arrays: Any, rows: Any, k: int) -> None:
    for array, row in zip(tree.leaves(arrays), tree.leaves(rows)):
        array[k:k + 1] = row


def _fitting(start: Any, length: Any, size: Any) -> Any:
    """Where a part of this size begins so that it is inside; a negative start is counted from the end."""
    return np.clip(start + length if start < 0 else start, 0, length - size)


def _check_part(name: str, shape: Sequence[Any], start_indices: Sequence[Any], sizes: Sequence[Any]) -> None:
    """Raises unless parts of these sizes are in an array of this shape."""
    if len(start_indices) != len(shape) or len(sizes) != len(shape):
        raise TypeError(f"lax.{name} takes a start and a size for each axis: {len(shape)} of them, got "
                        f"{len(start_indices)} and {len(sizes)}")
    for size, length in zip(sizes, shape):
        if size < 0 or size > length:
            raise TypeError(f"lax.{name} of a part of size {size} in an axis of length {length}")


def _places(shape: Sequence[Any], start_indices: Sequence[Any], sizes: Sequence[Any]) -> Any:
    """The index of a part, as arrays: its size does not rest on where it begins."""
    ranges = []
    for start, length, size in zip(start_indices, shape, sizes):
        ranges.append(_fitting(start, length, size) + np.arange(size))
    return np.ix_(*ranges)


def dynamic_slice(operand: Any, start_indices: Sequence[Any], slice_sizes: Sequence[int]) -> Any:
    """The part of an array with these sizes that begins at `start_indices`, which are moved so that it fits.
    Negative ones are counted from the end.

    >>> dynamic_slice(np.arange(6), (5,), (3,))
    array([3, 4, 5])
    """
    _check_part("dynamic_slice", operand.shape, start_indices, slice_sizes)
    return operand[_places(operand.shape, start_indices, slice_sizes)]


@taking_arrays
def dynamic_update_slice(operand: Any, update: Any, start_indices: Sequence[Any]) -> Any:
    """A copy of an array in which `update` stands at `start_indices`, which are moved so that it fits.

    >>> dynamic_update_slice(np.zeros(4), np.ones(2), (1,))
    array([0., 1., 1., 0.])
    """
    _check_part("dynamic_update_slice", operand.shape, start_indices, update.shape)
    result = operand.copy()
    result[_places(operand.shape, start_indices, update.shape)] = update
    return result


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Elements of `on_true` where `pred` holds, else of `on_false`, which have one dtype and shape; `pred` has that
    shape, too, or no axes.

    >>> select(np.array([True, False]), np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    array([1., 4.])
    """
    if np.ndim(pred) and np.shape(pred) != np.shape(on_false):
        raise TypeError(f"lax.select requires arguments of one shape, got {np.shape(pred)} and {np.shape(on_false)}")
    return np.where(pred, _case(on_true, on_false), on_false)


def _first(on_true: Any, on_false: Any) -> Any:
    return on_true


def _round(x: Any) -> Any:
    """To the nearest whole number, halves away from zero as JAX does."""
    whole = np.trunc(x)
    return whole + np.sign(x) * (np.abs(x - whole) >= 0.5)


_case = Strict("select", _first)
add = Strict("add", np.add)
sub = Strict("sub", np.subtract)
mul = Strict("mul", np.multiply)
div = Strict("div", np.divide, INEXACT)
rem = Strict("rem", np.fmod)
pow = Strict("pow", np.power)
max = Strict("max", np.maximum)
min = Strict("min", np.minimum)
atan2 = Strict("atan2", np.arctan2, REAL)
nextafter = Strict("nextafter", np.nextafter, REAL)
eq = Strict("eq", np.equal)
ne = Strict("ne", np.not_equal)
lt = Strict("lt", np.less)
le = Strict("le", np.less_equal)
gt = Strict("gt", np.greater)
ge = Strict("ge", np.greater_equal)
bitwise_and = Strict("bitwise_and", np.bitwise_and, WHOLE)
bitwise_or = Strict("bitwise_or", np.bitwise_or, WHOLE)
bitwise_xor = Strict("bitwise_xor", np.bitwise_xor, WHOLE)
neg = Strict("neg", np.negative)
abs = Strict("abs", np.abs)
sign = Strict("sign", np.sign)
square = Strict("square", np.square)
reciprocal = Strict("reciprocal", np.reciprocal, INEXACT)
floor = Strict("floor", np.floor, REAL)
ceil = Strict("ceil", np.ceil, REAL)
round = Strict("round", _round, REAL)
exp = Strict("exp", np.exp, INEXACT)
exp2 = Strict("exp2", np.exp2, INEXACT)
expm1 = Strict("expm1", np.expm1, INEXACT)
log = Strict("log", np.log, INEXACT)
log1p = Strict("log1p", np.log1p, INEXACT)
sqrt = Strict("sqrt", np.sqrt, INEXACT)
cbrt = Strict("cbrt", np.cbrt, REAL)
sin = Strict("sin", np.sin, INEXACT)
cos = Strict("cos", np.cos, INEXACT)
tan = Strict("tan", np.tan, INEXACT)
asin = Strict("asin", np.arcsin, INEXACT)
acos = Strict("acos", np.arccos, INEXACT)
atan = Strict("atan", np.arctan, INEXACT)
sinh = Strict("sinh", np.sinh, INEXACT)
cosh = Strict("cosh", np.cosh, INEXACT)
tanh = Strict("tanh", np.tanh, INEXACT)
