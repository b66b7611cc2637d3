"""Numbers of several widths: dtypes and digits are NumPy's for the path taken, or there is a located error."""

from __future__ import annotations

import math

import numpy as np
import pytest
from lowered import as_loops

from transformer import grad, jit, jvp, value_and_grad, vmap
from transformer.core.errors import NotSupported

X, V = np.float32(0.7), np.array([0.3, 0.4, 0.8], np.float32)
WIDE = np.array([0.7, -0.2, 0.5])


def by_constant_of_float32(y):
    return np.sum(np.tanh(y * np.float32(0.3)))


def less_constant_of_float32(y):
    return np.sum((np.float32(0.3) - y) * np.sin(y))


def compared_with_constant_of_float32(y):
    return np.sum(np.where(y < np.float32(0.1), y, 2.0 * y))


def as_float32_and_back(y):
    return y[0] * np.float32(y[1] * 0.1) + y[2]


def number_beside_float32(y):
    return np.float64(0.1) * (y[0] + y[1]) + V[0]


@pytest.mark.parametrize("function", [by_constant_of_float32, less_constant_of_float32, as_float32_and_back,
                                      compared_with_constant_of_float32, number_beside_float32])
@pytest.mark.parametrize("at", [WIDE, np.full(3, np.nextafter(0.1, 1))])
def test_digits_of_narrow_constants(function, at):
    expected = function(at)
    value, _ = value_and_grad(function)(at)
    primal, _ = jvp(function, (at,), (np.ones(3),))
    looped = as_loops(function, function, (at,))
    lanes = vmap(function)(at[None])[0]
    for found in (value, primal, looped, lanes):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def wide_number_of_python_numbers(x, y):
    return np.float64(y) * (y + y) + x


def test_number_stays_wide():
    expected = wide_number_of_python_numbers(X, 0.8)
    value, _ = value_and_grad(wide_number_of_python_numbers)(X, 0.8)
    assert value.dtype == expected.dtype and value == expected


def scaled(x, w):
    return 0.1 * np.sum(x * w)


def test_cotangents_are_as_wide_as_their_primals():
    np.testing.assert_allclose(grad(scaled)(WIDE, V), 0.1 * V.astype(float), rtol=1e-15)


def of_two_widths(x, y):
    return np.tanh(np.float32(x)) + np.negative(y * y * 0.3)


def test_tangents_are_as_wide_as_their_primals():
    _, tangent = jvp(of_two_widths, (1.0, 0.7), (0.0, 1.0))
    assert tangent.dtype == np.float64 and tangent == -0.3 * 2 * 0.7


@pytest.mark.parametrize("function", [lambda x: x, lambda x: np.float32(x), lambda x: x + 1.0])  # noqa: PLW0108
def test_constant_gradient_has_the_dtype_of_its_argument(function):
    assert type(grad(function)(X)) is np.float32


# -- paths that leave numbers of Python's and of NumPy's ------------------------------------------


def float_by_number(x, n):
    y = float(x) if n > 2 else x
    return y * 0.1


def float_in_loop(x, n):
    for _ in range(n):
        x = float(x) * 2
    return x


def too_wide_for_its_partner(x, n):
    k = 300 if n > 2 else np.int8(3)
    return x * k


@pytest.mark.parametrize("function", [float_by_number, float_in_loop, too_wide_for_its_partner])
@pytest.mark.parametrize("n", [0, 2, 3])
def test_path_that_integers_decide(function, n):
    expected = function(X, n)
    value, _ = value_and_grad(function)(X, n)
    assert np.asarray(value).dtype == np.asarray(expected).dtype and value == expected


def smallest(x):
    best = 0.1
    for v in x:
        if v < best:
            best = v
    return best


def float_by_value(x):
    y = float(x[0]) if x[1] > 0 else x[0]
    return y * 0.1


def sine_by_value(x):
    y = x[0]
    if y > 2:
        y = math.sin(y)
    return y


def grows_from_a_tenth(x):
    s = 0.1
    while s < 3:
        s = s + x[0]
    return s


def grown(x, total):
    return total if x > 2 else grown(x * np.float32(1.5), total + x)


def recursion_by_value(x):
    return grown(x[0], float(x[1]))


def integer_that_does_not_fit(x):
    return x[0] * (300 if x[0] > 2 else np.int8(3))


def greatest_of_python(x):
    return max(x[0], 0.3)


def larger_than_all(x):
    best = 1e300
    for v in x:
        if v < best:
            best = v
    return best


def half_or_wide(x):
    s = x[0].astype(np.float64) if x[0] > 0 else 0.5
    return np.sum(x * (s * 2 + 1))


def float_in_a_loop(x):
    total, z = 0.0, x[0]
    for v in x:
        total = total + float(v)
        z = total if v > 0.35 else v
    return z


