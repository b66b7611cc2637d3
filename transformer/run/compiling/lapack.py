"""Systems, inverses, determinants and factors of matrices in code that numba compiles: calls of LAPACK as NumPy makes
them, with its errors, but without Python around them, which takes ten times as long as LAPACK does for a small matrix.

LAPACK takes matrices by columns and writes over them, so they are copied, turned. Matrices of integers are left to
NumPy, and so are stacks, as Python is done with after one call for all of them. This module imports numba, and is
imported when something is compiled.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numba import types
from numba.np.linalg import F_INT_nbtype, F_INT_nptype, ensure_lapack
from numba.np.numpy_support import from_dtype

from .blas import KINDS
from .dispatchers import InnerDispatcher, briefly, for_any_layout, part_of_callers

Key = tuple[str, tuple[int, ...]]                      # a name, and how many axes each array has
of_numba: Any = from_dtype                             # its type knows no dtype whose kind is open
LETTERS = {of_numba(dtype): ord(kind) for dtype, kind in KINDS.items()}
UPPER = ord("U")
SIDE = 16                                              # of the squares that are turned, one after another


class ByTypes(InnerDispatcher):
    """Stands for a function in which Python calls NumPy. Calls LAPACK instead for the types that LAPACK takes."""

    def __init__(self, hosted: Any, form: str) -> None:
        super().__init__(hosted.py_func)
        self.hosted, self.form = hosted, form

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return self._chosen(args).get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        return self._chosen(sig).get_overload(sig)

    def _chosen(self, kinds: Any) -> Any:
        name, *used = self.form.split()
        dtypes = {getattr(kind, "dtype", None) for kind in kinds}
        if len(dtypes) > 1 or not dtypes <= set(LETTERS):
            return self.hosted
        forms = _forms(*dtypes, tuple(map(int, used)))
        return forms.get((name, tuple(kind.ndim for kind in kinds)), self.hosted)


@cache
def _forms(dtype: Any, used: tuple[int, ...]) -> dict[Key, Any]:
    """The forms for numbers of a type; of several results that are numbers they give those that are `used`."""
    ensure_lapack()
    from .factored import by_factors
    return {**systems(dtype), **_factors(dtype), **determinants(dtype, used), **by_factors(dtype, used)}


def external(name: str, *kinds: Any) -> Any:
    """A function of numba's that calls LAPACK, and gives what this says of its success."""
    return types.ExternalFunction(name, types.intc(types.char, *kinds))


@briefly
@for_any_layout
def turn(a: Any, made: Any) -> None:
    """Writes the rows of a matrix to the columns of another one, square by square."""
    rows, columns = a.shape
    for i in range(0, rows, SIDE):
        for j in range(0, columns, SIDE):
            last, behind = i + SIDE if i + SIDE < rows else rows, j + SIDE if j + SIDE < columns else columns
            for k in range(i, last):
                for m in range(j, behind):
                    made[m, k] = a[k, m]


@part_of_callers
def triangle(a: Any) -> Any:
    """1 for a matrix with zeros below its diagonal, -1 for one with zeros above it, and 0 for all others, of which few
    numbers are looked at; also where a number on the diagonal is zero, or is not finite."""
    is_upper = is_lower = True
    for i in range(len(a)):
        for j in range(i):
            is_upper, is_lower = is_upper and a[i, j] == 0, is_lower and a[j, i] == 0
        if a[i, i] == 0 or a[i, i] - a[i, i] != 0 or not (is_upper or is_lower):
            return 0
    return 1 if is_upper else -1


@briefly
@part_of_callers
def are_finite(x: Any) -> bool:
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] - x[i, j] != 0:
                return False
    return True


