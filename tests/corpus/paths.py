"""What is right on the path that is taken: powers of integers, missing items, keys set under tests."""

import numpy as np

from .program import Program, apart, fixed, normal, positive


def falling_powers(x):
    """Python makes floats of these, once the exponent is negative."""
    total, k = 0.0, 0
    while k > -4:
        total = total + x**2 * 10**k
        k -= 1
    return total


def powers_around_zero(x):
    total = 0.0
    for k in range(-3, 3):
        total += np.sin(x) * 3**k
    return total


def power_of_argument(x, n):
    return x * 2**n + x**2 * n ** (n - 4)


def scaled_by_magnitude(x):
    k = int(np.floor(x))
    scales = [2**k, 10 ** (k + 1)]
    return x**2 * scales[0] + x * scales[1]


def coarsened(x):
    """Here the power has to be an integer: it is a step."""
    level, total = 0, 0.0
    while 2**level < len(x):
        total = total + np.sum(x[:: 2**level] ** 2)
        level += 1
    return total


def counted_items(x):
    """The unrolled loop reads more than there is, under a test."""
    total = 0.0
    count = int(np.sum(x > -9))
    for k in (0, 1, 2, 3, 4, 5, 6):
        if k < count:
            total = total + (k + 1) * x[k] ** 2
    return total


def first_positive(x):
    for k in (0, 1, 2, 3, 4, 5, 6):
        if x[k] > 0:
            return x[k] ** 3
    return 0.0


def item_missing_on_a_path(x, c):
    items = [x[0], x[1]]
    if c > 10:
        return items[2] * c
    return items[1] ** 2 * c


def key_missing_on_a_path(x, c):
    table = {"a": x[0]}
    if c > 10:
        chosen = table["b"]
    else:
        chosen = table["a"]
    return chosen**2 * c


def cached_under_a_test(x):
    cache = {}
    total = np.sum(x)
    wanted = total > -100
    if wanted:
        cache["square"] = total**2
    result = 3 * total
    if wanted:
        cache["square"] *= 2
        result = result + cache["square"] * x[0]
    return result


class Record:
    pass


def attribute_under_a_test(x):
    record = Record()
    total = np.sum(x)
    if total > -100:
        record.cubes = x**3
    if total > -100:
        total = total + np.sum(record.cubes)
    return total


PROGRAMS = [
    Program(falling_powers, normal(None)),
    Program(powers_around_zero, normal(None)),
    Program(power_of_argument, fixed(1.3, 3)),
    Program(power_of_argument, fixed(1.3, 5), name="power_of_larger_argument"),
    Program(scaled_by_magnitude, fixed(1.4)),
    Program(scaled_by_magnitude, fixed(-2.4), name="scaled_by_negative_magnitude"),
    Program(coarsened, normal(("n",))),
    Program(counted_items, normal(("n",))),
    Program(first_positive, positive(("n",))),
    Program(item_missing_on_a_path, normal((2,), None), (0, 1)),
    Program(key_missing_on_a_path, normal((2,), None), (0, 1)),
    Program(cached_under_a_test, apart(("n",))),
    Program(attribute_under_a_test, apart(("n",))),
]
