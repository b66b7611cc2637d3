"""Loops that launch the same kernels at every step, with most of their steps launched as a graph:

    for t in replayed(1000):            four steps are launched, which compiles and loads their kernels
        fill_next[…](n, u, u_next)      the next 24 are noted, as a graph
        u, u_next = u_next, u           the graph is launched as often as it fits in; what is left is done step by step

The steps are noted in a stream of their own that no other one waits for, as CUDA demands of a stream that is noted; the
graph is launched in the current one, behind what was asked of it before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ...lower.cuda.graphs import AT_ONCE, FIRST, LEAST
from .library import library


def replayed(steps: int) -> Iterable[int]:
    """The steps of such a loop; its body may not look at them."""
    stream = library().cuda.get_current_stream()
    return range(steps) if steps < LEAST or stream.is_capturing() else _in_graphs(steps, stream)


def _in_graphs(steps: int, stream: Any) -> Iterator[int]:
    yield from range(FIRST)
    times, rest = divmod(steps - FIRST, AT_ONCE)
    with library().cuda.Stream(non_blocking=True) as aside:
        aside.begin_capture()
        try:
            yield from range(AT_ONCE)
        finally:
            graph = aside.end_capture()
    for _ in range(times):
        graph.launch(stream)
    yield from range(rest)
