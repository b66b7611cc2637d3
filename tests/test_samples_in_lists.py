"""The functions of `statistics`: what they raise, the kind of what they give, and how exactly they compute."""

from __future__ import annotations

import runpy
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from transformer import grad, jit, vmap

WIDE = np.array([1e8, 1.0, 3.0, -1e8, 0.25])
REFUSED = [
    (statistics.harmonic_mean, (np.array([1.5, -0.5, 2.0]),), "does not support negative values"),
    (statistics.geometric_mean, (np.array([1.5, -0.5, 2.0]),), "geometric mean requires"),
    (statistics.correlation, (np.full(3, 2.0), np.arange(3.0)), "at least one of the inputs is constant"),
    (statistics.correlation, (np.arange(3.0), np.full(3, 2.0)), "at least one of the inputs is constant"),
    (statistics.linear_regression, (np.full(3, 2.0), np.arange(3.0)), "x is constant"),
    (statistics.fmean, (np.arange(3.0), np.array([1.0, 0.0, -1.0])), "sum of weights must be non-zero"),
]


@pytest.mark.parametrize(("function", "args", "text"), REFUSED)
def test_what_has_no_statistic_is_refused_where_it_runs(function: Any, args: Any, text: str) -> None:
    def found(*samples):
        return function(*samples)

    batches = [np.stack([each, each]) for each in args]
    calls: list[Any] = [lambda: function(*args), lambda: jit(found)(*args), lambda: vmap(found)(*batches)]
    if function is not statistics.linear_regression:
        calls.append(lambda: grad(found)(*args))
    for call in calls:
        with pytest.raises(statistics.StatisticsError, match=text):
            call()


def test_files_import_the_error_that_they_raise(tmp_path: Path) -> None:
    def f(x, y):
        return statistics.correlation(x, y)

    derivative, x, y = grad(f), np.array([1.0, 2.0, 4.0]), np.array([3.0, 1.0, 2.0])
    derivative.save(tmp_path / "f_grad.py", x, y)
    saved = runpy.run_path(str(tmp_path / "f_grad.py"))["f_grad"]
    assert "import statistics\n" in (tmp_path / "f_grad.py").read_text()
    np.testing.assert_allclose(saved(x, y), derivative(x, y))
    with pytest.raises(statistics.StatisticsError):
        saved(np.ones(3), y)


def all_of(x):
    return (statistics.mean(x), statistics.fmean(x), statistics.stdev(x), statistics.pstdev(x), statistics.variance(x),
            statistics.pvariance(x), statistics.median(x), statistics.median_low(x))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_samples_of_narrow_floats_are_added_in_wide_ones(dtype: Any) -> None:
    x = WIDE.astype(dtype)
    for found, wanted in zip(jit(all_of)(x), all_of(x), strict=True):
        assert type(found) is type(wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-7)


def of_numbers(x, y):
    mean = statistics.mean([x, 1.0, 3.0])
    return mean * y, statistics.median([x, 1.0, 2.0]), statistics.variance([x, 2.0]), statistics.mean(v * x for v in y)


def test_statistics_of_numbers_of_python_are_such() -> None:
    y = np.array([1.0, 2.0], np.float32)
    for found, wanted in zip(jit(of_numbers)(2.5, y), of_numbers(2.5, y), strict=True):
        assert type(found) is type(wanted)
        assert np.asarray(found).dtype == np.asarray(wanted).dtype
        np.testing.assert_allclose(found, wanted)
