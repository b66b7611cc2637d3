"""Functions, objects, containers."""

import functools
from collections import OrderedDict, defaultdict

import numpy as np

from .surroundings import (
    LAYERS,
    OPTIONS,
    OUTER,
    STEPS,
    TABLE,
    VECTOR,
    Checked,
    Config,
    Deeper,
    Model,
    Pair,
    Point,
    cached,
    decorated,
    program,
    twice,
)

# Functions.


@program(0.5)
def helpers(x):
    def power(v, n=2, *, shift=0.0):
        return v**n + shift

    def apply(function, *args, **kwargs):
        return function(*args, **kwargs)

    square = functools.partial(power, n=2)
    return apply(power, x, 3, shift=1.0) + square(x) + apply(lambda *a: sum(a), x, 2.0) + power(n=1, v=x)


@program(0.5)
def closures(x):
    count = 0

    def step(v):
        nonlocal count
        count += 1
        return v * factor

    factor = 2.0
    y = step(x)
    factor = x
    z = step(y)
    return z + count


@program(0.5)
def decorated_functions(x):
    @twice
    def local(v):
        return v + 1

    return decorated(x) + decorated(x, power=3) + local(x) + cached(x)


@program(0.5)
def static_recursion(x):
    def power(v, n):
        return 1.0 if n == 0 else v * power(v, n - 1)

    return power(x, 5)


@program(0.5, (1.0, 2.0), scale=3.0, extra=0.25)
def signatures(x, pair, *rest, scale, power=2, **others):
    a, b = pair
    return x * a + b * scale**power + len(rest) + others["extra"] + sum(others.values())


@program(0.5)
def made_functions(x):
    def polynomial(*coefficients):
        def evaluate(v):
            total = 0.0
            for c in reversed(coefficients):
                total = total * v + c
            return total

        return evaluate

    functions = {"p": polynomial(1.0, x, 2.0), "q": lambda v: v + 1}
    return functions["p"](x) + [f(x) for f in functions.values()][1]


@program(0.5)
def imports_inside(x):
    import math as m
    from math import exp
    from math import sin as sine

    return m.cos(x) + sine(x) * exp(x)


# Objects.


@program(VECTOR)
def user_classes(x):
    model = Model(x, bias=0.25)
    other = Deeper(x * 2)
    y = model(x) + Model.square(x) + Model.made(x).bias
    both = model + other
    return y, model.calls, other.total, both[1], len(both), both.total, model.scale


@program(0.5)
def data_objects(x):
    config = Config(rate=x, name="linear")
    config.rate = config.rate * 2
    config.history.append(x)
    checked = Checked(x)
    point = Point(x)._replace(y=x * 3)
    pair = Pair(first=x, second=2.0)
    return config.rate + config.size + len(config.name) + config.history[0], checked.double, point, pair.first


@program(Config(rate=0.25), Point(1.5, 2.5), {"w": VECTOR, "b": [1.0, 2.0]})
def structured_arguments(config, point, params):
    w, b = params["w"], params["b"]
    x, y = point
    return {"sum": w.sum() * config.rate + b[0] * x + y, "point": Point(x * 2, y), "size": config.size}


@program(0.5)
def dictionaries(x):
    d = {"a": x, **{"b": 2.0}}
    d["c"] = d.get("a") * 2
    d.setdefault("d", x)
    d.update(e=x * 5)
    popped = d.pop("b")
    counts = defaultdict(int)
    counts["k"] += 3
    ordered = OrderedDict([("z", x)])
    total = sum(d.values()) + popped + counts["k"] + ordered["z"] + d.get("missing", 1.0)
    return total, [k for k, v in d.items()], "a" in d, len(d), {**d}["e"]


@program(0.5)
def lists(x):
    a = [1.0, x]
    b = a
    a += [x * 2]
    b.append(4.0)
    a.insert(0, x)
    last = b.pop()
    c = a + [7.0] * 2
    a[1:2] = [8.0, 9.0]
    del a[0]
    a.reverse()
    first, *middle, end = c
    return a, c, last, first + end, len(middle), a[-1], a[::2], (1, x) + (2,), x in (0.5, 2) and 3


@program(0.5)
def objects_from_outside(x):
    v = OUTER.weights * x + OUTER.bias + TABLE[:2] + LAYERS[1] * OPTIONS["scale"] + OPTIONS["weights"]
    for layer in LAYERS:
        v = v * layer
    if OPTIONS["mode"] == "tanh":
        v = np.tanh(v)
    return v.sum() * STEPS + OUTER.total + OUTER[0]


@program({"w0": 0.5, "w1": 2.0, "w2": -1.0}, VECTOR)
def names_made_of_numbers(params, x):
    total = 0.0
    for k in range(3):
        total = total + params[f"w{k}"] * x[k]
        if f"w{k}" == "w1":
            total = total * 2
    best = float("-inf")
    for v in x:
        best = max(best, v)
    return total, best


@program(0.5)
def options_with_arrays(x, *, scale=LAYERS[0], table=(LAYERS[1], "name")):
    first, name = table
    return x * scale * first + scale.shape[0] + {**OPTIONS}["weights"][1] + len(name)
