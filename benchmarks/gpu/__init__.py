"""Programs on a GPU, beside CuPy, JAX, kernels by hand, and the time that a copy of as many bytes takes."""

import argparse


def run(chosen: argparse.Namespace) -> None:
    if chosen.corpus:
        from . import corpus
        if not corpus.run(chosen.only, chosen.every):
            raise SystemExit(1)
    else:
        from .running import contest
        contest(chosen)
