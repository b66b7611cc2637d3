"""Run benchmarks: `python -m benchmarks gradients`, `… growth`, `… memory`, `… reading`."""

import argparse
import os
import platform

import numpy as np

from benchmarks import gradients, growth, memory, reading

SUBJECTS = {"gradients": gradients.run, "growth": growth.run, "memory": memory.run, "reading": reading.run}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("subjects", nargs="+", choices=SUBJECTS, metavar="SUBJECT",
                        help=", ".join(SUBJECTS))  # fmt: skip
    parser.add_argument("--rounds", type=int, default=15, help="times everything is measured")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores")
    for subject in options.subjects:
        SUBJECTS[subject](options.rounds)


if __name__ == "__main__":
    main()