@part_of_callers
def substitute(a: Any, x: Any, is_upper: Any) -> None:
    """Solves a triangular system in the memory of its right side. From a row, four that are done are subtracted in one
    pass over it."""
    n, columns, step = len(a), x.shape[1], -1 if is_upper else 1
    for done in range(n):
        i, first = (n - 1 - done, n - 1) if is_upper else (done, 0)
        for m in range(0, done - 3, 4):
            k = first + step * m
            b, c, d, e = a[i, k], a[i, k + step], a[i, k + 2 * step], a[i, k + 3 * step]
            for j in range(columns):
                x[i, j] -= (b * x[k, j] + c * x[k + step, j]) + (d * x[k + 2 * step, j] + e * x[k + 3 * step, j])
        for m in range(done // 4 * 4, done):
            for j in range(columns):
                x[i, j] -= a[i, first + step * m] * x[first + step * m, j]
        for j in range(columns):
            x[i, j] /= a[i, i]


@cache
def solver_of_columns(dtype: Any) -> Any:
    letter, numbers, size = LETTERS[dtype], types.CPointer(dtype), types.intp
    gesv = external("numba_xgesv", size, size, numbers, size, types.CPointer(F_INT_nbtype), numbers, size)

    @briefly
    @for_any_layout
    def solve_columns(a: Any, x: Any) -> bool:
        """Has the columns of the right side as rows of `x`, and leaves those of the solution there; says whether there
        is one. (Who raises bears the name of NumPy's function, by which its line is found.)"""
        n, columns, pivots = len(a), np.empty(a.shape, a.dtype), np.empty(len(a), F_INT_nptype)
        turn(a, columns)
        return n == 0 or gesv(letter, n, len(x), columns.ctypes, n, pivots.ctypes, x.ctypes, n) == 0

    return solve_columns


@cache
def systems(dtype: Any) -> dict[Key, Any]:
    solve_columns = solver_of_columns(dtype)

    @briefly
    @part_of_callers
    def solve(result: Any, a: Any, b: Any) -> None:
        """A triangular matrix takes a third of the work of another one, and next to nothing for a single column. What
        is not finite goes other ways in LAPACK, by factors that are zero."""
        side = triangle(a)
        if side != 0:
            for i in range(len(a)):
                for j in range(b.shape[1]):
                    result[i, j] = b[i, j]
            substitute(a, result, side > 0)
            if are_finite(result):
                return
        x = np.empty((b.shape[1], b.shape[0]), b.dtype)
        turn(b, x)
        if not solve_columns(a, x):
            raise np.linalg.LinAlgError("Singular matrix")
        turn(x, result)

    @part_of_callers
    def solve_vector(result: Any, a: Any, b: Any) -> None:
        solve(result[:, None], a, b[:, None])

    @briefly
    @for_any_layout
    def inv(result: Any, a: Any) -> None:
        x = np.zeros(a.shape, a.dtype)
        for i in range(len(a)):
            x[i, i] = 1
        if not solve_columns(a, x):
            raise np.linalg.LinAlgError("Singular matrix")
        turn(x, result)

    return {("solve", (2, 2, 2)): solve, ("solve", (1, 2, 1)): solve_vector, ("inv", (2, 2)): inv}


def _factors(dtype: Any) -> dict[Key, Any]:
    letter = LETTERS[dtype]
    potrf = external("numba_xxpotrf", types.char, types.intp, types.CPointer(dtype), types.intp)

    @briefly
    @for_any_layout
    def cholesky(result: Any, a: Any) -> None:
        """By columns, the lower triangle of rows is the upper one: of the transpose, whose factor is the transpose."""
        n, rows = len(a), np.empty(a.shape, a.dtype)
        for i in range(n):
            for j in range(i + 1):
                rows[i, j] = a[i, j]
        if n > 0 and potrf(letter, UPPER, n, rows.ctypes, n) > 0:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        for i in range(n):
            for j in range(n):
                result[i, j] = rows[i, j] if j <= i else 0

    return {("cholesky", (2, 2)): cholesky}


@cache
def determinants(dtype: Any, used: tuple[int, ...]) -> dict[Key, Any]:
    factored, determinant = lu(dtype), by_diagonal(dtype)

    @briefly
    @for_any_layout
    def slogdet(a: Any) -> Any:
        columns, pivots = np.empty(a.shape, a.dtype), np.empty(len(a), a.dtype)
        turn(a, columns)
        factored(columns, pivots)
        return determinant(columns, pivots)

    @for_any_layout
    def one_of_both(a: Any) -> Any:
        return slogdet(a)[which]

    @briefly
    @for_any_layout
    def det(a: Any) -> Any:
        """As NumPy has it, also where a product of the pivots would not be finite on the way."""
        sign, total = slogdet(a)
        return sign * math.exp(total)

    which = used[0] if used else 0
    return {("det", (2,)): det, ("slogdet", (2,)): slogdet if len(used) == 2 else one_of_both}


@cache
def lu(dtype: Any) -> Any:
    letter = LETTERS[dtype]
    getrf = external("numba_xxgetrf", types.intp, types.intp, types.CPointer(dtype), types.intp,
                      types.CPointer(F_INT_nbtype))

    @for_any_layout
    def factored(columns: Any, pivots: Any) -> None:
        """Factors a matrix in its memory, and leaves the pivots as numbers of its dtype."""
        n, places = len(columns), np.empty(len(columns), F_INT_nptype)
        if n > 0:
            getrf(letter, n, n, columns.ctypes, n, places.ctypes)
        for i in range(n):
            pivots[i] = places[i]

    return factored


@cache
def by_diagonal(dtype: Any) -> Any:
    real = getattr(dtype, "underlying_float", dtype)

    @for_any_layout
    def determinant(columns: Any, pivots: Any) -> Any:
        """Its sign and the logarithm of its size, by factors. Triangular matrices that are their own have no pivots,
        and say so in the place of the first."""
        sign, total, changes = dtype(1), real(0), not (len(pivots) > 0 and pivots[0].real < 1)
        for i in range(len(columns)):
            size = abs(columns[i, i])
            if size == 0:
                return dtype(0), real(-np.inf)
            sign *= sign_of(columns[i, i], size)
            sign = -sign if changes and pivots[i].real != i + 1 else sign
            total += math.log(size)
        return sign, total

    @part_of_callers
    def sign_of_real(number: Any, size: Any) -> Any:
        """1 for nan, as NumPy has it."""
        return dtype(-1) if number < 0 else dtype(1)

    @part_of_callers
    def sign_of_complex(number: Any, size: Any) -> Any:
        return number / size

    sign_of = sign_of_real if real is dtype else sign_of_complex
    return determinant
