"""Writing to arrays."""

from __future__ import annotations

import numpy as np

from transformer.core.errors import BadArgument, NotSupported

from .rows import MATRIX, VECTOR, Section

SECTION = Section("Writing to arrays")
supported, refused = SECTION.supported, SECTION.refused


@supported("`y[i] = v`, `y[a:b] = v`, `y[...] = v`", args=(VECTOR,))
def elements(x):
    y = np.zeros(4)
    y[0] = x[1] * x[1]
    y[1:3] = x[:2]
    return np.sum(y * y)


@supported("`y[i] += v` and the like", args=(VECTOR,))
def added(x):
    y = x.copy()
    y[0] += x[1] * x[2]
    y[1:] *= 3.0
    return np.sum(y * y)


@supported("`y[mask] = v`, `y[indices] = v`", args=(VECTOR,))
def masked(x):
    y = x * x
    y[y > 1] = 0.5
    y[np.array([0, 0])] = x[1:]
    return np.sum(y * x)


@supported("`np.add.at`, `np.copyto`, `y.fill`", args=(VECTOR,))
def functions(x):
    y = np.zeros(3)
    y.fill(2.0)
    np.add.at(y, np.array([0, 0, 2]), x * x)
    z = np.empty(3)
    np.copyto(z, y)
    return np.sum(z * x)


@supported("`y += x` of a whole array", args=(VECTOR,))
def whole(x):
    y = x * 2
    y += x
    y **= 2
    return np.sum(y)


@supported("a write through another name or a view", args=(MATRIX,))
def views(x):
    y = x.copy()
    row = y[0]
    row[1:] += x[1, 1:] ** 2
    alias = y
    alias[1, 0] = 3.0 * x[0, 0]
    return np.sum(y * y)


@supported("a write in a loop", args=(VECTOR,))
def in_loop(x):
    y = np.zeros(3)
    for k in range(1, 3):
        y[k] = np.sin(y[k - 1]) + x[k] ** 2
    return np.sum(y)


@supported("a write to an argument", "seen by the caller, as without the transformation", args=(VECTOR,))
def argument(x, y=None):
    y = np.ones(3) if y is None else y
    y[0] = x[0] ** 2
    return np.sum(y * x)


@supported("a time-stepping loop that replaces its array", args=(VECTOR,))
def replaced(x):
    u = x
    for _ in range(3):
        v = u.copy()
        v[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = v
    return np.sum(u * u)


@refused("`y += x` that would need a wider dtype", BadArgument, "make `y` a float array", args=(VECTOR,))
def narrow(x):
    y = np.zeros(3, dtype=int)
    y += x
    return np.sum(y)


@refused(
    "a write to memory that may be shared with what another name refers to", NotSupported, "copy first", args=(VECTOR,)
)
def shared(x):
    a, b = x * 2, x * 3
    y = a if x[0] > 0 else b
    y[0] = 0.0
    return np.sum(a * y)


@supported("`y.sort`, `y.partition`, `y.put`, `np.put`, `np.place`, `np.putmask`, `np.fill_diagonal`", args=(VECTOR,))
def methods_in_place(x):
    y = x * x
    y.sort()
    y.put([0], x[2] ** 3)
    np.putmask(y, y > 4, x)
    return np.sum(y * np.arange(3))


@supported("`ufunc.at`", "one element after the other", args=(VECTOR,))
def at(x):
    y = x * 1.0
    np.multiply.at(y, np.array([0, 0, 1]), x + 2)
    np.subtract.at(y, np.array([2, 2]), x[:2])
    return np.sum(y**2)


@refused("`y.resize()`, `y.byteswap()`, `np.random.shuffle`", NotSupported, args=(VECTOR,))
def resize(x):
    y = x.copy()
    y.resize(2)
    return y[0]


@supported("an argument that is written", "the caller's array stays as it is", args=(VECTOR,))
def written_argument(x):
    x[1:] += x[:-1] ** 2
    return np.sum(x)


@refused(
    "`y[::2] = y[:3]`: a part of an array written to another part of it in other steps",
    NotSupported,
    "NumPy may read what it has just written: copy first",
    args=(VECTOR,),
)
def other_steps(x):
    y = x * 1.0
    y[::2] = y[:2]
    return np.sum(y * x)


@supported("`z.real[i] = v`, `z.imag *= 2`, `z.real = v` of complex arrays", args=(VECTOR,))
def parts_of_complex_numbers(x):
    z = x * (1 + 2j)
    z.real[0] = x[1] ** 2
    z.imag *= x
    z.real = z.real * z.imag
    return np.sum(np.abs(z))


@refused("assignment to `y.shape`, `y.T`", NotSupported, args=(VECTOR,))
def shape(x):
    y = x.copy()
    y.shape = (3, 1)
    return np.sum(y)
