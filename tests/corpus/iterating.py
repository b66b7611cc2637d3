"""itertools, grids of indices, and lists that later loops go through."""

import itertools

import numpy as np

from .program import Program, apart, fixed

VECTOR = np.array([0.3, -1.2, 2.1, 0.7, -0.45])
MATRIX = np.array([[1.1, -0.4, 0.7, 0.25], [0.2, 1.9, -0.8, 1.3], [0.6, -0.35, 0.9, -1.7]])


def product(x):
    t = 0.0
    for i, j in itertools.product(range(5), range(3)):
        t += x[i] * x[j] ** 2
    return t


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


PROGRAMS = [
    Program(product, fixed(VECTOR)),
    Program(product_rep, apart(("n",))),
    Program(combinations, apart(("n",))),
    Program(comb_arr, apart(("n",))),
    Program(accumulate, apart(("n",))),
    Program(accumulate_list, apart(("n",))),
    Program(chain, apart(("n",))),
    Program(islice, apart(("n",))),
    Program(islice2, apart(("n",))),
    Program(pairwise, apart(("n",))),
    Program(count, apart(("n",))),
    Program(repeat, apart(("n",))),
    Program(cycle, apart(("n",))),
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
]
