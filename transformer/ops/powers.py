"""Powers: the operator, and what `math` and NumPy have of it."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.grammar import Const, If, raising
from ..core.types import INT
from . import scalars, scalars_of_complex
from .arguments import not_known
from .arithmetic import Negative, converted
from .comparison import Less
from .elementwise import Elementwise, constant, is_python_number, number_of, where
from .float_signs import is_not_negative
from .integers import affine
from .slices import is_negative
from .value import Value, apply, is_python, value

FLOAT64 = np.dtype(float)


def _power_in_base(t, x, p, y):
    n = constant(p)
    if n is None:
        if number_of(p):
            return t * p * x ** (p - 1)
        # where p and x are 0, p * x ** (p - 1) would be nan; elsewhere nothing may be replaced, since
        # the next order differentiates this
        at_zero = p == 0 if getattr(p, "dtype", FLOAT64).kind in "iu" else (p == 0) & (x == 0)
        return t * p * x ** where(at_zero, 1, p - 1)
    if n == 0:
        return None
    if n in (1, 2):
        return t if n == 1 else 2 * t * x
    if n == -1:
        return -t * x ** -2
    is_whole = type(n) is float and n.is_integer() and getattr(x, "dtype", FLOAT64).kind == "f"
    return n * t * x ** ((int(n) if is_whole else n) - 1)


def _power_in_exponent(t, x, p, y):
    base = constant(x)
    if isinstance(base, (int, float, np.floating)) and base > 0:
        return t * y * _log_of_constant(base, t)
    # 0 ** p is flat in p > 0
    return t * y * np.log(where(x == 0, 1, x))


def _log_of_constant(base, t):
    number = math.log(base)
    return Value(Const(number, name=f"math.log({base})")) if isinstance(t, Value) else number


def _gives_float(p: Value) -> bool:
    """Whether Python makes a float of an int to this integer power: it is negative, or is so at times. Where
    its sign is open a float is as good, unless an integer is needed; then the program tests the sign."""
    builder = current()
    stmt = builder.numbering.definitions.get(p.atom)                     # type: ignore[arg-type]
    if stmt is not None and stmt.op.name in ("negative", "absolute", "count_nonzero"):
        return stmt.op is Negative
    exponent = affine(p)
    negative = is_negative(exponent)
    if negative is not None or builder.assumptions.lower_bound(exponent) is not None:
        return negative is not False
    if builder.reader is None or builder.origin in builder.whole_powers:
        _test_sign(p)
        return False
    builder.float_powers.append(builder.origin)
    return True


def _test_sign(p: Value) -> None:
    origin = current().origin
    negative = apply(Less, (p, 0), {})
    current().emit(If(negative.atom, [raising(ValueError, NEGATIVE_POWER, origin)], [], [], origin))


NEGATIVE_POWER = "an int to a negative power is a float, which cannot be used here: write float(base) ** exponent"


def _exponent_of_truth(p: Value) -> Any:
    exponent = p.atom.value if isinstance(p.atom, Const) else p.known
    if exponent is None and current().reader is not None:
        raise not_known(p, "the exponent of an array of truth values must be known when the function is transformed",
                        "the dtype of the result depends on it, which is int8 for 2, and int64 for others",
                        "Convert the array first: x.astype(int).")
    return exponent


MOST_FACTORS = 12                      # a power of n factors is off by less than n units of its last place


def _is_of_few_factors(n):
    """Whether a power is a product, or that and a root."""
    most = MOST_FACTORS if isinstance(n, int | float) and n % 1 == 0 else 2.5
    return isinstance(n, int | float) and abs(n) <= most and n % 0.5 == 0 and n not in (0, 1)


def _by_products(x, n):
    """A power with a whole or half exponent of few factors; of -inf, if it may be that, what C has for it."""
    positive = abs(n)
    result = _product(x, int(positive)) if positive >= 1 else None
    if positive % 1:
        root = np.sqrt(x)
        result = root if result is None else result * root
    result = 1.0 / result if n < 0 else result
    if positive % 1 and not is_not_negative(x.atom):
        result = where(x == -np.inf, np.inf if n > 0 else 0.0, result)
    return result


def _product(x, n):
    """`x ** n` for a whole n above 0, by squares: `x ** 6` is that of `x * x * x`."""
    if n <= 3:
        return x if n == 1 else x * x if n == 2 else x * x * x
    half = _product(x, n // 2)
    return half * half * x if n % 2 else half * half


class Power(Elementwise):
    calls = np.power, operator.pow, pow, math.pow
    symbol = "**"
    loop = {"c": scalars_of_complex.power_of_complex, "i": scalars.power_of_integers, "u": scalars.power_of_unsigned}
    where = "positive", "real"
    partials = _power_in_base, _power_in_exponent

    def by_operator(x, p):
        """To numba, a power beyond some 65000 is one of floating-point numbers."""
        n = constant(p)
        return n is not None and 0 <= n <= 1000 or is_python_number(x) and is_python_number(p)

    def is_total(x, p):
        n = constant(p)
        return isinstance(n, int) and n > 0

    def simpler(x, p):
        """By products for small powers that are Python numbers, by a root or a quotient."""
        n = constant(p) if is_python_number(p) else None
        if n in (2, 3) and x.dtype.kind in "fc":
            return _product(x, int(n))
        if n in (0.5, -1) and x.dtype.kind == "f":
            return np.sqrt(x) if n == 0.5 else 1.0 / x
        if x.dtype.kind == "f" and _is_of_few_factors(n):
            return _by_products(x, n)
        return None

    def front(args, kwargs, spelling):
        """Python makes a float of an int to a negative power; NumPy squares an array for `x ** 2`, and squares of truth
        values are narrower than powers."""
        if len(args) == 2 and is_python(spelling) and not kwargs:
            x, p = map(value, args)
            n = constant(p)
            if x.ndim and x.dtype.kind == "b" and p.type == INT and _exponent_of_truth(p) == 2:
                return np.square(x)
            if x.type == INT and p.type == INT and (_gives_float(p) if n is None else n < 0):
                return apply(Power, (converted(x, float, "float"), p), {}, spelling)
        return None


class FloatPower(Elementwise):
    """The power in at least double precision."""

    name = "float_power"
    calls = (np.float_power,)
    loop = {"c": scalars_of_complex.power_of_complex, "biuf": operator.pow}
    where = "positive", "real"
    partials = _power_in_base, _power_in_exponent
