"""Programs of one example, run for many: vmap, per-sample gradients, Hessians, ensembles, beside JAX."""

import argparse

from benchmarks.contest.running import contest

from . import dynamics, learning, products

CASES = [case for module in (products, learning, dynamics) for case in module.CASES]


def run(chosen: argparse.Namespace) -> None:
    contest("batches", CASES, chosen)
