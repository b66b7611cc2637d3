"""Loops of which a reverse sweep keeps blocks: same derivatives, less memory, readable source."""

from __future__ import annotations

import numpy as np
import pytest
from memory_peak import peak

import transformer
from transformer import check_grads, checkpoint_loop, grad, value_and_grad
from transformer.checkpointing import bytes_in
from transformer.transform.reverse import memory

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


def until(x, a):
    with checkpoint_loop():
        while np.sum(x * x) < 50.0:
            x = x + a * np.sin(x) + 0.1
    return np.sum(x**2)


def left_early(x, n):
    with checkpoint_loop():
        for k in range(n):
            x = x * x * 0.5 + np.cos(x) * k
            if np.sum(x) > 200:
                break
            x = x * 0.9
    return np.sum(x)


def counting(x):
    k = 0
    with checkpoint_loop():
        while np.sum(x) < 20:
            x = x * 1.1 + 0.1 * k
            k += 1
    return np.sum(np.sin(x)) * k


def until_in_a_loop(x, n):
    total = 0.0
    for k in range(n):
        with checkpoint_loop():
            while np.sum(x * x) < 9.0 + k:
                x = x * 1.1 + 0.01 * np.sin(x)
        total += np.sum(x)
        x = x * 0.8
    return total


CASES = {
    "heat": (heat_in_blocks, (RNG.normal(size=6) * 0.5, 0.1, 7)),
    "no steps": (heat_in_blocks, (RNG.normal(size=6) * 0.5, 0.1, 0)),
    "fewer steps than blocks": (heat_in_blocks, (RNG.normal(size=6) * 0.5, 0.1, 2)),
    "network": (network, (RNG.normal(size=(3, 3)) * 0.3, RNG.normal(size=(5, 3)))),
    "nested": (nested, (RNG.normal(size=6), 5)),
    "inside another": (inside_another, (RNG.normal(size=3), 2, 5)),
    "until": (until, (np.array([0.5, 1.0, 0.2]), 0.1)),
    "until, at once": (until, (np.array([5.0, 6.0, 7.0]), 0.1)),
    "left early": (left_early, (np.array([0.5, 1.0, 0.2]), 20)),
    "left late": (left_early, (np.array([0.5, 1.0, 0.2]), 2)),
    "counting": (counting, (np.array([0.5, 1.0, 0.2]),)),
    "until in a loop": (until_in_a_loop, (np.array([0.5, 1.0, 0.2]), 3)),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    function, args = CASES[name]
    check_grads(function, args, order=2)


@pytest.mark.parametrize("name", ["heat", "network", "inside another", "until"])
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


def plain_heat(u, c, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


@pytest.mark.parametrize("wrt, states", [(0, 5), (1, 2 * 20 + 5), ((0, 1), 2 * 20 + 5)])
def test_states_that_the_heat_equation_needs(wrt, states):
    """Two blocks of √400 states; for the initial state alone none at all. NumPy's own temporaries count."""
    u, steps = RNG.normal(size=100_000), 400
    assert peak(grad(plain_heat, wrt), u, 0.2, steps) <= states * u.nbytes


def test_states_that_it_needs_compiled(wrt=(0, 1), states=2 * 20 + 3):
    """numba takes the source as it stands; objects of Python come to less than a thousandth of a state."""
    numba = pytest.importorskip("numba")
    u, steps, namespace = RNG.normal(size=100_000), 400, {}
    gradient = grad(plain_heat, wrt)
    exec(gradient.source_for(u, 0.2, steps), namespace)
    compiled = numba.njit(namespace["plain_heat_grad"])
    np.testing.assert_allclose(np.hstack(compiled(u, 0.2, steps)), np.hstack(gradient(u, 0.2, steps)), rtol=1e-9)
    assert peak(compiled, u, 0.2, steps) < (states + 1e-3) * u.nbytes


def replaced_in_each_step(x, factor):
    """Each of as many steps as there are numbers makes the whole state anew."""
    y = x * 1.0
    for k in range(1, len(x)):
        y[:k] += 0.3 * factor * np.sin(x[k]) * y[:k][::-1]
        y[k] = np.tanh(y[0])
    return np.sum(y * y)


def replaced_so_often(x, steps):
    y = x * 1.0
    for _ in range(steps):
        y = np.sin(y) + 0.3 * y[::-1]
    return np.sum(y * y)


def test_records_that_outgrow_the_arguments_are_kept_in_blocks_sooner():
    """n² numbers of n are 2√n times as many before they are large; a number of steps says nothing of that."""
    small, large = RNG.normal(size=100), RNG.normal(size=900)
    gradient = grad(replaced_in_each_step)
    assert "block" not in gradient.source_for(small, 1) and "block" in gradient.source_for(large, 1)
    assert peak(gradient, large, 1) < (2 * 30 + 15) * large.nbytes
    assert "block" not in grad(replaced_so_often).source_for(large, 900)
    check_grads(gradient, (small[:40], 1), order=1)


def test_an_index_in_blocks_is_that_of_the_loop(monkeypatch):
    monkeypatch.setattr(memory, "OUTGROWN", 100)
    source = grad(replaced_in_each_step).source_for(np.ones(20), 1)
    assert "for k in range(start + 1, end + 1):" in source and "for k in range(end, start, -1):" in source
    check_grads(replaced_in_each_step, (RNG.normal(size=20) * 0.5, 1), order=2)


@pytest.mark.parametrize("limit", [2_000_000, 400_000, 200_000])
def test_a_limit_is_kept(limit):
    u, steps = RNG.normal(size=1000), 200
    limited = grad(heat, (0, 1), memory=limit)
    wanted = grad(heat, (0, 1))(u, 0.1, steps)
    for got, want in zip(limited(u, 0.1, steps), wanted):
        np.testing.assert_array_equal(got, want)
    assert peak(limited, u, 0.1, steps) < limit + 12 * u.nbytes


def steps_until(x, a):
    while np.sum(x) < 1.0:
        x = x + a * np.cos(x)
    return np.sum(x**2)


@pytest.mark.parametrize("slower", [1, 4])
def test_blocks_of_a_while_grow(slower):
    x, a = np.zeros(1000), 1e-5 / (4 * slower)
    kept, limited = grad(steps_until), grad(steps_until, memory="100 kB")
    steps = 400 * slower
    assert np.array_equal(kept(x, a), limited(x, a))
    assert peak(kept, x, a) > steps / 2 * x.nbytes / 8
    assert peak(limited, x, a) < (3.5 * (2 * steps) ** 0.5 + 25) * x.nbytes


def test_a_while_with_large_states_is_split_unasked(monkeypatch):
    monkeypatch.setattr(memory, "LARGE", 80_000)
    gradient = grad(steps_until)
    assert "for _ in range(blocks + 1):" in gradient.source_for(np.zeros(101), 0.01)
    assert "block" not in gradient.source_for(np.zeros(100), 0.01)


def folded(x, n, m):
    for _ in range(n):
        for _ in range(m):
            x = np.sin(x) * 1.3
        x = x * x
    return x


@pytest.mark.parametrize("n, m", [(100, 200), (200, 300)])
def test_inner_loops_are_run_again_where_memory_is_short(n, m):
    kept, limited = grad(folded), grad(folded, memory=8 * (n + m) + 100)
    assert kept(0.5, n, m) == limited(0.5, n, m)
    assert "block" not in limited.source and peak(limited, 0.5, n, m) < 8 * (n + m) + 4000 < peak(kept, 0.5, n, m)


def test_a_limit_out_of_reach_is_refused():
    with pytest.raises(transformer.BadArgument, match="8 MB, but the limit is 1"):
        grad(heat, (0, 1), memory="1 MB")(np.ones(100_000), 0.1, 50)


@pytest.mark.parametrize("text", ["64", "MB", "-3 MB", 0, 2.5, True, "0 MB", "3 parsecs"])
def test_limits_that_are_none(text):
    with pytest.raises(transformer.BadArgument, match="which is not an amount of memory"):
        grad(heat, memory=text)


def test_limits():
    assert bytes_in("64 MB") == 64_000_000 and bytes_in("2KiB") == 2048 and bytes_in(None) is None


def test_value_too():
    value, (du, dc) = value_and_grad(heat, (0, 1), memory="100 kB")(np.ones(50), 0.1, 400)
    assert value == heat(np.ones(50), 0.1, 400) and np.all(np.isfinite(du)) and np.isfinite(dc)


@pytest.mark.parametrize("blocks", [0, -1, 2.0, True, "4"])
def test_bad_numbers_of_blocks(blocks):
    with pytest.raises(transformer.BadArgument, match="is not a number of blocks"):
        checkpoint_loop(blocks=blocks)


def test_loops_that_cannot_be_split():
    def until(x):
        with checkpoint_loop(blocks=3):
            while x < 3:
                x = x * x
        return x

    with pytest.raises(transformer.NotSupported, match="a while loop cannot be split into") as caught:
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
