"""Loops, and the lists that they fill."""

import functools
import operator

import numpy as np

from .surroundings import MATRIX, VECTOR, program

# Loops.


@program(0.5, 4)
def range_loops(x, n):
    total = 0.0
    for i in range(n):
        total += x * i
    for i in range(2, n + 3):
        total = total + i
    for i in range(n, 0, -1):
        total = total * x + i
    for i in range(1, 10, 3):
        total -= i
    for i in range(-3, n):
        total += i * x
    for i in range(10, 1, -4):
        total += i
    return total + i


@program(0.5, 0)
def zero_trips(x, n):
    y = x
    for i in range(n):
        y = y * 2
        last = i  # noqa: F841
    for i in range(3, n):
        y = y + 100
    return y


@program(VECTOR)
def loop_variable_after_loop(x):
    for i in range(len(x) - 1):
        y = x[i]
    for v in x:
        pass
    return i + y + v


@program(VECTOR)
def over_arrays(x):
    total = 0.0
    for v in x:
        total += v * v
    for k, v in enumerate(x):
        total += k * v
    for k, v in enumerate(x[1:], start=2):
        total += k * v
    for a, b in zip(x, x[::-1]):
        total += a * b
    for k, (a, b) in enumerate(zip(x[1:], x)):
        total -= k * a / (1 + b * b)
    for v in reversed(x):
        total = total * 0.5 + v
    for k in reversed(range(2, 5)):
        total += k * x[k]
    return total


@program(MATRIX)
def over_rows(m):
    total = np.zeros(3)
    for row in m:
        total = total + row * row[0]
    for row in m:
        for v in row:
            total[1] += v
    return total


@program(0.5)
def over_containers(x):
    total = 0.0
    for a in (x, 2.0, 3):
        total += a
    for key, value in {"a": x, "b": 2.0}.items():
        total += value * (2 if key == "a" else 3)
    for letter in "ab":
        total += ord(letter) * x
    for k, (a, b) in enumerate([(1, x), (x, 2)]):
        total += k * a * b
    for a, b in zip([x, 2 * x], np.array([1.0, 2.0])):
        total += a * b
    for a in sorted([3, 1, 2]):
        total = total * a
    for key in {"p": 1}:
        total += len(key)
    return total


@program(0.5)
def widening(x):
    a = 0
    b = 1
    c = 0.0
    for v in np.array([1.0, 2.0]):
        a = a + b
        b = b * x
        c = c + v
    return a, b, c


@program(10.0)
def swapping(x):
    a, b, k = 0.0, 1.0, 0
    while a < x:
        a, b = b, a + b
        k += 1
    return a, b, k


@program(7.0)
def while_loops(x):
    n = 0
    while True:
        x = x / 2
        n += 1
        if x < 0.1:
            break
    while n > 3 and x < 1:
        n -= 1
        x = x * 1.5
    else:
        x = x + 1
    i = 5
    while i > 0:
        i -= 2
        if i == 1:
            continue
        x = x + i
    return x, n, i


@program(VECTOR, 0.6)
def breaks(x, limit):
    total = 0.0
    for k in range(len(x)):
        if x[k] > limit:
            break
        total += x[k]
    else:
        total = -1.0
    for v in x:
        if v < 0:
            continue
        total += v
        if total > 2:
            break
    return total, k


@program(VECTOR, 1.0)
def early_return(x, limit):
    for k in range(len(x)):
        for v in x:
            if v * k > limit:
                return v + k
        limit = limit * 0.9
    return limit


@program(VECTOR)
def flags(x):
    first = True
    for v in x:
        if first:
            best = v
            first = False
        elif v > best:
            best = v
    return best


@program(VECTOR)
def previous_value(x):
    total = 0.0
    for k in range(len(x)):
        if k > 0:
            total += x[k] * previous  # noqa: F821
        previous = x[k]  # noqa: F841
    return total


