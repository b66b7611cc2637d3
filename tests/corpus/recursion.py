"""Functions that call themselves: with numbers, functions, containers and trees."""

import math
from dataclasses import dataclass

import numpy as np

from .program import Program, fixed, normal, positive

# -- numbers -----------------------------------------------------------------------------------------


def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


def rising_product(x, n):
    if n == 0:
        return 1.0
    return (x + n) * rising_product(x, n - 1)


def fibonacci_of_floats(a, b, n):
    if n < 2:
        return a if n == 0 else b
    return fibonacci_of_floats(a, b, n - 1) * math.cos(fibonacci_of_floats(a, b, n - 2))


def newton(x, target):
    error = x**3 - target
    if abs(error) < 1e-12:
        return x
    return newton(x - error / (3 * x * x), target)


def horner_of(coefficients, x, k):
    if k == len(coefficients) - 1:
        return coefficients[k]
    return coefficients[k] + x * horner_of(coefficients, x, k + 1)


def horner(coefficients, x):
    return horner_of(coefficients, x, 0)


def continued_fraction(x, n):
    return x if n == 0 else x + 1.0 / continued_fraction(x * 1.1, n - 1)


def even(x, n):
    return x * x if n == 0 else odd(x * 1.5, n - 1)


def odd(x, n):
    return -x if n == 0 else even(np.sin(x) + 2.0, n - 1)


def expression(x, depth):
    return term(x, depth) + 0.5 * term(x + 1.0, depth)


def term(x, depth):
    return factor(x, depth) * np.cos(x)


def factor(x, depth):
    return x if depth == 0 else np.tanh(expression(0.3 * x, depth - 1))


def ackermann(m, n, x):
    """Integers decide where it goes, a float comes along."""
    if m == 0:
        return n + 1, x * 1.01
    if n == 0:
        return ackermann(m - 1, 1, math.sin(x) + x)
    inner, y = ackermann(m, n - 1, x)
    return ackermann(m - 1, inner, y)


def ackermann_payload(x, m, n):
    count, value = ackermann(m, n, x)
    return value * count


