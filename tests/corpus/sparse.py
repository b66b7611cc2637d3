"""Products with sparse matrices that were made before."""

import numpy as np
import scipy.sparse

from .program import Program, normal

DENSE = np.array([[2.0, 0.0, -1.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.5, 1.5, 0.0, 3.0]])
ROWS = scipy.sparse.csr_matrix(DENSE)
COLUMNS = scipy.sparse.csc_array(DENSE)
PLACES = scipy.sparse.coo_array(([1.0, 2.0, 3.0], ([0, 0, 1], [1, 1, 0])), shape=(3, 4))
SECOND = scipy.sparse.diags([np.full(4, -2.0), np.ones(3), np.ones(3)], [0, 1, -1])


def sparse_rows_and_columns(x):
    return np.sum((ROWS @ x) ** 2 * COLUMNS.dot(x)) + np.sum(PLACES @ x)


def sparse_from_the_left(x, y):
    return np.sum((y @ ROWS) * x) + np.sum(ROWS.T @ y**2) + np.sum((y @ PLACES.T.T) ** 2)


def sparse_times_columns(x):
    return np.sum((COLUMNS @ np.outer(x, x)) ** 2) + np.sum(np.outer(x, x[:3]) @ ROWS)


def sparse_diffusion(x):
    for _ in range(5):
        x = x + 0.1 * (SECOND @ x) - 0.01 * x**3
    return np.sum(x**2)


PROGRAMS = [
    Program(sparse_rows_and_columns, normal((4,))),
    Program(sparse_from_the_left, normal((4,), (3,)), (0, 1)),
    Program(sparse_times_columns, normal((4,))),
    Program(sparse_diffusion, normal((4,))),
]
