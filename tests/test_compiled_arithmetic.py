"""Numbers of Python and integers of NumPy in compiled code: they overflow and raise where theirs do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from bounds import Raised, agree, outcome
from loop_cases import plain
from lowered import as_loops, assert_same, called, generated, source_of

from transformer import grad, jit, tree
from transformer.lower.lowering import lower

pytestmark = pytest.mark.filterwarnings("ignore")


# -- numbers of Python --------------------------------------------------------------------------------

OPERATORS = {
    "/": lambda a, b: a / b, "//": lambda a, b: a // b, "%": lambda a, b: a % b, "**": lambda a, b: a ** b,
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b, "negative": lambda a, b: -a, "abs": lambda a, b: abs(a),
}
FUNCTIONS = {
    "int": lambda a, b: int(a), "floor": lambda a, b: math.floor(a), "ceil": lambda a, b: math.ceil(a),
    "round": lambda a, b: round(a), "sqrt": lambda a, b: math.sqrt(a), "log": lambda a, b: math.log(a),
    "exp": lambda a, b: math.exp(a), "sin": lambda a, b: math.sin(a), "asin": lambda a, b: math.asin(a),
    "acosh": lambda a, b: math.acosh(a), "atanh": lambda a, b: math.atanh(a), "cosh": lambda a, b: math.cosh(a),
    "gamma": lambda a, b: math.gamma(a), "lgamma": lambda a, b: math.lgamma(a), "pow": lambda a, b: math.pow(a, b),
    "fmod": lambda a, b: math.fmod(a, b), "log1p": lambda a, b: math.log1p(a),
    "max": lambda a, b: max(a, b, 0.5), "min": lambda a, b: min(a, b, 1.5),
}
LARGE = 2 ** 62
FLOATS = [(1.0, 0.0), (0.0, -1.0), (10.0, 400.0), (math.nan, 1.0), (math.inf, 2.0), (1e300, 1e300), (-1.0, 1.0),
          (2.0, 3.0), (1000.0, 1.0), (-2.0, 0.0), (0.0, 0.0), (1.0, math.nan)]
INTEGERS = [(1, 0), (0, 3), (10, 30), (3, 5), (LARGE, LARGE), (-2 * LARGE, -1), (3, -1), (1, 70), (3, 62), (-7, 2)]


def check_numbers(function: Any, calls: list[tuple[Any, Any]]) -> None:
    """The same for every call; of integers that do not fit, Python has the number, compiled code an error."""
    kernels: dict[Any, Any] = {}
    for arguments in calls:
        want = outcome(lambda: function(*arguments))
        if isinstance(want, complex):
            continue
        kind = tuple(map(type, arguments))
        if function is OPERATORS["**"] or kind not in kernels:
            try:
                made = generated(function, function, arguments)
                kernels[kind] = made, plain(lower(made.function, made.reading.assumptions))
            except Exception as error:
                assert isinstance(want, Raised) and isinstance(error, want.type), (arguments, error)
                continue
        made, kernel = kernels[kind]
        got = outcome(lambda: called(made, kernel, function, arguments))
        if isinstance(want, int) and not -2 ** 63 <= want < 2 ** 63:
            assert isinstance(got, Raised) and got.type is OverflowError, (arguments, got)
        else:
            assert agree(got, want), (arguments, got, want)


def sum_of_integers(x):
    total = 0
    for value in x:
        total += int(value)
    return total


def test_one_test_tells_that_a_number_becomes_an_integer() -> None:
    """Which of its errors Python would raise is asked behind that."""
    assert_same(sum_of_integers, np.array([2.5, 3.5, -2.0 ** 63, -0.5]))
    for wrong in (math.nan, -math.inf):
        assert_same(sum_of_integers, np.array([1.0, wrong]))
    for large in (2.0 ** 63, -1e300):
        with pytest.raises(OverflowError, match="too large to convert"):
            as_loops(sum_of_integers, sum_of_integers, (np.array([1.0, large]),))
    text = source_of(sum_of_integers, sum_of_integers, (np.ones(3),))
    assert text.index("if not abs(x_i) < 9.223372036854776e+18:") < text.index("if x_i != x_i:"), text


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_of_python(name: str) -> None:
    integers = [pair for pair in INTEGERS if name not in ("<<", "**") or pair[1] < 100]
    check_numbers(OPERATORS[name], integers if name in ("<<", ">>") else [*integers, *FLOATS])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_python(name: str) -> None:
    integers = [] if name in ("int", "floor", "ceil", "round") else INTEGERS[:4]
    check_numbers(FUNCTIONS[name], [*integers, *FLOATS])


@pytest.mark.parametrize("name", ["/", "//", "%", "+", "*"])
def test_numbers_of_numpy_do_not_raise(name: str) -> None:
    pairs = [(1.0, 0.0), (np.inf, 2.0), (-1.0, 1.0)]
    calls = [*((np.float64(a), np.float64(b)) for a, b in pairs),
             *((np.int64(a), np.int64(b)) for a, b in ((1, 0), (LARGE, LARGE), (3, -1)))]
    with np.errstate(all="ignore"):
        check_numbers(OPERATORS[name], calls)


def counted(n):
    steps = 0
    while n > 1:
        n = n / 2
        for _ in range(3):
            steps += 1
    return steps


def remainders(n):
    state = n
    for _ in range(20):
        state = (1103515245 * state + 12345) % 2 ** 31
    return state


def factorial(n):
    product = 1
    for k in range(1, n):
        product = product * k
    return product


def test_counters_need_no_test() -> None:
    assert "Overflow" not in source_of(counted, counted, (100.0,))
    assert "Overflow" in source_of(factorial, factorial, (5,))
    for n in (5, 20, 21, 22, 30):
        check_numbers(lambda n, _: factorial(n), [(n, 0)])
    assert as_loops(remainders, remainders, (7,)) == remainders(7)


def product(a, b):
    return a * b


def test_compiled_integers_that_do_not_fit() -> None:
    compiled = jit(product)
    assert compiled(2 ** 31, -2 ** 31) == -2 ** 62
    for numbers in ((2 ** 32, 2 ** 31), (-2 ** 63, -1), (3037000500, 3037000500)):
        with pytest.raises(OverflowError):
            compiled(*numbers)
    assert compiled(3037000499, 3037000499) == 3037000499 ** 2
    assert compiled(-2 ** 63, 1) == -2 ** 63


# -- integers of NumPy ------------------------------------------------------------------------------

WIDE = np.array([2 ** 64 - 1, 2 ** 63, 2 ** 63 - 1, 2 ** 62 + 1, 5, 0], dtype=np.uint64)


def shifts(x, k):
    return x << k, x >> k, x << x, x >> x, x >> 7, x[0] >> k, x[1] << np.uint64(3)


def xor_shift(seed, n):
    out = np.zeros(n, dtype=np.uint64)
    for i in range(n):
        seed ^= seed << np.uint64(13)
        seed ^= seed >> np.uint64(7)
        seed ^= seed << np.uint64(17)
        out[i] = seed
    return out


def comparisons(x, k):
    return x < k, x <= k, x > k, x >= k, x == k, x != k, k < x, k >= x, k == x, x[0] > k


def with_constants(x):
    count = 0
    for v in x:
        count += 1 if v < 300 and v > -5 and v != 300 else 0
    return x < 300, x > -1, x == 300, -1 < x, count, np.clip(x, -5, 300)


def added(x, k):
    return x + k


def set_to(x, k):
    y = x.copy()
    y[1:] = k
    return y


def filled_with(x, k):
    return np.full(3, k, dtype=x.dtype)


def array_of(x, k):
    return np.array([k, 1], dtype=x.dtype)


def in_loops(x, k):
    y = x.copy()
    for i in range(len(x)):
        y[i] = k + i
    return y


def converted_to(x, k):
    return x * np.uint8(k)


def with_constant_beyond(x, k):
    return x + 300 if k > 100 else x - 1


def same_as_numpy(compiled: Any, *arguments: Any) -> None:
    got, want = outcome(lambda: compiled(*arguments)), outcome(lambda: compiled.__wrapped__(*arguments))
    assert isinstance(got, Raised) == isinstance(want, Raised), (arguments, got, want)
    if isinstance(want, Raised):
        assert got.type is want.type, (arguments, got, want)
        return
    for one, other in zip(tree.leaves(got), tree.leaves(want), strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_array_equal(one, other)


def test_compiled_shifts_of_64_bits() -> None:
    compiled = jit(shifts)
    for k in (0, 3, 63, 64):
        same_as_numpy(compiled, WIDE, np.uint64(k))
    same_as_numpy(jit(lambda x, k: (x >> k, x << k)), WIDE.view(np.int64), np.int64(64))
    same_as_numpy(jit(xor_shift), np.uint64(88172645463325252), 6)


def sum_of_a_list(x, k):
    items = [0] * 3
    for i in range(3):
        items[i] = k + i
    return x * sum(items) + x * math.prod(items[1:])


def test_sums_of_integers_in_lists_do_not_wrap_around() -> None:
    compiled, slope = jit(sum_of_a_list), grad(sum_of_a_list)
    assert compiled(1.5, 7) == sum_of_a_list(1.5, 7)
    for k in (7, 2 ** 62):
        assert slope(1.5, k) == float(sum_of_a_list(1, k))
    for k in (2 ** 62, 2 ** 32):
        with pytest.raises(OverflowError):
            compiled(1.5, k)


def test_compiled_comparisons_are_by_value() -> None:
    compiled = jit(comparisons)
    for k in (-1, 0, 300, 2 ** 62, 2 ** 63 - 1):
        same_as_numpy(compiled, WIDE, k)
        same_as_numpy(compiled, WIDE, np.int64(k))
        same_as_numpy(compiled, np.array([200, 44, 255], dtype=np.uint8), k)
    same_as_numpy(compiled, np.array([2 ** 63 - 1, -1]), np.uint64(2 ** 63))
    same_as_numpy(jit(with_constants), np.array([200, 44, 255], dtype=np.uint8))


@pytest.mark.parametrize("function", [added, set_to, filled_with, array_of, in_loops, converted_to,
                                      with_constant_beyond])
def test_compiled_python_integers_have_to_fit(function: Any) -> None:
    compiled = jit(function)
    for k in (7, 250, 253, 255, 256, -1):
        same_as_numpy(compiled, np.array([200, 3, 5, 7], dtype=np.uint8), k)


def test_compiled_negative_powers_of_integers() -> None:
    compiled = jit(OPERATORS["**"])
    x = np.array([2, 3])
    for one, power in ((x, 2), (x, -1), (x[:0], -1), (x, np.array([1, 2])), (x, np.array([1, -2])),
                       (np.int64(2), -1), (2, np.int64(-1)), (np.int64(3), np.int64(4))):
        same_as_numpy(compiled, one, power)


def test_compiled_integers_of_numpy_as_pythons() -> None:
    compiled = jit(lambda x: (round(x), int(x), x > 3))
    for number in (np.int64(2 ** 63 - 1), np.int64(-2 ** 62 - 1), np.uint64(2 ** 63 - 1), np.uint8(200)):
        same_as_numpy(compiled, number)
    with pytest.raises(OverflowError, match="too large"):
        compiled(np.uint64(2 ** 63))


def sum_of_two(x, y):
    return x + y


def sum_of_two_that_are_not_negative(x, y):
    if x < 0 or y < 0:
        return 0
    return x + y


def difference(x, y):
    return x - y


def next_one(x, y):
    return x + 1


def one_before(x, y):
    return x - 1


def sum_and_number(x, y):
    return x + y + 1 - (-3)


@pytest.mark.parametrize("function", [
    sum_of_two, sum_of_two_that_are_not_negative, difference, next_one, one_before, sum_and_number])
def test_machine_code_tells_sums_that_do_not_fit(function: Any) -> None:
    """LLVM takes it that sums of numba's integers stay in range, so what tests the result is left out."""
    compiled, most = jit(function), 2 ** 63 - 1
    numbers = (0, -1, 5, most, -most - 1, 2 ** 62, -2 ** 62)
    for x in numbers:
        for y in numbers:
            want, got = function(x, y), outcome(lambda: compiled(x, y))
            if -most - 1 <= want <= most and function is not sum_and_number:
                assert got == want, (x, y)
            else:
                assert got == want or isinstance(got, Raised) and got.type is OverflowError, (x, y)


