"""Idioms of Python beyond arithmetic: functions of `operator`, `next`, `super()`, truth values as places."""

import collections
import functools
import itertools
import math
import operator
import re

import numpy as np

from .program import Program, apart, fixed, normal

# Functions of `operator` mean what the operators do, of lists and of objects, too.


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __add__(self, other):
        return Pair(self.a + other.a, self.b * other.b)

    def __lt__(self, other):
        return self.a < other.a

    def __neg__(self):
        return Pair(-self.a, self.b)

    def __getitem__(self, k):
        return (self.a, self.b)[k]

    def __bool__(self):
        return bool(self.a > 0)


def lists_joined_by_add(x):
    joined = functools.reduce(operator.add, [[v, 2 * v] for v in x])
    thrice = operator.mul([x[0]], 3)
    return math.prod(joined) + len(joined) * thrice[2] + operator.getitem(joined, -1)


def objects_added_by_add(x):
    total = functools.reduce(operator.add, [Pair(v, v) for v in x])
    sign = 2.0 if operator.lt(total, Pair(x[0], 1.0)) or operator.not_(total) else 1.0
    return operator.getitem(operator.neg(total), 0) * total.b * sign


# `next` takes items before a loop takes the others.


def first_and_others(x):
    values = iter(x)
    total = next(values)
    for v in values:
        total = total * 0.5 + v * total
    return total * next(iter([]), 2.0)


def pairs_behind_the_first(x):
    pairs = zip(x, x[1:])
    a, b = next(pairs)
    return a * b + sum(p * q * q for p, q in pairs)


def next_of_a_count(x):
    numbers, weights = itertools.count(2), itertools.cycle([1.0, -0.5, 2.0])
    total = x[0] * next(numbers)
    for v in x[:2]:
        total += v * v * next(weights)
    return total + sum(v * k for v, k in zip(x, numbers))


# `super()` reaches properties and `object` itself.


class Scaled:
    scale = 2.0

    def __init__(self):
        super().__init__()

    @property
    def double(self):
        return self.a * self.scale


class Shifted(Scaled):
    def __init__(self, a):
        super().__init__()
        self.a = a

    def __setattr__(self, name, value):
        super().__setattr__(name, value * 1.5)

    @property
    def double(self):
        return super().double + super().scale * self.a**2


def behind_super(x):
    return Shifted(x[0]).double * Shifted(x[1]).double


# What an assignment to an attribute runs, an augmented one runs as well.


class Grown:
    def __init__(self, values):
        self.values = values

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 1.5)


class Clipped:
    def __init__(self, rows):
        self._rows, self.changes = rows, 0

    @property
    def rows(self):
        return self._rows

    @rows.setter
    def rows(self, rows):
        self._rows = np.minimum(rows, 1.0)
        self.changes += 1


def setters_of_augmented_attributes(x):
    grown, clipped = Grown(x[0]), Clipped(x.copy())
    for v in x:
        grown.values += v
    clipped.rows += x[0]
    clipped.rows *= 2.0
    return grown.values + np.sum(clipped.rows**2) * clipped.changes


# A truth value of Python's is a place in a list.


def places_by_truth(x):
    counts, total = [0, 0], 0.0
    for v in x:
        counts[bool(v > 0.4)] += 1
        total += v * (1.0, 3.0)[bool(v > 0)]
    ends = [x[0], x[1] * 2]
    ends[bool(x[0] > 0)] = x[0] * 5
    return total * counts[1] + counts[0] * x[0] + ends[0] * ends[not x[1] > 0]


# Numbers keep their dtypes: where two constants meet, where one of two is chosen, where one is a global of NumPy's.


class Unit:
    scale = 2.0


def named_constants_of_one_number(x):
    unit = Unit()
    return (x * unit.scale + 3 * x) * np.float32(2) + x * unit.scale * x


def chosen_number(x):
    return np.maximum(x, 0.0) * x + np.where(x > 1.0, 2.0, x * x)


