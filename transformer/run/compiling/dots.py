"""`np.dot(a, b, c)` in code that numba compiles: a call of BLAS, of one function for each type of operands.

BLAS is called as numba does it: for a product of matrices of which one has a single row or column, as that of a vector
(`xgemv`), and of two vectors as their sum (`xdot`). This module imports numba, and is imported when something is
compiled.
"""

from __future__ import annotations

from functools import reduce
from itertools import chain
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.np.linalg import call_xxdot, call_xxgemm, call_xxgemv, ensure_blas

from .borrowed import parts_of

FLOATS = types.float32, types.float64, types.complex64, types.complex128
CODE = ir.IntType(32)
DOES_NOT_FIT, IS_TOO_LARGE = 1, 2
MOST = 2**31 - 1                                       # of what BLAS counts


def is_product(kinds: Any) -> bool:
    """Whether arguments of `np.dot` are matrices, or a vector and a matrix, in one piece, and memory for a result."""
    of_arrays: Any = types.Array
    return (len(kinds) == 3 and all(isinstance(each, of_arrays) and each.layout in "CF" for each in kinds)
            and len({each.dtype for each in kinds}) == 1 and kinds[0].dtype in FLOATS
            and kinds[2].layout == "C" and kinds[2].mutable and all(each.aligned for each in kinds)
            and tuple(each.ndim for each in kinds) in ((2, 2, 2), (2, 1, 1), (1, 2, 1)))


def dot(lower: Any, kinds: Any, values: Any) -> Any:
    """The call, and its errors, which are numba's."""
    ensure_blas()
    context, builder = lower.context, lower.builder
    given = [(data, *sizes) for data, sizes, _ in (parts_of(context, builder, kind, value)
                                                   for kind, value in zip(kinds.args, values, strict=True))]
    code = builder.call(_function(lower, kinds.args), list(chain(*given)))
    with cgutils.if_unlikely(builder, builder.icmp_signed("!=", code, CODE(0))):
        with cgutils.if_unlikely(builder, builder.icmp_signed("==", code, CODE(IS_TOO_LARGE))):
            lower.return_exception(OverflowError, ("array size too large to fit in C int",), loc=lower.loc)
        lower.return_exception(ValueError, ("incompatible array sizes for np.dot(a, b, out)",), loc=lower.loc)
    return context.get_dummy_value()


def _function(lower: Any, kinds: Any) -> Any:
    """The function of this module for operands of these types: of addresses and sizes."""
    name = "dot_" + "_".join(f"{kind.dtype}{kind.ndim}{kind.layout}" for kind in kinds)
    if name in lower.module.globals:
        return lower.module.globals[name]
    word = lower.context.get_value_type(types.intp)
    address = lower.context.get_data_type(kinds[0].dtype).as_pointer()
    made = ir.Function(lower.module, ir.FunctionType(CODE, list(chain(
        *([address, *[word] * kind.ndim] for kind in kinds)))), name)
    made.linkage = "internal"
    _Product(lower.context, made, kinds).make()
    return made


class _Product:
    """`a` and `b` are the operands, `c` the result: each its type, sizes and address."""

    def __init__(self, context: Any, function: Any, kinds: Any) -> None:
        self.context, self.builder = context, ir.IRBuilder(function.append_basic_block())
        given = iter(function.args)
        self.a, self.b, self.c = ((kind, data, [next(given) for _ in range(kind.ndim)])
                                  for kind, data in ((kind, next(given)) for kind in kinds))

    def make(self) -> None:
        builder = self.builder
        rows, inner = self.a[2] if self.a[0].ndim == 2 else (None, *self.a[2])
        inner_too, columns = self.b[2] if self.b[0].ndim == 2 else (*self.b[2], None)
        sizes = [size for size in (rows, columns) if size is not None]
        pairs = [(inner, inner_too), *zip(sizes, self.c[2], strict=True)]
        self._leave(reduce(builder.or_, [builder.icmp_signed("!=", *pair) for pair in pairs]), DOES_NOT_FIT)
        self._leave(reduce(builder.or_, [builder.icmp_signed(">", size, size.type(MOST))
                                         for size in (*sizes, inner)]), IS_TOO_LARGE)
        empty = reduce(builder.or_, [builder.icmp_signed("==", size, size.type(0)) for size in (*sizes, inner)])
        with builder.if_then(empty, likely=False):
            kind, data, _ = self.c
            bytes_each = self.context.get_abi_sizeof(self.context.get_data_type(kind.dtype))
            cgutils.memset(builder, data, builder.mul(reduce(builder.mul, sizes), inner.type(bytes_each)), 0)
            builder.ret(CODE(0))
        if rows is None or columns is None:
            matrix, vector = (self.b, self.a) if rows is None else (self.a, self.b)
            self._times_vector(matrix, vector, is_left=rows is None)
        else:
            self._of_matrices(rows, columns, inner)
        builder.ret(CODE(0))

    def _leave(self, failed: Any, code: int) -> None:
        with self.builder.if_then(failed, likely=False):
            self.builder.ret(CODE(code))

    def _of_matrices(self, rows: Any, columns: Any, inner: Any) -> None:
        builder, (kind, a, a_sizes), (b_kind, b, b_sizes), (c_kind, c, c_sizes) = self.builder, self.a, self.b, self.c
        is_row, is_column = (builder.icmp_signed("==", size, size.type(1)) for size in (rows, columns))
        with builder.if_else(is_column) as (column, wide):
            with column, builder.if_else(is_row) as (number, high):
                with number:
                    call_xxdot(self.context, builder, False, kind.dtype, inner, a, b, c)
                with high:
                    self._times_vector(self.a, self.b, is_left=False)
            with wide, builder.if_else(is_row) as (row, large):
                with row:
                    self._times_vector(self.b, self.a, is_left=True)
                with large:
                    call_xxgemm(self.context, builder, kind, a_sizes, a, b_kind, b_sizes, b, c_kind, c_sizes, c)

    def _times_vector(self, matrix: Any, vector: Any, is_left: bool) -> None:
        """A matrix times a vector; or a vector, which is left, times a matrix: that is the turned matrix times it."""
        kind, data, sizes = matrix
        call_xxgemv(self.context, self.builder, (kind.layout == "F") == is_left, kind, sizes, data, vector[1],
                    self.c[1])
