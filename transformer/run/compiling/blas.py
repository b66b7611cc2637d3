"""`gemm` in code that numba compiles: a call of BLAS, whose operands may be parts of matrices, turned or not.

numba itself copies an operand whose rows are not next to each other in memory. This module imports numba, and is
imported when something is compiled.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

KINDS = {np.dtype("f4"): "s", np.dtype("f8"): "d", np.dtype("c8"): "c", np.dtype("c16"): "z"}


@cache
def call_of_blas() -> Any:
    """The same in compiled code for operands of which the rows, or the columns, are in one piece, and a factor that is
    not 0."""
    from numba.extending import intrinsic
    from numba.np.linalg import ensure_blas
    ensure_blas()

    of_numba: Any = intrinsic                          # its type is that of what it decorates

    @of_numba
    def call(context: Any, factor: Any, a: Any, b: Any, share: Any, c: Any) -> Any:
        from numba import types
        return types.void(factor, a, b, share, c), _generate

    return call


@cache
def compiled_gemm() -> Any:
    """The compiled form of `lower.printing.blas.gemm`."""
    from .dispatchers import for_any_layout
    call = call_of_blas()

    @for_any_layout
    def in_memory(a: Any) -> Any:
        made = np.empty(a.shape, a.dtype)
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                made[i, j] = a[i, j]
        return made

    @for_any_layout
    def has_rows(a: Any) -> bool:
        return a.strides[1] == a.itemsize and a.strides[0] >= a.itemsize * a.shape[1]

    @for_any_layout
    def has_columns(a: Any) -> bool:
        return a.strides[0] == a.itemsize and a.strides[1] >= a.itemsize * a.shape[0]

    @for_any_layout
    def gemm(factor: Any, a: Any, b: Any, share: Any, c: Any) -> None:
        if c.shape[0] == 0 or c.shape[1] == 0:
            return
        are_matrices = (has_rows(a) or has_columns(a)) and (has_rows(b) or has_columns(b)) and has_rows(c)
        if factor != 0 and are_matrices:
            call(factor, a, b, share, c)
            return
        made = np.empty(c.shape, c.dtype)
        call(1, in_memory(a), in_memory(b), 0, made)                     # 0 times infinity is nan, but not for BLAS
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] = factor * made[i, j] if share == 0 else factor * made[i, j] + share * c[i, j]

    return gemm


def _generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The call. BLAS takes matrices by columns: it multiplies them the other way round, each turned."""
    return _Call(context, builder, signature).made(args)


class _Call:
    def __init__(self, context: Any, builder: Any, signature: Any) -> None:
        from llvmlite import ir
        self.context, self.builder, self.signature = context, builder, signature
        self.dtype = signature.args[4].dtype
        self.char, self.word, self.address = ir.IntType(8), ir.IntType(64), ir.IntType(8).as_pointer()

    def made(self, args: Any) -> Any:
        from llvmlite import ir
        from numba.core import cgutils
        from numba.np.numpy_support import as_dtype
        factor, share = (self._number(args[k], self.signature.args[k]) for k in (0, 3))
        a, b, c = (self._array(args[k], self.signature.args[k]) for k in (1, 2, 4))
        (rows, inner), (_, columns) = (cgutils.unpack_tuple(self.builder, each.shape) for each in (a, b))
        turned_a, apart_a = self._layout(a)
        turned_b, apart_b = self._layout(b)
        _, apart_c = self._layout(c)
        function = cgutils.get_or_insert_function(self.builder.module, ir.FunctionType(ir.IntType(32), [
            self.char, self.char, self.char, self.word, self.word, self.word, self.address, self.address, self.word,
            self.address, self.word, self.address, self.address, self.word]), "numba_xxgemm")
        kind = self.char(ord(KINDS[as_dtype(self.dtype)]))
        failed = self.builder.call(function, [
            kind, turned_b, turned_a, columns, rows, inner, factor, self._memory(b), apart_b,
            self._memory(a), apart_a, share, self._memory(c), apart_c])
        from numba.np.linalg import check_blas_return
        check_blas_return(self.context, self.builder, failed)
        return self.context.get_dummy_value()

    def _number(self, value: Any, type: Any) -> Any:
        """Where a number lies, in the dtype of the matrices."""
        from numba.core import cgutils
        value = self.context.cast(self.builder, value, type, self.dtype)
        slot = cgutils.alloca_once_value(self.builder, value)
        return self.builder.bitcast(slot, self.address)

    def _array(self, value: Any, type: Any) -> Any:
        return self.context.make_array(type)(self.context, self.builder, value)

    def _memory(self, array: Any) -> Any:
        return self.builder.bitcast(array.data, self.address)

    def _layout(self, array: Any) -> tuple[Any, Any]:
        """Whether BLAS has to turn a matrix (a letter), and by how many elements its rows or columns are apart."""
        from numba.core import cgutils
        builder = self.builder
        shape, strides = (cgutils.unpack_tuple(builder, each) for each in (array.shape, array.strides))
        by_rows = builder.and_(builder.icmp_signed("==", strides[1], array.itemsize), builder.icmp_signed(
            ">=", strides[0], builder.mul(array.itemsize, shape[1])))
        apart = builder.sdiv(builder.select(by_rows, strides[0], strides[1]), array.itemsize)
        none = builder.icmp_signed("<", apart, self.word(1))             # which BLAS refuses, for rows of nothing too
        return (builder.select(by_rows, self.char(ord("n")), self.char(ord("t"))),
                builder.select(none, self.word(1), apart))
