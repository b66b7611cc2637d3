"""Arrays that one side of a branch replaces and the other one keeps: whose memory is written?"""

import numpy as np

from .program import Program, fixed, normal


def window_of_lanes(x, k):
    lanes, h, w = x.shape
    out = np.zeros((lanes, h, w))
    for i in range(h):
        for j in range(w):
            s = np.zeros(lanes)
            for a in range(3):
                if 0 <= i + a - 1 < h:
                    s = s + x[:, i + a - 1, j] * k[:, a]
            out[:, i, j] = s
    return np.sum(out**2)


def replaced_on_one_side(x, c):
    s = x * 2
    for i in range(len(c)):
        if c[i] > 0:
            s = s + x
    return np.sum(s * s)


def replaced_under_another_name(x, c):
    s = x * 2
    t = s
    for i in range(len(c)):
        if c[i] > 0:
            s = s * x
    return np.sum(s * t)


def replaced_across(x, c):
    s = x * 2
    for i in range(len(c)):
        if c[i] > 0:
            s = s[::-1] + x
    return np.sum(s * x)


def exchanged_on_one_side(x, c):
    a, b = x * 1.5, x + 1
    for i in range(len(c)):
        if c[i] > 0:
            a, b = b, a + b
    return np.sum(a * b * x)


def kept_by_another_row(x, c):
    rows = np.zeros((len(c), x.size))
    s = x * 2
    for i in range(len(c)):
        if c[i] > 0:
            s = s + rows[i - 1]
        rows[i] = s
    return np.sum(rows * rows)


def parameter_replaced(x, c):
    y = x
    if c[0] > 0:
        y = x + 1
    z = y
    if c[1] > 0:
        z = y * 3
    return np.sum(x * y * z)


def streamed(f, steps):
    """What is used up in a step is not what the next one is written to."""
    for _ in range(steps):
        rho = f.sum(axis=0)
        out = np.empty_like(f)
        for q in range(len(f)):
            out[q] = np.roll(f[q] * (1 + 0.1 * rho) - 0.3 * q * rho, q, axis=0)
        f = out
    return np.sum(f * f)


def conjugate_gradients(a, b, steps):
    """Leaves the loop, perhaps before `scaled` has a value."""
    x, r = np.zeros_like(b), b.copy()
    p, rs, k = r, r @ r, 0
    while k < steps:
        if np.sqrt(rs) < 1e-10:
            break
        scaled = a @ p
        alpha = rs / (p @ scaled)
        x = x + alpha * p
        r = r - alpha * scaled
        after = r @ r
        p = r + (after / rs) * p
        rs = after
        k += 1
    return np.sum(x**2)


CHOICES = np.array([0.4, -0.3, 1.2])
MATRIX = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 5.0]])

PROGRAMS = [
    Program(window_of_lanes, normal((5, 7, 4), (5, 3)), (0, 1)),
    Program(replaced_on_one_side, normal(("n",), then=(CHOICES,))),
    Program(replaced_under_another_name, normal(("n",), then=(CHOICES,))),
    Program(replaced_across, normal(("n",), then=(CHOICES,))),
    Program(exchanged_on_one_side, normal(("n",), then=(CHOICES,))),
    Program(kept_by_another_row, normal(("n",), then=(CHOICES,))),
    Program(parameter_replaced, normal(("n",), then=(CHOICES,))),
    Program(streamed, normal((7, 5, 6), then=(2,))),
    Program(conjugate_gradients, fixed(MATRIX, np.array([1.0, -2.0, 0.5]), 2), (1,)),
    Program(conjugate_gradients, fixed(MATRIX, np.zeros(3), 2), (1,), order=1, name="conjugate_gradients_at_once"),
]
