"""float16 and bfloat16: kept in 16 bits, computed in float32, rounded once; by themselves and in programs."""

from __future__ import annotations

import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.special

import transformer.numpy as tnp
from transformer import (
    Array,
    NotSupported,
    at,
    check_grads,
    config,
    device_put,
    grad,
    hessian,
    jit,
    jvp,
    pmap,
    pmean,
    psum,
    value_and_grad,
    vmap,
)
from transformer.core.halves import BFLOAT16, promoted
from transformer.lower.vecmath import rounded
from transformer.ops.rounded import to_bfloat16, to_float16

KINDS = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
NAMES = [dtype.name for dtype in KINDS]
BOTH = pytest.mark.parametrize("dtype", KINDS, ids=NAMES)
RNG = np.random.default_rng(7)


def bits(x: Any) -> Any:
    """Whole numbers in the order of numbers of 16 bits: neighbours differ by one."""
    found = np.asarray(x).view(np.int16).astype(np.int32)
    return np.where(found < 0, -32768 - found, found)


def within_an_ulp(found: Any, wanted: Any) -> None:
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    assert np.max(np.abs(bits(found) - bits(wanted)), initial=0) <= 1


def rounded_from(found: Any, wanted: Any, dtype: Any, ulps: int = 1) -> None:
    """Whether a result is what was computed in float32, rounded."""
    found = np.asarray(found)
    assert found.dtype == dtype
    assert np.max(np.abs(bits(found) - bits(np.asarray(wanted, np.float32).astype(dtype))), initial=0) <= ulps


# -- arrays ------------------------------------------------------------------------------------------


ELEMENTWISE = ("exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "sqrt", "square", "arctan", "arcsinh",
               "floor", "sign", "negative", "abs", "reciprocal", "cbrt", "exp2", "log2")
BINARY = "add", "subtract", "multiply", "divide", "maximum", "arctan2", "hypot", "logaddexp", "power"
OFF_IN_JAX = "expm1", "exp2", "log2", "hypot"               # by two or three places of the last digit


@BOTH
def test_values_are_those_of_jax(dtype: Any) -> None:
    jnp = pytest.importorskip("jax.numpy")
    x, y = np.abs(RNG.normal(size=200)).astype(dtype) + dtype.type(0.1), np.abs(RNG.normal(size=200)).astype(dtype)
    for names, args in ((ELEMENTWISE, (x,)), (BINARY, (x, y))):
        for name in names:
            found, exact = getattr(tnp, name)(*args), getattr(np, name)(*(each.astype(float) for each in args))
            within_an_ulp(found, exact.astype(np.float32).astype(dtype))
            if name not in OFF_IN_JAX:
                within_an_ulp(found, getattr(jnp, name)(*args))
    wide = RNG.uniform(size=(50, 80)).astype(dtype)
    for name in ("sum", "mean", "max", "min"):
        for axis in (None, 0, 1):
            within_an_ulp(getattr(tnp, name)(wide, axis=axis), getattr(jnp, name)(wide, axis=axis))
    within_an_ulp(tnp.matmul(wide, wide.T), jnp.matmul(wide, wide.T, preferred_element_type=np.float32).astype(dtype))


@BOTH
def test_sums_are_rounded_once(dtype: Any) -> None:
    x = device_put(np.full(3000, 0.1, dtype))
    wanted = np.sum(np.asarray(x).astype(np.float64))
    for found in (tnp.sum(x), np.sum(x), x.sum(), tnp.add.reduce(x), jit(lambda x: np.sum(x))(x),
                  vmap(np.sum)(x[None])[0], tnp.dot(x, tnp.ones(3000, dtype)), tnp.cumsum(x)[-1]):
        assert found.dtype == dtype and float(found) == float(dtype.type(wanted))
    assert tnp.sum(x, dtype=np.float32).dtype == np.float32 and tnp.mean(x).dtype == dtype


