"""Writes of a branch that some lanes take are done for all lanes at once, where the places exist in any case."""

from __future__ import annotations

import numpy as np
import pytest

from transformer import grad, jit, vmap

SPECIAL = np.array([0.0, -0.0, 1.5, -1.0, np.inf, -np.inf, np.nan, 2.0])


def sorted_by_bubbles(x):
    x = x.copy()
    n = len(x)
    for i in range(n):
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


def squares_of_positive(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        if x[i] > 0:
            y[i] = x[i] ** 2
    return y


def counted_apart(x):
    c, last = np.zeros(3, x.dtype), 0.0
    for i in range(len(x)):
        if x[i] > 0:
            c[0] += 1
            last = x[i]
        else:
            c[1] += x[i]
            c[2] = c[1] - c[0]
    return c, last


def rows_chosen(x):
    table = np.ones((len(x), 3), x.dtype)
    for i in range(len(x)):
        if x[i] < 1:
            table[i] = 2.0 * x[i]
            table[:, 1] += 1
    return table


def numbered(x):
    seen = np.zeros(len(x), int)
    for i in range(len(x)):
        if x[i] > 0:
            seen[i] = i
        else:
            seen[0] -= 1
    return seen


def relaxed(x):
    """The places are looked at before."""
    best = np.full(4, 3.0)
    for i in range(len(x)):
        v = int(3 * np.cos(i)) % 4
        if x[i] < best[v]:
            best[v] = x[i]
    return best


def both_sides(x):
    y, z = np.zeros(2, x.dtype), np.zeros(2, x.dtype)
    for i in range(len(x)):
        if x[i] > 0:
            y[0] = x[i]
            z[1] = y[0]
            y[0] = z[1] + 1
        else:
            z[0] = x[i]
    return y, z


def counted_by_size(x):
    """A branch in a branch, and one place that both sides write to."""
    c, y = np.zeros(3, x.dtype), np.empty(len(x), x.dtype)
    for i in range(len(x)):
        if x[i] > 0:
            y[i] = x[i]
            if x[i] > 1:
                c[2] += x[i]
            else:
                c[1] += 1
                c[0] = c[1] + y[i]
        else:
            y[i] = -x[i]
            c[0] -= 1
    return c, y


def longest_rises(x):
    """The condition itself looks at places in some lanes only."""
    best = np.ones(len(x))
    for i in range(len(x)):
        for j in range(i):
            if x[j] < x[i] and best[j] + 1 > best[i]:
                best[i] = best[j] + 1
    return best


def with_hysteresis(x):
    y, inside = np.zeros(len(x)), False
    for i in range(len(x)):
        if not inside and x[i] > 1:
            inside = True
        elif inside and x[i] < 0:
            inside = False
        y[i] = 1.0 if inside or x[i] == 0 else 0.0
    return y


ALL_AT_ONCE = [longest_rises, with_hysteresis, counted_by_size, sorted_by_bubbles, squares_of_positive, counted_apart,
               rows_chosen, numbered, relaxed, both_sides]


def beside(x):
    """A place that is there only where the branch is taken."""
    y = np.zeros_like(x)
    n = len(x)
    for i in range(n):
        if x[i] > 0 and i + 1 < n:
            y[i + 1] = x[i]
    return y


def cut_off(x):
    """The whole array is another one on one side."""
    y = np.zeros_like(x)
    if x[0] > 0:
        y[0] = 1.0
    else:
        y = x * 2
    return y


def fractions(x):
    """What is computed may fail in other lanes."""
    y = np.zeros_like(x)
    for i in range(len(x)):
        if x[i] != 0:
            y[i] = 1 / x[i]
    return y


LANE_BY_LANE = [beside, fractions]


def check(function, xs, transformations=(vmap,)) -> None:
    wanted = [function(x) for x in xs]
    for transformation in transformations:
        found = transformation(function)(xs)
        for k, item in enumerate(found if isinstance(found, tuple) else (found,)):
            each = [w[k] if isinstance(w, tuple) else w for w in wanted]
            np.testing.assert_array_equal(item, each)
            np.testing.assert_array_equal(np.signbit(item), np.signbit(each))
            assert item.dtype == np.asarray(each).dtype or item.dtype == xs.dtype


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", [*ALL_AT_ONCE, *LANE_BY_LANE, cut_off])
def test_numbers(function) -> None:
    xs = np.stack([SPECIAL, SPECIAL[::-1], np.roll(SPECIAL, 3), -SPECIAL])
    compiled = function in (sorted_by_bubbles, counted_apart, fractions)
    check(function, xs, (vmap, lambda f: jit(vmap(f))) if compiled else (vmap,))
    if function is not relaxed:
        check(function, xs.astype(np.float32))


@pytest.mark.parametrize("function", ALL_AT_ONCE)
def test_no_lane_is_by_itself(function) -> None:
    assert "lane" not in vmap(function).source_for(np.ones((2, 4)))


@pytest.mark.parametrize("function", LANE_BY_LANE)
def test_lanes_by_themselves(function) -> None:
    assert "for lane in" in vmap(function).source_for(np.ones((2, 4)))


@pytest.mark.parametrize("function", [sorted_by_bubbles, squares_of_positive, rows_chosen, relaxed])
def test_derivatives(function) -> None:
    xs = np.random.default_rng(2).normal(size=(3, 5))
    gradient = grad(lambda x: np.sum(function(x) ** 2 * np.arange(1.0, 6.0)[:len(function(x))].reshape(
        -1, *[1] * (function(x).ndim - 1))))
    each = [gradient(x) for x in xs]
    np.testing.assert_allclose(vmap(gradient)(xs), each, rtol=1e-13)
    if function is sorted_by_bubbles:
        np.testing.assert_allclose(jit(vmap(gradient))(xs), each, rtol=1e-13)


ENDS = np.array([[0, 1], [1, 2], [0, 2], [2, 3], [1, 3]])


def shortest(lengths, ends):
    best = np.full(4, 9.0)
    best[0] = 0.0
    for _ in range(3):
        for k in range(len(ends)):
            if best[ends[k, 0]] + lengths[k] < best[ends[k, 1]]:
                best[ends[k, 1]] = best[ends[k, 0]] + lengths[k]
    return best[3]


def at_the_other_end(lengths, ends):
    """The first loop does not look at the places of the second one."""
    best = np.zeros(4)
    for k in range(len(ends)):
        best[ends[k, 0]] = lengths[k]
    for k in range(len(ends)):
        if lengths[k] > 0:
            best[ends[k, 1]] = 2 * lengths[k]
    return np.sum(best ** 2)


def more_often(lengths, ends):
    """The second loop goes on, where the first one need not have been."""
    best = np.zeros(4)
    for k in range(len(ends) - 1):
        best[ends[k, 1]] = lengths[k]
    for k in range(len(ends)):
        if lengths[k] > 0:
            best[ends[k, 1]] += 2 * lengths[k]
    return np.sum(best ** 2)


@pytest.mark.parametrize("function, at_once", [(shortest, True), (at_the_other_end, False), (more_often, False)])
def test_places_that_a_loop_before_has_looked_at(function, at_once: bool) -> None:
    lengths = np.random.default_rng(3).normal(size=(3, 5)) + 1.5 * (function is shortest)
    batched = vmap(grad(function), in_axes=(0, None))
    assert ("for lane in" not in batched.source_for(lengths, ENDS)) is at_once
    np.testing.assert_allclose(batched(lengths, ENDS), [grad(function)(each, ENDS) for each in lengths], rtol=1e-13)
    outside = np.where(lengths[:1] > 9, lengths[:1], -1.0)                   # no lane goes there
    far = ENDS + 7 * (ENDS == 3)
    if not at_once:
        wide = vmap(function, in_axes=(0, None))
        with pytest.raises(IndexError):
            wide(lengths, far)
        assert function is not at_the_other_end or wide(outside, far) == [function(outside[0], far)]
