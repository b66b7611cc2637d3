"""Products with few columns by kernels of ours: run step by step, they are those of NumPy."""

from __future__ import annotations

from typing import Any

import gpu_simulator
import numpy as np
import pytest

from transformer.run.gpu import narrow
from transformer.run.gpu.products import KEEP, TURN, planned

WARP, ROWS, SIDE, LINES = 2, 3, 2, 4


@pytest.mark.parametrize("m, k", [(5, 13), (4, 6), (3, 12), (7, 1)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products(m: int, k: int, dtype: str) -> None:
    rng, columns = np.random.default_rng(0), 5
    x, w = rng.normal(size=(m, k)).astype(dtype), rng.normal(size=(k, columns)).astype(dtype)
    w[:, 1], w[0, 2] = np.inf, np.nan            # which are not multiplied with what is beyond the end
    kernels = gpu_simulator.namespace(narrow.source(w.dtype, columns, WARP, ROWS, SIDE, LINES), {})
    for name, given, grid in (("fill_product", x, (-(-m // ROWS), (WARP, ROWS))),
                              ("fill_turned", x.T.copy(), (-(-m // SIDE), (SIDE, LINES)))):
        y = np.full((m, columns), 99, dtype)
        with np.errstate(invalid="ignore"):
            kernels[name][grid](m, k, given, w, y)
            np.testing.assert_allclose(y, x @ w, rtol=1e-4, atol=1e-5)


def plan(x: Any, w: Any, y: Any) -> Any:
    return planned(x.dtype, x.shape, x.strides, w.shape, w.strides, y.shape, y.strides)


def test_which_products_are_narrow() -> None:
    x, w, y = (np.zeros(shape, "f4") for shape in ((300, 600), (600, 10), (300, 10)))
    assert plan(x, w, y).is_narrow and plan(x, w, y).stacks[1].operation == KEEP
    turned = x.reshape(600, 300).T
    assert plan(turned, w, y).is_narrow and plan(turned, w, y).stacks[1].operation == TURN
    assert plan(x, w[:, ::2].copy().repeat(2, 1), y).is_narrow
    for other in ((x[:200], w, y[:200]), (x[:, :200], w[:200], y), (x, w[:, :1], y[:, :1]),
                  (x, np.zeros((600, 17), "f4"), np.zeros((300, 17), "f4")), (x[None], w, y[None]),
                  tuple(each.astype("f2") for each in (x, w, y)), tuple(each.astype("c8") for each in (x, w, y))):
        assert not plan(*other).is_narrow


def test_no_number_lies_in_a_bank_with_all_others_of_its_column() -> None:
    for columns in range(2, 17):
        text = narrow.source(np.dtype("f4"), columns)
        assert f"({narrow.WARP * narrow.ROWS}, {columns | 1})" in text
