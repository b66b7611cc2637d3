"""What loops record: elements of arrays that are written in place, never the whole array in each step."""

from __future__ import annotations

import functools
import operator

import numpy as np
import pytest
from memory_peak import peak

from transformer import check_grads, grad, jit


def written_in_branches(x):
    y = x * 1.0
    for i in range(len(x) - 1):
        if y[i] > 0:
            t = y[i + 1]
            y[i + 1] = t * y[i]
            y[i] = t
        else:
            y[i] = y[i + 1] * 2
    return np.sum(y**2)


def recurrence(x):
    f = np.zeros(len(x))
    f[0] = x[0]
    for i in range(1, len(x)):
        f[i] = x[i] + 0.1 * f[i - 1] ** 2
    return np.sum(f)


def read_after_being_written(x):
    y = x * 1.0
    for i in range(1, len(x)):
        y[i] = np.sin(y[i - 1])
        y[i - 1] = y[i] * y[i]
    return np.sum(y)


PROGRAMS = [written_in_branches, recurrence, read_after_being_written]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("n", [250, 500])
def test_storage_grows_with_the_length_alone(program, n):
    x = np.random.default_rng(0).normal(size=n)
    assert peak(grad(program), x) < 20 * x.nbytes + 20_000


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients(program):
    check_grads(program, (np.random.default_rng(1).normal(size=5),), order=2)


def product_of_large(x):
    try:
        return functools.reduce(operator.mul, [v for v in x if v > 9])
    except TypeError:
        return x[0] ** 2


@pytest.mark.parametrize("numbers", [[1.0, 2.0, 3.0], [1.0, 10.0, 3.0], [10.0, 20.0, 30.0]])
def test_a_branch_that_is_not_taken_has_no_room_below_none(numbers: list[float]) -> None:
    """Room for what it records, one product less than there are numbers, is made before it."""
    x = np.array(numbers)
    np.testing.assert_allclose(jit(grad(product_of_large))(x), grad(product_of_large)(x))
