"""The face: how transformed functions are made, called, looked at, pickled, and what they refuse."""

from __future__ import annotations

import inspect
import pickle
import sys
import threading
import traceback
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from importing import imported

import transformer
from transformer import (
    BadArgument,
    NotDifferentiable,
    NotSupported,
    check_grads,
    config,
    grad,
    jit,
    jvp,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)

SCALE = 3.0
TABLE = np.array([1.0, 2.0, 3.0])


def square_sum(x):
    """The sum of squares."""
    return np.sum(x**2)


def product(x, y):
    return np.sum(x * y)


def scaled(x):
    return SCALE * np.sum(x)


def with_table(x):
    return np.sum(x * TABLE)


def polynomial(x, n):
    total = 0.0
    for k in range(n):
        total = total + x**k
    return total


@grad
def decorated(x):
    return np.sum(np.sin(x))


@grad(argnums=1)
def decorated_with_options(x, y):
    return np.sum(np.sin(x) * y)


@pytest.fixture
def x() -> np.ndarray:
    return np.array([0.5, -1.0, 2.0])


# -- making and calling --------------------------------------------------------------------


def test_gradient_of_array(x):
    np.testing.assert_allclose(grad(square_sum)(x), 2 * x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (0,), (2, 1, 3)])
def test_gradient_keeps_shape_and_dtype(shape, dtype):
    a = np.ones(shape, dtype)
    g = grad(square_sum)(a)
    assert np.shape(g) == shape and np.asarray(g).dtype == dtype
    np.testing.assert_array_equal(g, 2 * a)


def test_argnums_forms(x):
    y = np.array([3.0, 1.0, 2.0])
    np.testing.assert_array_equal(grad(product, argnums=1)(x, y), x)
    np.testing.assert_array_equal(grad(product, argnums="y")(x, y), x)
    np.testing.assert_array_equal(grad(product, argnums=-1)(x, y), x)
    both = grad(product, argnums=(1, 0))(x, y)
    assert isinstance(both, tuple)
    np.testing.assert_array_equal(both[0], x)
    np.testing.assert_array_equal(both[1], y)
    (one,) = grad(product, argnums=(0,))(x, y)
    np.testing.assert_array_equal(one, y)


def test_keyword_arguments(x):
    np.testing.assert_array_equal(grad(product, argnums="x")(y=x, x=2 * x), x)
    np.testing.assert_array_equal(grad(product)(x, y=3 * x), 3 * x)


def test_decorators(x):
    np.testing.assert_allclose(decorated(x), np.cos(x))
    np.testing.assert_allclose(decorated_with_options(x, 2 * x), np.sin(x))


def test_names_and_docstrings_are_kept():
    g = grad(square_sum)
    assert g.__name__ == "square_sum"
    assert "The sum of squares." in g.__doc__
    assert g.__wrapped__ is square_sum


def test_value_and_grad(x):
    value, g = value_and_grad(square_sum)(x)
    assert value == square_sum(x)
    np.testing.assert_allclose(g, 2 * x)


def test_auxiliary_results(x):
    def f(x):
        y = x * x
        return np.sum(y), {"squares": y, "name": "aux"}

    g, aux = grad(f, has_aux=True)(x)
    np.testing.assert_allclose(g, 2 * x)
    np.testing.assert_array_equal(aux["squares"], x * x)
    assert aux["name"] == "aux"
    (value, aux), g = value_and_grad(f, has_aux=True)(x)
    assert value == np.sum(x * x)
    np.testing.assert_allclose(g, 2 * x)


class Params(NamedTuple):
    w: Any
    b: Any


def with_a_dtype(value):
    total = np.sum(value * value)
    return total, (np.result_type(value), 2 * value)


def test_objects_that_are_returned_have_names_of_their_own() -> None:
    """The name that stands for one is none of a variable."""
    x = np.arange(3.0)
    for run in (value_and_grad(with_a_dtype, has_aux=True), jit(value_and_grad(with_a_dtype, has_aux=True))):
        (total, (dtype, twice)), gradient = run(x)
        assert total == 5 and dtype == np.dtype(float)
        np.testing.assert_array_equal(twice, gradient)
    assert jit(lambda x: (x * 2, np.mean(x), np.result_type(x)))(x)[1:] == (1.0, np.dtype(float))



