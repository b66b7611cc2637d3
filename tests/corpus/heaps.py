"""Heaps, ordered lists, and items at computed places: shortest paths, the best few, events in turn."""

import bisect
import heapq
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .program import Program, fixed, normal


class Edge(NamedTuple):
    weight: float
    end: int


def sorted_by_a_heap(x):
    heap = []
    for value in x:
        heapq.heappush(heap, value**2)
    total = 0.0
    while heap:
        total = total * 0.5 + heapq.heappop(heap)
    return total


def shortest_paths(weights):
    count = len(weights)
    distances = [1e9] * count
    distances[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        distance, node = heapq.heappop(heap)
        if distance > distances[node]:
            continue
        for other in range(count):
            found = distance + abs(weights[node, other])
            if found < distances[other]:
                distances[other] = found
                heapq.heappush(heap, (found, other))
    return sum(distances)


def events_in_turn(x, end):
    heap = [(x[0] ** 2, x[0]), (x[1] ** 2, x[2]), (x[3], x[4])]
    heapq.heapify(heap)
    total, count = 0.0, 0
    while total < end:
        time, strength = heapq.heappop(heap)
        total += abs(time * strength) + 1
        heapq.heappush(heap, (time + abs(strength) + 0.1, strength * 1.1))
        count += 1
    return total + count


def layout_of_a_heap(x):
    heap = [value * value for value in x]
    heapq.heapify(heap)
    first = heapq.heapreplace(heap, x[0])
    second = heapq.heappushpop(heap, x[1])
    return first * heap[-1] + second * heap[1] - heap[2] * heap[0]


def largest_three(x):
    heap = []
    for value in x:
        if len(heap) < 3:
            heapq.heappush(heap, value * value)
        else:
            heapq.heappushpop(heap, value * value)
    most = heapq.nlargest(2, x)
    return heap[0] * heap[1] + heap[2] + most[1] * heapq.nsmallest(2, x)[0]


def kept_in_order(x):
    ordered = []
    for value in x:
        bisect.insort(ordered, value * value)
    place = bisect.bisect_left([0.0, 0.5, 1.0], x[0])
    return ordered[0] * ordered[1] - ordered[2] + x[place] ** 2 * x[bisect.bisect(np.sort(x), 0.6, hi=3)]


def tuples_at_computed_places(x):
    pairs = [(x[0], (x[1], 1)), (x[2], (x[3], 2)), (x[1], (x[0], 3))]
    place = int(np.argmax(x[:3]))
    weight, (value, number) = pairs[place]
    pairs[place] = x[3], (weight * 2, 5)
    edges = [Edge(x[i], i) for i in range(4)]
    edge = edges[place]
    edges[place] = Edge(edge.weight * 2, edge.end + 1)
    return sum(a * b * k for a, (b, k) in pairs) * value * number + edges[0].weight * edges[2].weight * edge.end


WEIGHTS = np.array([[0.3, 0.4, 9.0, 0.7], [0.4, 0.5, 0.2, 9.0], [9.0, 0.2, 0.1, 0.6], [0.7, 9.0, 0.6, 0.9]])

@dataclass(order=True)
class Event:
    time: float
    server: int = field(compare=False)


class Segment:
    """A part of an interval that waits to be looked at."""

    def __init__(self, start, length):
        self.start, self.length = start, length


def objects_in_turn(x, horizon):
    events = []
    for server, pause in enumerate(x):
        heapq.heappush(events, Event(pause, server))
    total = 0.0
    while events:
        event = heapq.heappop(events)
        if event.time > horizon:
            break
        total += event.time * x[event.server]
        heapq.heappush(events, Event(event.time + 2.0 * x[event.server] + 0.3, event.server))
    return total


def objects_on_a_stack(x):
    waiting = [Segment(x[0], x[1])]
    total = 0.0
    while waiting:
        part = waiting.pop()
        if part.length > 0.3:
            waiting.append(Segment(part.start, part.length * 0.4))
            waiting.append(Segment(part.start + part.length * 0.4, part.length * 0.6))
        else:
            total += part.start ** 2 * part.length
    return total


PROGRAMS = [
    Program(sorted_by_a_heap, normal(("n",))),
    Program(shortest_paths, fixed(WEIGHTS)),
    Program(events_in_turn, fixed(np.array([0.3, -1.2, 0.7, 1.1, 0.5]), 4.5)),
    Program(layout_of_a_heap, normal((5,))),
    Program(largest_three, normal((5,))),
    Program(kept_in_order, normal((4,))),
    Program(tuples_at_computed_places, normal((4,))),
    Program(objects_in_turn, fixed(np.array([0.31, 0.92, 0.23, 0.54]), 5.0)),
    Program(objects_on_a_stack, fixed(np.array([0.7, 1.3]))),
]
