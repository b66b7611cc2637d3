"""The programs that compiled code is judged by, each beside JAX and a version by hand for numba."""

import argparse

from benchmarks.contest.running import contest

from . import bodies, calls, dynamics, elementwise, learning, options, recurrences, stencils
from .calls import overhead
from .start import starts

CASES = [case for module in (elementwise, learning, options, dynamics, bodies, recurrences, stencils, calls)
         for case in module.CASES]


def run(chosen: argparse.Namespace) -> None:
    contest("headline", CASES, chosen, lambda found: overhead(found) + ([] if chosen.only else starts(found)))
