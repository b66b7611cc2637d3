"""Functions of which a reverse sweep keeps nothing: derivatives, memory, source, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from memory_peak import peak
from scipy.optimize import newton

from transformer import (
    BadArgument,
    NotSupported,
    check_grads,
    checkpoint,
    checkpoint_loop,
    config,
    custom_jvp,
    custom_vjp,
    fixed_point,
    grad,
    jvp,
)

RNG = np.random.default_rng(5)
W, B = 0.3 * RNG.normal(size=(3, 3)), np.array([0.4, -0.7, 0.9])


@pytest.fixture(autouse=True)
def checked(monkeypatch):
    monkeypatch.setattr(config, "check", True)


@checkpoint
def layer(w, x):
    a = w @ x
    t = np.sin(a)
    return np.tanh(t * t * a)


def in_a_line(w, x):
    return np.sum(layer(w, layer(w, x)) ** 2)


def in_a_loop(w, x):
    for _ in range(4):
        x = layer(w, x)
    return np.sum(x**2)


@checkpoint
def with_trees_and_keywords(p, x, *, gain=1.0):
    h = np.sin(p["w"] @ x + p["b"])
    return {"y": np.tanh(h * h) * gain, "n": (np.sum(h * x), "text", 3)}


def trees(p, x, gain):
    total = 0.0
    for k in range(3):
        found = with_trees_and_keywords(p, x, gain=gain)
        x = found["y"]
        total += found["n"][0] * k
    return np.sum(x) + total


def with_variables_around(w, x):
    @checkpoint
    def inner(x):
        a = w @ x
        return np.sin(a) * a

    for _ in range(3):
        x = inner(x)
        w = w * 1.1
    return np.sum(x)


def with_loops_and_branches(x, n):
    @checkpoint
    def f(x):
        t = 0.0
        for k in range(n):
            t = t * x[k] + np.sin(x[k] * t) + 1 if x[k] > 0 else t - x[k] * np.cos(t)
        s = 1.0
        while s < 5:
            s = s * 1.5 + abs(t) * 0.1
        return t * s

    return f(x) * f(x * 2)


def one_in_another(x):
    @checkpoint
    def inner(x):
        return np.sin(x) * x

    @checkpoint
    def outer(x):
        for _ in range(3):
            x = inner(x) * np.cos(x)
        return x

    for _ in range(2):
        x = outer(x)
    return np.sum(x)


def with_arrays_of_its_own(x):
    @checkpoint
    def f(x):
        x = x.copy()
        for i in range(1, len(x)):
            x[i] += 0.3 * x[i - 1] ** 2
        return x

    return np.sum(f(f(x)) ** 2)


def with_a_size_inside(x):
    return checkpoint(lambda x: np.sum(x[x > 0] ** 3))(x) * 2


def with_a_fixed_point(a):
    @checkpoint
    def f(a):
        return a * fixed_point(lambda x, a: 0.5 * np.cos(x * a), 0.0, a, tolerance=1e-13)

    return f(a) ** 2


@custom_vjp
def backwards(x):
    return np.sin(x)


backwards.defvjp(lambda x: (np.sin(x), x), lambda x, d: (np.cos(x) * d,))


@custom_jvp
def forwards(x):
    return np.sin(x)


forwards.defjvp(lambda x, d: (np.sin(x[0]), np.cos(x[0]) * d[0]))


def with_rules(x):
    return np.sum(checkpoint(lambda x: backwards(x * x) * forwards(x) * x)(x))


def with_rules_in_blocks(x, n):
    with checkpoint_loop(blocks=2):
        for _ in range(n):
            x = backwards(x) * x + forwards(x * x)
    return np.sum(x)


def in_blocks(x, n):
    with checkpoint_loop(blocks=2):
        for _ in range(n):
            x = checkpoint(lambda x: np.sin(x * x) * x + 0.1)(x)
    return np.sum(x)


def with_blocks_inside(x, n):
    @checkpoint
    def f(x):
        with checkpoint_loop(blocks=2):
            for _ in range(n):
                x = np.sin(x * x) * x + 0.1
        return x

    return np.sum(f(x))


def in_recursion(x, n):
    return x if n == 0 else checkpoint(lambda z: np.sin(z * x) * z)(in_recursion(x, n - 1))


class Model:
    def __init__(self, w):
        self.w = w

    @checkpoint
    def step(self, x):
        return np.tanh(self.w @ x) * x


MODEL = Model(W)


def with_a_method(x):
    return np.sum(MODEL.step(MODEL.step(x)))


def a_constant(x):
    return checkpoint(lambda x: 3.0)(x) * x + checkpoint(lambda x: x)(x)


CASES = {
    "line": (in_a_line, (W, B)),
    "loop": (in_a_loop, (W, B)),
    "another size": (in_a_loop, (W[:2, :2], B[:2])),
    "trees": (trees, ({"w": W, "b": B}, B, 1.3)),
    "variables around": (with_variables_around, (W, B)),
    "loops and branches": (with_loops_and_branches, (B, 3)),
    "one in another": (one_in_another, (B,)),
    "arrays": (with_arrays_of_its_own, (B,)),
    "size inside": (with_a_size_inside, (B,)),
    "fixed point": (with_a_fixed_point, (0.7,)),
    "rules": (with_rules, (B,)),
    "rules in blocks": (with_rules_in_blocks, (B, 5)),
    "in blocks": (in_blocks, (B, 5)),
    "blocks inside": (with_blocks_inside, (B, 5)),
    "recursion": (in_recursion, (0.4, 3)),
    "method": (with_a_method, (B,)),
    "constant": (a_constant, (0.3,)),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    function, args = CASES[name]
    check_grads(function, args, order=2)


@pytest.mark.parametrize("name", ["loop", "one in another"])
def test_third_order(name):
    function, args = CASES[name]
    check_grads(function, tuple(np.array(arg)[..., :2][:2] for arg in args), order=3)


def test_no_number_changes():
    def plain(w, x):
        for _ in range(4):
            a = w @ x
            t = np.sin(a)
            x = np.tanh(t * t * a)
        return np.sum(x**2)

    for got, want in zip(grad(in_a_loop, (0, 1))(W, B), grad(plain, (0, 1))(W, B)):
        np.testing.assert_allclose(got, want, rtol=1e-14)
    assert in_a_loop(W, B) == plain(W, B)
    assert jvp(in_a_loop, (W, B), (W, B)) == jvp(plain, (W, B), (W, B))


def test_single_precision():
    assert grad(in_a_loop)(W.astype(np.float32), B.astype(np.float32)).dtype == np.float32


def test_a_loop_keeps_the_arguments_only():
    def step(u, c):
        for _ in range(5):
            u = np.sin(u * c) * u + 1
        return u

    def loss(u, c, n, step):
        for _ in range(n):
            u = step(u, c)
        return np.sum(u)

    u, n = RNG.normal(size=1000), 40
    kept = peak(grad(lambda u, c: loss(u, c, n, checkpoint(step)), (0, 1)), u, 1.1)
    assert kept < (n + 5 + 10) * u.nbytes < peak(grad(lambda u, c: loss(u, c, n, step), (0, 1)), u, 1.1)


def test_arguments_that_the_reverse_does_not_need_are_not_kept():
    @checkpoint
    def f(x, b):
        return np.sin(x) + b

    def loss(x, b, n):
        for _ in range(n):
            b = np.cos(x) * 2 + b
            x = f(x, b)
        return np.sum(x)

    assert grad(loss, (0, 1)).source_for(B, B, 4).count("_k = np.empty") == 1
    check_grads(loss, (B, B, 4), order=2)


def test_the_source_computes_again():
    source = grad(in_a_line).source_for(W, B)
    forwards, backwards = source.split("# reverse")
    assert forwards.count("np.sin(a)") == backwards.count("np.sin(a)") == 2
    source = grad(in_a_loop).source_for(W, B)
    assert source.count("_k = np.empty") == 1


def test_effects_happen_once(capsys):
    @checkpoint
    def f(x):
        print("here")
        return np.sin(x) * x

    def twice(x):
        return f(f(x))

    twice(0.3)
    said = capsys.readouterr().out
    for derivative in (grad(twice), grad(grad(twice)), lambda x: jvp(twice, (x,), (1.0,))):
        derivative(0.3)
        assert capsys.readouterr().out == said


def test_functions_of_their_own_are_called_again():
    def root(a):
        return newton(lambda x: x**3 - a, 1.0)

    twice = grad(grad(lambda a: checkpoint(root)(a) * a))
    np.testing.assert_allclose(twice(1.3), 4 / 9 * 1.3 ** (-2 / 3), rtol=1e-6)


def test_what_is_refused():
    def writing(x):
        x[0] = 1.0
        return x * x

    def recursive(x, n):
        return x if n == 0 else np.sin(recursive(x, n - 1)) * x

    def view(x):
        y = checkpoint(lambda x: x[1:])(x)
        y += 1
        return np.sum(x * x)

    with pytest.raises(NotSupported, match="under checkpoint writes to"):
        grad(lambda x: np.sum(checkpoint(writing)(x.copy())))(B)
    with pytest.raises(NotSupported, match="which calls a recursive function, is not"):
        grad(lambda x: checkpoint(recursive)(x, 3))(0.4)
    with pytest.raises(NotSupported, match="which returns an array of computed size"):
        grad(lambda x: np.sum(checkpoint(lambda x: x[x > 0] ** 2)(x)))(B)
    with pytest.raises(NotSupported, match="may be shared"):
        grad(view)(B)
    with pytest.raises(BadArgument, match="checkpoint expects a function, got"):
        checkpoint(3)
