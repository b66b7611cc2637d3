"""Writing into arrays: elements, slices, views, aliases, masks, scatters."""

import numpy as np

from .program import Program, apart, normal


def element_write(x):
    y = x.copy()
    y[0] = y[1] * y[2]
    y[-1] = y[0] ** 2
    return np.sum(y**2)


def element_times_element(x):
    y = x.copy()
    y[0] *= y[1]
    y[1] /= 2 + y[0] ** 2
    y[2] **= 2
    return y[0] * y[1] + np.sum(y)


def element_overwritten(x):
    """The first write to y[1] is lost, so its cotangent must be too."""
    y = np.zeros(3)
    y[1] = x[0] * x[1]
    y[0] = y[1] ** 2
    y[1] = x[2]
    return np.sum(y * np.array([1.0, 2.0, 3.0])) * y[1]


def slice_write(x, v):
    y = x * 1.0
    y[1:3] = v
    y[3:] = y[0] * v
    y[:1] = np.sum(v)
    return np.sum(y**2 * x)


def slice_write_scalar(x, s):
    y = x.copy()
    y[1:] = s
    y[:2] += s**2
    return np.sum(np.sin(y)) + y[0] * s


def slice_write_with_step(x):
    y = np.zeros(6)
    y[::2] = x
    y[1::2] = y[::2] * x[::-1]
    y[::-1][:2] += x[0]
    return np.sum(y**2 * np.arange(6))


def overlapping_add(u, c):
    u = u.copy()
    for _ in range(3):
        u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def overlapping_nonlinear(u):
    u = u.copy()
    for _ in range(3):
        u[1:] += np.sin(u[:-1]) * u[1:]
    return np.sum(u**2)


def overlapping_shift(u):
    """The right side is read in full before anything is written."""
    u = u.copy()
    u[1:] = u[:-1] * u[1:]
    u[:-1] = u[1:] ** 2
    return np.sum(u * np.arange(len(u)))


def multiply_in_place_by_itself(x):
    y = x.copy()
    y *= y
    y[1:] *= y[:-1]
    y += y[0]
    return np.sum(y)


def rebound_element(v, x):
    w = v.copy()
    for i in range(len(w)):
        w[i] = w[i] + x * w[i - 1]
    return np.sum(w**2)


def added_element(v, x):
    """The same sums as ``rebound_element``, by an in-place addition."""
    w = v.copy()
    for i in range(len(w)):
        w[i] += x * w[i - 1]
    return np.sum(w**2)


def write_view_read_base(x):
    y = x.copy()
    inner = y[1:-1]
    inner *= 2
    inner[0] = inner[1] ** 2
    return np.sum(y**2) + y[1] * inner[-1]


def write_base_read_view(x):
    y = x.copy()
    inner = y[1:]
    before = np.sum(inner**2)
    y[1] = y[0] * y[2]
    y[2:] *= 3
    return np.sum(inner**3) + before


def views_of_views(m):
    a = m.copy()
    row = a[1]
    tail = row[1:]
    column = a[:, -1]
    tail += column[0]
    column *= tail[0]
    a.T[0] = row[1:] ** 2
    return np.sum(np.sin(a)) + np.sum(row * tail[0])


def reshaped_view(x):
    y = x.copy()
    square = y.reshape(2, 3)
    square[1] *= square[0]
    y[0] = y[5]
    return np.sum(square**2 * np.arange(6).reshape(2, 3))


def transposed_view(m):
    a = m.copy()
    b = a.T
    b[0, 1] = a[0, 1] ** 2
    a[:, 0] += b[1]
    return np.sum(np.tanh(b) * np.arange(9).reshape(3, 3))


def alias(x):
    y = x.copy()
    z = y
    z[0] = y[1] ** 2
    y[1] = z[0] * z[2]
    return np.sum(z * y) + z[1]


def alias_then_rebind(x):
    """``z = z + 1`` makes a new array, ``z += 1`` would not."""
    y = x.copy()
    z = y
    z = z + 1
    z[0] = 5 * y[1]
    y[2] *= 2
    return np.sum(z * y)


def alias_in_helper(x):
    def scale(v, factor):
        v *= factor
        v[0] += factor
        return v

    y = x.copy()
    z = scale(y, x[1])
    return np.sum(y**2) + np.sum(z * x)


def argument_written(x):
    """The caller sees these writes, and the derivative is with respect to what came in."""
    x[0] *= x[1]
    x[1:] += x[0] ** 2
    return np.sum(x**2)


def argument_written_in_loop(x, s):
    for i in range(1, len(x)):
        x[i] = s * x[i - 1] * x[i] + np.sin(x[i])
    return np.sum(x)


def scatter_add(x, index):
    total = np.zeros(3)
    np.add.at(total, index, x**2)
    return np.sum(total**2 * np.arange(1, 4))


def scatter_add_matrix(m, rows, columns):
    total = np.ones((3, 2))
    np.add.at(total, (rows, columns), np.sin(m))
    np.add.at(total, rows[:2], total[0] * m[0])
    return np.sum(total**3)


