"""Functions of NumPy that select, leave out, put in and place elements."""

import numpy as np

from .program import Program, apart, fixed

VECTOR = np.array([0.3, -1.2, 2.1, 0.7, -0.45])
MATRIX = np.array([[1.1, -0.4, 0.7, 0.25], [0.2, 1.9, -0.8, 1.3], [0.6, -0.35, 0.9, -1.7]])
SQUARE = np.array([[1.1, -0.4, 0.7], [0.2, 1.9, -0.8], [0.6, -0.35, 0.9]])


def array_equal(x):
    return x[0] ** 2 if np.array_equal(x, x) else x[1]


def allclose(x):
    return x[0] ** 2 if np.allclose(x, x) else x[1]


def triu(s):
    return np.sum(s[np.triu_indices(3)] ** 2)


def triu1(s):
    return np.sum(s[np.triu_indices(3, 1)] ** 2)


def triu_n(s):
    return np.sum(s[np.triu_indices(s.shape[0], k=1)] ** 2)


def tril_from(s):
    return np.sum(s[np.tril_indices_from(s)] ** 2)


def tril_write(s):
    y = np.zeros_like(s)
    y[np.tril_indices(3)] = s[np.tril_indices(3)] ** 2
    return np.sum(y @ y)


def diag_indices_from(s):
    return np.sum(s[np.diag_indices_from(s)] ** 2)


def ogrid(m):
    i, j = np.ogrid[0:3, 0:4]
    return np.sum(m ** 2 * (i + j))


def mgrid(m):
    i, j = np.mgrid[:3, :4]
    return np.sum(m ** 2 * (i + j))


def mgrid1(x):
    return np.sum(np.mgrid[0:5] * x ** 2)


def mgridc(x):
    return np.sum(np.mgrid[0:1:5j] * x ** 2)


def r(x):
    return np.sum(np.r_[x, x[0], 1.0] ** 2)


def c(x):
    return np.sum(np.c_[x, x ** 2] ** 2)


def unravel(m):
    i, j = np.unravel_index(np.argmax(m), m.shape)
    return m[i, j] ** 2


def ravel_multi(m):
    return m.ravel()[np.ravel_multi_index((1, 2), m.shape)] ** 2


def delete(x):
    return np.sum(np.delete(x, 2) ** 2)


def delete_l(x):
    return np.sum(np.delete(x, [0, 2]) ** 2)


def delete_ax(m):
    return np.sum(np.delete(m, 1, axis=0) ** 2)


def delete_loop(x):
    t = 0.0
    for i in range(5):
        t += np.sum(np.delete(x, i)) ** 2
    return t


def insert(x):
    return np.sum(np.insert(x, 2, x[0] ** 2) ** 2 * np.arange(6.0))


def insert0(x):
    return np.sum(np.insert(x, 0, 0.0) ** 2 * np.arange(6.0))


def vectorize(x):
    f = np.vectorize(lambda v: v ** 2 if v > 0 else -v)
    return np.sum(f(x) ** 2)


def vectorize_typed(x):
    f = np.vectorize(lambda v: v ** 2 if v > 0 else -v, otypes=[float])
    return np.sum(f(x) ** 2)


def vectorize_pair(x):
    f = np.vectorize(lambda v: (v ** 2, np.sin(v)))
    squares, sines = f(x)
    return np.sum(squares * sines[::-1])


def vectorize_numbers(a, x):
    shared = np.vectorize(lambda u, v: (u * v ** 2, v) if v > 0 else (v, u))
    first, second = shared(a, x[0])
    typed = np.vectorize(lambda v: v ** 3, otypes=[float])
    return first * second + typed(first) + typed(2)


def piecewise(x):
    return np.sum(np.piecewise(x, [x < 0, x >= 0], [lambda v: -v ** 3, lambda v: v ** 2]))


def piecewise2(x):
    return np.sum(np.piecewise(x, [x < 0], [0.0, lambda v: v ** 2]))


def compress(x):
    return np.sum(np.compress(x > 0, x) ** 2)


def extract(x):
    return np.sum(np.extract(x > 0, x) ** 2)


def in1d(x):
    return np.sum(x[np.isin(np.arange(5), [1, 3])] ** 2)


def choose(x):
    return np.sum(np.choose(np.array([0, 1, 0, 1, 1]), [x, x ** 2]))


def resize(x):
    return np.sum(np.resize(x, 7) ** 2)


