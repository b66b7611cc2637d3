"""What was measured on a GPU, as a table, as a section of the page, and as JSON."""

from __future__ import annotations

import datetime
import json
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.timing import show, table
from transformer.run.gpu.library import is_simulated, library

from .case import GpuCase

OURS, CUPY, JAX, HAND = "transformer", "CuPy", "JAX", "by hand"
RIVALS = CUPY, JAX, HAND
HEADER = ("case", "minimum", "median", "of a copy", *(part for name in RIVALS for part in (name, f"x {name}")), "goals")
PACKAGES = ("numpy", "numba", "numba-cuda", "cupy-cuda12x", "cupy-cuda13x", "jax")


@dataclass
class Measured:
    """Seconds per call by contender, bytes that have to be moved, and notes of what went wrong."""

    case: GpuCase
    samples: dict[str, list[float]] = field(default_factory=dict)
    bytes: int = 0
    notes: list[str] = field(default_factory=list)
    is_wrong: bool = False

    def minimum(self, name: str) -> float | None:
        return min(self.samples[name], default=None) if name in self.samples else None

    def over(self, name: str) -> float | None:
        """How many times as long as ours another one takes."""
        ours, theirs = self.minimum(OURS), self.minimum(name)
        return theirs / ours if ours and theirs else None

    def share(self, bandwidth: float) -> float | None:
        """The time of a copy of as many bytes, in parts of ours."""
        ours = self.minimum(OURS)
        return self.bytes / bandwidth / ours if ours and self.case.moves else None

    def reached(self, bandwidth: float) -> dict[str, tuple[float | None, float]]:
        """By name, what is to be reached: the figure, and the goal. That of calls is in seconds, and is a limit."""
        if is_simulated():
            return {}
        figures = {"of a copy": self.share(bandwidth), "a call": self.minimum(OURS),
                   **{f"x {name}": self.over(name) for name in RIVALS}}
        return {name: (figures[name], goal) for name, goal in self.case.goals}


def row(found: Measured, bandwidth: float) -> list[str]:
    ours = found.samples.get(OURS)
    share = found.share(bandwidth)
    rivals = [cell for name in RIVALS for cell in (time(found.minimum(name)), times(found.over(name)))]
    return [found.case.name + " (WRONG)" * found.is_wrong, time(found.minimum(OURS)),
            time(statistics.median(ours) if ours else None), "" if share is None else f"{share:.0%}", *rivals,
            ", ".join(verdict(name, *both) for name, both in found.reached(bandwidth).items())]


def verdict(name: str, figure: float | None, goal: float) -> str:
    """
    >>> verdict("x JAX", 1.2, 1.0), verdict("of a copy", 0.5, 0.85), verdict("a call", None, 15e-6)
    ('x JAX 1: reached', 'of a copy 0.85: MISSED', 'a call 15.00 us: not measured')
    """
    is_limit = name == "a call"
    said = f"{name} {show(goal) if is_limit else f'{goal:g}'}"
    if figure is None:
        return f"{said}: not measured"
    return f"{said}: {'reached' if (figure <= goal if is_limit else figure >= goal) else 'MISSED'}"


def time(seconds: float | None) -> str:
    return "" if seconds is None else show(seconds)


def times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


def machine() -> list[str]:
    """The device, versions, and the day."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES if is_installed(name))
    return [device(), f"{platform.machine()}, Python {platform.python_version()}, {versions}",
            datetime.date.today().isoformat()]


def device() -> str:
    if is_simulated():
        return "numba's simulator, and no GPU: times mean nothing"
    runtime = library().cuda.runtime
    found = runtime.getDeviceProperties(runtime.getDevice())
    return (f"{found['name'].decode()}, {found['totalGlobalMem'] / 2**30:.0f} GiB, "
            f"sm_{found['major']}{found['minor']}, driver for CUDA {runtime.driverGetVersion()}, "
            f"runtime {runtime.runtimeGetVersion()}")


def is_installed(name: str) -> bool:
    try:
        return bool(metadata.version(name))
    except metadata.PackageNotFoundError:
        return False


def tell(found: Sequence[Measured], bandwidth: float) -> None:
    table(f"copies on the device: {bandwidth / 1e9:.1f} GB/s, read and written", HEADER,
          [row(each, bandwidth) for each in found])
    print("\n".join(["", *(note for each in found for note in each.notes)]))


def section(found: Sequence[Measured], bandwidth: float) -> str:
    """The same as Markdown."""
    lines = ["| " + " | ".join(HEADER) + " |", "|---|" + "--:|" * (len(HEADER) - 1)]
    lines += ["| " + " | ".join(row(each, bandwidth)) + " |" for each in found]
    notes = [f"- {note}" for each in found for note in each.notes]
    heads = [*machine(), f"copies on the device: {bandwidth / 1e9:.1f} GB/s"]
    return "\n".join(["; ".join(heads) + ".", "", *lines, "", *notes])


def write_json(path: Path, found: Sequence[Measured], bandwidth: float) -> None:
    cases: list[dict[str, Any]] = [
        {"name": each.case.name, "seconds": each.samples, "bytes": each.bytes, "share of a copy": each.share(bandwidth),
         "goals": each.reached(bandwidth), "is wrong": each.is_wrong, "notes": each.notes} for each in found]
    path.write_text(json.dumps({"machine": machine(), "bandwidth": bandwidth, "cases": cases}, indent=1) + "\n")
