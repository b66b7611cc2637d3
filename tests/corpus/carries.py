"""Loops: what they carry, what is left after them, and the lists they build."""

import math

import numpy as np

from .program import Program, apart, fixed, normal


def index_used_after(x):
    for i in range(len(x) - 1):
        x = x * 1.5
    return x[i] ** 2 * i + x[i + 1]


def element_used_after(x):
    total = 0.0
    for value in x:
        total += value**2
    return total * value + math.sin(value)


def defined_before_used_after(x, y):
    scale = x * y
    total = 0.0
    for i in range(3):
        total += scale * i * math.sin(x)
    return total * scale + scale**2


def used_only_inside(x, y):
    factor = math.exp(x)
    for _ in range(3):
        y = y * factor + 1
    return y


def product_accumulator(x):
    p = 1.0
    for value in x:
        p *= value
    return p


def product_of_dynamic_count(x, n):
    p = 1.0
    for i in range(n):
        p = p * (x + i)
    return p


def nonlinear_after_loop(x):
    total = 0.0
    for value in x:
        total += value**2
    return math.log(1 + total) * math.sqrt(total)


def exp_reused(x):
    y = x
    for _ in range(3):
        e = math.exp(-y * y)
        y = y + e * (1 - e)
    return y


def tanh_reused(w, x):
    for _ in range(3):
        h = np.tanh(w * x)
        x = h * (1 - h * h) + x
    return np.sum(x)


def swapped_carries(a, b):
    for _ in range(5):
        a, b = b * math.sin(a), a + 0.5
    return a * b


def carry_of_previous(x):
    previous = x[0]
    total = 0.0
    for value in x[1:]:
        total += (value - previous) ** 2 * value
        previous = value
    return total * previous


def many_carries(x, y, z):
    for k in range(4):
        x = x + 0.1 * y * z
        y, z = y - 0.1 * x * z, z + 0.1 * k * x
    return x * y + z


def integer_becomes_float(x):
    total = 0
    best = 1
    for value in x:
        total = total + value
        best = best * total
    return best + total


def running_maximum(x):
    best = x[0]
    for value in x:
        if value > best:
            best = value
        best = best * 0.9
    return best**2


def nested_dynamic_loops(x, n, m):
    total = 0.0
    for i in range(n):
        y = x[i]
        for j in range(m):
            y = y * x[j] + math.cos(y)
        total += y * total + y
    return total


def triangular_loops(m):
    total = 0.0
    for i in range(len(m)):
        for j in range(i + 1):
            for k in range(j, i + 1):
                total += m[i, j] * m[k, i] * (1 + 0.1 * total)
    return total


def loop_with_branch(x, y):
    for i in range(4):
        if i % 2 == 0:
            y = y * x
        elif y > x:
            y = y - x**2
        else:
            y = y + math.sin(x)
    return y


def while_for_if(x):
    y = x
    k = 0
    while k < 3:
        for i in range(k + 1):
            if y > 0.5:
                y = y * 0.7 - x * i
            else:
                y = y + x**2
        k += 1
    return y**2


def append_and_stack(x, n):
    states = []
    h = x
    for i in range(n):
        h = np.tanh(h * x + i)
        states.append(h)
    return np.sum(np.stack(states) ** 2 * np.arange(n)[:, None])


def append_and_array(x):
    values = []
    total = 0.0
    for v in x:
        total += v**2
        values.append(total)
    curve = np.array(values)
    return np.sum(np.sin(curve)) * curve[-1]


def append_and_sum(x, n):
    terms = []
    for k in range(1, n):
        terms.append(x**k / k)
    return sum(terms) * terms[0]


def append_then_index(x, n):
    history = [x]
    for _ in range(n):
        history.append(history[-1] ** 2 * 0.5 + x)
    return history[-1] * history[1]


def append_over_layers(layers, x):
    outputs = []
    for w in layers:
        x = np.tanh(w @ x)
        outputs.append(x.sum())
    return sum(outputs) ** 2


def comprehensions(x, y):
    squares = [v**2 for v in (x, y, x * y)]
    table = {name: v * x for name, v in zip("ab", squares)}
    outer = [v for i, v in enumerate(squares) if i != 1]
    return sum(squares) * table["b"] + sum(outer) + len({"p", "q"}) * table["a"]


def comprehension_over_array(x):
    values = np.array([math.sin(v) * i for i, v in enumerate(x)])
    return np.sum(values**2) + sum(v**3 for v in x)


def nested_comprehension(x, y):
    table = np.array([[math.exp(-((a - b) ** 2)) for b in y] for a in x])
    return np.sum(table**2) + sum(a * b for a in (1.0, 2.0) for b in (y[0], x[0]))


