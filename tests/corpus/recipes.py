"""Numerical recipes as people write them: brackets, pivots and simplices, lists of points, tables filled in place."""

import math

import numpy as np
import scipy.linalg
import scipy.signal
import scipy.special
import scipy.stats

from .program import Program, fixed, normal, positive


def adaptive_simpson(a):
    def f(t):
        return math.exp(-a * t * t) * math.sin(t)

    def area(low, high, at_low, at_middle, at_high, depth):
        middle = (low + high) / 2
        left, right = f((low + middle) / 2), f((middle + high) / 2)
        whole = (high - low) / 6 * (at_low + 4 * at_middle + at_high)
        parts = (high - low) / 12 * (at_low + 4 * left + 2 * at_middle + 4 * right + at_high)
        if depth == 0 or abs(parts - whole) < 1e-6:
            return parts + (parts - whole) / 15
        first = area(low, middle, at_low, left, at_middle, depth - 1)
        return first + area(middle, high, at_middle, right, at_high, depth - 1)

    return area(0.0, 2.0, f(0.0), f(1.0), f(2.0), 8)


def simplex_search(c):
    def cost(p):
        return (p[0] - c[0]) ** 2 + 2 * (p[1] - c[1]) ** 2 + c[0] * p[0] * p[1]

    points = np.array([np.array([0.0, 0.0]), np.array([1.0, 0.0]), np.array([0.0, 1.2])])
    costs = np.array([cost(p) for p in points])
    for _ in range(8):
        order = np.argsort(costs)
        points, costs = points[order], costs[order]
        center = points[:-1].mean(axis=0)
        reflected = 2 * center - points[-1]
        at_reflected = cost(reflected)
        if at_reflected < costs[0]:
            expanded = 3 * center - 2 * points[-1]
            at_expanded = cost(expanded)
            better = at_expanded < at_reflected
            points[-1] = expanded if better else reflected
            costs[-1] = at_expanded if better else at_reflected
        elif at_reflected < costs[-2]:
            points[-1], costs[-1] = reflected, at_reflected
        else:
            contracted = (center + points[-1]) / 2
            at_contracted = cost(contracted)
            if at_contracted < costs[-1]:
                points[-1], costs[-1] = contracted, at_contracted
            else:
                for j in range(1, 3):
                    points[j] = (points[0] + points[j]) / 2
                    costs[j] = cost(points[j])
    return costs[0] + np.sum(points[0])


def successive_relaxation(A, b, w):
    A = A / 4 + 3 * np.eye(len(b))
    x, count = np.zeros_like(b), 0
    while (error := np.linalg.norm(A @ x - b)) > 1e-3 and count < 20:
        for i in range(len(b)):
            rest = A[i] @ x - A[i, i] * x[i]
            x[i] = (1 - w) * x[i] + w * (b[i] - rest) / A[i, i]
        count += 1
    return x @ x + error


def rotated(A):
    R = A.copy()
    m, n = R.shape
    for j in range(n):
        for i in range(m - 1, j, -1):
            a, b = R[i - 1, j], R[i, j]
            h = np.hypot(a, b)
            c, s = a / h, b / h
            R[i - 1], R[i] = c * R[i - 1] + s * R[i], -s * R[i - 1] + c * R[i]
    return np.sum(np.abs(np.diag(R)) * np.arange(1, n + 1))


def bidiagonal(A):
    B = A.copy()
    m, n = B.shape

    def reflector(x):
        v = x.copy()
        v[0] += (1 if v[0] >= 0 else -1) * np.sqrt(x @ x)
        return v / np.sqrt(v @ v)

    for k in range(n):
        v = reflector(B[k:, k])
        B[k:, k:] -= 2 * np.outer(v, v) @ B[k:, k:]
        if k < n - 2:
            v = reflector(B[k, k + 1 :])
            B[k:, k + 1 :] -= 2 * B[k:, k + 1 :] @ np.outer(v, v)
    return np.sum(np.diag(B) ** 3) + np.sum(np.diag(B, 1) ** 3)


def third_bounce(speed, gravity):
    x, v, t, bounces = 0.0, speed, 0.0, 0
    while True:
        next_x, next_v = x + v * 0.05 - gravity * 0.00125, v - gravity * 0.05
        if next_x < 0:
            part = x / (x - next_x)
            t += part * 0.05
            x, v = 0.0, -0.8 * (v - gravity * 0.05 * part)
            bounces += 1
            if bounces == 3:
                break
        else:
            x, v, t = next_x, next_v, t + 0.05
    return t + v


