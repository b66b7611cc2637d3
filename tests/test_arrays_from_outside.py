"""Arrays that the caller of a kernel makes: full of zeros where it begins with these, and one of those alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from transformer import config, grad, jit


def padded_columns(x):
    p = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 2), x.dtype)
    p[:, 1:-1, 1:-1] = x
    return np.sum(p, axis=0) * 2


def normalized(x):
    return (x - np.mean(x, axis=0, keepdims=True)) / np.std(x, axis=0)


def normalized_with_mean(x):
    return (x - np.mean(x, axis=0, keepdims=True)) / np.std(x, axis=0), np.mean(x, axis=0)


def written_later(x):
    """Two arrays of the same numbers, of which one changes."""
    mean, shifted = np.mean(x, axis=0), np.mean(x, axis=0)
    for i in range(x.shape[0]):
        shifted[1:] = shifted[1:] + x[i, 1:] * mean[:-1]
    return mean, shifted, np.sum(x * mean, axis=0)


def both_given(x):
    return np.mean(x, axis=0), np.mean(x, axis=0, keepdims=True)


def negative_zeros(x):
    """Sums that begin with something else keep the sign of a zero."""
    total = -np.abs(x[0]) * 0
    for i in range(1, x.shape[0]):
        total += np.zeros(x.shape[1:], x.dtype) * -1.0
    return 1 / total


def counted(x):
    """Zeros in a loop are those of each iteration."""
    best = np.zeros(x.shape[1:], x.dtype)
    for i in range(x.shape[0]):
        row = np.zeros(x.shape[1:], x.dtype)
        for j in range(x.shape[1]):
            row[x.shape[1] // 2] += x[i, j]
            row[j] += row[0] + 1
        best = np.maximum(best, row)
    return best


FUNCTIONS = padded_columns, normalized, normalized_with_mean, written_later, both_given, negative_zeros, counted


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_results_are_those_of_numpy(function: Any, dtype: str) -> None:
    rng, compiled = np.random.default_rng(2), jit(function)
    for shape in ((9, 7, 6), (12, 5, 8)):
        x = rng.normal(size=shape).astype(dtype)
        for _ in range(2):
            want, got = function(x), compiled(x)
            for a, b in zip(*(each if isinstance(each, tuple) else (each,) for each in (want, got)), strict=True):
                assert a.dtype == b.dtype
                np.testing.assert_allclose(b, a, rtol=3e-5 if dtype == "f4" else 1e-12, atol=1e-6)


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "threads", 1)


def sources(function: Any, *shape: int) -> tuple[str, str]:
    """Those of the kernel and of its entry."""
    kernel, _, entry = jit(function).source_for(np.ones(shape)).rpartition("\ndef ")
    return kernel, entry


def test_arrays_that_begin_with_zeros_are_made_so(one_thread: None) -> None:
    kernel, entry = sources(padded_columns, 9, 7, 6)
    assert "np.zeros((n + 2, m + 2))" in entry and "np.empty((n + 2, m + 2))" in entry
    assert "0.0" not in kernel                           # neither stored, nor added for what is around
    kernel, entry = sources(grad(lambda x: np.sum(np.sin(padded_columns(x)))), 9, 7, 6)
    assert "= 0.0" not in kernel


def test_zeros_of_each_iteration_are_stored(one_thread: None) -> None:
    kernel, _ = sources(counted, 9, 7, 6)
    assert "= 0.0" in kernel


def test_of_arrays_alike_there_is_one(one_thread: None) -> None:
    kernel, entry = sources(normalized, 9, 7, 6)
    assert kernel.count("/ number") == 2 and entry.count("np.empty") == 3           # the mean, the root, the result
    kernel, entry = sources(normalized_with_mean, 9, 7, 6)
    assert kernel.count("/ number") == 2 and entry.count("np.empty") == 3           # the mean is a result
    _, entry = sources(both_given, 9, 7, 6)
    assert entry.count("np.empty") == 2                                              # results share no memory


def convolved(x, w, y):
    for i in range(y.shape[0]):
        for j in range(3):
            for k in range(3):
                for p in range(y.shape[1]):
                    y[i, p] += w[j, k] * x[i + j, p + k]


def small_products(x, y):
    for i in range(y.shape[0]):
        for j in range(3):
            for k in range(3):
                for p in range(3):
                    y[i, j, k] += x[i, j, p] * x[i, p, k]


def test_loops_around_long_ones_stay_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    from transformer.run.compiling import machine_code
    from transformer.run.compiling.dispatchers import KernelDispatcher
    rng, told = np.random.default_rng(0), list[Any]()
    of_one_loop = machine_code._OfOneLoop
    monkeypatch.setattr(machine_code, "_OfOneLoop", lambda module: told.append(of_one_loop(module)) or told[-1])
    KernelDispatcher(small_products)(rng.normal(size=(4, 3, 3)), np.zeros((4, 3, 3)))
    assert not told
    x, w, y = rng.normal(size=(8, 9)), rng.normal(size=(3, 3)), np.zeros((6, 7))
    convolution = KernelDispatcher(convolved)
    convolution(x, w, y)
    np.testing.assert_allclose(y, sum(w[j, k] * x[j:j + 6, k:k + 7] for j in range(3) for k in range(3)))
    assert len(told) == 3                                # of i, j and k, not of p
    assert "llvm.loop.unroll.disable" in next(iter(convolution.inspect_llvm().values()))
