"""Functions and methods that write to arrays, and writes to what lists and objects hold."""

import numpy as np

from .program import Program, apart, fixed

VECTOR = np.array([0.3, -1.2, 2.1, 0.7, -0.45])
MATRIX = np.array([[1.1, -0.4, 0.7, 0.25], [0.2, 1.9, -0.8, 1.3], [0.6, -0.35, 0.9, -1.7]])
SQUARE = np.array([[1.1, -0.4, 0.7], [0.2, 1.9, -0.8], [0.6, -0.35, 0.9]])


class Obj:

    def __init__(self, a):
        self.a = a

    def step(self, c):
        self.a[1:] += c * self.a[:-1]


def arg_aug(x):
    x *= x
    return np.sum(x ** 2)


def subtract_at(x):
    np.subtract.at(x, np.array([0, 2, 0]), x[:3] ** 2)
    return np.sum(x * x)


def multiply_at(x):
    y = x.copy()
    np.multiply.at(y, np.array([0, 2, 0]), x[:3] + 2)
    return np.sum(y * y)


def maximum_at(x):
    y = x.copy()
    np.maximum.at(y, np.array([0, 2, 0]), x[2:] + 0.1)
    return np.sum(y * y)


def multiply_at_in_rows_of_indices(x):
    y = x.copy()
    np.multiply.at(y, np.array([[0, 0, 1], [2, 0, 3]]), x[0] + 2)
    return np.sum(y * y)


def multiply_at_rows(m):
    y = m.copy()
    np.multiply.at(y, np.array([0, 2, 0]), m[1] + 2)
    return np.sum(y * m)


def divide_at_several_axes(m):
    y = m.copy()
    np.divide.at(y, (np.array([0, 2, 0]), np.array([1, 3, 1])), m[0, :3] + 3)
    np.multiply.at(y, (slice(1, 3), np.array([1, 1, 0])), m[0, 0] + 3)
    np.square.at(y, (np.array([0, 0]), np.array([2, 2])))
    return np.sum(y * m)


def minimum_at_a_mask(x):
    y = x.copy()
    np.minimum.at(y, x > 0.5, x[3] * x[3])
    np.exp.at(y, x < 0)
    return np.sum(y * x)


def sort_method(x):
    y = x.copy()
    y.sort()
    return np.sum(y * np.arange(5.0) * y)


def sort_axis(m):
    y = m * m
    y.sort(axis=0)
    return np.sum(y * np.arange(4.0) * y)


def out_pos(x):
    y = np.empty(5)
    np.multiply(x, x, y)
    return np.sum(y * x)


def out_view(x):
    y = np.zeros(10)
    np.add(x, 1, out=y[::2])
    return np.sum(y ** 2)


def out_dot(m):
    c = np.empty((3, 3))
    np.dot(m, m.T, out=c)
    return np.sum(c * c)


def out_cumsum(x):
    c = np.empty(5)
    np.cumsum(x, out=c)
    return np.sum(c * c)


def out_sum(m):
    c = np.empty(3)
    np.sum(m, axis=1, out=c)
    return np.sum(c * c)


def out_matmul(m):
    c = np.empty((3, 3))
    np.matmul(m, m.T, out=c)
    return np.sum(c * c)


def out_clip(x):
    np.clip(x, -1, 1, out=x)
    return np.sum(x ** 2)


def out_method_clip(x):
    x.clip(-1, 1, out=x)
    return np.sum(x ** 2)


def out_self_overlap(x):
    np.add(x[1:], x[:-1], out=x[1:])
    return np.sum(x ** 2)


def ufunc_where(x):
    y = np.zeros(5)
    np.log(x, out=y, where=x > 0)
    return np.sum(y ** 2)


def divide_where(x):
    y = np.divide(x, x + 0.2, out=np.zeros_like(x), where=x > 0)
    return np.sum(y ** 2)


def copyto_where(x):
    y = np.ones(5)
    np.copyto(y, x * x, where=x > 0)
    return np.sum(y * x)


def put(x):
    y = x.copy()
    np.put(y, [0, 2], x[1:3] ** 2)
    return np.sum(y ** 2)


def put_method(x):
    y = x.copy()
    y.put([0, 2], x[1:3] ** 2)
    return np.sum(y ** 2)


def put_2d(m):
    y = m.copy()
    np.put(y, [0, 5], m[1, :2] ** 2)
    return np.sum(y ** 2)


def put_along(m):
    y = m.copy()
    i = np.argmax(m, axis=1)[:, None]
    np.put_along_axis(y, i, m[:, :1] ** 2, axis=1)
    return np.sum(y ** 2)


def place(x):
    y = x.copy()
    np.place(y, x > 0, x[:3] ** 2)
    return np.sum(y ** 2)


def putmask(x):
    y = x.copy()
    np.putmask(y, x > 0, x ** 2)
    return np.sum(y ** 2)


def fill_diagonal(s):
    y = s.copy()
    np.fill_diagonal(y, s[0] ** 2)
    return np.sum(y ** 2)


def fill_diagonal_n(s):
    y = s.copy()
    np.fill_diagonal(y, 0.0)
    return np.sum(y ** 2)


def flat_read(m):
    return m.flat[2] ** 2 * m.flat[5]


def flat_write(m):
    y = m.copy()
    y.flat[2] = m[0, 0] ** 2
    return np.sum(y ** 2)


def flat_slice(m):
    y = m.copy()
    y.flat[::5] = m[0, 0] ** 2
    return np.sum(y ** 2)


