"""Loops: what they run over and how they end."""

import math

import numpy as np

from .program import Program, apart, fixed, normal, positive


def range_forms(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** 2 * i
    for i in range(1, len(x)):
        total += x[i] * x[i - 1]
    for i in range(len(x) - 1, -1, -1):
        total = total * 0.9 + x[i] * i
    for i in range(0, len(x), 2):
        total += math.sin(x[i]) * total
    for i in range(len(x) - 1, 0, -2):
        total *= 1 + 0.1 * x[i]
    return total


def range_with_arguments(x, start, stop, step):
    y = x[0] ** 2
    for i in range(start, stop, step):
        y = y * 0.5 + x[i] * y + i
    return y


def range_computed(x):
    n = len(x)
    total = 0.0
    for i in range(n // 2, n - n % 2):
        for j in range(i, 0, -(1 + i % 2)):
            total += x[i] * x[j] ** 2
    return total


def range_from_values(x):
    """The number of trips comes out of the data."""
    count = int(np.sum(x > 0)) + 2
    y = 0.5
    for _ in range(count):
        y = y * x[0] + math.cos(y)
    return y


def zero_trips(x, n):
    y = x**2
    for i in range(n):
        y = y * x + i
    return y + x


def zero_trips_of_some(x):
    total = x[0]
    for i in range(3):
        for j in range(i):
            total = total * x[j] + x[i]
    return total


def over_array(x):
    total = 1.0
    for value in x:
        total = total * value + value**2
    return total


def over_rows(m, v):
    for row in m:
        v = np.tanh(row * v) + row[0]
    return np.sum(v)


def over_tuple_and_list(a, b, c):
    total = 0.0
    for value in (a, b, c):
        total += value**2 * (1 + total)
    for value in [b * c, a]:
        total *= value
    return total


def over_dict(params):
    total = 0.0
    for name in params:
        total += np.sum(params[name] ** 2)
    for name, value in params.items():
        total += len(name) * np.prod(value)
    for value in params.values():
        total *= 1 + 0.1 * value[0]
    return total


def over_zip(x, y, z):
    total = 0.0
    for a, b, c in zip(x, y, z):
        total = total * a + b * c
    for a, (b, c) in zip(x, [(1.0, 2.0), (3.0, 4.0)]):
        total += a**b * c
    return total


def over_enumerate(x, layers):
    total = 0.0
    for i, value in enumerate(x):
        total += value**i
    for k, w in enumerate(layers, start=1):
        total += k * np.sum(w**2) * total
    return total


def over_reversed(x):
    total = 0.0
    for value in reversed(x):
        total = value + 0.5 * total * value
    for i in reversed(range(1, len(x))):
        total = total * x[i] + x[i - 1]
    return total


def over_negative_array(x):
    total = 0.0
    for value in x[::-1] ** 2:
        total = math.sin(total + value)
    return total


def while_on_counter(x):
    i = 0
    y = 1.0
    while i < 5:
        y = y * math.sin(x + i) + x
        i += 1
    return y


def while_on_value(x):
    count = 0
    y = x
    while y < 20:
        y = y * y + 1
        count += 1
    return y / count


def while_on_parameter(x):
    """The body and the condition both depend on the parameter."""
    total = 0.0
    term = x
    while term > 0.05:
        total += term**2
        term = term * x / (1 + x)
    return total


def while_on_array(x):
    while np.sum(x**2) > 1:
        x = x * 0.6 + 0.01 * x**2
    return np.sum(x**3)


def while_true(x):
    total = 0.0
    k = 0
    while True:
        total += x**k / (k + 1)
        k += 1
        if k > 4 or total > 3:
            break
    return total


def while_with_else(x):
    y = x
    while y < 5:
        y = y * y + 0.5
        if y > 100:
            break
    else:
        y = y * x
    return y


def for_else_completed(x):
    total = 0.0
    for value in x:
        if value > 100:
            break
        total += value**2
    else:
        total *= x[0]
    return total


def for_else_broken(x):
    for i in range(len(x)):
        if x[i] > 0:
            found = x[i] ** 3
            break
    else:
        found = np.sum(x)
    return found * x[0]


def break_out(x):
    total = 0.0
    for value in x:
        total = total * value + value**2
        if total > 0.5:
            break
    return total**2


def break_from_inner(m):
    total = 0.0
    for row in m:
        for value in row:
            if value < -0.5:
                break
            total += value * total + 1
        total *= row[0]
    return total


def continue_past(x):
    total = 1.0
    for i in range(len(x)):
        if x[i] < 0:
            continue
        total = total * x[i] + i
    return total


def continue_with_argmax(m):
    total = 0.0
    for row in m:
        k = np.argmax(row)
        if k == 0:
            continue
        total += row[k] ** 2 * row[0]
    return total


def break_and_continue(x, limit):
    total = 0.0
    for i, value in enumerate(x):
        if i % 2 == 0:
            total -= value
            continue
        total += value * value
        if total > limit:
            break
        total *= 1.1
    return total * x[0]


def return_inside_loop(x):
    total = 1.0
    for value in x:
        total = total * value
        if total > 1.5:
            return total**2
    return total


def code_after_return_loop(x, y):
    """What follows a loop with a return runs only where the loop did not return."""
    for i in range(len(x)):
        y = y * x[i]
        if y < -0.2:
            return y**2 * i
    y = y + x[0]
    total = np.sum(x) * y
    return total**2


def return_inside_while(x):
    y = x
    while True:
        y = y * y + 0.3
        if y > 3:
            return y * x
        if y < -3:
            return x


def return_from_nested_loops(m):
    total = 0.0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            total += m[i, j] ** 2
            if total > 1.5:
                return total * m[i, j]
    return total


POSITIVES = np.array([0.7, 0.4, 0.9, 0.6])

PROGRAMS = [
    Program(range_forms, normal((5,))),
    Program(range_with_arguments, normal((6,), then=(1, 6, 2))),
    Program(range_with_arguments, normal((6,), then=(5, -1, -2)), name="range_downwards"),
    Program(range_with_arguments, lambda rng: (rng.random(6), 4, 2, 1), name="range_empty"),
    Program(range_computed, normal((5,))),
    Program(range_from_values, apart((4,))),
    Program(zero_trips, normal(None, then=(0,))),
    Program(zero_trips, normal(None, then=(3,)), name="zero_trips_not"),
    Program(zero_trips_of_some, normal((3,))),
    Program(over_array, normal(("n",))),
    Program(over_rows, normal(("n", 3), (3,)), (0, 1)),
    Program(over_tuple_and_list, normal(None, None, None), (0, 1, 2)),
    Program(over_dict, lambda rng: ({"w": rng.random(3), "bias": rng.random(2)},)),
    Program(over_zip, positive((3,), (3,), (3,)), (0, 1, 2)),
    Program(
        over_enumerate, lambda rng: (rng.random(4), [rng.random(2), rng.random((2, 2))]), (0, 1)
    ),
    Program(over_reversed, normal(("n",))),
    Program(over_negative_array, normal(("n",))),
    Program(while_on_counter, normal(None)),
    Program(while_on_value, fixed(1.3)),
    Program(while_on_parameter, fixed(0.8)),
    Program(while_on_array, fixed(np.array([1.0, -2.0, 0.5]))),
    Program(while_true, fixed(0.9)),
    Program(while_with_else, fixed(1.1)),
    Program(for_else_completed, normal(("n",))),
    Program(for_else_broken, apart((5,))),
    Program(for_else_broken, fixed(-POSITIVES), name="for_else_not_broken"),
    Program(break_out, fixed(POSITIVES)),
    Program(break_out, apart((5,)), name="break_out_anywhere"),
    Program(break_from_inner, apart((3, 3))),
    Program(continue_past, apart((5,))),
    Program(continue_with_argmax, apart((4, 3))),
    Program(break_and_continue, apart((5,), then=(0.3,))),
    Program(return_inside_loop, fixed(np.array([0.9, 1.2, 1.5, 0.4]))),
    Program(return_inside_loop, fixed(POSITIVES), name="return_inside_loop_not"),
    Program(code_after_return_loop, fixed(np.array([0.9, -0.5, 0.7]), 0.8), (0, 1)),
    Program(code_after_return_loop, fixed(POSITIVES, 0.8), (0, 1), name="code_after_loop_ran"),
    Program(return_inside_while, fixed(0.9)),
    Program(return_from_nested_loops, fixed(np.outer([0.4, 0.9], [0.7, 1.2, 0.8]))),
]
