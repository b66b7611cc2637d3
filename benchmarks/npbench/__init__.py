"""Programs of the kinds that NPBench has, written from their mathematical description, and their gradients."""

import argparse

from benchmarks.contest.running import contest

from . import algebra, networks, physics, simple, solvers, stencils, tables

CASES = [case for module in (simple, algebra, solvers, stencils, tables, networks, physics) for case in module.CASES]


def run(chosen: argparse.Namespace) -> None:
    contest("npbench", CASES, chosen)
