"""Loops over rows in sources of derivatives: rows are taken from the array at hand, cotangents are filled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from differences import assert_close, gradient

from transformer import grad

X = np.arange(1.0, 7.0).reshape(2, 3) / 7
V = np.array([0.5, -1.0, 2.0])


def mean_of_rows(x: Any, v: Any) -> Any:
    """Each row is looked at once, and what comes of it counts as much as any other."""
    return np.mean([np.tanh(row @ v) for row in np.exp(x)])


def trajectory(y: Any, c: Any) -> Any:
    """The first item of a list, and those that a loop appends."""
    ys = [y]
    for _ in range(3):
        ys.append(ys[-1] + c * np.sin(ys[-1]))
    return np.sum(np.stack(ys) ** 2)


def reversed_list(x: Any) -> Any:
    """Appended from the end, and turned around."""
    total, out = 0.0, []
    for k in range(len(x) - 1, -1, -1):
        total = x[k] + 0.9 * total
        out.append(total)
    return np.sum(np.array(out[::-1]) ** 2)


def picked(x: Any, labels: Any) -> Any:
    return np.sum(np.take_along_axis(x, labels[:, None], axis=1) ** 2)


def decoded(x: Any, prompt: Any, steps: Any) -> Any:
    """A list of what an array holds, to which a loop appends."""
    out = list(prompt)
    for t in range(steps):
        out.append(out[t] + 1)
    return np.sum(x[0, np.array(out) % 3] ** 2)


def over_a_grid(x: Any, image: Any) -> Any:
    height, width = image.shape
    rows, columns = np.mgrid[:height, :width]
    return np.sum((x[0, 0] * rows + x[1, 2] * columns) * image)


CASES = [
    (decoded, (X, np.array([1, 0]), 3), ["out = prompt\n"], ["out[k]"]),
    (over_a_grid, (X, X + 1), ["np.arange("], ["stack", "copy", "reshape"]),
    (mean_of_rows, (X, V), ["ratio = 1.0 / n", "] = "], ["filled", "np.zeros_like(x)", "unstacked"]),
    (trajectory, (V, 0.3), ["dlast += djoined[k + 1]\n"], ["[:1]", "unstacked"]),
    (reversed_list, (V,), ["np.empty_like(x)", "# reverse of line", "dx[k] = dtotal2\n"], ["[::-1]", "unstacked"]),
    (picked, (X, np.array([2, 0])), ["] = 2 * "], ["np.add.at"]),
]


@pytest.mark.parametrize("function, arguments, there, gone", CASES, ids=lambda item: getattr(item, "__name__", ""))
def test_rows(function: Callable[..., Any], arguments: tuple[Any, ...], there: list[str], gone: list[str]) -> None:
    made = grad(function)
    source = made.source_for(*arguments)
    assert [line for line in there if line not in source] == [], source
    assert [line for line in gone if line in source] == [], source
    assert_close(made(*arguments), gradient(function, arguments, (0,)).reshape(arguments[0].shape), "gradient",
                 np.dtype(float))
