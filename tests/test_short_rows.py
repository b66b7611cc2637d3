"""Loops over whole rows are one loop, for arrays however they lie in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from transformer import config, grad, jit


def differences(x):
    return x[1:] - x[:-1]


def blurred(x):
    return (x[1:-1, 1:-1] + x[2:, 1:-1] + x[:-2, 1:-1]) / 3


def mixed(x):
    """Rows that are read one by one as well."""
    return np.exp(-x) * 2, np.sqrt(np.sum(x * x, axis=-1))


def loss(x):
    return np.sum(np.cos(x[1:] - x[:-1])) + np.sum(x[0] ** 2)


VIEWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "in one piece": lambda x: x,
    "a column less": lambda x: np.concatenate([x, x[..., :1]], axis=-1)[..., :-1],
    "turned": lambda x: np.ascontiguousarray(x.T).T,
    "backwards": lambda x: x[::-1],
    "every second": lambda x: np.repeat(x, 2, axis=0)[::2],
    "read only": lambda x: np.broadcast_to(x, x.shape),
}
FUNCTIONS = [jit(blurred), jit(mixed), jit(grad(loss))]
PLAIN: list[Any] = [blurred, mixed, grad(loss)]


@pytest.mark.parametrize("view", VIEWS)
def test_views(view: str) -> None:
    rng, dtype = np.random.default_rng(0), np.float32 if view == "turned" else np.float64
    for compiled, plain in zip(FUNCTIONS, PLAIN, strict=True):
        for shape in ((5, 4, 3), (7, 4, 3)):
            x = VIEWS[view](rng.normal(size=shape).astype(dtype))
            for got, want in zip(_each(compiled(x)), _each(plain(x)), strict=True):
                assert np.asarray(got).dtype == np.asarray(want).dtype
                np.testing.assert_allclose(got, want, rtol=1e-5 if dtype is np.float32 else 1e-13, atol=1e-6)


def _each(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("shape", [(1, 3), (2, 3), (0, 3), (4, 0), (3, 9)])
def test_few_rows(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(1).normal(size=shape)
    np.testing.assert_array_equal(jit(differences)(x), differences(x))


@pytest.fixture
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "threads", request.param)


@pytest.mark.parametrize("threads", [1], indirect=True)
def test_one_loop(threads: None) -> None:
    """Over all numbers of rows, whether their length is known or not; one for each row of two axes that shift."""
    rng = np.random.default_rng(2)
    for shape in ((6, 3), (6, 30), (6, 4, 3)):
        source = jit(differences).source_for(rng.normal(size=shape))
        assert source.count("for ") == 1, source
        assert "x_flat[" in source
    source = jit(blurred).source_for(rng.normal(size=(5, 6, 3)))
    assert source.count("for ") == 2, source
    assert "x.ravel().reshape(n, 3 * m)" in source


@pytest.mark.parametrize("threads", [2], indirect=True)
def test_rows_that_threads_share(threads: None) -> None:
    x = np.random.default_rng(3).normal(size=(300, 200, 3))
    shared = jit(differences)
    np.testing.assert_array_equal(shared(x), differences(x))
    assert "in_threads(fill_result, result_flat.size" in shared.source_for(x)


def all_columns(x):
    return np.sum(x[:, 2] * x[:, 2] * x[:, 0] - x[:, 1])


def some_columns(x):
    return np.sum(x[:, 2] * x[:, 2] * x[:, 2] * x[:, 0])


def shorter_columns(x):
    return np.sum(x[:, 2] * x[:, 2]) + np.sum(x[1:, 0]) - np.sum(x[:, 1])


@pytest.mark.parametrize(("function", "filled"), [(all_columns, False), (some_columns, True), (shorter_columns, True)])
def test_rows_are_not_filled_where_all_columns_are_written(function: Any, filled: bool) -> None:
    x, compiled = np.random.default_rng(4).normal(size=(6, 3)), jit(grad(function))
    np.testing.assert_allclose(compiled(x), grad(function)(x), rtol=1e-14, atol=1e-15)
    assert ("np.zeros(" in compiled.source_for(x)) == filled
