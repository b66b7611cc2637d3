"""Random numbers have the distributions that they should: tests of scipy, with keys that stay the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from transformer import random

MANY = 20000
LEAST = 1e-3                        # of the probability of numbers as odd as these
KEYS = [random.key(seed) for seed in (3, 4)]
BOUND = stats.truncnorm(-0.5, 2.0)
CONTINUOUS: dict[str, tuple[Callable[..., Any], Any]] = {
    "uniform": (lambda key, dtype: random.uniform(key, (MANY,), dtype), stats.uniform),
    "uniform between": (lambda key, dtype: random.uniform(key, (MANY,), dtype, -2.0, 3.0), stats.uniform(-2, 5)),
    "normal": (lambda key, dtype: random.normal(key, (MANY,), dtype), stats.norm),
    "exponential": (lambda key, dtype: random.exponential(key, (MANY,), dtype), stats.expon),
    "laplace": (lambda key, dtype: random.laplace(key, (MANY,), dtype), stats.laplace),
    "gumbel": (lambda key, dtype: random.gumbel(key, (MANY,), dtype), stats.gumbel_r),
    "truncated_normal": (lambda key, dtype: random.truncated_normal(key, -0.5, 2.0, (MANY,), dtype), BOUND),
    "gamma below 1": (lambda key, dtype: random.gamma(key, 0.3, (MANY,), dtype), stats.gamma(0.3)),
    "gamma above 1": (lambda key, dtype: random.gamma(key, 2.5, (MANY,), dtype), stats.gamma(2.5)),
    "beta": (lambda key, dtype: random.beta(key, 0.7, 2.0, (MANY,), dtype), stats.beta(0.7, 2.0)),
    "dirichlet": (lambda key, dtype: random.dirichlet(key, np.array([1.0, 2.0, 0.5]), (MANY,), dtype)[:, 1],
                  stats.beta(2.0, 1.5)),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_distribution(name: str, dtype: type) -> None:
    draw, wanted = CONTINUOUS[name]
    for key in KEYS:
        x = draw(key, dtype)
        assert x.dtype == dtype
        assert stats.kstest(x, wanted.cdf).pvalue > LEAST


P = np.array([0.1, 0.2, 0.3, 0.4])
DISCRETE: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "randint": (lambda key: random.randint(key, (MANY,), 0, 7), np.full(7, 1 / 7)),
    "randint u8": (lambda key: random.randint(key, (MANY,), 0, 256, np.uint8), np.full(256, 1 / 256)),
    "bernoulli": (lambda key: random.bernoulli(key, 0.3, (MANY,)).astype(int), np.array([0.7, 0.3])),
    "choice": (lambda key: random.choice(key, 4, (MANY,), p=P), P),
    "categorical": (lambda key: random.categorical(key, np.log(P), shape=(MANY,)), P),
    "bits": (lambda key: random.bits(key, (MANY,), np.uint8), np.full(256, 1 / 256)),
    "lower bits": (lambda key: random.bits(key, (MANY,), np.uint64) & 63, np.full(64, 1 / 64)),
    "permutation": (lambda key: np.concatenate([random.permutation(each, 5)[:1] for each in random.split(key, 2000)]),
                    np.full(5, 1 / 5)),
    "choice once": (lambda key: np.concatenate([random.choice(each, 5, (1,), replace=False, p=np.append(P / 2, 0.5))
                                                for each in random.split(key, 2000)]), np.append(P / 2, 0.5)),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_frequencies(name: str) -> None:
    draw, wanted = DISCRETE[name]
    for key in KEYS:
        counts = np.bincount(np.asarray(draw(key)).astype(np.int64), minlength=len(wanted))
        assert len(counts) == len(wanted)
        assert stats.chisquare(counts, wanted * counts.sum()).pvalue > LEAST


def test_moments_of_vectors() -> None:
    mean, cov = np.array([1.0, -2.0]), np.array([[2.0, 0.6], [0.6, 0.5]])
    x = random.multivariate_normal(KEYS[0], mean, cov, (MANY,))
    np.testing.assert_allclose(x.mean(axis=0), mean, atol=4 * np.sqrt(2.0 / MANY))
    np.testing.assert_allclose(np.cov(x.T), cov, atol=0.1)


def test_neighbours_have_nothing_in_common() -> None:
    """Numbers of one key, of keys that were split, and of steps that were folded in."""
    key = KEYS[0]
    x = random.normal(key, (MANY,))
    others = [np.roll(x, 1), *(random.normal(each, (MANY,)) for each in random.split(key)),
              random.normal(random.fold_in(key, 1), (MANY,)), random.normal(random.key(5), (MANY,))]
    for other in others:
        assert stats.pearsonr(x, other).pvalue > LEAST


def test_ends() -> None:
    """0 comes about and 1 does not; a normal number is never infinite."""
    u = random.uniform(KEYS[0], (2**20,), np.float32)
    assert 0 <= u.min() < 1e-5
    assert 1 - 1e-5 < u.max() < 1
    assert np.all(np.isfinite(random.normal(KEYS[0], (2**20,), np.float32)))
    assert np.all(np.isfinite(random.truncated_normal(KEYS[0], -np.inf, np.inf, (1000,))))
