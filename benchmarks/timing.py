"""Time several calls side by side, and print what came out.

Rounds are interleaved: each calls every competitor in turn, so that a slower phase of the machine
meets all of them. Ratios within one run carry to other machines, times do not.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

Call = Callable[[], Any]
Samples = dict[str, list[float]]

SAMPLE_SECONDS = 0.02
ABSENT = "absent"


def interleave(calls: Mapping[str, Call], rounds: int) -> Samples:
    """Seconds per call, one figure for each round."""
    numbers = {name: repeats(call) for name, call in calls.items()}
    samples: Samples = {name: [] for name in calls}
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, call in calls.items():
                samples[name].append(seconds(call, numbers[name]) / numbers[name])
    finally:
        gc.enable()
    return samples


def repeats(call: Call) -> int:
    """How many calls make one sample long enough to be measured; warms the call up."""
    call()
    number = 1
    while (taken := seconds(call, number)) < SAMPLE_SECONDS:
        number = max(2 * number, round(number * SAMPLE_SECONDS / max(taken, 1e-9)))
    return number


def seconds(call: Call, number: int) -> float:
    start = perf_counter()
    for _ in range(number):
        call()
    return perf_counter() - start


def compare(title: str, samples: Samples, reference: str, absent: Sequence[str] = ()) -> None:
    """Print medians and minima, and ratios to one of the competitors."""
    base = samples[reference]
    rows = [
        [
            name,
            show(statistics.median(times)),
            show(min(times)),
            f"{statistics.median(times) / statistics.median(base):.2f}",
            f"{min(times) / min(base):.2f}",
        ]
        for name, times in samples.items()
    ]
    rows += [[name, ABSENT, ABSENT, "", ""] for name in absent]
    table(title, ["", "median", "minimum", "ratio of medians", "of minima"], rows)


def show(duration: float) -> str:
    """A duration in the unit that suits it.

    >>> show(0.0000032), show(0.25)
    ('3.20 us', '250.00 ms')
    """
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if duration * scale >= 1:
            return f"{duration * scale:.2f} {unit}"
    return f"{duration * 1e6:.2f} us"


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[k]) for row in [header, *rows]) for k in range(len(header))]
    print(f"\n{title}")
    for row in [header, *rows]:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        print("  ".join([row[0].ljust(widths[0]), *cells[1:]]).rstrip())
