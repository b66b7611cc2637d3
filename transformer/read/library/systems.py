"""Roots of systems of equations, and fixed points, as in `scipy.optimize`.

The search is that of hybrd and hybrj in MINPACK: steps by Powell's dogleg, with a Jacobian that each of them corrects
(Broyden) until two in a row have failed. The Jacobian stands there as it is, where MINPACK keeps its factors.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ..calls.given_functions import own, shaped, solved
from .refusing import refused
from .roots import several

EPS = 2.220446049250313e-16


class OptimizeResult:
    """What `root` returns. Whether it is a root is known only when the program runs, so one message serves for all."""

    def __init__(self, x, fun, status, nfev):
        self.x, self.fun, self.status, self.nfev, self.success, self.method = x, fun, status, nfev, status == 1, "hybr"
        self.message = (f"Status {status}. 1: the solution converged, 2: maxfev is reached, 3: xtol is too small, "
                        "4 and 5: the iteration is not making good progress.")

    def __getitem__(self, name):
        return getattr(self, name)


def fsolve(func, x0, args=(), fprime=None, full_output=0, col_deriv=0, xtol=1.49012e-8, maxfev=0, band=None,
           epsfcn=None, factor=100, diag=None):
    found = searched(func, x0, args, fprime, col_deriv, xtol, maxfev, epsfcn, factor, diag)
    if full_output:
        return found.x, {"nfev": found.nfev, "fvec": found.fun}, found.status, found.message
    if found.status != 1:
        warnings.warn(found.message, RuntimeWarning, stacklevel=2)
    return found.x


def root(fun, x0, args=(), method="hybr", jac=None, tol=None, callback=None, options=None):
    if method.lower() != "hybr":
        refused(f"scipy.optimize.root with method {method!r} is not supported", "Use method='hybr'.")
    limits = dict(options or {})
    if tol is not None:
        limits.setdefault("xtol", tol)
    if jac is True:
        return searched(lambda *x: fun(*x)[0], x0, args, lambda *x: fun(*x)[1], **limits)
    return searched(fun, x0, args, jac or None, **limits)


def searched(func, x0, args, fprime, col_deriv=0, xtol=1.49012e-8, maxfev=0, eps=None, factor=100, diag=None,
             band=None):
    x0, further = np.ravel(x0).astype(float), several(args)
    f = shaped(as_many, func, *further)
    f_jac = None if fprime is None else shaped(columns if col_deriv else rows, fprime, *further)
    most = maxfev if maxfev != 0 else (200 if fprime is None else 100) * (len(x0) + 1)
    x, status, calls = solved(hybrid, f, f_jac, x0, xtol, most, EPS if eps is None else eps, factor, diag)
    return OptimizeResult(x, f(x), status, calls)


def as_many(values, x):
    """As many values as there are unknowns."""
    values = np.asarray(values)
    if len(x) != 1 and values.shape != x.shape:
        raise TypeError("fsolve: there is a mismatch between the input and output shape of the 'func' argument. "
                        f"Shape should be {x.shape} but it is {values.shape}.")
    return np.reshape(values, x.shape).astype(float)


def rows(matrix, x):
    return np.reshape(np.asarray(matrix), (len(x), len(x))).astype(float)


def columns(matrix, x):
    return rows(matrix, x).T


def hybrid(f, f_jac, x, xtol, most, eps, factor, diag):
    """Where the search ends, why (1: the steps are short enough), and after how many calls."""
    f_x = f(x)
    norm, calls = np.linalg.norm(f_x), 1
    jac = slopes_at(f, f_jac, x, f_x, eps)
    calls += 0 if f_jac is not None else len(x)
    scale, reach = scaled(jac, x, factor, diag)
    status, is_first, is_fresh = 0, True, True
    successes = failures = slow = slow_jacobians = 0
    while status == 0:
        p = dogleg(jac, f_x, scale, reach)
        step = np.linalg.norm(scale * p)
        if is_first:
            reach = min(reach, step)
        f_new = f(x + p)
        calls += 1
        norm_new, predicted = np.linalg.norm(f_new), f_x + jac @ p
        gain = 1 - (norm_new / norm) ** 2 if norm_new < norm else -1.0
        norm_predicted = np.linalg.norm(predicted)
        expected = 1 - (norm_predicted / norm) ** 2 if norm_predicted < norm else 0.0
        ratio = gain / expected if expected > 0 else 0.0
        if ratio < 0.1:
            successes, failures, reach = 0, failures + 1, 0.5 * reach
        else:
            successes, failures = successes + 1, 0
            if abs(ratio - 1) <= 0.1:
                reach = 2 * step
            elif ratio >= 0.5 or successes > 1:
                reach = max(reach, 2 * step)
        correction = np.outer((f_new - predicted) / step, scale * scale * p / step)
        if ratio >= 1e-4:
            x, f_x, norm, is_first = x + p, f_new, norm_new, False
        slow = 0 if gain >= 1e-3 else slow + 1
        slow_jacobians = 0 if gain >= 0.1 else slow_jacobians + (1 if is_fresh else 0)
        size = np.linalg.norm(scale * x)
        if reach <= xtol * size or norm == 0:
            status = 1
        elif slow == 10:
            status = 5
        elif slow_jacobians == 5:
            status = 4
        elif 0.1 * max(0.1 * reach, step) <= EPS * size:
            status = 3
        elif calls >= most:
            status = 2
        elif failures == 2:
            jac = slopes_at(f, f_jac, x, f_x, eps)
            calls += 0 if f_jac is not None else len(x)
            if is_first:
                scale, reach = scaled(jac, x, factor, diag)
            elif diag is None:
                scale = np.maximum(scale, lengths(jac))
            is_fresh = True
        else:
            jac = jac + correction
            is_fresh = False
    return x, status, calls + 2                      # SciPy has called it twice before


def slopes_at(f, f_jac, x, f_x, eps):
    """The Jacobian, or what differences of the function say of it."""
    if f_jac is not None:
        return f_jac(x)
    jac, part = np.zeros((len(x), len(x))), math.sqrt(max(eps, EPS))
    for j in range(len(x)):
        h = part * abs(x[j]) if x[j] != 0 else part
        near = x.copy()
        near[j] += h
        jac[:, j] = (f(near) - f_x) / h
    return jac


def scaled(jac, x, factor, diag):
    """What the unknowns are multiplied by, and how far the first step may go."""
    if diag is None:
        columns = lengths(jac)
        scale = np.where(columns == 0, 1.0, columns)
    else:
        scale = np.asarray(diag).astype(float)
    size = np.linalg.norm(scale * x)
    return scale, factor * size if size > 0 else float(factor)


def dogleg(jac, f_x, scale, reach):
    """The step to where the linear equations hold, if that is within reach, else one that turns from steepest descent
    to it."""
    q, r = np.linalg.qr(jac)
    right = q.T @ f_x
    newton = substituted(r, right)
    far = np.linalg.norm(scale * newton)
    if far <= reach:
        return -newton
    slope = (r.T @ right) / scale
    steepness = np.linalg.norm(slope)
    if steepness == 0:
        return -(reach / far) * newton
    down = slope / steepness / scale
    bend = np.linalg.norm(r @ down)
    lowest = steepness / bend / bend
    if lowest >= reach:
        return -reach * down
    a, b = reach / far, lowest / reach
    c = np.linalg.norm(right) / steepness * (np.linalg.norm(right) / far) * b
    part = a * (1 - b**2) / (c - a * b**2 + math.sqrt((c - a) ** 2 + (1 - a**2) * (1 - b**2)))
    return -((1 - part) * lowest * down + part * newton)


def substituted(r, right):
    """The solution of equations with a triangular matrix, in which 0 on the diagonal counts as next to nothing."""
    x = np.zeros_like(right)
    for j in range(len(right) - 1, -1, -1):
        pivot = r[j, j]
        if pivot == 0:
            largest = np.max(np.abs(r[:, j]))
            pivot = EPS * largest if largest > 0 else EPS
        x[j] = (right[j] - r[j, j + 1 :] @ x[j + 1 :]) / pivot
    return x


def lengths(matrix):
    """Of the columns."""
    return np.linalg.norm(matrix, axis=0)


def fixed_point(func, x0, args=(), xtol=1e-8, maxiter=500, method="del2"):
    if method not in ("del2", "iteration"):
        raise KeyError(method)
    x0, further = np.asarray(x0)[()] * 1.0, several(args)
    f = own(lambda x: func(x, *further) - x)
    return solved(steffensen if method == "del2" else repeated, f, x0, xtol, maxiter)


def steffensen(f, x, xtol, maxiter):
    """What Aitken's extrapolation gives of two steps each."""
    return iterated(f, x, xtol, maxiter, True)


def repeated(f, x, xtol, maxiter):
    return iterated(f, x, xtol, maxiter, False)


def iterated(change, x, xtol, maxiter, extrapolates):
    steps, is_found = 0, False
    while not is_found:
        if steps == maxiter:
            raise RuntimeError(f"Failed to converge after {maxiter} iterations, value is {x}")
        first = change(x)
        before, x = x, x + first
        if extrapolates:
            second = change(x)
            bend = second - first
            x = np.where(bend != 0, before - first * first / np.where(bend != 0, bend, 1.0), x + second)
        is_found = np.all(np.abs(np.where(before != 0, (x - before) / np.where(before != 0, before, 1.0), x)) < xtol)
        steps += 1
    return x


CALLS: dict[Any, Any] = {
    "scipy.optimize.fsolve": fsolve,
    "scipy.optimize.root": root,
    "scipy.optimize.fixed_point": fixed_point,
}
