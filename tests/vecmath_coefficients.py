"""Where the coefficients of vector mathematics come from: best approximations, by Remez' algorithm.

`python -m tests.vecmath_coefficients` computes them and prints their errors beside those of the
coefficients that are used, which are rounded. `FITS` says of each polynomial what it approximates, where,
and in what its error is small: with `x` the variable of the polynomial, the largest
`abs(weight(x) * (function(x) - polynomial(x)))` is as small as it can be.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from mpmath import lu_solve, matrix, mp, mpf

sys.path.insert(0, str(Path(__file__).parent))

from transformer.lower.vecmath.polynomial import polynomial
from transformer.lower.vecmath.table import MODULES

Function = Callable[[Any], Any]
DIGITS = 160
TINY = mpf(2) ** -40
SIXTH, THIRD = Fraction(1, 6), Fraction(1, 3)
HALF_LOG_2 = 0.34661
QUARTER = 0.78618 ** 2                                 # of a turn: pi/4 with some room, squared
EIGHTH = 0.41463 ** 2                                  # tan(pi/8)
LOG_SQUARE = 0.02946                                   # of (m - 1) / (m + 1), m the root of 2


@dataclass
class Fit:
    """The polynomial of a function of the code: the first one in it, or some of them with their terms in turn,
    behind a `first` term that is added elsewhere. What is used may be a multiple, by `factor`."""

    code: str
    function: Function
    least: float
    largest: float
    weight: Function
    calls: tuple[int, ...] = (0,)
    factor: Any = 1
    first: tuple[float, ...] = ()

    def coefficients(self) -> list[float]:
        """As they are in the code."""
        source = next(getattr(module, self.code) for module in MODULES if hasattr(module, self.code))
        tree = ast.parse(textwrap.dedent(inspect.getsource(source)))
        found = [node.args[1:] for node in ast.walk(tree) if isinstance(node, ast.Call)
                 and isinstance(node.func, ast.Name) and node.func.id == "polynomial"]
        found.sort(key=lambda args: (args[0].lineno, args[0].col_offset))
        parts = [[ast.literal_eval(term) for term in found[k]] for k in self.calls]
        terms = [part[k] for k in range(len(parts[0])) for part in parts if k < len(part)]
        return [*self.first, *terms]

    def error(self, coefficients: list[Any]) -> Any:
        """The largest error of coefficients."""
        with mp.workprec(DIGITS):
            return max(abs(self.weight(x) * (self.function(x) - value(coefficients, x) / self.factor))
                       for x in grid(mpf(self.least), mpf(self.largest), 400))

    def best(self) -> list[Any]:
        count = len(self.coefficients())
        with mp.workprec(DIGITS):
            return [c * self.factor for c in remez(self.function, self.weight, self.least, self.largest, count)]


def value(coefficients: list[Any], x: Any) -> Any:
    return polynomial(x, *map(mpf, coefficients))


def grid(least: Any, largest: Any, count: int) -> list[Any]:
    """Points that are denser at the ends; the ends themselves, where weights may vanish, are left out."""
    return [(least + largest) / 2 - (largest - least) / 2 * mp.cos(mp.pi * (k + mpf(1) / 2) / count)
            for k in range(count)]


def remez(function: Function, weight: Function, least: float, largest: float, count: int) -> list[Any]:
    """Coefficients whose weighted error has `count + 1` equal extremes of alternating sign."""
    places = grid(mpf(least), mpf(largest), count + 1)
    points = grid(mpf(least), mpf(largest), 40 * count)
    for _ in range(12):
        coefficients, level = levelled(function, weight, places, count)
        heights = [weight(x) * (function(x) - value(coefficients, x)) for x in points]
        extremes = alternating(heights, count + 1)
        if extremes is None or max(map(abs, heights)) < abs(level) * mpf("1.02"):
            break
        places = [points[k] for k in extremes]
    return coefficients


def levelled(function: Function, weight: Function, places: list[Any], count: int) -> tuple[list[Any], Any]:
    """Coefficients with errors of one size and alternating signs at the places, and that size."""
    system, right = matrix(count + 1, count + 1), matrix(count + 1, 1)
    for row, x in enumerate(places):
        for k in range(count):
            system[row, k] = weight(x) * x ** k
        system[row, count], right[row] = (-1) ** row, weight(x) * function(x)
    solution = lu_solve(system, right)
    return [solution[k] for k in range(count)], solution[count]


def alternating(heights: list[Any], wanted: int) -> list[int] | None:
    """The highest places of alternating sign; None where there are too few."""
    found: list[int] = []
    for k, height in enumerate(heights):
        if not found or (height > 0) != (heights[found[-1]] > 0):
            found.append(k)
        elif abs(height) > abs(heights[found[-1]]):
            found[-1] = k
    while len(found) > wanted:
        found.pop(0 if abs(heights[found[0]]) < abs(heights[found[-1]]) else -1)
    return found if len(found) == wanted else None


# -- what is approximated ---------------------------------------------------------------------

def beyond_linear(r: Any) -> Any:
    """`(exp(r) - 1 - r) / r**2`."""
    return (mp.exp(r) - 1 - r) / r ** 2 if abs(r) > TINY else mpf(1) / 2 + r / 6


def of_odd(function: Function, at_zero: Fraction) -> Function:
    """`(f(x) / x - 1) / x**2` in terms of `x**2`."""
    def of_square(z: Any) -> Any:
        x = mp.sqrt(z)
        return (function(x) / x - 1) / z if z > TINY else at_zero.numerator / mpf(at_zero.denominator)
    return of_square


def of_even(function: Function, sign: int) -> Function:
    """`(f(x) - 1 - sign x**2 / 2) / x**4` in terms of `x**2`."""
    def of_square(z: Any) -> Any:
        return (function(mp.sqrt(z)) - 1 - sign * z / 2) / z ** 2 if z > TINY / 2 ** 20 else mpf(1) / 24
    return of_square


def log_ratio(s: Any) -> Any:
    return mp.log((1 + s) / (1 - s))


def beyond_two(z: Any) -> Any:
    """`(log((1 + s) / (1 - s)) / s - 2) / s**2` in terms of `s**2`."""
    return (log_ratio(mp.sqrt(z)) / mp.sqrt(z) - 2) / z if z > TINY else mpf(2) / 3 + z * 2 / 5


def beyond_three(z: Any) -> Any:
    """`(3/2 log((1 + s) / (1 - s)) / s - 3 - s**2) / s**4` in terms of `s**2`."""
    return (1.5 * log_ratio(mp.sqrt(z)) / mp.sqrt(z) - 3 - z) / z ** 2 if z > TINY else mpf(3) / 5 + z * 3 / 7


def beyond_square(f: Any) -> Any:
    """`(log(1 + f) - f + f**2 / 2) / f**3`."""
    return (mp.log1p(f) - f + f * f / 2) / f ** 3 if abs(f) > TINY else mpf(1) / 3 - f / 4


def tail_of_erf(a: Any) -> Any:
    return -mp.log(mp.erfc(a))


def weight_of_tail(a: Any) -> Any:
    return mp.erfc(a) / mp.erf(a)


def near_erf(z: Any) -> Any:
    return mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1 if z > TINY else 2 / mp.sqrt(mp.pi) * (1 - z / 3) - 1


def near_tanh(z: Any) -> Any:
    return z / (mp.tanh(mp.sqrt(z)) / mp.sqrt(z))


def complement(turn: int) -> Function:
    """`(1 + 2 a) exp(a**2) erfc(a)` in terms of `(a - turn) / (a + turn)`."""
    def of_fraction(t: Any) -> Any:
        a = turn * (1 + t) / (1 - t)
        return mp.exp(a * a) * mp.erfc(a) * (1 + 2 * a)
    return of_fraction


def relative_to(function: Function, power: int) -> Function:
    return lambda x: abs(x ** power / function(x))


def power_of(n: int) -> Function:
    return lambda z: z ** n


def exp2_of(x: Any) -> Any:
    return mpf(2) ** x


def beyond_one(r: Any) -> Any:
    return (exp2_of(r) - 1) / r if abs(r) > TINY else mp.log(2)


LOG2_E = mpf("1.44269504088896340735992468100189214")
ROOT = 1.4156
LOW_ROOT = 0.7064

FITS = [
    Fit("exp_f64", beyond_linear, -HALF_LOG_2, HALF_LOG_2, relative_to(mp.exp, 2), (0, 1)),
    Fit("exp_f32", beyond_linear, -HALF_LOG_2, HALF_LOG_2, relative_to(mp.exp, 2), (0, 1)),
    Fit("exp2_f64", beyond_one, -0.5, 0.5, relative_to(exp2_of, 1)),
    Fit("exp2_f32", beyond_one, -0.5, 0.5, relative_to(exp2_of, 1)),
    Fit("reduced_expm1_f64", beyond_linear, -HALF_LOG_2, HALF_LOG_2, relative_to(mp.expm1, 2)),
    Fit("reduced_expm1_f32", beyond_linear, -HALF_LOG_2, HALF_LOG_2, relative_to(mp.expm1, 2)),
    Fit("beyond_square_f64", beyond_two, 0, LOG_SQUARE, power_of(1)),
    Fit("beyond_square_f32", beyond_square, 0.7071 - 1, 1.4143 - 1, relative_to(mp.log1p, 3)),
    Fit("sine_f64", of_odd(mp.sin, -SIXTH), 0, QUARTER, power_of(1)),
    Fit("cosine_f64", of_even(mp.cos, -1), 0, QUARTER, power_of(2)),
    Fit("short_sine_f64", of_odd(mp.sin, -SIXTH), 0, QUARTER, power_of(1)),
    Fit("short_cosine_f64", of_even(mp.cos, -1), 0, QUARTER, power_of(2)),
    Fit("beyond_arctan_f64", of_odd(mp.atan, -THIRD), 0, EIGHTH, power_of(1)),
    Fit("arctan_f32", of_odd(mp.atan, -THIRD), 0, EIGHTH, power_of(1)),
    Fit("short_arctan2_f64", of_odd(mp.atan, -THIRD), 0, EIGHTH, power_of(1)),
    Fit("half_angle_f64", of_odd(mp.asin, SIXTH), 0, 0.25, power_of(1)),
    Fit("half_angle_f32", of_odd(mp.asin, SIXTH), 0, 0.25, power_of(1)),
    Fit("odd_and_even_f64", of_odd(mp.sinh, SIXTH), 0, HALF_LOG_2 ** 2, power_of(1)),
    Fit("odd_and_even_f64", of_even(mp.cosh, 1), 0, HALF_LOG_2 ** 2, power_of(2), (1,)),
    Fit("short_odd_and_even_f64", of_odd(mp.sinh, SIXTH), 0, HALF_LOG_2 ** 2, power_of(1)),
    Fit("short_odd_and_even_f64", of_even(mp.cosh, 1), 0, HALF_LOG_2 ** 2, power_of(2), (1,)),
    Fit("tanh_f64", of_odd(mp.tanh, -THIRD), 0, 0.5625 ** 2, near_tanh, (0, 1)),
    Fit("tanh_f32", of_odd(mp.tanh, -THIRD), 0, 0.5625 ** 2, near_tanh),
    Fit("near_erf_f64", near_erf, 0, 1, lambda z: 1 / (1 + near_erf(z))),
    Fit("erf_f64", tail_of_erf, 1, 6, weight_of_tail),
    Fit("erf_f32", near_erf, 0, 1, lambda z: 1 / (1 + near_erf(z))),
    Fit("erf_f32", tail_of_erf, 1, 4, weight_of_tail, (1,)),
    Fit("short_erfc_f64", complement(2), -1, 8.1 / 12.1, lambda t: 1 / complement(2)(t), (0, 1)),
    Fit("scaled_complement_f64", complement(4), -1, 23.3 / 31.3, lambda t: 1 / complement(4)(t), (1, 0),
        first=(1.2329951186255526,)),
    Fit("log2_of_f64", beyond_three, 0, LOG_SQUARE, lambda z: z ** 2 / 3, (0, 1)),
    Fit("short_log2_f64", beyond_two, 0, LOG_SQUARE, lambda z: z / 2, factor=LOG2_E),
    Fit("short_exp2_f64", beyond_one, -0.5, 0.5, relative_to(exp2_of, 1)),
    Fit("inverse_cbrt_f64", lambda m: 1 / mp.cbrt(m), LOW_ROOT, ROOT, mp.cbrt),
]


def main() -> None:
    for fit in FITS:
        used, best = fit.coefficients(), fit.best()
        sizes = [mp.nstr(mp.log(fit.error(each), 2), 4) for each in (best, used)]
        print(f"{fit.code}: error 2**{sizes[0]}, rounded as in the code 2**{sizes[1]}")
        print(textwrap.indent(textwrap.fill(", ".join(mp.nstr(c, 20) for c in best), 100), "    "))


if __name__ == "__main__":
    main()