def test_pytrees_of_parameters(x):
    def f(params, x):
        return np.sum(params["layer"].w * x) + params["layer"].b * params["scale"][0]

    params = {"layer": Params(2 * x, 3.0), "scale": [2.0]}
    g = grad(f)(params, x)
    assert list(g) == ["layer", "scale"] and isinstance(g["layer"], Params)
    np.testing.assert_array_equal(g["layer"].w, x)
    assert g["layer"].b == 2.0 and g["scale"] == [3.0]


def test_jvp_and_linearize(x):
    t = np.array([1.0, 2.0, -1.0])
    value, tangent = jvp(square_sum, (x,), (t,))
    assert value == square_sum(x)
    np.testing.assert_allclose(tangent, np.sum(2 * x * t))
    value, line = linearize(square_sum, x)
    np.testing.assert_allclose(line(t), np.sum(2 * x * t))


def test_jvp_with_none_tangents(x):
    value, tangent = jvp(product, (x, x), (None, x))
    np.testing.assert_allclose(tangent, np.sum(x * x))


def test_vjp(x):
    value, pullback = vjp(lambda a, b: (a * b, np.sum(a)), x, 2 * x)
    np.testing.assert_array_equal(value[0], 2 * x * x)
    da, db = pullback((np.ones(3), 2.0))
    np.testing.assert_allclose(da, 2 * x + 2.0)
    np.testing.assert_allclose(db, x)


def test_vjp_keeps_the_point(x):
    a = x.copy()
    _, pullback = vjp(square_sum, a)
    a[:] = 0
    np.testing.assert_allclose(pullback(1.0)[0], 2 * x)


def test_second_derivatives(x):
    np.testing.assert_allclose(grad(grad(lambda t: t**4))(2.0), 48.0)
    np.testing.assert_allclose(grad(grad(grad(lambda t: t**4)))(2.0), 48.0)
    _, hv = jvp(grad(square_sum), (x,), (np.ones(3),))
    np.testing.assert_allclose(hv, 2 * np.ones(3))


def test_transformations_inside_user_code(x):
    def outer(a):
        def inner(b):
            return np.sum(a * b**2)

        return np.sum(grad(inner)(a))

    np.testing.assert_allclose(grad(outer)(x), 4 * x)


def test_no_perturbation_confusion():
    def f(a):
        return a * grad(lambda b: a + b)(1.0)

    assert grad(f)(2.0) == 1.0


def test_holomorphic():
    z = np.array([0.3 + 0.4j, 1.0 - 0.2j])
    g = grad(lambda z: np.sum(z**2), holomorphic=True)(z)
    np.testing.assert_allclose(g, 2 * z)


def test_stop_gradient(x):
    g = grad(lambda x: np.sum(x * stop_gradient(x)))(x)
    np.testing.assert_array_equal(g, x)
    assert stop_gradient(x) is x


def test_numpy_functions_given_directly():
    assert grad(np.sin)(0.3) == np.cos(0.3)
    np.testing.assert_allclose(grad(np.sum)(np.ones(3)), np.ones(3))


def test_partial_method_lambda_callable(x):
    class Model:
        def __init__(self, scale):
            self.scale = scale

        def loss(self, x):
            return self.scale * np.sum(x * x)

        def __call__(self, x):
            return self.loss(x) / 2

    np.testing.assert_allclose(grad(Model(3.0).loss)(x), 6 * x)
    np.testing.assert_allclose(grad(Model(3.0))(x), 3 * x)
    np.testing.assert_allclose(grad(partial(product, y=x))(2 * x), x)
    first, second = lambda t: t * t, lambda t: t * t * t
    assert (grad(first)(3.0), grad(second)(3.0)) == (6.0, 27.0)


def test_scipy_minimize():
    from scipy.optimize import minimize, rosen

    def rosenbrock(x):
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    start = np.array([1.3, 0.7, 0.8, 1.9, 1.2])
    assert rosenbrock(start) == pytest.approx(rosen(start))
    found = minimize(rosenbrock, start, jac=grad(rosenbrock))
    np.testing.assert_allclose(found.x, np.ones(5), atol=1e-4)


