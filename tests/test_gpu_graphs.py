"""Loops that launch the same kernels at every step: which they are, and that as many steps are done by a graph as one
after the other."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_golden_gpu import compare, looped

from transformer.lower.cuda.graphs import AT_ONCE, LEAST
from transformer.run import gpu_graphs
from transformer.run.gpu_graphs import replayed


class Stream:
    """One that does what it is asked at once, or notes it."""

    current: list[Stream] = []
    graphs = launches = 0

    def __init__(self, non_blocking: bool = False) -> None:
        self.non_blocking, self.noted = non_blocking, None

    def __enter__(self) -> Stream:
        Stream.current.append(self)
        return self

    def __exit__(self, *_: Any) -> None:
        assert Stream.current.pop() is self

    def begin_capture(self) -> None:
        assert self.non_blocking and self.noted is None
        self.noted: Any = []

    def end_capture(self) -> Any:
        noted, self.noted = self.noted, None
        return SimpleNamespace(launch=lambda stream: Stream.run(stream, noted))

    def is_capturing(self) -> bool:
        return self.noted is not None

    @staticmethod
    def run(stream: Stream, noted: list[Callable[[], None]]) -> None:
        assert stream is Stream.current[-1] and not stream.is_capturing()
        Stream.graphs += 1
        for each in noted:
            each()

    @staticmethod
    def launch(kernel: Callable[..., None], *args: Any) -> None:
        """With the arguments that it has now."""
        Stream.launches += 1
        stream = Stream.current[-1]
        if stream.is_capturing():
            stream.noted.append(lambda: kernel(*args))
        else:
            kernel(*args)


@pytest.fixture(autouse=True)
def streams(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = SimpleNamespace(Stream=Stream, get_current_stream=lambda: Stream.current[-1])
    monkeypatch.setattr(gpu_graphs, "library", lambda: SimpleNamespace(cuda=cuda))
    Stream.current, Stream.graphs, Stream.launches = [Stream()], 0, 0


def fill_next(u: np.ndarray, u_next: np.ndarray) -> None:
    u_next[:] = u + np.roll(u, 1) % 7


def stepped(steps: int, count: int) -> list[np.ndarray]:
    """What is in arrays that take turns, with the steps that are asked for."""
    arrays = [np.arange(5) + 10 * k for k in range(count)]
    for _ in replayed(steps):
        Stream.launch(fill_next, *arrays[:2])
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
    assert Stream.launches <= LEAST + AT_ONCE and Stream.graphs == (0 if steps < LEAST else (steps - 2) // AT_ONCE)


def test_what_fails_ends_what_was_noted() -> None:
    with pytest.raises(ValueError, match="launch refused"):
        for k, _ in enumerate(replayed(LEAST)):
            if k == 5:
                raise ValueError("launch refused")
    stream, = Stream.current
    assert not stream.is_capturing()


def test_inside_of_a_graph_of_somebody_else() -> None:
    stream = Stream(non_blocking=True)
    stream.begin_capture()
    with stream:
        assert list(replayed(1000)) == list(range(1000))
    assert len(Stream.current) == 1


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
