"""Calls in kernels whose types and machine code are known here: numba would compile a function of its own for each type
of arguments (`np.dot` a tenth of a second, `np.empty` half of that), and LLVM optimise it and bring it in.

| call | for |
|---|---|
| `np.dot(a, b, c)` | matrices and vectors in one piece (`dots`) |
| `np.empty(sizes, dtype)`, `np.zeros` | numbers |
| `x.copy()` | an array in one piece |
| `x.view(dtype)` | the bits of a number |
| `min(n, m)`, `max(n, m)` | integers |
| `x * y` | complex numbers |
| `x + y`, `x < y`, … | two numbers of one type (`arithmetic`) |

All others are left to numba. This module imports numba, and is imported when something is compiled.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from llvmlite import ir as llvm
from numba.core import cgutils, types
from numba.core.lowering import Lower
from numba.core.typing import signature
from numba.np.arrayobj import make_array, populate_array

from .arithmetic import rule_of_operator
from .borrowed import NUMBERS, in_one_piece, parts_of
from .dots import dot, is_product

base: Any = Lower
typed: Any = signature
PRODUCTS = operator.mul, operator.imul
MINDS_INFINITIES = sys.version_info >= (3, 14)
SURELY_FEW = 1 << 32                   # elements of 16 bytes, whose number is far from leaving 64 bits
Maker = Callable[[Any, Any, Any], Any]           # of a builder, a signature and values, given the lowering


class DirectCalls(base):
    """Their machine code."""

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        kinds = self.fndesc.calltypes[expr]
        rule = rule_of_operator(op, kinds.args)
        if rule is None or self.context.error_model.raise_on_fp_zero_division:
            return self._lower_product(resty, expr, op)
        x, y = (self._cast_var(var, kind) for kind, var in zip(kinds.args, (expr.lhs, expr.rhs), strict=True))
        return self.context.cast(self.builder, rule[1](self.builder, x, y), kinds.return_type, resty)

    def _lower_product(self, resty: Any, expr: Any, op: Any) -> Any:
        """Products of complex numbers; as of Python 3.14 numba looks at what is infinite in them."""
        kinds, builder = self.fndesc.calltypes[expr], self.builder
        if op not in PRODUCTS or not all(isinstance(each, types.Complex) for each in kinds.args) or MINDS_INFINITIES:
            return super().lower_binop(resty, expr, op)
        x, y = (self.context.make_complex(builder, kind, value=self._cast_var(var, kind))
                for kind, var in zip(kinds.args, (expr.lhs, expr.rhs), strict=True))
        made = self.context.make_complex(builder, kinds.return_type)
        made.real = builder.fsub(builder.fmul(x.real, y.real), builder.fmul(x.imag, y.imag))
        made.imag = builder.fadd(builder.fmul(x.real, y.imag), builder.fmul(x.imag, y.real))
        return self.context.cast(builder, made._getvalue(), kinds.return_type, resty)

    def _lower_call_normal(self, function: Any, expr: Any, types_of_call: Any) -> Any:
        rule = rule_of(function, types_of_call.args)
        if rule is None:
            return super()._lower_call_normal(function, expr, types_of_call)
        _, make = rule
        values = self.fold_call_args(function, types_of_call, expr.args, expr.vararg, expr.kws)
        return make(self, types_of_call, [self.loadvar(expr.func.name), *values] if types_of_call.recvr else values)


def types_of(function: Any, args: Any) -> Any:
    """The types of a call or an operation that are known here; None for what is left to numba."""
    rule = rule_of(function, args) or rule_of_operator(getattr(function, "typing_key", None), args)
    return rule and rule[0]


def rule_of(function: Any, args: Any) -> tuple[Any, Maker] | None:
    """The types of a call with these arguments, and what makes its machine code; None for what is left to numba."""
    key = getattr(function, "typing_key", None)
    if key is np.dot and is_product(args):
        return typed(types.none, *args), dot
    if key in (np.empty, np.zeros) and len(args) in (1, 2) and _is_plain(*args):
        dtype = args[1].dtype if len(args) == 2 else types.float64
        return typed(types.Array(dtype, len(each_of(args[0])), "C"), *args), _empty if key is np.empty else _zeros
    if key in (min, max) and len(args) == 2 and all(types.unliteral(each) == types.intp for each in args):
        return typed(types.intp, types.intp, types.intp), _smaller if key is min else _larger
    if isinstance(function, types.BoundFunction) and key == "array.copy" and _is_in_one_piece(function.this):
        return typed(types.Array(function.this.dtype, function.this.ndim, "C"), recvr=function.this), _copied
    if isinstance(function, types.BoundFunction) and len(args) == 1 and _are_bits(function.this, *args):
        return typed(args[0].dtype, *args, recvr=function.this), _view
    return None


def each_of(kind: Any) -> tuple[Any, ...]:
    """The types of sizes or places: of several in a tuple, or of one alone."""
    of_several: Any = types.BaseTuple
    return tuple(kind) if isinstance(kind, of_several) else (kind,)


def _is_plain(sizes: Any, *dtype: Any) -> bool:
    """Whether an array is one of numbers, and its sizes are whole numbers of the processor's width."""
    return (all(isinstance(each, types.DTypeSpec) and isinstance(each.dtype, NUMBERS) for each in dtype)
            and len(each_of(sizes)) > 0 and all(types.unliteral(size) == types.intp for size in each_of(sizes)))


