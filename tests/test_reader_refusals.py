"""What the reader refuses: each with the place that is at fault, and a way out."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.stats
from evaluate import read_call
from reading import VECTOR

from transformer.core.errors import TransformError

COUNTER = {"calls": 0}
GLOBAL = np.ones(3)


def draws_numbers(x):
    return x + np.random.normal()  # no seed can make this a function


def opens_file(x):
    return x + len(open("numbers.txt").read())


def unknown_function(x):
    return np.trim_zeros(x)


def writes_global_dict(x):
    COUNTER["calls"] += 1
    return x


def writes_global_array(x):
    GLOBAL[0] = x[0]
    return x


def writes_argument_dict(params):
    params["w"] = params["b"]
    return params["w"]


def declares_global(x):
    global GLOBAL
    GLOBAL = x
    return x


def steps_through_a_view(x):
    y = x * 1.0
    view = y[:]
    view[::2] = y[:3]
    return y


def column_to_row(x):
    y = np.outer(x, x)
    row = y[1]
    row[:] = y.T[2]
    return y


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


def appends_of_two_kinds(x):
    items = []
    for k in range(1000):
        if x[0] > k:
            items.append(x[0])
        else:
            items.append(x[:2])
    return items[0]


def index_of_list(x):
    parts = [x[0], x[:1], "none"]
    return parts[np.argmax(x)]


def list_of_changing_array(x):
    u = x.copy()
    states = []
    for v in x:
        u[0] = v
        states.append(u)
    return np.array(states)


def appended_then_written(x):
    u = x.copy()
    states = []
    for v in x:
        u = u * 2
        states.append(u)
        u[0] = v
    return np.array(states)


def appended_by_an_inner_loop_then_written(x):
    u = x.copy()
    states = []
    for i in range(len(x)):
        for _ in range(i):
            states.append(u)
    u[0] = 5.0
    return np.array(states)


def written_between_inner_loops(x):
    u = x.copy()
    states = []
    for i in range(len(x)):
        u[i] = i
        for _ in range(i):
            states.append(u)
    return np.array(states)


def picked_and_written(x):
    rows = [x * 1.0, x * 2.0]
    rows[int(x[0] > 0)] *= 2.0
    return rows[0] @ rows[1]


def merged_then_written(x):
    a, b = x.copy(), x.copy()
    c = a if x[0] > 0 else b
    c[0] = 1.0
    return a + b


def handed_around_then_written(x):
    a, b, d = x * 1.0, x * 2.0, x - 1.0
    c = a
    for _ in range(len(x)):
        c, a = a, c
        if x[0] > 0.95:
            a, d = d, a
        d, b = b, d
        a = b
    d[1:] += x[1]
    return np.sum(b * c)


def swapped_then_written(x):
    a = x.copy()
    b = a
    for _ in range(2):
        a, b = b, a
    a[0] += 1
    return np.sum(b * b)


def carried_then_written(x):
    a = x.copy()
    b = a
    for _ in range(2):
        b[0] = 1.0
        b = b * 2
    return a + b


def order_of_the_array_written(m):
    turned = np.zeros((2, 2)).T
    np.multiply(np.ones((2, 2)), 2.0, out=turned)
    turned.ravel()[1] = m[0, 0]
    return turned


def order_of_another_array(m):
    zeros = np.zeros_like(m)
    zeros.reshape(-1)[1] = m[0, 0]
    return zeros


def reshape_of_unknown_layout(m):
    flat = (m.T * 2).T.reshape(-1)
    whole = m.T
    part = whole.reshape(-1)
    part[0] = 1.0
    return m.sum() + flat.sum()


def endless_recursion(x):
    return endless_recursion(x - 1) if x[0] < 0 else endless_recursion(x)


def unbound_name(x):
    if False:
        y = 1.0
    return x * y  # noqa: F821


def wrong_shapes(x):
    return x + np.ones(7)


def casting_in_place(x):
    k = np.arange(5)
    k += 0.5
    return x * k


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


def numbered_and_written(x):
    y, total = x * 1.0, 0.0
    for k, v in enumerate(y[i] * 2 for i in range(3)):
        total += v * k
        y *= 1.5
    return total


def writes_what_is_read(x):
    y, total = x * 1.0, 0.0

    def doubled(part):
        for i in range(2):
            part[i] *= 2
            yield part[i]

    for k, v in enumerate(doubled(y[1:])):
        total += v * k * y[2]
    return total


def filtered_by_what_changes(x):
    least = 0.0
    for v in filter(lambda a: a > least, x):
        least = v
    return least


def real_part_written(x):
    z = x + 1j * x
    z.real[0] = 2.0
    return np.sum(z.imag)


def real_part_scaled(x):
    z = x + 1j * x
    z.real *= 2.0
    return np.sum(z.imag)


def real_part_replaced(x):
    z = x + 1j * x
    z.real = 2.0
    return np.sum(z.imag)


def pairs_written(x):
    y, total = x * 1.0, 0.0
    for a, b in itertools.pairwise(y):
        total += a * b
        y *= 1.5
    return total


def multiplied_and_written(x):
    y, total = x * 1.0, 0.0
    for a, b in itertools.product(y, y):
        total += a * b
        y *= 1.5
    return total


def cycled_and_written(x):
    y, total = x * 1.0, 0.0
    for a, b in zip(range(6), itertools.cycle(y)):
        total += a * b
        y *= 1.5
    return total


def decided_with_effects(x):
    y = x * 1.0

    def doubled(i):
        y[i] *= 2
        return y[i] > 0.1

    return np.sum(y) * any(doubled(i) for i in range(3))


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


def used_after_a_write(x):
    y = x * 1.0
    scaled = zip(range(3), (y[i] * 2 for i in range(3)))
    y *= 2
    return list(scaled)[1][1]


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
    return np.poly1d(x)(2.0)


def masked_array(x):
    return np.ma.masked_where(x < 0, x).sum()


def draws_from_a_distribution(x):
    return x * scipy.stats.norm(0, 1).rvs(size=3)


def other_distribution(x):
    return scipy.stats.weibull_min.logpdf(x, 2.0)


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


REFUSED = [
    (draws_numbers, "normal", "np.random.normal()", "Draw before"),
    (opens_file, "open", "open(", "Read the file before"),
    (unknown_function, "trim_zeros", "np.trim_zeros(x)", "define_op"),
    (writes_global_dict, "outlives", "COUNTER[", "Copy the dict"),
    (writes_global_array, "GLOBAL", "GLOBAL[0] = x[0]", "Copy it first"),
    (writes_argument_dict, "outlives", "params[", "Copy the dict"),
    (declares_global, "outlives", "GLOBAL = x", "Return the new value"),
    (steps_through_a_view, "in other steps", "view[::2] = y[:3]", "Copy first"),
    (column_to_row, "in other steps", "row[:] = y.T[2]", "Copy first"),
    (catches_what_one_path_misses, "an exception that is caught", "try:", "test before"),
    (shows_an_object, "a text with an object of Shown", "str(Shown(x[1]))", "Print its attributes"),
    (object_as_a_key, "a key of a dictionary", "Place(x[0])", "what is known of it"),
    (pairs_in_a_set, "an item of a set", "{(x[0], 1), (x[0], 1)}", "Use a list"),
    (number_added_to_a_set, "an item of a set", "seen.add(x[0])", "a Python int"),
    (strings_meet, "'kind'", "if v > 0:", "make the condition static"),
    (shapes_meet, "return f64[2]", "if v > 0:", "same type"),
    (dtypes_meet, "'y'", "if x[1] > 0:", "add a cast"),
    (appends_of_two_kinds, "list", "for k in range", "np.zeros"),
    (index_of_list, "index of a list", "parts[np.argmax(x)]", "np.array(items)"),
    (list_of_changing_array, "appended to a list", "for v in x", "x.copy()"),
    (appended_then_written, "may be shared", "u[0] = v", "copy"),
    (appended_by_an_inner_loop_then_written, "may be shared", "u[0] = 5.0", "copy"),
    (written_between_inner_loops, "appended to a list", "for i in range", "x.copy()"),
    (picked_and_written, "may be shared", "rows[int(x[0] > 0)] *= 2.0", "copy"),
    (merged_then_written, "may be shared", "c[0] = 1.0", "copy"),
    (carried_then_written, "may be shared", "b[0] = 1.0", "copy"),
    (handed_around_then_written, "may be shared with 'c'", "d[1:] += x[1]", "copy"),
    (swapped_then_written, "may be shared with 'b'", "a[0] += 1", "copy"),
    (endless_recursion, "has no end", "def endless_recursion(x)", "simplest case"),
    (unbound_name, "'y'", "return x * y", ""),
    (wrong_shapes, "could not be broadcast", "x + np.ones(7)", ""),
    (casting_in_place, "same_kind", "k += 0.5", "x = x + y"),
    (missing_attribute, "shapes", "x.shapes", ""),
    (wrong_call, "missing 1 required positional argument: 'b'", "helper(x)", ""),
    (bad_index, "tuple index out of range", "(1, 2)[5]", ""),
    (truth_of_array, "ambiguous", "x > 0", ""),
    (uses_generator, "used twice", "sum(values)", "list"),
    (numbered_and_written, "items of an iterator", "enumerate(y[i]", "make a list"),
    (writes_what_is_read, "changes what the code around it uses", "enumerate(doubled", "make a list"),
    (filtered_by_what_changes, "items of an iterator", "filter(", "make a list"),
    (real_part_written, "memory that may be shared with 'z'", "z.real[0]", "re + 1j * z.imag"),
    (real_part_scaled, "memory that may be shared with 'z'", "z.real *= 2.0", "re + 1j * z.imag"),
    (real_part_replaced, "the attribute 'real'", "z.real", "re + 1j * im"),
    (pairs_written, "items of an iterator", "itertools.pairwise", "make a list"),
    (multiplied_and_written, "items of an iterator", "itertools.product", "make a list"),
    (cycled_and_written, "items of an iterator", "itertools.cycle", "make a list"),
    (decided_with_effects, "changes what the code around it uses", "any(doubled", "make a list"),
    (looked_for_in_an_iterator, "`in` on an iterator", "2 in map", "Make a list"),
    (used_after_a_write, "items of an iterator", "list(scaled)", "make a list"),
    (recursion_over_lists, "argument of a recursive function", "move(", "np.array(items)"),
    (steps_out_of_order, "in another order", "itertools.pairwise(powers(x))", "the number of items"),
    (begins_after_a_change, "items of an iterator", "pairs", "list(...)"),
    (class_attribute, "the attribute 'total' of a class", "Counter.total", "in an object"),
    (cycle_without_a_known_end, "the condition of a loop", "for weight in", ""),
    (polynomial_object, "no rule for numpy.poly1d", "np.poly1d(x)", "np.polyval"),
    (masked_array, "no rule for numpy.ma.masked_where", "np.ma.masked_where(x < 0, x)", "np.where"),
    (draws_from_a_distribution, "no rule for scipy.stats.norm.rvs", ".rvs(size=3)", "Draw before"),
    (other_distribution, "no rule for scipy.stats.weibull_min.logpdf", "weibull_min.logpdf", "density"),
    (returns_function, "returned", "", ""),
    (always_raises, "never", 'raise RuntimeError("never")', "Every call of always_raises"),
    (with_file, "open", "open(", ""),
    (one_item_more, "more items than one behind it", "zip(map(doubled", "Put it last"),
    (missing_key, "KeyError", '{"a": x}["b"]', ""),
]


@pytest.mark.parametrize("function, message, place, instead", REFUSED, ids=lambda part: getattr(part, "__name__", None))
def test_refusals_say_what_where_and_what_instead(function: Any, message: str, place: str, instead: str) -> None:
    argument = {"w": VECTOR, "b": VECTOR} if function is writes_argument_dict else VECTOR
    with pytest.raises(TransformError) as caught:
        read_call(function, argument)
    error = caught.value
    assert message in error.message
    assert error.origin is not None and error.origin.file == __file__
    assert place in error.origin.text
    assert instead in str(error)


@pytest.mark.parametrize("function", [reshape_of_unknown_layout, order_of_the_array_written, order_of_another_array])
def test_layout_decides_whether_a_reshape_shares_memory(function: Any) -> None:
    with pytest.raises(TransformError, match="layout"):
        read_call(function, np.ones((2, 3)))


def merged_container_then_written(x):
    a, b = {"v": x[0]}, {"v": x[1]}
    c = a if x[0] > 0 else b
    c["v"] = 1.0
    return a["v"] + b["v"]


def container_written_while_merged(x):
    a = [x[0], x[1]]
    c = a if x[0] > 0 else [x[1], x[0]]
    a[0] = 5.0
    return c[0]


def test_containers_that_may_be_one_are_not_written() -> None:
    for function in (merged_container_then_written, container_written_while_merged):
        with pytest.raises(TransformError, match="may be shared"):
            read_call(function, VECTOR)


def condition_that_writes(x):
    items = [x[0]]

    def advance():
        items[0] = items[0] * 0.5
        return items[0]

    while advance() > 0.1:
        x = x + 1
    return x


def test_conditions_of_loops_write_nothing() -> None:
    with pytest.raises(TransformError, match="condition of a `while` writes"):
        read_call(condition_that_writes, VECTOR)


class Bunch(dict):
    def __init__(self, **items):
        dict.__init__(self, items)


def test_objects_of_classes_derived_from_dict_are_no_results():
    def bunch(x):
        return Bunch(a=x * 2, b="text")

    with pytest.raises(TransformError, match="Bunch is returned"):
        read_call(bunch, VECTOR)