def unbuffered_against_buffered(x):
    """With repeated indices ``+=`` keeps the last addition only, ``add.at`` keeps them all."""
    index = np.array([0, 1, 0])
    a = np.zeros(2)
    b = np.zeros(2)
    a[index] += x
    np.add.at(b, index, x)
    return np.sum(a**2) + np.sum(b**3)


def integer_array_write(x, v):
    y = x.copy()
    y[np.array([3, 0])] = v**2
    y[np.array([1, 2])] *= y[np.array([0, 1])]
    return np.sum(y**2 * np.arange(1, 5))


def mask_write(x, s):
    y = x.copy()
    y[y < 0] = s
    y[y > 0.6] *= s
    y[x > 0] += x[x > 0] ** 2
    return np.sum(y**2)


def mask_write_of_rows(m, v):
    a = m * 1.0
    a[np.array([True, False, True])] = v
    a[:, 0][a[:, 1] > 0] *= 3
    return np.sum(a**2)


def matrix_writes(m, v):
    a = np.zeros((3, 3))
    a[0] = v
    a[:, 1] = m[1] * a[0]
    a[1:, 2] = a[0, 1:] ** 2
    a[..., 0] += m[0, ...]
    a[2, 2] = a[1, 1] * a[0, 0]
    return np.sum(a * m)


def broadcasting_write(x, s):
    """The written value stretches, so its cotangent is a sum."""
    a = np.ones((3, 4))
    a[:] = x
    a[1:, :2] = s * x[:2]
    a[:, 3] = s
    a[0] *= x[:, None].sum()
    return np.sum(a**2)


def swap_of_rows(m):
    a = m.copy()
    a[[0, 1]] = a[[1, 0]]
    a[2], a[0] = a[0] * a[1], a[2].copy()
    return np.sum(a**2 * np.arange(9).reshape(3, 3))


def array_in_place_operators(x, y):
    z = x.copy()
    z += y
    z *= x
    z -= 0.5
    z /= 1 + y**2
    z **= 2
    return np.sum(z * y)


def list_of_arrays_written(x, y):
    parts = [x.copy(), y.copy()]
    parts[0][1] = y[0] ** 2
    parts[1] *= parts[0]
    parts[0] = parts[0] + parts[1][0]
    return np.sum(parts[0] * x) + np.sum(parts[1] ** 2)


def rows_of_other_shapes(x):
    y = x.copy().reshape(2, 3)
    y[0] = y[1]
    y[:, 0] = y[:, 2]
    flat = y.ravel()
    flat[:2] = 2 * flat[4:]
    flat[2:4] = flat[:2]
    return np.sum(y * np.arange(6).reshape(2, 3) * x.reshape(2, 3))


PROGRAMS = [
    Program(rows_of_other_shapes, normal((6,))),
    Program(element_write, normal(("n",))),
    Program(element_times_element, normal(("n",))),
    Program(element_overwritten, normal((3,))),
    Program(slice_write, normal((5,), (2,)), (0, 1)),
    Program(slice_write_scalar, normal(("n",), None), (0, 1)),
    Program(slice_write_with_step, normal((3,))),
    Program(overlapping_add, normal(("n",), None), (0, 1)),
    Program(overlapping_nonlinear, normal(("n",))),
    Program(overlapping_shift, normal(("n",))),
    Program(multiply_in_place_by_itself, normal(("n",))),
    Program(rebound_element, normal(("n",), None), (0, 1)),
    Program(added_element, normal(("n",), None), (0, 1)),
    Program(write_view_read_base, normal(("n",))),
    Program(write_base_read_view, normal(("n",))),
    Program(views_of_views, normal((3, 4))),
    Program(reshaped_view, normal((6,))),
    Program(transposed_view, normal((3, 3))),
    Program(alias, normal(("n",))),
    Program(alias_then_rebind, normal(("n",))),
    Program(alias_in_helper, normal(("n",))),
    Program(argument_written, normal(("n",))),
    Program(argument_written_in_loop, normal(("n",), None), (0, 1)),
    Program(scatter_add, lambda rng: (rng.standard_normal(5), np.array([0, 2, 2, 0, 1]))),
    Program(
        scatter_add_matrix,
        lambda rng: (rng.random((4, 2)), np.array([[0], [2], [0], [1]]), np.array([0, 1])),
    ),
    Program(unbuffered_against_buffered, normal((3,))),
    Program(integer_array_write, normal((4,), (2,)), (0, 1)),
    Program(mask_write, lambda rng: (*apart((6,))(rng), 0.8), (0, 1)),
    Program(mask_write_of_rows, apart((3, 3), (3,)), (0, 1)),
    Program(matrix_writes, normal((3, 3), (3,)), (0, 1)),
    Program(broadcasting_write, normal((4,), None), (0, 1)),
    Program(swap_of_rows, normal((3, 3))),
    Program(array_in_place_operators, normal(("n",), ("n",)), (0, 1)),
    Program(list_of_arrays_written, normal((3,), (3,)), (0, 1)),
]
