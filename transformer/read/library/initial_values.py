"""Differential equations with initial values, as in `scipy.integrate`.

Derivatives are those of the steps that were accepted, whose sizes count as given. What SciPy finds by methods with many
steps (`odeint`) is found by those of Runge and Kutta, to the same tolerance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.identity import stop_gradient
from ..calls.given_functions import is_infinite, own, unmoved
from .events import crosses, cut, reported, watching
from .floats import floats
from .refusing import at_least, refused


class Method:
    """Coefficients of a method of Runge and Kutta whose last stage is the first one of the next step."""

    def __init__(self, order, c, a, b, e, p):
        self.order, self.c, self.a, self.b, self.e, self.p = order, c, a, b, e, p


METHODS = {
    "RK45": Method(
        4,
        (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0),
        (
            (1 / 5,),
            (3 / 40, 9 / 40),
            (44 / 45, -56 / 15, 32 / 9),
            (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
            (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        ),
        (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
        (-71 / 57600, 0.0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40),
        (
            (1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432),
            (0.0, 0.0, 0.0, 0.0),
            (0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799),
            (0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072),
            (0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632),
            (0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844),
            (0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423),
        ),
    ),
    "RK23": Method(
        2,
        (1 / 2, 3 / 4),
        ((1 / 2,), (0.0, 3 / 4)),
        (2 / 9, 1 / 3, 4 / 9),
        (5 / 72, -1 / 12, -1 / 9, 1 / 8),
        ((1.0, -4 / 3, 5 / 9), (0.0, 1.0, -2 / 3), (0.0, 4 / 3, -8 / 9), (0.0, -1.0, 1.0)),
    ),
}


class OdeResult:
    """What `solve_ivp` returns."""

    def __init__(self, t, y, sol=None):
        self.t, self.y, self.sol = t, y, sol
        self.t_events = self.y_events = None
        self.status, self.success = 0, True
        self.message = "The solver successfully reached the end of the integration interval."

    def __getitem__(self, name):
        return getattr(self, name)


class OdeSolution:
    """The states at all times, by the polynomials of the steps."""

    def __init__(self, method, ts, ys, ks, way):
        self.method, self.ts, self.ys, self.ks, self.way = method, ts, ys, ks, way

    def __call__(self, t):
        t = floats(t)
        if t.ndim == 0:
            return self.at(np.reshape(t, (1,)))[0]
        return self.at(t).T

    def at(self, t):
        """One row for each time."""
        return by_polynomials(self.method, self.ts, self.ys, self.ks, t, self.way)


def solve_ivp(fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None, vectorized=False, args=None,
              first_step=None, max_step=np.inf, rtol=1e-3, atol=1e-6):
    if method not in METHODS:
        refused(f"scipy.integrate.solve_ivp with method {method!r} is not supported", "Use method='RK45' or 'RK23'.")
    if vectorized:
        refused("scipy.integrate.solve_ivp with vectorized is not supported",
                "Omit it: the function is compiled anyway.")
    y0 = np.asarray(y0)
    y0 = y0.astype(complex if np.iscomplexobj(y0) else float)
    if y0.ndim != 1:
        raise ValueError("`y0` must be 1-dimensional.")
    further = () if args is None else tuple(args)

    def rate(t, y):
        return np.asarray(fun(t, y, *further)).astype(y0.dtype)

    start, end = t_span
    way, watched = 1.0 if end >= start else -1.0, watching(events, further)
    ts, ys, ks, is_stopped = steps(own(rate), METHODS[method], float(start), float(end), y0, first_step, max_step, rtol,
                                   atol, t_eval is not None or dense_output or bool(watched),
                                   [each for each in watched if each.is_terminal])
    sol = OdeSolution(METHODS[method], ts, ys, ks, way)
    if watched:
        ts, ys = cut(sol, watched, is_stopped) if any([each.is_terminal for each in watched]) else (ts, ys)
    if t_eval is None:
        result = OdeResult(ts, ys.T)
    else:
        result = at_times(sol, np.asarray(t_eval), float(start), float(end), ts[-1] if watched else None)
    if dense_output:
        result.sol = sol
    return reported(result, sol, watched, is_stopped, ts[-1]) if watched else result


def at_times(sol, t, start, end, last):
    """The states at times that are asked for, of which those behind the last one are left out."""
    if not at_least(len(t), 1):
        return OdeResult([], [])                    # SciPy puts together nothing
    if start == end:
        raise ValueError("solve_ivp with t_eval and a t_span of length 0: SciPy returns no states")
    if np.any(np.diff(t) * sol.way <= 0):
        raise ValueError("Values in `t_eval` are not properly sorted.")
    if last is None:
        return OdeResult(t, between(sol, t).T)
    t = t[sol.way * t <= sol.way * last]
    return OdeResult(t, between(sol, t).T)


def steps(f, method, t, end, y, first_step, max_step, rtol, atol, keeps_stages, stops=()):
    """The times and states after each step that was accepted, and the rates in it; and whether one of the events that
    end it has come."""
    direction = 1.0 if end >= t else -1.0
    first = f(t, y)
    size = first_step
    if size is None:
        size = unmoved(initial_size, f, method, t, end, y, first, direction, rtol, atol)
    size = float(size)
    ts, ys, ks = [t], [y], []
    levels, is_stopped = [each.level(t, y) for each in stops], False
    is_rejected, is_open = False, True              # there is a step, even where the end is the beginning
    while is_open:
        least = 10 * abs(np.nextafter(t, direction * np.inf) - t)
        if is_rejected:
            if size < least:
                raise RuntimeError("Required step size is less than spacing between numbers.")
        else:
            size = at_most(max(size, least), max_step)
        is_last = direction * (t + direction * size - end) > 0
        h = end - t if is_last else direction * size
        y_new, stages = step(f, method, t, y, first, h)
        scale = atol + np.maximum(np.abs(y), np.abs(y_new)) * rtol
        error = stop_gradient(rms(h * weighted(method.e, stages) / scale))
        growth = 0.9 * error ** (-1 / (method.order + 1)) if error > 0 else 10.0
        is_accepted = bool(error < 1)
        if is_accepted:
            size = abs(h) * min(1.0 if is_rejected else 10.0, growth)
            t, y, first = end if is_last else t + h, y_new, stages[-1]
            ts.append(t)
            ys.append(y)
            if keeps_stages:
                ks.append(np.stack(stages))
            for k, each in enumerate(stops):
                level = each.level(t, y)
                is_stopped = is_stopped or crosses(levels[k], level, each.direction)
                levels[k] = level
        else:
            size = abs(h) * max(0.2, growth)
        is_rejected = not is_accepted
        size = float(stop_gradient(size))
        is_open = direction * (end - t) > 0 and not is_stopped
    return np.array(ts), np.array(ys), np.array(ks) if keeps_stages else None, is_stopped


def step(f, method, t, y, first, h):
    """The state after a step, and the rates at its stages."""
    stages = [first]
    for c, a in zip(method.c, method.a):
        stages.append(f(t + c * h, y + h * weighted(a, stages)))
    y_new = y + h * weighted(method.b, stages)
    stages.append(f(t + h, y_new))
    return y_new, stages


def weighted(weights, stages):
    terms = [weight * stage for weight, stage in zip(weights, stages) if weight != 0]
    return sum(terms[1:], terms[0])


def rms(parts):
    return np.sqrt(np.mean((np.abs(parts) if np.iscomplexobj(parts) else parts) ** 2))


def at_most(size, most):
    return size if is_infinite(most) else min(size, most)


def initial_size(f, method, t, end, y, first, direction, rtol, atol):
    """Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, section II.4."""
    length = abs(end - t)
    if length == 0:
        return 0.0
    scale = atol + np.abs(y) * rtol
    d0, d1 = rms(y / scale), rms(first / scale)
    h0 = float(min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, length))
    d2 = rms((f(t + h0 * direction, y + h0 * direction * first) - first) / scale) / h0
    h1 = max(1e-6, h0 * 1e-3) if d1 <= 1e-15 and d2 <= 1e-15 else (0.01 / max(d1, d2)) ** (1 / (method.order + 1))
    return min(100 * h0, h1, length)


def between(sol, t):
    """The states at times within the range."""
    if np.any(t < min(sol.ts[0], sol.ts[-1])) or np.any(t > max(sol.ts[0], sol.ts[-1])):
        raise ValueError("Values in `t_eval` are not within `t_span`.")
    return sol.at(t)


def by_polynomials(method, ts, ys, ks, t, way):
    """The states at times t, by the polynomials of the steps that these are in or next to."""
    place = np.clip(np.searchsorted(way * ts[1:], way * t), 0, len(ts) - 2)
    h = ts[place + 1] - ts[place]
    x = (t - ts[place]) / np.where(h == 0, 1.0, h)
    terms = [np.einsum("s,ksn->kn", row, ks[place]) for row in tuple(np.array(method.p).T[::-1])]
    value = terms[0] * x[:, None]
    for term in terms[1:]:
        value = (value + term) * x[:, None]
    return ys[place] + h[:, None] * value


def odeint(func, y0, t, args=(), Dfun=None, col_deriv=0, full_output=0, ml=None, mu=None, rtol=None, atol=None,
           tcrit=None, h0=0.0, hmax=0.0, hmin=0.0, ixpr=0, mxstep=0, mxhnil=0, mxordn=12, mxords=5, printmessg=0,
           tfirst=False):
    if full_output or tcrit is not None:
        refused("scipy.integrate.odeint with full_output or tcrit is not supported", "Use scipy.integrate.solve_ivp.")
    if np.iscomplexobj(y0):
        refused("scipy.integrate.odeint of complex numbers is not supported", "Use scipy.integrate.solve_ivp.")
    y0, t = np.atleast_1d(np.asarray(y0)).astype(float), np.asarray(t).astype(float)
    if not at_least(len(t), 1):
        return np.zeros((0, len(y0)))
    if np.any(np.diff(t) * np.sign(t[-1] - t[0]) < 0):
        raise ValueError("The values in t must be monotonically increasing or monotonically decreasing; repeated "
                         "values are allowed.")
    further = args if isinstance(args, tuple) else (args,)

    def rate(t, y):
        return np.atleast_1d(np.asarray(func(t, y, *further) if tfirst else func(y, t, *further))).astype(float)

    tolerance, method = 1.49012e-8, METHODS["RK45"]
    ts, ys, ks, _ = steps(own(rate), method, float(t[0]), float(t[-1]), y0, None, np.inf,
                          tolerance if rtol is None else rtol, tolerance if atol is None else atol, True)
    return between(OdeSolution(method, ts, ys, ks, 1.0 if t[-1] - t[0] >= 0 else -1.0), t)


CALLS: dict[Any, Any] = {"scipy.integrate.solve_ivp": solve_ivp, "scipy.integrate.odeint": odeint}
