"""Reductions, products, linear algebra and changes of shape."""

import numpy as np

from .program import Program, apart, fixed, normal, positive


def sums_over_axes(x):
    """Every form of axis; the weights keep the cotangents from being uniform."""
    total = np.sum(x) ** 2 + np.sum(np.sum(x, axis=0) ** 2) + np.sum(np.sum(x, axis=-1) ** 3)
    total += np.sum(np.sum(x, axis=(0, 2)) ** 2) + np.sum(x.sum(axis=(-1, -2)) ** 3)
    return total + np.sum(x * np.sum(x, axis=1, keepdims=True) ** 2)


def means_over_axes(x):
    centred = x - np.mean(x, axis=0)
    return (
        np.mean(centred**3)
        + np.sum(x.mean(axis=(1, 2)) ** 2)
        + np.sum(centred.mean(-1, keepdims=True) * x)
    )


def variances(x):
    spread = np.var(x, axis=1, keepdims=True) + np.std(x, axis=0) + x.var() * x.std()
    return np.sum(spread * x) + np.sum(np.var(x, axis=0, ddof=1) ** 2)


def products_over_axes(x):
    return np.prod(x) + np.sum(np.prod(x, axis=0) ** 2) + np.sum(x.prod(axis=1, keepdims=True) * x)


def product_with_zeros(x):
    """Dividing the product by a factor would be wrong here."""
    return np.prod(x) + np.sum(np.prod(x.reshape(2, 2), axis=1) ** 2)


def extremes(x):
    top = np.max(x, axis=0) * np.min(x, axis=0) + x.max() - x.min() ** 2
    return np.sum(top) + np.sum((x - np.max(x, axis=1, keepdims=True)) ** 2)


def extremes_over_tuple(x):
    return np.sum(np.max(x, axis=(0, 2)) ** 2) + np.sum(np.amin(x, axis=(1, -1), keepdims=True) * x)


def cumulative_sums(x):
    return (
        np.sum(np.cumsum(x) ** 2)
        + np.sum(np.sin(np.cumsum(x, axis=0)))
        + np.sum(x * x.cumsum(axis=-1))
    )


def cumulative_products(x):
    return np.sum(np.sin(np.cumprod(x))) + np.sum(np.cumprod(x, axis=1) ** 2)


def cumulative_product_with_zero(x):
    return np.sum(np.arange(1, 5) * np.cumprod(x))


def norms(x, v):
    lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(x, axis=0, keepdims=True).sum()
    return np.sum(lengths**2) + np.linalg.norm(v, 1) * np.linalg.norm(v) + np.linalg.norm(x)


def tests_and_positions(x):
    """Logic, counts and positions carry no derivative but steer what does."""
    weight = 2.0 if np.any(x > 10) else 3.0
    best = np.argmax(x, axis=1)
    return weight * np.sum(x**2) + np.sum(x[np.arange(3), best] ** 3) + np.argmin(x) * x[0, 0]


def dot_of_vectors(a, b):
    return np.dot(a, b) ** 2 + a @ a + np.inner(a, b) * np.vdot(a, b)


def dot_matrix_vector(m, v, w):
    return np.sum(np.sin(m @ v)) + np.sum(np.cos(w @ m)) + w @ m @ v + np.dot(w, np.dot(m, v)) ** 2


def dot_matrices(a, b):
    return np.sum(np.tanh(a @ b) ** 2) + np.sum(np.dot(a, b) ** 3) + np.sum(a.dot(b))


def dot_higher_ranks(cube, m, v):
    return (
        np.sum(np.sin(np.dot(cube, v))) + np.sum(np.cos(np.dot(cube, m))) + np.sum((cube @ m) ** 2)
    )


def matmul_broadcast(stack, m, other):
    """Leading axes stretch like any others and are summed back."""
    return np.sum(np.sin(stack @ m)) + np.sum(np.cos(other @ stack)) + np.sum((m.T @ other) ** 2)


def matmul_stack_vector(stack, v, w):
    return np.sum(np.sin(stack @ v)) + np.sum(np.cos(w @ stack)) + np.sum(np.matmul(stack, v) ** 2)


