"""Loops in the order of memory, rows made where they are read, and masks without lists of places."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest
from corpus import sweeps
from loop_cases import plain
from lowered import as_loops, assert_same, called, generated, source_of

from transformer import grad, tree, vmap
from transformer.lower.lowering import lower

BY_NAME = {program.name: program for program in sweeps.PROGRAMS}


def loops_of(name: str, order: int = 0, threads: bool = False) -> str:
    """The body of the loops of a program, which give what NumPy gives."""
    program = BY_NAME[name]
    arguments = program.example(np.random.default_rng(0))
    target: Any = grad(program.function, argnums=program.wrt) if order else program.function
    made = generated(target, program.function, arguments)
    kernel = lower(made.function, made.reading.assumptions, threads=threads)
    found = tree.leaves(called(made, plain(kernel), program.function, arguments))
    for got, want in zip(found, tree.leaves(target(*copy.deepcopy(arguments))), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)
    return kernel.source[[each.start() for each in re.finditer("^def ", kernel.source, re.MULTILINE)][-1]:]


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("name", ["columns_of_equations", "sweep_with_two_writes"])
def test_a_recurrence_along_rows_is_done_row_by_row(name: str, order: int) -> None:
    """A sum over all rows comes behind that; in a gradient, what only a row needs is a vector."""
    loops = loops_of(name, order)
    assert len(re.findall(r"^    for ", loops, re.MULTILINE)) == 2 - order, loops
    assert not order or re.search(r"\w+ = np\.empty\(\w+\)\n", loops), loops


@pytest.mark.parametrize("name", ["sweep_over_neighbours", "sweep_that_scales"])
def test_rows_that_need_each_other_stay_together(name: str) -> None:
    loops = loops_of(name)
    assert re.search(r"^    for \w in range\(\w+ - 1\):\n(        \w+ = .*\n)*        for ", loops, re.MULTILINE), loops


def test_running_totals_of_columns_go_down_row_by_row() -> None:
    """The scan along the rows that takes them joins; no matrix of the first totals is kept."""
    loops = loops_of("window_sums")
    assert re.search(r"for i in range\(n\):\n        (\w+) = -0\.0\n        for j in range\(m\):\n"
                     r"(            .*\n)*            total\[j\] = total(\d) *\n", loops), loops
    assert len(re.findall(r"^    for ", loops, re.MULTILINE)) == 3, loops


def step_of_waves(u, v, c):
    around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
    new = 2 * u - v
    new[1:-1, 1:-1] += c * (around - 4 * u[1:-1, 1:-1])
    return new


def test_what_is_added_to_the_inside_is_computed_with_what_it_is_added_to() -> None:
    """The border has loops of its own; the old numbers are made on both sides, as they cost little."""
    u, v = np.random.default_rng(0).normal(size=(2, 6, 7))
    np.testing.assert_allclose(as_loops(step_of_waves, step_of_waves, (u, v, 0.1)), step_of_waves(u, v, 0.1), 1e-14)
    text = source_of(step_of_waves, step_of_waves, (u, v, 0.1))
    assert "+=" not in text and text.count("range(m - 2)") == 1, text


def test_rows_are_made_where_they_are_read() -> None:
    loops = loops_of("stencils_of_stencils")
    assert "flow = np.empty(" in loops and len(re.findall(r"% 2", loops)) == 2, loops
    assert "% 2" not in loops_of("stencils_of_stencils", threads=True)


def test_an_array_that_is_written_meanwhile_is_read_before() -> None:
    assert "% 2" not in loops_of("stencil_written_back")


@pytest.mark.parametrize("name, lists", [("stays_inside", False), ("written_where_positive", False),
                                         ("averaged_where_positive", True)])
def test_places_of_a_mask_are_listed_where_more_is_made_of_them(name: str, lists: bool) -> None:
    assert ("places" in loops_of(name)) == lists


def settled(rate):
    x = 0.5
    while abs(rate * x * (1 - x) - x) > 1e-6:
        x = rate * x * (1 - x)
    return x


def test_zeros_that_every_lane_overwrites_are_not_written() -> None:
    rates = np.linspace(1.5, 2.9, 7)
    target = vmap(grad(settled))
    made = generated(target, settled, (rates,))
    kernel = lower(made.function, made.reading.assumptions)
    assert not re.search(r"drate\[\w+\] = 0\.0", kernel.source), kernel.source
    np.testing.assert_allclose(called(made, plain(kernel), settled, (rates,)), target(rates), rtol=1e-12)


def factored(a0):
    a = a0.copy()
    n = a.shape[0]
    for k in range(n):
        a[k:, k] /= np.sqrt(a[k, k])
        for j in range(k + 1, n):
            a[j:, j] -= a[j:, k] * a[j, k]
    return np.tril(a)


def test_an_array_that_loops_write_in_place_lies_as_they_go() -> None:
    a = np.eye(5) * 6 + np.arange(25.0).reshape(5, 5) / 10
    assert_same(factored, (a + a.T) / 2)
    source = source_of(factored, factored, (a,))
    assert re.search(r"a\[k \+ i \+ 1, k \+ i \+ j \+ 1\] -= a\[k, k \+ i \+ j \+ 1\] \* ", source), source


def scaled_to_one(x, gain, offset, weights):
    centred = x - np.mean(x, axis=1, keepdims=True)
    ratio = centred / np.sqrt(np.mean(centred ** 2, axis=1, keepdims=True) + 1e-5)
    return np.sum((ratio * gain + offset) * weights)


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-12), (np.float32, 1e-4)])
@pytest.mark.parametrize("length", [12, 40])
def test_sums_over_rows_meet_what_the_rows_are_made_by(length: int, dtype: Any, tolerance: float) -> None:
    """Of long rows: short ones are done many at a time, apart from the sums."""
    rng, gradient = np.random.default_rng(0), grad(scaled_to_one, argnums=(0, 1, 2))
    arguments = [rng.normal(size=size).astype(dtype) for size in ((7, length), (length,), (length,), (7, length))]
    for got, want in zip(as_loops(gradient, scaled_to_one, arguments), gradient(*arguments), strict=True):
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
    over_rows = re.findall(r"^    for i in range\(n\):", source_of(gradient, scaled_to_one, arguments), re.MULTILINE)
    assert len(over_rows) == 1 + (length <= 16)
