"""The iterations of `fixed_point`, as they are run and as they are read.

The first step stands before the loop: what all steps have in common is then computed there.
"""

from __future__ import annotations

import numpy as np


def iterated(step, start, parameters, tolerance, most):
    """``x = step(x, *parameters)`` until x changes by no more than `tolerance`."""
    previous = start
    x = step(start, *parameters)
    steps = 1
    while change(x, previous) > tolerance:
        if steps == most:
            raise RuntimeError(f"fixed_point: no convergence in {most} steps")
        previous = x
        x = step(x, *parameters)
        steps += 1
    return x


def iterated_derivative(step, start, parameters, tolerance, most):
    """``dx = step(dx, *parameters)``, which is linear, until dx changes by no more than that part of `start`."""
    limit = tolerance * change(start, 0)
    previous = start
    dx = step(start, *parameters)
    steps = 1
    while change(dx, previous) > limit:
        if steps == most:
            raise RuntimeError(f"fixed_point: no convergence of a derivative in {most} steps")
        previous = dx
        dx = step(dx, *parameters)
        steps += 1
    return dx


def change(x, previous):
    return abs(x - previous) if np.ndim(x) == 0 else np.max(np.abs(x - previous))