def outer_and_kron(a, b, m):
    return (
        np.sum(np.sin(np.outer(a, b))) + np.sum(np.kron(a, b) ** 2) + np.sum(np.tanh(np.kron(m, b)))
    )


def inner_of_matrices(a, b):
    return np.sum(np.inner(a, b) ** 2) + np.vdot(a, a) * np.sum(b)


def tensordot_forms(a, b, c):
    one = np.tensordot(a, b, axes=1)
    two = np.tensordot(a, c, axes=([0, 1], [1, 0]))
    return np.sum(np.sin(one)) + np.sum(two**2) + np.sum(np.tensordot(a[0], b[:, 0], axes=0) ** 3)


def einsum_products(a, b, v):
    bilinear = np.einsum("i,ij,jk->k", v, a, b)
    return np.sum(bilinear**2) + np.einsum("ij,jk->", a, b) * np.einsum("ij,ij", a, a)


def einsum_diagonals(m, v):
    trace = np.einsum("ii", m)
    diagonal = np.einsum("ii->i", m)
    return trace**2 + np.sum(np.sin(diagonal * v)) + np.einsum("ij,i,j->", m, v, v)


def einsum_batched(q, k):
    return np.sum(np.tanh(np.einsum("bij,bkj->bik", q, k))) + np.sum(
        np.einsum("...ij->...ji", q) ** 3
    )


def solve_vector(a, b):
    return np.sum(np.linalg.solve(a + 4 * np.eye(3), b) ** 2)


def solve_matrix(a, b):
    x = np.linalg.solve(a + 4 * np.eye(3), b)
    return np.sum(np.sin(x)) + np.trace(x.T @ x)


def inverse(a):
    return np.sum(np.linalg.inv(a + 4 * np.eye(3)) ** 2) + np.trace(
        np.linalg.inv(a @ a.T + np.eye(3))
    )


def determinants(a):
    sign, logdet = np.linalg.slogdet(a)
    return np.linalg.det(a) ** 2 + sign * logdet


def cholesky_factor(a):
    factor = np.linalg.cholesky(a @ a.T + np.eye(3))
    return np.sum(np.sin(factor)) + 2 * np.sum(np.log(np.diag(factor)))


def batched_linear_algebra(a, b):
    well = a @ a.transpose(0, 2, 1) + 2 * np.eye(3)
    return (
        np.sum(np.linalg.solve(well, b))
        + np.sum(np.linalg.det(well))
        + np.sum(np.linalg.inv(well) ** 2)
    )


def reshapes(x):
    flat = x.reshape(-1)
    square = np.reshape(x, (2, -1)) * flat.reshape((2, 6))
    return np.sum(np.sin(square)) + np.sum(x.ravel() ** 2 * np.arange(12)) + np.ravel(x)[3] ** 3


def transposes(x, y):
    turned = x.T @ y.T
    moved = np.moveaxis(x[None], 0, -1) * np.swapaxes(x[:, None], 1, 2)
    return np.sum(np.sin(turned)) + np.sum(moved**2) + np.sum(np.transpose(x, (1, 0)) ** 3 * y)


def permutations_of_axes(cube):
    turned = cube.transpose(2, 0, 1) + np.transpose(cube, (2, 0, 1)) ** 2
    weights = np.arange(24).reshape(4, 2, 3)
    return np.sum(weights * turned) + np.sum(cube.swapaxes(-1, 0) ** 3) + np.sum(cube.T * cube.T)


def expanding(x, y):
    column = np.expand_dims(x, 1)
    return (
        np.sum(np.sin(column * y))
        + np.sum(np.squeeze(column, axis=1) ** 2 * x)
        + np.sum(column.squeeze() ** 3)
    )


def broadcasting_by_hand(x, y):
    wide = np.broadcast_to(x, (3, 4))
    return np.sum(wide * y) + np.sum(np.sin(np.broadcast_to(y[:, :1], (3, 4)) * wide))


