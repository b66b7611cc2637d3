"""A loop of sums goes inside of the loops in it, where what these compute is the same for all of its iterations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lowered import as_loops, assert_same, source_of

from transformer import grad, jit


def added_up(a: Any, b: Any, near: Any) -> Any:
    """The place is tested once for all directions."""
    out = np.zeros_like(a)
    for j in range(3):
        for i in range(len(near)):
            for k in range(2):
                moved = a[near[i]] @ b[k]
                out[i] += moved @ (b[j] * (1.0 + k))
    return out


def down_and_up(a: Any, b: Any, near: Any) -> Any:
    out = np.zeros_like(a)
    for j in range(2, -1, -1):
        for i in range(len(near)):
            out[i] += (a[i] @ b[0]) @ b[j]
            out[near[i]] -= b[j] * j
    return out


def read_again(a: Any, b: Any, near: Any) -> Any:
    """What is added up is read there."""
    out = np.zeros_like(a)
    for j in range(3):
        for i in range(len(near)):
            out[i] += (a[near[i]] @ b[0]) @ (b[j] + out[i - 1])
    return out


def the_last_ones(a: Any, b: Any, near: Any) -> Any:
    """The last write stays."""
    out = np.zeros_like(a)
    for j in range(3):
        for i in range(len(near)):
            out[near[i]] = (a[i] @ b[0]) @ b[j]
    return out


def so_often(a: Any, b: Any, near: Any) -> Any:
    """Perhaps never: then no place is out of bounds."""
    out = np.zeros_like(a)
    for j in range(len(near) - 3):
        for i in range(2):
            out[i] += (a[near[i] + 4 * (3 // len(near))] @ b[0]) @ b[j % 3]
    return out


def in_places(a: Any, b: Any, near: Any) -> Any:
    """What is tested is another place in each iteration."""
    out = np.zeros_like(a)
    for j in range(3):
        for i in range(2):
            out[i] += (a[i] @ b[0]) @ b[near[j] - len(near) + 2]
    return out


def told(a: Any, b: Any, near: Any) -> Any:
    """What is printed is printed each time."""
    out = np.zeros_like(a)
    for j in range(3):
        for i in range(2):
            print(i)
            out[i] += (a[i] @ b[0]) @ b[j]
    return out


SUNK, STAYING = [added_up, down_and_up], [read_again, the_last_ones, so_often, in_places, told]


def arguments(n: int = 3, dtype: str = "f8", size: int = 4) -> tuple[Any, ...]:
    rng = np.random.default_rng(n)
    a, b = (0.3 * rng.normal(size=(count, size, size)).astype(dtype) for count in (n, 3))
    return a, b, np.arange(n)[::-1]


@pytest.mark.parametrize("function", [*SUNK, *STAYING])
def test_results(function: Any) -> None:
    compiled = jit(function)
    for n, dtype in ((3, "f8"), (4, "f4"), (5, "c16")):
        given, rtol = arguments(n, dtype), 2e-5 if dtype == "f4" else 1e-12
        np.testing.assert_allclose(compiled(*given), function(*given), rtol, rtol)
        np.testing.assert_allclose(as_loops(function, function, given), function(*given), rtol, rtol)


@pytest.mark.parametrize("function", [*SUNK, *STAYING])
def test_loops(function: Any) -> None:
    source = source_of(function, function, arguments())
    loops = [line.split()[1] for line in source.splitlines() if line.lstrip().startswith("for ")]
    assert (loops[0] == "i") is (function in SUNK), source


def test_nothing_and_places_outside() -> None:
    for function in (added_up, down_and_up):
        a, b, near = arguments(2)
        assert_same(function, a, b, near[:0])
        assert_same(function, a, b, near + 2)


def test_gradient() -> None:
    derived = grad(lambda a, b, near: np.sum(added_up(a, b, near) ** 2), argnums=(0, 1))
    for got, want in zip(jit(derived)(*arguments()), derived(*arguments()), strict=True):
        np.testing.assert_allclose(got, want, 1e-11, 1e-12)
