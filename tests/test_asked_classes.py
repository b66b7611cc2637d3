"""`isinstance` and `type` of numbers that are of one class on one path and of another on another."""

import numpy as np
import pytest

from transformer import NotSupported, grad, jit, value_and_grad


def of_branches(x):
    v = 0
    if x[0] > 1:
        v = x[1]
    return x[2] * 2 if isinstance(v, int) else x[2] * 3


def of_iterations(x):
    v, total = 0, 0.0
    for a in x:
        if isinstance(v, int):
            total += a
        v = a
    return total


def of_a_sum(x):
    n = 1
    if x[0] > 1:
        n = 0.5
    return x[1] * 2 if type(n + 1) is int else x[1]


@pytest.mark.parametrize("function", [of_branches, of_iterations, of_a_sum])
@pytest.mark.parametrize("transformation", [grad, jit])
def test_an_answer_that_depends_on_the_path_is_refused(function, transformation):
    with pytest.raises(NotSupported, match="depending on the path") as raised:
        transformation(function)(np.array([2.0, 1.0, 3.0]))
    assert function.__name__ in str(raised.value)


def one_class(x):
    v, n = 0.5, 0
    for a in x:
        v = v * a
        n += 1
    return v * n if isinstance(v, float) and type(n) is int else v


def in_each_iteration(x):
    v, total = 0, 0.0
    for i in range(3):
        if isinstance(v, int):
            total += x[i]
        v = i * 2
    return total


def of_written_numbers(x):
    total = 0.0
    for v in (1, 2.5, 3):
        if isinstance(v, int):
            total += x[0] * v
    return total


def asked_for_more(x):
    v = 1
    if x[0] > 1:
        v = 0.5
    return x[1] * v if isinstance(v, (int, float)) and not isinstance(v, np.ndarray) else x[1]


@pytest.mark.parametrize("function", [one_class, in_each_iteration, of_written_numbers, asked_for_more])
def test_one_answer_for_all_paths(function):
    for x in (np.array([2.0, 1.0, 3.0]), np.array([0.5, 1.5, -1.0])):
        value, slopes = value_and_grad(function)(x)
        along = np.array([0.3, -1.2, 0.7])
        expected = (function(x + 1e-6 * along) - function(x - 1e-6 * along)) / 2e-6
        assert value == function(x)
        np.testing.assert_allclose(slopes @ along, expected, rtol=1e-7)
