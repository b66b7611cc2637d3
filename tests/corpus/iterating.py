"""itertools, grids of indices, and lists that later loops go through."""

import collections
import functools
import itertools
import operator

import numpy as np

from .program import Program, apart, fixed

VECTOR = np.array([0.3, -1.2, 2.1, 0.7, -0.45])
MATRIX = np.array([[1.1, -0.4, 0.7, 0.25], [0.2, 1.9, -0.8, 1.3], [0.6, -0.35, 0.9, -1.7]])


def product(x):
    t = 0.0
    for i, j in itertools.product(range(5), range(3)):
        t += x[i] * x[j] ** 2
    return t


def pairs_counted_from_one(x):
    t = 0.0
    for i, (a, b) in enumerate(itertools.product(x[:2], repeat=2), start=1):
        t += i * a * b
    return t


def sum_of_shifted_parts(x):
    weights = np.array([1.0, 4.0, 6.0])
    return np.sum(sum(weights[i] * x[:, i:i + 2] for i in range(3)) ** 2)


def product_rep(x):
    t = 0.0
    for i, j in itertools.product(range(3), repeat=2):
        t += x[i] * x[j] ** 2
    return t


def combinations(x):
    t = 0.0
    for i, j in itertools.combinations(range(4), 2):
        t += x[i] * x[j] ** 2
    return t


def comb_arr(x):
    t = 0.0
    for a, b in itertools.combinations(x, 2):
        t += a * b ** 2
    return t


def accumulate(x):
    return sum(v ** 2 for v in itertools.accumulate(x))


def accumulate_some_or_none(x):
    t = 0.0
    for bound in (-9.0, 0.0, 9.0):
        t += sum(v ** 2 for v in itertools.accumulate([v for v in x if v > bound]))
    return t


def reduce_none(x):
    try:
        return functools.reduce(operator.mul, [v for v in x if v > 9])
    except TypeError:
        return x[0] ** 2


def accumulate_list(x):
    return np.sum(np.array(list(itertools.accumulate(x, lambda a, b: a * b))) ** 2)


def chain(x):
    t = 0.0
    for v in itertools.chain(x, [1.0, 2.0]):
        t += v ** 2
    return t


def islice(x):
    t = 0.0
    for v in itertools.islice(x, 2):
        t += v ** 2
    return t


def islice2(x):
    t = 0.0
    for v in itertools.islice(x, 1, 4, 2):
        t += v ** 2
    return t


def pairwise(x):
    t = 0.0
    for a, b in itertools.pairwise(x):
        t += (a - b) ** 2
    return t


def count(x):
    t = 0.0
    for i, v in zip(itertools.count(), x):
        t += i * v ** 2
    return t


def repeat(x):
    t = 0.0
    for v, k in zip(x, itertools.repeat(2.0)):
        t += v ** k
    return t


def cycle_behind_its_first(x):
    s = 0.0
    for v, k in zip(x, itertools.islice(itertools.cycle([1.0, 2.0, 4.0]), 1, None)):
        s += v * v * k
    return s


def cycle(x):
    t = 0.0
    for v, k in zip(x, itertools.cycle([1.0, 2.0])):
        t += v ** k
    return t


def zip_longest(x):
    t = 0.0
    for v, k in itertools.zip_longest([x[0], x[1]], [x[2]], fillvalue=0.0):
        t += v ** 2 * (1 + k)
    return t


def starmap(x):
    return sum(itertools.starmap(lambda a, b: a * b ** 2, zip(x, x[1:])))


def ndindex(m):
    t = 0.0
    for i, j in np.ndindex(3, 4):
        t += m[i, j] ** 2
    return t


def ndindex_star(m):
    t = 0.0
    for idx in np.ndindex(*m.shape):
        t += m[idx] ** 2
    return t


def ndenumerate(m):
    t = 0.0
    for (i, j), v in np.ndenumerate(m):
        t += v ** 2 * (i + j)
    return t


def list_two_loops_idx(x):
    l = []
    for v in x:
        l.append(v ** 2)
    t = 0.0
    for i in range(len(l)):
        t += l[i] ** 2 * x[i]
    return t


def list_tuples(x):
    l = []
    for v in x:
        l.append((v ** 2, v))
    t = 0.0
    for a, b in l:
        t += a * b
    return t


def list_zip(x):
    l = []
    for v in x:
        l.append(v ** 2)
    t = 0.0
    for w, v in zip(l, x):
        t += w * v
    return t


