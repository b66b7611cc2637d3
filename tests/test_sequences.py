"""What loops record, as arrays: the ops between the two, and their derivatives through loops."""

from __future__ import annotations

import numpy as np
import pytest

from transformer import check_grads, grad, jvp
from transformer.ops.sequences import Stacked, Unstacked, ZerosLike


@pytest.mark.parametrize("shape", [(3,), (2, 3), (4, 1, 2)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_stacking_and_taking_apart_are_inverses(shape, dtype):
    array = np.random.default_rng(0).normal(size=shape).astype(dtype)
    rows = Unstacked.run(array)
    assert len(rows) == len(array)
    again = Stacked.run(rows, len(array))
    assert again.dtype == dtype
    np.testing.assert_array_equal(again, array)


def test_zeros_keep_a_ragged_structure():
    zeros = ZerosLike.run([[np.ones(2), np.ones(3)], [np.ones(1)]])
    assert [[z.shape for z in row] for row in zeros] == [[(2,), (3,)], [(1,)]]
    assert all(not z.any() for row in zeros for z in row)


def running_products(x):
    values = []
    product = 1.0
    for item in x:
        product = product * item
        values.append(product)
    return np.array(values)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_list_of_a_loop_to_the_second_order(n):
    x = 1.0 + 0.3 * np.random.default_rng(n).normal(size=n)
    weights = np.arange(1.0, n + 1)
    check_grads(lambda x: np.sum(weights * running_products(x) ** 2), (x,), order=2)


def test_list_read_by_a_branch_only():
    def f(x, use):
        squares = np.array([v * v for v in x])
        if use > 0:
            total = np.sum(squares * squares)
        else:
            total = np.sum(x)
        return total

    x = np.array([0.5, -1.0, 2.0])
    g = grad(f)
    np.testing.assert_allclose(g(x, 1.0), 4 * x**3)
    np.testing.assert_allclose(g(x, -1.0), np.ones(3))
    _, second = jvp(lambda x: g(x, 1.0), (x,), (np.ones(3),))
    np.testing.assert_allclose(second, 12 * x**2)