def block(s):
    return np.sum(np.block([[s, s.T], [s * 2, s]]) ** 2)


def fromfunction(s):
    return np.sum(np.fromfunction(lambda i, j: i + j, (3, 3)) * s ** 2)


def setdiff(x):
    return np.sum(x[np.setdiff1d(np.arange(5), [1, 2])] ** 2)


def argpart(x):
    return np.sum(x[np.argpartition(x, 2)[:2]]) ** 2


def sort_ax0(m):
    return np.sum(np.sort(m, axis=0) ** 2 * np.arange(4.0))


def sort_none(m):
    return np.sum(np.sort(m, axis=None) ** 2 * np.arange(12.0))


def sort_idx_2d(m):
    o = np.argsort(m[:, 0])
    return np.sum(m[o] ** 2 * np.arange(3.0)[:, None])


def apply_along(m):
    return np.sum(np.apply_along_axis(lambda r: r / np.sum(r ** 2), 1, m) ** 2)


def apply_along2(m):
    return np.sum(np.apply_along_axis(lambda r: np.sum(r ** 2), 0, m) ** 2)


def unique_inv(x):
    k = np.array([3, 1, 3, 2, 1])
    u, inv = np.unique(k, return_inverse=True)
    s = np.zeros(len(u))
    np.add.at(s, inv, x ** 2)
    return np.sum(s ** 2)


def unique_counts(x):
    k = (x > 0).astype(int)
    u, c = np.unique(k, return_counts=True)
    return np.sum(u * c) * x[0] ** 2


def bincount(x):
    return np.sum(np.bincount(np.array([0, 1, 1, 3, 0]), weights=x) ** 2)


def along_columns(x):
    """`vec` of matrices, and back."""
    wide = np.stack([x, x ** 2]).reshape((2, -1), order="F")
    back = np.reshape(x.flatten("F") * x.T.ravel(order="F"), x.shape, order="F")
    return np.sum(wide[0] * np.ravel(x, "F")) + np.sum(back ** 2 * x) + wide[1, 1] * x.ravel("F")[1]


PROGRAMS = [
    Program(along_columns, fixed(MATRIX)),
    Program(array_equal, apart(("n",))),
    Program(allclose, apart(("n",))),
    Program(triu, apart(("n", "n"))),
    Program(triu1, apart(("n", "n"))),
    Program(triu_n, apart(("n", "n"))),
    Program(tril_from, apart(("n", "n"))),
    Program(tril_write, apart(("n", "n"))),
    Program(diag_indices_from, apart(("n", "n"))),
    Program(ogrid, fixed(MATRIX)),
    Program(mgrid, fixed(MATRIX)),
    Program(mgrid1, fixed(VECTOR)),
    Program(mgridc, fixed(VECTOR)),
    Program(r, apart(("n",))),
    Program(c, apart(("n",))),
    Program(unravel, apart(("n", "m"))),
    Program(ravel_multi, apart(("n", "m"))),
    Program(delete, apart(("n",))),
    Program(delete_l, apart(("n",))),
    Program(delete_ax, apart(("n", "m"))),
    Program(delete_loop, fixed(VECTOR)),
    Program(insert, fixed(VECTOR)),
    Program(insert0, fixed(VECTOR)),
    Program(vectorize, apart(("n",))),
    Program(vectorize_typed, apart(("n",))),
    Program(vectorize_pair, apart(("n",))),
    Program(vectorize_numbers, fixed(1.3, VECTOR), (0, 1)),
    Program(piecewise, apart(("n",))),
    Program(piecewise2, apart(("n",))),
    Program(compress, apart(("n",))),
    Program(extract, apart(("n",))),
    Program(in1d, fixed(VECTOR)),
    Program(choose, fixed(VECTOR)),
    Program(resize, apart(("n",))),
    Program(block, apart(("n", "n"))),
    Program(fromfunction, fixed(SQUARE)),
    Program(setdiff, fixed(VECTOR)),
    Program(argpart, apart(("n",))),
    Program(sort_ax0, fixed(MATRIX)),
    Program(sort_none, fixed(MATRIX)),
    Program(sort_idx_2d, fixed(MATRIX)),
    Program(apply_along, apart(("n", "m"))),
    Program(apply_along2, apart(("n", "m"))),
    Program(unique_inv, fixed(VECTOR)),
    Program(unique_counts, apart(("n",))),
    Program(bincount, fixed(VECTOR)),
]
