"""Heaps and ordered lists: `heapq` and `bisect`, which leave lists exactly as Python's do."""

from __future__ import annotations

import bisect
import heapq
from typing import Any


def rise(heap, first, place):
    """An item goes up to where none above it, from the first on, is larger."""
    item = heap[place]
    while place > first:
        parent = (place - 1) // 2
        if not item < heap[parent]:
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = item


def sink(heap, first):
    """An item goes down to the end, where the smaller items lead, and up again: most belong near the end."""
    item, place, size = heap[first], first, len(heap)
    child = 2 * place + 1
    while child < size:
        if child + 1 < size and not heap[child] < heap[child + 1]:
            child += 1
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    rise(heap, first, place)


def heappush(heap, item):
    heap.append(item)
    rise(heap, 0, len(heap) - 1)


def heappop(heap):
    last = heap.pop()
    if not heap:
        return last
    least = heap[0]
    heap[0] = last
    sink(heap, 0)
    return least


def heapify(x):
    for place in range(len(x) // 2 - 1, -1, -1):
        sink(x, place)


def heapreplace(heap, item):
    least = heap[0]
    heap[0] = item
    sink(heap, 0)
    return least


def heappushpop(heap, item):
    if heap and heap[0] < item:
        return heapreplace(heap, item)
    return item


def nsmallest(n, iterable, key=None):
    return sorted(iterable, key=key)[:n]


def nlargest(n, iterable, key=None):
    return sorted(iterable, key=key, reverse=True)[:n]


def bisect_left(a, x, lo=0, hi=None, *, key=None):
    hi = end_of(a, lo, hi)
    while lo < hi:
        middle = (lo + hi) // 2
        if (a[middle] if key is None else key(a[middle])) < x:
            lo = middle + 1
        else:
            hi = middle
    return lo


def bisect_right(a, x, lo=0, hi=None, *, key=None):
    hi = end_of(a, lo, hi)
    while lo < hi:
        middle = (lo + hi) // 2
        if x < (a[middle] if key is None else key(a[middle])):
            hi = middle
        else:
            lo = middle + 1
    return lo


def end_of(a, lo, hi):
    if lo < 0:
        raise ValueError("lo must be non-negative")
    return len(a) if hi is None else hi


def insort_left(a, x, lo=0, hi=None, *, key=None):
    a.insert(bisect_left(a, x if key is None else key(x), lo, hi, key=key), x)


def insort_right(a, x, lo=0, hi=None, *, key=None):
    a.insert(bisect_right(a, x if key is None else key(x), lo, hi, key=key), x)


CALLS: dict[Any, Any] = {
    heapq.heappush: heappush,
    heapq.heappop: heappop,
    heapq.heapify: heapify,
    heapq.heapreplace: heapreplace,
    heapq.heappushpop: heappushpop,
    heapq.nsmallest: nsmallest,
    heapq.nlargest: nlargest,
    bisect.bisect_left: bisect_left,
    bisect.bisect_right: bisect_right,
    bisect.insort_left: insort_left,
    bisect.insort_right: insort_right,
}
