"""`transformer bench`: the function under NumPy, compiled, and by numba as it stands."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .failures import UsageError
from .options import Question, add_target, asked
from .target import user_code

if TYPE_CHECKING:
    from transformer.run.timing import Timing

NAME = "bench"
SUMMARY = "time a function, or a derivative: NumPy, compiled, and numba on the original"
DESCRIPTION = """\
Times FUNC at the arguments of --example: under NumPy, compiled by jit, and compiled by numba as it
stands, if numba accepts it. With --mode, times a derivative. Results are compared first. The
contenders take turns. The table shows the first call, and the median and minimum of the others.
"""
EXAMPLES = r"""A loss, with a picture:

  transformer bench model.py:loss --example example --plot loss.png

Its gradient:

  transformer bench model.py:loss --mode grad --wrt w --example example
"""
MODES = ("grad", "value_and_grad")
ALLOWED = 1e-3  # relative difference of results; those of f32 may sum in another order
WIDTH = 30  # of the longest bar


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_target(parser)
    parser.add_argument(
        "--example",
        metavar="FUNC",
        required=True,
        help="a function in FILE, without arguments, that returns a tuple of arguments",
    )
    parser.add_argument("--mode", choices=MODES, help="a derivative of the function")
    parser.add_argument(
        "--wrt", metavar="NAMES", default="", help="the arguments to differentiate, as in w,b"
    )
    parser.add_argument("--seconds", type=float, default=2.0, help="total time in seconds (default: 2)")
    parser.add_argument("--plot", metavar="OUT.png", help="plot the medians as bars")
    parser.set_defaults(types="")


def run(options: argparse.Namespace) -> int:
    if options.wrt and not options.mode:
        raise UsageError("--wrt selects derivatives; choose one with --mode")
    if options.seconds <= 0:
        raise UsageError("--seconds must be positive")
    if options.plot:
        require_plots()
    with asked(options, options.mode is not None) as question:
        timings, notes = measured(question, options)
    sys.stdout.write(table(question.target.name, timings, notes))
    if options.plot:
        draw(timings, question.target.name, Path(options.plot))
    return 0


def measured(question: Question, options: argparse.Namespace) -> tuple[list[Timing], list[str]]:
    """The timings of all contenders, and what is to be told about the others."""
    from transformer.run.timing import copied, difference, timed

    args, kwargs = question.inputs.values()
    if kwargs:
        raise UsageError("the example must not have keyword arguments")
    contenders, notes = found_contenders(question, options.mode)
    failure = f"{question.target.name} itself fails at the example"
    first: dict[str, float] = {}
    given = copied(args)
    with user_code(failure, question.target.file):
        wanted = watched("NumPy", contenders["NumPy"], given, first)
    for name in list(contenders)[1:]:
        refusal = disagreement(name, contenders[name], copied(args), wanted, first)
        if refusal is not None:
            notes.append(f"{name}: {refusal}")
            del contenders[name]
    writes = difference(given, args) > 0
    return timed(contenders, first, args, writes, options.seconds, progress(sys.stderr)), notes


def watched(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], first: dict[str, float]
) -> Any:
    """What a first call gives, the seconds of which are noted."""
    begin = time.perf_counter()
    result = function(*args)
    first[name] = time.perf_counter() - begin
    return result


def found_contenders(
    question: Question, mode: str | None
) -> tuple[dict[str, Callable[..., Any]], list[str]]:
    """The functions to time, the one that NumPy runs first."""
    from transformer.api import Transformed
    from transformer.jitting import jit

    from .modes import MODES as modes

    function = question.target.function
    if mode is not None:
        derived = Transformed(function, modes[mode](question.wrt))
        return {"NumPy": derived, "jit": jit(derived)}, []
    contenders: dict[str, Callable[..., Any]] = {"NumPy": function, "jit": jit(function)}
    try:
        from numba import njit

        contenders["numba on the original"] = njit(function)
    except Exception as error:  # what numba does not take for a function
        return contenders, [f"numba on the original: {first_line(error)}"]
    return contenders, []


def disagreement(
    name: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    wanted: Any,
    first: dict[str, float],
) -> str | None:
    """Why a contender does not take part, if it does not."""
    from transformer.core.errors import TransformError
    from transformer.run.timing import difference

    from .failures import told

    try:
        off = difference(watched(name, function, args, first), wanted)
    except TransformError as error:
        return told(error)
    except Exception as error:
        return first_line(error)
    return None if off <= ALLOWED else f"gives another result, by {off:.1e}"


def first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def progress(stream: Any) -> Callable[[float], None]:
    """Draws a bar on a terminal; nothing elsewhere."""
    if not stream.isatty():
        return lambda part: None

    def draw_part(part: float) -> None:
        done = round(part * WIDTH)
        end = "\r" + " " * (WIDTH + 2) + "\r" if part >= 1 else ""
        stream.write(f"\r[{'#' * done}{'.' * (WIDTH - done)}]{end}")
        stream.flush()

    return draw_part


def table(title: str, timings: list[Timing], notes: list[str]) -> str:
    """The timings as a table with bars, the fastest in bold on a terminal."""
    from .colour import is_wanted

    best, worst = min(t.median for t in timings), max(t.median for t in timings)
    base = timings[0].median
    rows = [["", "first", "median", "minimum", "x NumPy"]]
    rows += [
        [t.name, *map(shown, (t.first, t.median, t.minimum)), f"{base / t.median:.2f}"]
        for t in timings
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [title]
    for k, (name, *cells) in enumerate(rows):
        padded = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        line = "  ".join([name.ljust(widths[0]), *padded])
        if k:
            line += "  " + "█" * max(1, round(WIDTH * timings[k - 1].median / worst))
        bold = k and timings[k - 1].median == best and is_wanted("auto")
        lines.append(f"\x1b[1m{line}\x1b[0m" if bold else line)
    return "\n".join([*lines, *notes]) + "\n"


def shown(seconds: float) -> str:
    """
    >>> shown(2.5e-6), shown(0.31)
    ('2.50 us', '310 ms')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds >= 10 * size else f"{seconds / size:.2f} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


def require_plots() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise UsageError("--plot needs matplotlib: pip install matplotlib") from None


def draw(timings: list[Timing], title: str, path: Path) -> None:
    """Bars of the medians; the minima as lines in them."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 0.6 + 0.5 * len(timings)), layout="constrained")
    axes = figure.subplots()
    places = range(len(timings))
    axes.barh(places, [t.median * 1e3 for t in timings], color="#7f9fc5", height=0.6)
    low, high = ([k + side for k in places] for side in (-0.3, 0.3))
    axes.vlines([t.minimum * 1e3 for t in timings], low, high, colors="#26384f")
    axes.set_yticks(list(places), [t.name for t in timings])
    axes.invert_yaxis()
    axes.set_xlabel("milliseconds for a call (median; minimum as a line)")
    axes.set_title(title)
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be written: {error}") from None
