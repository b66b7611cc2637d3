"""Compiled integers of NumPy that leave 64 bits wrap around, whatever looks at them then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_golden_gpu import looped

from transformer import jit, vmap

BIG = np.array([2 ** 62 + 12345, -2 ** 62 - 7, 2 ** 63 - 1, -2 ** 63, 3037000500, 2 ** 40 + 17, -5, 3100000000])


def compared(x: Any) -> Any:
    return x + 1 > x, x - 1 < x, x * 2 > x, abs(x - 1) < 0, -x < 0


def divided(x: Any) -> Any:
    return x * 2 // 2, x * x % 1000003, (x << 3) // 8, np.power(x, 5) % 9, (-x) // 2, divmod(x * 5, 3)[1]


def signed(x: Any) -> Any:
    return abs(x * x), np.maximum(x * x, 0), np.sign(x * x - 1), np.clip(x * x, -5, 5), np.argmax(x * x)


def as_floats(x: Any) -> Any:
    return np.sqrt(np.abs((x * x).astype(float))), float(x[0] * x[0]), np.mean(x * x), float(np.sum(x * x))


def reduced(x: Any) -> Any:
    return np.cumsum(x) > 0, np.cumprod(x) // 3, np.prod(x) % 7, np.sum(x) < 0, x @ x > 0, np.sum(x ** 3) // 5


def hashed(x: Any) -> Any:
    h = np.int64(-3750763034362895579)
    for each in x:
        h = (h ^ each) * np.int64(1099511628211)
        if h < 0:
            h = h + 7
    return h % 1000, h


def written(x: Any) -> Any:
    sums, walk = np.zeros(3, np.int64), x.copy()
    for i in range(len(x)):
        sums[i % 3] += x[i] * x[i]
    for i in range(1, len(walk)):
        walk[i] = walk[i - 1] * 6364136223846793005 + 1442695040888963407
    return sums.max(), (sums > 0).sum(), walk % 100


def product_down(n: Any) -> Any:
    return n * product_down(n - 1) if n > 1 else n


def called(x: Any) -> Any:
    total = product_down(x[6] + 30)
    return total > 0, total // 3


def converted(x: Any) -> Any:
    total = 0.0
    for each in x:
        if each >= 0:
            total += float(each + 1)
    unsigned = x.astype(np.uint64).astype(np.int64)
    numbers = (x + 1).astype(float), (np.maximum(x, 0) + 1).astype(float)
    return total, (x * 2).astype(bool), *numbers, unsigned - 10 < unsigned


@pytest.mark.parametrize("function", [
    compared, converted, divided, signed, as_floats, reduced, hashed, written, called])
def test_what_looks_at_integers_sees_those_of_numpy(function: Any) -> None:
    with np.errstate(all="ignore"):
        expected, given = function(BIG), jit(function)(BIG)
    for one, other in zip(expected, given, strict=True):
        np.testing.assert_array_equal(other, one)
        assert np.asarray(other).dtype == np.asarray(one).dtype


def test_lanes_wrap_around_too() -> None:
    numbers = np.stack([BIG, BIG[::-1]])
    with np.errstate(all="ignore"):
        expected = np.stack([row * row % 1000003 for row in numbers])
    np.testing.assert_array_equal(jit(vmap(lambda x: x * x % 1000003))(numbers), expected)


def test_squares_of_python_that_a_number_without_a_sign_would_hold_are_refused() -> None:
    square = jit(lambda n: n * n)
    assert square(3037000499) == 3037000499 ** 2
    for n in (3037000500, -3100000000, 2 ** 32):
        with pytest.raises(OverflowError):
            square(n)


def fibonacci(count: Any) -> Any:
    a, b = np.int64(0), np.int64(1)
    for _ in range(count):
        a, b = b, a + b
    return a % 1000


def sums_and_counts(x: Any) -> Any:
    y = 31 * x + 7                       # only stored
    counts = np.zeros(4, np.int64)
    for i in range(len(x)):
        counts[x[i] % 4] += 1            # in small steps
    return y, counts.max(), (x * 31) & 255


def distance(a: Any, b: Any) -> Any:
    t = np.zeros((len(a) + 1, len(b) + 1), int)
    t[:, 0], t[0] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i in range(len(a)):
        for j in range(len(b)):
            t[i + 1, j + 1] = min(t[i, j + 1] + 1, t[i + 1, j] + 1, t[i, j] + (a[i] != b[j]))
    return t[-1, -1]


def test_source_says_so_only_where_it_matters() -> None:
    assert "wrapping_add(a, b)" in jit(fibonacci).source_for(7).split("def fibonacci_kernel")[1]
    assert "wrapping" not in jit(sums_and_counts).source_for(BIG)
    assert "wrapping" not in jit(distance).source_for(np.arange(4), np.arange(3))


def squares_by_rest(x: Any) -> Any:
    sums = np.zeros(4, np.int64)
    np.add.at(sums, x % 4, x * x)
    return sums // 3


def test_threads_of_a_gpu_add_to_one_element_as_before() -> None:
    source = looped(squares_by_rest, squares_by_rest, (np.arange(50),)).source
    assert "cuda.atomic.add(sums, Place(x_i % 4), wrapping_mul(x_i, x_i))" in source
