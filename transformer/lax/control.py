"""Control flow as functions: each is a few lines of Python, which is what a transformation reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..read.library.refusing import are_equal
from ..taking import taking_arrays


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
        if not are_equal(other, count):
            raise ValueError(f"lax.{name} expects arrays of equal length, got {count} and {other}")
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
    from ..read.lists.stacking import trees
    return trees(reader, args[0], NO_ROWS)


stack_trees.__transformer_read__ = _read_stack  # type: ignore[attr-defined]


@taking_arrays
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