def joining(x, y):
    long = np.concatenate([x, y, x**2])
    tall = np.vstack([x, y]) * np.stack((y, x))
    wide = np.hstack([tall, np.stack([x, y], axis=0)])
    return (
        np.sum(long * np.arange(12)) + np.sum(np.sin(wide)) + np.sum(np.stack([x, y], axis=1) ** 3)
    )


def joining_along_axes(a, b):
    side = np.concatenate((a, b), axis=-1)
    return np.sum(np.sin(side) * np.arange(7)) + np.sum(np.concatenate([a.T, b.T]) ** 2)


def splitting(x):
    a, b, c = np.split(x, 3)
    first, rest = np.split(x, [2])
    return np.sum(a * b**2 + np.sin(c)) + np.sum(rest**3) * first[0] * first[1]


def splitting_columns(m):
    left, right = np.split(m, 2, axis=1)
    return np.sum(left * np.exp(right)) + np.sum(left @ right.T)


def tiles_and_repeats(x, m):
    tiled = np.tile(x, 3) * np.repeat(x, 3)
    return (
        np.sum(tiled * np.arange(12))
        + np.sum(np.tile(m, (2, 2)) ** 2)
        + np.sum(np.repeat(m, 2, axis=0) ** 3)
    )


def flips_and_rolls(x, m):
    mirrored = x * np.flip(x) + np.roll(x, 2) * np.roll(x, -1)
    return (
        np.sum(np.sin(mirrored))
        + np.sum(np.flip(m, axis=1) * m)
        + np.sum(np.roll(m, 1, axis=0) * m**2)
    )


def padding(x, m):
    wide = np.pad(x, 2)
    framed = np.pad(m, ((1, 0), (2, 1)), constant_values=1.5)
    return np.sum(wide[1:] * wide[:-1]) + np.sum(np.sin(framed)) + np.sum(np.pad(x, (0, 3)) ** 2)


def diagonals(m, v):
    return (
        np.sum(np.sin(np.diag(m) * v))
        + np.sum((np.diag(v) @ m) ** 2)
        + np.trace(m @ m) * np.diag(m, 1)[0]
    )


def triangles(m):
    lower, upper = np.tril(m), np.triu(m, 1)
    return np.sum(np.sin(lower @ upper)) + np.sum(np.tril(m, -1) ** 3) + np.trace(upper @ lower)


def grids(x, y):
    across, down = np.meshgrid(x, y)
    rows, columns = np.meshgrid(x, y, indexing="ij")
    return np.sum(np.sin(across * down)) + np.sum(rows**2 * columns)


def creations(x, n):
    """Arrays made here are constants and get no cotangent."""
    ramp = np.linspace(0.0, 1.0, n) + np.arange(0, 2 * n, 2) + np.zeros(n) + np.ones_like(x)
    return np.sum(ramp * x**2) + np.sum(np.eye(n) @ x) + np.sum(np.full_like(x, 0.5) * x**3)


