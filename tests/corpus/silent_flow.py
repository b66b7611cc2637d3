"""Where other systems return a wrong number without a word: loops, returns and smooth zeros."""

import math

import numpy as np
from scipy.special import xlogy

from .program import Program, apart, fixed, normal, positive

# What a loop accumulates, and what is around the loop.


def product_dynamic(x, n):
    p = x[0]
    for i in range(1, n):
        p *= x[i] + 0.5
    return p * x[0]


def product_of_arrays(x, n):
    p = np.ones_like(x)
    for i in range(n):
        p = p * (x + i) * x[i]
    return np.sum(p)


def defined_before(x, n):
    a = math.sin(x)
    b = x * x
    for _ in range(n):
        b = b * x
    return a * b + a**2


def nested_dynamic(x, n, m):
    total = x
    for i in range(n):
        for j in range(m):
            total = total + math.sin(total * x) * (i + 1) / (j + 1)
        total = total * x
    return total


def nested_with_inner_state(x, n, m):
    total = 0.0
    for i in range(n):
        p = x + i
        for _ in range(m):
            p = p * p * 0.5
        total += p * x
    return total**2


def continue_argmax(m):
    total = 1.0
    for i in range(m.shape[0]):
        best = m[i].argmax()
        if best == m[i].argmin() + 1:
            continue
        total = total * m[i, best]
    return total


def logarithm_of_accumulator(x, n):
    total = 1.0
    for i in range(n):
        total = total + x[i] ** 2 * total
    return math.log(total) ** 2 + math.sqrt(total)


def while_with_parameter(a, x):
    k = 0
    while x < 10 and k < 20:
        x = x * a + math.sin(a * x) + 1
        k += 1
    return x**2 * a


def while_condition_on_parameter(a):
    x = 1.0
    while x * a < 5:
        x = x * (1 + a)
    return x * math.log(x)


def zero_trip_for(x, n):
    y = math.sin(x)
    z = 2.0
    for i in range(n):
        y = y * x
        z = y * i
    return y * z


def zero_trip_while(x):
    y = x
    while y > 100:
        y = y / x
    return y**2 * x


def zero_trip_array(x, extra):
    total = np.sum(x**2)
    for value in extra:
        total = total * value
    return total + np.sum(extra) + x[0]


def zero_trip_overwriting(x):
    y = np.ones_like(x)
    for i in range(len(x)):
        for k in range(i):
            y[i] = x[i] * x[k]
    return np.sum(y * x)


def loop_variable_after(x, n):
    y = x
    for i in range(n):
        y = y * x + i
    return y * (i + 1) + x**i


def loop_variable_rebound(x):
    """The body may change its variable; the next round starts from the range again."""
    y = x
    for i in range(4):
        y = y + x**i
        i = i * 2 + 1
        y = y * 0.5 * i
    return y + i * x


# Integers among the arguments.


