"""Functions of `math` for whole numbers that a program computes: the numbers of Python, and its errors."""

import math

import numpy as np
import pytest

from transformer import grad, jit

COMPUTED = {
    "factorial": lambda n: math.factorial(n[0]),
    "comb": lambda n: math.comb(n[0], n[1]),
    "perm": lambda n: math.perm(n[0], n[1]),
    "gcd": lambda n: math.gcd(n[0], n[1]),
    "lcm": lambda n: math.lcm(n[0], n[1]),
    "isqrt": lambda n: math.isqrt(n[0]),
}
PAIRS = [(5, 2), (0, 0), (2, 5), (-4, 6), (6, -4), (20, 20), (10**12 - 1, 1), (2**62 + 5, 0)]


def outcome(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return str(error).splitlines()[0]


@pytest.mark.parametrize("name", COMPUTED)
def test_numbers_and_errors_are_those_of_python(name: str) -> None:
    compiled = jit(COMPUTED[name])
    for pair in PAIRS if name != "factorial" else PAIRS[:6]:
        n = np.array(pair)
        assert outcome(compiled, n) == outcome(COMPUTED[name], n)


def many_ways(x, n):
    return x * math.perm(n[0], n[1])


def test_numbers_of_many_digits_are_exact_or_refused() -> None:
    n = np.array([60, 30])
    assert grad(many_ways)(2.0, n) == float(math.perm(60, 30))
    with pytest.raises(OverflowError):
        jit(many_ways)(2.0, n)


def not_whole(x, n):
    return x * math.comb(n[0], x)


def test_a_float_is_no_whole_number() -> None:
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        jit(not_whole)(2.0, np.array([3]))
