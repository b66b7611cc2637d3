"""Routines of SciPy that take functions: roots, integrals."""

import math

import numpy as np
from scipy import linalg
from scipy.integrate import dblquad, fixed_quad, quad, tplquad
from scipy.optimize import bisect, brenth, brentq, fixed_point, fsolve, newton, ridder, root, root_scalar

from transformer import vmap

from .program import Program, fixed

TIGHT = {"epsabs": 1e-13, "epsrel": 1e-13}


def eccentric_anomaly(e, mean):
    """The anomaly of a body on an ellipse."""
    return brentq(lambda x: x - e * np.sin(x) - mean, 0.0, 4.0, xtol=1e-14)


def volatility(price, strike):
    """What the volatility has to be for an option to have this price."""

    def excess(sigma, strike):
        d = (math.log(1.0 / strike) + sigma**2 / 2) / sigma
        below = [0.5 * (1 + math.erf(z / math.sqrt(2))) for z in (d, d - sigma)]
        return below[0] - strike * below[1] - price

    return brentq(excess, 0.01, 3.0, args=(strike,), xtol=1e-14)


def by_bisection(a):
    return bisect(lambda x: x**3 - a, 0.0, 2.0, xtol=1e-14) ** 2


def with_secants(a):
    return newton(lambda x: x**3 - a * x - 1, 1.4, tol=1e-13)


def with_slopes(a, b):
    return newton(lambda x, b: x**b - a, 1.3, fprime=lambda x, b: b * x ** (b - 1), args=(b,), tol=1e-13)


def with_curvatures(a):
    return newton(lambda x: np.exp(x) - a, 0.5, lambda x: np.exp(x), fprime2=lambda x: np.exp(x), tol=1e-13)


def by_other_searches(a):
    found = root_scalar(lambda x: x**3 - a, bracket=(0.0, 2.0), xtol=1e-14)
    if not found.converged:
        raise ValueError(found.flag)
    near = root_scalar(lambda x: x**3 - a, x0=1.0, fprime=lambda x: 3 * x**2, xtol=1e-13).root
    return found.root * near * brenth(lambda x: np.exp(x) - a, 0.0, 2.0) + ridder(lambda x: x * x - a, 0.0, 2.0)


def roots_in_a_loop(w):
    total = 0.0
    for k in range(len(w)):
        total += brentq(lambda x: x + np.sum(w * np.tanh(x)) - w[k], -5.0, 5.0, xtol=1e-14)
    return total


def all_roots(w):
    return np.sum(vmap(lambda a: eccentric_anomaly(a, 1.0))(w) ** 2)


def intersection(a, b):
    """Where two curves meet."""

    def apart(v, a):
        x, y = v
        return [x * np.cos(y) - a, x * y - y - b]

    return np.prod(fsolve(apart, [1.0, 1.0], args=(a,), xtol=1e-13))


def equilibrium(w, rate):
    """A system whose Jacobian is known, at rest; there are as many equations as numbers in w."""

    def change(x):
        return w * np.exp(-x) - rate * np.sum(x**2)

    def jacobian(x):
        return np.diag(-w * np.exp(-x)) - 2 * rate * x

    found = root(change, np.ones(len(w)), jac=jacobian, tol=1e-11, options={"factor": 1})
    if not found.success:
        raise ValueError(found.message)
    return np.sum(found.x**2)


def only_unknown(a):
    x, info, status, message = fsolve(lambda x: x**3 - a, 1.0, full_output=True, xtol=1e-10)
    if status != 1:
        raise ValueError(message)
    return x[0] ** 2 + np.sum(info["fvec"])


def populations(growth, start):
    held = fixed_point(lambda x, growth: growth * x * (1 - x), start, args=(growth,), xtol=1e-13)
    return held[0] * held[1] + fixed_point(lambda x: np.cos(0.5 * growth[0] * x), 0.5, method="iteration", xtol=1e-13)


def anomalies(e, mean):
    """Of many bodies together."""
    found = newton(lambda x: x - e * np.sin(x) - mean, mean, lambda x: 1 - e * np.cos(x), tol=1e-13)
    return np.sum(found**2) + np.sum(newton(lambda x: x - e * np.sin(x) - mean, mean, tol=1e-13))


def roots_of_matrices(w):
    a = w @ w.T + np.eye(2)
    return np.sum(linalg.sqrtm(a) * w) + np.sum(linalg.solve_sylvester(a, w, a) ** 2)


