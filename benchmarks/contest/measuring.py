"""Times of a case: everybody in turn, in one process."""

from __future__ import annotations

import gc
import math
import statistics
from dataclasses import dataclass

from benchmarks.timing import Samples, repeats, seconds

from .case import Case
from .contenders import AS_IT_STANDS, HAND, JAX, NUMPY, OURS, Entered, entered

LEAST_ROUNDS = 3


@dataclass(frozen=True)
class Measured:
    """Seconds by contender."""

    case: Case
    entered: Entered
    samples: Samples

    def minimum(self, name: str) -> float | None:
        return min(self.samples[name]) if name in self.samples else None

    def median(self, name: str) -> float | None:
        return statistics.median(self.samples[name]) if name in self.samples else None

    def times(self, *names: str) -> float | None:
        """How many times as long as ours the fastest of these takes."""
        theirs = [found for name in names if (found := self.minimum(name)) is not None]
        ours = self.minimum(OURS)
        return min(theirs) / ours if theirs and ours else None

    @property
    def over_jax(self) -> float | None:
        return self.times(JAX)

    @property
    def over_hand(self) -> float | None:
        return self.times(HAND)

    @property
    def over_best(self) -> float | None:
        return self.times(JAX, AS_IT_STANDS, NUMPY)


def measured(case: Case, size: tuple[int, ...], budget: float) -> Measured:
    """`budget` is in seconds for each contender."""
    found = entered(case, case.example(size))
    return Measured(case, found, sampled(found, budget))


def sampled(found: Entered, budget: float) -> Samples:
    """Seconds per call; who has used up its time sits out, and who is slower than that is called once."""
    slow = {name: found.first[name] for name in found.calls if name == NUMPY and found.first[name] > budget}
    calls = {name: call for name, call in found.calls.items() if name not in slow}
    numbers = {name: repeats(call) for name, call in calls.items()}
    samples: Samples = {name: [] for name in calls}
    spent = dict.fromkeys(calls, 0.0)
    gc.collect()
    gc.disable()
    try:
        while taking := [name for name in calls if spent[name] < budget or len(samples[name]) < LEAST_ROUNDS]:
            for name in taking:
                took = seconds(calls[name], numbers[name])
                spent[name] += took
                samples[name].append(took / numbers[name])
    finally:
        gc.enable()
    return samples | {name: [once] for name, once in slow.items()}


def geometric_mean(ratios: list[float]) -> float | None:
    """
    >>> geometric_mean([1.0, 4.0])
    2.0
    """
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None
