"""Timing several functions in turn, so that other load on the machine affects all of them alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import tree

ROUND = 0.01              # seconds that one function is called in a round
MOST_CALLS = 10_000


@dataclass
class Timing:
    """Seconds for a call of `name`: the first, and one for each round."""

    name: str
    first: float
    calls: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.calls)

    @property
    def minimum(self) -> float:
        return min(self.calls)


def timed(functions: dict[str, Callable[..., Any]], first: dict[str, float], arguments: tuple[Any, ...], writes: bool,
          seconds: float, progress: Callable[[float], None]) -> list[Timing]:
    """Calls all functions in rounds, for so many seconds in sum; `first` are the seconds of their first calls.
    Where they write their arguments (`writes`), every call gets copies, the making of which is not counted.
    `progress` is told the part that is done."""
    found = {name: Timing(name, first[name]) for name in functions}
    counts = {name: _count(function, arguments, writes) for name, function in functions.items()}
    begin = time.perf_counter()
    while (passed := time.perf_counter() - begin) < seconds or len(next(iter(found.values())).calls) < 3:
        progress(min(passed / seconds, 1.0))
        for name, function in functions.items():
            found[name].calls.append(_seconds(function, arguments, writes, counts[name]))
    progress(1.0)
    return list(found.values())


def _count(function: Callable[..., Any], arguments: tuple[Any, ...], writes: bool) -> int:
    """How many calls fill a round."""
    once = min(_seconds(function, arguments, writes, 1) for _ in range(3))
    return max(1, min(MOST_CALLS, int(ROUND / max(once, 1e-9))))


def _seconds(function: Callable[..., Any], arguments: tuple[Any, ...], writes: bool, count: int) -> float:
    """Seconds for a call, in the mean of so many."""
    if not writes:
        begin = time.perf_counter()
        for _ in range(count):
            function(*arguments)
        return (time.perf_counter() - begin) / count
    total = 0.0
    for _ in range(count):
        given = copied(arguments)
        begin = time.perf_counter()
        function(*given)
        total += time.perf_counter() - begin
    return total / count


def copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments with arrays of their own."""
    return tuple(tree.map(lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf, argument)
                 for argument in arguments)


def difference(one: Any, other: Any) -> float:
    """The largest relative difference of two results; infinite where they have different structures."""
    first, structure = tree.flatten(one)
    second, expected = tree.flatten(other)
    if structure != expected:
        return float("inf")
    return max((_difference(a, b) for a, b in zip(first, second)), default=0.0)


def _difference(one: Any, other: Any) -> float:
    if not isinstance(other, (np.ndarray, np.generic, int, float, complex)):
        return 0.0 if one is other or one == other else float("inf")
    a, b = np.asarray(one), np.asarray(other)
    if a.shape != b.shape:
        return float("inf")
    equal = (a == b) | ((a != a) & (b != b))
    if equal.all():
        return 0.0
    scale = np.abs(b[np.isfinite(b)]).max(initial=0.0) or 1.0
    off = np.abs(np.where(equal, 0, a) - np.where(equal, 0, b)).max()
    return float(off / scale) if np.isfinite(off) else float("inf")
