"""Gradients at kinks, where they are a convention; each is written down here.

Ties of max, min and clip share equally; the derivatives of abs, norm and std are 0 at 0; a branch
or an index is followed as it was taken; where the derivative is infinite it is inf.
"""

import math

import numpy as np

from .program import Program, fixed


def absolute_at_zero(x):
    return np.sum(np.abs(x) * np.array([5.0, 2.0, 3.0]))


def absolute_of_float_at_zero(x):
    return abs(x) + 2 * x


def absolute_by_math_at_zero(x):
    return math.fabs(x) * 3.0


def interp_at_a_step(x, y):
    """The last two samples are at one place: there and behind, the last one counts."""
    return np.sum(np.interp(x, np.array([0.0, 1.0, 1.0]), y) * np.array([1.0, 2.0, 4.0]))


def sign_at_zero(x):
    return np.sum(np.sign(x) * x) + np.sum(np.sign(x))


def one_norm_at_zero(x):
    return np.linalg.norm(x, 1)


def maximum_of_equals(x, y):
    return np.sum(np.maximum(x, y) * np.array([2.0, 4.0]))


def minimum_of_equals(x, y):
    return np.sum(np.minimum(x, y) * np.array([2.0, 4.0]))


def fmax_of_equals(x, y):
    return np.fmax(x, y) + 10 * np.fmin(x, y)


def relu_at_zero(x):
    return np.sum(np.maximum(x, 0) * 4.0)


def maximum_broadcast_tie(x, row):
    return np.sum(np.maximum(x, row))


def max_of_two_equals(x):
    return np.max(x) * 4.0


def max_of_three_equals(x):
    return np.max(x) * 6.0


def min_along_axis_with_ties(m):
    return np.sum(np.min(m, axis=1) * np.array([2.0, 4.0]))


def clip_at_the_border(x):
    return np.sum(np.clip(x, -1.0, 1.0) * 2.0)


def clip_bounds_at_the_border(x, low, high):
    return np.sum(np.clip(x, low, high) * np.array([2.0, 4.0, 8.0]))


def norm_at_zero(x):
    return np.linalg.norm(x)


def norm_of_zero_row(m):
    return np.sum(np.linalg.norm(m, axis=1))


def std_of_constants(x):
    return np.std(x) + np.sum(x)


def std_of_constant_column(m):
    return np.sum(np.std(m, axis=0))


def square_root_at_zero(x):
    return np.sum(np.sqrt(x))


def power_half_at_zero(x):
    return np.sum(x**0.5)


def power_one_at_zero(x, y):
    return x**y


def power_zero_at_zero(x, y):
    return 3.0 * x**y


def power_of_arrays_at_zero(x, y):
    return np.sum(x**y)


def sum_of_what_is_impossible(x):
    return np.sum(np.logaddexp(x, x - np.inf))


def index_of_the_first_maximum(x):
    return x[np.argmax(x)] ** 2


def where_of_equals(x, y):
    return np.where(x >= y, x, y) * 3.0


def branch_at_the_border(x):
    if x > 0:
        y = 5 * x
    else:
        y = -2 * x
    return y


def rounding_at_integers(x):
    return np.sum(np.floor(x) + np.round(x) * x)


def comparison_at_the_border(x):
    return np.sum((x >= 1) * x * 2.0)


def clip_of_crossed_bounds(x):
    """The upper bound is the lower one here, and counts."""
    return np.sum(np.clip(x, 2.0, x[0]))


# What the path taken does not look at has no part in its derivative, where that of its computation is infinite.
def unit_vector_or_itself(x):
    r = np.sqrt(np.sum(x * x))
    y = x / r if r > 0 else 3 * x
    return np.sum(y * np.arange(1.0, 4.0))


def returned_before_the_logarithm(x):
    r = np.sqrt(x)
    if r == 0:
        return x
    return x * np.log(r)


def roots_and_logarithms_where_they_are(x):
    s = 0.0
    for i in range(len(x)):
        r = np.sqrt(x[i])
        value = np.log(x[i])
        if r > 0:
            s += r * 2 + value
        else:
            s += x[i]
    return s


def caught_before_the_reciprocal(x):
    y = 0.0
    try:
        for v in x:
            y += 1.0 / math.sqrt(v)
    except ZeroDivisionError:
        y *= 2
    return y


def sinc_by_hand(x):
    return np.sum(np.where(np.abs(x) > 1e-8, np.sin(x) / x, 1 - x * x / 6) * 6.0)


def choices_with_one_logarithm(x):
    entropy = np.where(x > 0, x * np.log(x), 0.0)
    return np.sum(entropy) + np.sum(np.where(x > 0, np.log(x) ** 2, 3 * x))


