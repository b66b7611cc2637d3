"""Lists that loops fill, under conditions too, and what runs over them."""

import math
from collections import deque

import numpy as np

from .program import Program, apart, fixed

VECTOR = np.array([0.3, -1.2, 2.1, 0.7, -0.45])


def append_cond(x):
    l = []
    for v in x:
        if v > 0:
            l.append(v ** 2)
    return np.sum(np.array(l) ** 2)


def append_cond_twice(x):
    l = [x[0]]
    for v in x:
        if v > 0:
            w = v * x[1]
            l.append(w)
        elif v < -1:
            l.append(v ** 3)
    return sum(l) ** 2


def append_cond_len(x):
    l = []
    for v in x:
        if v > 0:
            l.append(v ** 2)
    return sum(l) / len(l)


def append_cond_rows(m):
    l = []
    for r in m:
        if r[0] > 0.5:
            l.append(r ** 2)
    return np.sum(np.array(l) ** 2)


def append_cond_pairs(x):
    l = []
    for k, v in enumerate(x):
        if v > 0:
            l.append((v ** 2, k))
    t = 0.0
    for a, k in l:
        t += a * k * x[k]
    return t


def append_break(x):
    l = []
    for v in x:
        if v > 2:
            break
        l.append(v ** 2)
    return np.sum(np.array(l) ** 2)


def append_continue(x):
    l = []
    for v in x:
        if v < 0:
            continue
        l.append(v ** 2)
    return np.sum(np.array(l) ** 2)


def append_nested_cond(m):
    l = []
    for r in m:
        for v in r:
            if v > 0:
                l.append(v ** 2)
    return np.sum(np.array(l) ** 2)


def comp_if2(x):
    return np.sum(np.array([v ** 2 for k, v in enumerate(x) if v > 0 and k > 1]) ** 2)


def comp_max(x):
    return max([v ** 2 for v in x if v > 0])


def while_cond(x):
    l = []
    t = x[0]
    k = 0
    while t < 20:
        t = t * 1.7 + 1
        k += 1
        if t > 3:
            l.append(t * x[1])
    return np.sum(np.array(l) ** 2)


def append_ints(x):
    l = []
    for k in range(len(x)):
        if x[k] > 0:
            l.append(k)
    return np.sum(x[np.array(l)] ** 2)


def append_ints_loop(x):
    l = []
    for k in range(len(x)):
        if x[k] > 0:
            l.append(k)
    t = 0.0
    for k in l:
        t += x[k] ** 3
    return t


def two_lists(x):
    a, b = ([], [])
    for v in x:
        if v > 0:
            a.append(v ** 2)
        else:
            b.append(v ** 3)
    return np.sum(a) * np.sum(b) + len(a) * sum(b)


def helper_again(x):

    def positive(x):
        out = []
        for v in x:
            if v > 0:
                out.append(v * 2)
        return np.array(out)
    return np.sum(positive(x) ** 2) + np.sum(positive(-x) ** 3)


def brk(x):
    l = []
    for v in x:
        l.append(v ** 2)
        if v > 2:
            break
    return np.sum(np.array(l) ** 2)


def brk_w(x):
    l = []
    t = x[0]
    while t < 20:
        t = t * 1.7 + 1
        l.append(t)
    return np.sum(np.array(l) ** 2)


def sorted_key_dyn(x):
    return sum((v * i for i, v in enumerate(sorted(x, key=lambda v: -v))))


def sorted_rev(x):
    return sum((v * i for i, v in enumerate(sorted(x, reverse=True))))


def sorted_list(x):
    return sum((v * i for i, v in enumerate(sorted([x[0], x[1] ** 2, x[2]]))))


def sorted_rows(m):
    return sum((np.sum(r) * i ** 2 for i, r in enumerate(sorted(m, key=lambda r: r[1]))))


def max_key(x):
    return max(-x, key=lambda v: -v ** 2) ** 2


def min_key_list(x):
    return min([x[0], x[1]], key=lambda v: v ** 2) ** 2


def max_range_key_n(x):
    return x[max(range(len(x)), key=lambda i: x[i])] ** 2


def max_rows(m):
    return np.sum(max(m, key=lambda r: r[1]) ** 2)


def deque_items(x):
    q = deque([x[0], x[1]])
    q.append(x[2])
    a = q.popleft()
    q.appendleft(a * 2)
    return sum(q) ** 2 + q[0] * q[-1]


def deque_maxlen_n(x):
    q = deque([x[0], x[1]], maxlen=2)
    for v in x[2:]:
        q.append(q[0] * v + q[1])
    return q[0] * q[1]


def deque_rotate(x):
    q = deque(x[:3])
    q.rotate(1)
    return q[0] * q[1] ** 2


def deque_bfs(x):
    q = deque([0])
    seen = set()
    t = 0.0
    g = {0: [1, 2], 1: [3], 2: [3], 3: []}
    while q:
        k = q.popleft()
        if k in seen:
            continue
        seen.add(k)
        t += x[k] ** 2
        for j in g[k]:
            q.append(j)
    return t


