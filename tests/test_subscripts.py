"""An element or a row that new axes are put to is one subscript in the source."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from transformer import grad, vmap
from transformer.write.special import _with_new_axes


def filtered(x, kernels):
    k, h, w = kernels.shape
    out = np.zeros((k, x.shape[0] - h + 1, x.shape[1] - w + 1))
    for i in range(h):
        for j in range(w):
            out += kernels[:, i, j][:, None, None] * x[i:i + out.shape[1], j:j + out.shape[2]]
    return np.sum(np.tanh(out))


def test_one_subscript() -> None:
    rng = np.random.default_rng(0)
    x, kernels = rng.normal(size=(5, 6)), rng.normal(size=(2, 3, 2))
    source = grad(filtered, argnums=(0, 1)).source_for(x, kernels)
    assert "kernels[:, i, j, None, None]" in source and "][" not in source
    step = 1e-6 * rng.normal(size=kernels.shape)
    slope = (filtered(x, kernels + step) - filtered(x, kernels - step)) / 2
    assert np.sum(grad(filtered, argnums=1)(x, kernels) * step) == pytest.approx(slope, rel=1e-6)
    batched = vmap(filtered, in_axes=(None, 0))
    np.testing.assert_allclose(batched(x, kernels[None]), [filtered(x, kernels)])


def test_new_axes_of_parts() -> None:
    x = np.arange(120.0).reshape(2, 3, 4, 5)
    for inner in itertools.product([1, slice(None), slice(1, 3), None], repeat=3):
        inner = (*inner, *[slice(None)] * (4 - sum(entry is not None for entry in inner)))
        part = x[inner]
        for places in itertools.product(range(part.ndim + 1), repeat=2):
            index = [slice(None)] * part.ndim
            for place in places:
                index.insert(place, None)
            np.testing.assert_array_equal(x[_with_new_axes(inner, tuple(index))], part[tuple(index)])
