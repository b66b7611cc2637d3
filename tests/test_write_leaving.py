"""Loops that a flag ends are printed with `break`, and count and give what they gave with the flag."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from transformer import grad, jit
from transformer.tree import leaves


def at_the_end(x, c):
    for _ in range(30):
        x = x * 1.2
        if x > c:
            break
    return x


def in_the_middle(x, c):
    k = 0
    while k < 30:
        y = x * 1.2
        if y > c:
            break
        x = y + 0.1
        k += 1
    return x * k


def at_two_places(x, c):
    for _ in range(30):
        if x > c:
            break
        x = x * 1.3
        if x > 2 * c:
            x = x - 1
            break
        x = x + 0.05
    return x


def for_ever(x, c):
    while True:
        x = x * 1.2
        if x > c:
            break
    return x * c


def of_inner_loop(x, c):
    for _ in range(4):
        for _ in range(4):
            x = x * 1.2
            if x > c:
                break
        x = x - 0.3
    return x


def one_after_the_other(x, c):
    for _ in range(9):
        x = x * 1.2
        if x > c:
            break
    while x > 1:
        x = x * 0.7
        if x < c / 3:
            break
    return x


def read_after(x, c):
    for _ in range(30):
        x = x * 1.2
        if x > c:
            break
    else:
        x = x * 5
    return x


def with_return(x, c):
    for _ in range(30):
        x = x * 1.2
        if x > c:
            return x * c
    return x


def out_of_two_loops(x, c):
    for _ in range(4):
        for _ in range(4):
            x = x * 1.2
            if x > c:
                return x * c
        x = x - 0.3
    return x


def after_others(x, c):
    """The flag is not the last thing that is set, and the loop's own index is kept behind it."""
    best = x
    for k in range(30):
        x = x * 1.2
        if x > c:
            best = x * k
            break
    return best + k * x


def growing(x):
    while True:
        x = x * 1.2
        yield x


def of_a_generator(x, c):
    """The loop is left by the loop that asks for items."""
    total = x
    for value in growing(x):
        total = total + value
        if value > c:
            break
    return total


WITHOUT_FLAGS = at_the_end, in_the_middle, at_two_places, for_ever, of_inner_loop, one_after_the_other, after_others, \
    of_a_generator
WITH_FLAGS = read_after, with_return, out_of_two_loops
POINTS = [*itertools.product((0.4, 1.1, 2.5), (1.3, 4.0)), (1e-9, 2.0)]


def slope(f: Callable[..., float], x: float, c: float, h: float = 1e-7) -> float:
    return (f(x + h, c) - f(x - h, c)) / (2 * h)


@pytest.mark.parametrize("f", WITHOUT_FLAGS + WITH_FLAGS)
@pytest.mark.parametrize("order", [1, 2])
def test_slopes(f: Any, order: int) -> None:
    derivative: Any = f
    for _ in range(order - 1):
        derivative = grad(derivative)
    df = grad(derivative)
    for x, c in POINTS:
        if not (f in (for_ever, of_a_generator) and x < 1e-3):
            np.testing.assert_allclose(df(x, c), slope(derivative, x, c), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("f", WITHOUT_FLAGS)
def test_loops_are_left_by_break(f: Any) -> None:
    df = grad(f)
    df(1.1, 4.0)
    assert "stop" not in df.source
    assert df.source.count("break") == {at_two_places: 2, one_after_the_other: 2}.get(f, 1)


@pytest.mark.parametrize("f", [read_after, with_return])
def test_flags_that_are_read_later_stay(f: Any) -> None:
    df = grad(f)
    df(1.1, 4.0)
    lines = [line.strip() for line in df.source.splitlines()]
    set_true = [k for k, line in enumerate(lines) if line in ("stop = True", "returned = True")]
    assert len(set_true) == 1
    assert lines[set_true[0] + 1] == "break"


def test_an_inner_loop_is_left_at_once() -> None:
    """Its flag is that of the loop around it, which is left before its next iteration."""
    df = grad(out_of_two_loops)
    df(1.1, 4.0)
    lines = [line.strip() for line in df.source.splitlines()]
    assert lines[lines.index("returned = True") + 1] == "break"
    assert df.source.count("if returned:\n            break") == 1
    assert "if returned:\n                break" not in df.source


def test_counts_go_before_the_jump() -> None:
    df = grad(in_the_middle)
    df(1.1, 4.0)
    source = df.source
    assert source.index("n += 1") < source.index("if test:") < source.index("break") < source.index("x = y + 0.1")


def test_a_row_that_is_left_half_way() -> None:
    def f(rows, c):
        total = 0.0
        for row in rows:
            if row.sum() > c:
                break
            total += row.prod()
        return total

    rows = np.random.default_rng(0).uniform(0.2, 1.0, (5, 3))
    rows[3] += 9
    want = np.zeros_like(rows)
    want[:3] = rows[:3].prod(axis=1, keepdims=True) / rows[:3]
    for derivative in grad(f), jit(grad(f)):
        np.testing.assert_allclose(leaves(derivative(rows, 5.0))[0], want)


@pytest.mark.parametrize("f", [with_return, out_of_two_loops])
def test_a_result_goes_with_its_flag(f: Any) -> None:
    """Where there is a flag, there is a result: nothing else says whether it is bound."""
    df, compiled = grad(f), jit(f)
    assert df(1.1, 4.0) == grad(jit(f))(1.1, 4.0) and compiled(1.1, 4.0) == f(1.1, 4.0)
    assert "is_bound" not in df.source + compiled.source