def float_in_an_inner_loop(x):
    z = x[0]
    for v in x:
        for w in x:
            z = float(w) * 0.1 if v > 0.35 else v
    return z


@pytest.mark.parametrize("function", [float_in_a_loop, float_in_an_inner_loop, float_by_value, sine_by_value,
                                      integer_that_does_not_fit, larger_than_all, half_or_wide, recursion_by_value])
def test_path_that_values_decide_is_refused(function):
    calls = {grad(function): V, vmap(function): V[None], lambda x: as_loops(function, function, (x,)): V}
    for call, argument in calls.items():
        with pytest.raises(NotSupported) as caught:
            call(argument)
        assert caught.value.origin is not None and caught.value.instead


def clipped(x):
    return min(max(x[0], 0.0), 1.0) * 0.1


def sum_from_zero(x):
    total = 0.0
    for v in x:
        total = total + v
    return total


def leaky(x):
    return x[0] if x[0] > 0.5 else 0.1 * x[0]


def sum_of_some(x):
    total = 0.0
    for v in x:
        if v > 0.35:
            total += v * v
    return total


def sum_that_decays(x):
    total = 0.5
    for v in x:
        total = total * 0.9 if v < 0.35 else total + v
    return total


def sum_of_pairs(x):
    total = 0.0
    for v in x:
        for w in x:
            if v > w:
                total = total + v * w
        if v > 0.5:
            total = total * 0.5
    return total


def greatest_of_all(x):
    best = -np.inf
    for v in x:
        best = max(best, v)
    return best


def greatest_from_a_tenth(x):
    best = 0.1
    for i in range(len(x)):
        best = max(best, min(x[i], 0.7))
    return best * 2


def narrow_beside_sum(x):
    """Of float64, unless there is nothing to add up."""
    total = 0.0
    for v in WIDE:
        total += v * v
    return x[0] * np.float32(total)


def squares_of_sums(x):
    total = 0.0
    for limit in x:
        area = 0.0
        for v in x:
            if v > limit:
                area += v
        total += area**2
    return total


def returns_zero_from_a_loop(y):
    for _ in range(3):
        total = np.sum(y)
        if total > 1.2:
            return 0.0
        y = y * total
    return total * 2


def breaks_with_a_number(y):
    for _ in range(3):
        if np.sum(y) > 3:
            result = 0.25
            break
        y = y + y
    else:
        result = y @ y
    return result


def one_of_two_numbers(y):
    scale = -1.0
    for item in y:
        if item > 0.5:
            scale = 0.5
    return scale if y[0] > 0.5 else y[0] * 2


@pytest.mark.parametrize("function", [clipped, sum_from_zero, leaky, sum_of_some, sum_that_decays, sum_of_pairs,
                                      squares_of_sums, narrow_beside_sum, smallest, grows_from_a_tenth,
                                      greatest_of_python, greatest_of_all, greatest_from_a_tenth,
                                      returns_zero_from_a_loop, breaks_with_a_number, one_of_two_numbers])
def test_numbers_that_are_written_down_are_merged(function):
    """Those that float32 does not have are rounded once, as where they meet a float32 otherwise."""
    value, gradient = value_and_grad(function)(V)
    assert value.dtype == np.float32 and gradient.dtype == np.float32
    np.testing.assert_allclose(value, function(V), rtol=1e-6)


# -- functions that are read as Python ------------------------------------------------------------

MANY = np.array([0.3, 0.1, np.nan, 0.8, 0.4], np.float32)
FUNCTIONS = [
    lambda x: np.percentile(x[3:], 30), lambda x: np.percentile(x[3:], [30, 50]), lambda x: np.quantile(x[3:], 0.3),
    lambda x: np.quantile(x[3:], np.float32(0.3)), lambda x: np.quantile(x[3:], np.float64(0.3)),
    lambda x: np.nanpercentile(x, 30), lambda x: np.nanquantile(x, [0.3]), lambda x: np.nanmedian(x),
    lambda x: np.nanmean(x) + np.nanstd(x), lambda x: np.nanvar(x, ddof=1), lambda x: np.cov(x[3:]),
    lambda x: np.cov(x[3:], x[:2]), lambda x: np.corrcoef(x[3:], x[:2]), lambda x: np.polyval(x[3:], 0.3),
    lambda x: np.polyval(x[3:], 2), lambda x: np.polyval(x[3:], x[0]), lambda x: np.polyval(x[3:], x[:2]),
]


@pytest.mark.parametrize("k", range(len(FUNCTIONS)))
def test_functions_of_float32(k):
    function = FUNCTIONS[k]
    expected = function(MANY)
    found, _ = jvp(function, (MANY,), (np.ones(5, np.float32),))
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found, expected, rtol=3e-7)


# -- numbers that were rounded, where it would show ---------------------------------------------------

def times_wide(x, y):
    return (0.3 if x[0] > 0 else x[0]) * y


