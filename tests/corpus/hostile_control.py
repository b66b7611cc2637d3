"""Derivatives taken inside the program, and control flow that is easily got wrong around them."""

import numpy as np

from transformer import grad, jvp, linearize, value_and_grad, vjp

from .program import Program, apart, fixed, normal, positive


def tangents_in_loop(x, v):
    total = 0.0
    for i in range(3):
        y, t = jvp(lambda z: np.sin(z) * z[i], (x,), (v,))
        total += np.sum(y * t)
        x = x + 0.1 * t
    return total


def cotangents_in_loop(x, v):
    total = 0.0
    for _ in range(3):
        y, pull = vjp(lambda z: np.sin(z) * z, x)
        (dx,) = pull(v)
        total += np.sum(y * dx)
        x = x + 0.1 * dx
    return total


def hessian_vector_inside(x, v):
    def energy(z):
        return np.sum(np.sin(z) * z[::-1])

    return np.sum(jvp(grad(energy), (x,), (v,))[1] ** 2)


def newton_step_in_plane(x):
    def energy(z):
        return z[0] ** 4 + z[1] ** 4 + z[0] * z[1] + np.sum(z * z)

    for _ in range(2):
        hessian = np.stack([jvp(grad(energy), (x,), (e,))[1] for e in np.eye(2)])
        x = x - np.linalg.solve(hessian, grad(energy)(x))
    return energy(x)


def linear_map_twice(x, s):
    y, line = linearize(lambda z: np.sin(z * s), x)
    return np.sum(line(x) * y) + np.sum(line(y))


def pullback_of_pair(x, s):
    y, pull = vjp(lambda a, b: (a * b, np.sum(a) * b), x, s)
    da, db = pull((y[0], 1.0))
    return np.sum(da) * db


def point_written_before_pullback(x, s):
    """The pullback belongs to the point as it was."""
    z = x.copy()
    y, pull = vjp(lambda a: a * a * s, z)
    z *= 2
    return np.sum(pull(y)[0] * z)


def pullbacks_kept_in_list(x, s):
    pulls = []
    h = x
    for k in (1.0, 2.0, 3.0):
        h, pull = vjp(lambda a, k=k: np.sin(a * k * s), h)
        pulls.append(pull)
    g = np.ones(3)
    for pull in reversed(pulls):
        (g,) = pull(g)
    return np.sum(g * h)


def jacobian_by_rows(x, s):
    def f(a):
        return np.array([a[0] * a[1], np.sin(a[2]) * s, a[0] ** 2])

    _, pull = vjp(f, x)
    total = 0.0
    for e in np.eye(3):
        total += np.sum(pull(e)[0] ** 2)
    return total


def training_with_values(w, x, y, rate):
    def loss(w, row, target):
        return (np.tanh(row @ w) - target) ** 2

    step = value_and_grad(loss)
    total = 0.0
    for row, target in zip(x, y):
        value, gradient = step(w, row, target)
        total += value
        w = w - rate * gradient
    return total + np.sum(w**2)


def gradients_swapped_in_loop(x, y):
    def f(a, b):
        return np.sum(a * b**2)

    for _ in range(3):
        x, y = grad(f, argnums=(1, 0))(x, y)
        x = np.tanh(x)
    return np.sum(x * y)


def gradient_in_condition(x, s):
    g = grad(lambda z: np.sum(z**3) * s)(x)
    if g[0] > 1:
        return np.sum(g)
    while np.sum(g**2) > 0.5:
        g = g * 0.5
    return np.sum(g * x)


def break_and_else_nested(x, s):
    total = s
    for i in range(len(x)):
        for j in range(i):
            if x[i] * x[j] > 0.5:
                total = total + x[i] * s
                break
            total = total * x[j]
        else:
            total = total + x[i] ** 2
    else:
        total = total * s
    return total


def return_from_inner_loop(x, s):
    seen = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(len(x)):
            seen[j] += x[i] * x[j] * s
            if seen[j] > 2.0:
                return np.sum(seen**2) * s
        if seen[i] < -3.0:
            return seen[i]
    return np.sum(seen) + s


