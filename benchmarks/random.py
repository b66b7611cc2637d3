"""Random numbers: compiled, beside JAX's compiled ones, and as NumPy's own generator draws them."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.timing import ABSENT, Samples, interleave, show, table
from transformer import jit, random

MANY = 1_000_000
Draw = Callable[[Any, Any], Any]
DRAWS: dict[str, Draw] = {
    "normal f32": lambda R, key: R.normal(key, (MANY,), np.float32),
    "normal f64": lambda R, key: R.normal(key, (MANY,), np.float64),
    "uniform f32": lambda R, key: R.uniform(key, (MANY,), np.float32),
    "uniform f64": lambda R, key: R.uniform(key, (MANY,), np.float64),
    "randint i32": lambda R, key: R.randint(key, (MANY,), 0, 1000, np.int32),
    "bernoulli": lambda R, key: R.bernoulli(key, 0.3, (MANY,)),
    "permutation": lambda R, key: R.permutation(key, MANY),
    "gamma f32, 10,000": lambda R, key: R.gamma(key, 2.5, (10_000,), np.float32),
    "split into 1,000": lambda R, key: R.split(key, 1000),
}
GENERATOR = np.random.default_rng(0)
OF_NUMPY: dict[str, Callable[[], Any]] = {
    "normal f32": lambda: GENERATOR.standard_normal(MANY, np.float32),
    "normal f64": lambda: GENERATOR.standard_normal(MANY),
    "uniform f32": lambda: GENERATOR.random(MANY, np.float32),
    "uniform f64": lambda: GENERATOR.random(MANY),
    "randint i32": lambda: GENERATOR.integers(0, 1000, MANY, np.int32),
    "permutation": lambda: GENERATOR.permutation(MANY),
    "gamma f32, 10,000": lambda: GENERATOR.standard_gamma(2.5, 10_000, np.float32),
}


def run(rounds: int) -> None:
    os.environ.setdefault("JAX_ENABLE_X64", "1")
    rows = [row(name, interleave(calls(name, draw), rounds)) for name, draw in DRAWS.items()]
    table("Random numbers, 1,000,000 unless said, minima",
          ["", "transformer, compiled", "plain", "JAX, compiled", "NumPy's generator", "x JAX"], rows)


def calls(name: str, draw: Draw) -> dict[str, Callable[[], Any]]:
    key = random.key(0)
    found: dict[str, Callable[[], Any]] = {"compiled": partial(jit(partial(draw, random)), key),
                                           "plain": partial(draw, random, key)}
    theirs = of_jax(draw)
    if theirs is not None:
        check_equal(found["compiled"](), theirs())
        found["JAX"] = theirs
    if name in OF_NUMPY:
        found["NumPy"] = OF_NUMPY[name]
    return found


def of_jax(draw: Draw) -> Callable[[], Any] | None:
    """The same by JAX, or None where it is not installed."""
    try:
        import jax
    except ImportError:
        return None
    compiled = jax.jit(partial(draw, jax.random))
    key = jax.random.PRNGKey(0)
    return lambda: jax.block_until_ready(compiled(key))


def check_equal(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours, np.asarray(theirs), rtol=2e-5)


def row(name: str, samples: Samples) -> list[str]:
    least = {who: min(times) for who, times in samples.items()}
    shown = [show(least[who]) if who in least else ABSENT for who in ("compiled", "plain", "JAX", "NumPy")]
    return [name, *shown, f"{least['JAX'] / least['compiled']:.2f}" if "JAX" in least else ""]
