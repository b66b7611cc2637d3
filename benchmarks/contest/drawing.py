"""Bars: how many times as fast as JAX each case is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .measuring import Measured

PICTURES = Path(__file__).parent.parent.parent / "docs" / "images"
FASTER, SLOWER = "#4c78a8", "#c44e52"


def draw(name: str, found: Sequence[Measured]) -> Path | None:
    """The picture's place; None where matplotlib is not installed, or JAX."""
    bars = [(each.case.name, ratio) for each in found if (ratio := each.over_jax) is not None]
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        return None
    if not bars:
        return None
    matplotlib.rcParams["svg.hashsalt"] = name          # else the picture differs from run to run
    figure = Figure(figsize=(8, 0.8 + 0.22 * len(bars)), layout="constrained")
    axes = figure.subplots()
    axes.barh([case for case, _ in bars], [r - 1 for _, r in bars], left=1,
              color=[FASTER if r >= 1 else SLOWER for _, r in bars])
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.invert_yaxis()
    axes.set_xlabel("times as fast as JAX (minima, one core)")
    PICTURES.mkdir(exist_ok=True)
    path = PICTURES / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None})
    return path
