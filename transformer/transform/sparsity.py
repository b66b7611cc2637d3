"""Jacobians whose zeros are known: directions that meet no result in common are taken together.

The columns of a pattern are coloured so that no two of one colour have an entry in the same row (greedily, those with
most neighbours first). The derivative along the sum of all columns of a colour then has the entries of each of
them, apart from each other: a tridiagonal Jacobian of any size takes three directions.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ..core.errors import BadArgument


class Pattern:
    """Where a matrix may differ from zero. `colors` has, for its columns, or with `by_rows` for its rows, a number
    each; `rows` and `columns` are the places of the entries.

    >>> tridiagonal = np.eye(6, k=-1) + np.eye(6) + np.eye(6, k=1)
    >>> Pattern(tridiagonal, by_rows=False).count
    3
    """

    def __init__(self, mask: Any, by_rows: bool) -> None:
        self.mask = np.asarray(mask.toarray() if hasattr(mask, "toarray") else mask) != 0
        if self.mask.ndim != 2:
            raise BadArgument(f"sparsity has {self.mask.ndim} axes, expected a matrix",
                              instead="Pass a matrix with one row for each element of the result and one column for "
                                      "each element of the argument.")
        self.by_rows = by_rows
        self.rows, self.columns = np.nonzero(self.mask)
        self.colors = coloured(self.mask.T if by_rows else self.mask)
        self.count = int(self.colors.max(initial=-1)) + 1

    def directions(self) -> np.ndarray:
        """For each colour the sum of the unit vectors that have it."""
        return (np.arange(self.count)[:, None] == self.colors).astype(float)

    def __repr__(self) -> str:
        digest = hashlib.sha256(np.packbits(self.mask).tobytes()).hexdigest()[:16]
        return f"Pattern({self.mask.shape}, {digest}, {self.by_rows})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))


def coloured(mask: np.ndarray) -> np.ndarray:
    """A colour for each column of a matrix, such that two of the same have no row in common."""
    colors = np.full(mask.shape[1], -1)
    taken = np.zeros((mask.shape[0], 0), bool)              # for each row, the colours that meet it
    for column in np.argsort(-mask.sum(axis=0), kind="stable"):
        rows = mask[:, column]
        free = np.flatnonzero(~taken[rows].any(axis=0))
        if not len(free):
            taken = np.concatenate([taken, np.zeros((mask.shape[0], 1), bool)], axis=1)
        color = free[0] if len(free) else taken.shape[1] - 1
        taken[rows, color] = True
        colors[column] = color
    return colors
