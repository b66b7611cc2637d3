"""Borders of nests get loops of their own, also where a place follows another rule there; between them nothing is asked
of a place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lowered import assert_same, source_of

MODES = "edge", "reflect", "symmetric", "wrap"


def bordered(mode: str) -> Any:
    def program(x):
        p = np.pad(x, (2, 3), mode=mode)
        return p[:-4] + 2 * p[1:-3] - p[4:]
    return program


def ring(x):
    places = np.arange(x.shape[0])
    return x[(places + 1) % x.shape[0]] - x[(places - 2) % x.shape[0]]


def plane(x):
    p = np.pad(x, 1, mode="edge")
    return p[2:, 1:-1] + p[:-2, 1:-1] - p[1:-1, 2:] * p[1:-1, :-2]


def windows(x):
    p = np.pad(x, 1, mode="reflect")
    return np.max(np.stack([p[i:i + x.shape[0]] for i in range(3)]), axis=0)


@pytest.mark.parametrize("mode", MODES)
def test_borders_of_arrays(mode: str) -> None:
    for n in (1, 2, 3, 4, 7, 8, 30):
        assert_same(bordered(mode), np.random.default_rng(n).normal(size=n))
    source = source_of(bordered(mode), bordered(mode), (np.ones(30),))
    assert "result[i + 2] = x[i] + 2.0 * x[i + 1] - x[i + 4]" in source


def test_rings_planes_and_windows() -> None:
    for n in (2, 3, 5, 30):
        assert_same(ring, np.random.default_rng(n).normal(size=n))
        assert_same(windows, np.random.default_rng(n).normal(size=n))
        assert_same(plane, np.random.default_rng(n).normal(size=(n, 5)))
    assert "result[i + 2] = x[i + 3] - x[i]" in source_of(ring, ring, (np.ones(30),))
    assert "kept[i, j + 1] = x[i + j]" in source_of(windows, windows, (np.ones(30),))
    assert "- x[i + 1, j + 2] * x[i + 1, j])" in source_of(plane, plane, (np.ones((30, 30)),))


def test_ends_of_integers_are_no_places() -> None:
    """Tests whether a sum fits compare with numbers from which no other may be made."""
    def counted(x):
        number = int(x[0] ** 0.5)
        return (number + (x.shape[0] - 1)) // (number + 1) + x[1]

    source = source_of(counted, counted, (np.array([9.0, 2.0, 3.0]),))
    assert "number > 9223372036854775807 - max(n - 1, 0)" in source


def tabled(x):
    w = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, x[0]])
    total = 0.0
    for k in range(len(w)):
        total += w[k] * x[k % 2]
    return total


def test_a_table_is_stored_number_by_number() -> None:
    """Not asked for, at each place, which place it is."""
    x = np.array([0.3, 0.7])
    assert_same(tabled, x)
    source = source_of(tabled, tabled, (x,))
    assert "w[11] = 1.2" in source and "w[17] = x[0]" in source and "elif" not in source
