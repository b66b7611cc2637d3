"""The table of all ops: which op a callable, a method or a name means, and how it is spelled."""

from __future__ import annotations

import builtins
import importlib
import math
import operator
import sys
from functools import cache
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.grammar import Atom, type_of
from ..core.halves import is_bfloat16_class
from .base import Op
from .registry import registry

FAMILIES = ("identity", "arithmetic", "rounding", "powers", "elementary", "comparison", "selection", "logic",
            "reduction", "shape", "broadcasting", "extents", "axes", "joining", "splitting", "literals", "arrangement",
            "borders", "diagonals", "creation", "ranges", "products", "outer_products", "einsum", "searching",
            "sorting", "samples", "triangles", "factorizations", "indexing", "linear_algebra", "fourier",
            "fourier_several", "singular_values", "eigenvalues", "triangular", "lu", "least_squares",
            "matrix_functions", "special", "bessel", "gamma_family", "hypergeometric", "integrals", "orthogonal",
            "distributions", "box_cox", "losses", "statistics", "missing", "norms", "number_theory", "complex_numbers",
            "scans", "sequences", "saved", "collectives", "across_lanes", "exchanges", "random_bits", "inverse_error",
            "rounded")


@cache
def _classes() -> tuple[type[Op], ...]:
    """The classes of all families that stand for something callable or for an op of Core."""
    classes = []
    for family in FAMILIES:
        module = importlib.import_module("." + family, __package__)
        classes += [value for value in vars(module).values() if isinstance(value, type)
                    and issubclass(value, Op) and value.__module__ == module.__name__]
    return tuple(classes)


@cache
def ops() -> dict[str, type[Op]]:
    """All ops of Core by name, family by family."""
    table: dict[str, type[Op]] = {}
    for value in _classes():
        if hasattr(value, "types"):
            assert value.name not in table, f"two ops are called {value.name}"
            table[value.name] = value
    return table


@cache
def _callables() -> dict[Any, type[Op]]:
    return {call: op for op in _classes() for call in op.calls}


@cache
def _methods() -> dict[str, type[Op]]:
    return {name: op for op in _classes() for name in op.methods}


def method(name: str) -> type[Op] | None:
    """The op of an array method or property: ``method("sum")``."""
    return _methods().get(name)


def lookup(function: Any) -> tuple[type[Op], str | None] | None:
    """The op that a callable resolves to and how it was spelled; None when there is none."""
    table = _callables()
    try:
        defined = registry.by_function.get(function)
        if defined is not None:
            return defined, defined.spelling
        if is_bfloat16_class(function):                      # its library is imported by those who use it
            return table[np.float16], "ml_dtypes.bfloat16"
        op = table.get(function) or table.get(_scipy_name(function))
    except TypeError:                                        # not hashable
        return None
    return None if op is None else (op, spelling_of(function))


OF_SCIPY = ("special", "linalg", "fft")


def _scipy_name(function: Any) -> str:
    """``"scipy.special.erf"``: scipy is imported by those who use it, so its functions go by name."""
    name = getattr(function, "__name__", "")
    for part in OF_SCIPY:
        module = sys.modules.get(f"scipy.{part}")
        if module and getattr(module, name, None) is function:
            return f"scipy.{part}.{name}"
    return ""


@cache
def spelling_of(function: Any) -> str | None:
    """How a call of `function` is printed: ``np.sin``, ``math.sin``, ``abs``; None for an operator."""
    name = getattr(function, "__name__", "")
    if getattr(operator, name, None) is function and function is not abs:
        return None
    for home, prefix in HOMES:
        if getattr(home, name, None) is function:
            return prefix + name
    return _scipy_name(function) or None


HOMES = ((builtins, ""), (np, "np."), (np.linalg, "np.linalg."), (np.fft, "np.fft."), (np.add, "np.add."),
         (math, "math."))


def spelled(op: type[Op], atoms: tuple[Atom, ...], spelling: str | None) -> str | None:
    """The spelling of an application in a rule: the primal's family decides between np and math."""
    if spelling is not None and spelling.startswith("np.") and current().derivatives.family == "math":
        twin = _math_twin(op)                          # type: ignore[arg-type]
        if twin and all(_is_real_number(type_of(atom)) for atom in atoms):
            return twin
    return spelling


def _is_real_number(type: Any) -> bool:
    return not getattr(type, "sizes", (1,)) and type.dtype.kind in "fiu"


@cache
def _math_twin(op: type[Op]) -> str | None:
    for function in op.calls:
        name = getattr(function, "__name__", "")
        if getattr(math, name, None) is function:
            return f"math.{name}"
    return None
