"""All cases of a subject, one after another."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

import numpy as np

from transformer import jit

from .case import Case
from .drawing import draw
from .lazily import has_jax, prepare_jax
from .measuring import Measured, measured
from .telling import means, section, tell, write_section

WIDTH = 30                          # of the bar
SECONDS, QUICK_SECONDS = 2.0, 0.2   # for each contender of a case


def contest(name: str, cases: Sequence[Case], options: argparse.Namespace,
            further: Callable[[Sequence[Measured]], list[str]] = lambda found: []) -> None:
    """Measures the chosen cases. The page and its picture are of complete runs alone."""
    chosen = [case for case in cases if is_chosen(case, options.only)]
    warm_up()
    found = []
    for number, case in enumerate(chosen):
        progress(number, len(chosen), case.name)
        found.append(measured(case, case.size, QUICK_SECONDS if options.quick else SECONDS))
    progress(len(chosen), len(chosen), "")
    summary = [*means(found), *further(found)]
    tell(found, summary)
    if not options.only and not options.quick:
        name += "-unpinned" if options.unpinned else ""
        write_section(name, section(found, summary, draw(name, found)))


def is_chosen(case: Case, only: str | None) -> bool:
    return only is None or any(part.strip() in case.name for part in only.split(","))


def warm_up() -> None:
    """The first use of each package is not to be counted for a program; SciPy's is that of a product of matrices."""
    jit(lambda a: a @ a)(np.ones((9, 9)))
    jit(lambda x: x @ x + np.sum(np.exp(x)))(np.ones(3))
    if has_jax():
        prepare_jax()


def progress(done: int, whole: int, name: str) -> None:
    """A bar on a terminal, names elsewhere."""
    if not sys.stderr.isatty():
        print(f"{done + 1}/{whole} {name}" if name else "", file=sys.stderr, flush=True)
        return
    filled = round(WIDTH * done / max(whole, 1))
    bar = f"[{'#' * filled}{'.' * (WIDTH - filled)}] {done}/{whole} {name}"
    sys.stderr.write(f"\r\x1b[K{bar if name else ''}")
    sys.stderr.flush()
