"""Branches: if, conditional expressions, logic, early return, static and dynamic conditions."""

import math

import numpy as np

from .program import Program, apart, fixed, normal


def if_without_else(x, y):
    z = x * y
    if x > y:
        z = z + math.sin(x)
    return z * z


def if_else(x, y):
    if x * y > 0:
        z = x**2 * y
    else:
        z = x - y**3
    return z * x


def if_elif_else(x, y):
    if x > 0.5:
        z = x * y
    elif x > -0.5:
        z = math.exp(x) * y
        if y > 0:
            z = z * z
    elif y > 0:
        z = y**2
    else:
        z = x - y
    return z + x * y


def branches_write_different_names(x, y):
    a = x
    b = y
    if x > 0:
        a = a * b
    else:
        b = b * a + 1
    return a * b + a**2


def branch_keeps_constant(x, y):
    """One side is a plain number, the other a value to differentiate."""
    if y > 0:
        scale = 1
    else:
        scale = x * y
    return scale * x**2 + y


def branch_on_array(x):
    if np.sum(x) > 0:
        x = x * 2 + x[0]
    else:
        x = np.sin(x) - x[-1]
    return np.sum(x**2)


def branch_all_any(x):
    if (x > 0).all():
        return np.prod(x)
    if not (x > 0).any():
        return np.sum(x**3)
    return np.sum(np.exp(x[0]) * x)


def two_ifs_on_one_condition(x, y):
    z = x * y
    if x > 0:
        z = z * math.sin(y)
    z = z + x**2
    if x > 0:
        z = z * z + y
    else:
        z = z**3
    return z


def nested_ifs(x, y, z):
    if x > 0:
        if y > 0:
            r = x * y * z
        else:
            r = x / (1 + y**2)
        r = r * x
    else:
        if z > 0:
            r = z**2
        else:
            r = x * z
        r = r + y**3
    return r**2 + x * z


def conditional_expressions(x, y):
    a = x if x > y else y
    b = x * y if x < 0 else math.cos(x) if y < 0 else y**2
    return a**2 * b + (1 if a > b else x) * b


def conditional_expression_guards(x, k):
    """The side that is not taken would fail: index out of range, logarithm of a negative."""
    last = x[k] if k < len(x) else x[0] ** 2
    return last + (math.log(x[1]) if x[1] > 0 else x[1] ** 3) * last


def chained_comparisons(x, y):
    z = 0.0
    if -1 < x < y < 2:
        z += x * y
    elif -1 < y <= x != 0:
        z += x**2 * y
    if not 0 <= x <= 1 < y:
        z += math.sin(x * y)
    return z * x


def logic_with_dynamic_sides(x, y):
    z = x
    if x > 0 and y > 0:
        z = x * y
    if x < 0 or y > 0.5:
        z = z + y**2
    if not (x > y or not y > 0):
        z = z * math.exp(x)
    return z**2 + x * y


def logic_short_circuit(x, k):
    """The right side may only be evaluated where the left side allows."""
    if k < len(x) and x[k] > 0:
        return x[k] ** 2 * x[0]
    if k >= len(x) or x[k] < -10:
        return np.sum(x**2)
    return x[k] * x[0]


def logic_of_several_types(image, x, seen):
    """What stands beside `and` is of three types, of which only the truth counts."""
    total = 0.0
    for i in range(len(image)):
        if image[i] and not seen[i] and x[i]:
            total += x[i] ** 2
        if not (image[i] or x[i] > 0.5) or i and seen[i]:
            total *= 1.0 + x[i]
    return total


def logic_as_values(x, y, fallback):
    scale = fallback or 2.0
    active = x > 0 and y
    return (active and x) * scale * y + (x > y) * x**2 + x * (not x > y)


def early_return(x, y):
    if x > y:
        return x * y**2
    z = math.sin(x) * y
    if z > 0:
        return z**2
    return z * x


def early_return_from_nested(x, y):
    z = x * y
    if x > 0:
        if y > 0:
            return z**2
        z = z + x
    else:
        z = z * y
        if z > 1:
            return math.log(z)
    return z**3


def return_conditional(x, flag):
    return np.sum(x**2) if flag else np.prod(x)


def condition_kept_in_a_name(x, y):
    inside = x * x + y * y < 1
    z = x
    if inside:
        z = z * y
    z = z + 1
    if not inside:
        z = z**2 * y
    return z + (y if inside else x)


def defined_on_one_side(x, y):
    """Only used where it was defined."""
    if x > 0:
        extra = x * y
    z = y**2
    if x > 0:
        z = z + extra**2
    return z + x * y


