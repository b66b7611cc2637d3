"""Names of derivatives: those of `x` are called `dx`. In a function that has derivatives already, whose `dx` is one of
them, or where something is called `dx` beside `x`, tangents are called `x_dot` and cotangents `x_bar`, as in the books.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..core.builder import Builder
from ..core.grammar import Atom, Function, Let, Var
from ..core.naming import FIRST, PART, derived
from ..core.walk import all_definitions, all_statements, reachable


def derivative_name(atom: Atom, builder: Builder) -> str | None:
    """What the tangent or cotangent of a variable is called; nothing, where that has no name.

    >>> from ..core.types import FLOAT
    >>> derivative_name(Var(FLOAT, "x"), Builder())
    'dx'
    """
    return derived(atom.name, builder.derivatives.pattern) if isinstance(atom, Var) and atom.name else None


def name_after(derivative: Var, primal: Var, builder: Builder) -> None:
    """Says whose derivative a variable is."""
    derivative.primal, derivative.pattern = primal, builder.derivatives.pattern


def name_as_part(derivative: Var, primal: Var, builder: Builder) -> None:
    """Says that a cotangent was not all that there is of a variable: what is all of it has the name first."""
    if derivative.primal is primal:
        derivative.primal, derivative.pattern = None, PART
    elif derivative.primal is not None and derivative.name == derivative_name(primal, builder) != (
            derivative_name(derivative.primal, builder)):
        derivative.name = None


@contextmanager
def named_apart(function: Function, builder: Builder, pattern: str) -> Iterator[None]:
    """Derivatives of a function are named so that they differ from derivatives in it."""
    outer, builder.derivatives.pattern = builder.derivatives.pattern, pattern_for(function, pattern)
    try:
        yield
    finally:
        builder.derivatives.pattern = outer


def pattern_for(function: Function, pattern: str) -> str:
    functions = reachable(function)
    is_taken = any(map(_has_derivatives, functions)) or any(map(_has_names_of_derivatives, functions))
    return pattern if is_taken else FIRST


def _has_names_of_derivatives(function: Function) -> bool:
    """Whether a step or a slope, say, is called `dx`, and what it is one of `x`."""
    names = {var.name for var in (*function.params, *all_definitions(function.body)) if var.name}
    return any(derived(name) in names for name in names)


def _has_derivatives(function: Function) -> bool:
    return any(target.primal is not None for stmt in all_statements(function.body) if isinstance(stmt, Let)
               for target in stmt.targets)
