"""Lists that are put in order, by items or by keys that the program computes, and items that are found in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .program import Program, fixed

RNG = np.random.default_rng(17)
PLACES = RNG.random((5, 2))
WEIGHTS = RNG.random((4, 4)) + 0.1
FIVE = np.array([0.7, -0.4, 1.1, 0.3, -0.8])


def heaviest_edges(places, count):
    """The longest ways between places, each with its ends."""
    edges = []
    for i in range(len(places)):
        for j in range(i):
            edges.append((np.sum((places[i] - places[j]) ** 2), i, j))
    edges.sort(reverse=True)
    total = 0.0
    for length, i, j in edges[:count]:
        total += np.sqrt(length) * places[i, 0] * places[j, 1]
    return total


def shortest_ways(weights, steps):
    """Dijkstra's front, as a list that is sorted in each step."""
    n = len(weights)
    front, found = [(0.0, 0)], [1e3] * n
    for _ in range(steps):
        front.sort()
        way, at = front.pop(0)
        if way < found[at]:
            found[at] = way
            for other in range(n):
                front.append((way + weights[at, other], other))
    return sum(found)


def by_rank(x, y):
    """Values in the order of others, and the places that they had."""
    order = sorted(range(len(x)), key=lambda i: (i % 2, -y[i]))
    total = 0.0
    for rank, i in enumerate(order):
        total = 0.5 * total + (rank + 1) * x[i] * y[order[0]]
    return total


def named_items(x):
    first, second, third = x[0] * x[1], x[1] ** 2, x[2]
    items = [(first, 2), (second, 0), (third, 1)]
    least = min(items, key=lambda item: item[0])
    items.sort(key=lambda item: -item[1])
    return least[0] * x[least[1]] + items[0][0] * 3 + items[2][0]


def without_extremes(x):
    items = [x[0], x[1] * 2, x[2], x[3]]
    place = items.index(max(items))
    items.remove(min(items))
    items.remove(max(items))
    items.sort()
    return items[0] ** 2 * items[1] + x[place]


def best_two(x):
    """Places that are known, in the order of what lies there."""
    places = [3, 0, 2, 1]
    places.sort(key=lambda i: -x[i])
    return x[places[0]] * 2 + x[places[1]] ** 2 * x[places[3]]


def sorted_is_a_list(x):
    ordered = sorted([x[0], x[1]]) + [x[2], x[3]]
    twice = sorted(x)
    twice = twice + twice
    total = sum(ordered) * len(ordered) * twice[5] + len(twice)
    return total * x[4] if isinstance(twice, list) and sorted(x, key=lambda v: -v) else total


def two_greatest(x):
    """A list that is sorted and cut in each iteration, under a new name each time."""
    best = []
    for i, v in enumerate(x):
        best.append((v * v, i))
        best.sort(key=lambda item: -item[0])
        best = best[:2]
    return best[0][0] * x[best[1][1]] + best[1][0]


def least_kept(x):
    """The same list all the time; it begins with an item, so that its length is at least 1 and at most 2."""
    best = [x[0] + 1]
    for v in x:
        best.append(v * v)
        best.sort()
        del best[2:]
    return best[0] * 2 + best[1] ** 2


@dataclass(order=True)
class Way:
    length: float
    end: int


def least_by_two_keys(x):
    """Where the first number of a key is the same, the next one decides."""
    i = min(range(len(x)), key=lambda i: (i % 2, x[i]))
    v, w = max([(v, v * v) for v in x], key=lambda pair: (pair[1] > 0.2, pair[0]))
    one, other = min([(x[0], 1), (x[1], 0), (x[2], 0)], key=lambda pair: (pair[1], pair[0]))
    return x[i] ** 2 * v + w * one * (other + 1) + max(x[0], x[1], key=lambda v: -v)


def objects_in_order(x):
    """By their fields, as the class has it; a list of them is sorted in place."""
    ways = [Way(v * v, k) for k, v in enumerate(x)]
    ways.sort(reverse=True)
    known = sorted([Way(x[0], 0), Way(x[1], 1)])
    return ways[0].length * x[ways[-1].end] + min(ways).length * known[0].length + max(known).length


PROGRAMS = [
    Program(least_by_two_keys, fixed(FIVE)),
    Program(objects_in_order, fixed(FIVE)),
    Program(two_greatest, fixed(FIVE)),
    Program(least_kept, fixed(FIVE)),
    Program(sorted_is_a_list, fixed(FIVE)),
    Program(best_two, fixed(FIVE)),
    Program(heaviest_edges, fixed(PLACES, 3), order=1),
    Program(shortest_ways, fixed(WEIGHTS, 9), order=1),
    Program(by_rank, fixed(FIVE, FIVE[::-1].copy()), wrt=(0, 1)),
    Program(named_items, fixed(FIVE[:3])),
    Program(without_extremes, fixed(FIVE)),
]
