"""Machine code of elements, loops over ranges, choices and whole copies: the same as Python's and NumPy's."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

rng = np.random.default_rng(0)


@cache
def compiled(function: Callable[..., Any]) -> Any:
    from transformer.run.compiling.dispatchers import KernelDispatcher
    return KernelDispatcher(function, targetoptions={"nopython": True, "error_model": "numpy", "nogil": True})


def same(function: Callable[..., Any], *args: Any) -> None:
    given = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    for k, arg in enumerate(args):
        if isinstance(arg, np.ndarray) and not arg.flags.c_contiguous:
            given[k] = arg                          # its layout is what is tested; nothing is written to it
    expected, result = function(*args), compiled(function)(*given)
    assert np.array_equal(result, expected)
    for arg, written in zip(args, given, strict=True):
        assert np.array_equal(arg, written)


def elements(a: np.ndarray, i: int, j: int) -> Any:
    total = 3 * a[i, j] + a[0, 0] * a[2, a.shape[1] - 1]
    for k in range(a.shape[0]):
        total += a[k, j] + 2 * a[k, 2] * a[k, np.int8(1)] + a[np.uint8(k), 0]
    return total


@pytest.mark.parametrize("dtype", ["f4", "c16", "i8", "?"])
@pytest.mark.parametrize("turned", [lambda a: a, lambda a: a.T, lambda a: a[::2, ::-1], lambda a: a[1:]])
def test_elements_of_all_layouts(dtype: str, turned: Callable[[np.ndarray], np.ndarray]) -> None:
    a = turned(rng.integers(0, 3, (6, 6)).astype(dtype))
    for i, j in (0, 0), (1, 2), (2, 1):
        result, expected = compiled(elements)(a, i, j), elements(a, i, j)
        assert result == expected


def test_elements_of_arrays_that_are_read_only_or_not_aligned() -> None:
    a = rng.normal(size=(3, 3))
    a.flags.writeable = False
    assert compiled(elements)(a, 1, 1) == elements(a, 1, 1)
    moved = np.frombuffer(b"x" + a.tobytes(), "f8", offset=1).reshape(3, 3)
    assert not moved.flags.aligned and compiled(elements)(moved, 1, 1) == elements(a, 1, 1)


def counted(a: np.ndarray, n: int) -> np.ndarray:
    for i in range(n):
        a[i] += 1
    for i in range(n - 1, -1, -1):
        a[i] *= i + 2
    for i in range(1, n, 2):
        a[i] -= 3
    for i in range(n + 2, -3, -4):
        a[i % len(a)] += 0.5
    for i in range(2, n):
        if i == 4:
            break
        for j in range(i, 0, -3):
            if j == 2:
                continue
            a[j] += 7
    return a


@pytest.mark.parametrize("n", [0, 1, 2, 3, 6, 7])
def test_loops_over_ranges(n: int) -> None:
    same(counted, np.arange(8.0), n)


def ends(n: int) -> tuple[int, int, int]:
    last = -1
    for i in range(n):
        last = i
    steps = 0
    for i in range(2**62, 2**63 - 1, 2**61):        # no sum of these may leave 64 bits before it is used
        steps += 1
    several = range(n)
    for i in several:
        steps += len(several)
    for i in several:
        steps += i
    return last, steps, len(several)


@pytest.mark.parametrize("n", [-3, 0, 1, 5])
def test_variables_after_loops_and_ranges_used_twice(n: int) -> None:
    assert compiled(ends)(n) == ends(n)


def stepped(n: int, step: int) -> int:
    total = 0
    for i in range(0, n, step):
        total = 10 * total + i
    return total


def test_steps_that_are_not_written_as_numbers() -> None:
    for n, step in (5, 1), (5, 2), (-5, -2), (5, -1):
        assert compiled(stepped)(n, step) == stepped(n, step)
    with pytest.raises(ValueError, match="must not be zero"):
        compiled(stepped)(5, 0)


def put(a: np.ndarray, i: int, value: Any) -> np.ndarray:
    a[i, 1] = value
    return a


@pytest.mark.parametrize(("dtype", "value"), [("f4", 0.1), ("f8", 3), ("i4", True), ("c8", 2.5), ("?", False)])
def test_stores_convert(dtype: str, value: Any) -> None:
    same(put, np.ones((2, 3), dtype), 1, value)


def copied(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a[:] = b
    return a


@pytest.mark.parametrize("dtype", ["f4", "c16", "?"])
@pytest.mark.parametrize("shape", [(4,), (2, 3), (0, 3), (2, 1, 2)])
def test_whole_copies(dtype: str, shape: tuple[int, ...]) -> None:
    same(copied, np.zeros(shape, dtype), rng.integers(0, 2, shape).astype(dtype))


def test_whole_copies_of_other_sizes_are_errors() -> None:
    with pytest.raises(ValueError, match="could not broadcast"):
        compiled(copied)(np.zeros(3), np.ones(4))


def test_whole_copies_of_other_dtypes_and_layouts_convert() -> None:
    same(copied, np.zeros((2, 2)), np.ones((2, 2), "f4"))
    same(copied, np.zeros((2, 2)), rng.normal(size=(2, 2)).T)


def first_or_last(a: np.ndarray, b: np.ndarray, turn: bool) -> Any:
    rows = a[1:]
    if turn:
        rows = b
    total = 0.0
    for i in range(len(rows)):
        row = rows[i]
        for j in range(len(row)):
            row[j] += i
            total += row[j]
    return total


@pytest.mark.parametrize("turn", [False, True])
def test_views_and_arrays_that_are_one_of_two(turn: bool) -> None:
    same(first_or_last, np.arange(6.0).reshape(3, 2), np.arange(8.0).reshape(2, 4), turn)


def in_turns(a: np.ndarray, b: np.ndarray, steps: int) -> np.ndarray:
    for _ in range(steps):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                b[i, j] = a[i, j] + 2 * a[a.shape[0] - 1 - i, j]
        a, b = b, a
    return a


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_arrays_that_take_turns(steps: int) -> None:
    same(in_turns, rng.normal(size=(3, 4)), np.zeros((3, 4)), steps)


def gathered(a: np.ndarray, places: np.ndarray, start: int) -> float:
    total = 0.0
    for k in range(len(places)):
        total += a[places[start + k]]
    return total


def test_nothing_is_chosen_for_negative_places() -> None:
    same(gathered, rng.uniform(size=5), np.array([3, 1, 4]), 0)
    text, = compiled(gathered).inspect_llvm().values()
    body = next(each for each in text.split("\ndefine ") if "load double" in each)
    assert "select" not in body


def by_sides(a: np.ndarray, x: np.ndarray, low: float, high: int) -> np.ndarray:
    for i in range(len(x)):
        value = x[i]
        side = high if value > 0 else low if value < -1 else value if value < -0.75 else 0
        other = low
        if side >= 2:
            other = side
        for j in range(a.shape[1]):
            a[i, j] *= side - 2 * other
    return a


def test_numbers_are_selected_in_loops_around_others() -> None:
    same(by_sides, rng.normal(size=(6, 7)), np.array([1.0, -2.0, 0.0, -0.5, -0.875, 3.0]), 0.5, 2)
    text, = compiled(by_sides).inspect_llvm().values()
    compared = set(re.findall(r"(%\S+) = fcmp", text))
    assert compared and not compared & set(re.findall(r"br i1 (%[^,\s]+)", text))


def with_memory_of_its_own(a: np.ndarray, steps: int) -> float:
    before, after = a.copy(), np.empty(a.shape)
    for step in range(steps):
        part = np.empty(step + 1)
        for i in range(a.shape[0]):
            part[0] = before[i]
            after[i] = 2 * part[0]
        if step == 2:
            return after[0]
        before, after = after, before
    few = np.empty(2)
    for i in range(2):
        few[i] = before[i]
    if steps < 2:
        raise ValueError("too few")
    return few[0]


@pytest.mark.parametrize("steps", [0, 2, 5])
def test_all_memory_is_freed(steps: int) -> None:
    from numba.core.runtime import _nrt_python, rtsys
    _nrt_python.memsys_enable_stats()
    kernel, a = compiled(with_memory_of_its_own), np.ones(3)
    kernel.compile((kernel.typeof_pyval(a), kernel.typeof_pyval(steps)))
    before = rtsys.get_allocation_stats()
    try:
        assert kernel(a, steps) == with_memory_of_its_own(a, steps)
    except ValueError:
        assert steps < 2
    after = rtsys.get_allocation_stats()
    assert after.alloc - before.alloc == after.free - before.free >= 2 + min(steps, 3)


def ranges_of_both_signs(n: int) -> list[int]:
    found = [0]
    for i in range(n, -n, -1):
        for j in range(-i, i):
            found.append(10 * i + j)
    for i in range(3):
        i += 5
        found.append(i)
    found.append(i)
    return found


@pytest.mark.parametrize("n", [-1, 0, 1, 2])
def test_ranges_from_and_to_computed_places(n: int) -> None:
    assert list(compiled(ranges_of_both_signs)(n)) == ranges_of_both_signs(n)


def common_divisor(n: int) -> int:
    return math.gcd(n, 8)


def other_divisor(n: int) -> int:
    return 2 * math.gcd(n, 9)


def test_what_numba_compiles_for_one_kernel_serves_the_next() -> None:
    from numba.core import event
    assert compiled(common_divisor)(6) == 2
    with event.install_recorder("numba:compile") as recorded:
        assert compiled(other_divisor)(3) == 6
    names = {each.data["dispatcher"].py_func.__name__ for _, each in recorded.buffer}
    assert names == {"other_divisor"}


def operations(x: Any, y: Any) -> Any:
    total = x
    total += y
    total -= x * 2
    total *= y
    return total, x + y, x - y, x * y, x < y, x <= y, x > y, x >= y, x == y, x != y, 3 * x - 1, (x < y) & (y > 1), \
        (x < y) | (y > 1), (x < y) ^ (y > 1)


def quotients(x: float, y: float) -> Any:
    ratio = x
    ratio /= y
    return ratio, x / y, 1 / y


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, int, float])
def test_operations_on_two_numbers_of_one_type(kind: Any) -> None:
    for x, y in (3, 2), (2, 2), (-1, 5), (0, 0):
        assert compiled(operations)(kind(x), kind(y)) == operations(kind(x), kind(y))
        if kind not in (int, np.int64) and y:
            assert compiled(quotients)(kind(x), kind(y)) == quotients(kind(x), kind(y))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_operations_on_what_is_not_a_number(kind: Any) -> None:
    with np.errstate(all="ignore"):
        for x, y in (np.nan, 1), (1, np.nan), (np.nan, np.nan), (np.inf, np.inf), (-0.0, 0.0), (0, 0), (-1, 0):
            for function in operations, quotients:
                result, expected = (np.array(each(kind(x), kind(y)), float) for each in (compiled(function), function))
                np.testing.assert_array_equal(result, expected)


def doubled_copy(a: np.ndarray) -> np.ndarray:
    made = a.copy()
    for i in range(len(a)):
        made[i, 0] *= 2
    return made


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i8"])
@pytest.mark.parametrize("turned", [lambda a: a, lambda a: a[:0], lambda a: a[:, :1].copy(), lambda a: a[::2, ::-1]])
def test_copies_are_memory_of_their_own(dtype: str, turned: Callable[[np.ndarray], np.ndarray]) -> None:
    same(doubled_copy, turned(rng.integers(0, 3, (4, 5)).astype(dtype)))
