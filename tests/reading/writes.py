"""Writing in place: items, parts, views, aliases, containers."""

import numpy as np

from .surroundings import MATRIX, VECTOR, Model, Point, program

# Writing in place.


@program(VECTOR, 2)
def item_assignment(x, k):
    y = x.copy()
    y[0] = 5
    y[k] = y[0] * 2
    y[-1] += 3
    y[1:3] *= 2
    y[k] -= x[0]
    y[y > 5] = 0.0
    y[[0, 1]] += 1.0
    y[np.array([3, 3])] += 1.0
    np.add.at(y, [3, 3], 1.0)
    return y


@program(MATRIX)
def matrix_assignment(m):
    a = np.zeros((4, 3))
    a[0] = m[1]
    a[:, 1] = 2.0
    a[1, 2] = a[0, 0]
    a[2:, 1:] += m[2:, :2]
    a[3][1] = 7.0
    a[..., 0] /= 2
    a.T[2] = 1.5
    row = a[1]
    row[0] = 9.0
    row += 1
    return a, row


@program(VECTOR)
def views_and_aliases(x):
    a = x.copy()
    b = a
    b[0] = 10.0
    c = a[1:]
    c += 1
    d = c[1:]
    d[0] = -5.0
    a[3] = 6.0
    e = a.reshape(5, 1)
    e[4, 0] = 2.5
    return a, b, c, d, e


@program(VECTOR)
def overlapping(x):
    u = x.copy()
    u[1:] += u[:-1]
    u[:-1] = u[1:]
    u[0] *= u[1]
    u[1:-1] = 0.5 * (u[2:] + u[:-2])
    return u


@program(VECTOR)
def writes_arguments(x):
    x[0] = 3.0
    y = x[1:]
    y *= 2
    x += 1
    return x.sum()


@program(MATRIX.copy())
def rows_written_in_loop(m):
    for row in m:
        row[:] = row * 2
        row[0] = 0.0
    for k, row in enumerate(m):
        row += k
    return m


@program(VECTOR)
def fills(x):
    a = np.empty(3)
    a.fill(x[0])
    b = np.ones(3)
    np.copyto(b, a)
    np.add(a, 1.0, out=a)
    b[...] = 4.0
    c = np.multiply(a, 2.0)
    return a, b, c, x[0].item() + float(x[1])


@program(VECTOR, 4)
def in_place_in_loops(x, n):
    u = x.copy()
    v = np.zeros_like(u)
    for k in range(n):
        v[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
        u += 0.1 * v
        if k % 2:
            u[0] = k
    return u, v


@program(VECTOR, 3)
def ping_pong(x, n):
    a = x.copy()
    b = np.zeros_like(a)
    for _ in range(n):
        b[1:-1] = a[2:] + a[:-2]
        b[0] = a[0]
        a, b = b, a
    return a, b


@program(VECTOR, 3)
def replaced_in_loop(u, n):
    previous = u.copy()
    for _ in range(n):
        following = 2 * u - previous
        following[0] = 0.0
        previous, u = u, following
    return u, previous


@program(VECTOR)
def arrays_in_containers(x):
    state = {"u": x.copy(), "k": 0}
    parts = [np.zeros(2), np.ones(2)]
    for k in range(3):
        state["u"][0] += 1.0
        state["u"] *= 1.5
        state["k"] += 1
        parts[1] += k
    parts[0][1] = 4.0
    return state, parts


@program(VECTOR)
def merged_arrays(x):
    if x[0] > 0:
        y = np.zeros(3)
    else:
        y = np.ones(3)
    y[0] = 5.0
    z = x if x[1] > 0 else x * 2
    return y, z + 1


@program(VECTOR, 0.5)
def writes_in_branches(x, t):
    y = x.copy()
    z = y + 0
    if t > 0:
        y[0] = 1.0
    else:
        y = y * 2
    w = y[1:]
    if t > 0.2:
        w[0] = 7.0
    return y, z, w


@program(0.5)
def attributes_in_loops(x):
    model = Model(x)
    for k in range(3):
        model.weights = model.weights * 2
        model.bias = model.bias + k
        model(1.0)
    return model.weights, model.bias, model.calls


@program(0.5)
def structures_as_carries(x):
    state = Point(x, 0.0)
    pair = (1.0, {"v": x})
    for k in range(3):
        state = Point(state.x * 2, state.y + k)
        pair = (pair[0] + pair[1]["v"], {"v": pair[1]["v"] * 0.5})
    return state, pair
