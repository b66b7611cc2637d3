"""Loops whose iterations do not depend on each other keep nothing for an iteration: its reverse runs it again."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from both_modes import compare_modes, defined
from corpus import lanes
from memory_peak import peak
from random_lanes import SIZE, Lanes

import transformer
from transformer import check_grads, grad, independent, value_and_grad

RNG = np.random.default_rng(5)


def programs(*names):
    return [next(p for p in lanes.PROGRAMS if p.name == name) for name in names]


RUN_ONCE = programs(
    "newton_summed", "escape_times", "summed_on_the_way", "layer_for_each", "pixels", "iterated_in_a_branch",
    "network_for_each", "scratch_array", "samples", "recursive_for_each", "scratch_in_nest", "left_early",
    "branch_in_branch")  # fmt: skip


@pytest.mark.parametrize("program", RUN_ONCE, ids=lambda p: p.name)
def test_a_gradient_alone_needs_no_forward_sweep(program):
    source = grad(program.function, program.wrt).source_for(*program.example(RNG))
    assert "# reverse\n" not in source, source


KEPT_NOTHING = programs("newton_for_each", "attention_by_rows", "softmax_by_rows", "particles", "read_by_others")


@pytest.mark.parametrize("program", KEPT_NOTHING, ids=lambda p: p.name)
def test_nothing_is_recorded_in_the_forward_sweep(program):
    source = grad(program.function, program.wrt).source_for(*program.example(RNG))
    assert "np.empty" not in source.split("# reverse\n")[0], source


def iterated(x, m):
    total = 0.0
    for i in range(len(x)):
        t = x[i]
        for _ in range(m):
            t = np.sin(t) * 1.2
        total += t * t
    return total


def until(x, m):
    total = 0.0
    for i in range(len(x)):
        t = x[i]
        k = 0
        while k < m:
            t = np.sin(t) * 1.2
            k += 1
        total += t * t
    return total


@pytest.mark.parametrize("program", [iterated, until])
@pytest.mark.parametrize("derivative", [grad, value_and_grad])
@pytest.mark.parametrize("n, m", [(100, 100), (200, 100), (100, 200)])
def test_memory_does_not_grow_with_the_product(program, derivative, n, m):
    assert peak(derivative(program), RNG.normal(size=n), m) < 8 * (3 * n + 5 * m) + 5000


def test_the_loop_in_a_branch_runs_once_more_only():
    source = grad(lanes.iterated_in_a_branch).source_for(RNG.normal(size=4), 3)
    assert source.count("np.sin(") == 1, source


def products(a, b, y):
    total = 0.0
    for i in range(len(a)):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(len(b)):
                s += a[i, k] * b[k, j]
            total += (s - y[i, j]) ** 2
    return total


def test_a_number_that_takes_a_loop_is_kept_where_that_loop_runs_anyway():
    args = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 2)), RNG.normal(size=(3, 2))
    alone, both = (d(products, (0, 1)).source_for(*args) for d in (grad, value_and_grad))
    assert "np.empty" not in alone and "diff_k = np.empty((n, m))" in both, both
    check_grads(products, args, order=2)


def carried(x, n, m):
    for _ in range(n):
        for _ in range(m):
            x = np.sin(x) * 1.1
    return x


def test_iterations_that_depend_on_each_other_are_recorded():
    assert "x_k_k = np.empty((max(n, 0), max(m, 0)))" in grad(carried).source_for(0.5, 3, 4)


@pytest.mark.parametrize("seed", range(40))
def test_random_lanes(seed):
    program = defined(Lanes(seed).source(), f"<lanes {seed}>")["f"]
    rng = np.random.default_rng(seed)
    args = tuple(0.7 * rng.normal(size=s) for s in (SIZE, SIZE, (SIZE, SIZE)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare_modes(program, args, rng, order=2 if seed % 10 == 0 else 1)


# -- independent -----------------------------------------------------------------------------------------


def scattered(x, order):
    y = np.zeros(len(x))
    for i in independent(range(len(x))):
        y[order[i]] = np.exp(x[i])
    return np.sum(y**2)


def in_place(y, order, m):
    y = y.copy()
    for i in independent(range(len(order))):
        t = y[order[i]]
        for _ in range(m):
            t = np.sin(t) * 1.1
        y[order[i]] = t * t
    return np.sum(y**2)


def with_sums(x, b):
    h = np.zeros(3)
    g = np.zeros(2)
    total = 0.0
    k = 0
    for v in independent(x):
        h[b[k]] += v * v
        g += np.sin(v)
        total -= v
        if v > 0:
            total += v * v
        for j in range(3):
            total += v * j
        k += 1
    return np.sum(h**2) * total + np.sum(g)


def of_pairs(x, y):
    total = 0.0
    for a, b in independent(zip(x, y)):
        total += np.sin(a * b)
    return total + sum([np.exp(v) for v in independent(x)])


@pytest.mark.parametrize(
    "program, args",
    [
        (scattered, (RNG.normal(size=4), np.array([2, 0, 3, 1]))),
        (in_place, (RNG.normal(size=4), np.array([2, 0, 3]), 3)),
        (with_sums, (RNG.normal(size=4), np.array([2, 0, 2, 1]))),
        (of_pairs, (RNG.normal(size=4), RNG.normal(size=4))),
    ],
)
def test_independent(program, args):
    check_grads(program, args, order=2)


def test_what_was_promised_is_used():
    def unsaid(x, order):
        y = np.zeros(len(x))
        for i in range(len(x)):
            y[order[i]] = np.exp(x[i])
        return np.sum(y**2)

    args = RNG.normal(size=4), np.array([2, 0, 3, 1])
    assert np.array_equal(grad(unsaid)(*args), grad(scattered)(*args))
    assert "] = 0" in grad(unsaid).source_for(*args)
    assert "] = 0" not in grad(scattered).source_for(*args)
    source = grad(in_place).source_for(RNG.normal(size=4), np.array([2, 0, 3]), 3)
    assert "t_k = np.empty(n)" in source and "(n, " not in source, source


def test_it_is_the_iterable_itself():
    items = [1, 2]
    assert independent(items) is items


def multiplied(x):
    t = 1.0
    for v in independent(x):
        t = t * v
    return t


def same_place(x):
    w = np.zeros(3)
    total = 0.0
    for v in independent(x):
        w[0] = v
        total += w[0]
    return total


def looked_at(x):
    t = s = 0.0
    for v in independent(x):
        t += v
        s += t
    return s


def listed(x):
    found = []
    t = 0.0
    for v in independent(x):
        t += v
        found.append(t)
    return np.sum(np.array(found))


def replaced(x):
    u = x.copy()
    for _ in independent(range(3)):
        u = np.sin(u)
    return np.sum(u)


def compared(x):
    t = 0.0
    for v in independent(x):
        if t < 1:
            t += v
    return t


def broken(x):
    t = 0.0
    for v in independent(x):
        if v > 3:
            break
        t += v
    return t


REFUSED = {
    multiplied: "'t' is carried from one iteration of this",
    same_place: "every iteration of this loop writes to the",
    looked_at: "'t' is carried from one iteration of this",
    listed: "'t' is carried from one iteration of this",
    replaced: "'u' is carried from one iteration of this",
    compared: "'t' is carried from one iteration of this",
    broken: "this loop may end early",
}


@pytest.mark.parametrize("program", REFUSED, ids=lambda p: p.__name__)
def test_promises_that_cannot_be_kept(program):
    with pytest.raises(transformer.NotSupported, match=REFUSED[program]) as caught:
        grad(program)(RNG.normal(size=4))
    assert f"in {program.__name__}" in str(caught.value)
