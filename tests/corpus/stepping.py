"""Generators without an end, of which the program takes items one by one, and loops that count until they stop."""

import itertools

import numpy as np

from .program import Program, fixed, normal


def powers(x):
    p = 1.0
    while True:
        yield p
        p = p * x


def zipped_powers(x):
    return sum(value * power for value, power in zip(x, powers(x[0])))


def until_large(x):
    total = 0.0
    for k, power in enumerate(powers(x)):
        if k > 5 or power > 20:
            break
        total += power / (k + 1)
    return total


def first_large(x):
    for power in powers(x):
        if power > 30:
            return power


def some_and_the_rest(x):
    taken = powers(x)
    first, second = next(taken), next(taken)
    total = 3 * first + second
    for k, power in zip(range(3), taken):
        total += power * (k + 1)
    return total


def halved(x):
    count = 0
    while True:
        x = x * 0.5 + 1
        count += 1
        yield count, x


def part_of_it(x):
    found = [np.sum(half) * count for count, half in itertools.islice(halved(x), 4)]
    return sum(found) + len(found) + sum(itertools.takewhile(lambda p: p < 30, powers(x[0] ** 2 + 2)))


def square_root(a):
    def iterates(f, slope, z):
        while True:
            yield z
            z = z - f(z) / slope(z)

    def settled(values):
        before = next(values)
        for value in values:
            if abs(value - before) < 1e-10:
                return value
            before = value

    return settled(iterates(lambda z: z * z - a, lambda z: 2 * z, 1.0))


def behind_the_first_two(x):
    """A part without an end of what has none."""
    total = 0.0
    for k in itertools.islice(itertools.count(), 2, None):
        total += x ** k
        if x ** k < 1e-6:
            break
    return total * k


def states_in_place(x):
    def states():
        u = x.copy()
        while True:
            yield u
            u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
            u[0] = u[-1]

    total = 0.0
    for k, u in zip(range(3), states()):
        total += (k + 1) * np.sum(u**2)
    return total + u @ u


def changed_while_it_runs(x):
    y = x.copy()

    def items():
        k = 0
        while True:
            yield y[k]
            k += 1

    taken = items()
    y[0] = 7.0
    total = 0.0
    for k, item in zip(range(4), taken):
        y[3] = 2 * item
        total += item * (k + 1)
    return total


def collected_until_enough(x):
    found = []
    for power in powers(x[1]):
        found.append(power)
        if len(found) == 4:
            break
    return np.sum(np.array(found) * x)


def counts_until_it_stops(x):
    p, found = 1.0, []
    for k in itertools.count(1):
        if p > 20:
            break
        p = p * x
        found.append(p * k)
    return p * k + sum(found)


def in_turns(x):
    total = 0.0
    for k, (name, function) in enumerate(itertools.cycle([("sine", np.sin), ("cosine", np.cos)])):
        total += function(x) * len(name)
        if k >= 4:
            break
    return total * k


PROGRAMS = [
    Program(in_turns, fixed(1.25)),
    Program(zipped_powers, normal(("n",))),
    Program(until_large, fixed(2.0)),
    Program(first_large, fixed(2.5)),
    Program(some_and_the_rest, fixed(1.5)),
    Program(part_of_it, normal((3,))),
    Program(square_root, fixed(0.4)),
    Program(behind_the_first_two, fixed(0.4)),
    Program(states_in_place, normal((4,))),
    Program(changed_while_it_runs, normal((4,))),
    Program(collected_until_enough, normal((4,))),
    Program(counts_until_it_stops, fixed(2.25)),
]
