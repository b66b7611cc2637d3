"""What programs are made of: arrays of short rows, losses over few classes, searches, loops over arrays."""

import argparse

from benchmarks.contest.running import contest

from . import losses, rows, searches, steps

CASES = [case for module in (rows, losses, searches, steps) for case in module.CASES]


def run(chosen: argparse.Namespace) -> None:
    contest("idioms", CASES, chosen)
