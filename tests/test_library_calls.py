"""What compiled code leaves to libraries: products of matrices, linear algebra, sorting; and what it does for
its effect."""

from __future__ import annotations

import logging
import random
import sys
from typing import Any

import numpy as np
import pytest
import scipy.special
from loop_cases import compiled as compiled_kernel
from loop_cases import plain
from lowered import called, generated

from transformer import grad, jit, tree
from transformer.core.errors import NotSupported
from transformer.lower.lowering import Kernel, lower
from transformer.pipeline import Generated


def lowered(target: Any, user: Any, *arguments: Any) -> tuple[Generated, Kernel]:
    made = generated(target, user, arguments)
    return made, lower(made.function, made.reading.assumptions)


def source_of(function: Any, *arguments: Any, wrt: Any = None) -> str:
    target = function if wrt is None else grad(function, argnums=wrt)
    return lowered(target, function, *arguments)[1].source


def check(function: Any, *arguments: Any, wrt: Any = None, compiled: bool = False) -> Kernel:
    """Compares a function, or its gradient, as explicit loops with what it is."""
    target = function if wrt is None else grad(function, argnums=wrt)
    made, kernel = lowered(target, function, *arguments)
    kernel = compiled_kernel(kernel) if compiled else plain(kernel)
    found, _ = tree.flatten(called(made, kernel, function, arguments))
    wanted, _ = tree.flatten(target(*arguments))
    for got, want in zip(found, wanted, strict=True):
        assert np.asarray(got).dtype == np.asarray(want).dtype
        rtol = 1e-4 if np.asarray(want).dtype in (np.float32, np.complex64) else 1e-10
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * 1e-2)
    return kernel


