"""`jax.scipy.optimize`: `minimize` by BFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..api import value_and_grad
from ..taking import taking_arrays

__all__ = ["OptimizeResults", "minimize"]

STEPS = 20                      # of a line search
DECREASE, CURVATURE = 1e-4, 0.9


class OptimizeResults(NamedTuple):
    """What `minimize` gives. `status` is 0 at a minimum, 1 after too many steps, and 3 where no step went down."""

    x: Any
    success: Any
    status: Any
    fun: Any
    jac: Any
    hess_inv: Any
    nfev: Any
    njev: Any
    nit: Any


@taking_arrays
def minimize(fun: Callable[..., Any], x0: Any, args: tuple[Any, ...] = (), *, method: str = "BFGS",
             tol: float | None = None, options: Any = None) -> OptimizeResults:
    """A minimum of a function of a vector, by BFGS with the gradient of `fun`. As `jax.scipy.optimize.minimize`, and to
    its accuracy; the way there is another one.

    Args:
        args: further arguments of `fun`.
        tol: the search ends where the gradient is at most this; 1e-5 by default, or the option `gtol`.
        options: `gtol`, `maxiter` (by default 200 times the number of unknowns), and `norm` of the gradient (its
            greatest element by default).

    Derivatives are those of the steps. J. Nocedal, S. J. Wright, Numerical Optimization (2006), 3.5 and 6.1.

    >>> minimize(lambda x: np.sum((x - 1.0) ** 2), np.zeros(2), method="BFGS").x
    array([1., 1.])
    """
    if method.lower() != "bfgs":
        raise ValueError(f"minimize has the method 'BFGS', not {method!r}")
    chosen = {} if options is None else dict(options)
    least = chosen.get("gtol", 1e-5 if tol is None else tol)
    most = chosen.get("maxiter", 200 * len(x0))
    norm = chosen.get("norm", np.inf)
    both = value_and_grad(fun)
    x = x0 + 0.0
    value, slope = both(x, *args)
    inverse = np.eye(len(x), dtype=x.dtype)
    calls, steps, is_stuck = 1, 0, False
    while np.linalg.norm(slope, norm) > least and steps < most and not is_stuck:
        way = -(inverse @ slope)
        length, tries = _length(both, x, args, value, slope, way)
        calls += tries
        is_stuck = length == 0
        if length > 0:
            before = slope
            x = x + length * way
            value, slope = both(x, *args)
            calls += 1
            inverse = _corrected(inverse, length * way, slope - before, steps == 0)
            steps += 1
    success = np.linalg.norm(slope, norm) <= least
    status = np.where(success, 0, np.where(is_stuck, 3, 1))
    return OptimizeResults(x, success, status, value, slope, inverse, calls, calls, steps)


def _length(both: Callable[..., Any], x: Any, args: Any, value: Any, slope: Any, way: Any) -> Any:
    """How far to go so that the function falls enough, and its slope flattens (strong Wolfe conditions), by bisection;
    0 if there is no such place. And after how many calls."""
    steepness = slope @ way
    low, high, length = 0.0, np.inf, 1.0
    best, tries, is_found = 0.0, 0, False
    while tries < STEPS and not is_found:
        there, slope_there = both(x + length * way, *args)
        tries += 1
        along = slope_there @ way
        if not there <= value + DECREASE * length * steepness or along > -CURVATURE * steepness:
            high = length
            if there < value:
                best = length
        elif along < CURVATURE * steepness:
            low = length
            best = length
        else:
            best = length
            is_found = True
        if not is_found:
            length = 2 * low if np.isinf(high) else (low + high) / 2
    return best, tries


def _corrected(inverse: Any, step: Any, change: Any, is_first: Any) -> Any:
    """The inverse of the Hessian after a step, if that says that it is positive."""
    product = step @ change
    if product <= 0:
        return inverse
    if is_first:
        inverse = inverse * (product / (change @ change))
    turned = inverse @ change
    outer = np.outer(step, turned)
    return inverse + (1 + change @ turned / product) * np.outer(step, step) / product - (outer + outer.T) / product
