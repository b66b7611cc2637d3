"""Numbers of 16 bits in kernels, which load and store them and compute in float32. float16 the compiler knows;
bfloat16 it does not: its arrays are those of their bits, and conversions are functions.

    fill_y[over_threads(n)](n, x.view(np.uint16), y.view(np.uint16))     in the driver

    y[i] = bits_of(number_of(x[i]) * np.float32(2.0))                    in the kernel
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.grammar import Let, Var, type_of
from ...core.halves import BFLOAT16, FLOAT32
from ...core.sizes import Extent
from ...core.types import ArrayType
from ...ops.arithmetic import Cast
from ...write.expressions import dotted
from ..printing.numbers import converted, dtype_tree
from ..printing.source import Printer

BITS = np.dtype(np.uint16)


def number_of(bits: Any) -> Any:
    """The number whose bfloat16 has these bits."""
    return np.uint32(np.uint32(bits) << np.uint32(16)).view(np.float32)


def bits_of(x: Any) -> Any:
    """The bits of the bfloat16 next to a number, of two the even one."""
    if x != x:
        return np.uint16(32704)
    bits = np.float32(x).view(np.uint32)
    return np.uint16((bits + np.uint32(32767) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16))


def dtype_in_kernels(dtype: Any) -> ast.expr:
    """The dtype of what a kernel allocates."""
    return dtype_tree(BITS if dtype is BFLOAT16 else dtype)


class Halves(Printer):
    """Prints what launches hand over, and conversions in kernels."""

    in_kernel = True

    def of_range(self, size: Extent) -> Extent:
        """As it is: kernels count without signs."""
        return size

    def handed(self, names: Iterable[str]) -> list[ast.expr]:
        """What a kernel is given, by the names of the driver: of bfloat16 the bits, of arrays and of numbers."""
        brains = {name for var, name in self.names.of.items() if _is_brain(var)}
        return [_bits(ast.Name(name)) if name in brains else ast.Name(name) for name in names]

    def value(self, stmt: Let) -> ast.expr:
        tree = super().value(stmt)
        if stmt.op is not Cast or not self.in_kernel:
            return tree
        source, target = type_of(stmt.args[0]).dtype, stmt.target.type.dtype             # type: ignore[union-attr]
        if BFLOAT16 not in (source, target) or source == target:
            return tree
        number = self.atom(stmt.args[0])
        if source == BFLOAT16:
            return converted(self._called(number_of, number), FLOAT32, target)
        return self._called(bits_of, converted(number, source, FLOAT32))

    def _called(self, form: Any, tree: ast.expr) -> ast.expr:
        return ast.Call(ast.Name(self.numbers.functions.called(form, FLOAT32)), [tree], [])


def _is_brain(var: Any) -> bool:
    return isinstance(var, Var) and isinstance(var.type, ArrayType) and var.type.dtype is BFLOAT16


def _bits(tree: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(tree, "view"), [dotted("np.uint16")], [])