def normal(*shape: int, dtype: Any = float, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


# -- products -------------------------------------------------------------------------------------


def product(a, b):
    return a @ b


def squares(a, b):
    return np.sum((a @ b) ** 2)


def with_transposes(a, b):
    return np.sum((a.T @ b[1:].T) ** 2)


def layer(w, b, x):
    return np.sum(np.tanh(x @ w + b) ** 2)


PRODUCTS = {
    "matrices": (product, (4, 5), (5, 6), "np.dot(a, b, result)"),
    "stack": (product, (3, 4, 5), (3, 5, 6), "np.dot(a[i], b[i], result[i])"),
    "spread stack": (product, (2, 1, 4, 5), (3, 5, 6), "np.dot(a[i, 0], b[j], result[i, j])"),
    "stack and matrix": (product, (3, 4, 5), (5, 6),
                         "np.dot(np.ascontiguousarray(a).reshape(n * m, d), b, result.reshape(n * m, n2))"),
    "turned result": (lambda a, b: np.einsum("ij,kj->ki", a[:, 1:], b), (4, 6), (6, 5),
                      "gemm(1.0, b, a[:, 1:].T, 0, result)"),
    "stack in the middle": (lambda a, b: np.einsum("zij,zjk->izk", a, b), (3, 4, 5), (3, 5, 6), "np.dot(a[i], b[i],"),
    "two axes summed": (lambda a, b: np.tensordot(a, b, axes=2), (2, 3, 4), (3, 4, 5), "reshape(m * d, n2)"),
    "summed in another order": (lambda a, b: np.tensordot(a, b, axes=((0, 1), (1, 0))), (2, 3, 4), (3, 2, 6),
                                "np.dot("),
    "nothing summed over": (product, (4, 0), (0, 5), "np.dot("),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_reach_the_library(name: str) -> None:
    function, left, right, shown = PRODUCTS[name]
    arguments = normal(*left), normal(*right, seed=1)
    assert shown in source_of(function, *arguments)
    check(function, *arguments)


@pytest.mark.parametrize("seed", range(20))
def test_contractions_of_any_axes(seed: int) -> None:
    rng = random.Random(seed)
    labels, sizes = iter("abcdefgh"), {label: rng.choice([1, 2, 3, 5]) for label in "abcdefgh"}
    stack, rows, columns, inner = ([next(labels) for _ in range(rng.choice(counts))]
                                   for counts in ((0, 0, 1, 2), (1, 1, 2), (1, 1, 2), (1, 1, 2)))
    groups = [stack + rows + inner, stack + inner + columns, stack + rows + columns]
    for group in groups[:rng.choice([0, 3])]:
        rng.shuffle(group)
    subscripts = "{},{}->{}".format(*map("".join, groups))
    left, right = (normal(*(sizes[label] for label in group), seed=seed) for group in groups[:2])
    check(lambda a, b: np.einsum(subscripts, a, b), left, right)


@pytest.mark.parametrize("shapes", [((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 3))])
def test_products_of_vectors_are_loops(shapes: Any) -> None:
    assert "np.dot" not in source_of(product, *(normal(*shape) for shape in shapes))


def test_products_of_small_matrices_and_of_integers_are_loops() -> None:
    def rotated(x):
        return np.array([[0.0, 1.0], [-1.0, 0.0]]) @ np.array([[x, 1.0], [2.0, x]])

    assert "np.dot" not in source_of(rotated, 2.0)
    assert "np.dot" not in source_of(product, np.ones((4, 5), int), np.ones((5, 6), int))


def test_a_transposed_operand_is_read_where_it_lies() -> None:
    arguments = normal(5, 4), normal(7, 5)
    source = source_of(with_transposes, *arguments, wrt=(0, 1))
    assert "np.dot(a.T, b[1:].T, " in source
    check(with_transposes, normal(5, 4), normal(6, 5), wrt=(0, 1))


def test_what_is_done_with_a_product_is_one_nest() -> None:
    kernel = check(layer, normal(5, 6), normal(6), normal(3, 5), wrt=(0, 1))
    assert kernel.source.count("for i in") <= 3 and kernel.source.count("np.dot(") == 2


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_products_compiled(dtype: str) -> None:
    """Both layouts in f8, of the others one: compiling takes seconds."""
    def several(a, b, c):
        return (a @ b) * 2, a.T @ a, np.einsum("ij,kj->ki", a[:, 1:], c), (a[None] @ b)[0] + 1

    a, b, c = normal(4, 5, dtype=dtype), normal(5, 6, dtype=dtype), normal(7, 4, dtype=dtype)
    if dtype != "c16":
        check(several, a, b, c, compiled=True)
    if dtype != "f4":
        check(several, np.asfortranarray(a), normal(12, 6, dtype=dtype)[1:11:2], c[:, ::-1], compiled=True)


# -- library calls --------------------------------------------------------------------------------


def solved(a, b):
    return np.sum(np.linalg.solve(a, 2 * b) ** 2)


def likelihood(a, x):
    sign, logdet = np.linalg.slogdet(a)
    return logdet + x @ np.linalg.inv(a) @ x


def decomposed(a):
    w, v = np.linalg.eigh(a)
    return np.sum(w[1:] * v[0, 1:] ** 2) + np.linalg.det(a)


def ordered(x):
    return np.sum(np.sort(x) * np.arange(len(x))) + np.median(x)


def bessel(x):
    return np.sum(scipy.special.iv(1, x) * x)


def smoothed(x, k):
    return np.sum(np.convolve(x, k, "same") ** 2)


MATRIX = normal(3, 3) + normal(3, 3).T + 4 * np.eye(3)
CALLS = {
    "solve": (solved, (MATRIX, normal(3))), "slogdet and inv": (likelihood, (MATRIX, normal(3))),
    "eigh and det": (decomposed, (MATRIX,)), "sort": (ordered, (normal(7),)), "iv": (bessel, (normal(4, 3),)),
    "convolve": (smoothed, (normal(8), normal(3))),
}


@pytest.mark.parametrize("wrt", [None, 0], ids=["value", "gradient"])
@pytest.mark.parametrize("name", CALLS)
def test_library_calls(name: str, wrt: Any) -> None:
    function, arguments = CALLS[name]
    check(function, *arguments, wrt=wrt)


def test_library_calls_compiled() -> None:
    def everything(a, x):
        return solved(a, x), likelihood(a, x), decomposed(a), ordered(x), bessel(x), np.argsort(x), np.linalg.inv(a)

    kernel = check(everything, MATRIX, normal(3), compiled=True)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        kernel(np.zeros((3, 3)), normal(3))


@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_lapack_is_called_without_python(dtype: str) -> None:
    """Matrices lie in memory in any way; one of the systems is of integers, which NumPy has to convert, and two are
    triangular."""
    def everything(a, b, lower):
        square, sign = a @ np.conj(a.T), np.linalg.slogdet(a)[0]
        of_integers = np.linalg.solve(np.array([[2, 1], [1, 1]]), [3, 2])
        of_triangles = np.linalg.solve(lower, lower.T), np.linalg.solve(lower.T, lower[:, 0])
        systems = np.linalg.solve(a, b[0]), np.linalg.solve(a.T, b.T), of_integers, *of_triangles
        return *systems, np.linalg.inv(a), np.linalg.det(a), *np.linalg.slogdet(a.T), sign, np.linalg.cholesky(square)

    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=size) + 1j * rng.normal(size=size) for size in ((3, 3), (4, 6)))
    a, b = (a if dtype == "c16" else a.real).astype(dtype), b.real[:, ::2].astype(dtype)
    lower = np.tril(rng.normal(size=(7, 7)) + 4 * np.eye(7)).astype(dtype)
    fast = jit(everything)
    for found, wanted in zip(fast(a, b, lower), everything(a, b, lower), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-4 if dtype == "f4" else 1e-12)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        fast(0 * a, b, lower)