def test_check_grads(x):
    check_grads(square_sum, (x,))

    def wrong(x):
        return np.sum(stop_gradient(x) * x)

    with pytest.raises(AssertionError):
        check_grads(wrong, (x,))


# -- memory --------------------------------------------------------------------------------


def test_arguments_are_left_alone(x):
    def f(x):
        x[0] = 5.0
        x *= 2
        return np.sum(x * x)

    before = x.copy()
    g = grad(f)(x)
    np.testing.assert_array_equal(x, before)
    np.testing.assert_allclose(g, [0.0, 8 * x[1], 8 * x[2]])


def test_results_are_fresh_memory(x):
    y = 2 * x
    dx, dy = grad(product, argnums=(0, 1))(x, y)
    assert not np.shares_memory(dx, y) and not np.shares_memory(dy, x)
    da, db = grad(lambda a, b: np.sum((a + b) ** 2), argnums=(0, 1))(x, y)
    assert not np.shares_memory(da, db)
    g = grad(lambda a: np.sum(a))(x)
    g[0] = 7.0
    np.testing.assert_array_equal(g, [7.0, 1.0, 1.0])


# -- dispatch ------------------------------------------------------------------------------


def test_one_source_serves_all_shapes(x):
    g = grad(square_sum)
    g(x)
    source = g.source
    np.testing.assert_allclose(g(np.ones(17)), 2 * np.ones(17))
    assert g.source == source


def test_broadcasting_is_respecialised():
    g = grad(lambda a, b: np.sum(a * b), argnums=(0, 1))
    for n in (3, 1, 4):
        a, b = np.arange(1.0, 5.0), np.full(n, 2.0) if n != 3 else np.array(2.0)
        da, db = g(a, b)
        np.testing.assert_allclose(da, np.broadcast_to(b, a.shape))
        np.testing.assert_allclose(db, a if n == 4 else np.sum(a).reshape(np.shape(b)))


def test_integer_argument_as_trip_count():
    g = grad(polynomial)
    for n in (0, 1, 2, 5):
        assert g(2.0, n) == pytest.approx(sum(k * 2.0 ** (k - 1) for k in range(n)))


def test_changed_global_is_seen(x, monkeypatch):
    g = grad(scaled)
    np.testing.assert_array_equal(g(x), 3 * np.ones(3))
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 4.0)
    np.testing.assert_array_equal(g(x), 4 * np.ones(3))


def test_changed_array_in_global_is_seen(x, monkeypatch):
    g = grad(with_table)
    np.testing.assert_array_equal(g(x), TABLE)
    monkeypatch.setattr(sys.modules[__name__], "TABLE", np.array([5.0, 5.0, 5.0]))
    np.testing.assert_array_equal(g(x), [5.0, 5.0, 5.0])


def test_first_call_from_many_threads(x):
    g = grad(lambda x: np.sum(np.tanh(x) * np.exp(x)))
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(g(x))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    for result in results:
        np.testing.assert_array_equal(result, results[0])


@pytest.mark.parametrize("function", [decorated, grad(square_sum), value_and_grad(grad(polynomial))])
def test_pickling(function):
    again = pickle.loads(pickle.dumps(function))
    args = (1.5, 3) if "polynomial" in function.__name__ else (np.array([0.2, 0.4]),)
    np.testing.assert_array_equal(again(*args), function(*args))


# -- looking -------------------------------------------------------------------------------


def test_source_stages_and_inspect(x):
    g = grad(square_sum)
    with pytest.raises(BadArgument, match="no source yet"):
        _ = g.source
    assert g.source_for(x) == (g(x), g.source)[1]
    stages = g.stages(x)
    assert list(stages)[0] == "read" and list(stages)[-1] == "source"
    generated = g.compiled_for(x)
    assert inspect.getsource(generated) in g.source
    assert "square_sum_grad" in g.source and "html" not in g.source
    assert "<" in g._repr_html_()