def sum_of_choices_by_one_condition(x):
    return np.sum(np.where(x > 0, np.log(x), -x) + np.where(x > 0, np.sqrt(x), 0.0))


def unit_rows_or_zeros(x):
    """A choice for whole rows: the length of a row is a sum over it."""
    length = np.linalg.norm(x, axis=1, keepdims=True)
    return np.sum(np.where(length > 0, x / length, 0.0) * np.array([3.0, 1.0]))


def choice_of_scaled_logarithms(x, a):
    return np.sum(np.where(x > 0, np.where(x > 1, a, np.log(x) * a), a * 2))


def products_of_choices(x):
    """Also the second derivative, where neither logarithm nor root is a number."""
    with np.errstate(invalid="ignore"):
        a = np.where(x > 0, np.log(x), -x)
        b = np.where(x > 0, np.sqrt(x) * x, 2.0)
    return np.sum(a * a * b)


def root_in_two_of_three_branches(x):
    r = np.sqrt(x)
    if x > 1.0:
        y = r * 2
    elif x > 0:
        y = r * 3
    else:
        y = x * 4
    return y


def root_in_a_branch_of_a_loop(x):
    r = np.sqrt(x)
    y = x
    for k in range(3):
        if x > 0:
            y = y + r * k
    return y


def root_before_a_while_that_ends(x):
    r = np.sqrt(x)
    log = np.log(x)
    s = x
    k = 0
    while True:
        if x <= 0 or k > 3:
            break
        s = s + r * log
        k += 1
    return s


def branch_that_is_used_sometimes(x):
    r = np.sqrt(x)
    y = r * 2 if x > 1 else r * 3
    return y if x > 0 else 5 * x


def roots_of_positive_ones(x):
    return np.sum(np.sqrt(x)[x > 0])


def clipped_logarithms(x, a):
    """The second has no part where `a` is 0, but its derivative has."""
    with np.errstate(divide="ignore"):
        return np.sum(np.clip(np.log(x), -5, 5)) + np.sum(a * np.maximum(np.log(x), -3))


def bounded_ratios(x, y):
    with np.errstate(divide="ignore"):
        return np.sum(np.minimum(x / y, 2.0))


def choices_of_several_conditions(x):
    return np.sum(np.select([x > 1, x > 0], [np.sqrt(x), 2 * np.sqrt(x)], x))


def choices_by_a_row(x, column, weights):
    return np.sum(np.where(x > 0, np.sqrt(x), column) * weights)


def roots_read_in_a_branch(x):
    r = np.sqrt(x)
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if x[i] > 0 and i != j:
                total += r[i] * x[j]
    return total


def quotient_returned_from_a_loop(x):
    """The quotient is used in the loop, or else behind it."""
    a = x[0] - x[2]
    x = x / (2 + np.sin(a))
    for _ in range(2):
        if a > -5.0:
            return x[-1]
    return a + np.sum(x)


def roots_chosen_behind_a_loop(x):
    """The loop has a part in what the choice leaves out."""
    r = np.sqrt(x)
    total = 0.0
    for k in range(len(x)):
        total += r[k] ** 3
    return total + np.sum(np.where(x > 1, r, 0.0))


def roots_of_items_beside(x):
    total = 0.0
    for root, item in zip(np.sqrt(x), x):
        if item > 0:
            total += root
    return total


def logarithms_read_in_a_while(x):
    logs = np.log(x)
    k, total = 0, 0.0
    while k < len(x):
        if x[k] <= 0:
            k += 1
            continue
        total += logs[k] * x[k]
        k += 1
    return total


def distances_of_pairs(x):
    """The diagonal, where they are 0, is left out."""
    d = np.sqrt(np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=2))
    return np.sum(1 / d[np.triu_indices(len(x), 1)])


def distances_with_a_diagonal(x):
    d = np.sqrt(np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=2))
    np.fill_diagonal(d, 1.0)
    return np.sum(1 / d)


def roots_that_are_written_over(x):
    r = np.sqrt(x)
    r[x == 0] = 2.0
    return np.sum(r)


def choices_of_a_row(x):
    return np.sum(np.where((x > 1)[None, :], np.log(x)[None, :], 0))


def choices_in_another_shape(x):
    r = np.sqrt(x).reshape(2, 2).T
    return np.sum(np.where(x.reshape(2, 2).T > 0, r, 0.0) * np.array([[1.0, 2.0], [3.0, 4.0]]))


def second_derivative_with_clipped_logarithms(x):
    """A cotangent may be 0 where its own derivative is not."""
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(x), -3)
    return np.sum(x * logs * logs * np.array([0.0, 1.0, 1.0]) + (x - 2.0) ** 2 * logs)


ONE_TWO = np.array([1.0, 2.0])
ONE_THREE = np.array([1.0, 3.0])
BORDER = np.array([-1.0, 0.5, 1.0, 3.0])


