"""Helpers of some lines that a program calls several times: they stay functions in the source of derivatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .program import Program, fixed

THREE = np.array([0.5, -0.3, 1.2])
OTHER = np.array([0.7, 0.4, -0.6])


def reaction_rates(y, k):
    a, b, c = y[0], y[1], y[2]
    forward = k[0] * a
    back = k[1] * b * c
    slow = k[2] * b * b
    light = np.exp(-forward) + np.tanh(back)
    return np.array([back * light - forward, forward - back - slow, slow + light])


def runge_kutta_of_rates(k, y):
    h = 0.1
    for _ in range(3):
        k1 = reaction_rates(y, k)
        k2 = reaction_rates(y + 0.5 * h * k1, k)
        k3 = reaction_rates(y + 0.5 * h * k2, k)
        k4 = reaction_rates(y + h * k3, k)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(y * y)


def drag_and_spin(x, v, w, c):
    r = np.sqrt(x @ x + 0.1)
    drag = c * v * np.sqrt(v @ v + 1e-3)
    force = -x / r**3 - drag
    spin = np.array([v[1], -v[0]]) * w
    return force + spin * 0.1 + np.sin(x) * np.exp(-r)


def verlet_steps(x, v, w):
    h = 0.1
    for _ in range(3):
        v = v + 0.5 * h * drag_and_spin(x, v, w, 0.2)
        x = x + h * v
        v = v + 0.5 * h * drag_and_spin(x, v, w, 0.2)
    return np.sum(x * x) + np.sum(v)


def standardized(x, gain, bias):
    mean = np.mean(x, axis=-1, keepdims=True)
    std = np.sqrt(np.mean((x - mean) ** 2, axis=-1, keepdims=True) + 1e-5)
    return gain * (x - mean) / std + bias


def bent(x):
    u = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    return 0.5 * x * (1 + np.tanh(u))


def residual_block(x, p):
    y = x + bent(standardized(x, p["g1"], p["b1"]) * p["w"])
    return y + bent(standardized(y, p["g2"], p["b2"])) * p["w"]


def residual_blocks(x, p, q):
    for _ in range(2):
        x = residual_block(x, p)
        x = residual_block(x, q)
    return np.sum(standardized(x, p["g1"], q["b2"]) ** 2)


def shares(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def affine(x, w, b):
    return x @ w + b


def attending(x, into, out, heads):
    parts = [np.split(part, heads, axis=-1) for part in np.split(affine(x, **into), 3, axis=-1)]
    seen = [shares(q @ k.T / np.sqrt(q.shape[-1])) @ v for q, k, v in zip(*parts)]
    return x + affine(np.hstack(seen), **out)


def attending_layers(x, layers):
    for layer in layers:
        x = attending(x, **layer, heads=2)
    return np.sum(x * x)


def mixing(x, w):
    h = np.tanh(x @ w)
    y = h * h + np.sin(h)
    z = y - y.mean(axis=0)
    return z / np.sqrt((z * z).mean(axis=0) + 1e-3) + h


def mixed_three_times(x, w):
    return np.sum(mixing(mixing(mixing(x, w), w), w) ** 2 * mixing(x, w))


def relaxed(x, k):
    s = x * 0
    for j in range(4):
        s = np.sin(s + x * j) * k
        x = x + 0.1 * s
    return s * x


def relaxed_three_times(x):
    return np.sum(relaxed(x, 1.0) * relaxed(x * 2, 2.0) + relaxed(x + 1, 0.5))


def several(a, b):
    s, c = np.sin(a) * b, np.cos(b) * a
    t = s * c + a
    u = np.exp(-t * t) + s
    return s + u, {"c": c * t, "u": [u, t]}


def several_by_parts(a, b):
    first, parts = several(a, b)
    _, others = several(parts["c"], b)
    last, ends = several(a * 2, others["u"][1])
    return np.sum(first * last) + np.sum(ends["u"][0] * parts["u"][1])


@dataclass
class Spring:
    rest: np.ndarray
    stiffness: float

    def pull(self, x):
        r = x - self.rest
        q = r * self.stiffness + np.sin(r) * x
        s = q * np.exp(-r * r) + np.cos(q)
        return s * r + q


def pulled_three_times(p, x):
    spring = Spring(p["rest"], p["stiffness"])
    first = spring.pull(x)
    second = spring.pull(x + 0.1 * first)
    return np.sum(first + 2 * second + spring.pull(x + 0.2 * second))


def built_in_place(x, k):
    y = np.zeros(3)
    y[0] = x[0] * k
    y[1] = np.sin(x[1]) * y[0]
    y[2] = x[2] * y[1] + y[0]
    y[1:] += x[:2] * y[:2]
    y *= np.exp(-0.1 * x)
    return y


def built_repeatedly(x):
    for _ in range(3):
        x = x + 0.1 * built_in_place(x, 0.5) - 0.2 * built_in_place(x * x, 1.5)
    return np.sum(x**2)


def given_back(x, as_it_is):
    if as_it_is:
        return x
    y = np.sin(x) * x + np.cos(x)
    return y * np.exp(-y) + x * y + np.tanh(y)


def written_afterwards(x):
    a = given_back(x, True)
    b, c = given_back(x, False), given_back(x, False)
    d = given_back(c * x, False)
    d[0] = 3.0 * x[1]
    c[1] += d[0]
    return np.sum(a * b) + np.sum(c * d)


def by_exponent(x, k):
    y = x**k + np.sin(x) * k
    z = y * np.exp(-y * y) + k
    return z * y + np.cos(z)


def by_exponents(x):
    s = 0.0
    for k in range(2):
        s = s + np.sum(by_exponent(x, 2)) + np.sum(by_exponent(x * 2, 2))
        s = s + np.sum(by_exponent(x, 3)) + np.sum(by_exponent(x * 3, 3) * k)
    return s


def oscillator(p, y):
    mass, k, c = p

    def rhs(y, t):
        x, v = y
        force = -k * x - c * v * np.abs(v) + np.sin(t) * np.exp(-x * x)
        return np.array([v + np.tanh(force / mass) * 0.1, force / mass])

    h = 0.1
    for i in range(3):
        t = i * h
        k1 = rhs(y, t)
        k2 = rhs(y + h / 2 * k1, t + h / 2)
        k3 = rhs(y + h / 2 * k2, t + h / 2)
        k4 = rhs(y + h * k3, t + h)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(y**2)


def bound_anew_between_calls(x, a):
    def f(y):
        u = np.sin(y) * a
        return u * np.exp(-y * y) + u * u + np.cos(u) * y

    s = np.sum(f(x)) + np.sum(f(x * 2)) * np.sum(f(x + 1))
    a = a * a
    return s + np.sum(f(x)) * np.sum(f(x * 2)) + np.sum(f(x + 2))


def written_between_calls(x, a):
    w = np.ones(3)

    def f(y):
        u = np.sin(y * w) * a
        return u * np.exp(-y * y) + u * w + np.cos(u)

    s = np.sum(f(x)) + np.sum(f(x * 2)) * np.sum(f(x + 1))
    w[1] = s
    s += np.sum(f(x)) + np.sum(f(x * 2)) * np.sum(f(x + 1))
    w *= x
    return s + np.sum(f(x)) * np.sum(f(x * 3))


def changed_by_iterations(x, a):
    t = 0.5

    def f(y):
        u = np.sin(y + t) * a
        return u * np.exp(-y * y) + u * t + np.cos(u) * y

    for _ in range(3):
        x = x + 0.1 * f(x) - 0.2 * f(x * x) * f(x + 1)
        t = t * np.sum(x)
    return np.sum(f(x)) + np.sum(f(2 * x)) + t


def made_by_a_factory(x, a):
    def make(b):
        def f(y):
            u = np.sin(y) * a + b
            return u * np.exp(-y * y) + u * b + np.cos(u)
        return f

    p, q = make(2.0), make(a * 3)
    return np.sum(p(x) * q(x)) + np.sum(p(2 * x) * q(3 * x)) + np.sum(p(q(x)))


def kept_in_a_dictionary(x, a):
    p = {"w": x * 2, "b": a}

    def f(y):
        u = np.sin(y * p["w"]) * p["b"]
        return u * np.exp(-y * y) + u * p["w"] + np.cos(u)

    s = np.sum(f(x)) + np.sum(f(x * 2)) * np.sum(f(x + 1))
    p["b"] = p["b"] * 2
    s += np.sum(f(x)) + np.sum(f(x * 2))
    p["w"] = x
    return s + np.sum(f(x)) * np.sum(f(x * 3))


def counted_by_calls(x, a):
    n = 0

    def f(y):
        nonlocal n
        n += 1
        u = np.sin(y) * a * n
        return u * np.exp(-y * y) + u * u + np.cos(u) * y

    return np.sum(f(x)) + np.sum(f(x * 2)) * np.sum(f(x * 3)) + n


def on_paths(x, a):
    c = x * 2 if a > 0 else x * x

    def f(y):
        u = np.sin(y * c) * a
        return u * np.exp(-y * y) + u * c + np.cos(u)

    s = np.sum(f(x))
    if s > 0:
        s = s + np.sum(f(x * 2)) + np.sum(f(x * 3))
    else:
        s = s - np.sum(f(x + 1))
    return s * np.sum(f(c))


def with_a_root(x):
    r = np.sqrt(x)
    s = r + r * r
    return s * np.sin(r) + s + np.log(x + r + 1) / (r + 1)


def chosen_elements(x, y):
    return np.sum(np.where(x > 0, with_a_root(x), 0.0)) + np.sum(with_a_root(y)) + np.sum(with_a_root(y * 2) * y)


def chosen_on_a_path(x, y):
    z = with_a_root(x)
    s = 0.0
    for k in range(3):
        if y > 5:
            s += z * k
        else:
            s += with_a_root(y + k)
    return s + with_a_root(y)


def _slope(x):
    """Of `with_a_root`, by differences of complex arguments."""
    return with_a_root(x + 1e-20j).imag / 1e-20


def _path_slope(y):
    return sum(_slope(y + k) for k in range(3)) + _slope(y)


def _layers(rng):
    def affine_map(rows, columns):
        return {"w": 0.4 * rng.standard_normal((rows, columns)), "b": rng.standard_normal(columns)}
    return [{"into": affine_map(4, 12), "out": affine_map(4, 4)} for _ in range(3)]


ZERO_AND_MORE, POSITIVE = np.array([0.0, 1.0, 2.0]), np.array([0.5, 1.5, 0.7])
BLOCKS = [{name: THREE * scale + 1 for name, scale in zip(("g1", "b1", "g2", "b2", "w"), scales)}
          for scales in ((0.3, 0.1, -0.2, 0.4, 0.5), (0.2, -0.4, 0.3, 0.1, -0.3))]

PROGRAMS = [
    Program(runge_kutta_of_rates, fixed(THREE, OTHER), wrt=(0, 1)),
    Program(verlet_steps, fixed(np.array([0.6, -0.9]), np.array([0.3, 0.8]), 0.3), wrt=(0, 1, 2)),
    Program(residual_blocks, fixed(np.outer(THREE, OTHER) + THREE, *BLOCKS), wrt=(0, 1, 2)),
    Program(attending_layers, lambda rng: (rng.standard_normal((3, 4)), _layers(rng)), wrt=(0, 1)),
    Program(mixed_three_times, fixed(np.outer(THREE, OTHER) + THREE, np.outer(OTHER, THREE)), wrt=(0, 1)),
    Program(relaxed_three_times, fixed(THREE)),
    Program(several_by_parts, fixed(THREE, OTHER), wrt=(0, 1)),
    Program(pulled_three_times, fixed({"rest": THREE, "stiffness": 0.7}, OTHER), wrt=(0, 1)),
    Program(built_repeatedly, fixed(THREE)),
    Program(written_afterwards, fixed(THREE)),
    Program(by_exponents, fixed(THREE)),
    Program(oscillator, fixed((1.0, 2.0, 0.1), np.array([1.0, 0.2])), wrt=(0, 1)),
    *(Program(function, fixed(THREE, 0.7), wrt=(0, 1)) for function in (
        bound_anew_between_calls, written_between_calls, changed_by_iterations, made_by_a_factory, kept_in_a_dictionary,
        counted_by_calls, on_paths)),
    Program(chosen_elements, fixed(ZERO_AND_MORE, POSITIVE), wrt=(0, 1), tags=("expected",), expected=(
        np.append(0.0, _slope(ZERO_AND_MORE[1:])),
        _slope(POSITIVE) + 2 * _slope(2 * POSITIVE) * POSITIVE + with_a_root(2 * POSITIVE))),
    Program(chosen_on_a_path, fixed(0.0, 1.3), wrt=(0, 1), tags=("expected",), expected=(0.0, _path_slope(1.3))),
]