def list_recur(x):
    l = [x[0]]
    for i in range(1, len(x)):
        l.append(l[i - 1] * x[i] + 1)
    return l[-1] ** 2


def list_fib(x):
    l = [x[0], x[1]]
    for i in range(2, len(x)):
        l.append(l[i - 1] * x[i] + l[i - 2])
    return l[-1] ** 2


def append_loop_np(x):
    y = np.array([])
    for i in range(4):
        y = np.append(y, x[i] ** 2)
    return np.sum(y ** 2)


def mask_shrink(x):
    y = x
    for _ in range(3):
        y = y[y > -1] * 1.1
    return np.sum(y ** 2)


def shrink_half(x):
    y = np.concatenate([x, x[:3]])
    while y.size > 1:
        y = y[::2] + y[1::2] ** 2
    return y[0]


def generator_of_what_was_there(x):
    """What a generator expression runs over is evaluated where it stands; what its items are, where they are used."""
    rows, scale = [x[0], x[1]], 2.0
    items = (scale * a * b for a in rows for b in (1.0, 3.0))
    rows, scale = [x[2]], 5.0
    return sum(items) ** 2 + len(rows)


def views_of_a_dictionary(x):
    """They show what the dictionary holds when they are looked at."""
    params = {"a": x[0], "b": x[1]}
    names, values = params.keys(), params.values()
    total = 0.0
    for _, value in params.items():
        params["b"] = params["b"] + value * x[2]
        total += value * value
    params["c"] = total
    return total * sum(values) + sum(params[name] for name in names) ** 2


def iterators_made_anew(x):
    total = 0.0
    for k in range(3):
        pairs = zip(x, x[1:])
        scaled = map(lambda a: a * (k + 1), x)  # noqa: B023
        total += sum(a * b for a, b in pairs) * max(scaled) + sum(filter(lambda a: a > 0, x))
    return total


def newest_in_a_deque(x):
    """A deque that is full drops an item for each that a loop appends."""
    newest = collections.deque(maxlen=2)
    for v in x:
        newest.append(v * v)
    return newest[0] * newest[1] * len(newest)


def deque_from_both_sides(x):
    window, total = collections.deque([0.0, 1.0, 2.0], maxlen=3), 0.0
    for v in x:
        window.appendleft(v)
        total += window[0] * window[-1]
        window += [v * 2]
    return total * len(window)


def arrays_written_in_a_chain(x):
    a, b = x * 1.0, x * 2
    part = a[:2]
    for each in itertools.chain([a, b], [part]):
        each *= x[0]
        each[0] += 1
    return np.sum(a * b) + part[1]


def rows_written_in_pairs(x):
    for a, b in itertools.pairwise(x):
        b += a * x[0, 0]
        a[0] = b[1]
    return np.sum(x)


def generator_that_writes_its_own(x):
    def states(y):
        for i in range(3):
            y[i + 1] += y[i] * x[0]
            yield y.copy()

    total = 0.0
    for k, y in enumerate(states(x * 1.0)):
        total += k * np.sum(y * y)
    return total


def numbered_and_named_again(x):
    total, y = 0.0, x
    for k, y in enumerate(v * 2 for v in y):  # noqa: B020
        total += k * y
    return total * y


def generator_unpacked(x):
    y = x * 1.0

    def doubled():
        for i in range(3):
            y[i] *= 2
            yield y[i]

    a, b, c = doubled()
    return a * b + c * np.sum(y)


def keys_with_effects(x):
    """A key is called once for each item."""
    y = x * 1.0

    def squared(v):
        y[0] += v
        return v * v

    nearest = min([x[1], x[0], x[2]], key=squared) * max(map(squared, x), key=squared)
    return nearest * y[0] * min(x, key=squared)


def ranges_turned_by_slices(x):
    n, t = len(x), 0.0
    for i in range(n)[::-1]:
        t = 0.5 * t + x[i]
    for i in range(1, n)[-2:0:-1]:
        t = t * x[i] + x[i - 1]
    return t


def positive(x):
    return [v for v in x if v > 0]


def taken_one_by_one(x):
    """There may be no next item, as many may be left for the loop, or none at all."""
    items, others = iter(positive(x)), iter(positive(-x))
    total = next(items, 2.0) * next(items, 3.0) + next(others) * next(others, 4.0) + next(others, 5.0)
    for v in items:
        total = total * v
    for v in others:
        total = total + v ** 2
    return total


