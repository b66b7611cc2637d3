"""Loops of which a reverse sweep keeps blocks: same derivatives, less memory, readable source."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import transformer
from transformer import check_grads, checkpoint_loop, grad, value_and_grad
from transformer.checkpointing import bytes_in
from transformer.transform import memory

RNG = np.random.default_rng(7)


def heat(u, c, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2]) * np.cos(u[1:-1])
    return np.sum(u**2)


def heat_in_blocks(u, c, steps):
    u = u.copy()
    with checkpoint_loop(blocks=3):
        for _ in range(steps):
            u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2]) * np.cos(u[1:-1])
    return np.sum(u**2)


def network(w, x):
    h = np.zeros(len(w))
    with checkpoint_loop():
        for row in x:
            h = np.tanh(w @ h + row)
    return np.sum(h**2)


def nested(u, steps):
    total = 0.0
    u = u.copy()
    with checkpoint_loop(blocks=2):
        for k in range(steps):
            for i in range(len(u) - 1):
                if u[i] > 0.2:
                    u[i] = np.sin(u[i + 1] * u[i])
            total += u[k] ** 2
    return total + np.sum(u)


def inside_another(u, outer, inner):
    for _ in range(outer):
        with checkpoint_loop(blocks=2):
            for k in range(inner):
                u = np.sin(u) + 0.1 * k * u
    return np.sum(u)


CASES = {
    "heat": (heat_in_blocks, (RNG.normal(size=6) * 0.5, 0.1, 7)),
    "no steps": (heat_in_blocks, (RNG.normal(size=6) * 0.5, 0.1, 0)),
    "fewer steps than blocks": (heat_in_blocks, (RNG.normal(size=6) * 0.5, 0.1, 2)),
    "network": (network, (RNG.normal(size=(3, 3)) * 0.3, RNG.normal(size=(5, 3)))),
    "nested": (nested, (RNG.normal(size=6), 5)),
    "inside another": (inside_another, (RNG.normal(size=3), 2, 5)),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    function, args = CASES[name]
    check_grads(function, args, order=2)


@pytest.mark.parametrize("name", ["heat", "network", "inside another"])
def test_third_order(name):
    function, args = CASES[name]
    check_grads(function, args, order=3)


def test_blocks_change_no_number():
    args = RNG.normal(size=9), 0.2, 11
    assert np.array_equal(grad(heat)(*args), grad(heat_in_blocks)(*args))


def test_without_a_derivative_it_does_nothing():
    assert heat(np.ones(4), 0.1, 3) == heat_in_blocks(np.ones(4), 0.1, 3)


def test_the_source_has_two_levels():
    source = grad(heat_in_blocks).source_for(np.ones(9), 0.2, 11)
    assert "for block in range(blocks):" in source


def peak(function, *args):
    function(*args)
    tracemalloc.start()
    try:
        function(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_large_records_are_kept_in_blocks_unasked(monkeypatch):
    monkeypatch.setattr(memory, "LARGE", 100_000)
    u, steps = RNG.normal(size=1000), 100
    gradient = grad(heat, (0, 1))
    assert peak(gradient, u, 0.1, steps) < (2 * steps**0.5 + 12) * u.nbytes
    assert "block" in gradient.source


def test_small_calls_keep_all_and_large_ones_are_told_apart(monkeypatch):
    monkeypatch.setattr(memory, "LARGE", 10_000)
    gradient = grad(heat, (0, 1))
    small, large = gradient.source_for(np.ones(5), 0.1, 20), gradient.source_for(np.ones(500), 0.1, 20)
    assert "block" not in small and "block" in large
    assert gradient.source_for(np.ones(6), 0.1, 20) == small
    assert gradient.source_for(np.ones(600), 0.1, 30) == large


@pytest.mark.parametrize("limit", [2_000_000, 400_000, 200_000])
def test_a_limit_is_kept(limit):
    u, steps = RNG.normal(size=1000), 200
    limited = grad(heat, (0, 1), memory=limit)
    wanted = grad(heat, (0, 1))(u, 0.1, steps)
    for got, want in zip(limited(u, 0.1, steps), wanted):
        np.testing.assert_array_equal(got, want)
    assert peak(limited, u, 0.1, steps) < limit + 12 * u.nbytes


def test_a_limit_out_of_reach_is_refused():
    with pytest.raises(transformer.BadArgument, match="MB at least, the limit is 1.0 MB"):
        grad(heat, (0, 1), memory="1 MB")(np.ones(100_000), 0.1, 50)


@pytest.mark.parametrize("text", ["64", "MB", "-3 MB", 0, 2.5, True, "0 MB", "3 parsecs"])
def test_limits_that_are_none(text):
    with pytest.raises(transformer.BadArgument, match="no amount of memory"):
        grad(heat, memory=text)


def test_limits():
    assert bytes_in("64 MB") == 64_000_000 and bytes_in("2KiB") == 2048 and bytes_in(None) is None


def test_value_too():
    value, (du, dc) = value_and_grad(heat, (0, 1), memory="100 kB")(np.ones(50), 0.1, 400)
    assert value == heat(np.ones(50), 0.1, 400) and np.all(np.isfinite(du)) and np.isfinite(dc)


@pytest.mark.parametrize("blocks", [0, -1, 2.0, True, "4"])
def test_bad_numbers_of_blocks(blocks):
    with pytest.raises(transformer.BadArgument, match="no number of blocks"):
        checkpoint_loop(blocks=blocks)


def test_loops_that_cannot_be_split():
    def until(x):
        with checkpoint_loop():
            while x < 3:
                x = x * x
        return x

    with pytest.raises(transformer.NotSupported, match="cannot be split") as caught:
        grad(until)(1.5)
    assert "while x < 3" in str(caught.value)

    def listed(x):
        found = []
        with checkpoint_loop():
            for k in range(4):
                x = np.sin(x)
                found.append(x)
        return np.sum(np.array(found))

    with pytest.raises(transformer.NotSupported, match="It makes a list"):
        grad(listed)(1.5)


def test_without_a_loop():
    def f(x):
        with checkpoint_loop():
            y = x * x
        return y

    with pytest.raises(transformer.NotSupported, match="no loop"):
        grad(f)(2.0)


def told(x, n):
    if n == 0:
        return x
    print("at", n)
    return np.sin(told(x, n - 1))


def test_effects_of_recursive_functions_are_not_repeated(capsys):
    def in_blocks(x, n):
        with checkpoint_loop(blocks=2):
            for _ in range(n):
                x = told(x, n)
        return x

    with pytest.raises(transformer.NotSupported, match="has effects"):
        grad(in_blocks)(0.5, 3)


def test_effects_of_the_loop_happen_once(capsys):
    def printing(x, n):
        with checkpoint_loop(blocks=2):
            for k in range(n):
                print("step", k)
                x = np.sin(x)
        return x

    grad(printing)(0.5, 3)
    assert capsys.readouterr().out == "step 0\nstep 1\nstep 2\n"