def _kink(function, arguments, expected, **fields):
    """A program at one point, differentiated with respect to all arguments."""
    wrt = tuple(range(len(arguments)))
    example = fixed(*arguments)
    return Program(function, example, wrt, 1, tags=("expected",), expected=expected, **fields)


PROGRAMS = [
    _kink(absolute_at_zero, (np.array([0.0, 2.0, -3.0]),), (np.array([0.0, 2.0, -3.0]),)),
    _kink(absolute_of_float_at_zero, (0.0,), (2.0,)),
    _kink(absolute_by_math_at_zero, (0.0,), (0.0,)),
    _kink(interp_at_a_step, (np.array([0.5, 1.0, 1.5]), np.array([1.0, 3.0, 4.0])),
          (np.array([2.0, 0.0, 0.0]), np.array([0.5, 0.5, 6.0]))),
    _kink(sign_at_zero, (np.array([0.0, 2.0, -3.0]),), (np.array([0.0, 1.0, -1.0]),)),
    _kink(one_norm_at_zero, (np.array([0.0, -2.0]),), (np.array([0.0, -1.0]),)),
    _kink(maximum_of_equals, (ONE_TWO, ONE_THREE), (np.array([1.0, 0.0]), np.array([1.0, 4.0]))),
    _kink(minimum_of_equals, (ONE_TWO, ONE_THREE), (np.array([1.0, 4.0]), np.array([1.0, 0.0]))),
    _kink(fmax_of_equals, (1.5, 1.5), (5.5, 5.5)),
    _kink(relu_at_zero, (np.array([0.0, 2.0, -1.0]),), (np.array([2.0, 4.0, 0.0]),)),
    _kink(
        maximum_broadcast_tie,
        (np.array([[1.0, 2.0], [1.0, 0.0]]), np.array([1.0, 1.0])),
        (np.array([[0.5, 1.0], [0.5, 0.0]]), np.array([1.0, 1.0])),
    ),
    _kink(max_of_two_equals, (np.array([2.0, 1.0, 2.0]),), (np.array([2.0, 0.0, 2.0]),)),
    _kink(max_of_three_equals, (np.array([2.0, 2.0, 2.0]),), (np.array([2.0, 2.0, 2.0]),)),
    _kink(
        min_along_axis_with_ties,
        (np.array([[1.0, 1.0, 3.0], [5.0, 4.0, 6.0]]),),
        (np.array([[1.0, 1.0, 0.0], [0.0, 4.0, 0.0]]),),
    ),
    _kink(clip_at_the_border, (BORDER,), (np.array([1.0, 2.0, 1.0, 0.0]),)),
    _kink(
        clip_bounds_at_the_border,
        (np.array([-1.0, 0.5, 1.0]), -1.0, 1.0),
        (np.array([1.0, 4.0, 4.0]), 1.0, 4.0),
    ),
    _kink(norm_at_zero, (np.zeros(3),), (np.zeros(3),)),
    _kink(
        norm_of_zero_row,
        (np.array([[0.0, 0.0], [3.0, 4.0]]),),
        (np.array([[0.0, 0.0], [0.6, 0.8]]),),
    ),
    _kink(std_of_constants, (np.full(3, 0.5),), (np.ones(3),)),
    _kink(
        std_of_constant_column,
        (np.array([[2.0, 1.0], [2.0, 5.0]]),),
        (np.array([[0.0, -0.5], [0.0, 0.5]]),),
    ),
    _kink(square_root_at_zero, (np.array([0.0, 4.0]),), (np.array([np.inf, 0.25]),)),
    _kink(power_half_at_zero, (np.array([0.0, 4.0]),), (np.array([np.inf, 0.25]),)),
    _kink(power_one_at_zero, (0.0, 1.0), (1.0, 0.0)),
    _kink(power_one_at_zero, (0.0, 2.0), (0.0, 0.0), name="power_two_at_zero"),
    _kink(power_zero_at_zero, (2.0, 0.0), (0.0, 3.0 * math.log(2.0)), name="power_zero_of_two"),
    _kink(
        power_of_arrays_at_zero,
        (np.array([0.0, 0.0, 2.0, 3.0]), np.array([2.0, 1.0, 3.0, 0.0])),
        (np.array([0.0, 1.0, 12.0, 0.0]), np.array([0.0, 0.0, 8 * math.log(2.0), math.log(3.0)])),
    ),
    _kink(sum_of_what_is_impossible, (np.array([-np.inf, 1.0]),), (np.array([0.0, 1.0]),)),
    _kink(index_of_the_first_maximum, (np.array([2.0, 1.0, 2.0]),), (np.array([4.0, 0.0, 0.0]),)),
    _kink(where_of_equals, (1.5, 1.5), (3.0, 0.0)),
    _kink(branch_at_the_border, (0.0,), (-2.0,)),
    _kink(rounding_at_integers, (np.array([1.0, -2.0]),), (np.array([1.0, -2.0]),)),
    _kink(clip_of_crossed_bounds, (np.array([1.0, 0.5, 3.0]),), (np.array([3.0, 0.0, 0.0]),)),
    _kink(unit_vector_or_itself, (np.zeros(3),), (np.array([3.0, 6.0, 9.0]),)),
    _kink(returned_before_the_logarithm, (0.0,), (1.0,)),
    _kink(roots_and_logarithms_where_they_are, (np.array([0.0, 4.0]),), (np.array([1.0, 0.75]),)),
    _kink(caught_before_the_reciprocal, (np.array([4.0, 0.0, 1.0]),), (np.array([-0.125, 0.0, 0.0]),)),
    _kink(sinc_by_hand, (np.array([0.0, np.pi]),), (np.array([0.0, -6 / np.pi]),)),
    _kink(choices_with_one_logarithm, (np.array([0.0, 1.0]),), (np.array([3.0, 1.0]),)),
    _kink(sum_of_choices_by_one_condition, (np.array([-2.0, 0.0, 1.0]),), (np.array([-1.0, -1.0, 1.5]),)),
    _kink(unit_rows_or_zeros, (np.array([[0.0, 0.0], [3.0, 4.0]]),), (np.array([[0.0, 0.0], [0.288, -0.216]]),)),
    _kink(choice_of_scaled_logarithms, (np.array([1.0, -1.0, 0.0, 2.0]), 0.5), (np.array([0.5, 0.0, 0.0, 0.0]), 5.0)),
    _kink(root_in_two_of_three_branches, (0.0,), (4.0,)),
    _kink(root_in_a_branch_of_a_loop, (0.0,), (1.0,)),
    _kink(root_before_a_while_that_ends, (0.0,), (1.0,)),
    _kink(branch_that_is_used_sometimes, (0.0,), (5.0,)),
    _kink(roots_of_positive_ones, (np.array([0.0, 4.0]),), (np.array([0.0, 0.25]),)),
    _kink(clipped_logarithms, (np.array([0.0, 2.0]), np.array([1.0, 0.0])),
          (np.array([0.0, 0.5]), np.array([-3.0, math.log(2.0)]))),
    _kink(bounded_ratios, (np.array([1.0, 2.0]), np.array([0.0, 2.0])), (np.array([0.0, 0.5]), np.array([0.0, -0.5]))),
    _kink(choices_of_several_conditions, (np.array([0.0, 4.0, 0.25]),), (np.array([1.0, 0.25, 2.0]),)),
    _kink(choices_by_a_row, (np.array([0.0, 4.0]), np.ones((2, 1)), np.array([[1.0, 2.0], [3.0, 4.0]])),
          (np.array([0.0, 1.5]), np.array([[1.0], [3.0]]), np.array([[1.0, 2.0], [1.0, 2.0]]))),
    _kink(roots_read_in_a_branch, (np.array([0.0, 4.0, 0.25]),), (np.array([2.5, 0.5625, 6.0]),)),
    _kink(roots_of_items_beside, (np.array([0.0, 4.0, 0.25]),), (np.array([0.0, 0.25, 1.0]),)),
    _kink(logarithms_read_in_a_while, (np.array([0.0, 2.0]),), (np.array([0.0, math.log(2.0) + 1]),)),
    _kink(distances_of_pairs, (np.array([[0.0], [2.0]]),), (np.array([[0.25], [-0.25]]),)),
    _kink(distances_with_a_diagonal, (np.array([[0.0], [2.0]]),), (np.array([[0.5], [-0.5]]),)),
    _kink(roots_that_are_written_over, (np.array([0.0, 4.0]),), (np.array([0.0, 0.25]),)),
    _kink(choices_of_a_row, (np.array([0.0, 4.0, 0.25]),), (np.array([0.0, 0.25, 0.0]),)),
    _kink(choices_in_another_shape, (np.array([0.0, 4.0, 0.25, 0.0]),), (np.array([0.0, 0.75, 2.0, 0.0]),)),
    _kink(roots_chosen_behind_a_loop, (np.array([0.25, 4.0]),), (np.array([0.75, 3.25]),)),
    Program(quotient_returned_from_a_loop, fixed(np.array([0.5, 1.2, 1.3]))),
    Program(second_derivative_with_clipped_logarithms, fixed(np.array([0.5, 2.0, 0.01]))),
    Program(products_of_choices, fixed(np.array([-1.0, 0.5, 2.0]))),
    _kink(comparison_at_the_border, (np.array([1.0, 0.5]),), (np.array([2.0, 0.0]),)),
]