def test_saved_source_stands_alone(x, tmp_path: Path):
    path = tmp_path / "saved.py"
    grad(product, argnums=(0, 1)).save(path, x, 2 * x)
    assert "import transformer" not in path.read_text()
    dx, dy = imported(path).product_grad(x, 2 * x)
    np.testing.assert_array_equal(dx, 2 * x)
    np.testing.assert_array_equal(dy, x)
    with pytest.raises(FileExistsError):
        grad(product).save(path, x, x)


def test_tracebacks_show_generated_lines(x):
    g = grad(lambda x, y: np.sum(x @ y))
    g(np.ones((2, 3)), np.ones((3, 2)))
    try:
        g(np.ones((2, 3)), np.ones((4, 2)))
    except ValueError as error:
        text = "".join(traceback.format_exception(error))
        assert "@" in text
    else:
        raise AssertionError("shapes that do not fit went through")


def test_debug_nans(monkeypatch):
    monkeypatch.setattr(config, "debug_nans", True)

    def f(x):
        y = x - x
        z = y / y
        return np.sum(z)

    with np.errstate(invalid="ignore"), pytest.raises(FloatingPointError, match="z = y / y"):
        grad(f)(np.ones(2))
    np.testing.assert_array_equal(grad(square_sum)(np.ones(2)), [2.0, 2.0])
    with np.errstate(invalid="ignore"), pytest.raises(FloatingPointError, match="NaN in the result"):
        vmap(lambda x: np.sqrt(x))(-np.ones(2))                      # which has no name
    np.testing.assert_array_equal(vmap(lambda x: x)(np.array([np.nan])), [np.nan])


# -- refusals ------------------------------------------------------------------------------


def test_result_must_be_scalar(x):
    with pytest.raises(BadArgument, match="one number"):
        grad(lambda x: x * 2)(x)
    with pytest.raises(BadArgument, match="tuple"):
        grad(lambda x: (np.sum(x), np.sum(x)))(x)
    with pytest.raises(BadArgument, match="holomorphic"):
        grad(lambda x: np.sum(x) * 1j)(x)


def test_integer_argument_is_refused():
    with pytest.raises(NotDifferentiable, match="not differentiable"):
        grad(lambda n: n * 2.0)(3)
    with pytest.raises(NotDifferentiable, match="i64"):
        grad(lambda x: np.sum(x * 2.0))(np.arange(3))


@pytest.mark.parametrize("argnums", [2, -3, "z", 1.5, None, True])
def test_wrong_argnums(argnums, x):
    with pytest.raises(BadArgument):
        grad(product, argnums=argnums)(x, x)


@pytest.mark.parametrize("tangent", [np.ones(2), np.ones((3, 1)), 1.0, np.ones(3) * 1j])
def test_mismatched_tangents(tangent, x):
    with pytest.raises(BadArgument):
        jvp(square_sum, (x,), (tangent,))


def test_tangent_of_an_integer_is_refused():
    with pytest.raises(BadArgument, match="None"):
        jvp(polynomial, (2.0, 3), (1.0, 1))


@pytest.mark.parametrize(
    "function, match",
    [
        (lambda x: np.sum(x) + np.random.normal(), "random"),
        (lambda x: np.sum(np.real_if_close(x)), "real_if_close"),
        (lambda x: float(open("/etc/hostname").read()), "open"),
    ],
)
def test_impure_and_unknown_functions_are_refused(function, match, x):
    with pytest.raises(NotSupported, match=match) as caught:
        grad(function)(x)
    assert caught.value.origin.file == __file__
    assert "^" in str(caught.value)


def test_not_a_function():
    with pytest.raises(BadArgument):
        grad(3)


def test_version():
    assert transformer.__version__.count(".") == 2


def test_jvp_of_a_fixed_number_is_zero() -> None:
    assert jvp(lambda x: 2.0, (1.0,), (1.0,)) == (2.0, 0.0)
    value, tangent = jvp(lambda x: (x, np.float32(2.0), 3, "name"), (1.0,), (1.0,))
    assert tangent == (1.0, 0.0, None, None) and isinstance(tangent[1], np.float32)
