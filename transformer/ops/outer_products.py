"""Products of all pairs (outer, kron), of whole arrays (vdot), and of vectors in space (cross)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import NotSupported, ShapeError
from ..core.sizes import Extent, product
from ..core.types import ArrayType
from . import arguments
from .base import Op
from .elements import number, regrouped
from .elementwise import aligned, broadcast, shape_text, size_text
from .products import common_dtype, equal, random_pairs
from .rewritten import Rewritten
from .statistics import conjugated
from .value import value


def flat(x: Any) -> Any:
    return x if x.ndim == 1 else np.ravel(x)


def shaped(t: Any, x: Any) -> Any:
    """A flat cotangent in the shape of its operand."""
    return t if x.ndim == 1 else np.reshape(t, x.shape)


def _lines(x: Any, on: bool) -> Any:
    """An operand flattened, behind its batch axis if it has one."""
    if x.ndim == 1 + on:
        return x
    return np.reshape(x, (x.shape[0], product(x.shape[1:]))) if on else np.ravel(x)


class Outer(Op):
    """Of all elements of `a` with all elements of `b`."""

    calls = np.outer, np.linalg.outer
    linear = "a", "b"
    vjp = (lambda dy, a, b: shaped(dy @ flat(b), a),
           lambda dy, a, b: shaped(flat(a) @ dy, b))
    domain = random_pairs(((2,), (3,)), ((2, 2), (3,)), ((), (3,)))

    def types(a: ArrayType, b: ArrayType) -> ArrayType:
        return ArrayType(common_dtype(a, b), (a.elements, b.elements))

    def element(at, a, b):
        return (a[regrouped(at[:1], (a.size,), a.shape)] * b[regrouped(at[1:], (b.size,), b.shape)])

    def batch(lead, a, b):
        return _lines(a, lead[0])[..., None] * _lines(b, lead[1])[..., None, :]


class Vdot(Op):
    """The sum of ``conj(a) * b`` over all elements."""

    calls = (np.vdot,)
    heavy = True
    linear = "a", "b"
    vjp = (lambda dy, a, b: shaped(conjugated(dy * flat(b)), a),
           lambda dy, a, b: shaped(dy * conjugated(flat(a)), b))
    domain = random_pairs(((3,), (3,)), ((2, 3), (2, 3)), ((), ()))

    def types(a: ArrayType, b: ArrayType) -> ArrayType:
        if not equal(a.elements, b.elements):
            raise ShapeError(f"cannot reshape array of size {size_text(b.elements)} into shape "
                             f"{shape_text((a.elements,))}")
        return ArrayType(common_dtype(a, b))

    def definition(a, b):
        return np.sum(conjugated(flat(a)) * flat(b))

    def batch(lead, a, b):
        return np.sum(conjugated(_lines(a, lead[0])) * _lines(b, lead[1]), axis=-1)


def _padded(shape: Any, rank: int) -> tuple[Any, ...]:
    """A shape with sizes of 1 in front up to a rank."""
    return (1,) * (rank - len(shape)) + tuple(shape)


def _kron_parts(dy: Any, a: Any, b: Any) -> Any:
    """A cotangent with two axes for every axis: one for `a` and one for `b`."""
    rank = max(a.ndim, b.ndim)
    pairs = zip(_padded(a.shape, rank), _padded(b.shape, rank), strict=True)
    return np.reshape(dy, tuple(size for pair in pairs for size in pair))


def _kron_left(dy, a, b):
    rank = max(a.ndim, b.ndim)
    axes = tuple(range(1, 2 * rank, 2)), tuple(range(rank))
    t = np.tensordot(_kron_parts(dy, a, b), np.reshape(b, _padded(b.shape, rank)), axes=axes)
    return np.reshape(t, a.shape)


def _kron_right(dy, a, b):
    rank = max(a.ndim, b.ndim)
    axes = tuple(range(0, 2 * rank, 2)), tuple(range(rank))
    t = np.tensordot(_kron_parts(dy, a, b), np.reshape(a, _padded(a.shape, rank)), axes=axes)
    return np.reshape(t, b.shape)


class Kron(Op):
    """Every element of `a` times all of `b`, laid out as blocks."""

    calls = (np.kron,)
    linear = "a", "b"
    vjp = _kron_left, _kron_right
    domain = random_pairs(((2,), (3,)), ((2, 2), (2, 3)), ((3,), (2, 2)), ((2, 1, 2), (2, 2)))

    def types(a: ArrayType, b: ArrayType) -> ArrayType:
        rank = max(a.rank, b.rank)
        pairs = zip(_padded(a.sizes, rank), _padded(b.sizes, rank), strict=True)
        return ArrayType(common_dtype(a, b), tuple(n * m for n, m in pairs))

    def element(at, a, b):
        sizes = _padded(b.shape, len(at))
        pairs = [(k, 0) if m == 1 else (k // number(m), k % number(m)) for k, m in zip(at, sizes, strict=True)]
        left, right = zip(*pairs, strict=True) if pairs else ((), ())
        return a[left[len(at) - a.ndim:]] * b[right[len(at) - b.ndim:]]

    def batch(lead, a, b):
        left, right = (x.shape[1:] if on else x.shape for x, on in zip((a, b), lead, strict=True))
        rank = max(len(left), len(right))
        left, right = _padded(left, rank), _padded(right, rank)
        a = np.reshape(a, (*a.shape[:lead[0]], *(s for n in left for s in (n, 1))))
        b = np.reshape(b, (*b.shape[:lead[1]], *(s for m in right for s in (1, m))))
        count = (a if lead[0] else b).shape[0]
        return np.reshape(a * b, (count, *(n * m for n, m in zip(left, right, strict=True))))


def _vector_last(x: Any, axis: int) -> Any:
    return x if axis in (-1, x.ndim - 1) else np.moveaxis(x, axis, -1)


def _vector_at(t: Any, x: Any, axis: int) -> Any:
    """A cotangent whose vectors lie in the last axis, with them where those of `x` lie."""
    return t if axis in (-1, x.ndim - 1) else np.moveaxis(t, -1, axis % x.ndim + t.ndim - x.ndim)


def _cross_left(dy, a, b, axisa=-1, axisb=-1, axisc=-1):
    t = np.cross(_vector_last(b, axisb), _vector_last(dy, axisc))
    return _vector_at(t, a, axisa)


def _cross_right(dy, a, b, axisa=-1, axisb=-1, axisc=-1):
    t = np.cross(_vector_last(dy, axisc), _vector_last(a, axisa))
    return _vector_at(t, b, axisb)


class Cross(Op):
    """The vector product in three dimensions."""

    calls = (np.cross,)
    linear = "a", "b"
    vjp = _cross_left, _cross_right

    @classmethod
    def bind(cls, args: Any, kwargs: Any) -> Any:
        kwargs = dict(kwargs)
        axis = args[5] if len(args) > 5 else kwargs.pop("axis", None)
        if axis is not None:
            kwargs.update(axisa=axis, axisb=axis, axisc=axis)
            args = args[:2]
        operands, attrs = super().bind(args, kwargs)
        return operands, {key: arguments.whole(k, "an axis") for key, k in attrs.items()}

    def types(a: ArrayType, b: ArrayType, axisa: int = -1, axisb: int = -1, axisc: int = -1
              ) -> ArrayType:
        left, right = _others(a, axisa), _others(b, axisb)
        sizes = broadcast(left, right)
        k = arguments.axis(axisc, len(sizes) + 1)
        return ArrayType(common_dtype(a, b), (*sizes[:k], 3, *sizes[k:]))

    def definition(a, b, axisa=-1, axisb=-1, axisc=-1):
        a, b = _vector_last(a, axisa), _vector_last(b, axisb)
        first, second, third = (
            a[..., i] * b[..., j] - a[..., j] * b[..., i] for i, j in ((1, 2), (2, 0), (0, 1)))
        return np.stack([first, second, third], axis=axisc)

    def batch(lead, a, b, axisa=-1, axisb=-1, axisc=-1):
        axes = [k if k < 0 else k + on - x.ndim
                for k, x, on in zip((axisa, axisb), (a, b), lead, strict=True)]
        rank = max(a.ndim - lead[0], b.ndim - lead[1])
        a, b = aligned(lead, (_vector_last(a, axes[0]), _vector_last(b, axes[1])))
        y = np.cross(a, b)
        return y if axisc in (-1, rank - 1) else np.moveaxis(y, -1, axisc % rank + 1)

    def domain(rng):
        def case(left, right, **attrs):
            return (rng.normal(size=left), rng.normal(size=right)), attrs
        return [case((3,), (3,)), case((2, 3), (3,)), case((2, 3), (4, 1, 3)),
                case((3, 2), (3, 2), axisa=0, axisb=0, axisc=0), case((3, 2), (2, 3), axisa=0)]


def _others(x: ArrayType, axis: int) -> tuple[Extent, ...]:
    """The sizes without the axis of the vectors, which has to have size 3."""
    k = arguments.axis(axis, x.rank)
    if not equal(x.sizes[k], 3):
        raise NotSupported(f"np.cross of vectors with {size_text(x.sizes[k])} components is not supported",
                           why="The cross product is defined in three dimensions.",
                           instead="In two dimensions, write a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0].")
    return x.sizes[:k] + x.sizes[k + 1:]


class Vecdot(Rewritten):
    """The sum of ``conj(a) * b`` over one axis."""

    calls = np.vecdot, np.linalg.vecdot

    def rewrite(a, b, axis=-1):
        products = conjugated(value(a)) * b
        if products.dtype.kind == "b":
            return np.any(products, axis=axis)
        narrow = products.dtype.kind in "iu" and products.dtype.itemsize < 8
        return np.sum(products, axis=axis, **{"dtype": products.dtype} if narrow else {})
