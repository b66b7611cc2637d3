"""Ranges and slices whose step is computed, compiled: the numbers and the exceptions of Python."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from transformer import jit

pytestmark = pytest.mark.usefixtures("own_cache")


def sieve(n):
    is_prime = np.ones(n + 1, dtype=bool)
    is_prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if is_prime[i]:
            is_prime[i * i :: i] = False
    return np.nonzero(is_prime)[0]


def sieve_by_elements(n):
    composite = np.zeros(n + 1, np.uint8)
    p = 2
    while p * p <= n:
        if not composite[p]:
            for j in range(p * p, n + 1, p):
                composite[j] = 1
        p += 1
    return composite


def numbers_of_ranges(n, steps):
    total = 0.0
    for s in steps:
        for k in range(n, 0, s):
            total += k
        for k in reversed(range(-3, n + 2, s)):
            total += 3 * k
            if total > 500.0:
                break
        total += len(range(0, n, s)) * 0.5
    return total


def is_in_ranges(a, n, most, x):
    found = 0
    for s in range(1, most + 1):
        numbers = range(-3, n, s)
        found += a in numbers
        found += 10 * (x in numbers)
        found += 100 * (s not in range(n, -n, -s))
        found += 1000 * (a not in range(5))
    return found


def written_and_kept(x, steps):
    for s in steps:
        part = x[::s]
        x[0] += 1
        part[-1] *= 2
        x[1::s] -= part[: len(x[1::s])]
    return x.sum()


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (sieve, (1000,)), (sieve, (2,)), (sieve, (1,)), (sieve, (3000,)),
    (sieve_by_elements, (500,)), (sieve_by_elements, (0,)),
    (numbers_of_ranges, (20, np.array([3, 1, -2, 4, -5]))), (numbers_of_ranges, (5, np.array([1, 0]))),
    (numbers_of_ranges, (0, np.array([7, -7, 30], np.int32))), (numbers_of_ranges, (3, np.zeros(0, int))),
    (is_in_ranges, (7, 30, 3, 4.0)), (is_in_ranges, (5, 1, 2, 4.5)), (is_in_ranges, (0, 0, 1, 0)),
    (written_and_kept, (np.arange(12), np.array([1, 2, 5]))), (written_and_kept, (np.ones(3), np.array([-1, 2, -2]))),
    (written_and_kept, (np.ones(3), np.array([2, 0]))), (written_and_kept, (np.ones(0), np.array([2]))),
]


@pytest.mark.parametrize(("function", "args"), CASES, ids=lambda each: getattr(each, "__name__", ""))
def test_steps_that_are_computed(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    expected, got = (_outcome(each, args) for each in (function, jit(function)))
    np.testing.assert_equal(got, expected)


def _outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    args = copy.deepcopy(args)
    try:
        result = function(*args)
    except (ValueError, IndexError) as error:
        return type(error).__mro__[-4:], str(error).splitlines()[0]
    return getattr(result, "dtype", type(result)), result, args