@program(0.4, 3)
def nested_loops(x, n):
    total = 0.0
    for i in range(n):
        inner = 1.0
        for j in range(i + 1):
            inner *= x + j
            for k in range(2):
                total += inner * k
        total = total + inner
    return total


@program(0.5)
def unrolled_on_demand(x):
    weights = [1.0, x, "three"]
    powers = (3, 1, 2)
    total = 0.0
    for i in range(2):
        total += weights[i] * x ** powers[i]
    k = 0
    for _ in range(3):
        total += powers[k]
        k += 1
    i = 0
    while i < len(powers):
        total += powers[i] * x
        i += 1
    return total


@program(0.5, 3)
def demanded(x, n):
    layers = [x] * n
    names = ["a", "b", "c"]
    y = np.arange(6.0).reshape(2, n)
    return sum(layers) + len(names[n - 1]), np.sum(y, axis=n - 2)


@program(VECTOR)
def structure_changes(x):
    y = x
    for _ in range(2):
        y = y[1:] + y[:-1]
    state = ()
    for _ in range(3):
        state = (*state, x[0])
    return y, state


@program(VECTOR)
def reused_temporaries(x):
    total = 0.0
    for i in range(3):
        t = x[i]
        total += t
    for i in range(3):
        t = x * i
        total += t.sum()
    t = "text"
    return total + len(t)


# Lists that loops fill.


@program(VECTOR)
def appended(x):
    values = []
    for v in x:
        values.append(v * 2)
    total = 0.0
    for v in values:
        total += v
    return np.array(values), total, len(values) * 1.0, values[1], values[-1], sum(values), np.mean(values), max(values)


@program(VECTOR)
def appended_to_start(x):
    states = [0.0]
    for v in x:
        states.append(states[-1] * 0.5 + v)
    states.append(9.0)
    return np.array(states), states[0], states[-1]


@program(MATRIX)
def appended_rows(m):
    rows = []
    for row in m:
        rows.append(np.tanh(row))
    table = []
    for i in range(m.shape[0]):
        line = []
        for j in range(m.shape[1]):
            line.append(m[i, j] * i)
        table.append(line)
    return np.array(rows), np.stack(rows), rows[0], np.array(table), np.array(rows[1:])


@program(VECTOR)
def comprehensions(x):
    squares = [v * v for v in x]
    named = {k: x[k] for k in range(3)}
    pairs = [(a, b) for a, b in zip([1.0, 2.0], [x[0], x[1]])]
    few = [v for v in (1, 2, 3, 4) if v % 2 == 0]
    nested = [[i * x[j] for j in range(2)] for i in range(3)]
    return (
        np.array(squares),
        named[2],
        pairs[1][1],
        sum(few),
        np.array(nested),
        sum(v for v in x if v > 0),
        np.array([x[i] * k for i in range(3) for k in (0, 1)]),
        tuple(k for k in (1, 2)),
    )


@program(VECTOR)
def sums_and_extremes(x):
    total = sum(v**2 for v in x) + sum([x[0], 2.0], 3.0) + sum(x)
    low, high = min(x[0], x[1], 0.1), max(x[0], 3)
    order = min(len(x), 3) + max(2, 7)
    parts = any(v > 0 for v in (x[0], x[1])) * 1.0 + all([x[0] > 0, x[2] > 5]) * 2.0
    return total, low, high, order, parts, functools.reduce(operator.mul, [x[0], x[1], 2]), min(x), max([3, 1])


@program(VECTOR)
def reduce_over_array(x):
    return functools.reduce(lambda a, b: a * 0.5 + b, x, 1.0), functools.reduce(lambda a, b: a + b * b, x)


@program(VECTOR)
def generators(x):
    doubled = list(map(lambda v: 2 * v, (x[0], x[1])))
    kept = list(filter(None, (0, 1, 2)))
    positive = [v for v in map(abs, (1, -2))]
    return doubled[0] + doubled[1], kept, positive, dict(zip("ab", (x[0], x[1])))["b"], list(range(3)), tuple(x[:2])
