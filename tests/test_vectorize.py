"""`vectorize`: functions of a few axes over all that stands in front, beside np.vectorize."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transformer
from transformer import BadArgument, ShapeError, grad, hessian, jit, jvp, value_and_grad, vectorize, vmap

MATVEC = "(n,m),(m)->(n)"


def matvec(a, x):
    return a @ x


def picked(a, x, scale=1.0, kind="sin"):
    if a > x:
        return a * scale
    return x * np.sin(a) if kind == "sin" else x


def statistics(x):
    return np.mean(x), x - np.mean(x)


def power(x, n):
    result = 1.0
    for _ in range(n):
        result = result * x
    return result


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape) + sum(shape)).normal(size=shape)


def same(found: Any, wanted: Any) -> None:
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


LEADING = [(), (1,), (4,), (5, 4), (5, 1), (1, 4), (1, 1), (2, 1, 4)]


@pytest.mark.parametrize("first", LEADING)
def test_leading_axes_broadcast(first: tuple[int, ...]) -> None:
    ours, numpys = vectorize(matvec, MATVEC), np.vectorize(matvec, signature=MATVEC)
    for second in LEADING:
        a, x = normal(*first, 3, 2), normal(*second, 2)
        same(ours(a, x), numpys(a, x))


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations([(), (1,), (4, 1), (3,)], 2)))
def test_without_a_signature_all_arguments_are_numbers(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    a, x = normal(*first), normal(*second)
    same(vectorize(picked)(a, x), np.vectorize(picked)(a, x))


def test_numbers_integers_and_truth_values() -> None:
    assert vectorize(picked)(1.0, 2.0) == picked(1.0, 2.0)
    signed = vectorize(lambda a, is_up: a if is_up else -a)
    found = signed(np.arange(3), np.array([[True], [False]]))
    assert found.dtype == np.arange(3).dtype
    assert found.tolist() == [[0, 1, 2], [0, -1, -2]]


def test_loops_of_different_lengths() -> None:
    x, n = np.array([2.0, 3.0]), np.array([[2], [3]])
    same(vectorize(power)(x, n), x ** n)
    same(vectorize(power)(x, 3), x ** 3)
    same(vectorize(power, excluded=["n"])(x, 3), x ** 3)


def test_no_lanes_at_all() -> None:
    dot = vectorize(lambda a, b: a @ b, "(n),(n)->()")
    assert dot(np.zeros((0, 3)), np.ones(3)).shape == (0,)
    same(dot(np.zeros(0), np.ones((4, 0))), np.zeros(4))


def test_several_results() -> None:
    mean, rest = vectorize(statistics, "(n)->(),(n)")(normal(2, 1, 3))
    same(mean, np.mean(normal(2, 1, 3), axis=-1))
    same(rest, normal(2, 1, 3) - mean[..., None])
    constant, row = vectorize(lambda a, b: (3.0, a + b))(np.ones((2, 1)), 1.0)
    assert constant.tolist() == [[3.0], [3.0]]
    assert row.tolist() == [[2.0], [2.0]]


def test_excluded_and_keyword_arguments() -> None:
    a, x = normal(4, 1), normal(3)
    ours = vectorize(picked, excluded=(3,))
    same(ours(a, x, kind="none"), np.where(a > x, a, np.broadcast_to(x, (4, 3))))
    same(ours(a, x=x), np.vectorize(picked)(a, x))
    same(ours(a, x, scale=np.array([1.0, 2.0, 3.0])), np.vectorize(picked)(a, x, np.array([1.0, 2.0, 3.0])))
    scaled = vectorize(lambda params, x: params["w"] * x, "(n)->(n)", excluded=(0,))
    same(scaled({"w": np.arange(3.0)}, np.ones((2, 3))), np.arange(3.0) * np.ones((2, 3)))
    optional = vectorize(lambda x, shift: x if shift is None else x + shift)
    same(optional(a, None), a)


def test_a_decorator_and_a_method() -> None:
    class Scaled:
        factor = 3.0

        @vectorize(signature="(n)->()", excluded=("self",))
        def norm(self, x):
            return np.sqrt(np.sum(x * x)) * self.factor

    same(Scaled().norm(np.ones((2, 4))), [6.0, 6.0])


def test_the_source_is_that_of_whole_arrays() -> None:
    ours = vectorize(matvec, MATVEC)
    ours(normal(5, 3, 2), normal(2))
    assert "for " not in ours.source
    assert "def matvec_vectorize(a, x):" in ours.source


@pytest.mark.parametrize("outer", [lambda f: f, jit], ids=["numpy", "jit"])
def test_inside_and_outside_of_other_transformations(outer: Callable[..., Any]) -> None:
    a, x = normal(4, 1), normal(3)
    total = grad(lambda a, x: np.sum(vectorize(picked)(a, x) ** 2), argnums=(0, 1))
    each = [[grad(lambda u, v: picked(u, v) ** 2, argnums=(0, 1))(u, v) for v in x] for u in a[:, 0]]
    da, dx = outer(total)(a, x)
    same(da, np.sum([[pair[0] for pair in row] for row in each], axis=1)[:, None])
    same(dx, np.sum([[pair[1] for pair in row] for row in each], axis=0))
    same(outer(vectorize(grad(picked)))(a, x), [[grad(picked)(u, v) for v in x] for u in a[:, 0]])
    same(outer(vmap(vectorize(picked), in_axes=(0, None)))(a, x), np.vectorize(picked)(a, x))


def test_second_derivatives() -> None:
    x = np.array([1.0, 2.0])
    same(hessian(lambda x: np.sum(vectorize(lambda t: t ** 3)(x)))(x), np.diag(6 * x))
    values, slopes = vectorize(value_and_grad(lambda t: t ** 3))(np.array([[1.0], [2.0]]))
    same(values, [[1.0], [8.0]])
    same(slopes, [[3.0], [12.0]])
    same(jvp(vectorize(np.sin), (x,), (np.ones(2),))[1], np.cos(x))


def test_in_a_function_that_is_read() -> None:
    def halves(x, shift):
        @vectorize
        def product(p, q):
            return p * q + np.max(x) + shift

        y = x[:-1]
        return product(y[:, None], x[1:]), product(2, x)

    x = normal(4)
    for found in (jit(halves)(x, 1.0), vmap(halves, in_axes=(0, None))(x[None], 1.0)):
        same(np.reshape(found[0], (3, 3)), np.outer(x[:-1], x[1:]) + np.max(x) + 1.0)
        same(np.ravel(found[1]), 2 * x + np.max(x) + 1.0)
    assert jit(halves)(x[:2], 1.0)[0].shape == (1, 1)           # sizes that are computed may be 1


def refused(error: type[Exception], text: str, function: Any, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(error) as caught:
        function(*args, **kwargs)
    assert text in str(caught.value)
    assert "test_vectorize.py" in str(caught.value)
    return str(caught.value)


def test_core_dimensions_that_disagree() -> None:
    ours = vectorize(matvec, MATVEC)
    found = refused(ShapeError, "the core dimension m is 3 in x and 2 in a", ours, np.ones((3, 2)), np.ones(3))
    assert "The signature is (n,m),(m)->(n)." in found
    refused(ShapeError, "a has 1 axis, its core dimensions are (n,m)", ours, np.ones(3), np.ones(2))
    refused(ShapeError, "the core dimension 3 is 4 in x", vectorize(lambda x: x, "(3)->(3)"), np.ones(4))
    refused(ShapeError, "the core dimension m is 3 in x and 2 in a",
            grad(lambda a, x: np.sum(ours(a, x))), np.ones((3, 2)), np.ones(3))
    assert ours(np.ones((3, 2)), np.ones(2)).shape == (3,)
    refused(ShapeError, "the core dimension m is 5 in x and 2 in a", ours, np.ones((3, 2)), np.ones(5))


def test_leading_axes_that_do_not_broadcast() -> None:
    refused(ShapeError, "leading axes of a and x do not broadcast: they have extents 5 and 4",
            vectorize(matvec, MATVEC), np.ones((5, 3, 2)), np.ones((4, 2)))


def test_results_that_are_not_as_the_signature_says() -> None:
    a, x = np.ones((3, 2)), np.ones(2)
    refused(ShapeError, "the result has 1 axis, its core dimensions are ()", vectorize(matvec, "(n,m),(m)->()"), a, x)
    refused(ShapeError, "the core dimension m is 3 in the result and 2 in a", vectorize(matvec, "(n,m),(m)->(m)"), a, x)
    refused(BadArgument, "matvec has 1 result, the signature", vectorize(matvec, "(n,m),(m)->(n),(n)"), a, x)


def test_wrong_numbers_of_arguments() -> None:
    refused(BadArgument, "2 arguments, but the call has 1: a", vectorize(matvec, MATVEC), np.ones((3, 2)))
    refused(BadArgument, "1 argument, but the call has 2: a", vectorize(matvec, "(n)->(n)"), np.ones(3), 1.0)


def test_what_cannot_be_broadcast() -> None:
    refused(BadArgument, "vectorize broadcasts kind, but it is the string 'no'", vectorize(picked), 1.0, 2.0, 1.0, "no")


@pytest.mark.parametrize("text", ["", "(n)", "(n)->", "n->n", "(n,)->(n)", "(n)(n)->(n)", "(n m)->(n)", "->()x", 3])
def test_wrong_signatures(text: Any) -> None:
    refused(BadArgument, "is not a valid signature", vectorize, matvec, text)


@pytest.mark.parametrize("text", ["()->()", "(n, m),( m )->( n )", "(3),(3)->(3)", "->()"])
def test_signatures_that_are_right(text: str) -> None:
    vectorize(matvec, text)


def test_wrong_options() -> None:
    refused(BadArgument, "is 'a', expected positions or names of arguments", vectorize, matvec, excluded="a")
    refused(BadArgument, "excluded is (-1,)", vectorize, matvec, excluded=(-1,))
    refused(BadArgument, "vectorize expects a function, got a float", vectorize, 3.0)


def test_numpys_own_is_read_as_before() -> None:
    doubled = np.vectorize(lambda t: 2 * t, otypes=[float])
    same(grad(lambda x: np.sum(doubled(x)))(np.ones(3)), [2.0, 2.0, 2.0])


def test_it_is_listed() -> None:
    assert "vectorize" in transformer.__all__


def test_sizes_that_differ_are_tested() -> None:
    beside = vectorize(lambda x, k: np.sum(x + np.ones(k)), signature="(n),()->()")
    assert beside(np.ones((2, 4)), np.array([4, 4])).tolist() == [8, 8]
    with pytest.raises(ValueError, match="operands could not be broadcast together with shapes"):
        beside(np.ones((2, 4)), np.array([4, 7]))
