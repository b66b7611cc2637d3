"""Compiled code says what the program says: places have its names, and `and` is `and`."""

from __future__ import annotations

import numpy as np
from lowered import assert_same, source_of


def bisected(a, v):
    lo, hi = 0, len(a)
    while lo < hi:
        mid = (lo + hi) // 2
        if a[mid] < v:
            lo = mid + 1
        else:
            hi = mid
    return lo


def sifted(a):
    n = len(a)
    for start in range(n // 2 - 1, -1, -1):
        root = start
        while True:
            child = 2 * root + 1
            if child >= n:
                break
            if child + 1 < n and a[child + 1] > a[child]:
                child += 1
            if a[root] >= a[child]:
                break
            a[root], a[child] = a[child], a[root]
            root = child
    return a


def test_results() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 9):
        for v in (-1.0, 3.5, 99.0):
            assert_same(bisected, np.arange(float(n)), v)
        assert_same(sifted, rng.normal(size=n))


def test_places_have_the_names_of_the_program() -> None:
    source = source_of(bisected, bisected, (np.arange(9.0), 3.5))
    assert "if mid >= " in source and "a[mid]" in source and source.count("// 2") == 1


def test_conditions_are_joined_as_in_the_program() -> None:
    source = source_of(sifted, sifted, (np.arange(9.0),))
    assert "mask and a2[child2] > a2[child]" in source.replace("a[", "a2[")