def least_subtracted(x):
    return x - np.int64(-2 ** 63)


def test_the_least_integer_is_one() -> None:
    x = np.array([-5, -1])
    np.testing.assert_array_equal(jit(least_subtracted)(x), least_subtracted(x), strict=True)


# -- where numba has other numbers than NumPy ---------------------------------------------------------

@pytest.mark.parametrize("dtype", ["u4", "i8", "u8"])
def test_powers_of_integers_wrap_around(dtype: str) -> None:
    most = np.iinfo(dtype).max
    x = np.array([0, 3, 31, 100, most, most - 2], dtype)

    def powers(x):
        return 3 ** x, x ** x, x[1] ** x[4], x ** 100001, (x ** x) // 3

    assert all(map(np.array_equal, jit(powers)(x), powers(x)))


def test_complex_functions_where_their_parts_are_large_or_small() -> None:
    z = np.array([400 + 1j, -800 - 2j, 1e-9 + 1e-9j, complex(-1, -0.0), complex(-2, 0.0), 0.3 - 2j])
    compiled = jit(lambda z: (np.tanh(z), np.expm1(z), np.arccosh(z)))(z)
    for got, want in zip(compiled, (np.tanh(z), np.expm1(z), np.arccosh(z)), strict=True):
        assert np.allclose(got.real, want.real, 1e-13, 0) and np.allclose(got.imag, want.imag, 1e-13, 0)
