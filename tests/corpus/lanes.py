"""Loops whose iterations do not depend on each other, with loops inside."""

import numpy as np

from transformer import vmap

from .program import Program, fixed, normal


def newton_for_each(x, c):
    y = np.zeros(len(x))
    for i in range(len(x)):
        t = x[i]
        for _ in range(20):
            t = t - (t**3 - c * x[i]) / (3 * t * t)
        y[i] = t
    return np.sum(y**2)


def newton_summed(x, c):
    total = 0.0
    for i in range(len(x)):
        t = x[i]
        for _ in range(20):
            t = t - (t**3 - c * x[i]) / (3 * t * t)
        total += t * t
    return total


def attention_by_rows(q, k, v):
    n, m = len(q), len(k)
    out = np.zeros(n)
    for i in range(n):
        top = -np.inf
        for j in range(m):
            top = max(top, q[i] * k[j])
        s = 0.0
        for j in range(m):
            s += np.exp(q[i] * k[j] - top)
        for j in range(m):
            out[i] += np.exp(q[i] * k[j] - top) / s * v[j]
    return np.sum(out**2)


def escape_times(cs, steps):
    total = 0.0
    for i in range(len(cs)):
        z = 0.5
        k = 0
        while z * z < 4 and k < steps:
            z = z * z + cs[i]
            k += 1
        total += np.log(z * z + 1)
    return total


def summed_on_the_way(x, w, m):
    total = 0.0
    for i in range(len(x)):
        t = x[i]
        for _ in range(m):
            t = np.sin(t) * w
            total += t
    return total


def layer_for_each(W, X):
    total = 0.0
    for i in range(len(X)):
        h = np.tanh(W @ X[i])
        total += np.sum(h ** 2)
    return total


def pixels(c, d, steps):
    total = 0.0
    for i in range(len(c)):
        for j in range(len(d)):
            z = 0.5
            k = 0
            while z * z < 4 and k < steps:
                z = z * z + c[i] * d[j]
                k += 1
            total += z
    return total


def softmax_by_rows(x, v):
    n, m = x.shape
    out = np.zeros((n, m))
    for i in range(n):
        e = np.zeros(m)
        s = 0.0
        for j in range(m):
            e[j] = np.exp(x[i, j])
            s += e[j]
        for j in range(m):
            out[i, j] = e[j] / s * v[j]
    return np.sum(out ** 2)


def iterated_in_a_branch(x, m):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            t = x[i]
            for k in range(m):
                t = np.sin(t) + t * t
        else:
            t = x[i] ** 2
        total += t * t * x[i]
    return total


def largest_so_far(x, m):
    top = -1.0
    for i in range(len(x)):
        t = x[i]
        for k in range(m):
            t = np.sin(t) * 1.1
        if t > top:
            top = t * t
    return top


def particles(p, v, g, steps):
    out = np.zeros(p.shape)
    for i in range(len(p)):
        x = p[i].copy()
        u = v[i].copy()
        for _ in range(steps):
            r = np.sqrt(np.sum(x * x) + 0.1)
            u = u - 0.1 * g * x / r ** 3
            x = x + 0.1 * u
        out[i] = x
    return np.sum(out ** 2)


def network_for_each(w, xs):
    total = 0.0
    for i in range(len(xs)):
        h = np.zeros(len(w))
        for t in range(xs.shape[1]):
            h = np.tanh(w @ h + xs[i, t])
        total += np.sum(h ** 2)
    return total


def scratch_array(x):
    total = 0.0
    for i in range(len(x)):
        w = np.zeros(3)
        w[0] = x[i]
        w[1] = np.sin(w[0]) * w[0]
        w[2] = w[1] * w[0]
        w[1] = w[2] * w[2]
        total += np.sum(w ** 2)
    return total


def model(p, x):
    t = x
    for _ in range(3):
        t = np.tanh(p * t) + x
    return t


def samples(p, xs, ys):
    total = 0.0
    for x, y in zip(xs, ys):
        total += (model(p, x) - y) ** 2
    return total / len(xs)


def nested_sine(x, n):
    if n == 0:
        return 1.0
    return np.sin(x * nested_sine(x, n - 1))


def recursive_for_each(xs, n):
    total = 0.0
    for i in range(len(xs)):
        t = nested_sine(xs[i], n)
        total += t * t
    return total


def epochs(p, xs, k):
    for _ in range(k):
        g = 0.0
        for i in range(len(xs)):
            t = xs[i]
            for j in range(4):
                t = np.tanh(p * t) + xs[i]
            g += t * t
        p = p - 0.01 * g
    return p


def scratch_in_nest(a, b):
    total = 0.0
    for r in range(len(a)):
        row = np.zeros(len(b) + 1)
        for s in range(3):
            for j in range(len(b)):
                row[j + 1] = np.sin(row[j] * a[r]) + row[j + 1] * b[j]
        total += row[len(b)] ** 2
    return total


def left_early(x, m):
    total = 0.0
    for i in range(len(x)):
        t = x[i]
        for k in range(m):
            t = t * t + 0.1
            if t > 2:
                break
        else:
            t = t * 2
        total += t
    return total


