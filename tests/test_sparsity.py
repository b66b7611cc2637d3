"""Jacobians with known zeros: the same numbers along fewer directions."""

from __future__ import annotations

import numpy as np
import pytest

from transformer import BadArgument, grad, hessian, jacfwd, jacrev, jit
from transformer.transform.sparsity import Pattern, coloured


def banded(n: int, width: int = 1) -> np.ndarray:
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= width


def coupled(x):
    y = x ** 2
    y[1:] += np.sin(x[:-1])
    y[:-1] *= x[1:]
    return y


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@pytest.mark.parametrize("seed", range(4))
def test_columns_of_one_colour_have_no_row_in_common(seed: int) -> None:
    mask = np.random.default_rng(seed).random((9, 12)) < 0.2
    colors = coloured(mask)
    for color in set(colors):
        assert mask[:, colors == color].sum(axis=1).max(initial=0) <= 1


def test_a_band_takes_as_many_directions_as_it_is_wide() -> None:
    assert Pattern(banded(50), by_rows=False).count == 3
    assert Pattern(banded(50, 2), by_rows=True).count == 5
    assert Pattern(np.eye(50), by_rows=False).count == 1


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
@pytest.mark.parametrize("n", [3, 7])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_jacobians_of_bands(jacobian, n: int, dtype: str) -> None:
    x = np.random.default_rng(n).normal(size=n).astype(dtype)
    sparse = jacobian(coupled, sparsity=banded(n))
    found = sparse(x)
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, jacobian(coupled)(x), rtol=1e-5 if dtype == "f4" else 1e-12)
    assert f"directions: f64[3, {n}]" in sparse.source


def test_hessians_and_what_is_made_of_them() -> None:
    x = np.random.default_rng(0).normal(size=6)
    sparse = hessian(rosenbrock, sparsity=banded(6))
    np.testing.assert_allclose(sparse(x), hessian(rosenbrock)(x))
    np.testing.assert_allclose(jit(sparse)(x), hessian(rosenbrock)(x))
    slope = grad(lambda x: np.sum(sparse(x) ** 2))
    np.testing.assert_allclose(slope(x), grad(lambda x: np.sum(hessian(rosenbrock)(x) ** 2))(x))


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
def test_matrices(jacobian) -> None:
    x = np.random.default_rng(1).normal(size=(2, 3))
    found = jacobian(lambda x: x ** 3, sparsity=np.eye(6))(x)
    np.testing.assert_allclose(found, jacobian(lambda x: x ** 3)(x))


def test_two_patterns_are_told_apart() -> None:
    """Also where only what is printed of them is looked at."""
    one, other = Pattern(np.eye(300), False), Pattern(np.eye(300, k=1), False)
    assert repr(one) != repr(other) and one != other and one == Pattern(np.eye(300), False)


@pytest.mark.parametrize(("sparsity", "message"), [
    (np.eye(5), "sparsity has 5 rows, but the result has 4 elements"),
    (np.ones((4, 5)), "sparsity has 5 columns, but the argument has 4 elements"),
    (np.ones(4), "sparsity has 1 axes, expected a matrix")])
def test_patterns_that_do_not_fit(sparsity, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        jacfwd(coupled, sparsity=sparsity)(np.ones(4))


def test_several_arguments_are_refused() -> None:
    with pytest.raises(BadArgument, match="with sparsity needs one array as argument"):
        jacfwd(lambda x, y: x * y, argnums=(0, 1), sparsity=np.eye(3))(np.ones(3), np.ones(3))
