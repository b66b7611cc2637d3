"""Axes that reshapes merge and split: nothing is divided at every place, on processors and GPUs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lowered import assert_same, source_of
from test_golden_gpu import compare, looped

from transformer import jit

DIVISION = re.compile(r"floor_quotient|%|//(?! \d)")     # but of sizes by numbers
SHAPES = [(3, 4, 5), (2, 7, 3), (6, 2, 70)]
SHORT = [(1, 4, 5), (3, 1, 5), (3, 4, 1), (1, 1, 1), (0, 2, 3), (2, 3, 0)]


def merged(x):
    a, b, c = x.shape
    return x.transpose(1, 0, 2).reshape(b, a * c) * 2


def merged_of_three(x):
    return np.exp(x.transpose(1, 2, 0)).reshape(-1)


def merged_and_split(x):
    a, b, c = x.shape
    return np.tanh(x.transpose(0, 2, 1).reshape(a * c, b)).reshape(a, c * b)


def merged_in_front(x):
    a, b, c = x.shape
    return x.reshape(a * b, c) + np.arange(c)


def split_and_merged(x):
    a, b, c = x.shape
    return x.reshape(a, b * c).reshape(a * b, c) - 1


def split_in_half(x):
    return x.reshape(x.shape[0] * x.shape[1], x.shape[2]).T.reshape(x.shape[2], x.shape[0], x.shape[1]) * 3


PROGRAMS = [merged, merged_of_three, merged_and_split, merged_in_front, split_and_merged, split_in_half]


@pytest.mark.parametrize("program", PROGRAMS)
def test_processors_divide_nothing(program: Callable[..., Any]) -> None:
    compiled = jit(program)
    for k, shape in enumerate([*SHAPES, *SHORT]):
        x = np.random.default_rng(k).normal(size=shape)
        np.testing.assert_allclose(compiled(x), program(x), rtol=1e-12)
    source = compiled.source_for(np.ones(SHAPES[0]))
    assert not DIVISION.search(source[source.index("for "):]), source


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS)
def test_kernels_divide_nothing(program: Callable[..., Any]) -> None:
    for k, shape in enumerate(SHAPES):
        x = np.random.default_rng(k).normal(size=shape)
        made = looped(program, program, (x,))
        compare(made, made.module.source, program, (x,))
        kernels = made.module.source.split("\n@cuda.jit\n")[1:]
        bodies = "\n".join(each.split("_driver(")[0] for each in kernels)
        assert not DIVISION.search(bodies), bodies


def test_pairs_are_not_totals_of_their_own() -> None:
    """A place is shifted in less time than pairs are added up, and then their totals."""
    def added(x):
        a, b, c = x.shape
        return x.transpose(1, 0, 2).reshape(b, a * c).sum(axis=1)

    x = np.random.default_rng(0).normal(size=(40, 30, 2))
    compiled = jit(added)
    np.testing.assert_allclose(compiled(x), added(x), rtol=1e-12)
    source = compiled.source_for(x)
    assert "[j // 2, i, j % 2]" in source and "for k in" not in source


def test_what_does_not_come_out_even_is_divided() -> None:
    def regrouped(x):
        return x.reshape(6, 10) + 1

    x = np.random.default_rng(0).normal(size=(4, 15))
    np.testing.assert_allclose(jit(regrouped)(x), x.reshape(6, 10) + 1)


def test_indices_that_a_program_divides() -> None:
    """Of numbers that are not below the product, too."""
    def looked_up(x):
        y = np.zeros(x.size + 3)
        for k in range(x.size):
            y[k + 3] = x[k // x.shape[1], k % x.shape[1]] * k
        return y, sum(x[(k + 1) // x.shape[1] % x.shape[0], (k + 1) % x.shape[1]] * k for k in range(x.size))

    for shape in (3, 4), (1, 5), (5, 1):
        x = np.random.default_rng(1).normal(size=shape)
        for got, want in zip(jit(looked_up)(x), looked_up(x), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12)


def in_groups(x):
    y = x.reshape(x.shape[0], 2, -1)
    return ((y - y.max(axis=-1, keepdims=True)) * 2).reshape(x.shape)


def test_groups_are_whole_rows() -> None:
    """Also where a call has other sizes: rows of half a group, an odd number of rows."""
    for k, shape in enumerate([(3, 4, 5), (2, 6, 1), (2, 3, 4), (1, 4, 2), (2, 4, 2, 5), (2, 3, 5)]):
        assert_same(in_groups, np.random.default_rng(k).normal(size=shape))
    source = source_of(in_groups, in_groups, (np.ones((3, 4, 5)),))
    assert not re.search("floor_quotient|%", source), source
