"""What products and loops leave is made where it has to lie in the end: in rows of larger arrays, and turned."""

from __future__ import annotations

import re

import numpy as np
import pytest
from gpu_checks import check

from transformer import grad


def driver_of(source: str) -> str:
    return source[source.index("_driver("):]


def layers(w, x):
    for k in range(w.shape[0]):
        x = np.tanh(x @ w[k])
    return np.sum(x * x)


def filled(a, b):
    """One is turned, as a gradient of a transpose is."""
    both = np.zeros((2, a.shape[0], b.shape[1]))
    both[1] = a @ b
    both[0] = (b.T @ a.T).T
    return both


def heads(q, k):
    """Stacks of matrices, turned."""
    both = np.zeros((2, *q.shape[:2], k.shape[1]))
    both[0] = q @ np.swapaxes(k, 1, 2)
    both[1] = np.swapaxes(k @ np.swapaxes(q, 1, 2), 1, 2)
    return both


def half_filled(a, b):
    both = np.zeros((3, a.shape[0], b.shape[1]))
    both[2] = a @ b
    both[0] = 2 * (a @ b)
    return both


def read_between(a, b):
    both = np.zeros((2, a.shape[0], b.shape[1]))
    dot = a @ b
    total = np.sum(both)
    both[1] = dot
    both[0] = dot + total + 1
    return both


def overwritten(a, b):
    """What is written between a product and its copy counts until then."""
    both = np.ones((2, a.shape[0], b.shape[1]))
    dot = b.T @ a.T
    both[0] = np.exp(a @ b)
    seen = both[0, 0] + both[1, 0]
    both[0] = dot.T
    return both, seen


def moving_place(a, b, places):
    """The row is known behind the product alone."""
    rows = np.zeros((4, a.shape[0], b.shape[1]))
    for k in range(len(places)):
        dot = a @ b + k
        rows[places[k]] = dot
    return rows


def histories(w, x, n):
    """A state that is recorded whole, and read behind it."""
    states = np.zeros((n, *x.shape))
    for k in range(n):
        y = x @ w
        states[k] = y
        x = np.tanh(y) + x
    return states, x


def squares(w, x):
    """The state itself is recorded, also as it comes in."""
    for _ in range(3):
        h = x @ w
        x = x + h * np.sum(h * h, axis=-1, keepdims=True)
    return np.sum(x * x)


def made(rng, *shape):
    return rng.standard_normal(shape) / 4


def checked(program, *arguments):
    return check(program, *arguments, typed=False)


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize("program", [filled, half_filled, read_between, overwritten])
def test_products_in_parts(program, n):
    rng = np.random.default_rng(n)
    checked(program, made(rng, n, 6), made(rng, 6, 7))


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_loops_of_layers(depth):
    rng = np.random.default_rng(depth)
    checked(grad(layers, (0, 1)), made(rng, depth, 6, 6), made(rng, 5, 6))
    checked(histories, made(rng, 6, 6), made(rng, 5, 6), depth)


def test_others():
    rng = np.random.default_rng(0)
    checked(grad(squares, (0, 1)), made(rng, 6, 6), made(rng, 5, 6))
    checked(moving_place, made(rng, 5, 6), made(rng, 6, 7), np.array([2, 0, 2]))


def test_a_gradient_of_layers_copies_nothing():
    rng = np.random.default_rng(0)
    driver = driver_of(checked(grad(layers), made(rng, 3, 6, 6), made(rng, 5, 6)))
    assert re.search(r"out=dw\w*\[k\]", driver)
    back = driver[driver.index("for k in range(2, -1, -1)"):]
    assert len(re.findall(r"^ +fill_", back, re.MULTILINE)) == 1         # what the slope of tanh is multiplied by


def test_products_fill_all_of_an_array():
    rng = np.random.default_rng(0)
    driver = driver_of(checked(filled, made(rng, 5, 6), made(rng, 6, 7)))
    assert "fill_" not in driver and driver.count("cp.matmul(a, b") == 2
    driver = driver_of(checked(heads, made(rng, 3, 5, 6), made(rng, 3, 7, 6)))
    assert "fill_" not in driver and driver.count("cp.matmul(q, k.swapaxes(-1, -2)") == 2
