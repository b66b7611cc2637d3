"""Programs that the reader has to read: every construct, in combinations that trip readers up.

Each is a function with arguments; what its Core computes must be what Python computes.
"""

import functools
import math
import operator
import warnings
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

VECTOR = np.array([0.5, -1.25, 2.0, 0.75, -0.3])
MATRIX = np.arange(12.0).reshape(4, 3) / 7 - 0.6
PROGRAMS = []


def program(*args, **kwargs):
    def note(function):
        PROGRAMS.append((function, args, kwargs))
        return function

    return note


RATE = 0.25
STEPS = 3
TABLE = np.array([2.0, 3.0, 5.0])
LAYERS = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
OPTIONS = {"mode": "tanh", "scale": 1.5, "weights": np.array([0.5, 0.25])}


class Point(NamedTuple):
    x: float
    y: float = 2.0


Pair = namedtuple("Pair", "first second")


@dataclass
class Config:
    rate: float = 0.5
    size: int = 3
    name: str = "cubic"
    history: list = field(default_factory=list)


@dataclass
class Checked:
    value: float
    double: float = 0.0

    def __post_init__(self):
        self.double = 2 * self.value


class Model:
    scale = 3.0

    def __init__(self, weights, bias=0.5):
        self.weights = weights
        self.bias = bias
        self.calls = 0

    @property
    def total(self):
        return np.sum(self.weights) + self.bias

    @staticmethod
    def square(v):
        return v * v

    @classmethod
    def made(cls, v):
        return cls(v, bias=cls.scale)

    def __call__(self, x):
        self.calls += 1
        return self.weights * x + self.bias

    def __add__(self, other):
        return Model(self.weights + other.weights, self.bias)

    def __getitem__(self, k):
        return self.weights[k]

    def __len__(self):
        return 7


class Deeper(Model):
    def __init__(self, weights):
        super().__init__(weights, bias=0.125)
        self.depth = 2

    @property
    def total(self):
        return super().total * self.depth


OUTER = Model(np.array([1.5, -0.5]), bias=0.75)


