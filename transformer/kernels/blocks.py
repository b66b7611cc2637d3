"""The loops over the blocks of a grid, as they are read."""

from __future__ import annotations

from typing import Any

from ..independence import independent


def over_one_axis(kernel: Any, grid: Any, arguments: Any, outputs: Any) -> None:
    """The body of a kernel for all blocks of a grid of one axis."""
    for i in independent(range(grid[0])):
        kernel.returned(kernel.body((i,), *arguments, *outputs))


def over_two_axes(kernel: Any, grid: Any, arguments: Any, outputs: Any) -> None:
    """The body of a kernel for all blocks of a grid of two axes."""
    for i in independent(range(grid[0])):
        for j in independent(range(grid[1])):
            kernel.returned(kernel.body((i, j), *arguments, *outputs))


def over_three_axes(kernel: Any, grid: Any, arguments: Any, outputs: Any) -> None:
    """The body of a kernel for all blocks of a grid of three axes."""
    for i in independent(range(grid[0])):
        for j in independent(range(grid[1])):
            for k in independent(range(grid[2])):
                kernel.returned(kernel.body((i, j, k), *arguments, *outputs))


OVER = {1: over_one_axis, 2: over_two_axes, 3: over_three_axes}
