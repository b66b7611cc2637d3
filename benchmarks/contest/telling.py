"""What came out, as a table on the terminal and as a section of a page."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

from benchmarks.timing import show

from .contenders import AS_IT_STANDS, HAND, JAX, NUMPY, OURS
from .measuring import Measured, geometric_mean

PAGE = Path(__file__).parent.parent.parent / "docs" / "benchmarks.md"
RED, GREEN, PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[0m"
LOSS = 0.95                         # below this times the other one is the faster
HEADER = ("case", "minimum", "median", JAX, "x JAX", HAND, "x hand", AS_IT_STANDS, NUMPY, "first call",
          "from the cache", "JAX first")
RATIOS = "x JAX", "x hand"


def row(found: Measured) -> list[str]:
    first = found.entered.first
    return [found.case.name + (" (WRONG)" if found.entered.is_wrong else ""), time(found.minimum(OURS)),
            time(found.median(OURS)), time(found.minimum(JAX)), times(found.over_jax), time(found.minimum(HAND)),
            times(found.over_hand), time(found.minimum(AS_IT_STANDS)), time(found.minimum(NUMPY)),
            time(first.get(OURS)), time(found.entered.from_cache), time(first.get(JAX))]


def time(seconds: float | None) -> str:
    return "" if seconds is None else show(seconds)


def times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


def tell(found: Sequence[Measured], summary: Sequence[str]) -> None:
    """Prints the table; losses are red and gains green on a terminal."""
    rows = [list(HEADER), *(row(each) for each in found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, cells in enumerate(rows):
        padded = [cells[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(cells[1:], widths[1:]))]
        print("  ".join(cell if not number else coloured(cell, name) for cell, name in zip(padded, HEADER)).rstrip())
    print("\n".join(["", *summary, *(note for each in found for note in each.entered.notes)]))


def coloured(cell: str, column: str) -> str:
    if not sys.stdout.isatty():
        return cell
    if "WRONG" in cell:
        return f"{RED}{cell}{PLAIN}"
    if column not in RATIOS or not cell.strip():
        return cell
    return f"{RED if float(cell) < LOSS else GREEN}{cell}{PLAIN}"


def means(found: Sequence[Measured]) -> list[str]:
    """Geometric means, of all and of derivatives apart."""
    kinds: dict[str, Callable[[Measured], float | None]] = {
        "JAX": lambda each: each.over_jax, "numba by hand": lambda each: each.over_hand,
        "the best of JAX, NumPy and numba as it stands": lambda each: each.over_best}
    return [line for kind, ratio in kinds.items() for line in mean_of(found, kind, ratio)]


def mean_of(found: Sequence[Measured], kind: str, ratio: Callable[[Measured], float | None]) -> list[str]:
    """
    >>> mean_of([], "JAX", lambda each: each.over_jax)
    []
    """
    lines = []
    for name, is_derivative in (("programs", False), ("derivatives", True)):
        chosen = [each for each in found if each.case.counted and each.case.is_derivative == is_derivative]
        ratios = [r for each in chosen if (r := ratio(each)) is not None]
        mean = geometric_mean(ratios)
        if mean is not None:
            slower = sum(r < LOSS for r in ratios)
            lines.append(f"{name}: {mean:.2f} times as fast as {kind} in the geometric mean of {len(ratios)}, "
                         f"{slower} of them slower; the least {min(ratios):.2f}")
    return lines


def setting() -> str:
    """What was measured with."""
    packages = ", ".join(f"{name} {version}" for name in ("numpy", "numba", "jax") if (version := version_of(name)))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{platform.machine()}, {cores} core{'s' * (cores != 1)}, Python {platform.python_version()}, {packages}"


def version_of(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def section(found: Sequence[Measured], summary: Sequence[str], picture: Path | None) -> str:
    """The same as Markdown."""
    lines = ["| " + " | ".join(HEADER) + " |", "|---|" + "--:|" * (len(HEADER) - 1)]
    lines += ["| " + " | ".join(marked(row(each))) + " |" for each in found]
    image = [f"![{picture.stem}]({picture.relative_to(PAGE.parent).as_posix()})", ""] if picture else []
    notes = [f"- {note}" for each in found for note in each.entered.notes]
    return "\n".join([setting() + ".", "", *image, *lines, "", *(f"- {line}" for line in summary), *notes])


def marked(cells: list[str]) -> list[str]:
    """Losses in bold."""
    return [f"**{cell}**" if name in RATIOS and cell and float(cell) < LOSS else cell
            for name, cell in zip(HEADER, cells)]


def write_section(name: str, text: str) -> None:
    """Puts a section between its markers in the page; they are at its end where there are none yet."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    page = PAGE.read_text()
    if begin not in page:
        page = f"{page.rstrip()}\n\n{begin}\n{end}\n"
    before, rest = page.split(begin, 1)
    PAGE.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end, 1)[1]}")
