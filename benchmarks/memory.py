"""Peak memory and time of gradients of in-place loops, in the NumPy form that is generated.

The heat equation steps a state of 100,000 numbers 400 times; memory is told in states, NumPy's own
temporaries included. The other programs fill arrays element by element; each is run at n, 2n and 4n.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.timing import show, table
from transformer import grad

POINTS, STEPS = 100_000, 400


def heat(u0: Any, c: Any, steps: Any) -> Any:
    u = u0.copy()
    for _ in range(steps):
        u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def recurrence(x: Any) -> Any:
    f = np.zeros(len(x))
    f[0] = x[0]
    for i in range(1, len(x)):
        f[i] = x[i] + 0.1 * f[i - 1] * f[i - 1]
    return np.sum(f)


def thomas(a: Any, b: Any, c: Any, d: Any) -> Any:
    """A tridiagonal system, by elimination and substitution."""
    n = len(d)
    upper = np.zeros(n)
    right = np.zeros(n)
    x = np.zeros(n)
    upper[0] = c[0] / b[0]
    right[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * upper[i - 1]
        upper[i] = c[i] / m
        right[i] = (d[i] - a[i] * right[i - 1]) / m
    x[n - 1] = right[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = right[i] - upper[i] * x[i + 1]
    return np.sum(x**2)


def durbin(r: Any) -> Any:
    """The Yule-Walker equations of a Toeplitz matrix."""
    n = len(r)
    y = np.zeros(n)
    y[0] = -r[0]
    alpha = -r[0]
    beta = 1.0
    for k in range(1, n):
        beta *= 1 - alpha * alpha
        alpha = -(r[k] + np.sum(r[:k][::-1] * y[:k])) / beta
        y[:k] += alpha * y[:k][::-1]
        y[k] = alpha
    return np.sum(y)


def cholesky(a: Any) -> Any:
    n = len(a)
    factor = a.copy()
    for j in range(n):
        factor[j, j] = np.sqrt(factor[j, j] - np.sum(factor[j, :j] ** 2))
        for i in range(j + 1, n):
            factor[i, j] = (factor[i, j] - factor[i, :j] @ factor[j, :j]) / factor[j, j]
    return np.sum(np.tril(factor))


def lu(a: Any) -> Any:
    n = len(a)
    a = a.copy()
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return np.sum(a)


def time_warping(a: Any, b: Any) -> Any:
    n, m = len(a), len(b)
    cost = np.full((n + 1, m + 1), 1e9)
    cost[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            best = min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
            cost[i, j] = (a[i - 1] - b[j - 1]) ** 2 + best
    return cost[n, m]


def best_path(scores: Any, moves: Any) -> Any:
    """The score of the best sequence of states (Viterbi)."""
    steps, states = scores.shape
    best = np.zeros((steps, states))
    best[0] = scores[0]
    for t in range(1, steps):
        for s in range(states):
            best[t, s] = scores[t, s] + np.max(best[t - 1] + moves[:, s])
    return np.max(best[steps - 1])


def numbers(*shape: int) -> Any:
    return np.random.default_rng(0).normal(size=shape)


def positive(n: int) -> Any:
    root = numbers(n, n)
    return root @ root.T + n * np.eye(n)


RECURRENCES: dict[Callable[..., Any], tuple[int, Callable[[int], tuple[Any, ...]]]] = {
    recurrence: (20_000, lambda n: (0.1 * numbers(n),)),
    thomas: (10_000, lambda n: (0.1 * numbers(n), 3 + 0.1 * numbers(n), 0.2 * numbers(n), numbers(n))),
    durbin: (500, lambda n: (0.5 ** np.arange(1, n + 1),)),
    cholesky: (50, lambda n: (positive(n),)),
    lu: (50, lambda n: (positive(n),)),
    time_warping: (50, lambda n: (numbers(n), numbers(n) ** 2)),
    best_path: (200, lambda n: (numbers(n, 6), numbers(6, 6))),
}


def run(rounds: int) -> None:
    heat_equation(min(rounds, 3))
    compiled_heat_equation(min(rounds, 3))
    recurrences(min(rounds, 3))


def heat_equation(rounds: int) -> None:
    u, rows = numbers(POINTS), []
    for wrt, name in ((0, "the initial state"), (1, "the coefficient"), ((0, 1), "both")):
        gradient = grad(heat, wrt)
        memory, seconds = measured(gradient, (u, 0.2, STEPS), rounds)
        rows.append([name, f"{memory / u.nbytes:.1f} states", show(seconds)])
    value = measured(heat, (u, 0.2, STEPS), rounds)
    rows.append(["(the program itself)", f"{value[0] / u.nbytes:.1f} states", show(value[1])])
    table(f"Heat equation, {POINTS} points, {STEPS} steps, with respect to", ["", "peak memory", "minimum"], rows)


def compiled_heat_equation(rounds: int) -> None:
    """The emitted source of the same gradients, compiled by numba as it stands."""
    try:
        import numba
    except ImportError:
        print("\nHeat equation, compiled by hand: numba is absent")
        return
    u, rows = numbers(POINTS), []
    for wrt, name in ((0, "the initial state"), (1, "the coefficient"), ((0, 1), "both")):
        gradient = grad(heat, wrt)
        namespace: dict[str, Any] = {}
        exec(gradient.source_for(u, 0.2, STEPS), namespace)
        compiled = numba.njit(namespace["heat_grad"])
        check_same(compiled(u, 0.2, STEPS), gradient(u, 0.2, STEPS))
        memory, seconds = measured(compiled, (u, 0.2, STEPS), rounds)
        rows.append([name, f"{memory / u.nbytes:.1f} states", show(seconds)])
    table("The same gradients, compiled by numba.njit", ["", "peak memory", "minimum"], rows)


def check_same(found: Any, expected: Any) -> None:
    """Compares results, each an array or number or a tuple of them."""
    pairs = zip(found, expected) if isinstance(expected, tuple) else [(found, expected)]
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-9)


def recurrences(rounds: int) -> None:
    rows = []
    for program, (n, example) in RECURRENCES.items():
        for size in (n, 2 * n, 4 * n):
            args = example(size)
            own = sum(arg.nbytes for arg in args)
            memory, seconds = measured(grad(program, tuple(range(len(args)))), args, rounds)
            rows.append([program.__name__, str(size), f"{memory / own:.1f}", show(seconds)])
    header = ["program", "n", "peak memory / arguments", "minimum"]
    table("Gradients of programs that fill arrays element by element", header, rows)


def measured(function: Callable[..., Any], args: tuple[Any, ...], rounds: int) -> tuple[int, float]:
    """Peak memory beyond what there is before the call, and the least time of a call."""
    function(*args)
    seconds = min(timed(function, args) for _ in range(rounds))
    tracemalloc.start()
    try:
        function(*args)
        return tracemalloc.get_traced_memory()[1], seconds
    finally:
        tracemalloc.stop()


def timed(function: Callable[..., Any], args: tuple[Any, ...]) -> float:
    start = perf_counter()
    function(*args)
    return perf_counter() - start
