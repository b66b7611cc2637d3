"""What the reader refuses: each with the place that is at fault, and a way out."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.interpolate
import scipy.stats
from evaluate import read_call
from reading import VECTOR
from refusals import check_refused

from transformer.core.errors import TransformError

COUNTER = {"calls": 0}
GLOBAL = np.ones(3)


def draws_numbers(x):
    return x + np.random.normal()  # no seed can make this a function


def opens_file(x):
    return x + len(open("numbers.txt").read())


def unknown_function(x):
    return np.real_if_close(x)


def declares_global(x):
    global GLOBAL
    GLOBAL = x
    return x


def catches_what_one_path_misses(x):
    found = {"a": x[0]}
    if x[1] > 0:
        found["b"] = x[1]
    try:
        return found["b"]
    except KeyError:
        return found["a"]


class Shown:
    def __init__(self, value):
        self.value = value


def shows_an_object(x):
    return x[0] * len(str(Shown(x[1])))


@dataclass(frozen=True)
class Place:
    at: float


def object_as_a_key(x):
    return {Place(x[0]): 1.0}.get(Place(x[0]), 2.0) * x[1]


def pairs_in_a_set(x):
    return len({(x[0], 1), (x[0], 1)}) * x[1]


def number_added_to_a_set(x):
    seen = set()
    seen.add(x[0])
    seen.add(x[0])
    return len(seen) * x[1]


def strings_meet(x):
    kind = "a"
    for v in x:
        if v > 0:
            kind = "b"
    return x * len(kind)


def shapes_meet(x):
    def corner(v):
        if v > 0:
            return np.zeros(2)
        return np.zeros((3, 1))
    return corner(x[0]).sum()


def dtypes_meet(x):
    y = x[0]
    if x[1] > 0:
        y = np.float32(2)
    return y


def endless_recursion(x):
    return endless_recursion(x - 1) if x[0] < 0 else endless_recursion(x)


def unbound_name(x):
    if False:
        y = 1.0
    return x * y  # noqa: F821


def wrong_shapes(x):
    return x + np.ones(7)


def missing_attribute(x):
    return x.shapes


def wrong_call(x):
    def helper(a, b):
        return a + b

    return helper(x)


def bad_index(x):
    return (1, 2)[5] * x


def truth_of_array(x):
    return 1.0 if x > 0 else 0.0


def generator(x):
    yield x


def uses_generator(x):
    values = generator(x)
    return sum(values) + sum(values)


def looked_for_in_an_iterator(x):
    return x[0] * (2 in map(abs, range(3)))


def one_item_more(x):
    y = x * 1.0

    def doubled(i):
        y[i] *= 2
        return i

    for i, _ in zip(map(doubled, range(3)), range(2)):
        y[0] += y[i]
    return np.sum(y)


def recursion_over_lists(x):
    def move(n, one, other, third):
        if n:
            move(n - 1, one, third, other)
            third.append(one.pop())
            move(n - 1, other, one, third)

    piles = [list(x), [], []]
    move(3, *piles)
    return piles[1][0]


def powers(x):
    p = x
    while True:
        yield p
        p = p * x[0]


def steps_out_of_order(x):
    return sum(a[0] * b[0] for (a, b), _ in zip(itertools.pairwise(powers(x)), x))


def begins_after_a_change(x):
    y = x.copy()
    pairs = zip(x, powers(y))
    y[0] = 7.0
    return sum(v * p[0] for v, p in pairs)


def class_attribute(x):
    class Counter:
        total = 0.0

    Counter.total = x[0]
    return Counter.total


def cycle_without_a_known_end(x):
    total = 0.0
    for weight in itertools.cycle([1.0, x[0]]):
        total += weight
        if total > x[1]:
            break
    return total


def polynomial_object(x):
    return np.polynomial.Chebyshev(x)(2.0)


def masked_array(x):
    return np.ma.masked_where(x < 0, x).sum()


def draws_from_a_distribution(x):
    return x * scipy.stats.norm(0, 1).rvs(size=3)


def other_distribution(x):
    return scipy.stats.gompertz.logpdf(x, 2.0)


def returns_function(x):
    return lambda v: v + x


def always_raises(x):
    raise RuntimeError("never")


def with_file(x):
    with open("log.txt") as log:
        print(x, file=log)
    return x


def missing_key(x):
    return {"a": x}["b"]


def spline_of(x):
    return scipy.interpolate.CubicSpline(np.arange(5.0), x)


def looks_for_what_a_spline_has(x):
    return x if hasattr(spline_of(x), "roots") else 2 * x


def catches_what_a_spline_has(x):
    try:
        return x * spline_of(x).roots()
    except AttributeError:
        return 2 * x


def asks_for_the_class_of_a_spline(x):
    return x if isinstance(spline_of(x), scipy.interpolate.PPoly) else 2 * x


REFUSED = [
    (draws_numbers, "normal", "np.random.normal()", "Draw the numbers outside"),
    (opens_file, "open", "open(", "Read the file outside the transformed function"),
    (unknown_function, "real_if_close", "np.real_if_close(x)", "define_op"),
    (declares_global, "exists outside", "GLOBAL = x", "Return the new value"),
    (catches_what_one_path_misses, "with a caught exception is not supported", "try:", "Test for the error"),
    (shows_an_object, "formatting an object of Shown", "str(Shown(x[1]))", "Print its attributes"),
    (object_as_a_key, "a key of a dictionary", "Place(x[0])", "a key that is known"),
    (pairs_in_a_set, "an item of a set", "{(x[0], 1), (x[0], 1)}", "Use a list"),
    (number_added_to_a_set, "an item of a set", "seen.add(x[0])", "a Python int"),
    (strings_meet, "'kind'", "if v > 0:", "make the condition static"),
    (shapes_meet, "return f64[2]", "if v > 0:", "same type"),
    (dtypes_meet, "'y'", "if x[1] > 0:", "add a cast"),
    (endless_recursion, "never ends", "def endless_recursion(x)", "Add a base case that returns without"),
    (unbound_name, "'y'", "return x * y", ""),
    (wrong_shapes, "could not be broadcast", "x + np.ones(7)", ""),
    (missing_attribute, "shapes", "x.shapes", ""),
    (wrong_call, "missing 1 required positional argument: 'b'", "helper(x)", ""),
    (bad_index, "tuple index out of range", "(1, 2)[5]", ""),
    (truth_of_array, "ambiguous", "x > 0", ""),
    (uses_generator, "used twice", "sum(values)", "list"),
    (looked_for_in_an_iterator, "`in` on an iterator", "2 in map", "Build a list"),
    (recursion_over_lists, "argument of a recursive function", "move(", "np.array(items)"),
    (steps_out_of_order, "in another order", "itertools.pairwise(powers(x))", "the number of items"),
    (begins_after_a_change, "items of an iterator", "pairs", "list(...)"),
    (class_attribute, "the attribute 'total' of a class", "Counter.total", "in an object"),
    (cycle_without_a_known_end, "the condition of a loop", "for weight in", ""),
    (polynomial_object, "no rule for numpy.polynomial.Chebyshev", "Chebyshev(x)", "chebval"),
    (masked_array, "no rule for numpy.ma.masked_where", "np.ma.masked_where(x < 0, x)", "np.where"),
    (draws_from_a_distribution, "no rule for scipy.stats.norm.rvs", ".rvs(size=3)", "Draw the numbers outside"),
    (other_distribution, "no rule for scipy.stats.gompertz.logpdf", "gompertz.logpdf", "density"),
    (looks_for_what_a_spline_has, "the attribute 'roots'", 'hasattr(spline_of(x), "roots")', "outside"),
    (catches_what_a_spline_has, "the attribute 'roots'", "spline_of(x).roots", "outside"),
    (asks_for_the_class_of_a_spline, "the class of", "isinstance(spline_of(x), scipy.interpolate.PPoly)", "outside"),
    (returns_function, "returned", "", ""),
    (always_raises, "never", 'raise RuntimeError("never")', "Every call of always_raises"),
    (with_file, "open", "open(", ""),
    (one_item_more, "zip of an iterator that has more", "zip(map(doubled", "Pass it as the last argument, or"),
    (missing_key, "KeyError", '{"a": x}["b"]', ""),
]


@pytest.mark.parametrize("function, message, place, instead", REFUSED, ids=lambda part: getattr(part, "__name__", None))
def test_refusals_say_what_where_and_what_instead(function: Any, message: str, place: str, instead: str) -> None:
    check_refused(function, message, place, instead)


class Bunch(dict):
    def __init__(self, **items):
        dict.__init__(self, items)


def test_objects_of_classes_derived_from_dict_are_no_results():
    def bunch(x):
        return Bunch(a=x * 2, b="text")

    with pytest.raises(TransformError, match="an object of Bunch cannot be returned"):
        read_call(bunch, VECTOR)