def integer_inputs(x, k, n):
    return np.sum(x * k) ** 2 / n + np.sum(x**k) + np.mean(k) * x[n] + np.sum(k // 2 * x)


def integer_and_loop(x, n):
    y = x / n
    while n > 0:
        y = y * n + x / n
        n -= 1
    return y


def integer_accumulator(x, flags):
    count = 0
    total = 0.0
    for value, flag in zip(x, flags):
        count += flag
        total += value * count
    return total**2 / count


# Outputs that rules like to reuse, overwritten in the next round.


def exp_in_loop(x, n):
    for i in range(n):
        y = math.exp(0.3 * x)
        x = y - 1 / y + i
    return x


def tanh_in_loop(x, w):
    for _ in range(3):
        x = np.tanh(x * w)
        x = x * x
    return np.sum(x)


def sqrt_in_loop(x, n):
    for _ in range(n):
        x = np.sqrt(x)
        x = x / (1 + x)
    return x


def division_in_loop(x, y):
    for _ in range(3):
        x = x / y
        y = x / (2 + y * y)
    return x * y


# Early returns and repeated conditions.


def after_early_return(x, bound):
    total = 0.0
    for value in x:
        total += value
        if total > bound:
            return total * value
    total = total * x[0] + 1
    for value in x:
        total = total * value
    return total


def after_early_return_nested(m):
    for row in m:
        s = np.sum(row)
        for value in row:
            s = s * value
            if s > 2:
                return s**2
        if s < -1:
            break
    s = s + m[0, 0]
    return s * m[-1, -1]


def two_conditions(x, y):
    if x > y:
        z = x**2 * y
    else:
        z = y**2 * x
    w = z * x
    if x > y:
        w = w * z
    return w


def two_conditions_in_loop(x, y):
    for k in range(3):
        if x > 0.5:
            y = y * x
        x = x * 0.7 + 0.1 * y
        if x > 0.5:
            y = y + x**2 * k
    return x * y


def condition_changes_between(x, y):
    if x > 0:
        x = x * y
    if x > 0:
        y = y * x**2
    return x * y


def helper(a, b):
    return a * a * b


def two_calls(x, y):
    return helper(x, y) * helper(y, x) + helper(helper(x, y), helper(y, 2.0))


def written_in_two_calls(x):
    def bump(v, i):
        v[i] += v[0] * v[1]
        return v[i]

    y = x.copy()
    return bump(y, 0) * bump(y, 1) + bump(y, 0)


# Points where a rule may divide by zero although the function is smooth.


def power_at_zero(x):
    return np.sum(x**2 + x**3 - x**1 + 2.0 * x**0) + np.sum(x**2.0)


def power_of_array_at_zero(x, y):
    return np.sum(x**y * np.arange(1, 4))


def absolute_cubed_at_zero(x):
    return np.sum(np.abs(x) ** 3)


def signed_square_at_zero(x):
    return np.sum(x * np.abs(x) + 3 * x)


def ties_that_cancel(x, y):
    return np.sum(np.maximum(x, y) + np.minimum(x, y)) + np.max(x) + np.min(x)


def pair_of_equals(x):
    return 3 * np.max(x) + 3 * np.min(x) + np.prod(x)


def softmax_with_ties(x, y):
    shifted = x - np.max(x)
    return np.log(np.sum(np.exp(shifted) * y)) + np.max(x)


def square_root_of_shifted_square(x, y):
    return np.sum(np.sqrt(x**2 + y**2)) + np.sum(np.hypot(x, y))


def products_at_zero(x):
    return np.prod(x) * x[1] + np.sum(np.cumprod(x)) + np.prod(x[1:])


def logarithm_product_at_zero(x, y):
    return np.sum(xlogy(x, y)) + np.sum(x * np.log(y))


def variance_of_constants(x):
    return np.var(x) * x[0] + np.sum((x - np.mean(x)) ** 2) + x[1] ** 2


ZEROS = np.array([0.0, 1.5, 0.0])
HEIGHTS = np.array([0.4, 0.9, 0.6, 1.1])

PROGRAMS = [
    Program(product_dynamic, normal((4,), then=(4,))),
    Program(product_of_arrays, normal((3,), then=(2,))),
    Program(defined_before, normal(None, then=(3,))),
    Program(nested_dynamic, normal(None, then=(3, 2))),
    Program(nested_with_inner_state, normal(None, then=(3, 2))),
    Program(continue_argmax, apart((4, 3))),
    Program(logarithm_of_accumulator, normal((4,), then=(4,))),
    Program(while_with_parameter, fixed(1.4, 0.3), (0, 1)),
    Program(while_condition_on_parameter, fixed(0.7)),
    Program(zero_trip_for, normal(None, then=(0,))),
    Program(zero_trip_for, normal(None, then=(2,)), name="zero_trip_for_not"),
    Program(zero_trip_while, normal(None)),
    Program(zero_trip_array, normal((3,), (0,))),
    Program(zero_trip_array, normal((3,), (2,)), (0, 1), name="zero_trip_array_not"),
    Program(zero_trip_overwriting, normal((6,))),
    Program(loop_variable_after, normal(None, then=(3,))),
    Program(loop_variable_rebound, normal(None)),
    Program(integer_inputs, lambda rng: (rng.random(4) + 0.5, np.array([3, 0, 1, 2]), 2)),
    Program(integer_and_loop, normal(None, then=(4,))),
    Program(integer_accumulator, normal((4,), then=(np.array([True, False, True, True]),))),
    Program(exp_in_loop, normal(None, then=(3,))),
    Program(tanh_in_loop, normal((3,), (3,)), (0, 1)),
    Program(sqrt_in_loop, positive(None, then=(3,))),
    Program(division_in_loop, normal(None, None), (0, 1)),
    Program(after_early_return, fixed(HEIGHTS, 1.5), (0,)),
    Program(after_early_return, fixed(HEIGHTS, 9.0), (0,), name="after_early_return_not"),
    Program(after_early_return_nested, fixed(np.outer(HEIGHTS, [1.4, -0.8, 2.0]))),
    Program(two_conditions, fixed(0.8, 0.3), (0, 1)),
    Program(two_conditions, fixed(0.3, 0.8), (0, 1), name="two_conditions_false"),
    Program(two_conditions_in_loop, fixed(0.8, 0.3), (0, 1)),
    Program(condition_changes_between, fixed(0.8, -0.3), (0, 1)),
    Program(two_calls, normal(None, None), (0, 1)),
    Program(written_in_two_calls, normal((3,))),
    Program(power_at_zero, fixed(ZEROS)),
    Program(power_of_array_at_zero, fixed(ZEROS, np.array([2.0, 3.0, 1.0]))),
    Program(absolute_cubed_at_zero, fixed(ZEROS)),
    Program(signed_square_at_zero, fixed(ZEROS), order=1),
    Program(ties_that_cancel, fixed(np.array([1.0, 2.0]), np.array([1.0, 2.0])), (0, 1)),
    Program(pair_of_equals, fixed(np.array([1.5, 1.5]))),
    Program(softmax_with_ties, fixed(np.array([2.0, 1.0, 2.0]), HEIGHTS[:3]), (0, 1)),
    Program(square_root_of_shifted_square, fixed(ZEROS, HEIGHTS[:3]), (0, 1)),
    Program(products_at_zero, fixed(np.array([2.0, 0.0, -1.5, 0.0]))),
    Program(logarithm_product_at_zero, fixed(ZEROS, HEIGHTS[:3]), (0, 1)),
    Program(variance_of_constants, fixed(np.full(3, 0.7))),
]