def comprehension_of_arrays(m):
    normalised = np.stack([row / np.sum(row**2) for row in m])
    return np.sum(normalised @ m.T)


def loop_over_static_options(x, powers):
    total = 0.0
    for p in powers:
        for name, scale in {"a": 2.0, "b": -1.0}.items():
            total += scale * np.sum(x**p) if name == "a" else scale * np.prod(x)
    return total * x[0]


# The first iteration leaves an array where it has found a number: it is read by itself.


def sum_of_vectors(x, n):
    total = 0.0
    for k in range(n):
        total = total + x * (k + 1) / n
    return np.sum(total ** 2)


def sum_over_rows(x):
    total, largest = 0, 1
    for row in x:
        total = total + row
        largest = largest * np.maximum(row, 0.9)
        if row[0] > 1.0095:
            break
    return np.sum(total * largest)


def error_of_steps(x):
    error, y = np.ones(1), x
    while np.max(error) > 1e-6:
        step = (2 / y - y) / 2
        error = np.abs(step)
        y = y + step * x
    return np.sum(y * error)


def sums_in_sums(x, n):
    total = 0
    for i in range(n):
        row = 0
        for j in range(n):
            row = row + x * (i - j) / n ** 2
        total = total + row * x[i % 2]
    return np.sum(total ** 2)


def kept_from_the_first(xs):
    """The first iteration binds what all of them bind again, of what the one before has left."""
    first = True
    for x in xs:
        if first:
            least = product = x
            first = False
        least = min(least, x)
        product = product * x + least
    return product * least


def begun_in_blocks(xs):
    """A block begins in every third iteration; that is seen only once the count is no number that is known."""
    k = 0
    while k < len(xs):
        if k % 3 == 0:
            base, total = xs[k], np.zeros(2)
        total[k % 2] += xs[k] * base
        k += 1
    return np.sum(total ** 2) + base


def first_of_all(xs):
    count = 0
    for x in xs:
        if count == 0:
            first = x
        count += 1
    return first * xs[-1]


PROGRAMS = [
    Program(kept_from_the_first, normal(("n",))),
    Program(begun_in_blocks, normal((5,))),
    Program(first_of_all, normal(("n",))),
    Program(sum_of_vectors, normal((3,), then=(70,))),
    Program(sum_over_rows, fixed(1 + np.arange(140.0).reshape(70, 2) / 14000)),
    Program(error_of_steps, fixed(np.array([1.1, 0.8]))),
    Program(sums_in_sums, normal((3,), then=(66,)), order=1),
    Program(index_used_after, normal(("n",))),
    Program(element_used_after, normal(("n",))),
    Program(defined_before_used_after, normal(None, None), (0, 1)),
    Program(used_only_inside, normal(None, None), (0, 1)),
    Program(product_accumulator, normal(("n",))),
    Program(product_accumulator, fixed(np.array([2.0, 0.0, -1.5])), name="product_through_zero"),
    Program(product_of_dynamic_count, normal(None, then=(4,))),
    Program(nonlinear_after_loop, normal(("n",))),
    Program(exp_reused, normal(None)),
    Program(tanh_reused, normal((3,), (3,)), (0, 1)),
    Program(swapped_carries, normal(None, None), (0, 1)),
    Program(carry_of_previous, normal(("n",))),
    Program(many_carries, normal(None, None, None), (0, 1, 2)),
    Program(integer_becomes_float, normal(("n",))),
    Program(running_maximum, apart((5,))),
    Program(nested_dynamic_loops, normal((4,), then=(3, 4))),
    Program(triangular_loops, normal((3, 3))),
    Program(loop_with_branch, fixed(0.6, 1.3), (0, 1)),
    Program(while_for_if, fixed(0.7)),
    Program(append_and_stack, normal((3,), then=(4,))),
    Program(append_and_array, normal(("n",))),
    Program(append_and_sum, normal(None, then=(5,))),
    Program(append_then_index, normal(None, then=(3,))),
    Program(
        append_over_layers,
        lambda rng: ([rng.random((3, 2)), rng.random((2, 3))], rng.random(2)),
        (0, 1),
    ),
    Program(comprehensions, normal(None, None), (0, 1)),
    Program(comprehension_over_array, normal(("n",))),
    Program(nested_comprehension, normal((3,), (2,)), (0, 1)),
    Program(comprehension_of_arrays, normal((3, 2))),
    Program(loop_over_static_options, normal((3,), then=((1, 2, 3),))),
]
