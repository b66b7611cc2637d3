"""Numbers that the driver of a module for GPUs computes: it is Python, where NumPy's are infinite and wrap around."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import scipy
from gpu_checks import check


def divided(x, s):
    return x * (s / (s - 2)), x * (s // (s - 2)), x * (s % (s - 2)), x * (-s) ** 0.5, x * (s * 1e200) ** 2


def functions(x, s):
    return x * np.log(s - 2), x * np.sqrt(-s), x * np.exp(s * 1e5), x * np.arcsin(s), x * np.sinh(s * -1e5)


def of_few_digits(x, s):
    return x * np.arctan2(s, s), x * np.hypot(s, s), np.float32(s) / np.float32(s - 2)


def whole(x, k):
    return x * (k // (k - 7)), x * (k % (k - 7)), k * k * 2**30, k.astype(np.uint8) * np.uint8(200), x * abs(k)


def of_sizes(x):
    n = np.int64(x.shape[0])
    return n * np.int64(2**62) * 3, x * (n << 63), x * (n // (n - 5)), np.float64(n) / (n - 5), np.mean(x[:0] * 2)


def converted(x, s):
    return x + (s * np.nan).astype(np.int32), x + (s * 200).astype(np.uint8), x + s.astype(np.int16)


X = np.arange(5.0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function, arguments", [
    *[(function, (X, number(2))) for function in (divided, functions, of_few_digits, converted)
      for number in (np.float64, np.float32)],
    *[(whole, (X, number(7))) for number in (np.int64, np.int32)], (of_sizes, (X,))])
def test_numbers_are_those_of_numpy(function: Any, arguments: Any) -> None:
    check(function, *arguments, typed=False)


def test_pythons_own_numbers_raise() -> None:
    def divided(x, s):
        return x * (1 / s)

    with pytest.raises(ZeroDivisionError):
        check(divided, X, 0.0, typed=False)
    assert "np.float64" not in check(divided, X, 2.0, typed=False)


def of_libraries(a):
    sign, logarithm = np.linalg.slogdet(a)
    return np.linalg.det(a) ** 2 + sign * logarithm, np.linalg.svdvals(a), scipy.special.sici(a[0])


def test_what_libraries_give_stays_on_the_device() -> None:
    """Numbers, of which CuPy makes arrays without axes, are in memory; what the host computes is brought."""
    source = check(of_libraries, np.random.default_rng(0).normal(size=(3, 3)) + 2 * np.eye(3))
    assert re.search(r"\w+\[:\], \w+\[:\] = cp.linalg.slogdet\(a\)", source)
    assert "cp.linalg.svd(a, compute_uv=False)" in source and "map(cp.asarray, scipy.special.sici(" in source


def stacked(x):
    stack = [x[0], x[1] ** 2]
    if x[2] > 0:
        stack.pop()
    return sum(stack) * stack[-1]


@pytest.mark.parametrize("last", [-1.0, 1.0])
def test_no_place_is_below_zero(last: float) -> None:
    """A sum in parts of what is one longer than an array begins at its first element."""
    check(stacked, np.array([0.7, -0.4, last]))