def stored_wide(x, y):
    out = np.zeros_like(y)
    out[0] = 0.3 if x[0] > 0 else x[0]
    return out


def beside_wide(x, y):
    return np.array([0.3 if x[0] > 0 else x[0], y[0]])


def as_python(x, y):
    return float(0.3 if x[0] > 0 else x[0]) * y


def of_a_loop_times_wide(x, y):
    scale = 0.1
    for item in x:
        if item > 0.5:
            scale = 0.3
    return (scale if x[0] > 0 else x[0]) * y


def many_digits(x, y):
    return 16777217 if x[0] > 0 else x[0]


@pytest.mark.parametrize("function", [times_wide, stored_wide, beside_wide, as_python, of_a_loop_times_wide,
                                      many_digits])
def test_digits_that_float32_has_not_are_not_lost_in_silence(function):
    with pytest.raises(NotSupported, match="Python number or f32|int and f32"):
        vmap(function, in_axes=(0, 0))(V[None], WIDE[None])


def greatest_times_narrow(x, y):
    return max(y[0], 0.3) * x


def greatest_in_a_loop_times_narrow(x, y):
    s = 0.0
    for item in y:
        s = max(s, item)
    return max(s, 1) * x


@pytest.mark.parametrize("function", [greatest_times_narrow, greatest_in_a_loop_times_narrow])
def test_a_number_handed_on_by_max_is_of_either_class(function):
    with pytest.raises(NotSupported, match="Python number or f64 depending on the path"):
        vmap(function, in_axes=(0, 0))(V[None], WIDE[None])


@pytest.mark.parametrize("ends", [(0.1, 1.3), (np.float64(0.1), 1.3), (0.1, WIDE)])
def test_even_steps_are_computed_as_wide_as_their_ends(ends):
    start, stop = (end if isinstance(end, float) and k else np.float32(end) for k, end in enumerate(ends))
    for endpoint in (True, False):
        def steps(start, stop, endpoint=endpoint):
            return np.linspace(start, stop, 23, endpoint)

        found = as_loops(steps, steps, (start, stop))
        np.testing.assert_array_equal(found, steps(start, stop), strict=True)


def totals_in_wide_arrays(x):
    totals, running, by_ufunc = np.zeros(()), np.zeros(len(x)), np.zeros(len(x))
    np.sum(x, out=totals)
    x.cumsum(out=running)
    np.add.accumulate(x, out=by_ufunc)
    products = np.zeros(1, np.float32)
    np.multiply.reduce(x.astype(float), keepdims=True, out=products)
    return totals, np.mean(x, keepdims=True, out=np.zeros(1)), running, by_ufunc, products


def test_totals_are_as_wide_as_the_array_that_takes_them():
    x = (np.arange(19) % 7 + 1).astype(np.float32) / 3
    expected = totals_in_wide_arrays(x)
    looped = as_loops(totals_in_wide_arrays, totals_in_wide_arrays, (x,))
    lanes = [lane[0] for lane in vmap(totals_in_wide_arrays)(x[None])]
    for found in (looped, lanes):
        for one, other in zip(found, expected, strict=True):
            assert np.asarray(one).dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=1e-15 if other.dtype == np.float64 else 1e-7)


def test_bins_of_float32():
    items = np.arange(40, dtype=np.float32) % 11 * np.float32(0.1)

    def counted(x):
        return np.histogram(x, 7)

    for found, expected in zip(as_loops(counted, counted, (items,)), counted(items), strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


def exact_number_times_wide(x, y):
    return (0.25 if x[0] > 0 else x[0]) * y


def exact_number_of_a_loop(x, y):
    scale = -2.0
    for item in x:
        if item > 0.5:
            scale = 0.5
    return (scale if x[0] > 0.1 else x[0]) * y + float(scale)


@pytest.mark.parametrize("function", [exact_number_times_wide, exact_number_of_a_loop])
def test_numbers_that_float32_has_meet_wider_ones(function):
    found = vmap(function, in_axes=(0, 0))(V[None], WIDE[None])[0]
    np.testing.assert_array_equal(found, function(V, WIDE), strict=True)


def added_to_narrow_items(y, v):
    for k in range(len(y)):
        y[k] -= v[k]
    y[1:] += v[1:] * 3
    y[[0, 0, 2]] += v
    np.subtract.at(y, [0, 0, 1], v)
    return y


@pytest.mark.parametrize("dtypes", ["fd", "fl", "FD", "ff"])
def test_what_is_added_to_narrow_items_is_not_rounded_before(dtypes):
    narrow, wide = dtypes
    y, v = (np.array([1, 2, 3]) / 3).astype(narrow), (np.array([1, 2, -1]) * (34497335 / 3 + 1 / 3)).astype(wide)
    expected = added_to_narrow_items(y.copy(), v)
    np.testing.assert_array_equal(jit(added_to_narrow_items)(y.copy(), v), expected)
