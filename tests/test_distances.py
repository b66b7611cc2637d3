"""Distances of two vectors by scipy.spatial.distance, and what SciPy and NumPy refuse of places and polynomials."""

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


def derivatives(c):
    return np.polynomial.polynomial.polyder(c, 2), np.polynomial.polynomial.polyder(c, 7)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_a_polynomial_derived_more_often_than_its_degree_is_zero(dtype: Any) -> None:
    c = np.array([1, 2, 3], dtype)
    for found, wanted in zip(jit(derivatives)(c), derivatives(c), strict=True):
        assert (found.dtype, found.tolist()) == (wanted.dtype, wanted.tolist())
