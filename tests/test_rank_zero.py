"""Arrays without axes: numbers here, and refused where that would show."""

from __future__ import annotations

import numpy as np
import pytest

from transformer import NotSupported, check_grads, grad


def two_names(x):
    s = np.zeros(())
    t = s
    s += x
    return t * x + s


def two_names_and_a_loop(x):
    s = np.zeros(())
    t = s
    for _ in range(3):
        s += x
    return t * x + s


def add_to(total, v):
    total += v


def changed_by_a_helper(x):
    total = np.array(0.0)
    add_to(total, x)
    return total * x


def in_a_container(x):
    total = np.ones(())
    kept = {"total": total}
    total *= x
    return kept["total"] * x


def one_name(x):
    s = np.zeros(())
    for k in range(3):
        s += x * k
    y = x
    y += 1.0
    return s * y


@pytest.mark.parametrize("function", [two_names, two_names_and_a_loop, changed_by_a_helper, in_a_container])
def test_change_that_another_name_sees_is_refused(function):
    with pytest.raises(NotSupported, match="without axes") as caught:
        grad(function)(2.0)
    assert caught.value.origin.file == __file__


def test_array_with_one_name_is_a_number():
    assert grad(one_name)(2.0) == 6 * 2.0 + 3
    check_grads(one_name, (0.7,))
