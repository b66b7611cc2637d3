"""Functions: helpers, closures, lambdas, methods, partials, arguments of every kind."""

import functools
import math
import operator

import numpy as np

from .program import Program, fixed, normal, positive

SCALE = 1.5
WEIGHTS = np.array([0.5, -1.0, 2.0])


def square(v):
    return v * v


def softplus(v, sharpness=1.0):
    """A helper with a default."""
    return np.log1p(np.exp(sharpness * v)) / sharpness


def two_results(a, b):
    return a * b, a + math.sin(b)


def helpers(x):
    return np.sum(square(softplus(x))) + np.sum(softplus(square(x), sharpness=0.5))


def one_helper_twice(x, y):
    return square(x) * square(y) + square(square(x) + y) * softplus(x) / softplus(y)


def helper_of_helper(x):
    def outer(v):
        return square(v) + softplus(v[0]) * v

    return np.sum(outer(outer(x)))


def several_results(a, b):
    p, q = two_results(a, b)
    q, p = two_results(q, p)
    return p * q + two_results(p, a)[1]


def globals_read(x):
    return np.sum(WEIGHTS * x**2) * SCALE + np.sum(WEIGHTS) * x[0]


def closure_over_argument(x, y):
    scale = np.sum(y**2)

    def weighted(v):
        return scale * v * y

    return np.sum(weighted(x) ** 2) + np.sum(weighted(y))


def closure_sees_later_binding(x):
    """A closure reads a name when it is called, not when it is made."""

    def scaled(v):
        return factor * v

    factor = 2.0
    first = scaled(x)
    factor = x
    return first * scaled(x)


def closure_in_loop(x):
    total = 0.0
    for k in range(1, 4):

        def term(v, power=k):
            return v**power / power

        total += term(x) * term(total + x, 2)
    return total


def make_polynomial(*coefficients):
    def polynomial(v):
        result = 0.0
        for c in reversed(coefficients):
            result = result * v + c
        return result

    return polynomial


def function_made_by_function(x):
    inner = make_polynomial(x, 2.0, x**2)
    return inner(x) * make_polynomial(1.0, -0.5)(x)


def lambdas(x, y):
    double, shifted = (lambda v: 2 * v), (lambda v, by=y: v + by)
    compose = lambda f, g: lambda v: f(g(v))  # noqa: E731
    return compose(double, shifted)(x) * compose(shifted, double)(y) + (lambda a, b: a**b)(2.0, x)


PAIR_OF_LAMBDAS = (lambda x, y: x * math.sin(y) * y, lambda x, y: x / (1 + y * y) + x * x)


def functions_as_arguments(x):
    def apply(f, v, times=2):
        for _ in range(times):
            v = f(v)
        return v

    return np.sum(apply(np.tanh, x) + apply(square, x, times=1) + apply(lambda v: v * x, x))


def integrate(f, low, high, n=4):
    h = (high - low) / n
    total = 0.5 * (f(low) + f(high))
    for i in range(1, n):
        total += f(low + i * h)
    return h * total


def integral_of_parameter(a, b):
    return integrate(lambda t: math.exp(-a * t * t), 0.0, b) ** 2


def fixed_point(f, x, steps):
    for _ in range(steps):
        x = f(x)
    return x


def fixed_point_of_closure(a):
    return fixed_point(lambda v: math.cos(a * v), a, 4) ** 2


ACTIVATIONS = {"tanh": np.tanh, "square": square, "soft": softplus}


def functions_in_dict(x, name):
    chosen = ACTIVATIONS[name]
    local = {"a": lambda v: v**3, "b": functools.partial(softplus, sharpness=2.0)}
    return np.sum(chosen(x) * local["a"](x) + local["b"](chosen(x)))


def functions_in_list(x):
    for f in [np.sin, square, lambda v: v + 0.5]:
        x = f(x) * x
    return np.sum(x)


def partials(x, y):
    steep = functools.partial(softplus, sharpness=2.0)
    power = functools.partial(pow, x)
    scaled = functools.partial(np.multiply, y)
    return steep(x) * power(2) + scaled(x) * functools.partial(two_results, y)(x)[0]


def defaults_and_keywords(x, y, *, scale=2.0, shift=0.5):
    def affine(v, slope=scale, offset=shift):
        return slope * v + offset

    return affine(x, offset=y) * affine(y) + affine(offset=x, v=y, slope=x)


def star_arguments(x, *rest):
    total = x**2
    for i, value in enumerate(rest):
        total += (i + 1) * value * x
    return total * len(rest) + rest[-1] ** 2


def star_keywords(x, **options):
    return np.sum(x ** options.get("power", 2)) * options.get("scale", 0.5) + options.get(
        "missing", 0
    )


def passing_stars(x, y):
    def collect(*values, **named):
        return sum(values) * named["factor"] + named.get("extra", 0) ** 2

    pair = (x, y * x)
    options = {"factor": y, "extra": x}
    return collect(*pair, 1.0, **options) + collect(y, factor=x)


