"""Which callable computes one element of an elementwise op: its loop form.

An op may state it in ``loop``: a callable, or a table from the kinds of dtypes to callables (``{"iu": f, "f": g}``).
Where it says nothing of a kind, it has the form that its calls suggest: the operator, the function of `math` for
floating-point numbers, the ufunc for complex ones. A callable is one that numba compiles by itself (of `operator`,
`math` or `np`), or a plain function, of which generated code gets a copy.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

# What numba knows of `math`, and gives the results of C, where Python raises.
OF_MATH = frozenset("sqrt exp expm1 exp2 log log1p log2 log10 sin cos tan asin acos atan atan2 sinh cosh tanh "
                    "asinh acosh atanh hypot erf erfc gamma lgamma fabs copysign floor ceil trunc isinf "
                    "isfinite isnan".split())
OPERATORS = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.floordiv: "//",
    operator.mod: "%", operator.pow: "**", operator.and_: "&", operator.or_: "|", operator.xor: "^",
    operator.lshift: "<<", operator.rshift: ">>", operator.neg: "-", operator.pos: "+",
    operator.invert: "~", operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=",
    operator.eq: "==", operator.ne: "!=", operator.not_: "not",
}


def joined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a loop form without branches that LLVM joins to what calls it, however long it is, so that loops around it
    vectorise. Until then it is a function of its own: LLVM sees in a short one that words of 32 bits are enough."""
    function.is_joined = True                                            # type: ignore[attr-defined]
    return function


def loop_of(op: Any, kind: str) -> Callable[..., Any] | None:
    """The loop form of an op for operands of a kind; None where it has none."""
    own = op.loop
    if isinstance(own, dict):
        own = next((form for kinds, form in own.items() if kind in kinds), None)
    if isinstance(own, tuple):
        return None
    return own if own is not None else _suggested(op, kind)


def _suggested(op: Any, kind: str) -> Callable[..., Any] | None:
    for call in op.calls:
        if call in OPERATORS:
            return call
        if kind == "f" and is_of(math, call) and call.__name__ in OF_MATH:
            return call
    if kind == "c" and op.calls and isinstance(op.calls[0], np.ufunc):
        return op.calls[0]
    return None


def is_of(module: Any, call: Any) -> bool:
    """Whether a callable is what a module has by its name."""
    name = getattr(call, "__name__", "")
    return getattr(module, name, None) is call


def missing(op: Any) -> str | None:
    """Why an op declares that it has no loop form: it is computed by a library."""
    return op.loop[1] if isinstance(op.loop, tuple) and op.loop[0] is None else None