def _is_in_one_piece(array: Any) -> bool:
    return array.layout == "C" and array.aligned and array.ndim > 0 and isinstance(array.dtype, NUMBERS)


def _are_bits(number: Any, dtype: Any) -> bool:
    single: Any = (types.Float, types.Integer)
    return (isinstance(dtype, types.DTypeSpec) and isinstance(number, single) and isinstance(dtype.dtype, single)
            and number.bitwidth == dtype.dtype.bitwidth)


def _view(lower: Any, kinds: Any, values: Any) -> Any:
    made = lower.context.get_value_type(kinds.return_type)
    return values[0] if values[0].type == made else lower.builder.bitcast(values[0], made)


def _smaller(lower: Any, kinds: Any, values: Any) -> Any:
    first, second = values
    return lower.builder.select(lower.builder.icmp_signed("<", second, first), second, first)


def _larger(lower: Any, kinds: Any, values: Any) -> Any:
    first, second = values
    return lower.builder.select(lower.builder.icmp_signed(">", second, first), second, first)


def _empty(lower: Any, kinds: Any, values: Any) -> Any:
    return _allocated(lower, kinds, values)._getvalue()


def _zeros(lower: Any, kinds: Any, values: Any) -> Any:
    made, builder = _allocated(lower, kinds, values), lower.builder
    cgutils.memset(builder, made.data, builder.mul(made.nitems, made.itemsize), 0)
    return made._getvalue()


def _copied(lower: Any, kinds: Any, values: Any) -> Any:
    builder = lower.builder
    data, sizes, _ = parts_of(lower.context, builder, kinds.recvr, values[0])
    size = reduce(builder.mul, [*sizes, _bytes_each(lower, kinds.return_type)])
    made = _of_size(lower, kinds.return_type, sizes, size)
    cgutils.raw_memcpy(builder, made.data, data, size, 1)
    return made._getvalue()


def _allocated(lower: Any, kinds: Any, values: Any) -> Any:
    """An array in memory of its own. Sizes may be such that the number of bytes leaves 64 bits."""
    builder, kind = lower.builder, kinds.return_type
    is_single = isinstance(kinds.args[0], types.Integer)
    if is_single and isinstance(values[0], llvm.Constant) and 0 <= values[0].constant <= SURELY_FEW:
        return _of_size(lower, kind, [values[0]], builder.mul(values[0], _bytes_each(lower, kind)))
    sizes = [values[0]] if is_single else cgutils.unpack_tuple(builder, values[0], kind.ndim)
    is_negative = reduce(builder.or_, [builder.icmp_signed("<", size, size.type(0)) for size in sizes])
    with cgutils.if_unlikely(builder, is_negative):
        lower.return_exception(ValueError, ("negative dimensions not allowed",), loc=lower.loc)
    products = []

    def times(product: Any, size: Any) -> Any:
        products.append(builder.smul_with_overflow(product, size))
        return builder.extract_value(products[-1], 0)

    size = reduce(times, [*sizes, _bytes_each(lower, kind)])
    too_big = reduce(builder.or_, [builder.extract_value(each, 1) for each in products])
    with cgutils.if_unlikely(builder, too_big):
        lower.return_exception(ValueError, ("array is too big; `arr.size * arr.dtype.itemsize` is larger than the "
                                            "maximum possible size.",), loc=lower.loc)
    return _of_size(lower, kind, sizes, size)


def _bytes_each(lower: Any, kind: Any) -> Any:
    """How many an element has."""
    context = lower.context
    return context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))


def _of_size(lower: Any, kind: Any, sizes: Any, size: Any) -> Any:
    """An array in new memory of so many bytes."""
    context, builder = lower.context, lower.builder
    memory = context.nrt.meminfo_alloc_aligned(builder, size, context.get_preferred_array_alignment(kind.dtype))
    pointer = context.get_data_type(kind.dtype).as_pointer()
    bytes_each = _bytes_each(lower, kind)
    made = make_array(kind)(context, builder)
    populate_array(made, data=builder.bitcast(context.nrt.meminfo_data(builder, memory), pointer), shape=sizes,
                   strides=in_one_piece(builder, kind, sizes, bytes_each), itemsize=bytes_each, meminfo=memory)
    return made