def flat_all(m):
    y = m.copy()
    y.flat = m[0, 0] ** 2
    return np.sum(y ** 2)


def flat_iter(m):
    t = 0.0
    for v in m.flat:
        t += v ** 3
    return t


def partition_m(x):
    y = x.copy()
    y.partition(2)
    return y[2] ** 2


def T_write(s):
    y = s.copy()
    y.T[0] = s[1] ** 2
    return np.sum(y ** 2 * np.arange(3))


def ravel_write(m):
    y = m.copy()
    y.ravel()[3] = m[0, 0] ** 2
    return np.sum(y ** 2)


def rows_enum(m):
    y = m.copy()
    for i, row in enumerate(y):
        row *= m[i, 0]
    return np.sum(y * m)


def T_iter_write(m):
    y = m.copy()
    for c in y.T:
        c -= np.mean(c)
    return np.sum(y ** 3)


def swap_rows(s):
    y = s.copy()
    y[[0, 2]] = y[[2, 0]]
    return np.sum(y ** 2 * np.arange(3)[:, None])


def rev_add(x):
    x[::-1] += x
    return np.sum(x ** 2 * np.arange(5))


def T_add(s):
    s += s.T
    return np.sum(s ** 2 * np.arange(3))


def T_loop(s):
    for _ in range(3):
        s += 0.1 * s.T
    return np.sum(s ** 2 * np.arange(3))


def list_alias(x):
    a = x.copy()
    l = [a, a]
    l[0] += 1
    l[1] *= x
    return np.sum(a ** 2)


def dict_alias(x):
    a = x.copy()
    d = {'a': a}
    d['a'][1:] *= 2
    d['a'] += x ** 2
    return np.sum(a ** 2)


def obj_loop(x):
    o = Obj(x)
    for k in range(3):
        o.step(0.5 * k)
    return np.sum(x ** 2)


def diagonal_flat_step(s):
    y = s.copy()
    y.reshape(-1)[::4] = s[0] ** 2
    return np.sum(y ** 2)


def newaxis_w(x):
    y = x.copy()
    y[:, None][2] = x[0] ** 2
    return np.sum(y ** 2)


def helper(x):

    def bump(a, v):
        a[1:] += v * a[:-1]
    y = x * 1
    for k in range(2):
        bump(y, x[k])
        if y[0] > 0:
            bump(y[1:], 0.3)
    return np.sum(y ** 2)


def double_views(m):
    y = m.copy()
    a = y[1:]
    b = a[:, 1:]
    b *= m[0, 0]
    a[0] = b[1, 0]
    return np.sum(y ** 2)


def ixor(x):
    y = x > 0
    y ^= True
    return np.sum(x[y] ** 2)


PROGRAMS = [
    Program(arg_aug, apart(("n",))),
    Program(subtract_at, apart(("n",))),
    Program(multiply_at, apart(("n",))),
    Program(maximum_at, fixed(VECTOR)),
    Program(multiply_at_in_rows_of_indices, fixed(VECTOR)),
    Program(multiply_at_rows, fixed(MATRIX)),
    Program(divide_at_several_axes, fixed(MATRIX)),
    Program(minimum_at_a_mask, fixed(VECTOR)),
    Program(sort_method, fixed(VECTOR)),
    Program(sort_axis, fixed(MATRIX)),
    Program(out_pos, fixed(VECTOR)),
    Program(out_view, fixed(VECTOR)),
    Program(out_dot, fixed(MATRIX)),
    Program(out_cumsum, fixed(VECTOR)),
    Program(out_sum, fixed(MATRIX)),
    Program(out_matmul, fixed(MATRIX)),
    Program(out_clip, apart(("n",))),
    Program(out_method_clip, apart(("n",))),
    Program(out_self_overlap, apart(("n",))),
    Program(ufunc_where, fixed(VECTOR)),
    Program(divide_where, apart(("n",))),
    Program(copyto_where, fixed(VECTOR)),
    Program(put, apart(("n",))),
    Program(put_method, apart(("n",))),
    Program(put_2d, apart(("n", "m"))),
    Program(put_along, apart(("n", "m"))),
    Program(place, apart(("n",))),
    Program(putmask, apart(("n",))),
    Program(fill_diagonal, apart(("n", "n"))),
    Program(fill_diagonal_n, apart(("n", "n"))),
    Program(flat_read, apart(("n", "m"))),
    Program(flat_write, apart(("n", "m"))),
    Program(flat_slice, apart(("n", "m"))),
    Program(flat_all, apart(("n", "m"))),
    Program(flat_iter, apart(("n", "m"))),
    Program(partition_m, apart(("n",))),
    Program(T_write, fixed(SQUARE)),
    Program(ravel_write, apart(("n", "m"))),
    Program(rows_enum, apart(("n", "m"))),
    Program(T_iter_write, apart(("n", "m"))),
    Program(swap_rows, fixed(SQUARE)),
    Program(rev_add, fixed(VECTOR)),
    Program(T_add, fixed(SQUARE)),
    Program(T_loop, fixed(SQUARE)),
    Program(list_alias, apart(("n",))),
    Program(dict_alias, apart(("n",))),
    Program(obj_loop, apart(("n",))),
    Program(diagonal_flat_step, fixed(SQUARE)),
    Program(newaxis_w, apart(("n",))),
    Program(helper, apart(("n",))),
    Program(double_views, apart(("n", "m"))),
    Program(ixor, apart(("n",))),
]
