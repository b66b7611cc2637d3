"""Windows that slide along axes, and what is computed of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from test_golden_gpu import compare, looped

from transformer import check_grads, jit, vmap
from transformer.core.errors import TransformError

RNG = np.random.default_rng(3)
CALLS: list[tuple[tuple[int, ...], Any, Any]] = [
    ((9,), 3, None), ((9,), (1,), None), ((4, 5), (2, 3), None), ((4, 5), 2, 0), ((4, 5), 2, -1),
    ((2, 6, 5, 3), (3, 2), (1, 2)), ((6, 3), (2, 3), (0, 0)), ((3,), 3, None),
]


@pytest.mark.parametrize("shape, widths, axis", CALLS)
def test_windows(shape: tuple[int, ...], widths: Any, axis: Any) -> None:
    def weighed(x):
        windows = sliding_window_view(x, widths, axis)
        return np.sum(np.sin(windows) * np.arange(1, windows.size + 1).reshape(windows.shape))

    def windows(x):
        return sliding_window_view(x, widths, axis) * 2

    x = RNG.normal(size=shape)
    np.testing.assert_array_equal(jit(windows)(x), windows(x))
    check_grads(weighed, (x,), order=2)


def convolved(x, w):
    return np.einsum("nhwcij,ijco->nhwo", sliding_window_view(x, w.shape[:2], axis=(1, 2)), w)


@pytest.mark.filterwarnings("ignore")
def test_convolution_by_windows() -> None:
    x, w = RNG.normal(size=(2, 7, 8, 3)), RNG.normal(size=(3, 2, 3, 4))
    np.testing.assert_allclose(jit(convolved)(x, w), convolved(x, w), rtol=1e-12)
    check_grads(lambda x, w: np.sum(convolved(x, w) ** 2), (x, w))
    compare(looped(convolved, convolved, (x, w)), looped(convolved, convolved, (x, w)).module.source, convolved, (x, w))
    lanes = vmap(lambda x: sliding_window_view(x, 3))(x[0, 0].T)
    np.testing.assert_array_equal(lanes, sliding_window_view(x[0, 0].T, 3, axis=1))


def test_places_in_windows_are_certain() -> None:
    def means(x):
        return sliding_window_view(x, 3).mean(axis=-1)

    x = RNG.normal(size=9)
    np.testing.assert_allclose(jit(means)(x), means(x), rtol=1e-12)
    source = jit(means).source_for(x)
    assert "IndexError" not in source and "i + 0" not in source


@pytest.mark.parametrize("widths, axis, text", [(10, None, "cannot be larger"), ((2, 2), None, "all dimensions"),
                                                (-1, None, "negative"), ((2, 2), (0,), "matching length")])
def test_windows_that_numpy_refuses(widths: Any, axis: Any, text: str) -> None:
    with pytest.raises((ValueError, TransformError), match=text):
        jit(lambda x: sliding_window_view(x, widths, axis))(np.ones(9))


def test_places_of_unrolled_windows_are_numbers() -> None:
    def smoothed(x, k):
        return (sliding_window_view(x, 3) * k).sum(-1)

    x, k = RNG.normal(size=4), RNG.normal(size=3)
    compiled = jit(smoothed)
    np.testing.assert_allclose(compiled(x, k), smoothed(x, k), rtol=1e-14)
    assert "x[3] * k_2" in compiled.source and "x[1 + " not in compiled.source
