"""Two processes with a device each: what a step of `pmap` and a sum cost between them. It starts them with mpiexec."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.timing import show, table
from transformer import config, distributed, pmap, psum

PROCESSES = 2


def run(rounds: int) -> None:
    beside = Path(sys.executable).parent / "mpiexec"
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec")
    if mpiexec is None or importlib.util.find_spec("mpi4py") is None:
        print("Processes: mpi4py or mpiexec is absent")
        return
    subprocess.run([mpiexec, "-n", str(PROCESSES), sys.executable, "-m", "benchmarks.processes", str(rounds)],
                   check=True)


def measure(rounds: int) -> None:
    """In each of the processes; the first one prints."""
    from mpi4py import MPI

    from benchmarks.parallel import small_step
    config.cpu_devices = 1
    distributed.initialize()
    rng = np.random.default_rng(distributed.process_index())
    rows, w, million = rng.normal(size=(1, 8)), np.arange(8.0), rng.normal(size=(1, 1_000_000)).astype(np.float32)
    options: dict[str, Any] = {"axis_name": "i", "out_axes": None}
    between = pmap(small_step, in_axes=(0, None), **options)
    alone = pmap(small_step, in_axes=(0, None), devices=distributed.local_devices(), **options)
    total = pmap(lambda x: psum(x, "i"), **options)
    kept = np.empty_like(million[0])

    step = shortest(lambda: between(rows, w), 200 * rounds)
    own = shortest(lambda: alone(rows, w), 200 * rounds)
    added = shortest(lambda: total(million), 10 * rounds)
    theirs = shortest(lambda: MPI.COMM_WORLD.Allreduce(million[0], kept), 10 * rounds)
    if distributed.process_index() == 0:
        load = os.getloadavg()[0]
        rows_shown = [
            ["a step of two small phases", show(step), f"in one process: {show(own)}", f"{show(step - own)} more"],
            ["psum of 1,000,000 f32", show(added), f"MPI's sum: {show(theirs)}", f"{theirs / added:.2f} x MPI"]]
        table(f"Processes: {PROCESSES} with a device each on {os.cpu_count()} cores, load {load:.1f}, minima",
              ["", "between processes", "compared with", "figure"], rows_shown)


def shortest(call: Callable[[], Any], times: int) -> float:
    """Seconds of a call that all processes make at the same time."""
    call()
    samples = []
    for _ in range(times):
        distributed.barrier()
        start = perf_counter()
        call()
        samples.append(perf_counter() - start)
    return min(samples)


if __name__ == "__main__":
    measure(int(sys.argv[1]))