def number_below_zero(x):
    return np.maximum(x, 0.0)


def rectified(x):
    """Derivatives of choices are of float32, where all that is chosen are constants."""
    return np.sum(np.maximum(x, 0.0)) + np.sum(np.minimum(x, 1.0))


WEIGHT = np.float32(1.5)


def chosen_of_two_precisions(x, y):
    z = np.where(y[0] > 0.1, x[-1] / len(x), x[0] * y[0])
    return z * z * WEIGHT


def global_number_of_numpy(x):
    return x[0] * WEIGHT * x[1]


THIRD = np.float64(1) / 3


def numbers_of_two_precisions(x):
    return np.sum(x * (THIRD / WEIGHT) * x) - x[0] * (WEIGHT - THIRD)


# Lists are extended by as many items as the program finds, of Python's numbers and of NumPy's.


def extended_by_what_is_found(x):
    found = [x[0]]
    found += [v for v in x if v > 0]
    found.extend(2 * v for v in x if v < 0)
    found.extend(x[x > 0.2])
    other = found
    other.append(3.0)
    return sum(found) * len(found) + found[0] * other[-2]


def extended_in_a_loop(x):
    found = []
    for k in range(3):
        found.extend(v * (k + 1) for v in x if v > 0.1 * k)
    return sum(found) * len(found)


def sum_of_several_classes(x):
    found = [1.0]
    for v in x:
        if v > 0:
            found.append(v)
    return sum(found) * math.prod(found)


@functools.singledispatch
def length(value):
    raise TypeError(value)


@length.register
def _(value: float):
    return abs(value)


@length.register(np.ndarray)
def _(value):
    return np.sqrt(np.sum(value**2))


def counted_and_dispatched(x):
    Two = collections.namedtuple("Two", "first second")
    counts = collections.Counter("abcab")
    counts["z"] += 1
    counts["z"] += int(re.match(r"(\w)=(\d)", "z=2").group(2))
    total = sum(x[k] * n for k, (_, n) in enumerate(sorted(counts.items()))) + counts.most_common(1)[0][1]
    total += sum(math.frexp(float(x[2]))) * x[3]
    pair = Two(length(x), length(float(x[0])))._replace(second=x[1])
    return total * pair.first + pair.second * np.piecewise(x[2], [x[2] > 0, x[2] < -1], [lambda v: v * v, 3.0, np.sin])


PROGRAMS = [
    Program(lists_joined_by_add, normal(("n",))),
    Program(objects_added_by_add, apart(("n",))),
    Program(first_and_others, normal(("n",))),
    Program(pairs_behind_the_first, normal(("n",))),
    Program(next_of_a_count, normal(("n",))),
    Program(behind_super, normal(("n",))),
    Program(setters_of_augmented_attributes, fixed(np.array([0.3, -0.7, 0.45]))),
    Program(places_by_truth, apart(("n",))),
    Program(named_constants_of_one_number, fixed(np.float32(0.7)), tags=("f32",)),
    Program(chosen_number, fixed(np.float32(0.7)), tags=("f32",)),
    Program(rectified, fixed(np.array([-0.5, 0.3, 2.0], np.float32)), tags=("f32",)),
    Program(number_below_zero, fixed(np.float32(-0.7)), tags=("f32",)),
    Program(chosen_of_two_precisions, fixed(np.array([0.5, -0.7], np.float32), np.array([0.9])), (0, 1), tags=("f32",)),
    Program(global_number_of_numpy, normal(("n",))),
    Program(numbers_of_two_precisions, normal(("n",))),
    Program(extended_by_what_is_found, apart(("n",))),
    Program(extended_in_a_loop, apart(("n",))),
    Program(sum_of_several_classes, fixed(np.array([0.5, -0.2, 0.3], np.float32)), tags=("f32",)),
    Program(counted_and_dispatched, fixed(np.array([0.3, -1.2, 2.1, 0.7]))),
]
