"""What of `lax` is no control flow: values and gradients are those that JAX gave (`lax_calls.py`)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from lax_calls import BITS, CALLS, DTYPES, FILE, WHOLE, X

from transformer import TransformError, grad, jit, lax, vmap

JAX: dict[str, Any] = json.loads(FILE.read_text())


@pytest.mark.parametrize("name", CALLS)
def test_call(name: str) -> None:
    call = CALLS[name]
    value, slope = JAX[name]
    found = call(lax, X)
    assert found.shape == np.shape(value)
    np.testing.assert_allclose(found, value, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(grad(lambda x: np.sum(np.sin(call(lax, x))))(X), slope, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("name", BITS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_bits(name: str, dtype: str) -> None:
    found = BITS[name](lax, WHOLE.astype(dtype))
    np.testing.assert_array_equal(found, JAX[f"{name} of {dtype}"])
    if name.startswith(("shift", "bitwise", "population", "reduce", "cum")):
        assert found.dtype == dtype


def test_bits_compiled() -> None:
    def mixed(i: Any) -> Any:
        i = lax.bitwise_xor(i, lax.shift_right_logical(i, lax.full_like(i, 3)))
        return lax.population_count(lax.bitwise_not(lax.shift_left(i, lax.full_like(i, 2))))

    i = WHOLE.astype(np.int32)
    found = jit(mixed)(i)
    np.testing.assert_array_equal(found, mixed(i))
    assert found.dtype == np.int32


@pytest.mark.parametrize("name", ["top_k", "reduce_window", "conv of lines", "pad", "dynamic_slice_in_dim"])
def test_lanes_compiled(name: str) -> None:
    call = CALLS[name]
    rows = np.stack([X, 2 * X, X[::-1]])
    expected = [call(lax, row) for row in rows]
    np.testing.assert_allclose(jit(vmap(lambda x: call(lax, x)))(rows), expected, rtol=1e-12)


def test_greatest_of_equal_ones_and_of_nan() -> None:
    values, places = lax.top_k(np.array([2.0, np.nan, 5.0, 5.0, 2.0]), 4)
    np.testing.assert_array_equal(values, [np.nan, 5.0, 5.0, 2.0])
    assert places.tolist() == [1, 2, 3, 0]


def test_types_are_kept() -> None:
    x = X.astype(np.float32)
    for name in ("top_k", "cumsum", "logistic", "rsqrt", "pad", "reduce_window", "clamp", "sort"):
        assert CALLS[name](lax, x).dtype == np.float32
    assert lax.dot(x, x.T, preferred_element_type=np.float64).dtype == np.float64
    assert lax.bitcast_convert_type(x, np.int32).dtype == np.int32


REFUSED = {
    "clamp": (lambda x: lax.clamp(0, x, 1.0), "lax.clamp requires arguments of equal dtype"),
    "erf of integers": (lambda x: lax.erf(3) * x, "erf expects real floating point numbers, got int"),
    "shifts of floats": (lambda x: lax.shift_left(x, x), "shift_left expects integers and booleans, got float64"),
    "too many": (lambda x: lax.top_k(x, 9)[0], "is 9, but the axis has length 4"),
    "a slice beyond": (lambda x: lax.slice(x, (0, 0), (3, 5)), "slice from 0 to 5 is out of"),
    "parts that are not all": (lambda x: lax.split(x, (1, 1), 1)[0], "sum 2, of an axis of length 4"),
    "lengths of products": (lambda x: lax.dot_general(x, x, (((0,), (1,)), ((), ()))), "axes have lengths 3 and 4"),
    "letters": (lambda x: lax.conv_general_dilated(x[None, None], x[None, None], (1, 1), "SAME",
                                                   dimension_numbers=("NHWC", "HWIO", "NHWD")), "must name N, C"),
    "a padding": (lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), padding="FULL"), "padding is 'FULL'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    """It is the same error called plainly and where it is read, there with its place."""
    program, text = REFUSED[name]
    with pytest.raises((TypeError, ValueError)) as plain:
        program(X)
    assert text in str(plain.value)
    with pytest.raises((TypeError, ValueError)) as caught:
        grad(lambda x: np.sum(program(x)))(X)
    assert text in str(caught.value) and (not isinstance(caught.value, TransformError) or "File " in str(caught.value))
