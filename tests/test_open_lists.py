"""Lists that loops use as stacks, queues and fronts give what Python's give, or there is a located error."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from corpus import Program, open_sizes
from golden_loops.programs import next_higher
from lowered import assert_same

from transformer import grad, jit, jvp, vmap
from transformer.core.errors import NotSupported

RNG = np.random.default_rng(7)
GRAPH = RNG.random((70, 70)) < 0.04
HEIGHTS = RNG.random(70)


def in_depth(graph, start):
    seen = np.zeros(len(graph), dtype=np.bool_)
    order, stack = [], [start]
    while stack:
        v = stack.pop()
        if seen[v]:
            continue
        seen[v] = True
        order.append(v)
        for w in range(len(graph) - 1, -1, -1):
            if graph[v, w] and not seen[w]:
                stack.append(w)
    return np.array(order)


def distances_by_fronts(graph, start):
    n = len(graph)
    dist = np.full(n, -1)
    dist[start] = 0
    front = [start]
    while front:
        following = []
        for v in front:
            for w in range(n):
                if graph[v, w] and dist[w] < 0:
                    dist[w] = dist[v] + 1
                    following.append(w)
        front = following
    return dist


def distances_by_arrays(graph, start):
    dist = np.full(len(graph), -1)
    dist[start] = 0
    front, d = np.array([start]), 0
    while front.size:
        d += 1
        front = np.flatnonzero(graph[front].any(axis=0) & (dist < 0))
        dist[front] = d
    return dist


def distances_by_queue(graph, start):
    dist = np.full(len(graph), -1)
    dist[start] = 0
    queue = deque([start])
    while queue:
        v = queue.popleft()
        for w in np.flatnonzero(graph[v]):
            if dist[w] < 0:
                dist[w] = dist[v] + 1
                queue.append(w)
    return dist


def by_heap(heights):
    heap, out = [], []
    for value in heights:
        heap.append(value)
        i = len(heap) - 1
        while i > 0 and heap[(i - 1) // 2] > heap[i]:
            above = (i - 1) // 2
            heap[i], heap[above] = heap[above], heap[i]
            i = above
    while heap:
        out.append(heap[0])
        last = heap.pop()
        if heap:
            heap[0] = last
            i = 0
            while True:
                least = i
                for k in (2 * i + 1, 2 * i + 2):
                    if k < len(heap) and heap[k] < heap[least]:
                        least = k
                if least == i:
                    break
                heap[i], heap[least] = heap[least], heap[i]
                i = least
    return np.array(out)


def primes(count):
    found, k = [], 2
    while len(found) < count:
        is_prime = True
        for p in found:
            if k % p == 0:
                is_prime = False
                break
        if is_prime:
            found.append(k)
        k += 1
    return np.array(found)


def last_three(x):
    window, out = [], np.zeros(len(x))
    for i in range(len(x)):
        window.append(x[i])
        if len(window) > 3:
            del window[0]
        out[i] = sum(window) / len(window)
    return out


def one_or_two_in_an_iteration(x):
    items = []
    for k in range(70):
        if x[0] * 70 > k:
            items.append(x[0])
        else:
            items += [x[1], x[2]]
    return np.array(items)


def extended_by_known_and_recorded_items(x, bound):
    more = [x[0], x[0] * 2]
    for value in x:
        more.append(value + 1)
    items, k = [x[0]], 0
    while k * x[0] < bound:
        items.extend(more)
        items.pop(0)
        k += 1
    return np.array(items)


def two_names(x, count):
    items = [0.0]
    other = items
    while len(items) < count:
        items.append(x)
        if len(items) > 3:
            items.pop(0)
            items.insert(1, 2.0 * x)
            items.extend([1.0, 2.0])
    return len(other) + sum(other)


def beside_float32(x, bound):
    stack = [0.5]
    while stack[-1] < bound:
        stack.append(stack.pop() * 2.0)
    return x * stack[-1]


@pytest.mark.parametrize(("function", "args"), [
    (in_depth, (GRAPH, 0)), (distances_by_fronts, (GRAPH, 3)), (distances_by_arrays, (GRAPH, 3)),
    (distances_by_queue, (GRAPH, 3)), (next_higher, (HEIGHTS,)), (by_heap, (HEIGHTS,)), (primes, (70,)),
    (last_three, (HEIGHTS,)), (one_or_two_in_an_iteration, (HEIGHTS,)),
    (extended_by_known_and_recorded_items, (HEIGHTS, 2.0)),
    (two_names, (1.5, 9)), (beside_float32, (np.ones(2, np.float32), 50.0)),
], ids=lambda each: getattr(each, "__name__", ""))
def test_lists_are_pythons(function, args):
    expected = function(*args)
    found = jit(function)(*args)
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def array_that_is_written(x, bound):
    path, where = [], np.zeros(2)
    while where[0] < bound:
        where += x
        if len(path) > 2:
            path.pop(0)
        path.append(where)
    return np.array(path)


def item_that_is_written_later(x, bound):
    first = np.array([x, 1.0])
    stack, count = [first], 0.0
    while count < bound:
        while len(stack) > 2:
            stack.pop()
        stack.append(stack[-1] * 0.5)
        count += 1
    first[0] = 7.0
    return count + stack[0].sum()


def item_that_the_loop_writes(x, bound):
    first = np.array([x, 1.0])
    stack, count = [first], 0.0
    while count < bound:
        while len(stack) > 2:
            stack.pop()
        stack.append(stack[-1] * 0.5)
        first[0] = count
        count += 1
    return count + stack[0].sum()


def popped_item_that_is_written(x, bound):
    first = np.array([x, 1.0])
    stack, count = [first], 0.0
    while count < bound:
        while len(stack) > 2:
            stack.pop()
        stack.append(stack[-1] * 0.5)
        count += 1
    stack.pop(0)[0] = 9.0
    return count + first.sum()


def deque_that_drops_items(x, bound):
    last, count = deque([x], maxlen=3), 0.0
    while count < bound:
        while last and last[0] < count:
            last.popleft()
        last.append(x + count)
        last.append(x * 3.0)
        count += 1
    return sum(last)


def of_several_types(x, bound):
    stack = [x]
    while x < bound:
        stack.append((x, x) if len(stack) % 2 else x)
        x = x + 1.0
    return x + len(stack)


@pytest.mark.parametrize("function", [
    array_that_is_written, item_that_is_written_later, item_that_the_loop_writes, popped_item_that_is_written,
    deque_that_drops_items, of_several_types])
def test_what_arrays_cannot_hold_is_refused(function):
    with pytest.raises(NotSupported, match="File") as raised:
        jit(function)(0.7, 3.0)
    assert function.__name__ in str(raised.value)


def popped_once_more(x, bound):
    stack = [x]
    while x < bound:
        x = x + stack.pop()
    return x


def test_nothing_is_popped_from_nothing():
    for function in (popped_once_more, jit(popped_once_more)):
        with pytest.raises(IndexError, match="pop from empty list"):
            function(0.7, 3.0)
        assert function(0.7, 1.0) == 1.4


def none_beyond(x):
    waiting = [x[0]]
    while waiting:
        waiting.append(waiting.pop() * x[len(x)])
    return x[0]


def refused(x):
    waiting = [x[0]]
    while waiting:
        raise ValueError(len(waiting))
    return x[0]


@pytest.mark.parametrize("transform", [jit, grad, lambda f: jit(grad(f))])
@pytest.mark.parametrize(("function", "error"), [(none_beyond, IndexError), (refused, ValueError)])
def test_loops_that_certainly_run_and_go_nowhere(function, error, transform):
    for n in (1, 3):
        with pytest.raises(error):
            transform(function)(np.ones(n))


def weighted(y):
    levels, counts = [], []
    for value in y:
        levels.append(value)
        counts.append(1.0)
        while len(levels) > 1 and levels[-2] > levels[-1]:
            last = levels.pop()
            levels[-1] = 0.5 * (levels[-1] + last)
            count = counts.pop()
            counts[-1] += count
    levels, counts = np.array(levels), np.array(counts)
    return np.sum(levels ** 2 * counts) + np.mean(3 * levels ** 2 / counts)


def test_tangents_of_lists_whose_lengths_are_equal_by_what_the_program_does():
    """A number is taken out of a total of two arrays of computed lengths."""
    for n in (1, 7):
        y, dy = np.random.default_rng(n).normal(size=(2, n))
        difference = (weighted(y + 1e-6 * dy) - weighted(y - 1e-6 * dy)) / 2e-6
        for tangent in (jvp(weighted, (y,), (dy,))[1], jit(lambda y, dy: jvp(weighted, (y,), (dy,)))(y, dy)[1]):
            np.testing.assert_allclose(tangent, difference, rtol=1e-6)


def test_loops_of_arrays_that_get_shorter():
    assert_same(distances_by_arrays, GRAPH[:5, :5], 0)


LANES = (1.0, 1.3, 0.8)
MENTIONED_BY_TYPES_ALONE = ("without_largest", "filtered_in_pairs", "longer_and_longer", "smaller_ones_before")


@pytest.mark.parametrize("program", [each for each in open_sizes.PROGRAMS if each.name in MENTIONED_BY_TYPES_ALONE],
                         ids=lambda program: program.name)
def test_sizes_that_only_types_mention_are_known_in_compiled_lanes(program: Program) -> None:
    arguments, k = program.example(np.random.default_rng(3)), program.wrt[0]
    lanes = [[x * s if j == k else x for j, x in enumerate(arguments)] for s in LANES]
    axes = tuple(0 if j == k else None for j in range(len(arguments)))
    stacked = [np.stack([lane[k] for lane in lanes]) if j == k else x for j, x in enumerate(arguments)]
    expected = [program.function(*lane) for lane in lanes]
    np.testing.assert_allclose(jit(vmap(program.function, axes))(*stacked), expected, rtol=1e-12)


def test_more_items_taken_than_there_are():
    """The first loop is unrolled; in its third iteration, the list would have less than no items."""
    def program(x, n):
        items, place = [0.0, 0.5, 2.0], 0
        for i in range(n):
            place, i = (0.5, x[i])
            for _ in range(2):
                items.pop()
        return x[0] * len(items) * place

    assert grad(program)(np.ones(3), 1)[0] == 0.5
    with pytest.raises(IndexError, match="pop from empty list"):
        grad(program)(np.ones(3), 3)
