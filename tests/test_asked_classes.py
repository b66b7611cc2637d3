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


def of_items(x):
    items = [i for i in range(len(x))]
    items[int(x[0])] = 0.5
    return x[0] * (2 if isinstance(items[1], int) else 3)


def of_a_computed_place(x):
    items, total = [1, 0.5, 3], 0.0
    for a in x:
        total += a * (2 if isinstance(items[int(a) % 3], int) else 3)
    return total


def of_an_answer_that_a_loop_turns(x):
    v = 1
    for a in x:
        v = a if isinstance(v, int) else 3
    return v


def of_one_value(x):
    v = 1 if x[0] > 1 else 1.0
    return x[1] * (2 if isinstance(v, int) else 3)


def of_a_truth(x):
    v = 1 if x[0] > 1 else True
    return x[1] * (2 if type(v) is bool else 3)


@pytest.mark.parametrize("function", [of_branches, of_iterations, of_a_sum, of_items, of_a_computed_place,
                                      of_an_answer_that_a_loop_turns, of_one_value, of_a_truth])
@pytest.mark.parametrize("transformation", [grad, jit])
def test_an_answer_that_depends_on_the_path_is_refused(function, transformation):
    with pytest.raises(NotSupported, match="depend(s|ing) on the path") as raised:
        transformation(function)(np.array([2.0, 1.0, 3.0]))
    assert function.__name__ in str(raised.value)


def place_in_an_array(x):
    place = 1 if x[0] > 0 else 0.5
    return x[place]


def place_in_a_list(x):
    items = [i for i in range(len(x))]
    items[int(x[0])] = 0.5
    return np.sum(x[:items[1]])


def bound_of_a_range(x):
    items, total = [i for i in range(len(x))], 0.0
    items[int(x[0])] = 0.5
    for i in range(items[1]):
        total += x[i]
    return total


def bounds_at_computed_places(x):
    bounds, total = [1, 0.5, 3], 0.0
    for a in x:
        for i in range(bounds[int(a) % 3]):
            total += x[i]
    return total


def bits_at_computed_places(x):
    items, total = [1, 0.5, 3], 0.0
    for a in x:
        total += a * items[int(a) % 3].bit_count()
    return total


@pytest.mark.parametrize("function", [place_in_an_array, place_in_a_list, bound_of_a_range, bounds_at_computed_places,
                                      bits_at_computed_places])
def test_floats_that_may_be_ints_are_told_where_ints_have_to_be(function):
    with pytest.raises(NotSupported, match="an int on some paths and a float on others") as raised:
        grad(function)(np.array([0.3, 1.0, 2.0]))
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
