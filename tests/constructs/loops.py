"""Loops and comprehensions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from transformer.core.errors import NotSupported

from .rows import MATRIX, VECTOR, Section


class Pair:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __iter__(self) -> Any:
        return iter([self.x, self.x * self.x])


class Steps:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __len__(self) -> int:
        return 3

    def __getitem__(self, k: int) -> Any:
        if k >= 3:
            raise IndexError(k)
        return self.x * k


SECTION = Section("Loops and comprehensions")
supported, refused = SECTION.supported, SECTION.refused


@supported("`for` over `range(start, stop, step)`", "also computed bounds and steps, also downwards", args=(1.3, 4))
def over_range(x, n):
    for k in range(2 * n, 1, -2):
        x = np.sin(x) + k
    return x


@supported("`for` over an array, along its first axis", args=(MATRIX,))
def over_array(x):
    total = 0.0
    for row in x:
        total = total + np.sum(row * row)
    return total


@supported("`for` over a tuple, a list, a set, a string", "unrolled")
def over_list(x):
    for factor in [x, 2.0, 3]:
        x = x * factor
    return x


@supported("`for` over a dict: keys, `.items()`, `.values()`", "unrolled")
def over_dict(x):
    total = 0.0
    for name, value in {"a": x, "b": x * x}.items():
        total += value * len(name)
    return total


@refused(
    "`for` over an object of a class that has `__getitem__` alone",
    NotSupported,
    "give it `__iter__`, or loop over `range(len(…))`",
)
def over_object(x):
    total = 0.0
    for value in Steps(x):
        total += value
    return total * len(Steps(x))


@supported("`for` over an object whose `__iter__` gives a list, an array, …")
def over_iterable(x):
    total = 0.0
    for value in Pair(x):
        total += value
    return total


@supported("`zip`, `enumerate`, `reversed`", args=(VECTOR,))
def iterators(x):
    total = 0.0
    for k, (a, b) in enumerate(zip(x, reversed(x))):
        total = total + k * a * b
    return total


@supported("`zip(strict=True)`", args=(VECTOR,))
def strict_zip(x):
    total = 0.0
    for a, b in zip(x, x[::-1], strict=True):
        total = total + a * b
    return total


@supported("`itertools`: `product, combinations, chain, islice, accumulate, pairwise, count, …`", args=(VECTOR,))
def products(x):
    total = 0.0
    for i, j in itertools.product(range(x.size), range(2)):
        total += x[i] * x[j]
    for a, b in itertools.pairwise(x):
        total += a * b**2
    return total + sum(itertools.accumulate(x))


@supported("`itertools.takewhile, dropwhile, filterfalse, compress, groupby, tee`", "groups by keys that are known",
           args=(VECTOR,))
def taken_while(x):
    a, b = itertools.tee(x)
    next(b, None)
    total = sum(v * w for v, w in zip(a, b))
    for key, places in itertools.groupby(range(3), key=lambda k: k // 2):
        total += key * sum(x[k] for k in places)
    return total + sum(itertools.takewhile(lambda v: v > 0, x)) + sum(itertools.dropwhile(lambda v: v > 0, x)) ** 2


@supported("`while`")
def while_loop(x):
    while x < 20:
        x = x * x + 1
    return x


@supported("`while` with a condition that binds names, takes items or writes", args=(VECTOR,))
def condition_that_writes(x):
    items, total = iter(x), 0.0
    while (item := next(items, None)) is not None:
        total = total * 0.5 + item * item
    return total


@supported("`any`, `all` of a generator that binds or changes something", args=(VECTOR,))
def item_that_decides(x):
    found = 0.0
    return found * 2.0 if any((found := item) > 0.5 for item in x) else found


@supported("`while True` with `break`")
def forever(x):
    while True:
        x = x * 1.5
        if x > 10:
            break
    return x


@supported("`break`, `continue`", args=(VECTOR,))
def leaving(x):
    total = 0.0
    for value in x:
        if value < 0:
            continue
        total += value**2
        if total > 4:
            break
    return total


@supported("`for … else`, `while … else`")
def loop_else(x):
    for k in range(3):
        if x > 100:
            break
        x = x * x
    else:
        x = x + 1.0
    return x


@supported("nested loops, also with bounds of the outer one", args=(MATRIX,))
def nested(x):
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(i, x.shape[1]):
            total += x[i, j] ** 2
    return total


@supported("the loop variable after the loop")
def variable_after(x):
    for k in range(4):
        x = x + k
    return x * k


@supported("`append` in a loop", "the list becomes an array with one row per iteration", args=(VECTOR,))
def appending(x):
    ys = []
    y = 0.0
    for value in x:
        y = np.tanh(y + value)
        ys.append(y)
    return np.sum(np.array(ys) ** 2) + ys[-1]


@supported("list comprehension, also with several `for`", args=(VECTOR,))
def list_comprehension(x):
    return sum([a * b for a in x for b in (1.0, 2.0)])


@supported("dict comprehension over static keys")
def dict_comprehension(x):
    parts = {name: x * k for k, name in enumerate(("a", "b"), 1)}
    return parts["a"] * parts["b"]


@supported("set comprehension over `range`", args=(1.3,))
def set_comprehension(x):
    return x * len({k % 2 for k in range(4)})


@supported("generator expression as the only argument of a call", args=(VECTOR,))
def generator_expression(x):
    return sum(v * v for v in x) + max(v for v in x)


@supported("a comprehension with a static condition", args=(VECTOR,))
def filtered(x):
    return sum(x[k] for k in range(3) if k != 1)


@supported("`sum`, `min`, `max`, `any`, `all`, `math.prod` of sequences", args=(VECTOR,))
def folds(x):
    import math

    return sum(x) + max(x) * min(x[0], x[1]) + math.prod([x[0], 2.0]) * any(v > 0 for v in x)


@supported("a comprehension with a condition on values", "the number of items is found at run time", args=(VECTOR,))
def dynamic_filter(x):
    return sum([v * v for v in x if v > 0])


@supported("`append` under a condition, or behind a `break` or `continue`", args=(VECTOR,))
def conditional_append(x):
    ys = []
    for value in x:
        if value > 0:
            ys.append(value)
    return np.sum(np.array(ys))


@supported("`append` in loops inside of loops, or several times in an iteration", "also under a test", args=(VECTOR,))
def nested_append(x):
    pairs = []
    for i in range(len(x)):
        for j in range(i):
            if x[i] > x[j]:
                pairs.append(x[i] - x[j])
    return sum(d * d for d in pairs)


@supported("an array that grows in each iteration", "by the same number each time", args=(VECTOR,))
def growing(x):
    y = x
    for _ in range(x.size):
        y = np.concatenate([y, x])
    return np.sum(y)


@supported("an array that gets longer or shorter in each iteration", "the loop carries its size", args=(VECTOR,))
def getting_shorter(x):
    rest = x * x
    while np.sum(rest) > 1.0:
        rest = rest[rest < np.max(rest)] * 0.9
    return np.sum(rest)


@supported("a list used as a stack, a queue or a front: `append`, `pop`, `insert`, `del`, `while stack:`, in any loop",
           "items of one type; its items lie in arrays", args=(VECTOR,))
def stack_of_values(x):
    total, stack = 0.0, [x[0]]
    while stack:
        value = stack.pop()
        total = total + value * value
        if value < 2.0:
            stack.append(value + 1.0)
            stack.append(value * 1.5 + 1.0)
    return total


@refused("a list of items of several types that loops change", NotSupported, "give them one type", args=(VECTOR,))
def stack_of_several_types(x):
    stack = [x[0]]
    while np.sum(x) < 100.0:
        stack.pop()
        stack.append((x[0], x[1]))
        x = x + 1.0
    return stack[0]


@supported("a value that changes its structure in each iteration", "the loop is unrolled", args=(VECTOR,))
def changing_structure(x):
    y = x[0]
    for value in x:
        y = (y, value)
    return y[1]


@refused("a dtype that changes in a `while` loop", NotSupported, "cast before the loop", args=(VECTOR,))
def changing_dtype(x):
    y = x.astype(np.float32)
    while np.sum(y) < 10.0:
        y = y * np.float64(1.5)
    return np.sum(y)


@supported("`next` of `iter`, `zip`, `map`, `itertools.count`, …", "the number of items taken is known while reading",
           args=(VECTOR,))
def iterator(x):
    values = iter(x)
    first = next(values)
    return first * sum(values)


@supported("`next` of a generator that is used for nothing else, with or without a default", args=(VECTOR,))
def next_of_a_generator(x):
    return next(v * 2.0 for v in x) * next((v for v in x if v > 1e3), 3.0)


@supported("`next` of a generator with an end for the second time", "all items are computed at once", args=(VECTOR,))
def next_of_a_generator_twice(x):
    values = (v * 2.0 for v in x)
    return next(values) * next(values) + sum(values)


@refused("the same if an item may raise, print or be left out, in a loop, of an object with `__next__`", NotSupported,
         args=(VECTOR,))
def next_of_selected_twice(x):
    values = (v * 2.0 for v in x if v > 0)
    return next(values) * next(values)


@supported("a generator without an end: `while True` around one `yield`, with `zip`, `break`, `islice`, `next`, …")
def endless_generator(x):
    def powers():
        value = x
        while True:
            yield value
            value = value * x

    taken = powers()
    return next(taken) + sum(value * k for k, value in zip(range(3), taken))


@refused("another generator without an end, with `zip` or `break`", NotSupported, "pass the number of items to it")
def endless_generator_with_two_yields(x):
    def signs():
        while True:
            yield x
            yield -x

    return sum(value * k for k, value in zip(range(3), signs()))


@refused(
    "a loop over `enumerate`, `zip` or `map` of a generator that changes what that reads", NotSupported,
    "pass it as the last argument", args=(VECTOR,),
)
def changed_below_an_iterator(x):
    scale = 1.0
    for k, value in enumerate(a * scale for a in x):
        scale = scale + value * k
    return scale


@supported("a loop over a generator that `break` leaves, and that changes what the generator reads",
           "each item is computed when it is asked for", args=(VECTOR,))
def changed_below_a_generator(x):
    scale = 1.0
    for value in (a * scale for a in x):
        scale = scale + value
        if scale < 0.5:
            break
    return scale


@supported("what a generator returns: `count = yield from others()`", args=(VECTOR,))
def returned_by_a_generator(x):
    def squares():
        for v in x:
            yield v * v
        return len(x)

    def all_items():
        count = yield from squares()
        yield x[0] * count

    return sum(all_items())


@supported("a number before a long loop that is an array behind its first iteration", "that one is read by itself",
           args=(VECTOR,))
def becomes_an_array(x):
    total = 0.0
    for k in range(70):
        total = total + x * k
    return np.sum(total ** 2)


@supported("windows with bounds that the loop computes", "that they fit is tested at run time", args=(VECTOR,))
def windows(x):
    low, total = 0, 0.0
    while low + 2 <= len(x):
        total += np.sum(x[low : low + 2] * np.array([1.0, 2.0])) ** 2
        low += 1
    return total