def extremes_if_any(x):
    highest = max(positive(x), default=1.0) * max((v ** 2 for v in x if v > 9), default=x[1])
    nearest = min(positive(x), key=lambda v: abs(v - 1), default=3.0)
    found = max([v for v in x if v < -9], default=None)
    return highest + nearest + (x[0] if found is None else found)


def unpacked_with_stars(x):
    first, *rest = positive(x)
    *others, last = positive(-x)
    a, *middle, b = positive(x ** 2 - 0.2)
    two, three = positive(-x)
    return first * sum(rest) + last * len(others) + a * b * sum(middle) + two * three


def unpacked_of_loops(x):
    doubled, larger = [], []
    while x < 100.0:
        doubled.append(x)
        x = x * 2
    for v in doubled:
        if v > 20.0:
            larger.append(v)
    first, *middle, last = doubled
    a, b = larger
    return first * last + sum(middle) + a / b


def kept_by_any(x):
    """The item at which `any` and `all` stop keeps its name."""
    total, last = x[0], 0.0
    if any((last := value) > 0.5 for value in x):
        total += last * last
    if not all((last := value * x[1]) < 0.3 for value in x):
        total += last * x[2]
    return total * last


def counted_by_any(x):
    """What is asked of is counted, and items behind the answer are not looked at."""
    count, total = 0, 0.0

    def seen(value):
        nonlocal count, total
        count += 1
        total = total * 0.5 + value
        return value

    if any(seen(x[k]) > 0.5 for k in range(len(x) + 2)):
        total *= x[0]
    if all(seen(x[i] * x[k]) < 1.0 for i in range(2) if x[i] > -9.0 for k in range(3)):
        total *= x[1]
    if any(1.0 / value > 1.0 for value in [x[2], x[1], 0.0]):
        total *= x[2]
    return total * count


def written_by_all(x):
    """Elements behind the answer stay as they are."""
    y = x.copy()

    def doubled(k):
        y[k] *= 2
        return y[k] > 0.1

    return np.sum(y) * (2 + all(doubled(k) for k in range(3))) + np.sum(y ** 2)


def first_past_the_end(x):
    return next(1 / x[k] for k in range(len(x) + 3) if x[k] > 0.5) * x[0]


def first_that_is_named(x):
    found = next(v for v in x if (scaled := v * v) > 0.5)
    return found * scaled


def first_after_counting(x):
    count = 0

    def counted(value):
        nonlocal count
        count += 1
        return value

    return next((value for value in x if counted(value) > 0.5), 0.0) * count


def asked_of_a_generator_that_counts(x):
    count = 0

    def counted():
        nonlocal count
        for value in x:
            count += 1
            yield value

    return any(value > 0.1 for value in counted()) * count * x[0]


def first_of_steps(x):
    taken = []

    def halves():
        for v in x:
            taken.append(v)
            yield v
            taken.append(v / 2)

    first = next(v for v in halves() if v * v > 0.5)
    return first * sum(taken)


def left_in_a_generator_of_others(x):
    def positive():
        for v in x:
            if v > 0:
                yield v * v
        return len(x)

    def both():
        yield from positive()
        yield from (v for v in x if v < 0)

    total = 0.0
    for item in both():
        total = total * 2 + item
        if item < 0:
            break
    return total


def lists_compared(x):
    found = [v for v in x if v > 0]
    places = [k for k in range(len(x)) if x[k] > 0]
    again = places
    places *= 2
    total = sum(found * 2) * len(again)
    if places in [[1], [0, 2, 0, 2]] and found < [0.4, 7.0] and {"a": found} == {"a": [v for v in x if v > 0]}:
        total = total * x[0]
    if found != [0.5] and [] < found >= found[:1]:
        total = total + x[1]
    return total


def first_of_pairs(x):
    low, high = next((a, b) for a in x for b in x if a * b < -0.1)
    return low * high**2


def closed_where_it_is_left(x):
    left = [1.0]

    def steps():
        try:
            yield from x
        finally:
            left[0] = left[0] * 3

    first = next(v * v for v in steps())
    for item in steps():
        first = first + item * left[0]
        if item > 0.5:
            break
    return first * left[0]


class Counted:
    """Counts what has been taken of it."""

    def __init__(self, items):
        self.items, self.taken = items, 0.0

    def __iter__(self):
        for item in self.items:
            self.taken = self.taken + item
            yield item * item


