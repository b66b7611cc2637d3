"""Run benchmarks: `python -m benchmarks headline`, `… npbench`, `… idioms`, `… batches`, `… gpu`, `… gradients`,
`… growth`, `… memory`, `… parallel`, `… processes`, `… random`, `… reading`, `… vecmath`."""

import argparse
import importlib
import os
import platform
from importlib import metadata

from benchmarks.contest.pinning import pin

CONTESTS = "headline", "npbench", "idioms", "batches"
OF_OPTIONS = *CONTESTS, "gpu"
SUBJECTS = *OF_OPTIONS, "gradients", "growth", "memory", "parallel", "processes", "random", "reading", "vecmath"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("subjects", nargs="+", choices=SUBJECTS, metavar="SUBJECT", help=", ".join(SUBJECTS))
    parser.add_argument("--rounds", type=int, default=15, help="times everything is measured")
    contest = parser.add_argument_group("headline, npbench, idioms, batches and gpu",
                                        "A complete run rewrites its section of the page.")
    contest.add_argument("--only", metavar="NAME,...", help="the cases whose names contain one of these")
    contest.add_argument("--quick", action="store_true", help="a tenth of the time for each case")
    contest.add_argument("--unpinned", action="store_true", help="all cores and threads, not one")
    gpu = parser.add_argument_group("gpu", "With NUMBA_ENABLE_CUDASIM=1, at tiny sizes, in numba's simulator.")
    gpu.add_argument("--corpus", action="store_true", help="compare every program of the tests' corpus with NumPy")
    gpu.add_argument("--every", type=int, default=1, metavar="N", help="of the corpus only every N-th program")
    gpu.add_argument("--json", metavar="FILE", help="write all figures to a file")
    options = parser.parse_args()
    if set(options.subjects) & {*CONTESTS, "random"} and not options.unpinned:
        pin()
    print(f"Python {platform.python_version()}, numpy {metadata.version('numpy')}, {os.cpu_count()} cores")
    for subject in options.subjects:
        run = importlib.import_module(f"benchmarks.{subject}").run
        run(options if subject in OF_OPTIONS else options.rounds)


if __name__ == "__main__":
    main()