def regulators(a, weight):
    """The cost of holding two systems at rest, and how they are spread by noise."""
    b, r = np.array([[0.0], [1.0]]), weight * np.eye(1)
    cost = linalg.solve_continuous_are(a, b, np.eye(2), r)
    steps = linalg.solve_discrete_are(a / 2, b, np.eye(2), r)
    spread = linalg.solve_discrete_lyapunov(a / 4, np.eye(2))
    return np.sum(cost * steps) + np.trace(spread) + linalg.eigvalsh(cost, steps)[0]


def arc_length(a, end):
    return quad(lambda x: math.sqrt(1 + (a * math.cos(a * x)) ** 2), 0, end, **TIGHT)[0]


def between(a, start, end):
    return quad(lambda x, a: x**a * np.exp(-x), start, end, args=(a,), **TIGHT)[0] ** 2


def weighted(w, b):
    return quad(lambda x: b * np.prod(np.cos(w * x)), -1, 1, **TIGHT)[0]


def with_a_kink(a, place):
    """The range is split where the function is no polynomial."""
    near = quad(lambda x: abs(x - place) * math.exp(a * x), 0.0, 1.0, points=[place, 3.0], **TIGHT)[0]
    wave = quad(lambda x: a * x, 0.0, place, weight="sin", wvar=3.0, **TIGHT)[0]
    return near * wave + fixed_quad(lambda x: np.sin(a * x), 0.0, place, n=4)[0]


def over_a_solid(a):
    return tplquad(lambda z, y, x: a * x + z * y, 0.0, a, 0.0, 1.0, 0.0, lambda x, y: x, epsabs=1e-10)[0]


def over_a_triangle(a, side):
    return dblquad(lambda y, x, a: np.exp(-a * x * y), 0.0, side, 0.0, lambda x: x, args=(a,), **TIGHT)[0]


def expectation(mean, deviation):
    def integrand(z):
        return np.tanh(mean + deviation * z) * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    return quad(integrand, -np.inf, np.inf, **TIGHT)[0]


def tails(rate, start):
    above = quad(lambda x: math.exp(-rate * x), start, np.inf, **TIGHT)[0]
    return above + quad(lambda x: 1 / (1 + rate * x * x), -np.inf, -start, **TIGHT)[0]


def of_a_root(a):
    """The integral up to where another function is zero."""
    end = brentq(lambda x: np.cos(x) - a * x, 0.0, 1.5, xtol=1e-14)
    return quad(lambda x: np.cos(x) - a * x, 0.0, end, **TIGHT)[0]


def root_of_an_integral(a):
    return brentq(lambda t: quad(lambda x: np.exp(-a * x * x), 0.0, t, **TIGHT)[0] - 0.5, 0.0, 2.0, xtol=1e-14)


PROGRAMS = [
    Program(eccentric_anomaly, fixed(0.4, 1.1), (0, 1)),
    Program(volatility, fixed(0.12, 1.1), (0, 1)),
    Program(by_bisection, fixed(1.7)),
    Program(with_secants, fixed(1.2)),
    Program(with_slopes, fixed(2.1, 3.2), (0, 1)),
    Program(with_curvatures, fixed(2.1)),
    Program(by_other_searches, fixed(1.7), order=1),
    Program(roots_in_a_loop, fixed(np.array([0.4, 1.1])), order=1),
    Program(all_roots, fixed(np.array([0.4, 0.6])), order=1),
    Program(intersection, fixed(4.0, 5.0), (0, 1)),
    Program(equilibrium, fixed(np.array([0.7, 1.1]), 0.4), (0, 1), order=1),
    Program(only_unknown, fixed(1.7)),
    Program(populations, fixed(np.array([1.3, 1.5]), np.array([0.2, 0.3])), order=1),
    Program(anomalies, fixed(0.4, np.array([0.7, 1.1])), (0, 1), order=1),
    Program(roots_of_matrices, fixed(np.array([[0.7, 0.2], [-0.3, 1.1]])), order=1),
    Program(regulators, fixed(np.array([[0.1, 1.0], [-0.4, 0.2]]), 0.5), (0, 1), order=1),
    Program(arc_length, fixed(1.2, 0.8), (0, 1)),
    Program(between, fixed(1.2, 0.3, 0.8), (0, 1, 2), order=1),
    Program(weighted, fixed(np.array([0.4, 1.3]), 0.7), (0, 1), order=1),
    Program(with_a_kink, fixed(1.3, 0.4), (0, 1), order=1),
    Program(over_a_solid, fixed(0.7), order=1),
    Program(over_a_triangle, fixed(1.2, 0.8), (0, 1), order=1),
    Program(expectation, fixed(0.2, 0.7), (0, 1), order=1),
    Program(tails, fixed(0.7, 0.4), (0, 1), order=1),
    Program(of_a_root, fixed(0.7), order=1),
    Program(root_of_an_integral, fixed(0.7), order=1),
]
