"""Values that a reverse sweep takes again from arrays, and records only where they were overwritten."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from both_modes import compare_modes, defined
from random_nests import SIZE, Nest

from transformer import check_grads, checkpoint_loop, grad

RNG = np.random.default_rng(11)


def cholesky(a):
    n = len(a)
    factor = np.zeros((n, n))
    for j in range(n):
        for i in range(j, n):
            s = a[i, j]
            for k in range(j):
                s -= factor[i, k] * factor[j, k]
            if i == j:
                factor[j, j] = np.sqrt(s)
            else:
                factor[i, j] = s / factor[j, j]
    return np.sum(factor)


def thomas(a, b, d):
    n = len(d)
    upper = np.zeros(n)
    x = np.zeros(n)
    upper[0] = a[0] / b[0]
    x[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * upper[i - 1]
        upper[i] = a[i] / m
        x[i] = (d[i] - a[i] * x[i - 1]) / m
    for i in range(n - 2, -1, -1):
        x[i] -= upper[i] * x[i + 1]
    return np.sum(x**2)


def elimination(a):
    n = len(a)
    a = a.copy()
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return np.sum(a)


def warped(a, b):
    n, m = len(a), len(b)
    cost = np.full((n + 1, m + 1), 100.0)
    cost[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost[i, j] = (a[i - 1] - b[j - 1]) ** 2 + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
    return cost[n, m]


def blocks_of_two(x):
    y = x * 1.0
    for i in range(0, len(x) - 1, 2):
        y[i] = np.sin(y[i + 1])
        y[i + 1] = y[i] * x[i]
    return np.sum(y**2)


def rows_not_yet_written(a, b):
    """Slices of an array, of which every iteration reads a part that later ones write."""
    b = b.copy()
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1:, i], b[i + 1:, j])
    return np.sum(b * b)


def fed_back(a, x):
    """A filter, which a branch keeps from reading in front of the first element."""
    y = np.zeros_like(x)
    for n in range(len(x)):
        total = x[n]
        for k in range(1, len(a)):
            if n - k >= 0:
                total -= a[k] * y[n - k]
        y[n] = total / a[0]
    return np.sum(y**2)


def fed_back_as_far(a, x):
    """The same where the loop ends in time."""
    y = np.zeros_like(x)
    for n in range(len(x)):
        total = x[n]
        for k in range(1, min(len(a), n + 1)):
            total -= a[k] * y[n - k]
        y[n] = total / a[0]
    return np.sum(y**2)


def rows_written_before(a, b):
    """Of which the rows above are not what they were."""
    b = b.copy()
    for i in range(b.shape[0]):
        b[i] = np.sin(b[i] + a[i, :i] @ b[:i])
        b[0] *= 0.9
    return np.sum(b * b)


def positive(n):
    root = RNG.normal(size=(n, n))
    return root @ root.T + n * np.eye(n)


NOTHING_KEPT = {
    cholesky: (positive(4),),
    thomas: (RNG.normal(size=5) * 0.1, RNG.normal(size=5) * 0.1 + 3, RNG.normal(size=5)),
    elimination: (positive(4),),
    warped: (RNG.normal(size=4), RNG.normal(size=3)),
    rows_not_yet_written: (RNG.normal(size=(4, 4)), RNG.normal(size=(4, 3))),
    fed_back: (np.array([1.1, 0.4, -0.3]), RNG.normal(size=6)),
    fed_back_as_far: (np.array([1.1, 0.4, -0.3]), RNG.normal(size=6)),
}


@pytest.mark.parametrize("program", NOTHING_KEPT, ids=lambda p: p.__name__)
def test_nothing_is_recorded(program):
    source = grad(program).source_for(*NOTHING_KEPT[program])
    assert "np.empty" not in source and "append" not in source, source
    check_grads(program, NOTHING_KEPT[program], order=2)


def test_what_a_branch_picks_by_an_array_of_places_is_not_picked_again():
    def picked(x, places, c):
        if c > 0:
            y = x[places]
            return np.sum(np.sin(y) * y)
        return np.sum(x)

    args = RNG.normal(size=5), np.array([0, 3, 3]), 1.0
    assert grad(picked).source_for(*args).count("x[places]") == 1
    check_grads(picked, args, order=2)


def test_what_is_overwritten_is_recorded():
    def smoothed(u, n):
        u = u.copy()
        for _ in range(n):
            for i in range(1, len(u) - 1):
                u[i] = np.sin(u[i - 1] + u[i + 1]) * u[i]
        return np.sum(u)

    args = RNG.normal(size=5), 3
    assert "np.empty" in grad(smoothed).source_for(*args)
    check_grads(smoothed, args, order=2)
    check_grads(blocks_of_two, (RNG.normal(size=6),), order=2)
    check_grads(rows_written_before, (RNG.normal(size=(4, 4)), RNG.normal(size=(4, 3))), order=2)


def test_arrays_that_are_swapped_are_recorded():
    def swapped(a, b, n):
        a, b = a.copy(), b.copy()
        for k in range(n):
            b[k] = np.sin(a[k]) * b[k]
            a, b = b, a
        return np.sum(a * b**2)

    check_grads(swapped, (RNG.normal(size=4), RNG.normal(size=4), 4), order=2)


def test_a_write_that_changes_the_type_is_not_taken_again():
    def rounded(x):
        y = np.zeros(len(x), np.float32)
        total = 0.0
        for i in range(len(x)):
            v = np.exp(x[i])
            y[i] = v
            total += v * v
        return total + np.sum(y)

    x = RNG.normal(size=3)
    np.testing.assert_allclose(grad(rounded)(x), 2 * np.exp(2 * x) + np.exp(x), rtol=1e-7)


def nest(seed):
    """A random program and arguments; None where it reads out of bounds, or numbers grow too large."""
    namespace = defined(Nest(seed).source(), f"<nest {seed}>", checkpoint_loop=checkpoint_loop)
    rng = np.random.default_rng(seed)
    args = tuple(0.7 * rng.normal(size=s) for s in (SIZE, SIZE, (SIZE, SIZE)))
    try:
        namespace["f"](*args)
    except (IndexError, RuntimeWarning):
        return None
    return namespace["f"], args, rng


@pytest.mark.parametrize("seed", range(30))
def test_random_nests(seed, monkeypatch):
    found = nest(seed)
    if found is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare_modes(*found, order=2 if seed % 10 == 0 else 1)
