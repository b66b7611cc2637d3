"""Names, numbers, operators, conditions, effects."""

import math
import warnings

import numpy as np

from .surroundings import MATRIX, RATE, VECTOR, Point, program

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
