"""Newton's method from many starts at once, as `scipy.optimize.newton` takes it of an array."""

from __future__ import annotations

import warnings

import numpy as np

from ..calls.given_functions import own, solved

EPS = 2.220446049250313e-16


def from_each(func, x0, fprime, args, tol, maxiter, fprime2):
    """All take their steps together, until the last one has arrived."""
    f, further = own(func, *args), [own(each, *args) for each in (fprime, fprime2) if each is not None]
    if not further:
        return solved(secants, f, x0, tol, maxiter)
    return solved(descents, f, *further, x0, tol, maxiter) if len(further) == 1 else \
        solved(descents_with_bends, f, *further, x0, tol, maxiter)


def descents(f, slope, x, tol, maxiter):
    return all_descended(f, slope, None, x, tol, maxiter)


def descents_with_bends(f, slope, bend, x, tol, maxiter):
    return all_descended(f, slope, bend, x, tol, maxiter)


def all_descended(f, slope, bend, x, tol, maxiter):
    steps, is_open, moves = 0, True, np.ones(x.shape, bool)
    fails = np.ones(x.shape, bool)
    while is_open and steps < maxiter:
        f_x, rise = f(x), slope(x)
        moves = rise != 0
        if not np.any(f_x):
            is_open, fails = False, np.zeros(x.shape, bool)
        elif not np.any(moves):
            is_open = False
        else:
            rise = np.where(moves, rise, 1.0)
            step = f_x / rise
            if bend is not None:
                step = step / (1.0 - 0.5 * step * bend(x) / rise)
            x = np.where(moves, x - step, x)
            fails = np.where(moves, np.abs(step) >= tol, fails)
            is_open = np.any(moves & fails)
            steps += 1
    said(~moves & fails, fails, "derivatives were zero", maxiter)
    return x


def secants(f, before, tol, maxiter):
    near = EPS**0.33
    x = before * (1 + near) + np.where(before >= 0, near, -near)
    f_before, f_x = f(before), f(x)
    steps, is_open, moves = 0, True, np.ones(x.shape, bool)
    is_active, fails = np.ones(x.shape, bool), np.ones(x.shape, bool)
    while is_open and steps < maxiter:
        moves = f_x != f_before
        if np.any(moves):
            step = f_x * (x - before) / np.where(moves, f_x - f_before, 1.0)
            middle = np.where(~moves & is_active, (x + before) / 2.0, before)
            after = np.where(moves, x - step, middle)
            is_active = is_active & moves
            fails = np.where(moves, np.abs(step) >= tol, fails)
            is_open = np.any(moves & fails)
            before, x, f_before = x, after, f_x
            if is_open:
                f_x = f(x)
        else:
            x, is_open = (x + before) / 2.0, False
        steps += 1
    said(~moves & fails, fails, "differences were zero", maxiter)
    return x


def said(stuck, fails, what, maxiter):
    """Warns or raises where steps of some or all have not come to an end."""
    if np.any(stuck):
        warnings.warn(f"some {what}", RuntimeWarning, stacklevel=2)
    elif np.all(fails):
        raise RuntimeError(f"all failed to converge after {maxiter} iterations")
    elif np.any(fails):
        warnings.warn(f"some failed to converge after {maxiter} iterations", RuntimeWarning, stacklevel=2)
