"""Machine code of `x.ravel()` and `x.reshape(n, m)` of contiguous arrays: a record of the same memory.

numba compiles several functions for each, with copies that are not made, tests that cannot fail and texts for them,
which takes longer than the loops that use the result. Arrays that lie otherwise are left to it.

This module imports numba, and is imported when something is compiled.
"""

from __future__ import annotations

from functools import reduce
from itertools import accumulate
from typing import Any

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.core.lowering import Lower
from numba.np.arrayobj import make_array, populate_array

from .borrowed import Borrowed, borrowed, parts_of

base: Any = Lower
METHODS = "array.ravel", "array.reshape"


class RaveledArrays(base):
    """Arrays in one piece, and their numbers under other sizes."""

    def _lower_call_normal(self, function: Any, expr: Any, signature: Any) -> Any:
        method = getattr(function, "typing_key", None) if isinstance(function, types.BoundFunction) else None
        array, made = signature.recvr, signature.return_type
        if method not in METHODS or array.layout != "C" or not made.ndim:
            return super()._lower_call_normal(function, expr, signature)
        value = self.loadvar(expr.func.name)
        data, given, _ = parts_of(self.context, self.builder, array, value)
        count = reduce(self.builder.mul, given)
        sizes = [count] if method == "array.ravel" else self._sizes(function, expr, signature)
        if method == "array.reshape":
            differ = self.builder.icmp_signed("!=", reduce(self.builder.mul, sizes), count)
            with cgutils.if_unlikely(self.builder, differ):
                self.return_exception(ValueError, ("cannot reshape array",), loc=self.loc)
        if isinstance(made, Borrowed):
            return self.context.data_model_manager[made].from_argument(self.builder, (data, sizes))
        return self._seen_as(make_array(array)(self.context, self.builder, value), made, sizes)

    def _sizes(self, function: Any, expr: Any, signature: Any) -> list[Any]:
        """The sizes that a call of `reshape` is given, one by one or as a tuple."""
        given = self.fold_call_args(function, signature, expr.args, expr.vararg, expr.kws)
        found: list[Any] = []
        kind: Any
        for kind, value in zip(signature.args, given, strict=True):
            is_tuple = isinstance(kind, types.BaseTuple)
            values = cgutils.unpack_tuple(self.builder, value, len(kind)) if is_tuple else [value]
            found += [self.context.cast(self.builder, size, own, types.intp)
                      for size, own in zip(values, kind if is_tuple else [kind], strict=True)]
        return found

    def _seen_as(self, value: Any, made: Any, sizes: list[Any]) -> Any:
        """A record of the same memory with other sizes."""
        result = make_array(made)(self.context, self.builder)
        strides = list(accumulate(sizes[:0:-1], self.builder.mul, initial=value.itemsize))[::-1]
        populate_array(result, data=value.data, shape=sizes, strides=strides, itemsize=value.itemsize,
                       meminfo=value.meminfo, parent=value.parent)
        return impl_ret_borrowed(self.context, self.builder, made, result._getvalue())


def of_same_memory(function: Any, signature: Any) -> Any:
    """The types of a call, where its result is a borrowed array under other sizes."""
    receiver = getattr(signature, "recvr", None)
    if not isinstance(receiver, Borrowed) or receiver.layout != "C" or function.typing_key not in METHODS:
        return signature
    return signature.replace(return_type=borrowed(signature.return_type))
