"""Expressions of the driver as they are written for NumPy: the driver is Python, and is not compiled.

    number = np.float64(s) / t              inf where t is 0: Python's own number would raise
"""

from __future__ import annotations

import ast
from typing import Any

from ...core.grammar import Let, Var, type_of
from ...ops.arithmetic import Add, Cast, Multiply, Negative, Positive, Subtract
from ...ops.comparison import Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual
from ...ops.identity import Same
from ...ops.selection import Where
from ...write.expressions import dotted
from ..printing.hosted import Fixed
from ..printing.numbers import typed
from .placing import is_number

ALIKE = Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, Where, Same, Positive
ALIKE_IF_FLOATING = Add, Subtract, Multiply, Negative


def differs(stmt: Let) -> bool:
    """Whether numbers of Python's may raise, or grow, where those of NumPy do not."""
    type: Any = stmt.target.type
    if not stmt.op.elementwise or type.weak or stmt.op in ALIKE:
        return False
    if stmt.op is Cast:
        return _is_narrowed(type_of(stmt.args[0]), type)
    return type.dtype.kind in "iu" or type.dtype.kind in "fc" and stmt.op not in ALIKE_IF_FLOATING


def _is_narrowed(source: Any, target: Any) -> bool:
    """Whether a conversion to whole numbers may not keep the value."""
    return target.dtype.kind in "iu" and source.dtype.kind in "iuf" and not (
        source.dtype.kind in "iu" and target.dtype == "i8")


class OfNumpy(Fixed):
    """The same, where one operand at least has to be a number of NumPy's."""

    def value(self, stmt: Let) -> ast.expr:
        types: list[Any] = list(map(type_of, stmt.args))
        self.weak_too = all(type.weak for type in types)
        if stmt.op is Cast:
            return _typed(_typed(self.e.atom(stmt.args[0]), types[0].dtype), stmt.target.type.dtype)   # type: ignore[union-attr]
        return self.application(stmt)

    def atom(self, atom: Any, among: tuple[Any, ...] = ()) -> ast.expr:
        tree, type = self.e.atom(atom), type_of(atom)
        is_plain = type.weak and not self.weak_too or type.dtype.kind == "b"   # type: ignore[union-attr]
        return tree if is_plain else _typed(tree, type.dtype)            # type: ignore[union-attr]


def _typed(tree: ast.expr, dtype: Any) -> ast.expr:
    made = typed(tree, dtype)
    is_typed = isinstance(tree, ast.Call) and ast.dump(tree.func) == ast.dump(made.func)    # type: ignore[attr-defined]
    return tree if is_typed else made


class Fetched(Fixed):
    """The same, of arrays that are fetched from the device."""

    def atom(self, atom: Any, among: tuple[Any, ...] = ()) -> ast.expr:
        tree = super().atom(atom)
        is_fetched = isinstance(atom, Var) and not is_number(atom)
        return ast.Call(dotted("cp.asnumpy"), [tree], []) if is_fetched else tree