def twice(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) + function(*args, **kwargs) ** 2

    return wrapper


def scaled_by(factor):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args):
            return factor * function(*args)

        return wrapper

    return decorate


@twice
def decorated(x, y):
    return x * math.sin(y)


@scaled_by(3.0)
@twice
def decorated_with_argument(x):
    return np.sum(np.cos(x))


def calls_decorated(x, y):
    return decorated(x, y) * decorated(y, y=x)


class Quadratic:
    """A model with a method, a static method, a class attribute and ``__call__``."""

    power = 2

    def __init__(self, a, b):
        self.a = a
        self.b = b

    def value(self, x):
        return self.a * x**self.power + self.half(self.b) * x

    @staticmethod
    def half(v):
        return 0.5 * v

    @classmethod
    def degree(cls):
        return cls.power

    @property
    def sum_of_coefficients(self):
        return np.sum(self.a) + self.b

    def __call__(self, x):
        return np.sum(self.value(x) ** self.degree()) * self.sum_of_coefficients


class Cubic(Quadratic):
    def value(self, x):
        return super().value(x) + 0.1 * x**3


def instance_as_closure(x):
    model = MODEL
    return model(x) + np.sum(model.value(x))


MODEL = Quadratic(np.array([1.0, 2.0, -0.5]), 0.7)


def numpy_alias_inside(x):
    import numpy as xp
    from numpy import exp as e

    norm = xp.linalg.norm
    return norm(x) ** 3 + xp.sum(e(x))


def operators_as_functions(x, y):
    return operator.mul(x, operator.add(x, y)) - operator.truediv(y, operator.pow(x, 2))


def reduce_and_map(x, y):
    product = functools.reduce(lambda a, b: a * b + 1, [x, y, x * y], 1.0)
    return product * sum(map(lambda v: v**2, (x, y)))


PROGRAMS = [
    Program(helpers, normal(("n",))),
    Program(one_helper_twice, normal(None, None), (0, 1)),
    Program(helper_of_helper, normal(("n",))),
    Program(several_results, normal(None, None), (0, 1)),
    Program(globals_read, normal((3,))),
    Program(closure_over_argument, normal(("n",), ("n",)), (0, 1)),
    Program(closure_sees_later_binding, normal(None)),
    Program(closure_in_loop, normal(None)),
    Program(function_made_by_function, normal(None)),
    Program(make_polynomial(1.0, -2.0, 0.5, 1.0), normal(None), name="closure_itself"),
    Program(lambdas, normal(None, None), (0, 1)),
    Program(PAIR_OF_LAMBDAS[0], normal(None, None), (0, 1), name="first_lambda_on_line"),
    Program(PAIR_OF_LAMBDAS[1], normal(None, None), (0, 1), name="second_lambda_on_line"),
    Program(lambda x: np.sum(x**3) * x[0], normal(("n",)), name="lambda_in_a_call"),
    Program(functions_as_arguments, normal(("n",))),
    Program(integral_of_parameter, positive(None, None), (0, 1)),
    Program(fixed_point_of_closure, normal(None)),
    Program(functions_in_dict, normal((3,), then=("soft",))),
    Program(functions_in_dict, normal((3,), then=("tanh",)), name="functions_in_dict_other"),
    Program(functions_in_list, normal(("n",))),
    Program(partials, normal(None, None), (0, 1)),
    Program(functools.partial(softplus, sharpness=3.0), normal(None), name="partial_itself"),
    Program(functools.partial(np.dot, WEIGHTS), normal((3,)), name="partial_of_numpy"),
    Program(defaults_and_keywords, normal(None, None), (0, 1)),
    Program(star_arguments, normal(None, None, None), (0, 1, 2)),
    Program(functools.partial(star_keywords, power=3), normal((3,)), name="star_keywords"),
    Program(passing_stars, normal(None, None), (0, 1)),
    Program(decorated, normal(None, None), (0, 1)),
    Program(decorated_with_argument, normal((3,))),
    Program(calls_decorated, normal(None, None), (0, 1)),
    Program(MODEL, normal((3,)), name="callable_object"),
    Program(Cubic(0.3, -0.6), normal(("n",)), name="callable_object_of_subclass"),
    Program(Quadratic(0.3, -0.6).value, normal(None), name="bound_method"),
    Program(Cubic(0.3, -0.6).value, normal(None), name="bound_method_with_super"),
    Program(instance_as_closure, normal((3,))),
    Program(numpy_alias_inside, normal(("n",))),
    Program(operators_as_functions, positive(None, None), (0, 1)),
    Program(reduce_and_map, normal(None, None), (0, 1)),
    Program(np.sum, normal((3,)), name="numpy_function_itself"),
    Program(np.linalg.norm, normal((3,)), name="numpy_norm_itself"),
    Program(math.sin, fixed(0.7), name="math_function_itself"),
]
