"""Products that sum: of vectors, matrices and arrays. All are linear in each operand.

Their rules are written with what a person would use: ``dy @ b.T`` for matrices, ``np.outer(dy, b)``
for a matrix and a vector, `np.tensordot` beyond. Nothing is conjugated unless the op does so.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import ShapeError
from ..core.halves import of_core, promoted
from ..core.sizes import Extent
from ..core.types import ArrayType
from . import arguments
from .base import Op
from .elementwise import aligned, broadcast, shape_text, size_text
from .value import value

Axes = tuple[tuple[int, ...], tuple[int, ...]]


def common_dtype(*operands: ArrayType) -> np.dtype:
    """The dtype of a product. Python numbers count as arrays: only ufuncs treat them as weak."""
    return of_core(promoted(operand.dtype for operand in operands))


def equal(left: Extent, right: Extent) -> bool:
    return current().assumptions.equal(left, right)


LETTERS = "ijlmnopqstuvwxyzabdefgh"


def product_of(left: str, right: str) -> str:
    """The subscripts of a product of two arrays that is summed over the labels they share.

    >>> product_of("ik", "kj")
    'ik,kj->ij'
    """
    output = "".join(label for label in left + right if (label in left) != (label in right))
    return f"{left},{right}->{output}"


def transposed(x: Any) -> Any:
    """A matrix, or the matrices in the last two axes, transposed."""
    return x.T if x.ndim == 2 else np.swapaxes(x, -1, -2)


def random_pairs(*shapes: Any, **attrs: Any) -> Any:
    """A domain: pairs of arrays of the shapes given."""
    def domain(rng: Any) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        return [((rng.normal(size=a), rng.normal(size=b)), dict(attrs)) for a, b in shapes]
    return domain


def _matmul_left(dy, a, b):
    if a.ndim == 1 and b.ndim == 1:
        return dy * b
    if b.ndim == 1:
        return np.outer(dy, b) if a.ndim == 2 else dy[..., None] * b
    if a.ndim == 1:
        return b @ dy if b.ndim == 2 else np.tensordot(dy, transposed(b), axes=dy.ndim)
    return dy @ transposed(b)


def _matmul_right(dy, a, b):
    if a.ndim == 1 and b.ndim == 1:
        return dy * a
    if b.ndim == 1:
        return a.T @ dy if a.ndim == 2 else np.tensordot(dy, a, axes=dy.ndim)
    if a.ndim == 1:
        return np.outer(a, dy) if b.ndim == 2 else a[:, None] * dy[..., None, :]
    if b.ndim == 2 < a.ndim:
        lead = tuple(range(a.ndim - 1))
        return np.tensordot(a, dy, axes=(lead, lead))
    return transposed(a) @ dy


def _batched_matmul(lead, a, b):
    left, right = a.ndim - lead[0], b.ndim - lead[1]
    if left == right == 1:
        return np.sum(a * b, axis=-1) if all(lead) else a @ b if lead[0] else b @ a
    if left == 2 and right == 1 and not lead[0]:
        return b @ a.T
    if right == 1 and not lead[1] or left == 1 and (not lead[0] or right == 2 and not lead[1]):
        return a @ b
    a = a[..., None, :] if left == 1 else a
    b = b[..., None] if right == 1 else b
    a, b = aligned(lead, (a, b))
    y = a @ b
    return y[..., 0, :] if left == 1 else y[..., 0] if right == 1 else y


SIGNATURE = "(n?,k),(k,m?)->(n?,m?)"


class Matmul(Op):
    calls = np.matmul, operator.matmul, np.linalg.matmul
    symbol = "@"
    heavy = True
    linear = "a", "b"
    vjp = _matmul_left, _matmul_right
    batch = _batched_matmul
    domain = random_pairs(((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)),
                          ((2, 2, 3), (3,)), ((3,), (2, 3, 4)), ((2, 2, 3), (3, 4)),
                          ((2, 3), (4, 3, 2)), ((2, 1, 2, 3), (4, 3, 2)))

    def contraction(a, b):
        rows, columns = "r" * (a.rank > 1), "c" * (b.rank > 1)
        stack = LETTERS[:max(a.rank, b.rank, 2) - 2]
        left = stack[len(stack) - max(a.rank - 2, 0):] + rows + "k"
        right = stack[len(stack) - max(b.rank - 2, 0):] + "k" + columns
        return f"{left},{right}->{stack}{rows}{columns}"

    def types(a: ArrayType, b: ArrayType) -> ArrayType:
        for k, x in enumerate((a, b)):
            if not x.rank:
                raise ShapeError(f"matmul: Input operand {k} does not have enough dimensions (has "
                                 f"0, gufunc core with signature {SIGNATURE} requires 1)")
        inner = b.sizes[0] if b.rank == 1 else b.sizes[-2]
        if not equal(a.sizes[-1], inner):
            raise ShapeError("matmul: Input operand 1 has a mismatch in its core dimension 0, with "
                             f"gufunc signature {SIGNATURE} (size {size_text(inner)} is different "
                             f"from {size_text(a.sizes[-1])})")
        rows, columns = a.sizes[-2:-1], b.sizes[-1:] if b.rank > 1 else ()
        stack = broadcast(a.sizes[:-2], b.sizes[:-2])
        return ArrayType(common_dtype(a, b), stack + rows + columns)


def _is_matmul(a, b):
    """Whether `np.dot` of two arrays is their matrix product."""
    return a <= 1 or b <= 2


def _dot_left(dy, a, b):
    if a.ndim == 0 or b.ndim == 0:
        return dy * b
    if _is_matmul(a.ndim, b.ndim):
        return _matmul_left(dy, a, b)
    others = (*range(b.ndim - 2), b.ndim - 1)
    return np.tensordot(dy, b, axes=(tuple(range(a.ndim - 1, dy.ndim)), others))


def _dot_right(dy, a, b):
    if a.ndim == 0 or b.ndim == 0:
        return dy * a
    if _is_matmul(a.ndim, b.ndim):
        return _matmul_right(dy, a, b)
    lead = tuple(range(a.ndim - 1))
    return np.moveaxis(np.tensordot(a, dy, axes=(lead, lead)), 0, -2)


def _contracted(a: ArrayType, b: ArrayType, axis: int) -> None:
    """Raises unless the last axis of `a` fits axis `axis` of `b`."""
    n, m = a.sizes[-1], b.sizes[axis]
    if not equal(n, m):
        left, right = f"{size_text(n)} (dim {a.rank - 1})", f"{size_text(m)} (dim {axis % b.rank})"
        raise ShapeError(f"shapes {shape_text(a.sizes)} and {shape_text(b.sizes)} not aligned: "
                         f"{left} != {right}")


class Dot(Op):
    calls = (np.dot,)
    methods = ("dot",)
    heavy = True
    linear = "a", "b"
    vjp = _dot_left, _dot_right
    domain = random_pairs(((), (3,)), ((2, 3), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)),
                          ((2, 3), (3, 4)), ((2, 2, 3), (3, 2)), ((2, 3), (2, 3, 4)),
                          ((2, 1, 3), (2, 3, 2)))

    def types(a: ArrayType, b: ArrayType) -> ArrayType:
        if not a.rank or not b.rank:
            return ArrayType(common_dtype(a, b), a.sizes + b.sizes)
        _contracted(a, b, max(b.rank - 2, 0))
        rest = b.sizes[:-2] + b.sizes[-1:] if b.rank > 1 else ()
        return ArrayType(common_dtype(a, b), a.sizes[:-1] + rest)

    def contraction(a, b):
        left, right = LETTERS[:a.rank], LETTERS[a.rank:a.rank + b.rank]
        if left and right:
            place = max(len(right) - 2, 0)
            right = right[:place] + left[-1] + right[place + 1:]
        return product_of(left, right)

    def batch(lead, a, b):
        left, right = a.ndim - lead[0], b.ndim - lead[1]
        if left == 0 or right == 0:
            a, b = aligned(lead, (a, b))
            return a * b
        if _is_matmul(left, right):
            return _batched_matmul(lead, a, b)
        return batched_tensordot(lead, a, b, ((left - 1,), (right - 2,)))


# -- tensordot and inner ---------------------------------------------------------------------


def pairs_of_axes(axes: Any, left: int, right: int) -> Axes:
    """The axes that `np.tensordot` sums over, of either operand, not negative."""
    if isinstance(axes, (tuple, list)):
        first, second = axes
    else:
        count = arguments.whole(axes, "the number of axes")
        first, second = tuple(range(left - count, left)), tuple(range(count))
        if count > min(left, right):
            raise ShapeError("shape-mismatch for sum")
    pair = arguments.axes(first, left), arguments.axes(second, right)
    if len(pair[0]) != len(pair[1]):
        raise ShapeError("shape-mismatch for sum")
    return pair


def free_axes(rank: int, summed: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(k for k in range(rank) if k not in summed)


def _in_order(t: Any, axes: tuple[int, ...]) -> Any:
    """`t`, whose axes are those numbered by `axes`, with them in ascending order."""
    if axes == tuple(sorted(axes)):
        return t
    return np.transpose(t, tuple(axes.index(k) for k in range(len(axes))))


def _tensordot_left(dy, a, b, axes=2):
    first, second = pairs_of_axes(axes, a.ndim, b.ndim)
    free, others = free_axes(a.ndim, first), free_axes(b.ndim, second)
    over = tuple(range(len(free), dy.ndim))
    t = np.tensordot(dy, b, axes=(over, others)) if dy.ndim else dy * b
    return _in_order(t, (*free, *(first[second.index(k)] for k in sorted(second))))


def _tensordot_right(dy, a, b, axes=2):
    first, second = pairs_of_axes(axes, a.ndim, b.ndim)
    free, others = free_axes(a.ndim, first), free_axes(b.ndim, second)
    over = tuple(range(len(free)))
    t = np.tensordot(a, dy, axes=(free, over)) if dy.ndim else dy * a
    return _in_order(t, (*(second[first.index(k)] for k in sorted(first)), *others))


def batched_tensordot(lead: Any, a: Any, b: Any, axes: Axes) -> Any:
    """`np.tensordot` where operands have a batch axis in front; `axes` are those without it."""
    first, second = axes
    left = tuple(k + 1 for k in first) if lead[0] else first
    right = tuple(k + 1 for k in second) if lead[1] else second
    if not all(lead):
        y = np.tensordot(a, b, axes=(left, right))
        return y if lead[0] else np.moveaxis(y, a.ndim - len(first), 0)
    labels = "abcdefghijklmnopqrstuvwxy"
    own = labels[:a.ndim - 1]
    other = list(labels[a.ndim - 1:a.ndim + b.ndim - 2])
    for i, j in zip(first, second, strict=True):
        other[j] = own[i]
    result = [c for k, c in enumerate(own) if k not in first]
    result += [c for k, c in enumerate(other) if k not in second]
    return np.einsum(f"z{own},z{''.join(other)}->z{''.join(result)}", a, b)


class Tensordot(Op):
    calls = np.tensordot, np.linalg.tensordot
    makes_array = "always"
    heavy = True
    linear = "a", "b"
    vjp = _tensordot_left, _tensordot_right

    @classmethod
    def bind(cls, args: Any, kwargs: Any) -> Any:
        (a, b), attrs = super().bind(args, kwargs)
        axes = attrs.get("axes")
        if isinstance(axes, (tuple, list)):
            attrs["axes"] = pairs_of_axes(axes, value(a).ndim, value(b).ndim)
        elif axes is not None:
            attrs["axes"] = arguments.whole(axes, "the number of axes")
        return (a, b), attrs

    def types(a: ArrayType, b: ArrayType, axes: Any = 2) -> ArrayType:
        first, second = pairs_of_axes(axes, a.rank, b.rank)
        if not all(equal(a.sizes[i], b.sizes[j]) for i, j in zip(first, second, strict=True)):
            raise ShapeError("shape-mismatch for sum")
        rows = (a.sizes[k] for k in free_axes(a.rank, first))
        columns = (b.sizes[k] for k in free_axes(b.rank, second))
        return ArrayType(common_dtype(a, b), (*rows, *columns))

    def contraction(a, b, axes=2):
        left, right = LETTERS[:a.rank], list(LETTERS[a.rank:a.rank + b.rank])
        for first, second in zip(*pairs_of_axes(axes, a.rank, b.rank), strict=True):
            right[second] = left[first]
        return product_of(left, "".join(right))

    def batch(lead, a, b, axes=2):
        pairs = pairs_of_axes(axes, a.ndim - lead[0], b.ndim - lead[1])
        return batched_tensordot(lead, a, b, pairs)

    def domain(rng):
        def case(left, right, axes):
            return (rng.normal(size=left), rng.normal(size=right)), {"axes": axes}
        return [case((2, 3), (2, 3), 2), case((2, 3), (3, 4), 1), case((2,), (3,), 0),
                case((2, 3, 4), (4, 3), ((1, 2), (1, 0))), case((2, 3, 2), (3, 2, 2), ((1,), (0,))),
                case((3, 2), (2, 4, 3), ((0, 1), (2, 0)))]


def _times_vector(dy, v):
    """Every element of `dy` times the vector `v`, which becomes the last axis."""
    return dy * v if dy.ndim == 0 else np.outer(dy, v) if dy.ndim == 1 else dy[..., None] * v


def _inner_left(dy, a, b):
    if a.ndim == 0 or b.ndim == 0:
        return dy * b
    if b.ndim == 1:
        return _times_vector(dy, b)
    return dy @ b if b.ndim == 2 else np.tensordot(dy, b, axes=b.ndim - 1)


def _inner_right(dy, a, b):
    if a.ndim == 0 or b.ndim == 0:
        return dy * a
    if a.ndim == 1:
        return _times_vector(dy, a)
    if a.ndim == 2 and b.ndim <= 2:
        return dy.T @ a if b.ndim == 2 else dy @ a
    lead = tuple(range(a.ndim - 1))
    return np.tensordot(dy, a, axes=(lead, lead))


class Inner(Op):
    calls = (np.inner,)
    heavy = True
    linear = "a", "b"
    vjp = _inner_left, _inner_right
    domain = random_pairs(((), (3,)), ((2, 3), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 3)),
                          ((2, 3), (4, 3)), ((2, 2, 3), (3,)), ((2, 3), (2, 2, 3)),
                          ((2, 2, 3), (4, 3)))

    def types(a: ArrayType, b: ArrayType) -> ArrayType:
        if not a.rank or not b.rank:
            return ArrayType(common_dtype(a, b), a.sizes + b.sizes)
        _contracted(a, b, b.rank - 1)
        return ArrayType(common_dtype(a, b), a.sizes[:-1] + b.sizes[:-1])

    def contraction(a, b):
        left, right = LETTERS[:a.rank], LETTERS[a.rank:a.rank + b.rank]
        return product_of(left, right[:-1] + left[-1:] if left and right else right)

    def batch(lead, a, b):
        left, right = a.ndim - lead[0], b.ndim - lead[1]
        if left == 0 or right == 0:
            a, b = aligned(lead, (a, b))
            return a * b
        return batched_tensordot(lead, a, b, ((left - 1,), (right - 1,)))
