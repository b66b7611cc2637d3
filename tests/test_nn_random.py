"""`nn.dropout` and `nn.initializers`: what rests on keys of `transformer.random`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from transformer import check_grads, grad, nn, vmap

random = pytest.importorskip("transformer.random")


def test_dropout() -> None:
    x, key = np.ones(4000, np.float32), random.key(0)
    found = nn.dropout(key, 0.25, x)
    assert found.dtype == np.float32 and set(found.tolist()) == {0.0, np.float32(1 / 0.75)}
    assert abs(np.mean(found) - 1) < 0.05
    np.testing.assert_array_equal(nn.dropout(key, 0.25, x), found)
    assert nn.dropout(key, 0.0, x) is x and nn.dropout(None, 0.5, x) is x


def test_dropout_differentiated_and_batched() -> None:
    x, key = np.random.default_rng(0).normal(size=(3, 4)), random.key(1)

    def loss(x: Any, key: Any) -> Any:
        return np.sum(nn.dropout(key, 0.5, x) ** 2)

    check_grads(lambda x: loss(x, key), (x,), order=1)
    np.testing.assert_allclose(grad(loss)(x, key), 4 * nn.dropout(key, 0.5, x))
    keys = random.split(key, 2)
    found = vmap(loss, in_axes=(None, 0))(x, keys)
    np.testing.assert_allclose(found, [loss(x, each) for each in keys])


def test_wrong_rate() -> None:
    with pytest.raises(ValueError, match="the rate is 1, expected 0 <= rate"):
        nn.dropout(random.key(0), 1, np.ones(3))


SCALED = {"glorot_uniform": 2 / (300 + 200), "glorot_normal": 2 / (300 + 200), "lecun_uniform": 1 / 300,
          "lecun_normal": 1 / 300, "he_uniform": 2 / 300, "he_normal": 2 / 300}


@pytest.mark.parametrize("name", SCALED)
def test_variance(name: str) -> None:
    """Of a kernel of 3 places, 100 numbers in each: 300 are summed up, 200 are given by 3 places of 200 / 3 numbers."""
    initial = getattr(nn.initializers, name)()
    weights = initial(random.key(0), (300, 200), np.float32)
    assert weights.dtype == np.float32
    assert abs(np.var(weights) / SCALED[name] - 1) < 0.03 and abs(np.mean(weights)) < 0.001
    bound = np.sqrt(SCALED[name]) * (np.sqrt(3) if "uniform" in name else 2 / nn.initializers.TRUNCATED)
    assert 0.99 * bound < np.max(np.abs(weights)) <= 1.0001 * bound
    kernel = initial(random.key(0), (3, 1, 100, 200))
    fans = {"glorot": (300, 600), "lecun": (300,), "he": (300,)}[name.partition("_")[0]]
    expected = (2 if "lecun" not in name else 1) / (sum(fans) if len(fans) == 2 else fans[0])
    assert kernel.dtype == np.float64 and abs(np.var(kernel) / expected - 1) < 0.03


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 2, 3)])
def test_orthogonal(shape: tuple[int, ...]) -> None:
    weights = nn.initializers.orthogonal(2.0)(random.key(0), shape).reshape(-1, shape[-1])
    product = weights.T @ weights if weights.shape[0] >= weights.shape[1] else weights @ weights.T
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-12)


def test_simple_ones() -> None:
    key = random.key(0)
    assert nn.initializers.zeros(key, (2,)).tolist() == [0, 0] and nn.initializers.ones(key, (2,)).tolist() == [1, 1]
    assert nn.initializers.constant(3.0)(key, (2,), np.float32).dtype == np.float32
    assert abs(np.std(nn.initializers.normal(0.1)(key, (5000,))) - 0.1) < 0.005
    assert np.max(np.abs(nn.initializers.truncated_normal(0.1)(key, (5000,)))) <= 0.2
    weights = nn.initializers.uniform(0.5)(key, (5000,))
    assert 0 <= np.min(weights) and np.max(weights) < 0.5


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="not have one axis for the inputs of"):
        nn.initializers.he_normal()(random.key(0), (3,))
    with pytest.raises(ValueError, match="the mode is 'fan', expected 'fan_in', 'fan_out' or"):
        nn.initializers.variance_scaling(1.0, "fan", "normal")(random.key(0), (3, 2))
    with pytest.raises(ValueError, match="the distribution is 'cauchy'"):
        nn.initializers.variance_scaling(1.0, "fan_in", "cauchy")(random.key(0), (3, 2))
