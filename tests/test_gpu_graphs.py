"""Loops that launch the same kernels at every step: which they are, and that as many steps are done by a graph as one
after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gpu_standins import CUDA, Stream
from test_golden_gpu import compare, looped

from transformer.lower.cuda.graphs import AT_ONCE, FIRST, LEAST
from transformer.run.gpu.graphs import replayed


@pytest.fixture(autouse=True)
def _gpu(a_gpu: None) -> None:
    """Streams that note what they are asked."""


def fill_next(u: np.ndarray, u_next: np.ndarray) -> None:
    u_next[:] = u + np.roll(u, 1) % 7


def launch_fill_next(u: np.ndarray, u_next: np.ndarray) -> None:
    """With the arguments that it has now."""
    CUDA.noted("asked for", fill_next)
    CUDA.asked(lambda: fill_next(u, u_next))


def stepped(steps: int, count: int) -> list[np.ndarray]:
    """What is in arrays that take turns, with the steps that are asked for."""
    arrays = [np.arange(5) + 10 * k for k in range(count)]
    for _ in replayed(steps):
        launch_fill_next(*arrays[:2])
        arrays = arrays[1:] + arrays[:1]
    return arrays


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("steps", [0, 1, 5, LEAST - 1, LEAST, LEAST + 1, LEAST + AT_ONCE - 1, LEAST + AT_ONCE, 1000])
def test_as_many_steps_are_done(steps: int, count: int) -> None:
    wanted = [np.arange(5) + 10 * k for k in range(count)]
    for _ in range(steps):
        fill_next(*wanted[:2])
        wanted = wanted[1:] + wanted[:1]
    np.testing.assert_array_equal(stepped(steps, count), wanted)
    asked = Counter(what for what, *_ in CUDA.log)
    assert asked["asked for"] <= LEAST + AT_ONCE
    assert asked["launched"] == (0 if steps < LEAST else (steps - FIRST) // AT_ONCE)


def test_what_fails_ends_what_was_noted() -> None:
    with pytest.raises(ValueError, match="launch refused"):
        for k, _ in enumerate(replayed(LEAST)):
            if k == 5:
                raise ValueError("launch refused")
    stream, = CUDA.current
    assert not stream.is_capturing()


def test_inside_of_a_graph_of_somebody_else() -> None:
    stream = Stream(non_blocking=True)
    stream.begin_capture()
    with stream:
        assert list(replayed(1000)) == list(range(1000))
    assert len(CUDA.current) == 1


def heat(u, steps):
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def swapped(u, v, w, steps):
    """Three arrays take turns."""
    u, v, w = u.copy(), v.copy(), w.copy()
    for _ in range(steps):
        w[1:-1] = u[2:] + v[:-2]
        u, v, w = v, w, u
    return u, v, w


def forced(u, steps):
    for t in range(steps):
        u = u + 0.1 * t
    return u


def timed(u, steps):
    """A number that the host knows changes, too."""
    t = 0.0
    for _ in range(steps):
        u = u + 0.1 * t
        t = t + 0.5
    return u


def late(u, steps):
    """A number that is another one at the first step alone, and one that is so at the first two."""
    first, second = 3.0, 4.0
    for _ in range(steps):
        u = u * 0.5 + second
        second = first
        first = 1.0
    return u


def noted(u, steps):
    for _ in range(steps):
        u = u * 0.5
        seen = True
    return u, seen


def until(u, steps):
    for _ in range(steps):
        if np.sum(u) > 100:
            break
        u = u * 1.5
    return u


def doubled(u):
    for _ in range(10):
        u[1:-1] = 2 * (u[2:] + u[:-2])
    return u


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("user, count, is_alike", [(heat, 1, True), (swapped, 3, True), (forced, 1, False),
                                                   (until, 1, False), (doubled, 1, False),
                                                   (timed, 1, False), (late, 1, False), (noted, 1, True)])
def test_loops_of_drivers(user: Callable[..., Any], count: int, is_alike: bool) -> None:
    rng = np.random.default_rng(0)
    arguments = *(rng.normal(size=30) for _ in range(count)), *[4] * (user is not doubled)
    made = looped(user, user, arguments)
    assert ("in replayed(" in made.module.source) is is_alike
    compare(made, made.module.source, user, arguments)