def array_methods(x):
    y = x.copy().reshape(3, 4).astype(float)
    return (
        (y.T @ y).trace()
        + y.sum(0).max() * y.mean()
        + y[x.shape[0] // 6].dot(y[0])
        + x.size * x.ndim * y.min()
    )


def array_from_scalars(a, b):
    m = np.array([[a, b], [b * a, 1.0]])
    v = np.array([a**2, np.sin(b)])
    return np.sum(m @ v) + m[0, 1] * v[1]


def rotation(angle, points):
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return np.sum(np.sin(points @ turn.T))


def pooled_by_reshape(x):
    """The halves are whole for the shapes that may be split like this: no place is found by a division."""
    n, m = x.shape
    blocks = x.reshape(n // 2, 2, m // 3, 3)
    return np.sum(blocks.max(axis=(1, 3)) ** 2) + np.sum(blocks.mean(axis=(1, 3)) * blocks[:, 0, :, 1])


def rolled_around(x):
    """A neighbour on every side, and further away."""
    around = sum(np.roll(x, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
    return np.sum(around * np.roll(x, 1) ** 2) + np.sum(np.roll(x, -1, axis=0)[0] * np.roll(x[1], 2))


PROGRAMS = [
    Program(pooled_by_reshape, normal((4, 6))),
    Program(pooled_by_reshape, normal((2, 9)), name="pooled_of_others"),
    Program(rolled_around, normal((3, "n"))),
    Program(rolled_around, normal((2, 1)), name="rolled_around_one"),
    Program(sums_over_axes, normal((2, 3, "n"))),
    Program(means_over_axes, normal((2, 3, "n"))),
    Program(variances, normal((4, "n"))),
    Program(products_over_axes, positive((2, 3))),
    Program(product_with_zeros, fixed(np.array([0.0, 2.0, -1.5, 0.5]))),
    Program(extremes, apart((3, "n"))),
    Program(extremes_over_tuple, apart((2, 3, 4))),
    Program(cumulative_sums, normal((3, "n"))),
    Program(cumulative_products, positive((2, 3))),
    Program(cumulative_product_with_zero, fixed(np.array([2.0, 0.0, -1.5, 0.5]))),
    Program(norms, normal((3, "n"), (4,)), (0, 1)),
    Program(tests_and_positions, apart((3, 4))),
    Program(dot_of_vectors, normal(("n",), ("n",)), (0, 1)),
    Program(dot_matrix_vector, normal((3, "n"), ("n",), (3,)), (0, 1, 2)),
    Program(dot_matrices, normal((2, "n"), ("n", 3)), (0, 1)),
    Program(dot_higher_ranks, normal((2, 3, 4), (4, 2), (4,)), (0, 1, 2)),
    Program(matmul_broadcast, normal((2, 3, 4), (4, 2), (1, 4, 3)), (0, 1, 2)),
    Program(matmul_stack_vector, normal((2, 3, 4), (4,), (3,)), (0, 1, 2)),
    Program(outer_and_kron, normal((3,), (2,), (2, 2)), (0, 1, 2)),
    Program(inner_of_matrices, normal((2, 3), (4, 3)), (0, 1)),
    Program(tensordot_forms, normal((2, 3), (3, 4), (3, 2)), (0, 1, 2)),
    Program(einsum_products, normal((3, "n"), ("n", 2), (3,)), (0, 1, 2)),
    Program(einsum_diagonals, normal((3, 3), (3,)), (0, 1)),
    Program(einsum_batched, normal((2, 3, 4), (2, 2, 4)), (0, 1)),
    Program(solve_vector, normal((3, 3), (3,)), (0, 1)),
    Program(solve_matrix, normal((3, 3), (3, 2)), (0, 1)),
    Program(inverse, normal((3, 3))),
    Program(determinants, normal((3, 3))),
    Program(cholesky_factor, normal((3, 3))),
    Program(batched_linear_algebra, normal((2, 3, 3), (2, 3, 1)), (0, 1)),
    Program(reshapes, normal((3, 4))),
    Program(transposes, normal((3, "n"), ("n", 3)), (0, 1)),
    Program(permutations_of_axes, normal((2, 3, 4))),
    Program(expanding, normal((3,), (4,)), (0, 1)),
    Program(broadcasting_by_hand, normal((4,), (3, 4)), (0, 1)),
    Program(joining, normal((4,), (4,)), (0, 1)),
    Program(joining_along_axes, normal((2, 3), (2, 4)), (0, 1)),
    Program(splitting, normal((6,))),
    Program(splitting_columns, normal((3, 4))),
    Program(tiles_and_repeats, normal((4,), (2, 3)), (0, 1)),
    Program(flips_and_rolls, normal(("n",), (2, 3)), (0, 1)),
    Program(padding, normal(("n",), (2, 3)), (0, 1)),
    Program(diagonals, normal((3, 3), (3,)), (0, 1)),
    Program(triangles, normal((3, 3))),
    Program(grids, normal((3,), (2,)), (0, 1)),
    Program(creations, lambda rng, size=4: (rng.standard_normal(size), size)),
    Program(array_methods, apart((12,))),
    Program(array_from_scalars, normal(None, None), (0, 1)),
    Program(rotation, normal(None, (4, 2)), (0, 1)),
]
