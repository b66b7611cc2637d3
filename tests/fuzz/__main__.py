"""`python -m tests.fuzz --minutes 20`: random programs until the time is over.

Prints what ran by construct, what was refused and what failed; failures are made small and appended
to `tests/corpus/fuzzed.py`. `--seed` is the number of the first round, `--only writes,loops` leaves
other families of statements out, `--jobs` is the number of processes. `--lanes` checks programs under `vmap`
instead, and their Jacobians; `--types` draws programs of integers, truth values and floats of several widths, and
checks their numbers and dtypes; `--lists` draws programs that change lists in loops. What fails of these two is
printed alone.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import Any

from .campaign import LANES, LISTED, LISTS, TYPED, TYPES, Chunk, Tally, outcomes, smaller
from .checks import EVERY
from .generate import FAMILIES
from .record import append

ROUND = 25                      # programs in one round
SHOWN = 15


def main() -> int:
    options = arguments()
    tally = Tally()
    with ProcessPoolExecutor(options.jobs) as pool:
        for part in rounds(pool, options):
            tally.update(part)
        report(tally)
        failures = [found for _, found in tally.of("failed")]
        for small in pool.map(smaller, failures):
            print(f"\n{small.outcome.kind}: {small.outcome.detail}\n{small.program.text}", flush=True)
            if options.write and not (options.types or options.lists):
                append([small])
    return bool(failures)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", help=f"families of statements, {', '.join(FAMILIES)}; {', '.join(TYPED)} of types,"
                        f" {', '.join(LISTED)} of lists")
    parser.add_argument("--lanes", action="store_true", help="programs under vmap, and their Jacobians")
    parser.add_argument("--types", action="store_true", help="programs of several dtypes")
    parser.add_argument("--lists", action="store_true", help="programs that change lists in loops")
    parser.add_argument("--no-write", dest="write", action="store_false", help="leave the corpus as it is")
    return parser.parse_args()


def rounds(pool: ProcessPoolExecutor, options: argparse.Namespace) -> Iterator[Tally]:
    """The outcomes of one round after the other, until the time is over."""
    all_families = TYPED if options.types else LISTED if options.lists else FAMILIES
    families = tuple(options.only.split(",") if options.only else all_families)
    also = LANES if options.lanes else TYPES if options.types else LISTS if options.lists else EVERY
    end = time.monotonic() + 60 * options.minutes
    numbers = itertools.count(options.seed)
    with progress(options.minutes) as bar:
        running: set[Future[Tally]] = set()
        while time.monotonic() < end or running:
            while len(running) < options.jobs and time.monotonic() < end:
                running.add(pool.submit(outcomes, Chunk(next(numbers), ROUND, families), also))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
                bar.update(ROUND)


class Silent:
    """In place of a progress bar where tqdm is not installed."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *_: Any) -> None:
        return None

    def update(self, count: int) -> None:
        return None


def progress(minutes: float) -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        return Silent()
    return tqdm(unit=" programs", desc=f"{minutes:g} minutes")


def report(tally: Tally) -> None:
    print("\n" + ", ".join(f"{count} {status}" for status, count in tally.statuses.most_common()))
    print("\nPrograms that passed, by construct:")
    for construct, count in tally.constructs.most_common():
        print(f"{count:8} {construct}")
    print("\nRefusals:")
    for count, found in tally.of("refused")[:SHOWN]:
        print(f"{count:8} {found.outcome.kind}")
    failures = tally.of("failed")
    print(f"\nFailures of {len(failures)} kinds:" if failures else "\nNo failures.", flush=True)
    for count, found in failures:
        print(f"{count:8} {found.outcome.kind}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