def min_and_max_builtins(x, y, z):
    return max(x, y) * min(y, z) ** 2 + max(x * y, z, -1.0) + min(0.7, x) * z


def absolute_by_hand(x):
    total = 0.0
    for value in x:
        if value < 0:
            value = -value
        total += value**1.5
    return total


def clamp(x, low, high):
    if x < low:
        return low * x
    elif x > high:
        return high * x**2
    return x**3 * (low + high)


def clamped_sum(x):
    return clamp(x[0], -0.3, 0.5) + clamp(x[1], -0.3, 0.5) * clamp(x[2] + x[0], -0.3, 0.5)


def match_on_string(x, kind):
    match kind:
        case "square":
            y = x**2
        case "sine" | "sin":
            y = np.sin(x)
        case _:
            y = x
    return np.sum(y * x)


def match_on_structure(x, options):
    match options:
        case {"power": p, "scale": s}:
            return np.sum(s * x**p)
        case [a, b]:
            return np.sum(a * x + b * x**2)
        case None:
            return np.sum(x)


def match_on_number(x, order):
    match order:
        case 0:
            return x
        case 1:
            return x**2
        case n if n > 1:
            return x**n * n
    return x


def static_ifs(x, order, name=None, verbose=False):
    """Nothing of these conditions may be left in the derivative."""
    if order == 1:
        x = np.abs(x)
    elif order > 1:
        x = x**order
    if name is None and not verbose:
        x = x * 2
    if name == "log" or verbose:
        x = np.log1p(x**2)
    return np.sum(x**2)


def asserts_and_raises(x, n):
    assert x.shape[0] == n, f"x has {x.shape[0]} entries, not {n}"
    if np.any(x > 1e6):
        raise ValueError(f"too large: {x.max()}")
    if x.min() < -1e6:
        warn_of("too small")  # noqa: F821 (its author has never come here)
    total = np.sum(x**2)
    assert total >= 0
    return total * x[0]


def sign_dependent(x):
    s = 1.0 if x >= 0 else -1.0
    return s * x**2 + abs(x) * s


def piecewise_spline(x, knots, values):
    """Hermite-like interpolation on the interval that holds x."""
    for i in range(len(knots) - 1):
        if knots[i] <= x < knots[i + 1]:
            t = (x - knots[i]) / (knots[i + 1] - knots[i])
            s = t * t * (3 - 2 * t)
            return values[i] * (1 - s) + values[i + 1] * s
    return values[0] * x


def newton_or_bisect(a):
    """Each step chooses between two updates by looking at the state."""
    low, high = 0.0, 3.0
    x = 1.0
    for _ in range(6):
        step = x - (x * x - a) / (2 * x)
        if low < step < high:
            x = step
        else:
            x = 0.5 * (low + high)
        if x * x > a + 0.3:
            high = x
    return x**3


PAIR = apart(None, None)
TRIPLE = apart(None, None, None)
KNOTS = np.array([-1.0, 0.0, 0.7, 2.0])

def keys_tried_first(x, options):
    known = {}

    def square(k):
        try:
            return known[k]
        except KeyError:
            known[k] = x[k] ** 2
            return known[k]

    try:
        rate = options["rate"]
    except KeyError as error:
        assert x[0] < 1e9, f"no rate: {error}"
        rate = 0.5
    finally:
        total = x[1] ** 3
    return rate * square(0) * square(1) + square(0) + total


def attribute_tried_first(x):
    total = x[0]
    try:
        total = total * x.shape[0]
        total = total * x.missing
        total = 0.0
    except (KeyError, AttributeError):
        total = total * x[1]
    else:
        total = 1.0
    return total


def asserted_at_length(x):
    try_again = f"the sum of the squares has to be less than a million, which it is not: {np.sum(x**2)}"
    assert np.sum(x**2) < 1e6 and np.sum(x) < 1e3, try_again
    return np.sum(x**2) * x[0]


GUESSES = (0.5, 0.25, 0.75, 0.1, 0.9, 0.05, 0.95, 1.1, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0)


def tried_in_turn(x):
    """A count that many branches make larger, one inside of the other."""
    y, tries, most = x, 0, 60
    while tries < most:
        error = y * y - x
        if error > 1.0:
            for factor in GUESSES:
                tries += 1
                guess = x * factor
                if guess == y:
                    continue
                if abs(guess * guess - x) < 0.5:
                    y = guess
                    break
        tries += 1
        step = error / (2.0 * y)
        y = y - step
        if abs(step) < 1e-12:
            break
    return y