def twice(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return 2 * function(*args, **kwargs)

    return wrapper


@twice
def decorated(x, power=2):
    return x**power


@functools.cache
def cached(x):
    return x * 3


# Names, numbers, operators.


@program(1.5, 2.0)
def arithmetic(x, y):
    a = b = x * y
    c: float = a / 2 + b**2 - -x
    d, (e, *f) = c, [x, y, c]
    c += d
    return c * e + f[0] + f[1] + +y + x // y + x % y


@program(0.7)
def named_constants(x):
    dt = 0.01
    pi2 = 2 * np.pi
    return x * dt + math.pi * RATE + pi2 * math.sqrt(2 / math.pi) + np.e**x + x ** (1 / 3) + 10**-2


@program(0.7)
def constants_decide(x):
    step = 0.25
    if step > 0.1 and RATE < 1:
        x = x * 2
    for _ in range(int(1.0 / step)):
        x = x + 1
    return x if round(step * 4) == 1 else 0.0


@program(3, 2.0)
def integers(n, x):
    m = n * 2 + 1
    return (m // 2) * x + n**2 + (n & 1) + (n << 2) + (m % 4) * x + abs(-n) + divmod(m, 2)[1] + float(n)


@program(VECTOR)
def sizes(x):
    n = len(x)
    (k,) = x.shape
    half = n // 2
    assert n == k and half >= 0 and n * 2 > n
    return x[half] * n + x.size / x.ndim + np.sum(x[: n - 1]) / (n - 1) + n**2 + n * 0.5 + -n + n % 2 + math.sqrt(n)


@program(MATRIX)
def shapes(m):
    n, d = m.shape
    rows = np.zeros((n, d)) + np.ones(m.shape[1]) + np.full((n, 1), 2.0)
    return rows * m, m.reshape(n * d), m.T.shape[0] * 1.0, np.prod(m.shape) * 1.0, np.zeros(n + d)


@program(0.3, -0.4)
def chained_comparisons(x, y):
    a = 1.0 if -1 < y < x < 1 else 2.0
    b = 3.0 if x < y < 1 / (x + 0.4) else 4.0
    return a * b + (x < y) * 5 + (not x < y) * 7 + (x != y) * 11


@program(0.3, 0)
def short_circuits(x, k):
    a = x > 0 and 1 / x > 2
    b = k != 0 and 1 / k > 0
    c = x or 5.0
    d = k or x
    e = None or x
    return a * 1.0 + b * 2.0 + c + d + e + (x < 0 or x > 0.2) * 3


@program(2.0)
def walrus(x):
    y = (z := x * 3) + z
    values = [w := x, w * 2, w + y]
    return values[0] + values[1] * values[2] + w


@program(0.5)
def complex_numbers(x):
    z = x + 2j * x
    w = (1 + 2j) * z
    return (w * np.conj(w)).real + abs(z) + z.imag


@program(VECTOR)
def weak_and_strong(x):
    y = x.astype(np.float32)
    return y * 2.5, y + 1, y * np.float64(2.0), np.float32(0.5) * y, x.sum() * np.float32(2)


@program(np.array([3, 1, 2]), np.array([True, False, True]))
def other_dtypes(k, flags):
    return k * 2, k / 2, ~flags, k[flags], flags.sum() + k.max(), (k > 1) & flags, k**2


# Conditions.


@program(0.4, -1.0)
def branches(x, y):
    if x > y:
        a, b = x, y
        if y < 0:
            c = a * b
        else:
            c = a + b
    elif x == y:
        a, b, c = 1.0, 2.0, 3.0
    else:
        a, b = y, x
        c = 0.0
    return a + 2 * b + 3 * c


@program(-0.4)
def bound_in_one_branch(x):
    if x < 0:
        y = x * 2
        z = 3
    if x < 0:
        return y + z
    return x


@program(-0.4)
def weak_joins(x):
    k = 0
    y = 1
    if x < 0:
        k = 2
        y = x
    else:
        k = 3
    return k * y + k


@program(VECTOR, 0.2)
def strong_joins(v, x):
    total = 0.0
    if x > 0:
        total = v.sum()
    scale = v[0] if x > 1 else 2
    return total + scale


@program(0.3, None)
def static_branches(x, mode):
    if mode is None:
        y = "text"
    else:
        y = x.nothing
    if isinstance(x, float) and not isinstance(x, np.ndarray) and hasattr(mode, "__class__"):
        return x * len(y)
    return None


@program(VECTOR, 0.3)
def arrays_in_branches(x, t):
    y = np.zeros_like(x)
    if t > 0:
        y[0] = 1.0
        y = y + x
    else:
        y[1:] = 2.0
    y[2] += 5.0
    return y


@program(0.3)
def containers_in_branches(x):
    state = {"a": x, "b": 1.0, "tag": "same"}
    pair = (x, 2)
    values = [x, x]
    if x > 0.1:
        state["a"] = x * 2
        pair = (x + 1, 3)
        values[1] = 7.0
    else:
        state["b"] = x
        values[0] = 1.0
    return state, pair, values


@program(0.3, "relu")
def string_options(x, kind):
    table = {"relu": lambda v: max(v, 0.0), "square": lambda v: v * v}
    return table[kind](x) + table["square"](x)


@program(0.3)
def raising_branches(x):
    if x < 0:
        raise ValueError("negative")
    elif x > 10:
        raise ValueError(f"{x} is too large")
    else:
        y = np.sqrt(x)
    assert y > 0, "positive"
    return y


@program(2)
def match_numbers(n):
    match n:
        case 0 | 1:
            y = 1.0
        case 2 if n > 1:
            y = 2.0
        case _:
            y = 3.0
    return y * n


@program(0.5)
def match_structures(x):
    total = 0.0
    for item in [("scale", 2.0), ("shift", x, 1.0), {"power": 2, "rest": x}, Point(x, 3.0), [x, 1, 2, 3], None]:
        match item:
            case ("scale", factor):
                total = total + factor * x
            case ("shift", *amounts):
                total = total + amounts[0] - amounts[1]
            case {"power": int(power), **rest}:
                total = total + x**power + rest["rest"]
            case Point(x=px, y=3.0):
                total = total + px
            case [first, *_, last]:
                total = total + first * last
            case None:
                total = total + 1
    return total


# Loops.


@program(0.5, 4)
def range_loops(x, n):
    total = 0.0
    for i in range(n):
        total += x * i
    for i in range(2, n + 3):
        total = total + i
    for i in range(n, 0, -1):
        total = total * x + i
    for i in range(1, 10, 3):
        total -= i
    for i in range(-3, n):
        total += i * x
    for i in range(10, 1, -4):
        total += i
    return total + i


@program(0.5, 0)
def zero_trips(x, n):
    y = x
    for i in range(n):
        y = y * 2
        last = i  # noqa: F841
    for i in range(3, n):
        y = y + 100
    return y


@program(VECTOR)
def loop_variable_after_loop(x):
    for i in range(len(x) - 1):
        y = x[i]
    for v in x:
        pass
    return i + y + v


@program(VECTOR)
def over_arrays(x):
    total = 0.0
    for v in x:
        total += v * v
    for k, v in enumerate(x):
        total += k * v
    for k, v in enumerate(x[1:], start=2):
        total += k * v
    for a, b in zip(x, x[::-1]):
        total += a * b
    for k, (a, b) in enumerate(zip(x[1:], x)):
        total -= k * a / (1 + b * b)
    for v in reversed(x):
        total = total * 0.5 + v
    for k in reversed(range(2, 5)):
        total += k * x[k]
    return total


@program(MATRIX)
def over_rows(m):
    total = np.zeros(3)
    for row in m:
        total = total + row * row[0]
    for row in m:
        for v in row:
            total[1] += v
    return total


@program(0.5)
def over_containers(x):
    total = 0.0
    for a in (x, 2.0, 3):
        total += a
    for key, value in {"a": x, "b": 2.0}.items():
        total += value * (2 if key == "a" else 3)
    for letter in "ab":
        total += ord(letter) * x
    for k, (a, b) in enumerate([(1, x), (x, 2)]):
        total += k * a * b
    for a, b in zip([x, 2 * x], np.array([1.0, 2.0])):
        total += a * b
    for a in sorted([3, 1, 2]):
        total = total * a
    for key in {"p": 1}:
        total += len(key)
    return total


@program(0.5)
def widening(x):
    a = 0
    b = 1
    c = 0.0
    for v in np.array([1.0, 2.0]):
        a = a + b
        b = b * x
        c = c + v
    return a, b, c


@program(10.0)
def swapping(x):
    a, b, k = 0.0, 1.0, 0
    while a < x:
        a, b = b, a + b
        k += 1
    return a, b, k


@program(7.0)
def while_loops(x):
    n = 0
    while True:
        x = x / 2
        n += 1
        if x < 0.1:
            break
    while n > 3 and x < 1:
        n -= 1
        x = x * 1.5
    else:
        x = x + 1
    i = 5
    while i > 0:
        i -= 2
        if i == 1:
            continue
        x = x + i
    return x, n, i


@program(VECTOR, 0.6)
def breaks(x, limit):
    total = 0.0
    for k in range(len(x)):
        if x[k] > limit:
            break
        total += x[k]
    else:
        total = -1.0
    for v in x:
        if v < 0:
            continue
        total += v
        if total > 2:
            break
    return total, k


@program(VECTOR, 1.0)
def early_return(x, limit):
    for k in range(len(x)):
        for v in x:
            if v * k > limit:
                return v + k
        limit = limit * 0.9
    return limit


@program(VECTOR)
def flags(x):
    first = True
    for v in x:
        if first:
            best = v
            first = False
        elif v > best:
            best = v
    return best


@program(VECTOR)
def previous_value(x):
    total = 0.0
    for k in range(len(x)):
        if k > 0:
            total += x[k] * previous  # noqa: F821
        previous = x[k]  # noqa: F841
    return total


@program(0.4, 3)
def nested_loops(x, n):
    total = 0.0
    for i in range(n):
        inner = 1.0
        for j in range(i + 1):
            inner *= x + j
            for k in range(2):
                total += inner * k
        total = total + inner
    return total


@program(0.5)
def unrolled_on_demand(x):
    weights = [1.0, x, "three"]
    powers = (3, 1, 2)
    total = 0.0
    for i in range(2):
        total += weights[i] * x ** powers[i]
    k = 0
    for _ in range(3):
        total += powers[k]
        k += 1
    i = 0
    while i < len(powers):
        total += powers[i] * x
        i += 1
    return total


@program(0.5, 3)
def demanded(x, n):
    layers = [x] * n
    names = ["a", "b", "c"]
    y = np.arange(6.0).reshape(2, n)
    return sum(layers) + len(names[n - 1]), np.sum(y, axis=n - 2)


@program(VECTOR)
def structure_changes(x):
    y = x
    for _ in range(2):
        y = y[1:] + y[:-1]
    state = ()
    for _ in range(3):
        state = (*state, x[0])
    return y, state


@program(VECTOR)
def reused_temporaries(x):
    total = 0.0
    for i in range(3):
        t = x[i]
        total += t
    for i in range(3):
        t = x * i
        total += t.sum()
    t = "text"
    return total + len(t)


# Lists that loops fill.


@program(VECTOR)
def appended(x):
    values = []
    for v in x:
        values.append(v * 2)
    total = 0.0
    for v in values:
        total += v
    return np.array(values), total, len(values) * 1.0, values[1], values[-1], sum(values), np.mean(values), max(values)


@program(VECTOR)
def appended_to_start(x):
    states = [0.0]
    for v in x:
        states.append(states[-1] * 0.5 + v)
    states.append(9.0)
    return np.array(states), states[0], states[-1]


@program(MATRIX)
def appended_rows(m):
    rows = []
    for row in m:
        rows.append(np.tanh(row))
    table = []
    for i in range(m.shape[0]):
        line = []
        for j in range(m.shape[1]):
            line.append(m[i, j] * i)
        table.append(line)
    return np.array(rows), np.stack(rows), rows[0], np.array(table), np.array(rows[1:])


@program(VECTOR)
def comprehensions(x):
    squares = [v * v for v in x]
    named = {k: x[k] for k in range(3)}
    pairs = [(a, b) for a, b in zip([1.0, 2.0], [x[0], x[1]])]
    few = [v for v in (1, 2, 3, 4) if v % 2 == 0]
    nested = [[i * x[j] for j in range(2)] for i in range(3)]
    return (
        np.array(squares),
        named[2],
        pairs[1][1],
        sum(few),
        np.array(nested),
        sum(v for v in x if v > 0),
        np.array([x[i] * k for i in range(3) for k in (0, 1)]),
        tuple(k for k in (1, 2)),
    )


@program(VECTOR)
def sums_and_extremes(x):
    total = sum(v**2 for v in x) + sum([x[0], 2.0], 3.0) + sum(x)
    low, high = min(x[0], x[1], 0.1), max(x[0], 3)
    order = min(len(x), 3) + max(2, 7)
    parts = any(v > 0 for v in (x[0], x[1])) * 1.0 + all([x[0] > 0, x[2] > 5]) * 2.0
    return total, low, high, order, parts, functools.reduce(operator.mul, [x[0], x[1], 2]), min(x), max([3, 1])


@program(VECTOR)
def reduce_over_array(x):
    return functools.reduce(lambda a, b: a * 0.5 + b, x, 1.0), functools.reduce(lambda a, b: a + b * b, x)


@program(VECTOR)
def generators(x):
    doubled = list(map(lambda v: 2 * v, (x[0], x[1])))
    kept = list(filter(None, (0, 1, 2)))
    positive = [v for v in map(abs, (1, -2))]
    return doubled[0] + doubled[1], kept, positive, dict(zip("ab", (x[0], x[1])))["b"], list(range(3)), tuple(x[:2])


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


# Writing in place.


@program(VECTOR, 2)
def item_assignment(x, k):
    y = x.copy()
    y[0] = 5
    y[k] = y[0] * 2
    y[-1] += 3
    y[1:3] *= 2
    y[k] -= x[0]
    y[y > 5] = 0.0
    y[[0, 1]] += 1.0
    y[np.array([3, 3])] += 1.0
    np.add.at(y, [3, 3], 1.0)
    return y


@program(MATRIX)
def matrix_assignment(m):
    a = np.zeros((4, 3))
    a[0] = m[1]
    a[:, 1] = 2.0
    a[1, 2] = a[0, 0]
    a[2:, 1:] += m[2:, :2]
    a[3][1] = 7.0
    a[..., 0] /= 2
    a.T[2] = 1.5
    row = a[1]
    row[0] = 9.0
    row += 1
    return a, row


@program(VECTOR)
def views_and_aliases(x):
    a = x.copy()
    b = a
    b[0] = 10.0
    c = a[1:]
    c += 1
    d = c[1:]
    d[0] = -5.0
    a[3] = 6.0
    e = a.reshape(5, 1)
    e[4, 0] = 2.5
    return a, b, c, d, e


@program(VECTOR)
def overlapping(x):
    u = x.copy()
    u[1:] += u[:-1]
    u[:-1] = u[1:]
    u[0] *= u[1]
    u[1:-1] = 0.5 * (u[2:] + u[:-2])
    return u


@program(VECTOR)
def writes_arguments(x):
    x[0] = 3.0
    y = x[1:]
    y *= 2
    x += 1
    return x.sum()


@program(MATRIX.copy())
def rows_written_in_loop(m):
    for row in m:
        row[:] = row * 2
        row[0] = 0.0
    for k, row in enumerate(m):
        row += k
    return m


@program(VECTOR)
def fills(x):
    a = np.empty(3)
    a.fill(x[0])
    b = np.ones(3)
    np.copyto(b, a)
    np.add(a, 1.0, out=a)
    b[...] = 4.0
    c = np.multiply(a, 2.0)
    return a, b, c, x[0].item() + float(x[1])


@program(VECTOR, 4)
def in_place_in_loops(x, n):
    u = x.copy()
    v = np.zeros_like(u)
    for k in range(n):
        v[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
        u += 0.1 * v
        if k % 2:
            u[0] = k
    return u, v


@program(VECTOR, 3)
def ping_pong(x, n):
    a = x.copy()
    b = np.zeros_like(a)
    for _ in range(n):
        b[1:-1] = a[2:] + a[:-2]
        b[0] = a[0]
        a, b = b, a
    return a, b


@program(VECTOR, 3)
def replaced_in_loop(u, n):
    previous = u.copy()
    for _ in range(n):
        following = 2 * u - previous
        following[0] = 0.0
        previous, u = u, following
    return u, previous


@program(VECTOR)
def arrays_in_containers(x):
    state = {"u": x.copy(), "k": 0}
    parts = [np.zeros(2), np.ones(2)]
    for k in range(3):
        state["u"][0] += 1.0
        state["u"] *= 1.5
        state["k"] += 1
        parts[1] += k
    parts[0][1] = 4.0
    return state, parts


@program(VECTOR)
def merged_arrays(x):
    if x[0] > 0:
        y = np.zeros(3)
    else:
        y = np.ones(3)
    y[0] = 5.0
    z = x if x[1] > 0 else x * 2
    return y, z + 1


@program(VECTOR, 0.5)
def writes_in_branches(x, t):
    y = x.copy()
    z = y + 0
    if t > 0:
        y[0] = 1.0
    else:
        y = y * 2
    w = y[1:]
    if t > 0.2:
        w[0] = 7.0
    return y, z, w


@program(0.5)
def attributes_in_loops(x):
    model = Model(x)
    for k in range(3):
        model.weights = model.weights * 2
        model.bias = model.bias + k
        model(1.0)
    return model.weights, model.bias, model.calls


@program(0.5)
def structures_as_carries(x):
    state = Point(x, 0.0)
    pair = (1.0, {"v": x})
    for k in range(3):
        state = Point(state.x * 2, state.y + k)
        pair = (pair[0] + pair[1]["v"], {"v": pair[1]["v"] * 0.5})
    return state, pair


# Effects.


@program(0.5, 3)
def effects(x, n):
    print("start", n, end="; ")
    for i in range(2):
        print(f"{i}: {x * i:.3f}", x, sep="|")
    print({"a": x, "b": [1, x]}, (x,), f"{x!r:>8}", "%", str(n) + "!", f"{n} {x:.1f}")
    assert x > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(x)
    return y


@program(VECTOR)
def warned(x):
    if x[0] > 100:
        warnings.warn(f"large: {x[0]}", RuntimeWarning, stacklevel=2)
    with np.errstate(all="ignore"):
        return np.sum(x) / 2


@program(VECTOR)
def numpy_facts(x):
    eps = np.finfo(x.dtype).eps
    kind = np.result_type(x, np.float32)
    y = np.asarray(x)
    z = np.array(x)
    z[0] = 1.0
    found = (x.dtype == np.float64) * eps + (kind == np.dtype(float)) * 1.0
    return found, y is x, z, np.shape(x)[0], np.ndim(x), np.size(x)
