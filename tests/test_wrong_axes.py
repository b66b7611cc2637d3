"""Axes that an array does not have, in functions that are read as they would be written in Python: NumPy's error, at
the line that asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.exceptions import AxisError

from transformer import jit

FIRST = np.array([[0]])
CALLS: dict[str, Callable[[Any, int], Any]] = {
    "quantile of several axes": lambda x, axis: np.quantile(x, 0.5, axis=(0, axis)),
    "quantile": lambda x, axis: np.quantile(x, 0.5, axis=axis, keepdims=True),
    "nanquantile": lambda x, axis: np.nanquantile(x, 0.5, axis=axis),
    "delete": lambda x, axis: np.delete(x, 1, axis=axis),
    "insert": lambda x, axis: np.insert(x, 1, 7.0, axis=axis),
    "put_along_axis": lambda x, axis: np.put_along_axis(x, FIRST, 1.0, axis=axis),
    "gradient": lambda x, axis: np.gradient(x, axis=axis),
    "sliding_window_view": lambda x, axis: np.lib.stride_tricks.sliding_window_view(x, 2, axis=axis),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("axis", [2, -3])
def test_an_axis_that_is_not_there(name: str, axis: int) -> None:
    function = CALLS[name]
    array = np.arange(12.0).reshape(3, 4)
    with pytest.raises(AxisError) as wanted:
        function(array.copy(), axis)
    with pytest.raises(AxisError, match=str(wanted.value)) as found:
        jit(function, static_argnums=1)(array, axis)
    assert "test_wrong_axes.py" in str(found.value)
    np.testing.assert_array_equal(array, np.arange(12.0).reshape(3, 4))


@pytest.mark.parametrize("axis", [1, -1])
def test_an_axis_that_is(axis: int) -> None:
    array = np.random.default_rng(5).normal(size=(3, 4)).astype(np.float32)
    for name in ("quantile", "nanquantile", "delete", "insert", "gradient", "sliding_window_view"):
        found, wanted = jit(CALLS[name], static_argnums=1)(array, axis), CALLS[name](array, axis)
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
