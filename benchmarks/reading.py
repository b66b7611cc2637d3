"""What it costs to get a gradient: importing the package, reading, transforming and writing."""

from __future__ import annotations

import gc
import importlib.util
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.timing import Samples, compare, show, table
from transformer import grad

LENGTHS = (100, 500, 2000)
# The right-hand side of every statement, in terms of results before it and a number that makes it a new
# function. The gradient of a product of variables takes about twice as many statements as that of a sum.
KINDS = {
    "sums": "np.sin({t1}) + 0.5 * {t2} + {number}",
    "products": "np.sin({t1} * {t3}) + 0.{number}5 * {t2}",
}
MEASURE_IMPORT = "import time; s = time.perf_counter(); import {}; print(time.perf_counter() - s)"


def run(rounds: int) -> None:
    imports(rounds)
    straight_lines(rounds)


def imports(rounds: int) -> None:
    modules = ["numpy", "transformer"]
    samples: Samples = {module: [] for module in modules}
    for _ in range(rounds):
        for module in modules:
            samples[module].append(import_seconds(module))
    compare("Import in a new process", samples, reference="numpy")


def import_seconds(module: str) -> float:
    command = [sys.executable, "-c", MEASURE_IMPORT.format(module)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def straight_lines(rounds: int) -> None:
    """Reading, gradient and writing of functions without loops; each round has new functions."""
    cases = [(kind, length) for kind in KINDS for length in LENGTHS]
    samples: dict[tuple[str, int], list[float]] = {case: [] for case in cases}
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:  # warms up
            gradient_seconds(Path(folder), kind, LENGTHS[0], rounds)
        for number in range(min(rounds, 5)):
            for case in cases:
                samples[case].append(gradient_seconds(Path(folder), *case, number))
    rows = [row(f"{length} statements, {kind}", length, times) for (kind, length), times in samples.items()]
    header = ["", "median", "minimum", "minimum per statement"]
    table("Reading, gradient and writing of straight-line functions", header, rows)


def row(case: str, length: int, times: list[float]) -> list[str]:
    median, minimum = statistics.median(times), min(times)
    return [case, show(median), show(minimum), show(minimum / length)]


def gradient_seconds(folder: Path, kind: str, length: int, number: int) -> float:
    function = straight_line(folder, kind, length, number)
    gc.collect()
    start = perf_counter()
    grad(function).source_for(np.ones(3))
    return perf_counter() - start


def straight_line(folder: Path, kind: str, length: int, number: int) -> Callable[..., Any]:
    """A function of so many statements, in a module of its own; the number makes it a new one."""
    name = f"{kind}_{length}_{number}"
    path = folder / f"{name}.py"
    path.write_text(straight_line_source(kind, length, number))
    specification = importlib.util.spec_from_file_location(name, path)
    if specification is None or specification.loader is None:
        raise ImportError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    function: Callable[..., Any] = module.f
    return function


def straight_line_source(kind: str, length: int, number: int) -> str:
    """Python source in which each statement, of four operations, uses those right before it.

    >>> print(straight_line_source("sums", 3, 1))
    import numpy as np
    <BLANKLINE>
    def f(t0):
        t1 = np.sin(t0) + 0.5 * t0 + 1
        t2 = np.sin(t1) + 0.5 * t0 + 1
        return np.sum(t2)
    <BLANKLINE>
    >>> print(straight_line_source("products", 4, 1).splitlines()[5])
        t3 = np.sin(t2 * t0) + 0.15 * t1
    """
    lines = [f"    t{k} = {right_hand_side(kind, k, number)}" for k in range(1, length)]
    last = f"    return np.sum(t{length - 1})"
    return "\n".join(["import numpy as np", "", "def f(t0):", *lines, last, ""])


def right_hand_side(kind: str, k: int, number: int) -> str:
    before = {f"t{distance}": f"t{max(k - distance, 0)}" for distance in (1, 2, 3)}
    return KINDS[kind].format(**before, number=number)
