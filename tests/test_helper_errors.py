"""Errors of helper functions that stay functions in the generated code, found only when it runs: NumPy's text, the
user's line and nothing of ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from transformer import grad, jit


def in_rows(x: Any, k: Any) -> Any:
    y = np.sin(x)
    y = y * k + np.cos(x)
    z = np.exp(-y)
    z = z + y * 2
    z = z - np.tanh(y)
    z = z / (1 + y * y)
    z = np.sqrt(z * z + 1)
    z = z.reshape(3, -1)
    total = np.sum(z)
    total = total + np.max(z)
    return total


def reshaped_in_a_helper(x: Any) -> Any:
    return in_rows(x, 2.0) + in_rows(x * 2, 3.0) + in_rows(x * 3, 4.0)


def beside_ones(x: Any, count: Any) -> Any:
    total = x[0]
    for k in range(3):
        total = total + np.sum(x[:count + k] * np.ones(3 + k))
    return total


@pytest.mark.parametrize("wrap", [grad, jit, lambda f: jit(grad(f))], ids=["grad", "jit", "jit of grad"])
def test_a_reshape_in_a_helper_is_refused_as_by_numpy(wrap: Any) -> None:
    made = wrap(reshaped_in_a_helper)
    made(np.ones(6))
    with pytest.raises(ValueError) as caught:
        made(np.ones(7))
    with pytest.raises(ValueError) as wanted:
        reshaped_in_a_helper(np.ones(7))
    told = str(caught.value).split("\n")[0]
    assert told == str(wanted.value)
    place = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert "z = z.reshape(3, -1)" in place and "in in_rows" in place


def test_sizes_that_the_program_computes_are_told_as_by_numpy() -> None:
    made = grad(beside_ones)
    np.testing.assert_array_equal(made(np.ones(6), np.array(3)), [4, 3, 3, 2, 1, 0])
    for count in 2, 4:
        with pytest.raises(ValueError) as caught:
            made(np.ones(6), np.array(count))
        with pytest.raises(ValueError) as wanted:
            beside_ones(np.ones(6), np.array(count))
        assert str(caught.value).split("\n")[0].strip() == str(wanted.value).strip()