def test_dtypes() -> None:
    half, brain = (tnp.ones(3, dtype) for dtype in KINDS)
    for x, dtype in zip((half, brain), KINDS):
        for found in (x + 2.0, 2 * x, x * True, x / tnp.ones(3, "int8"), np.where(x > 0, x, 0.5), tnp.clip(x, 0.0, 0.5),
                      x[1], -x, x.at[0].set(3.0), tnp.concatenate([x, x]), tnp.take(x, tnp.array([0, 1])),
                      tnp.linspace(0, 1, 3, dtype=dtype), tnp.full(2, 0.1, dtype), tnp.linalg.norm(x), tnp.sort(x),
                      tnp.zeros_like(x), tnp.asarray([0.1, 0.2], dtype), x.astype(dtype), tnp.einsum("i,i", x, x)):
            assert type(found) is Array and found.dtype == dtype
        for found, wanted in ((x + np.float32(1), "float32"), (x.astype("float32"), "float32"), (x + 1j, "complex64"),
                              (x + tnp.arange(3), "float64"), (x > 0, "bool"), (tnp.argmax(x), "int64"),
                              (x + tnp.ones(3, "int16"), "float32"), (tnp.fft.fft(x), "complex64")):
            assert found.dtype == wanted
        assert tnp.result_type(x, 1.0) == dtype and tnp.finfo(x.dtype).bits == 16
    assert (half + brain).dtype == tnp.promote_types(tnp.float16, tnp.bfloat16) == np.float32
    assert promoted([KINDS[1], np.dtype(np.int16)]) == np.float32 and BFLOAT16 == KINDS[1] and KINDS[0] != BFLOAT16


@BOTH
def test_factorisations_are_refused_as_by_numpy(dtype: Any) -> None:
    for run in (tnp.linalg.inv, jit(np.linalg.inv), grad(lambda x: np.sum(np.linalg.inv(x)))):
        with pytest.raises((TypeError, NotSupported), match="is unsupported in linalg"):
            run(tnp.eye(2, dtype=dtype))


@BOTH
def test_derivatives_are_checked(dtype: Any) -> None:
    check_grads(lambda x: np.sum(np.sin(x) * x), (np.ones(2, dtype),))


@BOTH
def test_neighbours_are_those_of_the_dtype(dtype: Any) -> None:
    x = tnp.ones(1, dtype)
    assert float(tnp.nextafter(x, x * 2)[0]) == 1 + float(tnp.finfo(dtype).eps)


# -- programs ----------------------------------------------------------------------------------------


def loss(w, x, y):
    p = np.tanh(x @ w) * 0.5
    p -= np.mean(p)
    return np.sum((p - y) ** 2) + w[0]


def sums(x):
    total = x[0] * 0
    for k in range(x.shape[0]):
        if x[k] > 0:
            total = total + x[k] * x[k]
    return total


def attention(q, k):
    s = np.where(np.tri(3) > 0, q @ k.T, -1e30)
    p = np.exp(s - np.max(s, axis=1, keepdims=True))
    return np.sum((p / np.sum(p, axis=1, keepdims=True)) @ k)


W, X, Y = RNG.normal(size=4), RNG.normal(size=(3, 4)), RNG.normal(size=3)
MADE = [grad(loss, argnums=(0, 1)), jit(value_and_grad(loss)), vmap(loss, in_axes=(None, 0, None)),
        jit(vmap(grad(loss), in_axes=(None, 0, None)))]


@BOTH
@pytest.mark.parametrize("run", MADE, ids=map(repr, MADE))
def test_programs(run: Any, dtype: Any) -> None:
    x = np.stack([X, X]) if "vmap" in repr(run) else X
    given = [each.astype(dtype) for each in (W, x, Y)]
    found, wanted = run(*given), run(*(each.astype(np.float32) for each in given))
    for one, other in zip(found if isinstance(found, tuple) else [found],
                          wanted if isinstance(wanted, tuple) else [wanted]):
        rounded_from(one, other, dtype)
    first = run(*map(device_put, given))
    assert type(first[0] if isinstance(first, tuple) else first) is Array


