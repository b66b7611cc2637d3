"""Routines of SciPy that take functions: what they raise, their dtypes, their source. Derivatives are in the corpus."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import odeint, quad, solve_ivp
from scipy.interpolate import PPoly
from scipy.linalg import solve_banded, sqrtm
from scipy.optimize import bisect, brentq, fixed_point, fsolve, newton, root
from scipy.signal import savgol_filter
from scipy.spatial.distance import squareform

from transformer import NotSupported, grad, jit, vmap


def same_signs(a):
    return brentq(lambda x: x * x + a, 0.0, 1.0)


def too_few_steps(a):
    return bisect(lambda x: x**3 - a, 0.0, 1.0, maxiter=3)


def not_a_number(a):
    return brentq(lambda x: math.nan if x > 0.4 else x - a, 0.0, 1.0)


def level(a):
    return newton(lambda x: x * x + a, 0.0, fprime=lambda x: 2 * x)


def no_fixed_point(a):
    return fixed_point(lambda x: 2 * x + a, 1.0, method="iteration", maxiter=3)


@pytest.mark.parametrize("function", [same_signs, too_few_steps, not_a_number, level, no_fixed_point])
def test_what_scipy_raises_is_raised(function: Any) -> None:
    with pytest.raises((ValueError, RuntimeError)) as wanted:
        function(0.5)
    with pytest.raises(wanted.type) as found:
        grad(function)(0.5)
    assert str(found.value) == str(wanted.value)


def total(a):
    def rate(x):
        return np.exp(-a * x)

    return quad(rate, 0.0, brentq(lambda x: x * x - a, 0.0, 2.0))[0]


def test_source() -> None:
    source = grad(total).source_for(0.5)
    assert "def rate(x, a):\n    return np.exp(-a * x)\n" in source
    assert "def brentq(a):\n" in source and "def quad(" in source
    assert source.count("\n    # reverse\n") == 1


def test_compiled_and_in_single_precision() -> None:
    compiled, a = jit(grad(total)), np.float32(0.5)
    assert compiled(a).dtype == np.float32
    np.testing.assert_allclose(compiled(a), grad(total)(0.5), rtol=1e-6)
    np.testing.assert_allclose(vmap(grad(total))(np.array([0.5, 0.7])), [grad(total)(0.5), grad(total)(0.7)])


def test_errors_are_those_of_quadpack() -> None:
    def with_error(a):
        return quad(lambda x: np.exp(-a * x) * np.cos(5 * x), 0.0, 3.0)

    found = jit(with_error)(0.5)
    np.testing.assert_allclose(found, with_error(0.5), rtol=1e-9, atol=1e-14)


def apart(v, a):
    x, y = v
    return np.array([x**2 + y**2 + a, x - y])


def where_nothing_is(a):
    return fsolve(apart, [1.0, 0.3], args=(a,))


def test_a_system_without_a_root() -> None:
    with pytest.warns(RuntimeWarning, match="not making good progress"):
        wanted = where_nothing_is(0.5)
    with pytest.warns(RuntimeWarning, match="Status 5"):
        found = vmap(where_nothing_is)(np.array([0.5]))
    np.testing.assert_allclose(found[0], wanted, atol=1e-4)


def outcome(a):
    found = root(apart, [1.0, 0.3], args=(a,))
    return found.success, found["status"], found.nfev


def test_what_a_search_says() -> None:
    assert jit(outcome)(0.5) == outcome(0.5)
    assert jit(outcome)(-0.5) == outcome(-0.5)


def by_another_method(a):
    return root(lambda x: x - a, [1.0], method="krylov").x[0]


def of_a_pair(a):
    return quad(lambda x: (x, a), 0.0, 1.0)[0]


def with_a_report(a):
    return brentq(lambda x: x - a, 0.0, 1.0, full_output=True)[0]


FALLING = PPoly(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([2.0, 1.0, 0.0]))


def of_falling_breaks(a):
    return FALLING(a)


def of_complex_states(a):
    return odeint(lambda y, t: -a * y, 1j, np.array([0.0, 1.0]))


REFUSED = {
    by_another_method: "scipy.optimize.root with method 'krylov'",
    of_falling_breaks: "a piecewise polynomial with decreasing breakpoints",
    of_complex_states: "scipy.integrate.odeint of complex numbers",
    of_a_pair: "returns a tuple, but must return a number",
    with_a_report: "full_output of scipy.optimize.brentq",
}


@pytest.mark.parametrize("function", REFUSED)
def test_refused(function: Any) -> None:
    with pytest.raises(NotSupported, match=REFUSED[function]):
        grad(function)(0.5)


RAISING = [
    (lambda a: solve_ivp(lambda t, y: -a * y, (0, 1), [a], t_eval=[0.5, 0.2]).y[0, 0], "not properly sorted"),
    (lambda a: odeint(lambda y, t: -a * y, a, np.array([0.0, 1.0, 0.5, 2.0]))[0, 0], "monotonically"),
    (lambda a: savgol_filter(a * np.ones(7), 5, 5)[0], "polyorder must be less than window_length"),
    (lambda a: squareform(np.array([[0.0, a], [1.0, 0.0]]))[0], "must be symmetric"),
    (lambda a: squareform(np.array([[a, 1.0], [1.0, 0.0]]))[0], "diagonal must be zero"),
    (lambda a: solve_banded((1, 1), a * np.ones((2, 3)), np.ones(3))[0], "lower and upper diagonals"),
]


@pytest.mark.parametrize("function, message", RAISING)
def test_raises_as_the_routine_does(function: Any, message: str) -> None:
    for called in (function, grad(function)):
        with pytest.raises(ValueError, match=message):
            called(0.5)


def test_a_span_without_length_has_no_states_at_given_times() -> None:
    def state(a):
        return solve_ivp(lambda t, y: -a * y, (a, a), [a], t_eval=[0.5]).y[0, 0]

    with pytest.raises(TypeError):                                      # of an empty list
        state(0.5)
    with pytest.raises(ValueError, match="solve_ivp with t_eval and a t_span of"):
        grad(state)(0.5)


def with_names_of_functions(brentq, rate):
    def f(x):
        return x * rate

    return quad(f, 0.0, brentq)[0] * brentq


def test_functions_are_not_called_like_variables() -> None:
    wanted = 1.5 * 1.2**2 * 0.4
    assert np.isclose(grad(with_names_of_functions)(1.2, 0.4), wanted)
    assert np.isclose(grad(lambda quad, f: with_names_of_functions(quad, f))(1.2, 0.4), wanted)


def test_a_square_root_that_is_complex_is_not_found() -> None:
    with pytest.raises(ValueError, match="no real square root"):
        grad(lambda a: sqrtm(np.array([[-a, 0.3], [0.0, 1.0]]))[0, 0])(0.5)