def collatz(x, n):
    if n == 1:
        return x
    if n % 2 == 0:
        return collatz(0.5 * x, n // 2)
    return collatz(x * x * 0.3 + 1.0, 3 * n + 1)


def hanoi(n):
    return 0 if n == 0 else 2 * hanoi(n - 1) + 1


def gcd(a, b):
    return a if b == 0 else gcd(b, a % b)


def counted_moves(x, n, a, b):
    return x ** gcd(a, b) * hanoi(n)


def deep_sum(x, n):
    return 0.0 if n == 0 else x / n + deep_sum(x * 0.99, n - 1)


def with_defaults(x, n=4, scale=0.5, *, shift=0.25):
    return shift if n == 0 else scale * np.sin(x) + with_defaults(x + shift, n - 1, scale=scale * 0.9, shift=shift)


def calls_with_defaults(x):
    return with_defaults(x) + with_defaults(x, 2, shift=x)


def accumulated(x, n, total=0.0):
    """The accumulator starts as a constant."""
    return total if n == 0 else accumulated(x, n - 1, total + x * n)


def early_returns(x, n):
    if n == 0:
        return x
    if x > 2.0:
        return early_returns(x / 3.0, n - 1)
    y = x * x + 0.7
    return early_returns(y, n - 1) * x


def through_lambda(x, n):
    step = lambda y, k: y if k == 0 else step(np.exp(-y) + x, k - 1)  # noqa: E731
    return step(x, n)


def through_table(x, n):
    table = {
        "sin": lambda y, k: y if k == 0 else table["cos"](math.sin(y), k - 1),
        "cos": lambda y, k: y * y if k == 0 else table["sin"](math.cos(y), k - 1),
    }
    return table["sin"](x, n)


def closure_over_values(x, n):
    scale = np.sum(x * x)
    offset = len(x)

    def descend(k, value):
        if k == 0:
            return value
        return descend(k - 1, value * scale * 0.1 + x[k % offset])

    return descend(n, 1.0)


# -- functions as arguments ------------------------------------------------------------------------------


def simpson(f, a, b, whole, tolerance):
    middle = (a + b) / 2
    left = (middle - a) / 6 * (f(a) + 4 * f((a + middle) / 2) + f(middle))
    right = (b - middle) / 6 * (f(middle) + 4 * f((middle + b) / 2) + f(b))
    if abs(left + right - whole) < tolerance:
        return left + right
    return simpson(f, a, middle, left, tolerance / 2) + simpson(f, middle, b, right, tolerance / 2)


def adaptive_integral(rate, a, b):
    def f(t):
        return np.exp(-rate * t) * np.cos(3.0 * t)

    return simpson(f, a, b, 0.0, 1e-4)


def bisected(f, low, high, depth):
    middle = (low + high) / 2
    if depth == 0:
        return middle
    return bisected(f, middle, high, depth - 1) if f(middle) < 0.0 else bisected(f, low, middle, depth - 1)


def bisection(low, high, root):
    return bisected(lambda t: t - root, low, high, 5) ** 2


# -- containers ----------------------------------------------------------------------------------------


def two_results(x, y, n):
    if n == 0:
        return x, y
    a, b = two_results(y, x * y, n - 1)
    return a + b * 0.5, np.sin(a)


def both(x, y, n):
    a, b = two_results(x, y, n)
    return a * b


def dictionary_of_moments(x, n):
    if n == 0:
        return {"sum": 0.0, "product": 1.0}
    rest = dictionary_of_moments(x * 0.9, n - 1)
    return {"sum": rest["sum"] + x, "product": rest["product"] * (x + rest["sum"])}


def moments(x, n):
    found = dictionary_of_moments(x, n)
    return found["sum"] * found["product"]


@dataclass
class State:
    position: float
    speed: float


def stepped(state, n):
    if n == 0:
        return state
    speed = state.speed - 0.1 * math.sin(state.position)
    return stepped(State(state.position + 0.1 * speed, speed), n - 1)


def pendulum_energy(position, speed, n):
    end = stepped(State(position, speed), n)
    return 0.5 * end.speed**2 - math.cos(end.position)


def layers(parameters, x, depth):
    """The same weights at every depth."""
    if depth == 0:
        return np.sum(x**2)
    return layers(parameters, np.tanh(parameters["w"] @ x + parameters["b"]), depth - 1)


def tree_sum(tree):
    """The depth is that of a structure: no call is left."""
    if isinstance(tree, tuple):
        return sum(tree_sum(child) for child in tree)
    return np.sum(np.sin(tree))


def structure_and_number(tree, n):
    if isinstance(tree, tuple):
        left, right = tree
        return structure_and_number(left, n) * structure_and_number(right, n)
    return tree if n == 0 else structure_and_number(tree * tree, n - 1) + tree


# -- recursion and other control flow --------------------------------------------------------------------


def branching(x, n):
    """Calls in a loop."""
    total = x
    for k in range(n):
        total = total * 0.5 + np.sin(branching(x + k, k))
    return total


def called_in_loop(x, n):
    total = 1.0
    for value in x:
        total = total + power(value * total, n) * 0.1
    return total


def called_in_while(x):
    while x > 1.0:
        x = x * 0.6 + 0.01 * power(x, 3)
    return x * x


def loop_inside(x, n):
    if n == 0:
        return np.sum(x)
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + np.sin(x[i])
    return loop_inside(y, n - 1)


def called_on_condition(x, n):
    if x > 0.0:
        y = power(x, n)
    else:
        y = -x
    return y * y


def two_precisions(x, y):
    return power(x, 3) + power(y, 2)


def applied_twice(x, n):
    return power(power(x, n), 2) + power(x, 0)


def asserted(x, n):
    assert n >= 0
    if x < -100.0:
        raise ValueError(f"{x} is too small")
    return x if n == 0 else asserted(x * x - 0.3, n - 1)


PROGRAMS = [
    Program(power, fixed(1.3, 5)),
    Program(power, fixed(1.3, 0), name="power_of_nothing"),
    Program(power, fixed(np.float32(1.3), 4), name="power_in_float32", tags=("f32",)),
    Program(rising_product, fixed(0.4, 4)),
    Program(fibonacci_of_floats, fixed(0.5, 0.7, 6), (0, 1)),
    Program(newton, fixed(1.4, 3.0), (1,)),
    Program(horner, normal(("n",), None), (0, 1), name="recursive_horner"),
    Program(continued_fraction, positive(None, then=(4,)), name="recursive_fraction"),
    Program(even, normal(None, then=(5,)), name="even_and_odd"),
    Program(expression, normal(None, then=(2,)), name="expression_term_factor"),
    Program(ackermann_payload, fixed(0.7, 2, 2)),
    Program(collatz, fixed(0.8, 6)),
    Program(counted_moves, fixed(1.2, 3, 12, 18)),
    Program(deep_sum, fixed(0.5, 100)),
    Program(calls_with_defaults, normal(None)),
    Program(accumulated, normal(None, then=(4,))),
    Program(early_returns, fixed(1.2, 5)),
    Program(through_lambda, normal(None, then=(4,))),
    Program(through_table, normal(None, then=(3,))),
    Program(closure_over_values, normal(("n",), then=(5,))),
    Program(adaptive_integral, fixed(0.8, 0.0, 2.0), (0, 2)),
    Program(bisection, fixed(0.0, 2.0, 0.83), (0, 1)),
    Program(both, normal(None, None, then=(4,)), (0, 1)),
    Program(moments, normal(None, then=(4,))),
    Program(pendulum_energy, normal(None, None, then=(6,)), (0, 1)),
    Program(layers, lambda rng: ({"w": rng.random((3, 3)), "b": rng.random(3)}, rng.random(3), 3), (0, 1)),
    Program(tree_sum, lambda rng: ((rng.random(2), (rng.random(3), 0.5)),)),
    Program(structure_and_number, lambda rng: ((0.3, (0.4, 0.6)), 2)),
    Program(branching, normal(None, then=(4,))),
    Program(called_in_loop, positive(("n",), then=(3,))),
    Program(called_in_while, fixed(1.7)),
    Program(loop_inside, normal(("n",), then=(3,))),
    Program(called_on_condition, fixed(0.8, 3)),
    Program(called_on_condition, fixed(-0.8, 3), name="not_called_on_condition"),
    Program(two_precisions, fixed(np.float32(1.3), 0.7), (1,), tags=("f32",)),
    Program(applied_twice, fixed(1.1, 3)),
    Program(asserted, fixed(0.4, 4)),
]
