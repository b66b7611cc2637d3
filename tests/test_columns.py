"""Arrays that lie column by column: kernels take their transposes, so that loops go along memory."""

from __future__ import annotations

import numpy as np
import pytest
from loop_cases import plain
from lowered import called, generated

from transformer import grad, jit
from transformer.lower.lowering import lower

pytestmark = pytest.mark.usefixtures("own_cache")
WIDE = np.random.default_rng(0).normal(size=(40, 6))


def standardised(x):
    return (x - x.mean(axis=0)) / x.std(axis=0), x.sum(axis=1)


def totals(x):
    return x.sum(axis=0)


def written(x, y):
    x[0] = y[0] * 2
    return x, y.sum(axis=1)


def test_code_is_made_for_how_arrays_lie() -> None:
    compiled = jit(standardised)
    for x in (np.asfortranarray(WIDE), np.asfortranarray(WIDE)[:30]):
        for got, want in zip(compiled(x), standardised(x), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12)
            assert got.flags.c_contiguous
    assert "standardised_kernel(x.T, " in compiled.source_for(np.asfortranarray(WIDE))
    assert "standardised_kernel(x, " in compiled.source_for(np.asfortranarray(WIDE)[:30])


def test_sums_of_columns_are_as_accurate_as_those_of_rows() -> None:
    x = np.random.default_rng(1).uniform(size=(50_000, 2)).astype(np.float32)
    exact = x.astype(float).sum(axis=0)
    np.testing.assert_allclose(jit(totals)(np.asfortranarray(x)), exact, rtol=2e-7)


def test_what_is_written_or_handed_on_stays() -> None:
    x, y = np.asfortranarray(WIDE), np.asfortranarray(WIDE * 2)
    compiled = jit(written)
    got, sums = compiled(x, y)
    assert got is x
    np.testing.assert_allclose(x[0], y[0] * 2)
    np.testing.assert_allclose(sums, y.sum(axis=1))
    assert "written_kernel(x, y.T" in compiled.source_for(x, y)


def test_gradients() -> None:
    def loss(x, w):
        return np.sum(np.tanh(x @ w)[1:] * x[:-1, :2])

    arguments = WIDE[:5], WIDE[6:12, :2]
    derivative = grad(loss, argnums=(0, 1))
    made = generated(derivative, loss, arguments)
    kernel = plain(lower(made.function, made.reading.assumptions, turned=made.function.params))
    found = called(made, lambda *values: kernel(*(value.T for value in values)), loss, arguments)
    for got, want in zip(found, derivative(*arguments), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)