@BOTH
@pytest.mark.parametrize("examples", [2, 4])
def test_nothing_is_rounded_between_phases(examples: int, dtype: Any) -> None:
    """Sums over devices are those of float32, too: nothing overflows that float32 holds."""
    before, config.cpu_devices = config.cpu_devices, 2
    try:
        x = np.full(examples, 300.0, dtype)
        found = pmap(lambda x: (np.sqrt(psum(x * x, "i")), pmean(x * 200, "i"), x), "i")(x)
    finally:
        config.cpu_devices = before
    for each, wanted in zip(found, (300 * examples**0.5, 60_000.0, 300.0)):
        rounded_from(each, np.full(examples, wanted), dtype)


@BOTH
def test_more_programs(dtype: Any) -> None:
    x, q = W.astype(dtype), X.astype(dtype)
    wide, wide_q = x.astype(np.float32), q.astype(np.float32)
    rounded_from(jit(grad(sums))(x), grad(sums)(wide), dtype)
    rounded_from(grad(attention)(q, q), grad(attention)(wide_q, wide_q), dtype, ulps=3)
    rounded_from(hessian(sums)(x), hessian(sums)(wide), dtype)
    rounded_from(jvp(sums, (x,), (x,))[1], jvp(sums, (wide,), (wide,))[1], dtype)
    rounded_from(pmap(lambda x: np.sin(x) * 2)(x[:1]), np.sin(wide[:1]) * 2, dtype)
    rounded_from(jit(lambda x: at(x)[1].add(0.5) * x.dtype.type(2))(x), at(wide)[1].add(0.5) * 2, dtype)
    scale = np.full(4, 0.1, dtype)
    rounded_from(jit(lambda x: x * scale)(x), wide * scale.astype(np.float32), dtype)
    rounded_from(jit(grad(lambda a: a * a))(dtype.type(0.3)), 2 * np.float32(dtype.type(0.3)), dtype)
    assert jit(lambda x: x.dtype.kind == "f" and float(tnp.finfo(x.dtype).eps))(x) == float(tnp.finfo(dtype).eps)


def converts(x):
    y = np.linspace(0, 1, 4, dtype=DTYPE[0]) * x.astype(DTYPE[0])
    return y, np.sum(y.astype(np.float32)), np.asarray([0.1, 0.7], dtype=DTYPE[0]), np.full(2, 0.1, DTYPE[0]) * 3


DTYPE: list[Any] = [None]


@BOTH
def test_what_a_program_converts_is_rounded(dtype: Any) -> None:
    DTYPE[0] = dtype
    with np.errstate(over="ignore"):
        for x in (W, np.arange(4)):
            third = np.array([0, 1, 2, 3]) / 3
            y = third.astype(dtype).astype(np.float32) * x.astype(dtype).astype(np.float32)
            for found in (jit(converts)(x), [each[0] for each in vmap(converts)(x[None])]):
                rounded_from(found[0], y, dtype)
                np.testing.assert_allclose(found[1], np.sum(y), rtol=1e-5)
                np.testing.assert_array_equal(found[2], np.asarray([0.1, 0.7], dtype))
                rounded_from(found[3], np.full(2, 0.1, dtype).astype(np.float32) * 3, dtype)
    assert grad(lambda x: np.sum(x.astype(dtype) ** 2))(np.ones(3)).dtype == float


@BOTH
def test_numbers_come_back(dtype: Any) -> None:
    """Also where a total is nothing else."""
    def program(x: Any) -> Any:
        total = 0.0
        total += x
        return x, total, x * 1, x.astype(np.float32)

    for x in (dtype.type(3), np.array(3, dtype)):
        found = jit(program)(x)
        assert [item.dtype for item in found] == [dtype] * 3 + [np.float32] and found == (3, 3, 3, 3)
        value, aux = jit(value_and_grad(lambda x: (x.astype(np.float32), x), has_aux=True))(x)[0]
        assert (value.dtype, aux.dtype) == (np.float32, dtype)


@BOTH
def test_constant_derivatives_are_of_the_dtype(dtype: Any) -> None:
    found = grad(lambda x: x * 1)(dtype.type(3))
    assert found == 1 and found.dtype == dtype


def writes(x):
    x[1] = x[0] * 3
    x[2:] += 1
    return x