def written_on_the_way(x, m):
    y = np.zeros((len(x), m))
    total = 0.0
    for i in range(len(x)):
        t = x[i]
        for k in range(m):
            t = np.sin(t) * 1.3
            y[i, k] = t * t
            total += t * y[i, k]
    return total + np.sum(y ** 3)


def branch_in_branch(x, m):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            t = x[i]
            if x[i] > 0.4:
                for _ in range(m):
                    t = np.sin(t) * 1.2
            else:
                t = t**3
            for _ in range(m):
                t = t * t + 0.1
        else:
            t = x[i] ** 2
        total += t * t
    return total


def in_place_lanes(x, m):
    u = x.copy()
    for i in range(len(u)):
        for _ in range(m):
            for j in range(1, u.shape[1]):
                u[i, j] = np.sin(u[i, j - 1]) * u[i, j]
    return np.sum(u**2)


def gathered(x, order, m):
    y = np.zeros(len(x))
    for i in range(len(x)):
        t = x[order[i]]
        for _ in range(m):
            t = np.sin(t) * 1.1
        y[order[i]] = t
    return np.sum(y**3)


def read_by_others(x, m):
    y = x.copy()
    for i in range(1, len(x)):
        t = y[i - 1]
        for _ in range(m):
            t = np.sin(t) * 1.1 + x[i]
        y[i] = t
    return np.sum(y**2)


def lanes_after_lanes(x, m):
    y = np.zeros(len(x))
    for i in range(len(x)):
        t = x[i]
        for _ in range(m):
            t = np.sin(t) + 0.3 * t
        y[i] = t
    total = 0.0
    for i in range(len(x)):
        s = y[i]
        for _ in range(m):
            s = np.cos(s) * y[len(x) - 1 - i]
        total += s
    return total


def checked_lanes(x, m):
    total = 0.0
    for i in range(len(x)):
        t = x[i]
        for _ in range(m):
            t = np.tanh(t) * 1.5
        assert t < 10
        total += t**2
    return total


FIXED = np.array([0.5, -0.3, 0.2, -1.0, 0.7])

def signs_as_numbers(x):
    """Truth values of Python's, which are 0 and 1 in its arithmetic."""
    a, b = float(x[0]), float(x[1])
    side = (a > 0) - (b > 0)
    return side * a + ((a > 0) + (b > 0)) * b**2 + -(a > b) * a * b + ~(b > 1) * a**3


def picked_in_each_lane(x):
    def one(row, k):
        return np.sum([row * 2, row[::-1]][k] * row) * (1.0, row[0])[k]

    return np.sum(vmap(one)(np.outer(x, x), np.array([0, 1, -1])))


PROGRAMS = [
    Program(signs_as_numbers, normal((2,))),
    Program(newton_for_each, lambda rng: (1 + rng.random(3), 2.0), (0, 1)),
    Program(newton_summed, lambda rng: (1 + rng.random(3), 2.0), (0, 1)),
    Program(attention_by_rows, normal(("n",), ("m",), ("m",)), (0, 1, 2)),
    Program(escape_times, fixed(FIXED, 10)),
    Program(summed_on_the_way, normal(("n",), then=(0.9, 3)), (0, 1)),
    Program(layer_for_each, normal((3, "n"), (2, "n")), (0, 1)),
    Program(pixels, fixed(FIXED, FIXED[:3], 8), (0, 1)),
    Program(softmax_by_rows, normal(("m", "n"), ("n",)), (0, 1)),
    Program(iterated_in_a_branch, fixed(FIXED, 3)),
    Program(iterated_in_a_branch, fixed(FIXED, 0), name="iterated_in_a_branch_never"),
    Program(largest_so_far, fixed(FIXED, 3)),
    Program(particles, normal(("m", 3), ("m", 3), then=(0.7, 4)), (0, 1, 2)),
    Program(network_for_each, normal((3, 3), ("m", 4, 3)), (0, 1)),
    Program(scratch_array, normal(("n",))),
    Program(samples, normal(None, ("n",), ("n",)), (0, 1, 2)),
    Program(recursive_for_each, normal(("n",), then=(3,))),
    Program(epochs, normal(None, ("n",), then=(3,)), (0, 1)),
    Program(scratch_in_nest, normal(("m",), ("n",)), (0, 1)),
    Program(left_early, normal(("n",), then=(4,))),
    Program(written_on_the_way, normal(("n",), then=(3,))),
    Program(branch_in_branch, fixed(FIXED, 3)),
    Program(in_place_lanes, normal(("m", "n"), then=(3,))),
    Program(gathered, fixed(FIXED, np.array([3, 1, 0, 4, 2]), 3)),
    Program(read_by_others, normal(("n",), then=(3,))),
    Program(lanes_after_lanes, normal(("n",), then=(3,))),
    Program(checked_lanes, normal(("n",), then=(3,))),
    Program(picked_in_each_lane, normal((3,))),
]
