"""Containers, as values and as arguments."""

from __future__ import annotations

import bisect
import copy
import heapq
import operator
from collections import OrderedDict, defaultdict, deque

import numpy as np

from transformer.core.errors import NotSupported, TransformError

from .rows import VECTOR, Section

SECTION = Section("Containers")
supported, refused = SECTION.supported, SECTION.refused

PARAMETERS = {"w": VECTOR, "b": [0.5, (2.0, "tanh")]}


@supported("a dict, list, tuple of arrays as argument", "the gradient has its structure", args=(PARAMETERS,))
def parameters(p):
    b, (c, name) = p["b"]
    return np.sum(getattr(np, name)(p["w"] * c)) + b * b


@supported("displays: `[a, b]`, `(a, b)`, `{k: v}`, `{a, b}`, with `*` and `**`")
def displays(x):
    items = [x, *(2.0, x)]
    table = {"a": x, **{"b": x * x}}
    return items[2] * table["b"] * len({1, 2})


@supported("list methods and operators: `append, extend, insert, pop, +, *, in, index, slices`")
def lists(x):
    items = [1.0] * 2 + [x]
    items.append(x * x)
    items.extend([3.0, x])
    items.insert(0, x)
    last = items.pop()
    items[1:3] = [x]
    return sum(items) * last * ([1, 2].index(2) + (2 in [1, 2]))


@supported("`reverse`, `sort` and `sorted` of what is known, also with `key`")
def sorting(x):
    pairs = sorted([(2, x), (1, x * x)], key=lambda pair: pair[0])
    pairs.reverse()
    return pairs[0][1] * 3 + pairs[1][1]


@supported("`sort`, `sorted`, `index`, `count`, `remove` of numbers, or tuples of numbers, that the program computes",
           args=(VECTOR,))
def computed_order(x):
    order = sorted(range(len(x)), key=lambda i: (i % 2, -x[i]))
    pairs = [(x[i] ** 2, i) for i in order]
    pairs.sort(reverse=True)
    return pairs[0][0] * x[pairs[1][1]] + order.index(2)


@supported("`==`, `<`, `in`, `xs * 2` of lists that a loop fills, also of tuples; `==` of dictionaries", args=(VECTOR,))
def compared_lists(x):
    found, places = [v for v in x if v > 0], [k for k in range(len(x)) if x[k] > 0]
    if places in [[1], [0, 2]] and found < [0.4, 7.0] and {"a": found, "b": x[0]} == {"b": x[0], "a": found}:
        return sum(found * 2) * len(places * 3)
    return x[1]


@supported("`heapq` and `bisect`, of numbers or tuples of numbers", args=(VECTOR,))
def heaps(x):
    heap = [(value * value, k) for k, value in enumerate(x)]
    heapq.heapify(heap)
    least, place = heapq.heappop(heap)
    return least * x[place] + bisect.bisect(sorted(x), x[0])


@supported("`operator.itemgetter`, `attrgetter`, `methodcaller`", args=(VECTOR,))
def getters(x):
    pairs = sorted([(k, value * value) for k, value in enumerate(x)], key=operator.itemgetter(1))
    return pairs[0][1] * operator.methodcaller("sum")(x) * operator.attrgetter("real")(pairs[1][1])


@supported("dict methods: `get, items, keys, values, update, setdefault, pop, fromkeys`")
def dicts(x):
    table = dict.fromkeys("a", x)
    table.update(b=x * x)
    table.setdefault("c", 2.0)
    return sum(table.values()) * table.pop("a") * table.get("z", 3.0) * len(table.keys())


@supported("`OrderedDict`, `defaultdict`")
def other_dicts(x):
    table = OrderedDict(a=x, b=x * x)
    counts = defaultdict(float)
    counts["a"] += x
    return table["a"] * table["b"] + counts["a"]


@supported("a list of arrays indexed by a static number, also in a loop that is then unrolled")
def layers(x):
    weights = [x, 2.0 * x, np.sin(x)]
    y = 1.0
    for k in range(3):
        y = np.tanh(y * weights[k])
    return y