def american_option(spot, strike, volatility, rate):
    n = 6
    up = math.exp(volatility * math.sqrt(1 / n))
    chance = (math.exp(rate / n) - 1 / up) / (up - 1 / up)
    value = np.maximum(strike - spot * up ** np.arange(-n, n + 1, 2.0), 0)
    for k in range(n - 1, -1, -1):
        value[: k + 1] = math.exp(-rate / n) * (chance * value[1 : k + 2] + (1 - chance) * value[: k + 1])
        value[: k + 1] = np.maximum(value[: k + 1], strike - spot * up ** np.arange(-k, k + 1, 2.0))
    return value[0]


def curve_point(P, t):
    points = [p for p in P]
    while len(points) > 1:
        points = [(1 - t) * a + t * b for a, b in zip(points, points[1:])]
    return np.sum(points[0] ** 2)


def in_order_of_names(parts):
    total = 0.0
    for (name, part), k in zip(sorted(parts.items()), range(10)):
        total += np.sum(part) * k**2 + (np.prod(part) if name == "b" else len(name))
    return total


def interpolated(xs, ys, t):
    return sum(
        y * math.prod((t - other) / (x - other) for j, other in enumerate(xs) if j != i)
        for i, (x, y) in enumerate(zip(xs, ys))
    )


def orthonormal_columns(A):
    columns = []
    for a in A.T:
        v = a.copy()
        for q in columns:
            v -= (q @ a) * q
        columns.append(v / np.linalg.norm(v))
    return np.sum(np.stack(columns, 1) * np.arange(A.size).reshape(A.shape))


def quicksorted(x):
    if len(x) <= 1:
        return x
    pivot, rest = x[0], x[1:]
    return np.concatenate([quicksorted(rest[rest < pivot]), [pivot], quicksorted(rest[rest >= pivot])])


def sorted_by_parts(x):
    return np.sum(quicksorted(x) ** 2 * np.arange(len(x)))


def factor_by_blocks(A):
    n = len(A)
    if n == 1:
        return np.sqrt(A)
    h = n // 2
    L = np.zeros((n, n))
    L[:h, :h] = factor_by_blocks(A[:h, :h])
    L[h:, :h] = np.linalg.solve(L[:h, :h], A[h:, :h].T).T
    L[h:, h:] = factor_by_blocks(A[h:, h:] - L[h:, :h] @ L[h:, :h].T)
    return L


def factored(A):
    return np.sum(factor_by_blocks(A @ A.T + 3 * np.eye(len(A))) ** 3)


def gauss_quadrature(a):
    total = 0.0
    for n in (2, 3):
        nodes, weights = np.polynomial.legendre.leggauss(n)
        total += np.sum(weights * np.exp(-nodes * a))
    x, w = scipy.special.roots_hermite(3)
    return total + np.sum(w * np.cos(a * x))


def filtered(x):
    b, a = scipy.signal.butter(2, 0.3)
    return np.sum(scipy.signal.lfilter(b, a, x) ** 2) + scipy.signal.get_window("hann", 3) @ x[:3]


def known_quantiles(a, n):
    series = np.sum(scipy.special.bernoulli(n + 1) * a ** np.arange(n + 2))
    return series * scipy.stats.t.ppf(0.975, 5) + scipy.special.spence(1.5) * np.trace(scipy.linalg.hilbert(n) * a)


PROGRAMS = [
    Program(known_quantiles, fixed(0.7, 3)),
    Program(gauss_quadrature, fixed(0.7)),
    Program(filtered, normal((5,))),
    Program(adaptive_simpson, fixed(0.8)),
    Program(simplex_search, fixed(np.array([0.7, 0.3]))),
    Program(successive_relaxation, normal((3, 3), (3,), then=(1.1,)), (0, 1), order=1),
    Program(rotated, normal((4, 3))),
    Program(bidiagonal, normal((4, 3))),
    Program(third_bounce, fixed(3.1, 9.8), (0, 1)),
    Program(american_option, fixed(100.3, 101.1, 0.25, 0.03), (0, 1, 2, 3)),
    Program(curve_point, positive((4, 2), None), (0, 1)),
    Program(in_order_of_names, lambda rng: ({"b": rng.random(2), "a": rng.random(3)},)),
    Program(interpolated, fixed(np.array([0.0, 1.0, 2.5]), np.array([0.4, -0.3, 1.2]), 0.7), (0, 1, 2)),
    Program(orthonormal_columns, normal((3, 3))),
    Program(sorted_by_parts, fixed(np.array([0.5, -0.2, 0.9, 1.1, 0.3]))),
    Program(factored, normal(("n", "n"))),
]
