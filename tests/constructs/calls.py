"""Functions of every kind, and the ways to call them."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from transformer import custom_jvp, custom_vjp, define_op, grad, stop_gradient
from transformer.core.errors import BadArgument, NotSupported, SourceError

from .rows import VECTOR, Section

SECTION = Section("Functions and calls")
supported, refused = SECTION.supported, SECTION.refused


def cube(x: Any, scale: Any = 1.0) -> Any:
    return scale * x**3


def total(*values: Any, **named: Any) -> Any:
    return sum(values) + named.get("extra", 0.0)


def twice(function: Any, x: Any) -> Any:
    return function(function(x))


RULES = {"cube": cube, "sine": np.sin}
doubled = functools.partial(cube, scale=2.0)
generated = eval("lambda x: x * x")


def logged(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args) + 1.0

    return wrapper


@logged
def decorated_cube(x: Any) -> Any:
    return x**3


@functools.lru_cache
def cached_cube(x: Any) -> Any:
    return x**3


@custom_jvp
def with_jvp_rule(x: Any) -> Any:
    return x**3


with_jvp_rule.defjvp(lambda primals, tangents: (primals[0] ** 3, 3 * primals[0] ** 2 * tangents[0]))


@custom_vjp
def with_vjp_rule(x: Any) -> Any:
    return x**3


with_vjp_rule.defvjp(lambda x: (x**3, x), lambda x, dy: (3 * x * x * dy,))


@define_op(partials=lambda t, x, y: 3 * x * x * t)
def without_reading(x: Any) -> Any:
    return x**3


@supported("`def`, with a docstring and annotations")
def plain(x: float) -> float:
    """A docstring."""
    return x * x


@supported("a function of another module, or of the same one",
           "read and written inline; those of some lines that are called repeatedly stay functions in source")
def other_function(x):
    return cube(x) + cube(2 * x)


@supported("`lambda`", "several on one line are told apart")
def lambdas(x):
    f, g = (lambda t: t * t), (lambda t: t + 3.0)
    return f(x) * g(x)


@supported("a closure over an argument")
def closure(x):
    def scaled(t):
        return t * x

    return scaled(x) + scaled(2.0)


@supported("a function defined in a function, in a loop or a branch")
def nested(x):
    for k in range(2):

        def step(t):
            return t * t + k

        x = step(x)
    return x


@supported("`nonlocal`")
def nonlocal_name(x):
    count = 0.0

    def add(t):
        nonlocal count
        count = count + t

    add(x)
    add(x * x)
    return count


@supported("defaults and keyword arguments")
def keywords(x):
    return cube(x, scale=x) + cube(scale=3.0, x=x)


@supported("positional-only and keyword-only parameters")
def restricted(x):
    def f(a, /, *, b):
        return a * b

    return f(x, b=x + 1.0)


@supported("`*args`, `**kwargs`, in definitions and calls")
def stars(x):
    values, options = (x, x * x), {"extra": 2.0 * x}
    return total(*values, **options)


@supported("a function passed as an argument")
def passed(x):
    return twice(cube, x)


@supported("a function stored in a dict, a list or a tuple", "the key has to be static")
def stored(x):
    return RULES["cube"](x) * RULES["sine"](x)


@supported("a function chosen by a branch on a static value", args=(1.3, "cube"))
def chosen(x, rule):
    f = cube if rule == "cube" else np.sin
    return f(x)


@supported("a function chosen by a branch on a dynamic value", "what follows is read for each of them")
def chosen_by_value(x):
    f = np.cos if x > 0 else np.sin
    return f(x)


@refused("a function that another one returns, chosen by a dynamic value", NotSupported,
         "move the code that uses it into both branches")
def returned_by_value(x):
    def rule(v):
        return np.cos if v > 0 else np.sin
    return rule(x)(x)


@supported("`functools.partial`")
def partial(x):
    return doubled(x)


@supported("`functools.reduce`, `map`, `filter`", args=(VECTOR,))
def functional(x):
    return functools.reduce(operator.add, map(np.sin, x)) + sum(filter(None, [x[0], 1.0][1:]))


@supported("a decorated function", "the decorator's wrapper is read as well")
def decorated(x):
    return decorated_cube(x)


@supported("a function under `functools.lru_cache`", "the cache is left out")
def cached(x):
    return cached_cube(x)


@supported("a NumPy function passed as an argument", "`grad(np.sin)` works as well")
def numpy_function(x):
    return twice(np.sin, x)


@supported("functions of `operator`")
def operators(x):
    return operator.mul(x, operator.neg(x))


@supported("`grad`, `jvp`, `vjp` inside the function", "to any order")
def inner_gradient(x):
    return grad(cube)(x) * x


@supported("`stop_gradient`", "compared with the derivative of the rest", args=(1.3,))
def stopped(x):
    return x * x + 0.0 * stop_gradient(x)


@supported("recursion", "a function of its own in the result, not unrolled", args=(1.3, 4))
def recursion(x, n):
    return x if n == 0 else x * recursion(x, n - 1) + 1.0


@supported("recursion that ends on a value")
def recursion_on_a_value(x):
    return x if x < 1.0 else recursion_on_a_value(x / 2) * x


@supported("functions that call each other", "one of them becomes a function of its own", args=(1.3, 5))
def mutual_recursion(x, n):
    return x if n == 0 else other_recursion(x * 1.5, n - 1)


def other_recursion(x, n):
    return -x if n == 0 else mutual_recursion(x + 2.0, n - 1)


def twice_in_a_list(x: Any, n: Any) -> Any:
    items = [x * x]
    return (items, items) if n == 0 else twice_in_a_list(0.5 * x, n - 1)


@refused("recursion that returns a list in two places", NotSupported, "return it once, or a copy", args=(1.3, 4))
def recursion_returning_a_list_twice(x, n):
    return sum(map(sum, twice_in_a_list(x, n)))


@supported("recursion on parts of an array", args=(VECTOR,))
def halving(x):
    if len(x) == 1:
        return x[0] ** 2
    half = len(x) // 2
    return halving(x[:half]) + np.sin(halving(x[half:]))


@supported("recursion on parts that must be equally long", "tested at run time", args=(np.append(VECTOR, 0.7),))
def recursive_transform(x):
    def haar(part):
        if len(part) == 1:
            return part
        mean, rest = (part[::2] + part[1::2]) / 2, part[::2] - part[1::2]
        return np.concatenate([haar(mean), rest])

    return np.sum(haar(x) ** 2)


@supported("recursion that writes to an array", args=(VECTOR,))
def writing_recursion(x):
    def fill(y, k):
        if k < len(y):
            y[k] = y[k] * np.sin(y[k - 1])
            fill(y, k + 1)

    y = x.copy()
    fill(y, 1)
    return np.sum(y)


@supported("recursion over a structure", "unrolled: there is one call for each part", args=(1.3,))
def recursion_over_structure(x):
    def total(tree):
        return sum(map(total, tree)) if isinstance(tree, tuple) else tree * tree

    return total((x, (x + 1.0, 2.0 * x)))


@supported("recursion that indexes a container", "unrolled, with an integer argument that is known", args=(1.3, 0))
def recursion_through_a_list(x, k):
    functions = [np.sin, np.cos, np.tanh]
    return x if k == len(functions) else recursion_through_a_list(functions[k](x), k + 1)


@refused("recursion without an end", NotSupported, "return in the simplest case")
def endless_recursion(x):
    return endless_recursion(x / 2)


@refused("recursion that changes a list around it", NotSupported, "return what it collects")
def collecting_recursion(x):
    found = []

    def collect(y):
        if y > 0.1:
            found.append(y)
            collect(y / 2)

    collect(x)
    return sum(found)


@supported("a generator (`yield`, `yield from`)", "read where its items are used")
def generator(x):
    def values():
        yield x
        yield x * x

    return sum(values())


@refused("a coroutine (`async def`, `await`)", NotSupported)
def coroutine(x):
    async def value():
        return x

    return value()


@refused("a function without source (`eval`, `exec`, the prompt)", SourceError, "register the text with `linecache`")
def without_source(x):
    return generated(x)


@supported("a function with a rule of your own: `custom_jvp`, `custom_vjp`", "[custom_rules.md](custom_rules.md)")
def own_rules(x):
    return with_jvp_rule(x) + with_vjp_rule(2 * x)


@supported("a function of another library with `define_op`", "[custom_rules.md](custom_rules.md)")
def defined(x):
    return without_reading(x)


@refused("a function of C without a rule", NotSupported, args=(VECTOR,))
def unknown(x):
    return np.sum(np.real_if_close(x))


@refused("a missing or superfluous argument", BadArgument)
def missing(x):
    return cube() * x
