"""Programs over graphs that are given as lists of neighbours, of several lengths, and walks that remember places."""

import numpy as np

from .program import Program, apart, normal, positive


def neighbours_of_the_largest(x):
    neighbours = [[1, 2], [0], [], [4, 1, 0], [1]]
    total = 0.0
    for j in neighbours[int(np.argmax(x))]:
        total += x[j] ** 2
    return total + np.sum(x**2)


def uphill_walk(x):
    neighbours = [[1, 2], [0], [0, 1, 3], [4], [1]]
    i, total = 0, 0.0
    for _ in range(len(x) * 15):
        total = 0.9 * total + x[i] ** 2
        best = neighbours[i][0]
        for j in neighbours[i][1:]:
            if x[j] > x[best]:
                best = j
        i = best
    return total


def shortest_ways_of_a_graph(x):
    """Distances that are improved until none changes."""
    edges = [[(1, 2.0), (2, 0.5)], [(0, 1.0)], [(0, 3.0), (1, 1.0), (3, 0.1)], [(4, 1.0)], []]
    distances = [np.inf] * 5
    distances[0] = 0.0
    left = [0]
    while left:
        i = left.pop()
        for j, length in edges[i]:
            distance = distances[i] + length * x[j]
            if distance < distances[j]:
                distances[j] = distance
                left.append(j)
    return sum(distances) ** 2


def links_from_edges(x):
    edges = [(0, 1), (0, 2), (2, 3), (3, 4)]
    neighbours = [[] for _ in range(5)]
    for a, b in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    i = int(np.argmin(x))
    return max(x[j] for j in neighbours[i]) * len(neighbours[i - 1]) + np.sum(x[neighbours[i - 2]])


def rank_by_links(x):
    links = [[1, 2], [0], [0, 1, 3], [4], [1]]
    rank = x / np.sum(x)
    for _ in range(70):
        new = np.zeros(5)
        for i in range(len(links)):
            for j in links[i]:
                new[j] += rank[i] / len(links[i])
        rank = 0.03 + 0.85 * new
    return np.sum(rank**2)


def part_of_some_length(x):
    parts = [x[:2], x[1:4], x[:1]]
    return np.sum(parts[int(np.argmax(x)) % 3] ** 2)


def walk_that_avoids_itself(x):
    """Places are pairs of integers; a step to one that was visited is turned."""
    seen = [(0, 0)]
    place, total = (0, 0), 0.0
    while len(seen) < 7:
        v = x[len(seen) % len(x)]
        place = (place[0] + (1 if v > 0 else 0), place[1] + (0 if v > 0 else 1))
        if place in seen or (place[1], place[0]) in seen:
            total += v**2
            place = (place[0] + 1, place[1])
        seen.append(place)
        total += v * place[0]
    return total * (seen.index(place) + seen.count((1, 0)))


def kinds_that_were_seen(x):
    seen = []
    total = 0.0
    for i in range(len(x)):
        kind = (i % 2, "sign", x[i] > 0)
        if kind in seen:
            total += x[i] ** 2
        else:
            seen.append(kind)
    return total + len(seen) * x[0]


def weights_of_places_met_again(x):
    """Each place that comes once more adds what stands where it was first met."""
    places = []
    total = 0.0
    for i in range(len(x)):
        place = (i % 3, int(x[i] > 0))
        if place in places:
            total += x[places.index(place)] ** 2 * x[i]
        else:
            places.append(place)
    return total + len(places) * x[0]


PROGRAMS = [
    Program(weights_of_places_met_again, apart((7,))),
    Program(walk_that_avoids_itself, apart((5,))),
    Program(kinds_that_were_seen, apart((6,))),
    Program(neighbours_of_the_largest, apart((5,))),
    Program(uphill_walk, apart((5,)), order=1),
    Program(shortest_ways_of_a_graph, positive((5,))),
    Program(links_from_edges, apart((5,))),
    Program(rank_by_links, positive((5,)), order=1),
    Program(part_of_some_length, normal((5,))),
]
