"""Straight-line arithmetic: broadcasting on both sides of every operator, and mixed dtypes."""

import math

import numpy as np
from scipy import special

from .program import Program, apart, fixed, normal, positive


def broadcast_add(scalar, row, column, block):
    mixed = np.sin(row + block) * np.cos(block + column)
    return (
        np.sum(mixed * (scalar + block)) + np.sum((row + scalar) ** 2) + np.sum((row + column) ** 3)
    )


def broadcast_subtract(scalar, row, column, block):
    mixed = np.sin(row - block) * np.cos(block - column)
    return (
        np.sum(mixed * (scalar - block)) + np.sum((row - scalar) ** 2) + np.sum((column - row) ** 3)
    )


def broadcast_multiply(scalar, row, column, block):
    mixed = np.sin(row * block) + np.cos(block * column) + scalar * block
    return np.sum(mixed**2) + np.sum(np.tanh(column * row * scalar))


def broadcast_divide(scalar, row, column, block):
    mixed = np.sin(row / block) + np.cos(block / column) + scalar / block
    return np.sum(mixed**2) + np.sum(column / row / scalar)


def broadcast_power(scalar, row, column, block):
    mixed = np.sin(row**block) + np.cos(block**column) + scalar**block
    return np.sum(mixed**2) + np.sum(row**column) + np.sum(row**scalar)


def broadcast_maximum(scalar, row, column, block):
    mixed = np.maximum(row, block) * np.maximum(block, column)
    return np.sum(np.maximum(scalar, mixed)) * scalar + np.sum(np.maximum(column, row) ** 2)


def broadcast_minimum(scalar, row, column, block):
    mixed = np.minimum(row, block) * np.fmin(block, column)
    return np.sum(np.fmax(mixed, scalar)) * scalar + np.sum(np.minimum(column, row) ** 2)


def broadcast_remainder(scalar, row, column, block):
    mixed = np.sin(row % block) + (block % column) ** 2 + scalar % block
    return np.sum(mixed) + np.sum((row % scalar) ** 2) + np.sum((column % row) * block)