@BOTH
def test_writes_come_back(dtype: Any) -> None:
    x = W.astype(dtype)
    wanted = writes(x.astype(np.float32))
    assert jit(writes)(x) is x
    rounded_from(x, wanted, dtype)


def test_functions_of_scipy() -> None:
    """They know no 16 bits: float16 is float64 to them, from SciPy 1.18 on float32; bfloat16 stays what it is."""
    half, brain = (W.astype(dtype) for dtype in KINDS)
    wanted = scipy.special.expit(half)
    for run in (scipy.special.expit, jit(lambda x: scipy.special.expit(x)), vmap(lambda x: scipy.special.expit(x))):
        found = np.asarray(run(device_put(half)))
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=4 * np.finfo(wanted.dtype).eps)
        rounded_from(run(device_put(brain)), scipy.special.expit(brain.astype(np.float32)), KINDS[1])
    assert grad(lambda x: np.sum(scipy.special.expit(x)))(half).dtype == np.float16


def test_two_kinds_and_small_integers() -> None:
    half, brain = (W.astype(dtype) for dtype in KINDS)
    assert jit(lambda x, y: x * y)(half, brain).dtype == np.float32
    small = np.arange(4, dtype=np.int8)
    rounded_from(jit(np.sin)(small), np.sin(small.astype(np.float32)), np.float16)


@BOTH
def test_neighbours_are_not_compiled(dtype: Any) -> None:
    def next_one(x):
        return np.nextafter(x * 2, x)
    x = np.ones(2, dtype)
    with pytest.raises(NotSupported, match="nextafter of .* cannot be compiled") as raised:
        jit(next_one)(x)
    assert "np.nextafter(x * 2, x)" in str(raised.value)
    found = vmap(next_one)(x), jit(next_one, fallback=True)(x)
    for each in found:
        assert each.dtype == dtype and np.all(each == np.nextafter(np.full(2, 2, dtype), x))


def test_what_is_generated_says_so() -> None:
    gradient = grad(loss)
    gradient(*(each.astype(KINDS[1]) for each in (W, X, Y)))
    lines = [line.strip() for line in gradient.source.splitlines()]
    assert "import ml_dtypes" in lines and "x = x.astype(np.float32)" in lines
    assert lines[-1] == "return dw" and lines[-2].endswith(".astype(ml_dtypes.bfloat16)")


# -- rounding ----------------------------------------------------------------------------------------


def all_and_ties(dtype: Any) -> Any:
    """Every number of 16 bits as a float32, what is halfway to the next, and the neighbours of that."""
    shift = 13 if dtype == np.float16 else 16
    every = np.arange(65536, dtype=np.uint16).view(dtype).astype(np.float32)
    halfway = np.arange(0, 2**32, 2**20, dtype=np.uint64).astype(np.uint32) | np.uint32(1 << (shift - 1))
    halfway = halfway.view(np.float32)
    found = np.concatenate([every, halfway, np.nextafter(halfway, np.float32(0)), halfway * np.float32(1.0000001),
                            np.float32([65519.996, 65520.0, 5.96e-8, 2.98e-8, 2.99e-8, 6.1e-5, 9.2e-41, 4.6e-41])])
    return found[~np.isnan(found)]


@BOTH
@pytest.mark.parametrize("suffix", ["f32", "f64"])
def test_compiled_rounding(dtype: Any, suffix: str) -> None:
    name = "to_float16" if dtype == np.float16 else "to_bfloat16"
    function, reference = getattr(rounded, f"{name}_{suffix}"), to_float16 if dtype == np.float16 else to_bfloat16
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        x = all_and_ties(dtype)[::37].astype(np.float32 if suffix == "f32" else np.float64)
        found = np.array([function(each) for each in x])
        wanted = reference(x)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


def in_their_own_dtype(x):
    return x.astype(np.float16), np.array(x, dtype=np.float16)


def test_what_is_converted_to_its_own_dtype_is_a_copy() -> None:
    x = np.array([1.0, 2.0], np.float16)
    for function in (jit(in_their_own_dtype), in_their_own_dtype):
        assert not any(np.shares_memory(x, found) for found in function(x))
