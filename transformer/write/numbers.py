"""Numbers, and names of NumPy, as expressions."""

from __future__ import annotations

import ast
from typing import Any

from ..core.halves import is_bfloat16


def of_numpy(name: str) -> ast.expr:
    """`np.zeros` for its name."""
    return ast.Attribute(ast.Name("np"), name)


def number_class(dtype: Any) -> ast.expr:
    """The class of the numbers of a dtype: `np.float64`."""
    return ast.Attribute(ast.Name("ml_dtypes"), "bfloat16") if is_bfloat16(dtype) else of_numpy(dtype.name)


def number(value: Any) -> ast.expr:
    """A Python number; a negative one as a minus sign and a number, as the parser has it."""
    if isinstance(value, complex):
        return _complex(value)
    if isinstance(value, float) and value != value:
        return of_numpy("nan")
    negative = not isinstance(value, bool) and (value < 0 or (value == 0 and str(value).startswith("-")))
    size = -value if negative else value
    tree = of_numpy("inf") if size == float("inf") else ast.Constant(size)
    return ast.UnaryOp(ast.USub(), tree) if negative else tree


def is_zero(tree: ast.expr) -> bool:
    """Whether an expression is the number 0, as written."""
    return isinstance(tree, ast.Constant) and tree.value == 0


def _complex(value: complex) -> ast.expr:
    is_minus = value.real == 0 and str(value).startswith("(-0-")         # -1j, as Python has it
    if value != value or abs(value) == float("inf") or str(value).startswith("(-0") and not is_minus:
        return ast.Call(ast.Name("complex"), [number(value.real), number(value.imag)], [])
    negative = str(value.imag).startswith("-")
    imaginary = ast.Constant(complex(0.0, abs(value.imag)))
    if value.real == 0:
        return ast.UnaryOp(ast.USub(), imaginary) if negative else imaginary
    return ast.BinOp(number(value.real), ast.Sub() if negative else ast.Add(), imaginary)
