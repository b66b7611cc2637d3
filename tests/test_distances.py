"""Distances of two vectors by scipy.spatial.distance, and what SciPy and NumPy refuse of places, borders, polynomials
and parts of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.spatial.distance as of_vectors

from transformer import jit, vmap

U = np.array([1, 250, 3], np.uint8)
V = np.array([3, 1, 2], np.uint8)


def several(u, v):
    return (of_vectors.euclidean(u, v), of_vectors.sqeuclidean(u, v), of_vectors.cityblock(u, v),
            of_vectors.chebyshev(u, v), of_vectors.cosine(u, v), of_vectors.minkowski(u, v, 3),
            of_vectors.minkowski(u, v, np.inf), of_vectors.cosine(u, u) ** 0.5)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, np.float64])
def test_distances_are_those_of_scipy(dtype: Any) -> None:
    u, v = U.astype(dtype), V.astype(dtype)
    for found, wanted in zip(jit(several)(u, v), several(u, v), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)


def border_of_nothing(u, v):
    return np.pad(u[:0] * 1.0, 1, mode="mean")


def ramp_from_nothing(u, v):
    return np.pad(u[:0] * 1.0, 1, mode="linear_ramp")


def three_widths(u, v):
    return np.pad(u, [1, 2, 3])


def three_constants(u, v):
    return np.pad(u, 1, constant_values=(1, 2, 3))


def imaginary_part_of_integers(u, v):
    u = u.copy()
    u.imag = v
    return u


def of_no_power(u, v):
    return of_vectors.minkowski(u, v, -1)


def of_complex(u, v):
    return of_vectors.cosine(u + 1j, v)


def place(u, v):
    return np.unravel_index(u, (10, 10))


def place_below(u, v):
    return np.unravel_index(v - 9, (10, 10))


def place_of_floats(u, v):
    return np.unravel_index(u * 0.5, (1000, 10))


def place_from_floats(u, v):
    return np.ravel_multi_index((u * 0.5, v), (1000, 10))


REFUSED = [
    (of_no_power, ValueError, "p must be greater than 0"), (of_complex, TypeError, "must be real"),
    (border_of_nothing, ValueError, "can't extend"), (ramp_from_nothing, ValueError, "can't extend"),
    (three_widths, ValueError, "could not be broadcast"), (three_constants, ValueError, "could not be broadcast"),
    (imaginary_part_of_integers, TypeError, "array does not have imaginary part to set"),
    (place, ValueError, "out of bounds for array with size 100"),
    (place_below, ValueError, "out of bounds for array with size 100"),
    (place_of_floats, TypeError, "only int indices permitted"),
    (place_from_floats, TypeError, "only int indices permitted"),
]


@pytest.mark.parametrize(("function", "error", "text"), REFUSED)
def test_what_scipy_and_numpy_refuse_is_refused(function: Any, error: Any, text: str) -> None:
    u, v = U.astype(int), V.astype(int)
    for call in (function, jit(function), lambda u, v: vmap(function)(np.stack([u, u]), np.stack([v, v]))):
        with pytest.raises(error, match=text):
            call(u, v)


def of_one_number(x):
    return np.pad(np.array(x), 2), np.pad(np.array(x), 1, mode="mean")


def with_set_attributes(x):
    z = x + 1j
    setattr(z, "real", x * 2)  # noqa: B010
    return z


def test_borders_of_one_number_and_parts_by_setattr() -> None:
    np.testing.assert_equal(jit(of_one_number)(2.5), of_one_number(2.5))
    x = np.array([1.5, -0.5])
    np.testing.assert_equal(jit(with_set_attributes)(x), with_set_attributes(x))


def derivatives(c):
    return np.polynomial.polynomial.polyder(c, 2), np.polynomial.polynomial.polyder(c, 7)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_a_polynomial_derived_more_often_than_its_degree_is_zero(dtype: Any) -> None:
    c = np.array([1, 2, 3], dtype)
    for found, wanted in zip(jit(derivatives)(c), derivatives(c), strict=True):
        assert (found.dtype, found.tolist()) == (wanted.dtype, wanted.tolist())