@supported("sets: `|, &, -`, `in`, `add`, of static things")
def sets(x):
    names = {"a"}
    names.add("d")
    names = names | {"b", "c"} - {"c"}
    return x**2 * len(names) if "a" in names else x


@supported("`copy.copy`, `copy.deepcopy`", "of arrays, containers and objects", args=(VECTOR,))
def copies(x):
    table = {"a": x, "b": [x, x]}
    outer, whole = copy.copy(table), copy.deepcopy(table)
    outer["a"] = x * x
    whole["b"][0][0] = 5.0
    return np.sum(table["a"] * outer["a"] * table["b"][0] * whole["b"][1] * copy.copy(x))


@supported("`collections.deque`, with and without `maxlen`")
def queue(x):
    items = deque([x, 2.0 * x], maxlen=2)
    items.append(x * x)
    return items[0] * items[1]


@supported("a list of numbers whose items are written at computed places", "it becomes an array", args=(VECTOR,))
def sums_before(x):
    sums = [0.0] * (len(x) + 1)
    for i in range(len(x)):
        sums[i + 1] = sums[i] + x[i]
    return sums[-1] * sums[1]


@supported("a list of lists of numbers, of one length, changed item by item", "it becomes an array", args=(VECTOR,))
def table_of_lists(x):
    table = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            table[i][j] = x[i] * x[j] + (table[i - 1][j] if i else 0.0)
    return table[2][1] * table[1][2]


@supported("a list of arrays that a loop or a comprehension made, written item by item", "the loop is unrolled",
           args=(VECTOR,))
def buckets(x):
    sums = [np.zeros(2) for _ in range(2)]
    for k in range(3):
        sums[k % 2][0] += x[k]
        sums[k % 2][1] *= x[k]
        sums[0] += sums[1][::-1]
    return np.sum(sums[0] * sums[1])


@supported("a nested list changed in place", "aliases see it")
def aliases(x):
    a = [x, [x]]
    b = a
    b[1][0] = x * x
    return a[1][0]


@supported("dicts and sets joined by `|`; `op=` changes the container itself", "`a |= b`, `xs += [y]`, `xs *= 2`")
def union(x):
    table = {"a": x} | {"b": 1.0}
    same = table
    table |= {"c": 2.0}
    return same["a"] * same["c"]


@supported("a list or tuple of numbers, of arrays of one type, or of tuples of such, indexed by a dynamic number",
           args=(VECTOR,))
def dynamic_index(x):
    items = [x[0], 2.0, x[1]]
    items[int(np.argmin(x))] = 3.0 * x[2]
    value, factor = ((x[0], 1), (x[1], 2))[int(x[0] > x[1])]
    return items[int(np.argmax(x))] + value * factor


@supported("a list of lists of several lengths, read at a computed place: `for j in neighbours[i]`", args=(VECTOR,))
def neighbours_at_a_computed_place(x):
    neighbours = [[1, 2], [0], [0, 1]]
    i = int(np.argmax(x))
    return sum(x[j] ** 2 for j in neighbours[i]) * len(neighbours[i - 1])


@refused("a list of several types indexed by a dynamic number", NotSupported, "give them one type", args=(VECTOR,))
def dynamic_index_of_several_types(x):
    items = [x[0], x]
    return np.sum(items[int(np.argmax(x) > 1)])


@refused("a dict with a dynamic key", NotSupported)
def dynamic_key(x):
    table = {x: 1.0}
    return x * len(table)


@supported("a key that is set under a test, and used under the same test")
def key_under_test(x):
    cache = {}
    if x > 0:
        cache["square"] = x * x
    total = x
    if x > 0:
        total += cache["square"]
    return total


@supported("a missing key, an index out of range, on a path that is not taken", "it raises there, as in Python")
def missing_on_a_path(x):
    items = [x, x * x]
    return items[2] if x > 100 else items[1]


@refused("a missing key, an index out of range", TransformError)
def missing_key(x):
    return x * {"a": 1.0}["b"]
