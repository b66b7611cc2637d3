"""Vector mathematics is right to one or two units in the last place, also at special values, and its loops
are vectorised. `python -m tests.vecmath_errors` measures over millions of points."""

from __future__ import annotations

import re
import zlib
from typing import Any

import numpy as np
import pytest
import vecmath_coefficients
from vecmath_cases import (
    F32,
    F64,
    LIMIT,
    OF_TWO,
    kernel,
    plain_values,
    points,
    special_points,
    values,
    worst,
)

from transformer.lower.vecmath import SUFFIXES, TABLE, source_of
from transformer.ops.powers import Power

NAMES = sorted(TABLE)
DTYPES = pytest.mark.parametrize("dtype", [F32, F64], ids=["f32", "f64"])
COMPILED = ["exp", "log", "sin", "tanh", "erf", "power"]


def generator(name: str, dtype: np.dtype) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32((name + dtype.name).encode()))


@DTYPES
@pytest.mark.parametrize("name", NAMES)
def test_errors_without_fused_products(name: str, dtype: np.dtype) -> None:
    operands = points(name, dtype, generator(name, dtype), 40)
    with np.errstate(all="ignore"):
        error, where = worst(name, plain_values(name, *operands), operands)
    assert error <= LIMIT[name], where


@DTYPES
@pytest.mark.parametrize("name", COMPILED)
def test_errors_compiled(name: str, dtype: np.dtype) -> None:
    operands = points(name, dtype, generator(name, dtype), 300 if dtype == F64 else 20_000)
    error, where = worst(name, values(name, *operands), operands)
    assert error <= LIMIT[name], where


@DTYPES
@pytest.mark.parametrize("name", NAMES)
def test_special_values(name: str, dtype: np.dtype) -> None:
    operands = special_points(name, dtype)
    with np.errstate(all="ignore"):
        error, where = worst(name, plain_values(name, *operands), operands)
    assert error <= LIMIT[name], where
    if name in COMPILED:
        error, where = worst(name, values(name, *operands), operands)
        assert error <= LIMIT[name], where


def has_avx2() -> bool:
    from llvmlite import binding
    return bool(binding.get_host_cpu_features().get("avx2"))


@pytest.mark.skipif(not has_avx2(), reason="the machine has no AVX2")
@DTYPES
@pytest.mark.parametrize("name", COMPILED)
def test_loops_are_vectorised(name: str, dtype: np.dtype) -> None:
    dispatcher = kernel(name, dtype)
    operands = [np.ones(8, dtype) for _ in range(1 + (name in OF_TWO))]
    dispatcher(*operands, np.empty(8, dtype))
    text = next(iter(dispatcher.inspect_asm().values()))
    loop = largest_block(text.split("_ZN7cpython")[0])
    packed = re.findall(r"\tv(?:mul|add|fn?m(?:add|sub)\d+)p[sd]\s.*[yz]mm", loop)
    scalar = re.findall(r"\tv(?:mul|add|fn?m(?:add|sub)\d+)s[sd]\s", loop)
    assert len(packed) >= 8
    assert not scalar
    assert "call" not in loop


def largest_block(text: str) -> str:
    """The basic block with the most packed instructions: the body of the vectorised loop."""
    blocks = re.split(r"^\.?LBB\w+:", text, flags=re.MULTILINE)
    return max(blocks, key=lambda block: len(re.findall(r"\tvf\w+p[sd]\s.*[yz]mm", block)))


def test_source_is_complete_and_minimal() -> None:
    source = source_of(["tan_f32", "exp_f64"])
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    assert abs(namespace["exp_f64"](np.float64(1.0)) - np.e) < 1e-15
    defined = re.findall(r"^def (\w+)", source, flags=re.MULTILINE)
    assert all(len(re.findall(rf"\b{name}\(", source)) > 1 for name in set(defined) - {"tan_f32", "exp_f64"})
    assert "sinh" not in source
    assert source == source_of(["tan_f32", "exp_f64"])


def test_literals_are_in_the_dtype() -> None:
    source = source_of(["log_f32"])
    assert not re.search(r"(?<!np\.float32\()(?<![\w.])\d+\.\d+(?![\d*])", re.sub(r"#.*", "", source))


@DTYPES
@pytest.mark.parametrize("name", NAMES)
def test_results_are_in_the_dtype(name: str, dtype: np.dtype) -> None:
    function = TABLE[name][dtype]
    assert function.__name__ == name + SUFFIXES[dtype]
    ones = [dtype.type(0.5)] * (1 + (name in OF_TWO))
    with np.errstate(all="ignore"):
        assert np.asarray(function(*ones)).dtype == dtype


@pytest.mark.parametrize("code", ["exp_f64", "beyond_square_f64", "sine_f64", "arctan_f32", "erf_f32"])
def test_coefficients_are_those_of_best_approximations(code: str) -> None:
    """But for rounding."""
    fit = next(fit for fit in vecmath_coefficients.FITS if fit.code == code)
    rounding = 2.0 ** (-26 if code.endswith("f32") else -55)
    assert fit.error(fit.coefficients()) <= 1.1 * fit.error(fit.best()) + rounding


@DTYPES
def test_whole_powers_are_products(dtype: np.dtype) -> None:
    x = generator("power", dtype).normal(size=200).astype(dtype)
    for n in (4, 5.0, 6, 7, 8, 11, 12, -2, -5, -8):
        power, exact = Power.simpler(x, n), x.astype(np.longdouble) ** n
        assert power.dtype == dtype
        assert np.max(np.abs(power - exact) / np.spacing(np.abs(exact).astype(dtype))) < abs(n)
    for n in (0, 1, 13, 3.5, -13, 0.3):
        assert Power.simpler(x, n) is None
