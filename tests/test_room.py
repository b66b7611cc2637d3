"""Arrays that get longer and shorter in compiled loops lie in one memory, and what shows them as a whole is exact."""

import numpy as np
import pytest
from lowered import as_loops

from transformer import jit


def falling_pairs(x):
    """A stack of pairs: two arrays of the same size."""
    stack, total = [], 0.0
    for i in range(len(x)):
        while stack and stack[-1][1] < x[i]:
            place, value = stack.pop()
            total += value * (i - place)
        stack.append((i, x[i]))
    return total, len(stack)


def peaks(x):
    """A list that loops fill under a condition, and that is seen as a whole afterwards."""
    found = np.zeros(0)
    for i in range(1, len(x) - 1):
        if x[i - 1] < x[i] and x[i] > x[i + 1]:
            found = np.append(found, x[i])
    return found, found.shape[0], np.sort(found)


def sorted_fronts(x):
    """An array that a library sees as a whole while it grows and shrinks."""
    front, total = x[:1], 0.0
    for i in range(1, len(x)):
        front = np.append(front, x[i])
        if i % 3 == 0:
            front = front[:-2]
        total += np.sort(front)[0] + np.median(front)
    return total, front


def before_and_after(x):
    """The array as it was is read behind the place where the longer one is made."""
    a, total = x[:2] * 2, 0.0
    for i in range(len(x)):
        b = np.append(a, x[i])
        total += np.sum(b) - np.sum(a) + a[0]
        a = b if x[i] > 0 else a
    return total, a


def two_names(x):
    """Two arrays begin as the same one, and part."""
    a = x[:1] + 1
    for i in range(1, len(x)):
        b = np.append(a, x[i])
        c = np.append(a, -x[i])
        a = b if x[i] > 0.5 else c
    return a


def rows(x):
    """A row is appended in every iteration, and the last one dropped again sometimes."""
    kept = np.zeros((0, x.shape[1]))
    for i in range(len(x)):
        kept = np.concatenate((kept, 2 * x[i:i + 1]))
        if x[i, 0] < 0:
            kept = kept[:-1]
    return kept, kept @ np.ones(x.shape[1])


def several_at_once(x):
    """More than one item at once, in front of it and behind it."""
    a = np.zeros(0)
    while a.shape[0] < 3 * len(x):
        a = np.concatenate((a, x, x[:2]))
        a[0] = a[-1] + 1
    front = x[:0]
    for i in range(len(x)):
        front = np.concatenate((x[i:i + 1], front))
    return a, front


def grows_and_is_kept(x):
    """Every version is added to an outer one: none is lost when the memory moves."""
    sums = np.zeros(0)
    a = np.zeros(1)
    for i in range(len(x)):
        a = np.append(a, x[i])
        sums = np.append(sums, a[-2] + len(a))
    return sums, a


def compare(got, want):
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5 if np.result_type(other) == np.float32 else 1e-12)
        assert np.shape(one) == np.shape(other)
        assert np.result_type(one) == np.result_type(other)


def made_together(x):
    """One nest makes both of the longer arrays."""
    a, b = x[:0], x[:0]
    for i in range(len(x)):
        n = len(a)
        longer, other = np.zeros(n + 1), np.zeros(n + 1)
        for k in range(n):
            longer[k], other[k] = a[k], b[k]
        longer[n], other[n] = x[i], -x[i]
        a, b = longer, other
    return a, b


VECTORS = [falling_pairs, peaks, sorted_fronts, before_and_after, two_names, several_at_once, grows_and_is_kept,
           made_together]


@pytest.mark.parametrize("program", VECTORS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("size", [4, 40])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_is_what_numpy_says(program, size, dtype):
    rng = np.random.default_rng(size)
    x = rng.normal(size=size).astype(dtype)
    compare(as_loops(program, program, (x,)), program(x))


@pytest.mark.parametrize("shape", [(5, 3), (30, 2), (9, 7)])
def test_rows_are_what_numpy_says(shape):
    x = np.random.default_rng(0).normal(size=shape)
    compare(as_loops(rows, rows, (x,)), rows(x))


def test_compiled_results_are_what_numpy_says():
    x = np.random.default_rng(1).normal(size=70)
    compare(jit(peaks)(x), peaks(x))


def test_nothing_is_copied_but_where_memory_is_full():
    compiled = jit(falling_pairs)
    compiled(np.random.default_rng(2).normal(size=70))
    assert compiled.source.count("np.concatenate") == 2
    assert "stack2" not in compiled.source


def test_rows_are_not_copied_either():
    compiled, x = jit(rows), np.random.default_rng(3).normal(size=(70, 5))
    compare(compiled(x), rows(x))
    assert compiled.source.count("np.concatenate") == 1
