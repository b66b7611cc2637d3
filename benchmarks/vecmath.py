"""Nanoseconds per element of vector mathematics, NumPy (scipy for special functions) and JAX, on one core.

Everything writes into arrays that are there already, but for JAX, which gives new ones.
"""

from __future__ import annotations

import importlib
import os
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.special

from benchmarks.timing import ABSENT, Call, Samples, seconds, table
from transformer.lower.vecmath import TABLE

CALLS = 20                      # in each round
SIZES = 10_000, 100_000, 1_000_000
OF_JAX = {"expit": "jax.nn.sigmoid", "erf": "jax.scipy.special.erf", "erfc": "jax.scipy.special.erfc",
          "gammaln": "jax.scipy.special.gammaln"}
POSITIVE = {"log": (0, 10), "log2": (0, 10), "log10": (0, 10), "log1p": (-1, 10), "power": (0, 4),
            "arccosh": (1, 10), "gammaln": (0, 10)}
UNIT = "arcsin", "arccos", "arctanh"


def run(rounds: int) -> None:
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    os.environ.setdefault("JAX_ENABLE_X64", "1")
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    cases = importlib.import_module("vecmath_cases")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    header = ["ns per element, median and minimum", "transformer", "NumPy", "JAX"]
    for dtype in TABLE["exp"]:
        for size in SIZES:
            rows = [[name, *cells(cases, name, dtype, size, rounds)] for name in TABLE]
            table(f"{dtype.name}, {size:,} elements", header, rows)


def cells(cases: Any, name: str, dtype: np.dtype, size: int, rounds: int) -> list[str]:
    operands = drawn(name, dtype, size, 1 + (name in cases.OF_TWO))
    calls = contenders(cases, name, operands)
    with np.errstate(all="ignore"):
        samples = sampled(calls, CALLS * rounds)
    return [shown(samples, who, size) for who in ("transformer", "NumPy", "JAX")]


def sampled(calls: dict[str, Call], count: int) -> Samples:
    """Seconds of single calls in turn: shorter than the slices in which a busy machine is shared."""
    samples: Samples = {name: [] for name in calls}
    for _ in range(count):
        for name, call in calls.items():
            samples[name].append(seconds(call, 1))
    return samples


def shown(samples: Samples, who: str, size: int) -> str:
    if who not in samples:
        return ABSENT
    return f"{statistics.median(samples[who]) / size * 1e9:.2f} {min(samples[who]) / size * 1e9:.2f}"


def drawn(name: str, dtype: np.dtype, size: int, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    least, largest = (-1, 1) if name in UNIT else POSITIVE.get(name, (-10, 10))
    return [rng.uniform(least, largest, size).astype(dtype) for _ in range(count)]


def contenders(cases: Any, name: str, operands: list[np.ndarray]) -> dict[str, Call]:
    """Calls that compute the same, which is checked."""
    compiled, usual = cases.kernel(name, operands[0].dtype), getattr(np, name, None) or getattr(scipy.special, name)
    ours, theirs = np.empty_like(operands[0]), np.empty_like(operands[0])
    calls: dict[str, Call] = {"transformer": lambda: compiled(*operands, ours),
                              "NumPy": lambda: usual(*operands, out=theirs)}
    calls["transformer"]()
    calls["NumPy"]()
    np.testing.assert_allclose(ours, theirs, rtol=1e-5 if ours.dtype == np.float32 else 1e-12)
    jitted = of_jax(name)
    if jitted is not None:
        jax = importlib.import_module("jax")
        given = [jax.device_put(x) for x in operands]
        calls["JAX"] = lambda: jitted(*given).block_until_ready()
        np.testing.assert_allclose(ours, calls["JAX"](), rtol=1e-4 if ours.dtype == np.float32 else 1e-10, atol=1e-7)
    return calls


def of_jax(name: str) -> Callable[..., Any] | None:
    """JAX's function, compiled; None where JAX is not installed."""
    try:
        jax = importlib.import_module("jax")
    except ImportError:
        return None
    module, _, attribute = OF_JAX.get(name, f"jax.numpy.{name}").rpartition(".")
    return jax.jit(getattr(importlib.import_module(module), attribute))
