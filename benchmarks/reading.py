"""What it costs to get a gradient: importing the package, reading, transforming and writing."""

from __future__ import annotations

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
    samples: dict[int, list[float]] = {length: [] for length in LENGTHS}
    with tempfile.TemporaryDirectory() as folder:
        gradient_seconds(Path(folder), LENGTHS[0], rounds)  # warms up
        for number in range(min(rounds, 5)):
            for length in LENGTHS:
                samples[length].append(gradient_seconds(Path(folder), length, number))
    rows = [row(length, times) for length, times in samples.items()]
    header = ["statements", "median", "minimum", "minimum per statement"]
    table("Reading, gradient and writing of straight-line functions", header, rows)


def row(length: int, times: list[float]) -> list[str]:
    median, minimum = statistics.median(times), min(times)
    return [str(length), show(median), show(minimum), show(minimum / length)]


def gradient_seconds(folder: Path, length: int, number: int) -> float:
    function = straight_line(folder, length, number)
    start = perf_counter()
    grad(function).source_for(np.ones(3))
    return perf_counter() - start


def straight_line(folder: Path, length: int, number: int) -> Callable[..., Any]:
    """A function of so many statements, in a module of its own; the number makes it a new one."""
    name = f"straight_{length}_{number}"
    path = folder / f"{name}.py"
    path.write_text(straight_line_source(length, number))
    specification = importlib.util.spec_from_file_location(name, path)
    if specification is None or specification.loader is None:
        raise ImportError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    function: Callable[..., Any] = module.f
    return function


def straight_line_source(length: int, number: int) -> str:
    """Python source in which each statement uses the two before it.

    >>> print(straight_line_source(3, 0))
    import numpy as np
    <BLANKLINE>
    def f(t0):
        t1 = np.sin(t0) + 0.5 * t0 + 1
        t2 = np.sin(t1) + 0.5 * t0 + 1
        return np.sum(t2)
    <BLANKLINE>
    """
    lines = [
        f"    t{k} = np.sin(t{k - 1}) + 0.5 * t{max(k - 2, 0)} + {number + 1}"
        for k in range(1, length)
    ]
    last = f"    return np.sum(t{length - 1})"
    return "\n".join(["import numpy as np", "", "def f(t0):", *lines, last, ""])
