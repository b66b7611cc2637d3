"""Calls of `transformer.random` and of `jax.random` alike, and what JAX gave for them.

    python -m tests.random_calls          writes random_values.json anew, by the JAX that is installed

Integers are compared as they are; floating numbers are written by `float.hex`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).parent / "random_values.json"
SEEDS = 0, 1, 42, -1, -5, 2**31, 2**63 - 1, -2**63, 123456789012345
F32, F64 = np.float32, np.float64
P = np.array([0.1, 0.2, 0.3, 0.4])
COV = np.array([[2.0, 0.5], [0.5, 1.0]])
Call = Callable[[Any, Any], Any]



def of_seed(seed: int) -> Call:
    return lambda R, key: R.PRNGKey(seed)


def of_key(name: str, *args: Any) -> Call:
    return lambda R, key: getattr(R, name)(key, *args)


# Equal to the bit.
EXACT: dict[str, Call] = {
    **{f"key {seed}": of_seed(seed) for seed in SEEDS},
    **{f"split {num}": of_key("split", num) for num in (2, 3, (2, 2))},
    **{f"fold_in {n}": of_key("fold_in", n) for n in (0, 7, 2**32 - 1)},
    **{f"bits {size}": of_key("bits", (2, 3), np.dtype(f"u{size}")) for size in (1, 2, 4, 8)},
    "bits": lambda R, key: R.bits(key, (), np.uint32),
    "uniform f32": lambda R, key: R.uniform(key, (9,), F32),
    "uniform f64": lambda R, key: R.uniform(key, (3, 3), F64),
    "uniform between": lambda R, key: R.uniform(key, (9,), F32, -3.0, 7.7),
    "uniform": lambda R, key: R.uniform(key),
    "randint": lambda R, key: R.randint(key, (9,), 0, 10),
    "randint i32": lambda R, key: R.randint(key, (2, 3), -5, 100, np.int32),
    "randint of one": lambda R, key: R.randint(key, (), 3, 3),
    "randint u8": lambda R, key: R.randint(key, (9,), 0, 256, np.uint8),
    "randint wide": lambda R, key: R.randint(key, (5,), np.int64(-2**63), np.int64(2**63 - 1)),
    "randint whole i32": lambda R, key: R.randint(key, (5,), np.int64(-2**31), np.int64(2**31), np.int32),
    "randint arrays": lambda R, key: R.randint(key, (2, 3), np.array([0, -3, 5]), np.array([[10], [100]])),
    "bernoulli": lambda R, key: R.bernoulli(key, 0.3, (20,)),
    "bernoulli arrays": lambda R, key: R.bernoulli(key, P.astype(F32)[:, None], (4, 5)),
    "permutation": lambda R, key: R.permutation(key, 10),
    "permutation twice": lambda R, key: R.permutation(key, 1700)[:20],
    "permutation of rows": lambda R, key: R.permutation(key, np.arange(12).reshape(3, 4), 1),
    "permutation apart": lambda R, key: R.permutation(key, np.arange(12).reshape(3, 4), 1, independent=True),
    "choice": lambda R, key: R.choice(key, np.arange(10) * 3, (6,)),
    "choice once": lambda R, key: R.choice(key, 10, (2, 3), replace=False),
    "choice with p": lambda R, key: R.choice(key, 4, (10,), p=P),
    "choice once with p": lambda R, key: R.choice(key, 4, (3,), replace=False, p=P),
    "categorical": lambda R, key: R.categorical(key, np.log(P), shape=(10,)),
    "rademacher": lambda R, key: R.rademacher(key, (3, 4)),
    "rademacher f32": lambda R, key: R.rademacher(key, (), F32),
    "geometric": lambda R, key: R.geometric(key, np.array([0.1, 0.7]), (5, 2)),
    "poisson": lambda R, key: R.poisson(key, 3.5, (30,)),
    "poisson of many": lambda R, key: R.poisson(key, np.array([0.0, 0.2, 9.9, 10.0, 55.5, 1e4]), (4, 6)),
    "poisson i32": lambda R, key: R.poisson(key, 20.0, dtype=np.int32),
    "binomial": lambda R, key: R.binomial(key, np.array([3.0, 10, 40, 1000, -1, np.nan]), 0.3, (4, 6)),
    "binomial without end": lambda R, key: R.binomial(key, np.array([np.inf, 3.0]), 0.3),
    "binomial f32": lambda R, key: R.binomial(key, 20, F32(0.8), (9,), F32),
    "multinomial": lambda R, key: R.multinomial(key, np.array([10, 50]), np.array([P, [1.0, 0, 0, 0]])),
    "multinomial of a shape": lambda R, key: R.multinomial(key, 10, P, shape=(2, 3, 4)),
    "key_data": lambda R, key: R.key_data(R.clone(R.wrap_key_data(key))),
    "categorical along 0": lambda R, key: R.categorical(key, np.log(P)[:, None] * np.ones((4, 3)), axis=0),
}

# Equal to 2 units in the last place.
NORMAL: dict[str, Call] = {
    "normal f32": lambda R, key: R.normal(key, (40,), F32),
    "normal f64": lambda R, key: R.normal(key, (4, 10), F64),
    "normal": lambda R, key: R.normal(key),
}

# Equal to what logarithms and powers differ by.
NEAR: dict[str, Call] = {
    "uniform between f64": lambda R, key: R.uniform(key, (9,), F64, -3.0, 7.7),
    "exponential": lambda R, key: R.exponential(key, (9,)),
    "exponential f32": lambda R, key: R.exponential(key, (9,), F32),
    "laplace": lambda R, key: R.laplace(key, (9,)),
    "gumbel": lambda R, key: R.gumbel(key, (9,)),
    "truncated_normal": lambda R, key: R.truncated_normal(key, -1.0, 2.0, (9,)),
    "gamma": lambda R, key: R.gamma(key, np.array([0.1, 0.5, 1.0, 3.0, 30.0]), (4, 5)),
    "gamma f32": lambda R, key: R.gamma(key, 2.5, (9,), F32),
    "loggamma": lambda R, key: R.loggamma(key, 0.01, (9,)),
    "beta": lambda R, key: R.beta(key, 2.0, np.array([0.5, 3.0])),
    "dirichlet": lambda R, key: R.dirichlet(key, np.array([0.5, 2.0, 3.0]), (2,)),
    "logistic": lambda R, key: R.logistic(key, (9,)),
    "logistic f32": lambda R, key: R.logistic(key, (9,), F32),
    "cauchy": lambda R, key: R.cauchy(key, (9,)),
    "lognormal": lambda R, key: R.lognormal(key, np.array([0.5, 2.0]), (4, 2)),
    "pareto": lambda R, key: R.pareto(key, 3.0, (9,)),
    "rayleigh": lambda R, key: R.rayleigh(key, np.array([0.5, 2.0])),
    "maxwell": lambda R, key: R.maxwell(key, (2, 3)),
    "weibull_min": lambda R, key: R.weibull_min(key, 2.0, 1.5, (9,)),
    "triangular": lambda R, key: R.triangular(key, -1.0, 0.5, np.array([1.0, 2.0]), (4, 2)),
    "chisquare": lambda R, key: R.chisquare(key, np.array([1.0, 5.0]), (3, 2)),
    "chisquare f32": lambda R, key: R.chisquare(key, 3.0, (9,), F32),
    "t": lambda R, key: R.t(key, 4.0, (9,)),
    "wald": lambda R, key: R.wald(key, np.array([0.5, 2.0]), (4, 2)),
    "generalized_normal": lambda R, key: R.generalized_normal(key, 1.5, (9,)),
    "f": lambda R, key: R.f(key, np.array([1.0, 5.0]), np.array([4.0, 3.0])),
    "double_sided_maxwell": lambda R, key: R.double_sided_maxwell(key, 1.0, 2.0, (9,)),
    "double_sided_maxwell of arrays": lambda R, key: R.double_sided_maxwell(key, np.array([1.0, 2.0]), 3.0),
    "ball": lambda R, key: R.ball(key, 3, 2, (4,)),
    "orthogonal": lambda R, key: R.orthogonal(key, 3, (2,)),
    "orthogonal columns": lambda R, key: R.orthogonal(key, 4, m=2),
    "orthogonal rows": lambda R, key: R.orthogonal(key, 2, m=4),
    "multivariate_normal": lambda R, key: R.multivariate_normal(key, np.array([1.0, 2.0]), COV, (3,)),
}
CALLS = {**EXACT, **NORMAL, **NEAR}


def written(array: Any) -> Any:
    """An array as text: its dtype, its shape, its elements."""
    array = np.asarray(array)
    items = [item.hex() if isinstance(item, float) else item for item in array.ravel().tolist()]
    return [array.dtype.name, list(array.shape), items]


def recorded(text: Any) -> np.ndarray:
    dtype, shape, items = text
    return np.array([float.fromhex(item) if isinstance(item, str) else item for item in items], dtype).reshape(shape)


def main() -> None:
    import jax
    jax.config.update("jax_enable_x64", True)
    key = jax.random.PRNGKey(42)
    lines = [f"{json.dumps(name)}: {json.dumps(written(call(jax.random, key)))}" for name, call in CALLS.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
