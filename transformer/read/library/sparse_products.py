"""Products with matrices of `scipy.sparse` that were made before: their elements and places are arrays from outside.

    a @ x        result = np.zeros(n)
                 np.add.at(result, rows, elements * x[columns])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .refusing import fact_of, made_of, refused

COMPRESSED = ("csr", "csc")


def shape_of(matrix):
    shape = fact_of(matrix, "shape")
    if len(shape) != 2:
        refused("a product with a sparse vector is not supported", "Make it dense: a.toarray().")
    return shape


def product(self, other):
    """`a @ x` and `a.dot(x)`, of a vector or the columns of a matrix."""
    rows, columns = shape_of(self)
    data, down, right = parts_of(self)
    return scattered(rows, columns, data, down, right, other)


def product_of_transposed(self, other):
    """`a.T @ x`."""
    rows, columns = shape_of(self)
    data, down, right = parts_of(self)
    return scattered(columns, rows, data, right, down, other)


def product_from_left(self, other):
    """`x @ a`."""
    return product_of_transposed(self, np.asarray(other).T).T


class Transposed:
    def __init__(self, matrix):
        self.matrix = matrix

    @property
    def T(self):
        return self.matrix

    def dot(self, other):
        return product_of_transposed(self.matrix, other)

    def __matmul__(self, other):
        return product_of_transposed(self.matrix, other)

    def __rmatmul__(self, other):
        return product(self.matrix, np.asarray(other).T).T


def transposed(self):
    return Transposed(self)


def of_made(function: Any) -> Any:
    """What is read in place of a method of a sparse matrix."""
    if not (getattr(function, "__module__", None) or "").startswith("scipy.sparse."):
        return None
    base, _, name = function.__qualname__.rpartition(".")
    owner = getattr(function, "__self__", None)
    if base != "_spbase" or owner is None:
        return METHODS.get(name) if base == "_spbase" else None

    def dot(other):
        return product(owner, other)

    return dot if name == "dot" else None


def parts_of(matrix):
    """The elements that are stored, and the row and the column of each."""
    rows, columns = made_of(matrix, rows_of, "rows"), made_of(matrix, columns_of, "columns")
    return made_of(matrix, elements, "elements"), rows, columns


def elements(matrix: Any) -> Any:
    return matrix.data if matrix.format in COMPRESSED else matrix.tocoo(copy=False).data


def rows_of(matrix: Any) -> Any:
    return _places(matrix, "csr", "row")


def columns_of(matrix: Any) -> Any:
    return _places(matrix, "csc", "col")


def _places(matrix: Any, by_lines: str, along: str) -> Any:
    """Of a format that keeps where each line begins, the line of each element; of the other one what it keeps."""
    if matrix.format not in COMPRESSED:
        return getattr(matrix.tocoo(copy=False), along)
    counts = np.diff(matrix.indptr)
    return np.repeat(np.arange(len(counts)), counts) if matrix.format == by_lines else matrix.indices


def scattered(size, length, data, rows, columns, other):
    """The sum of the elements times those of a vector at their columns, for each row."""
    other = np.asarray(other)
    if other.ndim not in (1, 2) or other.shape[0] != length:
        raise ValueError("dimension mismatch")
    terms = data * other[columns] if other.ndim == 1 else data[:, None] * other[columns]
    result = np.zeros((size, *other.shape[1:]), terms.dtype)
    np.add.at(result, rows, terms)
    return result


METHODS: dict[str, Any] = {"__matmul__": product, "__rmatmul__": product_from_left, "T": transposed}