def walrus_in_while(x):
    i = 0
    total = 0.0
    while (n := i + 1) <= len(x) and (v := x[i]) < 10:
        total += v * n
        i = n
    return total * total


def walrus_that_unrolls(x):
    k, v = -1, x
    while (k := k + 1) < 3:
        v = np.append(v, v[k] * x[0])
    return np.sum(v) * k


def conditions_that_count(x):
    k, total, y = 0, 0.0, x.copy()

    def more():
        nonlocal k
        k += 1
        y[0] *= 0.9
        return k < 2 or y[0] * k < 1.0

    while more():
        total += x[k % 3] * k
        if total > 50.0:
            break
    else:
        total *= 3.0
    return total * k * y[0]


def conditions_that_take(x):
    total, items, rest = x[1], iter(x), []
    while (value := next(items, None)) is not None:
        total = total * 2.0 + value
        if value > -0.5:
            rest.append(value * x[0])
    while rest and (value := rest.pop()) > -9.0:
        total = total * 0.5 + value * value
    return total


def functions_with_loop_defaults(x):
    functions = [lambda v, k=k: v * x[k] + k for k in range(3)]
    total = 0.0
    for f in functions:
        total = total + f(2.0) ** 2
    return total


def functions_of_loop_variable(x):
    functions = []
    for k in range(3):
        functions.append(lambda v: v * x[k])
    total = 0.0
    for f in functions:
        total = total + f(2.0) ** 2
    return total


def return_that_never_happens(x, y):
    k = int(y > 0) + 1
    for i in (0, 1):
        if k <= i:
            return x * i
    return x**3 * y


def names_left_by_loops(x):
    """Nothing but `del` and `+=` use what the loop leaves in its names."""
    total = 0.0
    for i in range(len(x)):
        square = x[i] * x[i]
        total += square * i
    square += 1.0
    del i, square
    return total


PROGRAMS = [
    Program(tangents_in_loop, normal((3,), (3,)), (0, 1)),
    Program(cotangents_in_loop, normal((3,), (3,)), (0, 1)),
    Program(hessian_vector_inside, normal(("n",), ("n",)), (0, 1)),
    Program(newton_step_in_plane, positive((2,))),
    Program(linear_map_twice, normal(("n",), None), (0, 1)),
    Program(pullback_of_pair, normal(("n",), None), (0, 1)),
    Program(point_written_before_pullback, normal(("n",), None), (0, 1)),
    Program(pullbacks_kept_in_list, normal((3,), None), (0, 1)),
    Program(jacobian_by_rows, normal((3,), None), (0, 1)),
    Program(training_with_values, normal((3,), ("n", 3), ("n",), then=(0.1,)), (0, 1, 2, 3)),
    Program(gradients_swapped_in_loop, normal(("n",), ("n",)), (0, 1)),
    Program(gradient_in_condition, normal((3,), then=(0.7,)), (0, 1)),
    Program(gradient_in_condition, fixed(np.array([0.9, -0.4, 0.3]), 1.5), (0, 1),
            name="gradient_in_condition_returns"),
    Program(break_and_else_nested, apart(("n",), then=(2.0,)), (0, 1)),
    Program(return_from_inner_loop, apart(("n",), then=(1.0,)), (0, 1)),
    Program(return_from_inner_loop, apart(("n",), then=(0.01,)), (0, 1), name="return_from_inner_loop_not"),
    Program(walrus_in_while, normal(("n",))),
    Program(walrus_that_unrolls, apart((3,))),
    Program(conditions_that_count, fixed(np.array([0.3, 1.1, 0.6]))),
    Program(conditions_that_count, fixed(np.array([0.3, 1.1, 40.0])), name="conditions_that_count_until_left"),
    Program(conditions_that_take, fixed(np.array([0.5, -0.6, 1.2]))),
    Program(functions_with_loop_defaults, normal((3,))),
    Program(functions_of_loop_variable, normal((3,))),
    Program(return_that_never_happens, positive(None, None), (0, 1)),
    Program(names_left_by_loops, normal(("n",))),
]
