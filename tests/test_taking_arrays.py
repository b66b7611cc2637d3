"""Functions of this package that are called plainly: what comes from a device stays on it, with NumPy's numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from transformer import (
    Array,
    at,
    check_grads,
    config,
    device_put,
    devices,
    grad,
    jvp,
    lax,
    linearize,
    nn,
    random,
    tree,
    vjp,
    vmap,
)

KEY, X, V = random.key(3), np.random.default_rng(1).normal(size=(4, 3)), np.array([0.5, 2.0, 3.0])
IMAGES = np.arange(32.0).reshape(1, 4, 4, 2)
LABELS = np.array([0, 2, 1, 0])


@pytest.fixture(autouse=True)
def several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "cpu_devices", 2)


CASES: dict[str, Callable[..., Any]] = {
    "key": lambda p: random.key(p["n"]),
    "split": lambda p: random.split(p["key"], 3),
    "fold_in": lambda p: random.fold_in(p["key"], 7),
    "bits": lambda p: random.bits(p["key"], (2,)),
    "normal": lambda p: random.normal(p["key"], (2, 2), np.float32),
    "uniform": lambda p: random.uniform(KEY, (3,), minval=p["v"], maxval=4.0),
    "permutation": lambda p: random.permutation(p["key"], p["x"]),
    "gamma": lambda p: random.gamma(KEY, p["v"]),
    "categorical": lambda p: random.categorical(p["key"], p["x"]),
    "dropout": lambda p: nn.dropout(p["key"], 0.5, p["x"]),
    "orthogonal": lambda p: nn.initializers.orthogonal()(p["key"], (3, 3)),
    "softmax": lambda p: nn.softmax(p["x"]),
    "log_softmax": lambda p: nn.log_softmax(p["x"]),
    "logsumexp": lambda p: nn.logsumexp(p["x"], axis=0),
    "conv2d": lambda p: nn.conv2d(p["images"], np.ones((2, 2, 2, 3))),
    "attention": lambda p: nn.attention(p["x"], p["x"], p["x"], causal=True),
    "cross_entropy": lambda p: nn.cross_entropy(p["x"], p["labels"]),
    "jvp": lambda p: jvp(lambda x: {"y": np.sin(x)}, (p["x"],), (np.ones((4, 3)),)),
    "vjp": lambda p: vjp(np.sin, p["x"])[1](np.ones((4, 3))),
    "linearize": lambda p: linearize(np.sin, p["x"])[1](p["x"]),
    "vjp in grad": lambda p: grad(lambda x: np.sum(vjp(np.sin, x)[1](x)[0]))(p["x"]),
    "at": lambda p: at(p["x"])[0].mul(2.0),
    "dynamic_update_slice": lambda p: lax.dynamic_update_slice(p["x"], np.zeros((1, 1)), (1, 1)),
    "bits of lax": lambda p: lax.population_count(lax.shift_right_logical(p["labels"], p["labels"])),
    "dtypes of lax": lambda p: lax.bitcast_convert_type(lax.convert_element_type(p["v"], np.float32), np.int32),
    "full_like of lax": lambda p: lax.full_like(p["v"], 2.0),
    "polygamma of lax": lambda p: lax.polygamma(1, p["v"]),
}


@pytest.mark.parametrize("name", CASES)
def test_stays_on_the_device(name: str) -> None:
    given = {"key": KEY, "x": X, "v": V, "n": np.int64(5), "images": IMAGES, "labels": LABELS}
    found, wanted = CASES[name](device_put(given, "cpu:1")), CASES[name](given)
    for one, other in zip(tree.leaves(found), tree.leaves(wanted), strict=True):
        assert type(one) is Array and one.device is devices()[1] and one.dtype == other.dtype
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-14)


def test_checks_and_transformations() -> None:
    check_grads(lambda x: np.sum(np.sin(x)), (device_put(V),))
    value, pullback = vjp(np.sin, device_put(V))
    assert type(value) is Array and type(pullback(value)[0]) is Array
    keys = random.split(KEY, 4)
    np.testing.assert_array_equal(vmap(random.split)(keys), [random.split(key) for key in keys])
    np.testing.assert_array_equal(np.asarray(vmap(random.normal)(device_put(keys))), vmap(random.normal)(keys))
    with pytest.raises(ValueError, match="incompatible devices for gamma"):
        random.gamma(device_put(KEY, "cpu:0"), device_put(V, "cpu:1"))


def test_numbers_of_16_bits_are_computed_in_32() -> None:
    x = np.linspace(-300, 300, 5).astype(ml_dtypes.bfloat16)
    found = nn.log_softmax(device_put(x))
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(found), nn.log_softmax(x.astype(np.float32)).astype(x.dtype))
