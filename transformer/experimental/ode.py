"""Ordinary differential equations of pytrees, as `jax.experimental.ode`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scipy.integrate

from ..flatten_util import ravel_pytree
from ..lax.control import stack_trees
from ..taking import taking_arrays

__all__ = ["odeint"]


@taking_arrays
def odeint(func: Callable[..., Any], y0: Any, t: Any, *args: Any, rtol: float = 1.4e-8, atol: float = 1.4e-8,
           mxstep: Any = None, hmax: Any = None) -> Any:
    """The solution of `dy/dt = func(y, t, *args)` with `y = y0` at `t[0]`, at all times in `t`, along the first axes of
    the leaves. As `jax.experimental.ode.odeint`; y is a pytree.

    It is found by `scipy.integrate.odeint`. In a derivative, that is a method of Runge and Kutta of the same tolerance,
    and what is differentiated are its steps; in JAX, an equation for the cotangents is solved. `mxstep` and `hmax`
    change nothing.

    >>> import numpy as np
    >>> np.round(odeint(lambda y, t, rate: -rate * y, 1.0, np.array([0.0, 1.0]), 2.0), 6)
    array([1.      , 0.135335])
    """
    start, back = ravel_pytree(y0)

    def slope(y: Any, time: Any) -> Any:
        return ravel_pytree(func(back(y), time, *args))[0]

    states = scipy.integrate.odeint(slope, start, t, rtol=rtol, atol=atol)
    rows = []
    for k in range(len(t)):
        rows.append(back(states[k]))
    return stack_trees(rows)
