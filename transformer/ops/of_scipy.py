"""Elementwise functions that scipy computes, each declared in a line or two: its call, and its partial derivatives.

    J0 = declare("j0(x)", lambda t, x, y: -t * special.j1(x))

makes the op of `scipy.special.j0`: a class like those that are written out, in the module that declares it.
Functions with several results state all slopes together, one function for each operand:

    Sici = declare_several("sici(x)", lambda x, y: (special.spherical_jn(0, x), np.cos(x) / x))
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

from ..core.builder import current
from ..core.errors import NotDifferentiable, NotSupported
from ..core.grammar import Var
from .base import callable_of
from .creation import Zeros
from .elementwise import Elementwise, constant
from .value import Value, apply

OF_SCIPY = None, "scipy computes it"


class _Special:
    """Stands for `scipy.special` in rules: ``special.erf(x)`` emits Core for a `Value`."""

    def __getattr__(self, name: str) -> Any:
        return partial(_call, f"scipy.special.{name}")


def _call(name: str, *operands: Any) -> Any:
    from .table import lookup
    if not any(isinstance(operand, Value) for operand in operands):
        return callable_of(name)(*operands)
    found = lookup(name)
    assert found is not None, name
    return apply(found[0], operands, {}, name)


special = _Special()


def declaring(module: str) -> Callable[..., type[Elementwise]]:
    """A function that makes ops of a module: ``declare("jv(v, z)", *partials, where=...)``."""
    def declare(call: str, *partials: Any, where: Any = "real") -> type[Elementwise]:
        return _op(module, call, partials=partials, where=where)
    return declare


def declaring_several(module: str) -> Callable[..., type[Elementwise]]:
    """The same for functions with several results: ``declare_several("sici(x)", *slopes, where=...)``."""
    def declare_several(call: str, *slopes: Any, where: Any = "real") -> type[Elementwise]:
        return _op(module, call, jvp=tuple(partial(_pushed, slope) for slope in slopes),
                   vjp=tuple(partial(_pulled, slope) for slope in slopes), where=where)
    return declare_several


def _op(module: str, call: str, **facets: Any) -> type[Elementwise]:
    name, _, operands = call.rstrip(")").partition("(")
    body = {"__module__": module, "name": name, "calls": (f"scipy.special.{name}",), "loop": OF_SCIPY,
            "operands": tuple(operands.split(", ")), **facets}
    return type(name.title().replace("_", ""), (Elementwise,), body)


def _pushed(slope: Any, t: Any, *operands_and_results: Any) -> Any:
    return tuple(t * each for each in slope(*operands_and_results))


def _pulled(slope: Any, dy: Any, *operands_and_results: Any) -> Any:
    """Results that nobody uses are left out: 0 times a slope that is infinite would be nan."""
    terms = [d * each for d, each in zip(dy, slope(*operands_and_results), strict=True) if not _is_zero(d)]
    return reduce(operator.add, terms)


def _is_zero(cotangent: Any) -> bool:
    """Whether a cotangent is known to be 0: nobody uses the result."""
    if isinstance(cotangent, Value) and isinstance(cotangent.atom, Var):
        made = current().numbering.definitions.get(cotangent.atom)
        return made is not None and made.op is Zeros
    return bool(constant(cotangent) == 0)


# -- what rules are made of -----------------------------------------------------------------------


def no_order(t, n, *rest):
    raise NotDifferentiable("the derivative with respect to the order of a special function is not supported",
                            why="Only integer orders are supported.", instead="Pass an int.")


def no_parameter(name: str, function: str) -> Any:
    """The rule of a parameter for which no formula is known that would be right everywhere."""
    def refuse(t, *operands_and_result):
        raise NotSupported(f"the derivative of {function} with respect to its argument {name!r} is not supported",
                           why="SciPy has no function that computes it.",
                           instead=f"Use stop_gradient on {name} to treat it as a constant.")
    return refuse


def only_of_real(function: str, rule: Any) -> Any:
    """A rule of a function that is not analytic: it is scaled by a real part or an absolute value."""
    def real(t, *operands_and_result):
        if operands_and_result[-1].dtype.kind == "c":
            raise NotSupported(f"the derivative of {function} for complex arguments is not supported",
                               why="It is scaled by an absolute value, so it is not analytic.",
                               instead="Use the function without the scale, which has a derivative.")
        return rule(t, *operands_and_result)
    return real


def above(n):
    """`n + 1`, as a number where it is one."""
    known = constant(n)
    return n + 1 if known is None else known + 1


def below(n):
    """`n - 1`, as a number where it is one."""
    known = constant(n)
    return n - 1 if known is None else known - 1
