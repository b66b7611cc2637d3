"""Functions with rules of their own: in loops, branches and calls, with rules that have those themselves."""

import dataclasses

import numpy as np

from transformer import custom_jvp, custom_vjp

from .program import Program, fixed, normal


@custom_jvp
def square(x):
    return x * x


@square.defjvp
def square_jvp(primals, tangents):
    return square(primals[0]), 2 * primals[0] * tangents[0]


@custom_vjp
def cube(x):
    return x**3


cube.defvjp(lambda x: (x**3, x), lambda x, dy: (3 * x * x * dy,))


@custom_jvp
def relu(x):
    return np.maximum(x, 0)


@relu.defjvp
def relu_jvp(primals, tangents):
    (x,), (dx,) = primals, tangents
    return relu(x), np.where(x > 0, dx, 0.0)


@custom_jvp
def power_or_not(x, squared=True, mode="fast", extra=None):
    return x * x if squared else x


@power_or_not.defjvp
def power_or_not_jvp(primals, tangents):
    x, squared, mode, extra = primals
    if squared:
        return power_or_not(x, squared, mode, extra), 2 * x * tangents[0]
    return x, tangents[0]


@dataclasses.dataclass
class Line:
    slope: float
    offsets: object


@custom_vjp
def on_line(line, xs):
    return line.slope * xs[0] + np.sum(line.offsets) * xs[1]


def on_line_backward(kept, dy):
    line, xs = kept
    return Line(dy * xs[0], dy * xs[1] * np.ones(len(line.offsets))), [dy * line.slope, dy * np.sum(line.offsets)]


on_line.defvjp(lambda line, xs: (on_line(line, xs), (line, xs)), on_line_backward)


@custom_vjp
def root(a):
    y = a
    while abs(y * y - a) > 1e-12:
        y = 0.5 * (y + a / y)
    return y


def root_forward(a):
    y = root(a)
    return y, y


root.defvjp(root_forward, lambda y, dy: (dy / (2 * y),))


@custom_jvp
def sum_of_squares(xs):
    total = 0.0
    for x in xs:
        total = total + x**2
    return total


@sum_of_squares.defjvp
def sum_of_squares_jvp(primals, tangents):
    (xs,), (dxs,) = primals, tangents
    total, slope = 0.0, 0.0
    for i in range(len(xs)):
        total = total + xs[i] ** 2
        if xs[i] > 0:
            slope = slope + 2 * xs[i] * dxs[i]
        else:
            slope = slope + xs[i] * 2 * dxs[i]
    return total, slope


@custom_jvp
def squares_in_place(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = x[i] * x[i]
    return out


@squares_in_place.defjvp
def squares_in_place_jvp(primals, tangents):
    (x,), (dx,) = primals, tangents
    dout = np.zeros(len(x))
    for i in range(len(x)):
        dout[i] = 2 * x[i] * dx[i]
    return squares_in_place(x), dout


def rule_with_where(x):
    return np.sum(relu(x) ** 2 * x)


def rule_with_options(x):
    return np.sum(power_or_not(x, mode="slow") + power_or_not(x, False) * power_or_not(x, extra=None))


def rule_on_an_object(line, u, v):
    return on_line(line, [u, v]) ** 2


def rule_around_a_while(a):
    return root(a) * a + root(root(a))


def rule_with_a_loop(x):
    return sum(sum_of_squares(x * k) for k in range(1, 4)) * np.sum(x)


def rule_with_writes(x):
    return np.sum(squares_in_place(x) * squares_in_place(squares_in_place(x)))


def rules_in_nested_loops(x):
    total = 0.0
    for i in range(len(x)):
        u = x
        for _ in range(i):
            u = squares_in_place(u) * 0.3 + cube(x) * total
        total = total + sum_of_squares(u) * square(x[i])
        if total > 2.0:
            total = total - cube(total) * 0.1
    return total


def rules_before_a_break(x):
    total = 0.0
    for v in x:
        total = total + cube(v)
        if total > 1.0:
            break
        total = total + square(total)
    return total


def rules_in_recursion(x):
    def grown(y):
        if y * y > 4:
            return y
        return grown(cube(y) * 0.5 + square(y) + 1.0)

    return grown(x)


def rules_as_arguments(x):
    def twice(f, y):
        return f(f(y))

    return np.sum(twice(cube, x)) + sum(map(square, [x[0], x[1]])) + sum([square(v) * cube(v) for v in x])


def rules_on_constants(x):
    return np.sum(square(2.0) * square(np.ones(3)) * x * cube(np.arange(3.0)))


VECTOR = (np.array([0.3, -0.7, 1.4]),)

PROGRAMS = [
    Program(rule_with_where, fixed(*VECTOR)),
    Program(rule_with_options, normal(("n",))),
    Program(rule_on_an_object, fixed(Line(2.0, np.array([0.5, -1.0])), 0.3, 0.4), wrt=(0, 1, 2)),
    Program(rule_around_a_while, fixed(2.3)),
    Program(rule_with_a_loop, normal(("n",))),
    Program(rule_with_writes, normal(("n",))),
    Program(rules_in_nested_loops, fixed(*VECTOR)),
    Program(rules_before_a_break, fixed(*VECTOR)),
    Program(rules_in_recursion, fixed(0.4)),
    Program(rules_as_arguments, fixed(*VECTOR)),
    Program(rules_on_constants, fixed(*VECTOR)),
]
