"""Which function computes what: by NumPy's name and the dtype."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from . import (
    exponential,
    hyperbolic,
    inverse,
    inverse_error,
    inverse_hyperbolic,
    logarithm,
    power,
    roots,
    rounded,
    special,
    trigonometric,
)

MODULES = (exponential, logarithm, trigonometric, inverse, hyperbolic, inverse_hyperbolic, special, inverse_error,
           power, roots, rounded)
NAMES = """exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh arcsin arccos arctan arctan2
           arcsinh arccosh arctanh expit erf erfc power cbrt hypot""".split()
SUFFIXES: dict[Any, str] = {np.dtype("f4"): "_f32", np.dtype("f8"): "_f64"}


def _function(name: str, suffix: str) -> Callable[..., Any]:
    return next(getattr(module, name + suffix) for module in MODULES if hasattr(module, name + suffix))


TABLE: dict[str, dict[np.dtype, Callable[..., Any]]] = {
    name: {dtype: _function(name, suffix) for dtype, suffix in SUFFIXES.items()} for name in NAMES}

# With those that are not as accurate as they could be, since other digits are wanted, or fewer.
FORMS: dict[str, dict[np.dtype, Callable[..., Any]]] = {
    **TABLE, **{name: {dtype: _function(name, suffix) for dtype, suffix in SUFFIXES.items()}
                for name in ("erf_inv", "to_float16", "to_bfloat16")}}

# How numba compiles them: products and sums may be fused, they become part of their callers, and Python does
# not call them.
COMPILED: dict[str, Any] = {"error_model": "numpy", "nogil": True, "fastmath": {"contract"}, "forceinline": True,
                            "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def source_of(names: Iterable[str]) -> str:
    """The definitions of functions such as `exp_f32`, behind those that they call."""
    from ..printing.functions import Functions
    functions = Functions(set())
    for name in names:
        functions.named(_by_name(name), np.dtype(float))
    return functions.source()


def _by_name(name: str) -> Callable[..., Any]:
    return next(getattr(module, name) for module in MODULES if hasattr(module, name))


def compiled(name: str) -> Any:
    """A function such as `exp_f32`, compiled by numba, to be called by compiled code."""
    from numba import njit

    from ..printing.functions import Functions
    functions = Functions(set())
    functions.named(_by_name(name), np.dtype(float))
    namespace: dict[str, Any] = {}
    exec(compile(functions.source(), f"<{name}>", "exec"), namespace)
    for each in functions.trees:
        namespace[each] = njit(**COMPILED)(namespace[each])
    return namespace[name]
