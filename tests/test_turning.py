"""Rows of few numbers are done for many rows at a time: for every length, however they lie, and by threads."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from lowered import as_loops, source_of

from transformer import config, grad, jit
from transformer.lower.printing.turns import as_columns, as_rows

ROWS = 260                             # four blocks, and four rows of another one


def classified(z, labels):
    """Numbers of rows, rows, and a sum over all of them."""
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    return p, np.argmax(p, axis=1), np.mean(np.log(p[np.arange(z.shape[0]), labels]))


def loss(z, labels):
    d = z - np.mean(z, axis=1, keepdims=True)
    y = d / np.sqrt(np.mean(d * d, axis=1, keepdims=True) + 1e-3)
    return np.mean(np.log(np.sum(np.exp(y), axis=1)) - y[np.arange(z.shape[0]), labels])


def normed(z):
    d = z - np.mean(z, axis=-1, keepdims=True)
    return d / np.sqrt(np.mean(d * d, axis=-1, keepdims=True) + 1e-3)


def in_place(z):
    z[:] = np.exp(z - np.max(z, axis=1, keepdims=True))
    return np.sum(z, axis=1)


def sums_only(z):
    return np.sum(z * z, axis=1)


def one_hot(z, labels):
    """The length of rows is a number of the program."""
    d = z - np.max(z, axis=1, keepdims=True)
    logs = d - np.log(np.sum(np.exp(d), axis=1, keepdims=True))
    return np.sum(np.eye(10)[labels] * logs, axis=1)


def example(n: int, m: int, dtype: str = "f8") -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n + m)
    return rng.normal(size=(n, m)).astype(dtype), rng.integers(0, m, n)


def assert_close(got: Any, want: Any, dtype: str = "f8") -> None:
    for a, b in zip(*(each if isinstance(each, tuple) else (each,) for each in (got, want)), strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-11 if dtype == "f8" else 1e-4, atol=1e-12 if dtype == "f8" else 1e-6)


@pytest.mark.parametrize(("n", "m"), [(0, 10), (255, 10), *((ROWS, m) for m in (1, 3, 5, 8, 16, 17))])
def test_lengths(n: int, m: int) -> None:
    z, _ = example(n, m)
    assert_close(as_loops(normed, normed, (z,)), normed(z))
    assert ("64 * block" in source_of(normed, normed, (z,))) == (n == ROWS and 5 <= m <= 15)


@pytest.mark.parametrize("target", [classified, grad(loss), in_place, one_hot])
def test_programs(target: Any) -> None:
    user = target if target in (classified, in_place, one_hot) else loss
    arguments = example(ROWS, 10)[:1 if user is in_place else 2]
    assert_close(as_loops(target, user, arguments), target(*(each.copy() for each in arguments)))
    assert "as_columns(" in source_of(target, user, arguments)


def test_what_is_turned() -> None:
    """Rows in batches are; of float64 not for a sum alone, which costs less than that."""
    z = np.random.default_rng(0).normal(size=(2, ROWS, 10))
    assert_close(as_loops(normed, normed, (z,)), normed(z))
    assert "as_columns(z[i]" in source_of(normed, normed, (z,))
    assert "block" not in source_of(sums_only, sums_only, (z[0],))
    source = source_of(normed, normed, example(ROWS, 6)[:1])
    assert "64 * block" in source and "as_columns" not in source         # no eight columns


@pytest.mark.parametrize(("dtype", "threads"), [("f8", 1), ("f4", 2)])
def test_compiled(dtype: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "threads", threads)
    compiled = jit(classified)
    z, labels = example(ROWS, 10, dtype)
    z = z if threads > 1 else np.repeat(z, 2, axis=0)[::2]
    assert_close(compiled(z, labels), classified(z, labels), dtype)
    assert "as_columns(" in compiled.source_for(z, labels)


@cache
def turned_by_a_kernel() -> Any:
    from transformer.run.compiling.dispatchers import KernelDispatcher
    from transformer.run.compiling.turns import compiled_turns
    there, back = map(compiled_turns().get, ("as_columns", "as_rows"))

    def kernel(x: Any, first: Any, count: Any, columns: Any, y: Any) -> None:
        there(x, first, count, columns)
        back(columns, y, first, count)

    return KernelDispatcher(kernel, targetoptions={"nopython": True, "error_model": "numpy"})


@pytest.mark.parametrize("way", ["rows", "steps"])
def test_squares(way: str) -> None:
    """No row but those that are meant is read or written, and none in another order."""
    for n, m in ((1, 8), (7, 9), (64, 16), (70, 13)):
        x = np.random.default_rng(m).normal(size=(n, 2 * m)).astype("f4" if way == "rows" else "f8")
        x = np.ascontiguousarray(x[:, :m]) if way == "rows" else x[:, ::2]
        first, y = max(0, n - 64), np.zeros_like(x)
        columns, want, rows = np.zeros((m, 64), x.dtype), np.zeros((m, 64), x.dtype), np.zeros_like(x)
        y = np.zeros((n, 2 * m), x.dtype)[:, ::2] if way == "steps" else y
        turned_by_a_kernel()(x, first, n - first, columns, y)
        as_columns(x, first, n - first, want)
        as_rows(want, rows, first, n - first)
        np.testing.assert_array_equal(columns[:, :n - first], want[:, :n - first])
        np.testing.assert_array_equal(y, rows)
