"""Where other systems return a wrong number without a word: writes, views and broadcasting."""

import numpy as np

from .program import Program, apart, normal, positive

# A slice is updated from slices that overlap it.


def overlap_forwards(u):
    u = u.copy()
    u[1:] += u[:-1] ** 2
    return np.sum(u**3)


def overlap_backwards(u):
    u = u.copy()
    u[:-1] += np.sin(u[1:]) * u[:-1]
    u[:-1] -= u[1:] * u[:-1]
    return np.sum(u**2)


def overlap_with_itself(u):
    u = u.copy()
    u[1:-1] *= u[2:] + u[1:-1] * u[:-2]
    u += u[::-1] ** 2
    return np.sum(u**2)


def overlap_in_time_steps(u, c):
    u = u.copy()
    for k in range(4):
        u[1:-1] += c * u[1:-1] * (u[2:] - 2 * u[1:-1] + u[:-2]) + 0.1 * k
    return np.sum(u**2)


# An element is updated by another, or by itself.


def element_by_element(x):
    x = x.copy()
    x[0] *= x[1]
    x[1] *= x[0]
    return x[0] * x[1] + x[0] ** 2


def element_by_itself(x):
    x = x.copy()
    x[0] *= x[0]
    x[1] -= x[1] ** 2 * x[0]
    x[-1] = x[-1] * x[0] + x[-1]
    return np.sum(x**2)


def element_in_place_in_loop(x):
    x = x.copy()
    for i in range(len(x) - 1):
        x[i] *= x[i + 1]
        x[i + 1] /= 1 + x[i] ** 2
    return np.prod(x) + np.sum(x**2)


# ``v[i] = v[i] + x`` and ``v[i] += x`` are the same.


def assigned_sum(v, x):
    v = v.copy()
    for i in range(len(v)):
        v[i] = v[i] + x * v[0]
    return np.sum(v**2)


def augmented_sum(v, x):
    v = v.copy()
    for i in range(len(v)):
        v[i] += x * v[0]
    return np.sum(v**2)


def assigned_slice(v, x):
    v = v.copy()
    v[1:] = v[1:] + x * v[:-1]
    v[1:] = v[1:]
    v[:] = v * v[0]
    return np.sum(v**2)


# Views and aliases see each other's writes.


def view_written(x):
    y = x.copy()
    tail = y[2:]
    tail[:] = tail * y[0]
    return np.sum(y**2)


def base_written(x):
    y = x.copy()
    tail = y[1:]
    y *= y[1]
    return np.sum(tail**2) + tail[0] * y[0]


def view_of_row_in_loop(m):
    a = m.copy()
    for i in range(1, len(a)):
        row = a[i]
        row -= a[i - 1] * row[0]
    return np.sum(a**3)


def reversed_view(x):
    y = x.copy()
    back = y[::-1]
    back[0] = y[0] * y[1]
    y[1] += back[1] * back[0]
    return np.sum(back * np.arange(len(x)) * y)


def ravelled_view(m):
    a = m.copy()
    flat = a.ravel()
    flat[1] *= flat[0]
    a[1] += flat[:3]
    return np.sum(flat**2 * np.arange(6))


def alias_written(x):
    y = x.copy()
    z = y
    z *= 2
    y[0] = z[1] * y[2]
    return np.sum(z**2)


def alias_before_loop(x):
    y = x.copy()
    start = y
    for i in range(1, len(y)):
        y[i] = y[i] * start[i - 1]
    return start[-1] * y[0]


def copy_is_no_alias(x):
    y = x.copy()
    kept = y.copy()
    y[0] = y[1] ** 2
    fancy = y[[0, 1]]
    fancy[0] *= 3
    return np.sum(kept * y) + np.sum(fancy**2)


# Operands of other shapes: their cotangents are summed back.


def unbroadcast_chain(a, b, c, d):
    return np.sum((a - b) / (2 + c**2) * d + (a * d) ** 2 - b / (3 + np.sin(c)))


def unbroadcast_quotient(a, b):
    return np.sum(a / b) + np.sum(b / a) + np.sum((a / b) ** (b / a))


def unbroadcast_in_loop(scale, shift, x):
    for _ in range(2):
        x = x * scale + shift / x
    return np.sum(x)


def unbroadcast_comparison(a, b):
    return np.sum((a > b) * a * b) + np.sum(np.maximum(a, b) ** 2 - np.minimum(a, b) ** 3)


PROGRAMS = [
    Program(overlap_forwards, normal(("n",))),
    Program(overlap_backwards, normal(("n",))),
    Program(overlap_with_itself, normal(("n",))),
    Program(overlap_in_time_steps, lambda rng, size=5: (rng.random(size), 0.3), (0, 1)),
    Program(element_by_element, normal((2,))),
    Program(element_by_itself, normal(("n",))),
    Program(element_in_place_in_loop, normal(("n",))),
    Program(assigned_sum, normal(("n",), None), (0, 1)),
    Program(augmented_sum, normal(("n",), None), (0, 1)),
    Program(assigned_slice, normal(("n",), None), (0, 1)),
    Program(view_written, normal(("n",))),
    Program(base_written, normal(("n",))),
    Program(view_of_row_in_loop, normal((3, 3))),
    Program(reversed_view, normal(("n",))),
    Program(ravelled_view, normal((2, 3))),
    Program(alias_written, normal(("n",))),
    Program(alias_before_loop, normal(("n",))),
    Program(copy_is_no_alias, normal(("n",))),
    Program(unbroadcast_chain, normal((), (1, 4), (3, 1), (3, 4)), (0, 1, 2, 3)),
    Program(unbroadcast_quotient, positive((3, 1), (4,)), (0, 1)),
    Program(unbroadcast_in_loop, positive((1,), None, (3,)), (0, 1, 2)),
    Program(unbroadcast_comparison, apart((3, 1), (1, 4)), (0, 1)),
]