def test_matrices_are_factored_once() -> None:
    """Also where a loop does it, and the matrix is made before; another one is in each iteration."""
    def stepped(a, y, times):
        total = 0.0
        for k in range(times):
            y = np.linalg.solve(a, y) + np.linalg.solve(a.T, y)
            moved = a + k * np.eye(len(a))
            total += np.sum(np.linalg.solve(moved, y)) + np.linalg.slogdet(moved)[1]
            if np.max(y) > 1e-3:
                total += np.linalg.slogdet(a)[1] - np.sum(np.linalg.inv(a))
        return total, y

    a, y = normal(70, 70) + 9 * np.eye(70)[::-1], normal(70, 33)
    fast = jit(stepped)
    triangular = np.tril(a) + 20 * np.eye(70)
    for matrix in (a, np.asfortranarray(a), triangular, triangular.T, a[:1, :1] + 3, np.where(a == a[2, 1], np.inf, a)):
        for found, wanted in zip(fast(matrix, y[:len(matrix)], 3), stepped(matrix, y[:len(matrix)], 3), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-12)
    kernel = fast.source_for(a, y, 3).split("def stepped_kernel")[1]
    assert kernel.index("factors_into") < kernel.index("for k")
    assert not np.any(np.isfinite(fast(np.full((70, 70), np.nan), y, 1)[1]))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        fast(0 * a, y, 1)


def test_numbers_that_nobody_uses_have_no_type() -> None:
    def logarithm(a):
        return np.linalg.slogdet(a)[1] * 2

    kernel = check(logarithm, MATRIX, compiled=True)
    assert 'with objmode(slogdet="float64"):\n        _, slogdet = np.linalg.slogdet(a)' in kernel.source


# -- effects --------------------------------------------------------------------------------------


class TooLarge(ValueError):
    pass


def talking(x, n):
    print("start", n, x[0])
    total = x[0] * 0
    for k in range(n):
        if x[k] > 9:
            raise TooLarge(f"x[{k}] is {x[k]}")
        assert x[k] > -9, "too small"
        assert x[k] != 0, f"zero at {k} of {n}"
        total += x[k]
        LOGGER.warning("step %d of %s: %.2f", k, n, x[k])
    print(f"total {total:.3f} of", x, end="!\n")
    logging.error(f"100% of {n}")
    return total


LOGGER = logging.getLogger("talking")


def outcome(call: Any, capsys: Any) -> Any:
    try:
        result = call()
    except Exception as error:
        result = type(error), str(error).splitlines()[:1]                # pytest adds lines to those of `assert`
    return result, capsys.readouterr().out


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_effects_are_those_of_numpy(dtype: str, capsys: Any) -> None:
    good = np.array([1.5, -2.1, 3.0], dtype)
    made, kernel = lowered(talking, talking, good, 3)
    plain_one, compiled = plain(lower(made.function, made.reading.assumptions)), compiled_kernel(kernel)
    logging.getLogger().addHandler(listening := logging.StreamHandler(sys.stdout))
    for x in (good, good * 100, good * -100, good * 0):
        wanted = outcome(lambda: talking(x, 3), capsys)
        for each in (plain_one, compiled):
            found = outcome(lambda: each(*([x, 3] if len(made.function.params) == 2 else [x]))[0], capsys)
            assert found == wanted
    assert "step 0 of 3: 1.50\n" in outcome(lambda: talking(good, 3), capsys)[1]
    logging.getLogger().removeHandler(listening)


def test_effects_stay_in_order(capsys: Any) -> None:
    def stepwise(a, x):
        print("solving", len(x))
        y = np.linalg.solve(a, x)
        print("summing", y[0] > 0)
        assert np.all(y > -100), "far off"
        return np.sum(y * x)

    check(stepwise, MATRIX, normal(3))
    capsys.readouterr()
    made, kernel = lowered(stepwise, stepwise, MATRIX, normal(3))
    assert kernel.source.index("solving") < kernel.source.index("solve(") < kernel.source.index("summing")
    with pytest.raises(np.linalg.LinAlgError):
        plain(kernel)(np.zeros((3, 3)), normal(3))
    assert capsys.readouterr().out == "solving 3\n"


def test_what_floating_point_does_is_not_seen() -> None:
    def silent(x):
        with np.errstate(divide="ignore"):
            return np.sum(1 / x)

    def loud(x):
        with np.errstate(divide="raise"):
            return np.sum(1 / x)

    check(silent, normal(4))
    with pytest.raises(NotSupported, match="errstate"):
        source_of(loud, normal(4))