def left_in_an_object_that_counts(x):
    counted, total = Counted(x), 1.0
    for item in counted:
        total = total * (1 + item)
        if item > 0.5:
            break
    return total * counted.taken


def left_in_a_generator(x):
    scale, total = 1.0, 0.0
    for scaled in (v * scale for v in x):
        total = total + scaled
        scale = scale * 1.5
        if total > 0.5:
            break
    return total * scale


PROGRAMS = [
    Program(first_past_the_end, fixed(np.array([0.3, -0.9, 0.7]))),
    Program(first_that_is_named, fixed(np.array([0.3, -0.9, 1.7]))),
    Program(first_after_counting, fixed(np.array([0.3, -0.9, 0.7, 0.8]))),
    Program(asked_of_a_generator_that_counts, fixed(VECTOR)),
    Program(first_of_steps, fixed(np.array([0.3, -0.9, 0.7]))),
    Program(left_in_a_generator_of_others, fixed(np.array([0.3, -0.9, 0.7, 1.2]))),
    Program(lists_compared, fixed(np.array([0.3, -0.9, 0.7]))),
    Program(first_of_pairs, fixed(np.array([0.3, 0.5, -0.9, 0.7]))),
    Program(left_in_a_generator, fixed(np.array([0.3, -0.9, 1.7, 0.8]))),
    Program(left_in_an_object_that_counts, fixed(np.array([0.3, -0.4, 0.8, 1.2]))),
    Program(closed_where_it_is_left, fixed(np.array([0.3, -0.9, 0.7, 1.2]))),
    Program(written_by_all, fixed(np.array([0.3, -0.9, 0.7]))),
    Program(kept_by_any, fixed(np.array([0.3, 0.9, 0.7]))),
    Program(counted_by_any, fixed(np.array([0.3, 0.9, 0.7]))),
    Program(counted_by_any, fixed(np.array([0.8, 0.9, -1.7])), name="counted_by_any_otherwise"),
    Program(unpacked_of_loops, fixed(6.5)),
    Program(taken_one_by_one, fixed(VECTOR)),
    Program(taken_one_by_one, fixed(-VECTOR), name="taken_one_by_one_of_others"),
    Program(extremes_if_any, fixed(VECTOR)),
    Program(unpacked_with_stars, fixed(VECTOR)),
    Program(ranges_turned_by_slices, apart(("n",))),
    Program(keys_with_effects, apart(("n",))),
    Program(newest_in_a_deque, apart(("n",))),
    Program(deque_from_both_sides, apart((4,))),
    Program(arrays_written_in_a_chain, apart((4,))),
    Program(rows_written_in_pairs, apart((4, 3))),
    Program(generator_that_writes_its_own, apart((4,))),
    Program(numbered_and_named_again, apart(("n",))),
    Program(generator_unpacked, apart((4,))),
    Program(generator_of_what_was_there, apart(("n",))),
    Program(views_of_a_dictionary, apart(("n",))),
    Program(iterators_made_anew, apart(("n",))),
    Program(product, fixed(VECTOR)),
    Program(product_rep, apart(("n",))),
    Program(combinations, apart(("n",))),
    Program(comb_arr, apart(("n",))),
    Program(accumulate, apart(("n",))),
    Program(accumulate_some_or_none, apart(("n",))),
    Program(reduce_none, apart(("n",))),
    Program(accumulate_list, apart(("n",))),
    Program(chain, apart(("n",))),
    Program(islice, apart(("n",))),
    Program(islice2, apart(("n",))),
    Program(pairwise, apart(("n",))),
    Program(count, apart(("n",))),
    Program(repeat, apart(("n",))),
    Program(cycle, apart(("n",))),
    Program(cycle_behind_its_first, apart(("n",))),
    Program(zip_longest, apart(("n",))),
    Program(starmap, apart(("n",))),
    Program(ndindex, fixed(MATRIX)),
    Program(ndindex_star, apart(("n", "m"))),
    Program(ndenumerate, apart(("n", "m"))),
    Program(list_two_loops_idx, apart(("n",))),
    Program(list_tuples, apart(("n",))),
    Program(list_zip, apart(("n",))),
    Program(list_recur, apart(("n",))),
    Program(list_fib, apart(("n",))),
    Program(append_loop_np, apart(("n",))),
    Program(mask_shrink, apart(("n",))),
    Program(shrink_half, fixed(VECTOR)),
    Program(pairs_counted_from_one, fixed(VECTOR)),
    Program(sum_of_shifted_parts, fixed(MATRIX)),
]
