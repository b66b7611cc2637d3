"""Variances along columns on GPUs: exact for numbers far from zero, right for such as are infinite, nan or too large,
and from one reading of the numbers for their mean and for them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import gpu_simulator
import numpy as np
import pytest
from test_golden_gpu import looped

ROWS = 150                             # two whole parts, and one that is not
SPREAD, MEAN = np.tile([1, 0.1, 1e-3], 3) * ([1] * 7 + [0] * 2), np.tile([1e4, -300, 0], 3)


def variance(x):
    return np.var(x, axis=0)


def written_out(x, scale):
    mean = np.sum(x * scale, axis=0) / len(x)
    return np.sum((mean - x * scale) ** 2, axis=0) / (len(x) - 1)


def about_the_smallest(x):
    return np.sum((x - np.min(x, axis=0)) ** 2, axis=0)


def of_two(x, y):
    return np.var(x, axis=0), np.var(y, axis=0), np.sum(x * y, axis=0)


def about_a_row(x, row):
    return np.sum((x - row) ** 2, axis=0), np.sum(x, axis=0)


def found(target: Any, *arguments: Any) -> tuple[Any, str]:
    """What the kernels give, run step by step, and their module."""
    made = looped(target, target, arguments)
    given = {**made.namespace, **made.module.kernel.printed.given}
    entry = gpu_simulator.namespace(made.module.source, given)[made.module.entry.name]
    with np.errstate(all="ignore"):
        return entry(*arguments), made.module.source


def far_from_zero(rows: int = ROWS) -> np.ndarray:
    """Columns of noise about 10,000, about -300 and about 0, and such as are the same everywhere."""
    noise = np.random.default_rng(0).normal(size=(rows, 9))
    return (noise * SPREAD + MEAN).astype("f4")


@pytest.mark.parametrize("rows", [33, 64, ROWS])
def test_numbers_far_from_zero(rows: int) -> None:
    x = far_from_zero(rows)
    got, source = found(variance, x)
    assert "spreads" in source and got.dtype == np.float32
    np.testing.assert_allclose(got, np.var(x.astype("f8"), axis=0), rtol=1e-5)


def test_a_part_whose_first_number_is_far_from_the_others() -> None:
    x = far_from_zero()
    x[0], x[64] = 3e6, -2e5
    np.testing.assert_allclose(found(variance, x)[0], np.var(x.astype("f8"), axis=0), rtol=1e-4)


def test_a_variance_as_it_is_written_out() -> None:
    x, scale = far_from_zero().astype("f8"), np.linspace(-1, 2, 9)
    got, source = found(written_out, x, scale)
    assert "spreads" in source
    np.testing.assert_allclose(got, written_out(x, scale), rtol=1e-11, atol=1e-18)


def test_variances_of_two_arrays_in_one_nest() -> None:
    x, y = far_from_zero(), far_from_zero()[::-1].copy()
    got, source = found(of_two, x, y)
    assert "spreads2" in source
    for each, want in zip(got, of_two(x.astype("f8"), y.astype("f8")), strict=True):
        np.testing.assert_allclose(each, want, rtol=1e-5)


@pytest.mark.parametrize("target", [variance, about_the_smallest])
def test_numbers_that_are_no_finite_ones_or_too_large(target: Any) -> None:
    x = np.random.default_rng(0).normal(size=(ROWS, 9)).astype("f4")
    x[3, 0], x[0, 1], x[64, 2], x[70, 3] = np.inf, -np.inf, np.inf, np.nan
    x[5, 4], x[6, 4] = np.inf, -np.inf
    x[:, 5] *= np.float32(1e25)
    x[-1, 6], x[0, 7] = 1e25, 1e25
    got, source = found(target, x)
    assert "spreads" in source
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(got, target(x), rtol=1e-5)


def test_each_number_is_read_once_for_mean_and_variance(monkeypatch: pytest.MonkeyPatch) -> None:
    x, reads = far_from_zero(), Counter[Any]()
    plain = gpu_simulator.Watched.__getitem__

    def counted(self: Any, at: Any) -> Any:
        reads[self.shape] += isinstance(at, tuple)                       # a row is not read by being named
        return plain(self, at)

    monkeypatch.setattr(gpu_simulator.Watched, "__getitem__", counted)
    found(variance, x)
    parts = -(-ROWS // 64)
    assert reads[x.shape] == x.size + 3 * parts * x.shape[1]             # first numbers of each part, and of the first


def test_what_does_not_rest_on_the_same_numbers_stays_as_it_is() -> None:
    x = far_from_zero()
    got, source = found(about_a_row, x, x[0])
    assert "spreads" not in source
    np.testing.assert_allclose(got, about_a_row(x.astype("f8"), x[0]), rtol=1e-5)


def about_other_means(x, w):
    return np.sum((x - (np.sum(x, axis=1) @ w)[:, np.newaxis]) ** 2, axis=1)


def test_long_columns_whose_first_number_is_far_from_the_others() -> None:
    """Of so many numbers nothing would be left: they are not those of a part."""
    x = np.random.default_rng(0).normal(size=(5, 3000, 6)).astype("f4")
    x[:, 0] = 70
    w = np.eye(6, dtype="f4") / 3000
    got, source = found(about_other_means, x, w)
    assert "spreads" not in source
    np.testing.assert_allclose(got, about_other_means(x.astype("f8"), w.astype("f8")), rtol=1e-5)
