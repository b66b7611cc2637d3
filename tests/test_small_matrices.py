"""Matrices of few, known sizes: their rows are loops that a processor runs as vectors."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from llvmlite.binding import llvm_version_info
from test_compiled_shapes import whole_text

from transformer import grad, jit, vmap
from transformer.run.compiling.assembly import width_of
from transformer.run.compiling.dispatchers import RIGHT_ROWS


def chain(x: Any, y: Any, scale: float) -> Any:
    moved = x @ y
    held = scale * y
    return moved @ held + x.T


def summed_chains(blocks: Any, scales: Any) -> Any:
    total = np.zeros_like(blocks[0])
    for k in range(blocks.shape[0]):
        for j in range(scales.shape[0]):
            total += blocks[k] @ blocks[j] @ (scales[j] * blocks[k])
    return total


def norm_of_chains(blocks: Any, scales: Any) -> Any:
    return np.sum(summed_chains(blocks, scales) ** 2)


def blocks_of(dtype: str, size: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(size)
    kind = rng.integers(-4, 5, (3, size, size)) if dtype[0] == "i" else rng.normal(size=(3, size, size))
    return kind.astype(dtype), np.array([1, 2, 3], dtype)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i4"])
def test_products_of_small_matrices(dtype: str, size: int) -> None:
    blocks, scales = blocks_of(dtype, size)
    rtol = 1e-4 if dtype == "f4" else 1e-12
    np.testing.assert_allclose(jit(summed_chains)(blocks, scales), summed_chains(blocks, scales), rtol, 1e-5 * rtol)
    assert jit(summed_chains)(blocks, scales).dtype == dtype
    np.testing.assert_allclose(jit(chain)(*blocks[:2], scales[1]), chain(*blocks[:2], scales[1]), rtol, 1e-5 * rtol)


@pytest.mark.parametrize("size", [3, 4, 5])
def test_gradients_of_them(size: int) -> None:
    blocks, scales = blocks_of("f8", size)
    derived = grad(norm_of_chains, argnums=(0, 1))
    for got, want in zip(jit(derived)(blocks, scales), derived(blocks, scales), strict=True):
        np.testing.assert_allclose(got, want, 1e-10)


def test_not_a_number_and_infinity_stay_where_they_are() -> None:
    blocks, scales = blocks_of("f8", 4)
    blocks[0, 1, 2], blocks[1, 0, 0], scales[2] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(jit(summed_chains)(blocks, scales), summed_chains(blocks, scales))


def test_many_of_them() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 7, 4, 4))
    scales = np.linspace(1, 2, 7)
    for k, got in enumerate(jit(vmap(chain))(x, y, scales)):
        np.testing.assert_allclose(got, chain(x[k], y[k], scales[k]), 1e-12)


@pytest.mark.parametrize("size, rows", [(3, 0), (4, 2)])
def test_rows_are_loops_where_they_are_vectors(size: int, rows: int) -> None:
    """A row of three is three numbers. What is read element by element has been made as rows before."""
    jitted = jit(summed_chains)
    jitted(*blocks_of("f8", size))
    assert len(re.findall(r"for l in range\(4\)", jitted.source)) == rows, jitted.source


def test_their_rows_are_vectors_in_machine_code() -> None:
    """LLVM writes such loops out, so that it is not asked to vectorise a loop."""
    jitted, arguments = jit(summed_chains), blocks_of("f8", 4)
    widths = [width_of(line.strip()) for line in whole_text(jitted, arguments).splitlines() if "mul" in line]
    assert any(width and width >= 128 for width in widths) == (llvm_version_info >= RIGHT_ROWS), widths
