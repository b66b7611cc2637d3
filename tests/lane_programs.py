"""Arguments for `vmap`, and programs whose lanes part."""

from __future__ import annotations

from typing import Any

import numpy as np

RNG = np.random.default_rng(0)
x5 = RNG.normal(size=5)
P5 = np.abs(x5) + 0.5
X = RNG.normal(size=(5, 3))
W = RNG.normal(size=(3, 3))
SQUARES = RNG.normal(size=(4, 3, 3)) + 3 * np.eye(3)
COUNTS = np.array([0, 1, 2, 3, 5])


def shrunk(a: Any, b: Any, c: Any) -> Any:
    while a > 0.1:
        a = a * b
    return a + c


def halved(z: Any) -> Any:
    n = 0
    while z > 1:
        z = z / 2
        n += 1
    return z, n


def early(x: Any) -> Any:
    for i in range(4):
        x = x * 1.5
        if x > 1:
            return x * 10
        if i == 2 and x < 0:
            break
        if x < -1:
            continue
        x = x + 0.1
    else:
        return x + 100
    return x


def zero_trips(x: Any, n: Any) -> Any:
    t, i = 1.0, -1
    for i in range(n):
        t = t * x
    return t * (i + 1)


def nested(x: Any, n: Any) -> Any:
    t = x
    for i in range(n):
        for j in range(i):
            t = np.sin(t) + j
        t = t * x
    return t


def sized(x: Any, n: Any) -> Any:
    y = np.zeros(n)
    for i in range(n):
        y[i] = x * i
    return np.sum(y**2)


def guarded(x: Any) -> Any:
    if x > 0:
        return np.log(x)
    return 0.0 * x


def bisected(lo: Any, hi: Any, x: Any) -> Any:
    if hi - lo < 1e-3:
        return 0.5 * (lo + hi) * x
    m = 0.5 * (lo + hi)
    if m * m < x:
        return bisected(m, hi, x)
    return bisected(lo, m, x)


def factorial(n: Any, x: Any) -> Any:
    return x if n <= 0 else x * factorial(n - 1, x)


PARTING: dict[str, tuple[Any, tuple[Any, ...], Any, int]] = {       # program, arguments, in_axes, differentiated
    "while": (lambda z: halved(z)[0] * z, (np.array([0.5, 3.0, 100.0, 7.0]),), 0, 0),
    "early return": (early, (np.array([-2.0, -0.5, 0.1, 0.5, 3.0]),), 0, 0),
    "zero trips": (zero_trips, (x5, COUNTS), 0, 0),
    "nested loops": (nested, (x5, COUNTS), 0, 0),
    "sizes": (sized, (x5, COUNTS), 0, 0),
    "a branch that may not be taken": (guarded, (np.array([-1.0, 0.0, 2.0]),), 0, 0),
    "recursion": (factorial, (COUNTS, x5), 0, 1),
    "recursion on values": (bisected, (0.0, 10.0, np.array([1.0, 2.0, 30.0])), (None, None, 0), 2),
    "a mask": (lambda x: np.sum(x[x > 0] ** 3), (X,), 0, 0),
    "a loop over rows": (lambda x, s: sum([v * s for v in x if v > 0], 0.0), (X, x5), 0, 1),
    "two on one condition": (lambda x: (x * 2 if x > 0 else -x) * (np.sin(x) if x > 0 else np.cos(x)), (x5,), 0, 0),
    "all and any": (lambda x: np.prod(x) if np.all(x > -1) and x[0] > 0 else np.sum(x), (X,), 0, 0),
}
