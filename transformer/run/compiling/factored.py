"""Systems by factors that LAPACK has made before, in code that numba compiles, with most of the work in products.

The factors lie by columns, as LAPACK has them. This module imports numba, and is imported when something is compiled.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numba import types
from numba.np.linalg import F_INT_nbtype, F_INT_nptype

from .blas import call_of_blas
from .dispatchers import apart_from_callers, for_any_layout, part_of_callers
from .lapack import (
    LETTERS,
    Key,
    are_finite,
    by_diagonal,
    determinants,
    external,
    lu,
    solver_of_columns,
    systems,
    triangle,
    turn,
)

FACTORED, UPPER, LOWER, INFINITE = 1, 0, -1, -2    # what the first pivot says; all but the first of a matrix as it is
BAND = 32                              # rows that are solved one after another, behind a product for all of them
gemm = call_of_blas()


def by_factors(dtype: Any, used: tuple[int, ...]) -> dict[Key, Any]:
    """The forms for numbers of a type (`lower/fusion/shared_factors.py`). Of a matrix whose factors are not finite,
    everything is computed as for it alone, as LAPACK does otherwise what NumPy does."""
    (solve, solve_vector), (solve_turned, solve_vector_turned) = _solver(dtype, False), _solver(dtype, True)
    return {("factors", (2, 1, 2)): _maker(dtype), **_determinants(dtype, used),
            ("solve_by", (2, 2, 1, 2)): solve, ("solve_by", (1, 2, 1, 1)): solve_vector,
            ("solve_turned_by", (2, 2, 1, 2)): solve_turned, ("solve_turned_by", (1, 2, 1, 1)): solve_vector_turned,
            ("inv_by", (2, 2, 1)): _inverter(dtype, False), ("inv_turned_by", (2, 2, 1)): _inverter(dtype, True)}


@cache
def _maker(dtype: Any) -> Any:
    factored = lu(dtype)

    @apart_from_callers
    def factors(columns: Any, pivots: Any, a: Any) -> None:
        side = triangle(a) if len(a) > 0 else 0
        if side != 0:
            copy(a, columns)
            pivots[0] = UPPER if side > 0 else LOWER
            return
        turn(a, columns)
        factored(columns, pivots)
        if not are_finite(columns):
            copy(a, columns)
            pivots[0] = INFINITE

    return factors


@cache
def _solver(dtype: Any, turned: bool) -> tuple[Any, Any]:
    """Solves for many right sides, and for one. (Who raises bears the name of NumPy's function.)"""
    columns_solved = solver_of_columns(dtype)

    @apart_from_callers
    def solve(result: Any, columns: Any, pivots: Any, b: Any) -> None:
        kind = kind_of(pivots)
        if kind != INFINITE:
            if kind == FACTORED and not is_regular(columns):
                raise np.linalg.LinAlgError("Singular matrix")
            x = np.empty(b.shape, b.dtype)
            copy(b, x)
            by_triangles(columns, pivots, x, turned)
            copy(x, result)
            if kind == FACTORED or are_finite(x):
                return
        x = np.empty((b.shape[1], b.shape[0]), b.dtype)
        turn(b, x)
        if not columns_solved(columns.T if turned else columns, x):
            raise np.linalg.LinAlgError("Singular matrix")
        turn(x, result)

    @part_of_callers
    def solve_vector(result: Any, columns: Any, pivots: Any, b: Any) -> None:
        solve(result[:, None], columns, pivots, b[:, None])

    return solve, solve_vector


@cache
def _inverter(dtype: Any, turned: bool) -> Any:
    letter, anew = LETTERS[dtype], systems(dtype)["inv", (2, 2)]
    getri = external("numba_ez_xxgetri", types.intp, types.CPointer(dtype), types.intp, types.CPointer(F_INT_nbtype))

    @apart_from_callers
    def inv(result: Any, columns: Any, pivots: Any) -> None:
        n = len(columns)
        if kind_of(pivots) != FACTORED:
            anew(result, columns.T if turned else columns)
            return
        if not is_regular(columns):
            raise np.linalg.LinAlgError("Singular matrix")
        x, places = np.empty(columns.shape, columns.dtype), np.empty(n, F_INT_nptype)
        copy(columns, x)
        for i in range(n):
            places[i] = int(pivots[i].real)
        if n > 0:
            getri(letter, n, x.ctypes, n, places.ctypes)
        if turned:
            copy(x, result)
        else:
            turn(x, result)

    return inv


def _determinants(dtype: Any, used: tuple[int, ...]) -> dict[Key, Any]:
    anew, determinant = determinants(dtype, (0, 1))["slogdet", (2,)], by_diagonal(dtype)

    @for_any_layout
    def slogdet(columns: Any, pivots: Any) -> Any:
        if kind_of(pivots) == INFINITE:
            return anew(columns)
        return determinant(columns, pivots)

    @for_any_layout
    def one_of_both(columns: Any, pivots: Any) -> Any:
        return slogdet(columns, pivots)[which]

    @for_any_layout
    def det(columns: Any, pivots: Any) -> Any:
        sign, total = slogdet(columns, pivots)
        return sign * math.exp(total)

    which = used[0] if used else 0
    return {("det_by", (2, 1)): det, ("slogdet_by", (2, 1)): slogdet if len(used) == 2 else one_of_both}


@for_any_layout
def copy(a: Any, made: Any) -> None:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            made[i, j] = a[i, j]


@for_any_layout
def kind_of(pivots: Any) -> Any:
    return min(FACTORED, int(pivots[0].real)) if len(pivots) > 0 else FACTORED


@for_any_layout
def is_regular(columns: Any) -> bool:
    for i in range(len(columns)):
        if columns[i, i] == 0:
            return False
    return True


@apart_from_callers
def by_triangles(columns: Any, pivots: Any, x: Any, turned: Any) -> None:
    """Solves a system, or that of the transpose, in the memory of its right side. Rows change places as in the matrix,
    and both triangles follow; for the transpose, the other way round."""
    kind = kind_of(pivots)
    if kind != FACTORED:
        solve_triangle(columns.T if turned else columns, x, (kind == UPPER) != turned, False)
    elif turned:
        solve_triangle(columns, x, False, False)
        solve_triangle(columns, x, True, True)
        for i in range(len(x) - 1, -1, -1):
            swap(x, i, pivots)
    else:
        for i in range(len(x)):
            swap(x, i, pivots)
        solve_triangle(columns.T, x, False, True)
        solve_triangle(columns.T, x, True, False)


@apart_from_callers
def solve_triangle(a: Any, x: Any, is_upper: Any, has_ones: Any) -> None:
    """Solves a triangular system in the memory of its right side, whose rows are in one piece; where `a` `has_ones` on
    its diagonal, they are not looked at."""
    n, columns = x.shape
    for done in range(0, n, BAND):
        count = min(BAND, n - done)
        first, begin, end = (n - done - count, n - done, n) if is_upper else (done, 0, done)
        if done > 0 and columns > 0:
            gemm(-1, a[first:first + count, begin:end], x[begin:end], 1, x[first:first + count])
        for k in range(count):
            i = first + count - 1 - k if is_upper else first + k
            low, high = (i + 1, first + count) if is_upper else (first, i)
            for m in range(low, high):
                for j in range(columns):
                    x[i, j] -= a[i, m] * x[m, j]
            if not has_ones:
                for j in range(columns):
                    x[i, j] /= a[i, i]


@for_any_layout
def swap(x: Any, i: Any, pivots: Any) -> None:
    other = int(pivots[i].real) - 1
    if other != i:
        for j in range(x.shape[1]):
            x[i, j], x[other, j] = x[other, j], x[i, j]
