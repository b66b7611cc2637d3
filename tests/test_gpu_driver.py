"""Numbers that the driver of a module for GPUs computes: it is Python, where NumPy's are infinite and wrap around."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
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
