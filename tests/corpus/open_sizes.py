"""Arrays and lists that an iteration leaves longer or shorter than it found them: fronts, stacks, queues, filters."""

from collections import deque

import numpy as np

from .program import Program, fixed, normal

VECTOR = np.array([1.3, -0.4, 0.9, 2.2, -1.7])
OTHER = np.array([0.2, 0.7, -1.1, 0.4, 0.6])


def without_largest(x, bound):
    parts = x * x
    while parts.sum() > bound:
        parts = parts[parts < parts.max()] * 0.9
    return np.sum(parts * 3)


def filtered_in_pairs(x, y, bound):
    while np.abs(x).max() > bound:
        keep = np.abs(x) < np.abs(x).max()
        x, y = x[keep] * 1.1, y[keep] + x[keep]
    return np.sum(x * y)


def longer_and_longer(x, least):
    while x.sum() < least:
        x = np.concatenate((x, x[x > 0] * 0.5))
    return np.mean(x * x)


def shorter_from_either_end(x, bound):
    rest = x
    while rest.std() > bound:
        if rest[0] > rest[-1]:
            rest = rest[1:]
        else:
            rest = rest[:-1]
    return rest.sum() + rest[0] ** 2


def adaptive_quadrature(c, a, b):
    def height(t):
        return c[0] * t**3 + c[1] * np.sin(3 * t)

    total = 0.0
    stack = [(a, b)]
    while stack:
        low, high = stack.pop()
        middle, width = 0.5 * (low + high), high - low
        coarse = width * height(middle)
        fine = width / 2 * (height(0.5 * (low + middle)) + height(0.5 * (middle + high)))
        if abs(coarse - fine) < 0.05:
            total += fine
        else:
            stack.append((low, middle))
            stack.append((middle, high))
    return total


def terms_in_a_queue(x, bound):
    queue = deque([x])
    total = 0.0
    while queue:
        value = queue.popleft()
        total += value * value
        if value < bound:
            queue.append(value * 1.5)
            queue.append(value + 1.0)
    return total


def window_of_steps(x, bound):
    last, where = [], x * 0.0
    while where < bound:
        where += x * 0.7
        last.append(where)
        if len(last) > 2:
            last.pop(0)
    return last[0] * last[-1]


def rows_on_a_stack(x, bound):
    stack = [x, 2.0 * x]
    total = 0.0
    while stack:
        row = stack.pop()
        total += np.sum(row**2)
        if row.sum() < bound:
            stack.append(row * 1.7 + 0.5)
            stack.append(np.sin(row) + bound)
    return total


def generation_after_generation(x, bound):
    total, now = 0.0, [x]
    while now:
        following = []
        for value in now:
            if value < bound:
                following.append(value * 1.4)
        total += sum(now)
        now = following
    return total


def smaller_ones_before(x):
    """What is left of each element, and smaller: a stack that an inner loop takes items from."""
    stack, total, k = [], 0.0, 0
    while k < len(x) and x[k] < 2.0:
        while stack and stack[-1] >= x[k]:
            stack.pop()
        if stack:
            total += stack[-1] * x[k]
        stack.append(x[k])
        k += 1
    return total


def pooled_until_they_rise(y):
    """Isotonic regression: the last two items of two lists are one as long as they fall."""
    means, counts = [], []
    for value in y:
        means.append(value)
        counts.append(1.0)
        while len(means) > 1 and means[-2] > means[-1]:
            count = counts[-1] + counts[-2]
            mean = (means[-1] * counts[-1] + means[-2] * counts[-2]) / count
            means.pop()
            counts.pop()
            means[-1], counts[-1] = mean, count
    return np.sum(np.array(means) ** 2 * np.array(counts))


def attention_over_a_cache(x, w):
    cache = {"keys": [], "values": []}
    total = 0.0
    for row in x:
        cache["keys"].append(row @ w)
        cache["values"].append(np.tanh(row))
        scores = np.exp(np.stack(cache["keys"]) @ row)
        total += np.sum(scores / np.sum(scores) @ np.array(cache["values"])) * np.mean(cache["keys"], axis=0)[0]
    return total


PROGRAMS = [
    Program(without_largest, fixed(VECTOR, 1.3)),
    Program(filtered_in_pairs, fixed(VECTOR, OTHER, 0.8), wrt=(0, 1)),
    Program(longer_and_longer, fixed(VECTOR, 9.0)),
    Program(longer_and_longer, fixed(VECTOR, -9.0), name="no_longer"),
    Program(shorter_from_either_end, fixed(VECTOR, 0.7)),
    Program(adaptive_quadrature, fixed(np.array([1.0, 2.0]), 0.0, 2.0)),
    Program(terms_in_a_queue, fixed(0.7, 2.0)),
    Program(window_of_steps, fixed(0.7, 3.0)),
    Program(rows_on_a_stack, fixed(np.array([0.3, -0.6]), 1.0)),
    Program(generation_after_generation, fixed(0.7, 3.0)),
    Program(pooled_until_they_rise, fixed(VECTOR)),
    Program(attention_over_a_cache, normal((3, 2), (2, 2)), wrt=(0, 1)),
    Program(smaller_ones_before, fixed(np.array([1.1, 0.4, 1.5, 0.9, 1.7, 0.2, 2.5]))),
]