PROGRAMS = [
    Program(if_without_else, PAIR, (0, 1)),
    Program(if_without_else, fixed(0.8, 0.3), (0, 1), name="if_without_else_taken"),
    Program(if_else, PAIR, (0, 1)),
    Program(if_else, fixed(0.8, -0.3), (0, 1), name="if_else_other_side"),
    Program(if_elif_else, PAIR, (0, 1)),
    Program(if_elif_else, fixed(0.3, 0.6), (0, 1), name="if_elif_else_middle"),
    Program(branches_write_different_names, PAIR, (0, 1)),
    Program(
        branches_write_different_names, fixed(-0.4, 0.6), (0, 1), name="branches_write_the_other"
    ),
    Program(branch_keeps_constant, fixed(0.4, 0.7), (0, 1)),
    Program(branch_keeps_constant, fixed(0.4, -0.7), (0, 1), name="branch_drops_constant"),
    Program(branch_on_array, apart(("n",))),
    Program(branch_all_any, apart((3,))),
    Program(branch_all_any, fixed(np.array([0.5, 1.5, 2.0])), name="branch_all"),
    Program(two_ifs_on_one_condition, PAIR, (0, 1)),
    Program(two_ifs_on_one_condition, fixed(0.6, 1.3), (0, 1), name="two_ifs_taken"),
    Program(nested_ifs, TRIPLE, (0, 1, 2)),
    Program(nested_ifs, fixed(-0.6, 1.3, 0.8), (0, 1, 2), name="nested_ifs_else"),
    Program(conditional_expressions, PAIR, (0, 1)),
    Program(conditional_expression_guards, lambda rng: (*apart((3,))(rng), 5)),
    Program(chained_comparisons, PAIR, (0, 1)),
    Program(chained_comparisons, fixed(0.4, 1.5), (0, 1), name="chained_comparisons_true"),
    Program(logic_with_dynamic_sides, PAIR, (0, 1)),
    Program(logic_with_dynamic_sides, fixed(0.4, 0.9), (0, 1), name="logic_with_both_true"),
    Program(logic_short_circuit, lambda rng: (*apart((4,))(rng), 4)),
    Program(logic_short_circuit, lambda rng: (*apart((4,))(rng), 2), name="logic_both_sides"),
    Program(logic_of_several_types, lambda rng: (np.array([0, 3, 1, 0, 255, 2], np.uint8), rng.standard_normal(6),
                                                 np.array([0, 1, 0, 0, 0, 1], bool)), (1,), tags=("loops",)),
    Program(logic_as_values, fixed(0.8, 0.3, None), (0, 1)),
    Program(early_return, PAIR, (0, 1)),
    Program(early_return, fixed(0.3, 0.8), (0, 1), name="early_return_second"),
    Program(early_return_from_nested, PAIR, (0, 1)),
    Program(early_return_from_nested, fixed(-1.2, -1.5), (0, 1), name="early_return_from_else"),
    Program(return_conditional, lambda rng: (rng.random(4), True)),
    Program(return_conditional, lambda rng: (rng.random(4), False), name="return_conditional_else"),
    Program(condition_kept_in_a_name, fixed(0.5, 0.6), (0, 1)),
    Program(condition_kept_in_a_name, fixed(1.5, 0.6), (0, 1), name="condition_kept_false"),
    Program(defined_on_one_side, fixed(0.7, 1.2), (0, 1)),
    Program(min_and_max_builtins, TRIPLE, (0, 1, 2)),
    Program(absolute_by_hand, apart(("n",))),
    Program(clamped_sum, apart((3,))),
    Program(match_on_string, normal((4,), then=("sin",))),
    Program(match_on_structure, normal((4,), then=({"power": 3, "scale": 0.5},))),
    Program(match_on_structure, normal((4,), then=((2.0, 3.0),)), name="match_on_pair"),
    Program(match_on_number, normal(None, then=(3,))),
    Program(static_ifs, normal((4,), then=(2,))),
    Program(static_ifs, normal((4,), then=(0, "log")), name="static_ifs_log"),
    Program(asserts_and_raises, lambda rng, size=4: (rng.standard_normal(size), size)),
    Program(sign_dependent, apart(None)),
    Program(piecewise_spline, lambda rng: (0.3, KNOTS, rng.standard_normal(4)), (0, 1, 2)),
    Program(newton_or_bisect, fixed(2.2)),
    Program(keys_tried_first, normal((2,), then=({},))),
    Program(keys_tried_first, normal((2,), then=({"rate": 0.3},)), name="keys_tried_first_and_found"),
    Program(attribute_tried_first, normal(("n",))),
    Program(asserted_at_length, normal(("n",))),
    Program(tried_in_turn, fixed(2.0)),
]
