"""Matrices that are put together from parts, and functions of matrices that are written with others."""

from __future__ import annotations

from typing import Any

import numpy as np

from .refusing import refused


def block_diag(*arrs):
    parts = [np.atleast_2d(part) for part in arrs]
    if not parts:
        return np.zeros((1, 0))
    height, width = sum(part.shape[0] for part in parts), sum(part.shape[1] for part in parts)
    whole = np.zeros((height, width), dtype=np.result_type(*parts))
    row, column = 0, 0
    for part in parts:
        whole[row:row + part.shape[0], column:column + part.shape[1]] = part
        row, column = row + part.shape[0], column + part.shape[1]
    return whole


def toeplitz(c, r=None):
    c = np.ravel(c)
    r = np.conjugate(c) if r is None else np.ravel(r)
    line = np.concatenate((c[::-1], r[1:]))
    return line[len(c) - 1 - np.arange(len(c))[:, None] + np.arange(len(r))]


def circulant(c):
    c = np.asarray(c)
    steps = np.arange(len(c))
    return c[(steps[:, None] - steps) % len(c)]


def hankel(c, r=None):
    c = np.ravel(c)
    r = np.zeros_like(c) if r is None else np.ravel(r)
    line = np.concatenate((c, r[1:]))
    return line[np.arange(len(c))[:, None] + np.arange(len(r))]


def cond(x, p=None):
    x = np.asarray(x)
    if p is None or p == 2 or p == -2:
        values = np.linalg.svdvals(x)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    return np.linalg.norm(x, p, axis=(-2, -1)) * np.linalg.norm(np.linalg.inv(x), p, axis=(-2, -1))


def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    A = np.asarray(A)
    if hermitian:
        refused("np.linalg.matrix_rank with hermitian=True is not supported", "Omit it.")
    if A.ndim < 2:
        return int(np.any(A != 0))
    values = np.linalg.svdvals(A)
    if tol is not None:
        return np.sum(values > tol, axis=-1)
    limit = max(A.shape[-2], A.shape[-1]) * np.finfo(values.dtype).eps if rtol is None else rtol
    return np.sum(values > limit * values[..., :1], axis=-1)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    x = np.asarray(x)
    if axis is None:
        found = np.linalg.norm(np.ravel(x), ord)
        return np.reshape(found, (1,) * x.ndim) if keepdims else found
    return np.linalg.norm(x, ord, axis, keepdims)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    return np.linalg.norm(x, ord, (-2, -1), keepdims)


def diagonal(x, /, *, offset=0):
    return np.diagonal(x, offset, -2, -1)


def trace(x, /, *, offset=0, dtype=None):
    found = np.sum(np.diagonal(x, offset, -2, -1), axis=-1)
    return found if dtype is None else found.astype(dtype)


def tensorinv(a, ind=2):
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    a = np.asarray(a)
    rows, columns = count_of(a.shape[:ind]), count_of(a.shape[ind:])
    return np.reshape(np.linalg.inv(np.reshape(a, (rows, columns))), a.shape[ind:] + a.shape[:ind])


def count_of(shape):
    """The number of elements of an array."""
    count = 1
    for size in shape:
        count = count * size
    return count


def cross(x1, x2, /, *, axis=-1):
    a, b = np.asarray(x1), np.asarray(x2)
    if a.shape[axis] != 3 or b.shape[axis] != 3:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
                         f"{a.shape[axis]} and {b.shape[axis]} dimensional instead.")
    return np.cross(a, b, axis=axis)


def tensorsolve(a, b, axes=None):
    a, b = np.asarray(a), np.asarray(b)
    if axes is not None:
        order = [k for k in range(a.ndim) if k not in axes]
        a = np.transpose(a, order + list(axes))
    shape = a.shape[b.ndim:]
    return np.reshape(np.linalg.solve(np.reshape(a, (b.size, count_of(shape))), np.ravel(b)), shape)


def matvec(x1, x2, /):
    x1, x2 = np.asarray(x1), np.asarray(x2)
    return x1 @ x2 if x2.ndim == 1 else (x1 @ x2[..., None])[..., 0]


def vecmat(x1, x2, /):
    x1, x2 = np.asarray(x1), np.asarray(x2)
    x1 = np.conj(x1) if x1.dtype.kind == "c" else x1
    return x1 @ x2 if x1.ndim == 1 else (x1[..., None, :] @ x2)[..., 0, :]


CALLS: dict[Any, Any] = {
    **{getattr(np, each.__name__): each for each in (matvec, vecmat) if hasattr(np, each.__name__)},
    np.linalg.cond: cond,
    np.linalg.cross: cross,
    np.linalg.matrix_rank: matrix_rank,
    np.linalg.matrix_norm: matrix_norm,
    np.linalg.vector_norm: vector_norm,
    np.linalg.diagonal: diagonal,
    np.linalg.trace: trace,
    np.linalg.tensorinv: tensorinv,
    np.linalg.tensorsolve: tensorsolve,
    "scipy.linalg.block_diag": block_diag,
    "scipy.linalg.toeplitz": toeplitz,
    "scipy.linalg.circulant": circulant,
    "scipy.linalg.hankel": hankel,
}
