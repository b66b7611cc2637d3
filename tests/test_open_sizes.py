"""Loops that leave arrays and lists longer or shorter: one function for all lengths, and what its source says."""

import re

import numpy as np
import pytest
from corpus import steady_sizes
from golden_loops.programs import next_higher

from transformer import checkpoint_loop, grad, jit, jvp, vmap


def areas(heights, widths):
    stack, total = [], 0.0
    for i in range(len(heights)):
        while stack and heights[stack[-1]] > heights[i]:
            k = stack.pop()
            total += heights[k] * (i - k) * widths[k]
        stack.append(i)
    return total


@pytest.mark.parametrize("n", [5, 20, 70])
def test_one_function_for_all_lengths(n):
    """A stack in a loop is no reason to unroll it, however few iterations there are."""
    heights = np.random.default_rng(n).normal(size=n)
    fast = jit(next_higher)
    fast(np.arange(9.0))
    source = fast.source
    np.testing.assert_array_equal(fast(heights), next_higher(heights))
    assert fast.source == source


def test_gradient_of_a_stack_is_a_loop():
    rng = np.random.default_rng(0)
    heights, widths, along = rng.random(20), rng.random(20), rng.normal(size=20)
    slopes = grad(areas)
    expected = (areas(heights + 1e-6 * along, widths) - areas(heights - 1e-6 * along, widths)) / 2e-6
    np.testing.assert_allclose(slopes(heights, widths) @ along, expected, rtol=1e-6)
    assert "while size > 0 and heights[stack[-1]] > heights[i]:" in slopes.source
    assert "size += 1" in slopes.source and "size -= 1" in slopes.source


STEADY = [program for program in steady_sizes.PROGRAMS
          if program.name not in ("shorter_by_a_branch", "shorter_than_nothing", "point_of_a_point", "multiplied_out",
                                  "growing_in_nested_loops")]       # whose loop around adds another number each time


@pytest.mark.parametrize("program", STEADY, ids=lambda program: program.name)
@pytest.mark.parametrize("order", [1, 2])
def test_positions_tell_sizes(program, order):
    """Nothing counts, and nothing tests, what the position says."""
    args = program.example(np.random.default_rng(0))
    wrt = program.wrt[0] if isinstance(program.wrt, tuple) else program.wrt
    slopes = grad(program.function, argnums=wrt)
    if order == 2:
        slopes = jvp_of(slopes, wrt)
    source = slopes.source_for(*args)
    assert not re.search(r"\bsize|have to be equal", source), source


def jvp_of(function, wrt):
    return grad(lambda *args: np.sum(np.asarray(function(*args)) * 0.5), argnums=wrt)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_lanes_and_tangents_of_sizes_that_shrink(n):
    rng = np.random.default_rng(n)
    points, along = rng.normal(size=(3, n, 2)), rng.normal(size=(n, 2))
    curve = steady_sizes.point_of_curve
    lanes = jit(vmap(grad(curve), in_axes=(0, None)))(points, 0.3)
    np.testing.assert_allclose(lanes, [grad(curve)(each, 0.3) for each in points], rtol=1e-12)
    tangent = jit(lambda p, v: jvp(lambda q: curve(q, 0.3), (p,), (v,))[1])(points[0], along)
    np.testing.assert_allclose(tangent, np.sum(lanes[0] * along), rtol=1e-12)


def smoothed_until(x, bound):
    while len(x) > 2 and x[0] < bound:
        x = 0.5 * (x[1:] + x[:-1])
    return np.sum(x)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [2, 3, 40])
def test_conditions_with_and(dtype, n):
    """What is tested and what comes of it are one expression, in the order in which Python runs them."""
    x = np.arange(n, dtype=dtype)
    source = grad(smoothed_until).source_for(x, 1.0)
    assert re.search(r"while \w+ > 2 and x\[0\] < bound:", source), source
    assert jit(smoothed_until)(x, 1.0) == smoothed_until(x, 1.0)


def folded(points, t):
    with checkpoint_loop():
        for _ in range(len(points) - 1):
            points = np.sin((1 - t) * points[:-1] + t * points[1:])
    return points[0]


def folded_until(x, bound):
    with checkpoint_loop():
        while len(x) > 2 and x[0] < bound:
            x = np.sin(x[1:]) + 0.5 * x[:-1]
    return np.sum(x)


@pytest.mark.parametrize("n", [5, 17])
@pytest.mark.parametrize("function", [folded, folded_until])
def test_blocks_of_loops_that_leave_other_sizes(function, n):
    """A block begins with the size that the one before has left, in NumPy source and compiled."""
    x, along = np.linspace(0.1, 1.3, n), np.random.default_rng(n).normal(size=n)
    slopes = grad(function)
    expected = (function(x + 1e-6 * along, 0.7) - function(x - 1e-6 * along, 0.7)) / 2e-6
    np.testing.assert_allclose(slopes(x, 0.7) @ along, expected, rtol=1e-6)
    if function is folded:
        np.testing.assert_allclose(jit(slopes)(x, 0.7), slopes(x, 0.7), rtol=1e-12)