def broadcast_floor_division(row, block):
    return np.sum((block // row) * row * block) + np.sum((row // block) * block**2)


def broadcast_divmod(x, y):
    quotient, remainder = np.divmod(x, y)
    return np.sum(quotient * x + remainder**2 * y)


def broadcast_arctan2(scalar, row, column, block):
    mixed = np.arctan2(row, block) * np.arctan2(block, column)
    return np.sum(mixed * np.arctan2(scalar, block)) + np.sum(np.arctan2(column, row))


def broadcast_hypot(scalar, row, column, block):
    mixed = np.hypot(row, block) * np.hypot(block, column)
    return np.sum(mixed * np.hypot(scalar, block)) + np.sum(np.hypot(column, row))


def broadcast_logaddexp(scalar, row, column, block):
    mixed = np.logaddexp(row, block) * np.logaddexp(block, column)
    return np.sum(mixed * np.logaddexp(scalar, block)) + np.sum(np.logaddexp(column, row))


def broadcast_where(scalar, row, column, block):
    chosen = np.where(block > row, row * block, column)
    return np.sum(chosen**2) + np.sum(np.where(row > 0, scalar, column) ** 3)


def broadcast_clip(low, high, row, block):
    return np.sum(np.clip(block, low, high) ** 2 * row) + np.sum(np.clip(row, None, 0.6) ** 3)


def broadcast_three_ranks(cube, block, row):
    return np.sum(np.sin(cube * block + row) / (1 + block**2 + row**2 * cube**2))


def broadcast_size_one(one, ones, block):
    """Dimensions of size one stretch and must be summed back, not dropped."""
    return (
        np.sum(np.exp(0.3 * one * block))
        + np.sum((ones - block) ** 2)
        + np.sum(one / (2 + ones**2))
    )


def broadcast_rank_zero(point, row):
    shifted = point * row + point
    return np.sum(shifted**2) / (1 + point**2) + point ** np.array([2, 3]).sum()


def broadcast_to_both(column, row):
    """Both operands stretch, neither has the result's shape."""
    return np.sum(np.tanh(column[:, None] - row[None, :]) ** 2 * (column[:, None] / (3 + row)))


def outer_by_none(a, b, c):
    return np.sum(np.cos(a[:, None, None] * b[None, :, None] + c[None, None, :]))


def augmented_broadcast(x, row, scale):
    x = x + 0
    x *= row
    x += scale
    x /= 2 + row**2
    x -= row * scale
    x **= 2
    return np.sum(x)


def negative_and_positive(x):
    return np.sum(-x * +(x**3) - (-x) ** 2 + abs(x))


def elementary_exponentials(x):
    return np.sum(np.exp(x) * np.expm1(-x) + np.exp2(0.5 * x))


def elementary_logarithms(x):
    return np.sum(np.log(x) * np.log1p(x) + np.log2(x) ** 2 + np.log10(x))


def elementary_trigonometric(x):
    return np.sum(np.sin(x) * np.cos(2 * x) + np.tan(0.4 * x))


def elementary_inverse_trigonometric(x):
    u = x / 2.5
    return np.sum(np.arcsin(u) * np.arccos(u) + np.arctan(3 * u))


def elementary_hyperbolic(x):
    return np.sum(np.sinh(x) * np.cosh(x) / 9 + np.tanh(x) ** 2)


def elementary_inverse_hyperbolic(x):
    return np.sum(np.arcsinh(x) * np.arccosh(1 + x) + np.arctanh(x / 3))


def elementary_roots(x):
    return np.sum(np.sqrt(x) * np.cbrt(x) + np.square(x) + np.reciprocal(x))


def step_functions(x):
    """Rounding has a zero derivative and must not disturb the factors beside it."""
    return np.sum(
        np.floor(x) * x + np.ceil(x) * x**2 + np.round(x) * np.trunc(2 * x) * x + np.sign(x) * x
    )


def special_functions(x):
    bell = special.erf(x) * special.erfc(0.5 * x) + special.ndtr(x)
    return np.sum(bell * special.expit(x) + special.logit(special.expit(2 * x)))


def special_gamma(x, y):
    return np.sum(special.gammaln(x) * special.digamma(y) + special.xlogy(x, y))


def special_softmax(x, v):
    return np.sum(special.softmax(x, axis=-1) * v) + special.logsumexp(x) ** 2


def select_pieces(x):
    return np.select([x < -0.5, x < 0.5], [x**2, np.sin(x)], default=1 / (1 + np.abs(x))).sum()


def nested_where(x, y):
    return np.sum(np.where(x > y, np.where(x > 0, x * y, x**3), np.where(y > 0, y**2, np.exp(y))))


def where_with_constants(x):
    return np.sum(np.where(x > 0, x**2, 1.0) + np.where(x > 0, 0, 0.5 * x))


def guarded_logarithm(x):
    """The usual double ``where``: neither branch may poison the other."""
    safe = np.where(x > 0, x, 1.0)
    return np.sum(np.where(x > 0, np.log(safe), x**2))


def masks_as_factors(x, y):
    inside = (x > 0) & (y < 0.5) | ~(x > y)
    return np.sum(inside * x * y) + np.sum((x > 0) * y**2) + np.count_nonzero(inside) * x[0]


def integer_arrays(x, k):
    return np.sum(x * k + x**k + k / (1 + x**2) + (k % 2) * x + (k & 1) * x**3 + (k >> 1) * x)


def integer_arithmetic(x, k, n):
    weights = (k * n + 3) // 2 - np.arange(len(k)) ** 2
    return np.sum(weights * np.sin(x)) + n**2 * x[n] + np.mean(k) * x[0] ** n


def integer_scalars(x, n):
    scaled = x / n + n / x + x**n
    return scaled * (n // 2) + (-n) * x + (n % 3 + 1) * math.sqrt(n) * x**2


def boolean_arithmetic(x, flags):
    return np.sum(
        x * flags + (flags + 1) * x**2 + np.where(flags, x, -x) * flags.sum() / flags.size
    )


def float32_with_python_numbers(x, y):
    """Python numbers are weak: everything here stays in float32."""
    return np.sum(2 * x * y + x / 3 - 0.5 * np.sin(x) ** 2 + 1.5)


def float32_with_float64(single, double):
    """The float32 argument gets a float32 gradient although the work is in float64."""
    return np.sum(single * double**2 + np.cos(double) / (1 + single**2))


def float32_scalars(x, rate):
    return np.sum(x * rate) ** 2 * np.float32(0.5) + rate * rate


def casts(x):
    narrow = x.astype(np.float32)
    return np.sum(narrow * 2 + (narrow**2).astype(np.float64) * x)


def float32_mean(x, k):
    return np.mean(x * x) + np.mean(k) * np.var(x)


def python_floats(x, y):
    z = x * y + math.sin(x) * math.exp(-y) + math.pow(x, 2)
    return z / (1 + abs(y)) + math.atan2(x, y) + math.hypot(x, y) - math.log1p(x * x)


def python_float_and_array(t, x):
    return float(np.sum(t * x)) * t + np.sum(x**2) / (2 + t * t) + math.tanh(t)


def numpy_scalars(x, y):
    z = np.float64(2.0) * x + np.sqrt(y) * x
    return z * np.log(y) + np.exp(x) / y


def complex_inside(x, frequency):
    signal = np.sum(x * np.exp(1j * frequency * np.arange(len(x))))
    return signal.real**2 + np.abs(signal) + np.imag(signal) * x[0]


def complex_parts(x, y):
    z = x + 1j * y
    w = z * z / (2 + np.conj(z))
    return np.sum(np.real(w) * np.imag(z)) + np.sum(np.angle(z))


def nothing_special(x):
    return x


def repeated_operand(x):
    return np.sum(x * x * x - x / (x * x + 1) + (x + x) * (x - 0.5 * x))


def shared_subexpression(x, y):
    p = np.exp(x * y)
    q = p + 1
    return np.sum(p / q) + np.sum(np.log(q)) - np.mean(q * p)


def unused_and_constant(x, y):
    """One value is never used, one does not depend on the arguments."""
    unused = np.exp(x) * y.sum()  # noqa: F841
    constant = np.linspace(0.0, 1.0, 3) + np.eye(3).sum()
    return np.sum(constant * np.sin(x)) + 0.0 * np.sum(y) + np.sum(y**2)


def constants_everywhere(x):
    return np.sum(x * np.pi + np.e) * math.tau - np.sum(np.full(3, 2.5) * x**2) + np.euler_gamma


FACES = (None, ("n",), (3, 1), (3, "n"))

PROGRAMS = [
    Program(broadcast_add, normal(*FACES), (0, 1, 2, 3)),
    Program(broadcast_subtract, normal(*FACES), (0, 1, 2, 3)),
    Program(broadcast_multiply, normal(*FACES), (0, 1, 2, 3)),
    Program(broadcast_divide, positive(*FACES), (0, 1, 2, 3)),
    Program(broadcast_power, positive(*FACES), (0, 1, 2, 3)),
    Program(broadcast_maximum, apart(*FACES), (0, 1, 2, 3)),
    Program(broadcast_minimum, apart(*FACES), (0, 1, 2, 3)),
    Program(broadcast_remainder, apart(None, (4,), (3, 1), (3, 4)), (0, 1, 2, 3)),
    Program(broadcast_floor_division, apart((4,), (3, 4)), (0, 1)),
    Program(broadcast_divmod, apart((3, 1), (4,)), (0, 1)),
    Program(broadcast_arctan2, normal(*FACES), (0, 1, 2, 3)),
    Program(broadcast_hypot, normal(*FACES), (0, 1, 2, 3)),
    Program(broadcast_logaddexp, normal(*FACES), (0, 1, 2, 3)),
    Program(broadcast_where, apart(*FACES), (0, 1, 2, 3)),
    Program(broadcast_clip, lambda rng: (-0.45, 0.9, *apart((4,), (3, 4))(rng)), (0, 1, 2, 3)),
    Program(broadcast_three_ranks, normal((2, 3, 4), (3, 1), (4,)), (0, 1, 2)),
    Program(broadcast_size_one, normal((1,), (1, 4), (3, 4)), (0, 1, 2)),
    Program(broadcast_rank_zero, positive((), (3,)), (0, 1)),
    Program(
        broadcast_rank_zero,
        lambda rng: (np.array(1.3), rng.random(3)),
        (0, 1),
        name="rank_zero_array",
    ),
    Program(broadcast_to_both, normal(("n",), (3,)), (0, 1)),
    Program(outer_by_none, normal((2,), (3,), ("n",)), (0, 1, 2)),
    Program(augmented_broadcast, normal((3, 4), (4,), None), (0, 1, 2)),
    Program(negative_and_positive, normal((4,))),
    Program(elementary_exponentials, normal(("n",))),
    Program(elementary_logarithms, positive(("n",))),
    Program(elementary_trigonometric, normal((4,))),
    Program(elementary_inverse_trigonometric, positive((4,))),
    Program(elementary_hyperbolic, normal((4,))),
    Program(elementary_inverse_hyperbolic, positive((4,))),
    Program(elementary_roots, positive((2, 3))),
    Program(step_functions, apart((5,))),
    Program(special_functions, normal((4,))),
    Program(special_gamma, positive((4,), (4,)), (0, 1)),
    Program(special_softmax, normal((3, 4), (4,)), (0, 1)),
    Program(select_pieces, apart((6,))),
    Program(nested_where, apart((6,), (6,)), (0, 1)),
    Program(where_with_constants, apart((5,))),
    Program(guarded_logarithm, apart((5,))),
    Program(masks_as_factors, apart((5,), (5,)), (0, 1)),
    Program(integer_arrays, lambda rng: (rng.random(5) + 0.5, np.arange(5))),
    Program(integer_arithmetic, lambda rng: (rng.random(5), np.array([3, 1, 4, 1, 5]), 3)),
    Program(integer_scalars, positive(None, then=(5,))),
    Program(boolean_arithmetic, lambda rng: (rng.standard_normal(5), rng.random(5) < 0.5)),
    Program(
        float32_with_python_numbers, normal((4,), (4,), dtype=np.float32), (0, 1), tags=("f32",)
    ),
    Program(
        float32_with_float64,
        lambda rng: (rng.random((3, 1)).astype(np.float32), rng.random(4)),
        (0, 1),
        tags=("f32",),
    ),
    Program(float32_scalars, normal((4,), (), dtype=np.float32), (0, 1), tags=("f32",)),
    Program(casts, normal((4,)), tags=("f32",)),
    Program(
        float32_mean,
        lambda rng: (rng.random(4).astype(np.float32), np.arange(4, dtype=np.int32)),
        tags=("f32",),
    ),
    Program(python_floats, positive(None, None), (0, 1)),
    Program(python_float_and_array, normal(None, ("n",)), (0, 1)),
    Program(numpy_scalars, positive((), ()), (0, 1)),
    Program(complex_inside, normal((4,), None), (0, 1)),
    Program(complex_parts, normal((3,), (3,)), (0, 1)),
    Program(nothing_special, fixed(1.25)),
    Program(repeated_operand, normal(("n",))),
    Program(shared_subexpression, normal((3,), (3,)), (0, 1)),
    Program(unused_and_constant, normal((3,), (2,)), (0, 1)),
    Program(constants_everywhere, normal((3,))),
]
