"""`transformer.random`: the numbers of JAX, plainly, compiled, for every lane, and their derivatives."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from random_calls import CALLS, EXACT, FILE, NORMAL, recorded

from transformer import TransformError, axis_index, check_grads, config, grad, jit, jvp, pmap, psum, random, vmap
from transformer.parallel.program import Phase

RECORDED = {name: recorded(text) for name, text in json.loads(FILE.read_text()).items()}
KEY = random.key(42)


def units(x: Any, y: Any) -> int:
    """How many floating numbers lie between two arrays, at most."""
    whole = {4: np.int32, 8: np.int64}[np.asarray(x).dtype.itemsize]
    return int(np.max(np.abs(np.asarray(x).reshape(-1).view(whole) - np.asarray(y).reshape(-1).view(whole))))


def close(got: Any, wanted: Any) -> None:
    tolerance = 3e-6 if np.asarray(wanted).dtype == np.float32 else 1e-12
    np.testing.assert_allclose(got, wanted, rtol=tolerance)


# -- the numbers of JAX -------------------------------------------------------------------------


def compare(name: str, got: Any, wanted: np.ndarray) -> None:
    assert np.asarray(got).dtype == wanted.dtype
    assert np.shape(got) == wanted.shape
    if name in EXACT:
        np.testing.assert_array_equal(got, wanted)
    elif name in NORMAL:
        assert units(got, wanted) <= 2
    else:
        close(got, wanted)


@pytest.mark.parametrize("name", CALLS)
def test_numbers_are_those_recorded(name: str) -> None:
    compare(name, CALLS[name](random, KEY), RECORDED[name])


OF_JAX = "key -5", "split 3", "bits 8", "uniform f32", "randint", "normal f32", "normal f64"


@pytest.mark.parametrize("name", OF_JAX)
def test_numbers_are_those_of_jax(name: str) -> None:
    jax = pytest.importorskip("jax")
    if tuple(map(int, jax.__version__.split(".")[:2])) < (0, 5):
        pytest.skip("older versions count in another way")
    with jax.enable_x64(True):
        compare(name, RECORDED[name], np.asarray(CALLS[name](jax.random, jax.random.PRNGKey(42))))


def several(key: Any) -> Any:
    first, second, third = random.split(key, 3)
    return (random.fold_in(first, 7), random.bits(first, (3,)), random.uniform(second, (2, 5), np.float32),
            random.uniform(second, (6,)), random.randint(third, (6,), 0, 10), random.bernoulli(third, 0.3, (6,)),
            random.normal(first, (7,), np.float32), random.normal(first, (7,)))


def test_compiled_numbers_are_the_same() -> None:
    for got, wanted in zip(jit(several)(KEY), several(KEY), strict=True):
        assert got.dtype == wanted.dtype
        if wanted.dtype == np.float64 and wanted.shape == (7,):
            assert units(got, wanted) <= 3                               # products and sums are fused
        else:
            np.testing.assert_array_equal(got, wanted)


def all_normals(u: Any) -> Any:
    from transformer.ops.inverse_error import erf_inv
    return np.float32(1.4142135) * erf_inv(u), 1.4142135623730951 * erf_inv(u.astype(np.float64))


def test_the_inverse_error_function() -> None:
    """Compiled it is that of arrays, to rounding; and both are the inverse."""
    from scipy.special import erf
    u = np.linspace(-1, 1, 10001)[1:-1].astype(np.float32)
    narrow, wide = all_normals(u)
    fast_narrow, fast_wide = jit(all_normals)(u)
    assert units(narrow, fast_narrow) == 0
    assert units(wide, fast_wide) <= 4
    np.testing.assert_allclose(erf(wide / np.sqrt(2)), u, rtol=1e-13)
    np.testing.assert_allclose(erf(narrow.astype(float) / np.sqrt(2)), u, rtol=3e-6)


# -- keys ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [np.int32(-5), np.uint8(200), np.uint64(2**64 - 1), np.int64(-7)])
def test_seeds_of_numpy(seed: Any) -> None:
    words = [int(seed) >> 32 & 0xFFFFFFFF if seed.itemsize == 8 else 0, int(seed) & 0xFFFFFFFF]
    np.testing.assert_array_equal(random.key(seed), np.array(words, np.uint32))


def test_no_two_numbers_are_alike() -> None:
    keys = random.split(KEY, 1000)
    assert len({tuple(key) for key in keys.tolist()}) == 1000
    assert len({tuple(random.fold_in(KEY, step).tolist()) for step in range(100)}) == 100
    assert len(set(random.bits(KEY, (10000,), np.uint64).tolist())) == 10000


def test_nothing_is_changed_by_a_call() -> None:
    key = KEY.copy()
    first = several(key)
    for one, other in zip(first, several(key), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(key, KEY)


# -- lanes --------------------------------------------------------------------------------------


def more(key: Any) -> Any:
    return (*several(key), random.permutation(key, np.arange(5.0)), random.categorical(key, np.zeros((2, 3))),
            random.choice(key, 10, (3,), replace=False), random.truncated_normal(key, -1.0, 1.0, (3,)),
            random.gamma(key, 0.7, (4,)), random.multivariate_normal(key, np.zeros(2), np.eye(2)))


def test_every_lane_has_its_own_key() -> None:
    keys = random.split(KEY, 3)
    together = vmap(more)(keys)
    apart = [more(key) for key in keys]
    for k, lanes in enumerate(together):
        wanted = np.stack([each[k] for each in apart])
        assert lanes.dtype == wanted.dtype
        if wanted.dtype.kind == "f":
            close(lanes, wanted)
        else:
            np.testing.assert_array_equal(lanes, wanted)


def test_one_key_for_all_lanes() -> None:
    x = np.arange(6.0).reshape(2, 3)
    noisy = vmap(lambda row, key: row + random.normal(key, row.shape), in_axes=(0, None))(x, KEY)
    np.testing.assert_array_equal(noisy, x + random.normal(KEY, (3,)))


def test_every_device_has_its_own_key() -> None:
    def step(w: Any, x: Any, key: Any) -> Any:
        own = random.fold_in(key, axis_index("d"))
        return psum(grad(lambda w: np.sum((x @ w + random.normal(own, (x.shape[0],))) ** 2))(w), "d")
    w, x = np.ones(3), np.arange(12.0).reshape(2, 2, 3)
    before, config.cpu_devices = config.cpu_devices, 2
    try:
        found = pmap(step, axis_name="d", in_axes=(None, 0, None))(w, x, KEY)
        wanted = vmap(step, axis_name="d", in_axes=(None, 0, None))(w, x, KEY)
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12)
    finally:
        config.cpu_devices = before


def test_phases_call_the_generator() -> None:
    """What is printed for a phase is read again; the words of a count are not written out at each call."""
    keys, before = random.split(KEY, 2), config.cpu_devices
    config.cpu_devices = 2
    try:
        mapped = pmap(lambda key: random.normal(key, (5,)))
        np.testing.assert_allclose(np.asarray(mapped(keys)), [random.normal(key, (5,)) for key in keys], rtol=1e-14)
    finally:
        config.cpu_devices = before
    program, = mapped._programs.values()
    phase, = (value for value in program.function.__globals__.values() if isinstance(value, Phase))
    assert "threefry_of_number(" in phase.keeping.function.source



# -- derivatives --------------------------------------------------------------------------------


def of_mean_and_cov(mean: Any, factor: Any, key: Any) -> Any:
    return np.sum(random.multivariate_normal(key, mean, factor @ factor.T, (3,)) ** 2)


def of_bounds(low: Any, high: Any, key: Any) -> Any:
    inside = random.truncated_normal(key, low, high, (5,))
    return np.sum(random.uniform(key, (5,), np.float64, low, high) ** 2) + np.sum(inside ** 2)


def test_derivatives_pass_through_parameters() -> None:
    check_grads(lambda mean, factor: of_mean_and_cov(mean, factor, KEY), (np.array([1.0, 2.0]),
                                                                       np.array([[1.4, 0.0], [0.3, 0.9]])))
    check_grads(lambda low, high: of_bounds(low, high, KEY), (-1.0, 2.0))


# What jax.grad gives of the sum of four numbers with key 42, under jax_enable_x64.
GAMMA_SLOPE, BETA_SLOPES, DIRICHLET_SLOPES = 4.865521220899686, (0.55579429, -0.30338049), (-0.1193613, -0.08121996,
                                                                                             0.05430982)


def test_derivatives_of_rejection_are_implicit() -> None:
    slope = grad(lambda a: np.sum(random.gamma(KEY, a, (4,))))(2.0)
    np.testing.assert_allclose(slope, GAMMA_SLOPE, rtol=1e-12)
    slopes = grad(lambda a, b: np.sum(random.beta(KEY, a, b, (4,))), argnums=(0, 1))(2.0, 3.0)
    np.testing.assert_allclose(slopes, BETA_SLOPES, rtol=1e-7)
    weights = grad(lambda alpha: np.sum(random.dirichlet(KEY, alpha) ** 2))(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(weights, DIRICHLET_SLOPES, rtol=1e-6)


@pytest.mark.parametrize("a", [0.05, 0.9, 1.0, 7.0, 200.0])
def test_the_slope_of_gamma_keeps_the_probability(a: float) -> None:
    from scipy.special import gammaincinv

    from transformer.random.gamma_slopes import slope
    p = np.array([0.01, 0.3, 0.5, 0.8, 0.99])
    step = 1e-5 * a
    wanted = (gammaincinv(a + step, p) - gammaincinv(a - step, p)) / (2 * step)
    np.testing.assert_allclose(slope(np.full(5, a), gammaincinv(a, p)), wanted, rtol=1e-5, atol=1e-300)


def noisy_loss(w: Any, x: Any, key: Any) -> Any:
    noise, kept = random.split(key)
    y = (x + random.normal(noise, x.shape)) @ w
    return np.mean(np.where(random.bernoulli(kept, 0.8, y.shape), y / 0.8, 0.0) ** 2)


def test_a_loss_with_noise() -> None:
    w, x = np.array([0.5, -1.0, 2.0]), np.arange(12.0).reshape(4, 3) / 10
    check_grads(lambda w: noisy_loss(w, x, KEY), (w,))
    value, tangent = jvp(noisy_loss, (w, x, KEY), (np.ones(3), None, None))
    slope = grad(noisy_loss)(w, x, KEY)
    np.testing.assert_allclose(tangent, np.sum(slope))
    np.testing.assert_allclose(jit(grad(noisy_loss))(w, x, KEY), slope, rtol=1e-12)
    keys = random.split(KEY, 3)
    np.testing.assert_allclose(vmap(grad(noisy_loss), in_axes=(None, None, 0))(w, x, keys),
                               [grad(noisy_loss)(w, x, key) for key in keys], rtol=1e-12)


def test_generated_source_stands_alone() -> None:
    def loss(w: Any, key: Any) -> Any:
        return np.sum((w * random.normal(key, w.shape)) ** 2)
    w = np.arange(3.0)
    source = grad(loss).source_for(w, KEY)
    assert "transformer" not in source
    assert "threefry2x32(first, second, np.arange(len(w), dtype=np.uint64))" in source
    assert "erf_inv_f64(u)" in source
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    np.testing.assert_array_equal(namespace["loss_grad"](w, KEY), grad(loss)(w, KEY))


LOG_ABOVE, threefry2x32 = 100.0, 7.5


def test_names_of_the_program_are_not_those_of_helpers() -> None:
    def loss(w: Any, key: Any) -> Any:
        return np.sum(w * random.normal(key, w.shape)) * LOG_ABOVE + threefry2x32 * np.sum(w)
    w = np.arange(3.0)
    np.testing.assert_allclose(grad(loss)(w, KEY), 100 * random.normal(KEY, (3,)) + 7.5)


def test_names_of_helpers_are_known() -> None:
    from transformer.write import names, prelude
    for name in names.HELPERS:
        function = getattr(prelude, name)
        used = {each for each in function.__code__.co_names if isinstance(function.__globals__.get(each), tuple)}
        assert used <= names.HELPER_NUMBERS


# -- what is wrong ------------------------------------------------------------------------------

X = np.arange(3.0)
GENERATOR = np.random.default_rng(0)
WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "a seed": (lambda x: random.normal(0, x.shape) * x, TypeError,
               "random.normal expects a key such as random.key(0), got int"),
    "a generator": (lambda x: random.normal(GENERATOR, x.shape) * x, TypeError,
                    "random.normal expects a key such as random.key(0), got NumPy's Generator"),
    "floats": (lambda x: random.uniform(x, x.shape) * x, TypeError,
               "random.uniform expects a key, uint32 of shape (2,), got float64 of shape (3,)"),
    "keys": (lambda x: random.bits(random.split(KEY), (2,)), TypeError,
             "key, got an array of keys of shape"),
    "a negative size": (lambda x: random.normal(KEY, (2, -1)), ValueError, "negative dimensions"),
    "a negative number of keys": (lambda x: random.split(KEY, -1), ValueError, "negative dimensions"),
    "a size": (lambda x: random.normal(KEY, (2.5,)), TypeError,
               "random.normal expects a shape, a tuple of integers, got float"),
    "a shape": (lambda x: random.normal(KEY, x) * x, TypeError,
                "random.normal expects a shape, a tuple of integers, got "),
    "a dtype": (lambda x: random.normal(KEY, (2,), np.int32), TypeError,
                "normal supports the dtypes float32, float64, not int32"),
    "an integer p": (lambda x: random.bernoulli(KEY, 1, (2,)), TypeError,
                     "bernoulli supports the dtypes float32, float64, not int64"),
    "too many": (lambda x: random.choice(KEY, 3, (4,), replace=False), ValueError,
                 "random.choice of 4 out of 3 elements without replacement"),
    "parameters": (lambda x: random.gamma(KEY, np.ones(3), (2,)), ValueError, "shape"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name: str) -> None:
    function, kind, text = WRONG[name]
    with pytest.raises(kind) as plain:
        function(X)
    assert text in str(plain.value)


@pytest.mark.parametrize("name", [name for name in WRONG if name not in ("too many", "parameters")])
def test_what_is_wrong_is_said_where_it_stands(name: str) -> None:
    function, kind, text = WRONG[name]
    with pytest.raises(kind) as refused:
        grad(lambda x: np.sum(function(x)))(X)
    assert isinstance(refused.value, TransformError)
    assert text in str(refused.value)
    assert "test_random.py" in str(refused.value)


def test_a_key_carries_no_derivative() -> None:
    with pytest.raises(TransformError, match="which is not differentiable"):
        grad(lambda key: np.sum(random.normal(key, (2,))))(KEY)


# -- distributions by a formula -----------------------------------------------------------------


def test_counts_compiled_for_lanes() -> None:
    """Lanes go on until their own numbers are accepted."""
    keys, lam = random.split(KEY, 3), np.array([0.5, 7.0, 40.0])
    found = jit(vmap(random.poisson, in_axes=(0, None)))(keys, lam)
    np.testing.assert_array_equal(found, [random.poisson(key, lam) for key in keys])


def of_parameters(a: Any) -> Any:
    drawn = (random.lognormal(KEY, a, (3,)), random.pareto(KEY, a, (3,)), random.rayleigh(KEY, a, (3,)),
             random.weibull_min(KEY, a, a, (3,)), random.triangular(KEY, -a, 0.1 * a, a, (3,)),
             random.wald(KEY, a, (3,)))
    return sum(np.sum(np.tanh(each)) for each in drawn)


def test_derivatives_of_parameters() -> None:
    check_grads(of_parameters, (1.7,), order=1, rtol=1e-5)


@pytest.mark.parametrize("draw, slope", [(random.chisquare, 1.1078950470357287), (random.t, 0.1683789528175923)])
def test_derivatives_of_what_is_made_of_gamma(draw: Any, slope: float) -> None:
    """They are implicit, and those of JAX."""
    np.testing.assert_allclose(grad(lambda a: np.sum(np.tanh(draw(KEY, a, (3,)))))(1.7), slope, rtol=1e-12)


@pytest.mark.parametrize("call, text", [
    (lambda key: random.geometric(key, 1), "random.geometric supports the dtypes float32, float64, not int64"),
    (lambda key: random.poisson(key, 2.0, (3,), float), "random.poisson supports the dtypes int8"),
    (lambda key: random.pareto(key, np.ones(3), (1,)), "random.pareto: parameters of shape (3,) do not broadcast"),
    (lambda key: random.cauchy(7), "random.cauchy expects a key such as random.key(0), got int"),
])
def test_what_distributions_do_not_take(call: Any, text: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        call(KEY)
    assert text in str(caught.value)


def test_counts_that_are_too_large() -> None:
    """They are the greatest integer, and do not wrap around."""
    with np.errstate(divide="ignore"):
        assert random.geometric(KEY, 0.0) == np.iinfo(np.int64).max
    assert random.poisson(KEY, 1e4, (2,), np.int8).tolist() == [127, 127]
    assert jit(lambda key: random.poisson(key, 1e4, (2,), np.int8))(KEY).tolist() == [127, 127]
