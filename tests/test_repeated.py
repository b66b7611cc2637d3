"""Functions of loops that are the same but for their names are one, in what threads share and in what they do not, and
stretches of statements are, too."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from transformer import grad, jit
from transformer.settings import config


def network(params, x):
    for w, b in params:
        x = np.tanh(x @ w + b)
    return np.sum(x**2)


def normalized(scales, x):
    for scale in scales:
        mean = np.mean(x, axis=-1, keepdims=True)
        spread = np.sqrt(np.mean((x - mean) ** 2, axis=-1, keepdims=True) + 0.1)
        x = np.sin((x - mean) / spread * scale) @ x[:x.shape[1]]
    return np.sum(x)


def layers(count: int, n: int, dtype: Any = float) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(count)
    scales = rng.standard_normal((count, n, n)) / np.sqrt(n), rng.standard_normal((count, n))
    return [(w.astype(dtype), b.astype(dtype)) for w, b in zip(*scales, strict=True)]


def calls(source: str, begins: str = "fill_") -> dict[str, int]:
    """The functions that a module defines for loops, with how often its kernel names each."""
    tree = ast.parse(source)
    made = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith(begins)}
    used = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return {name: used.count(name) for name in made}


@pytest.mark.parametrize(("n", "dtype"), [(7, np.float64), (300, np.float32)])
def test_layers_of_a_network_share_their_functions(n: int, dtype: Any) -> None:
    params, x = layers(4, n, dtype), np.random.default_rng(0).standard_normal((n, n)).astype(dtype)
    fast = jit(grad(network))
    for found, expected in zip(fast(params, x), grad(network)(params, x), strict=True):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-3 if dtype is np.float32 else 1e-9, atol=1e-4)
    assert max(calls(fast.source).values()) >= 3
    assert len(calls(fast.source)) < 4


def test_repeated_nests_are_called() -> None:
    scales, x = [np.array([1.0, 2.0, 0.5, 1.5, 0.7, 2.0]) * k for k in (1, 2, 3, 4, 5)], np.random.rand(7, 6)
    fast = jit(grad(normalized))
    for found, expected in zip(fast(scales, x), grad(normalized)(scales, x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert any(times >= 2 for times in calls(fast.source).values()), fast.source


def scaled_network(params, x):
    for w, b in params:
        x = np.cumsum(x @ w / float(x.shape[1]) ** 0.5 + b, axis=0)
    return np.sum(x**2)


def step(params, x):
    slopes = grad(scaled_network)(params, x)
    return [(w - 0.01 * dw, b - 0.01 * db) for (w, b), (dw, db) in zip(params, slopes, strict=True)]


def test_layers_are_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done for a layer is a function. The first layer computes a number for all, and all leave arrays."""
    monkeypatch.setattr(config, "threads", 1)
    params, x = layers(5, 6), np.random.default_rng(0).standard_normal((6, 6))
    fast = jit(step)
    for found, expected in zip(fast(params, x), step(params, x), strict=True):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9)
    assert any(times >= 4 for times in calls(fast.source, "stage").values()), fast.source


def totals_go_on(x, y):
    """The sums of one nest begin where those of the one before ended."""
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total = total * 0.5 + np.sin(x[i, j]) * x[i, j] + x[i, j] ** 2 / (1.0 + x[i, j] ** 2)
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            total = total * 0.5 + np.sin(y[i, j]) * y[i, j] + y[i, j] ** 2 / (1.0 + y[i, j] ** 2)
    return total


def parts_of_one_array(x):
    """Both nests write what others read, at places that meet."""
    u = x.copy()
    for i in range(1, u.shape[0]):
        for j in range(1, u.shape[1]):
            u[i, j] = 0.5 * u[i - 1, j] + 0.25 * u[i, j - 1] * np.sin(u[i - 1, j - 1]) + x[i, j] * u[i, j - 1]
    v = u * 2
    for i in range(1, v.shape[0]):
        for j in range(1, v.shape[1]):
            v[i, j] = 0.5 * v[i - 1, j] + 0.25 * v[i, j - 1] * np.sin(v[i - 1, j - 1]) + x[i, j] * v[i, j - 1]
    return u + v


def with_ends(x):
    """Lists that grow, and lose the rest of their memory behind the loop."""
    def steps(count):
        k = 0
        while k < count:
            yield x[k] * 2
            k += 1

    def longer():
        yield from steps(2)
        yield 5.0

    pairs = list(zip(steps(2), longer()))
    return np.array([a * b for a, b in pairs]), np.array([a + b for a, b in zip(steps(3), longer())])


@pytest.mark.parametrize("threads", [1, 2])
def test_lists_are_cut_where_they_were_made(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    monkeypatch.setattr(config, "threads", threads)
    x = np.array([3.0, 1.0, 2.0])
    for found, expected in zip(jit(with_ends)(x), with_ends(x), strict=True):
        np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(("function", "args"), [
    (totals_go_on, (np.linspace(0, 1, 42).reshape(6, 7), np.linspace(-1, 2, 56).reshape(8, 7))),
    (parts_of_one_array, (np.linspace(-1, 1, 56).reshape(7, 8),)),
])
def test_nests_that_are_alike_compute_what_they_did(function: Callable[..., Any], args: Any) -> None:
    np.testing.assert_allclose(jit(function)(*args), function(*args), rtol=1e-12)


def triangles(x):
    """Arrays of few numbers, which are set to 0 one by one."""
    lower, upper = np.zeros((3, 3)), np.zeros((3, 3))
    for i in range(3):
        for j in range(i):
            lower[i, j] = x[i, j]
            upper[j, i] = x[j, i] * lower[i, j]
    for i in range(3):
        for j in range(3):
            upper[i, j] += lower[j, i] * x[i, j]
    return np.sum(lower * upper)


def test_numbers_without_loops_stay_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "threads", 1)
    x = np.random.default_rng(0).random((3, 3))
    fast = jit(triangles)
    np.testing.assert_allclose(fast(x), triangles(x), rtol=1e-12)
    assert not calls(fast.source, "stage"), fast.source