def deque_grows(x):
    q = deque()
    for v in x:
        q.append(v ** 2)
    return sum(q) ** 2


def fsum_gen(x):
    return math.fsum(v ** 2 for v in x)


def dist(x):
    return math.dist(x[:2], x[2:4])


def hypot(x):
    return math.hypot(x[0], x[1], x[2])


def tolist(x):
    return sum(v ** 2 for v in x.tolist())


def tolist2(m):
    return sum(r[1] ** 2 for r in m.tolist())


def filter_items(x):
    return sum(filter(lambda v: v > 0, x)) ** 2


def filter_static(x):
    return sum(x[k] ** 2 for k in filter(lambda k: k % 2, range(5)))


def max_gen_if(x):
    return max(v ** 2 for v in x if v > 0)


def fromiter(x):
    return np.sum(np.fromiter((v ** 2 for v in x), dtype=float) * x)


def hist(x):
    h, e = np.histogram(x, bins=3, weights=x ** 2)
    return np.sum(h * e[1:])


def places_from_the_last(x):
    """The index of a loop that counts down is itself what the list keeps."""
    order = [k for k in reversed(range(len(x)))]
    return np.sum(x[order] ** 2 * np.arange(len(x)))


def places_counted_down(x):
    order, later = [], []
    for k in range(len(x) - 1, 0, -1):
        order.append(k)
        later.append(k - 1)
    return np.sum(x[np.array(order)] * x[np.array(later)] ** 2)


def places_counted_up(x):
    order, pairs = [], []
    for k in range(1, len(x)):
        order.append(k)
    for k in range(0, len(x), 2):
        pairs.append(k)
    y = np.zeros_like(x)
    for k in order:
        y[k] = x[k] * x[k - 1]
    return np.sum(y) + np.sum(x[pairs] ** 3)


def elements_from_the_last(x):
    order = [k for k in range(2, -1, -1)]
    y = np.zeros_like(x)
    for k in order:
        y[k] = x[k] * (y[k + 1] if k < 2 else 1.0)
    return np.sum(y)


def shape_by_comprehension(x):
    shape = [d + 2 for d in range(2)]
    return np.sum(np.ones(shape) * x[0] ** 3) + np.sum(np.reshape(x[:6], [k + 2 for k in range(2)])[1] ** 2)


def padded_by_comprehension(x):
    """A list that a comprehension makes stands where numbers have to be known."""
    widths = [(k + 1, 2 - k) for k in range(x.ndim)]
    return np.sum(np.pad(x, widths)[1:] ** 3)


PROGRAMS = [
    Program(places_from_the_last, apart(("n",))),
    Program(places_counted_down, apart(("n",))),
    Program(places_counted_up, apart(("n",))),
    Program(elements_from_the_last, apart((4,))),
    Program(shape_by_comprehension, apart((7,))),
    Program(padded_by_comprehension, apart(("n", "m"))),
    Program(append_cond, apart(("n",))),
    Program(append_cond_twice, apart(("n",))),
    Program(append_cond_len, apart(("n",))),
    Program(append_cond_rows, apart(("n", "m"))),
    Program(append_cond_pairs, apart(("n",))),
    Program(append_break, apart(("n",))),
    Program(append_continue, apart(("n",))),
    Program(append_nested_cond, apart(("n", "m"))),
    Program(comp_if2, apart(("n",))),
    Program(comp_max, apart(("n",))),
    Program(while_cond, apart(("n",))),
    Program(append_ints, apart(("n",))),
    Program(append_ints_loop, apart(("n",))),
    Program(two_lists, apart(("n",))),
    Program(helper_again, apart(("n",))),
    Program(brk, apart(("n",))),
    Program(brk_w, apart(("n",))),
    Program(sorted_key_dyn, apart(("n",))),
    Program(sorted_rev, apart(("n",))),
    Program(sorted_list, apart(("n",))),
    Program(sorted_rows, apart(("n", "m"))),
    Program(max_key, apart(("n",))),
    Program(min_key_list, apart(("n",))),
    Program(max_range_key_n, apart(("n",))),
    Program(max_rows, apart(("n", "m"))),
    Program(deque_items, apart(("n",))),
    Program(deque_maxlen_n, apart(("n",))),
    Program(deque_rotate, apart(("n",))),
    Program(deque_bfs, apart(("n",))),
    Program(deque_grows, apart(("n",))),
    Program(fsum_gen, apart(("n",))),
    Program(dist, apart(("n",))),
    Program(hypot, apart(("n",))),
    Program(tolist, apart(("n",))),
    Program(tolist2, apart(("n", "m"))),
    Program(filter_items, apart(("n",))),
    Program(filter_static, apart(("n",))),
    Program(max_gen_if, apart(("n",))),
    Program(fromiter, apart(("n",))),
    Program(hist, fixed(VECTOR)),
]
