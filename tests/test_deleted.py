"""Names and attributes that a loop deletes: they are missing from then on, or whoever asks whether they are is told why
that is not known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from transformer import NotSupported, jit, vmap

X = np.array([1.5, -0.5, 2.0])


class Point:
    def __init__(self, x: Any) -> None:
        self.x = x


def has_after_loop(x, n):
    point = Point(x)
    for i in range(n):
        if x[i] < 0:
            del point.x
    return hasattr(point, "x")


def has_pair_after_branch(x, n):
    point = Point((x[0], x[1]))
    if x[0] > 0:
        del point.x
    return hasattr(point, "x")


def has_object_after_loop(x, n):
    point = Point(Point(x * 2))
    for i in range(n):
        if x[i] < 0:
            del point.x
    return hasattr(point, "x")


def deleted_each_time(x, n):
    point = Point(x)
    for _ in range(n):
        del point.x
    return x


@pytest.mark.parametrize("function", [has_after_loop, has_pair_after_branch, has_object_after_loop, deleted_each_time])
def test_whether_attributes_exist_is_not_taken_from_before_a_loop(function: Any) -> None:
    for call in (lambda: jit(function)(X, 3), lambda: vmap(function, in_axes=(0, None))(np.stack([X, X]), 3)):
        with pytest.raises(NotSupported, match="exists depends on a branch or loop"):
            call()


def found_in_few(x):
    point = Point(x)
    for i in range(3):
        if i == 1:
            del point.x
    return hasattr(point, "x"), x[0]


def test_few_iterations_tell_whether_an_attribute_exists() -> None:
    assert jit(found_in_few)(X) == found_in_few(X)


def name_not_used(x, n):
    number = x[0] * 2
    for _ in range(n):
        del number
    return x[1]


def name_used(x, n):
    number = x[0] * 2
    total = 0.0
    for _ in range(n):
        total += number
        del number
    return total


@pytest.mark.parametrize("function", [name_not_used, name_used])
def test_names_deleted_in_loops_are_unbound_in_the_next_iteration(function: Any) -> None:
    assert jit(function)(X, 1) == function(X, 1)
    with pytest.raises(UnboundLocalError, match="number"):
        jit(function)(X, 2)
