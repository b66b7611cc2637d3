"""`vmap` beside a loop over lanes: axes, pytrees, closures, indices, writes, dtypes, and the examples of its page."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from doc_blocks import FOLDER, blocks, run_block
from lane_loops import assert_alike, check_vmap
from lane_programs import COUNTS, P5, RNG, SQUARES, W, X, early, halved, nested, shrunk, x5

from transformer import grad, vmap

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")      # lanes compute what a program alone would not


# -- axes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", [(0, 0), (1, 0), (-1, 0), (-2, 1), (2, -1), (None, 0), (0, None), (-3, -2)])
def test_in_axes(axes: tuple[Any, Any]) -> None:
    a, b = RNG.normal(size=(4, 4, 4)), RNG.normal(size=(4, 4))
    check_vmap(lambda a, b: (a @ b if b.ndim else a * b, np.sum(a, axis=0), a.T), a, b, in_axes=axes)


@pytest.mark.parametrize("out", [0, 1, 2, -1, -2, -3])
def test_out_axes(out: int) -> None:
    found = vmap(lambda a: a * 2, in_axes=1, out_axes=out)(RNG.normal(size=(2, 3, 4)))
    assert found.shape == np.moveaxis(np.zeros((3, 2, 4)), 0, out).shape
    a = RNG.normal(size=(2, 3, 4))
    np.testing.assert_array_equal(vmap(lambda a: a.T, in_axes=-1, out_axes=out)(a),
                                  np.moveaxis(np.stack([a[..., k].T for k in range(4)]), 0, out))


def test_out_axes_of_what_is_shared() -> None:
    found = vmap(lambda x, w: (x, w, "s", None, 3, w * 2), in_axes=(0, None),
                 out_axes=(0, None, None, None, None, 1))(x5, W)
    assert found[1].shape == (3, 3) and found[2:5] == ("s", None, 3) and found[5].shape == (3, 5, 3)
    assert_alike(vmap(lambda x: (x, 3, 2.0, np.float32(1), True))(x5),
                 (x5, np.full(5, 3), np.full(5, 2.0), np.ones(5, np.float32), np.full(5, True)))
    assert vmap(lambda x: None)(x5) is None


class Layer(NamedTuple):
    w: Any
    b: Any


@dataclass
class Model:
    w: Any
    b: Any


def layer(p: Any, x: Any) -> Any:
    return p.w @ x + p.b


@pytest.mark.parametrize("kind", [Layer, Model])
def test_axes_of_leaves(kind: Any) -> None:
    expected = X @ W.T + x5[:, None]
    np.testing.assert_allclose(vmap(layer, in_axes=(kind(None, 0), 0))(kind(W, x5), X), expected)
    np.testing.assert_allclose(vmap(layer, in_axes=(kind(-1, 0), 0))(kind(np.stack([W] * 5, -1), x5), X), expected)
    found = vmap(lambda p, x: kind(p.w @ x, p.b), in_axes=(kind(None, 0), 0), out_axes=kind(1, 0))(kind(W, x5), X)
    assert isinstance(found, kind) and found.w.shape == (3, 5) and found.b.shape == (5,)


def test_axes_end_above_leaves() -> None:
    params = {"a": X, "b": [x5, (x5, x5)]}

    def total(p: Any, s: Any) -> Any:
        return np.sum(p["a"]) * p["b"][0] + p["b"][1][0] * p["b"][1][1] * s
    expected = X.sum(axis=1) * x5 + x5 * x5 * 2
    np.testing.assert_allclose(vmap(total, in_axes=(0, None))(params, 2.0), expected)
    np.testing.assert_allclose(vmap(total, in_axes=({"a": 0, "b": 0}, None))(params, 2.0), expected)
    np.testing.assert_allclose(vmap(total, in_axes=[{"a": 0, "b": [0, (0, 0)]}, None])(params, 2.0), expected)
    shared = {"a": X[0], "b": [x5, (2.0, x5)]}
    np.testing.assert_allclose(vmap(total, in_axes=({"a": None, "b": [0, (None, 0)]}, None))(shared, 2.0),
                               X[0].sum() * x5 + 2.0 * x5 * 2)


def test_keywords_defaults_and_more() -> None:
    np.testing.assert_allclose(vmap(lambda a, *, b: a * b)(x5, b=x5), x5 * x5)
    np.testing.assert_allclose(vmap(lambda a, **k: a * k["b"])(x5, b=x5), x5 * x5)
    np.testing.assert_allclose(vmap(lambda *a: a[0] * a[1], in_axes=(0, None))(x5, 2.0), x5 * 2)
    np.testing.assert_allclose(vmap(lambda a, b=2.0: a * b)(x5), x5 * 2)
    np.testing.assert_allclose(vmap(lambda a, b: a if b is None else b)(x5, None), x5)
    np.testing.assert_allclose(vmap(functools.partial(np.multiply, 2.0))(x5), x5 * 2)
    np.testing.assert_allclose(vmap(np.dot)(X, X), np.sum(X * X, axis=1))
    np.testing.assert_allclose(vmap(lambda x: x * 2, in_axes=None, axis_size=3)(2.0), [4.0] * 3)
    np.testing.assert_allclose(vmap(axis_size=5)(lambda x: x + 1)(x5), x5 + 1)


@pytest.mark.parametrize("shapes", [((1, 3), (1, 1)), ((4, 1), (4, 4)), ((3,), (3, 3)), ((4, 1, 3), (4, 3)),
                                    ((3, 3), (3, 1)), ((2, 2), (2,))])
def test_lanes_do_not_broadcast(shapes: tuple[Any, Any]) -> None:
    """The axis of lanes is none of those that broadcasting lines up."""
    a, b = RNG.normal(size=shapes[0]), RNG.normal(size=shapes[1])
    for axes in ((0, 0), (0, None), (None, 0)):
        check_vmap(lambda a, b: (a + b, np.where(a > b, a, b), np.maximum(a, b) ** 2), a, b, in_axes=axes)
        check_vmap(grad(lambda a, b: np.sum(a * b * b), argnums=(0, 1)), a, b, in_axes=axes)


def test_shapes_of_ops() -> None:
    check_vmap(lambda a: (a.sum(axis=-1), a.sum(0), a.T, a.reshape(-1), a[None], np.swapaxes(a, 0, -1), np.flip(a),
                          np.roll(a, 1), np.roll(a, 1, axis=-1), np.concatenate([a, a], -1), np.stack([a, a], -1),
                          np.tile(a, 2), np.repeat(a, 2), np.expand_dims(a, -1), np.trace(a), np.diag(a), np.tril(a),
                          np.cumsum(a), np.argmax(a), np.max(a, axis=1), np.argsort(a, axis=0), a @ a.T, np.kron(a, a),
                          np.outer(a, a), a.mean(), a.std(axis=0), np.pad(a, 1), np.linalg.norm(a, axis=-1),
                          np.any(a > 0), np.squeeze(a[:1]), np.take(a, [0, 1], axis=1), np.broadcast_to(a, (2, 3, 3)),
                          len(a), a.shape[0], a.size, np.vstack([a, a]), np.hstack([a, a]), np.dot(a, a.T),
                          np.vdot(a, a), np.inner(a, a), np.tensordot(a, a, 2), np.meshgrid(a[0], a[1])[0],
                          np.sort(a), np.median(a), np.percentile(a, 30), np.diff(a), np.count_nonzero(a > 0)),
               RNG.normal(size=(3, 3, 5)), in_axes=-1)


def test_products_and_solvers() -> None:
    B = RNG.normal(size=(4, 3))

    def solved(A: Any, b: Any) -> Any:
        return (np.linalg.solve(A, b), np.linalg.inv(A), np.linalg.det(A), np.linalg.slogdet(A)[1], np.linalg.norm(A),
                A @ b, b @ A, b @ b, A @ A, np.linalg.cholesky(A @ A.T), np.einsum("ij,j->i", A, b),
                np.einsum("ii", A), np.einsum("i,j->ij", b, b))
    for args, axes in (((SQUARES, B), 0), ((SQUARES[0], B), (None, 0)), ((SQUARES, B[0]), (0, None))):
        check_vmap(solved, *args, in_axes=axes)
        check_vmap(grad(lambda A, b: np.sum(np.linalg.solve(A, b) ** 2) + np.linalg.det(A), argnums=(0, 1)), *args,
                   in_axes=axes)


# -- nesting and closures -----------------------------------------------------------------------


def test_three_levels() -> None:
    nested = vmap(vmap(vmap(lambda a, b, c: a * b + c, (None, None, 0)), (None, 0, None)), (0, None, None))
    a, b, c = x5, X[:, 0], X[0]
    np.testing.assert_allclose(nested(a, b, c), a[:, None, None] * b[:, None] + c)
    np.testing.assert_allclose(vmap(vmap(vmap(lambda a, b: a * b, (None, 0)), (0, None)))(X, X),
                               np.einsum("ia,ib->iab", X, X))


def test_three_levels_that_part() -> None:
    nested = vmap(vmap(vmap(shrunk, (None, None, 0)), (None, 0, None)), (0, None, None))
    bs, cs = np.array([0.5, 0.3]), np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(nested(P5, bs, cs), [[[shrunk(a, b, c) for c in cs] for b in bs] for a in P5])
    slope = grad(shrunk, argnums=1)
    nested = vmap(vmap(vmap(slope, (None, None, 0)), (None, 0, None)), (0, None, None))
    np.testing.assert_allclose(nested(P5, bs, cs), [[[slope(a, b, c) for c in cs] for b in bs] for a in P5])


def test_order_of_nested_vmaps() -> None:
    both = vmap(vmap(lambda x, y: np.sum(x * y), in_axes=(0, None)), in_axes=(None, 0), out_axes=1)
    other = vmap(vmap(lambda x, y: np.sum(x * y), in_axes=(None, 0)), in_axes=(0, None))
    Y = RNG.normal(size=(4, 3))
    np.testing.assert_allclose(both(X, Y), X @ Y.T)
    np.testing.assert_allclose(other(X, Y), X @ Y.T)


def test_closures() -> None:
    def outer(x: Any, w: Any) -> Any:
        return vmap(lambda a: w * a + x.sum())(x)
    check_vmap(outer, X, x5)
    check_vmap(lambda w, x: grad(lambda w: np.sum(vmap(lambda a: np.sin(w * a) * w)(x)))(w), x5, X)
    table = np.arange(4.0)
    check_vmap(lambda k: table[k] * 2, np.array([3, 0, 1]))


# -- indices and writes -------------------------------------------------------------------------

PLACES = np.array([[0, 2], [1, 1], [2, 0], [0, 0], [1, 2]])


def scattered(x: Any, k: Any, v: Any) -> Any:
    x[k] = v
    return x


def added(x: Any, k: Any, v: Any) -> Any:
    np.add.at(x, k, v)
    x[k] += v
    return x


@pytest.mark.parametrize("program", [scattered, added])
def test_scatter(program: Any) -> None:
    V = RNG.normal(size=(5, 2))
    check_vmap(program, X, PLACES, V)
    check_vmap(program, X[0], PLACES, V, in_axes=(None, 0, 0))
    check_vmap(program, X, PLACES[0], V[0], in_axes=(0, None, None))
    check_vmap(program, X[0], PLACES[0], V, in_axes=(None, None, 0))
    check_vmap(grad(lambda x, k, v: np.sum(np.sin(program(x * 1.0, k, v))), argnums=(0, 2)), X, PLACES, V)


def test_indices_that_differ() -> None:
    check_vmap(lambda x, k: (x[k], x[-1 - k], x[[k, 0]]), X, np.array([0, 2, 1, 2, 0]))
    check_vmap(lambda x, k: x[k], X[0], np.array([0, -1, -3, 2]), in_axes=(None, 0))
    check_vmap(lambda x, k: (x[k:].sum(), x[:k].prod(), x[k - 1]), X, np.array([0, -1, -2, 3, 1]))
    check_vmap(lambda A, i, j: (A[i, j], A[i], A[:, j], A[i][:, None] * A[j]), SQUARES, np.array([0, 1, 2, 0]),
               np.array([2, 2, 0, 1]))
    check_vmap(lambda x: x[np.argmax(x)] * np.argmax(x), X)
    check_vmap(grad(lambda x, k: x[k] ** 2 + x[0]), X, np.array([0, 2, 1, 2, 0]))
    check_vmap(grad(lambda x, k: np.sum(x[k] ** 2)), X, PLACES)


def test_sizes_that_differ_are_tested() -> None:
    beside = vmap(lambda x, k: np.sum(x + np.ones(k)))
    np.testing.assert_array_equal(beside(X, np.array([3] * 5)), np.sum(X + 1, axis=1))
    with pytest.raises(ValueError, match="operands could not be broadcast together with shapes"):
        beside(X, np.array([3, 4, 3, 3, 3]))


def test_masks_that_differ() -> None:
    def masked(x: Any, m: Any) -> Any:
        x[m] = x[m] * 2
        return x, np.sum(x[m] ** 2), np.where(m, x, 0), np.count_nonzero(m)
    check_vmap(masked, X, X > 0)
    check_vmap(masked, X, X[0] > 0, in_axes=(0, None))
    check_vmap(masked, X[0], X > 0, in_axes=(None, 0))
    check_vmap(grad(lambda x, m: masked(x * 1.0, m)[1]), X, X > 0)


def overlapping(u: Any, s: Any) -> Any:
    u[s:] += np.sin(u[: len(u) - s])
    return u


def views(x: Any) -> Any:
    y = x[1:]
    y *= 2
    x[0] = y[1]
    z = x
    z[2] += x[0] * y[0]
    return x, y


def products(x: Any) -> Any:
    x[0] *= x[1]
    x[1] = x[1] + x[0]
    return x


def test_writes_in_place() -> None:
    check_vmap(overlapping, X, 1, in_axes=(0, None))
    check_vmap(overlapping, X, np.array([0, 1, 2, 1, 0]))
    check_vmap(views, X)
    check_vmap(products, X)
    for program in (lambda x: overlapping(x * 1.0, 1), lambda x: views(x * 1.0)[0], lambda x: products(x * 1.0)):
        check_vmap(grad(lambda x, program=program: np.sum(np.sin(program(x)))), X)


def test_what_is_shared_is_each_lanes_own() -> None:
    def adds(w: Any, x: Any) -> Any:
        w[0] += x
        return w * x
    check_vmap(adds, np.zeros(3), x5, in_axes=(None, 0))
    assert not np.shares_memory(vmap(lambda x: x)(X), X)
    assert not np.shares_memory(vmap(lambda x: x, in_axes=1, out_axes=1)(X), X)


# -- dtypes and numbers of lanes ----------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_dtypes(dtype: Any) -> None:
    a = X.astype(dtype) * (1 + 1j) if dtype is np.complex128 else np.abs(X).astype(dtype)
    check_vmap(lambda a: (a * 2.0 + 1, a @ a, np.mean(a), a**0.5, np.abs(a), a * 1j, a.real, np.conj(a)), a)
    check_vmap(grad(lambda a: np.sum(np.abs(a) ** 2)), a)


def test_integers_and_truths() -> None:
    check_vmap(lambda n: (n // 2, n % 3, n**2, n / 2, -n, n > 2), np.arange(5))
    check_vmap(lambda b: (~b, b + 1, b & True, not b), np.array([True, False]))
    check_vmap(early, x5.astype(np.float32))
    check_vmap(nested, x5.astype(np.float32), COUNTS)


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("program", [halved, early, grad(early), lambda x: np.outer(np.ones(2), X[0]) * x],
                         ids=["while", "return", "grad", "outer"])
def test_few_lanes(program: Any, count: int) -> None:
    five = vmap(program)(P5)
    found = vmap(program)(P5[:count])
    for few, many in zip(found if isinstance(found, tuple) else [found], five if isinstance(five, tuple) else [five],
                         strict=True):
        assert few.dtype == many.dtype and few.shape == (count, *many.shape[1:])
        np.testing.assert_allclose(few, many[:count])


def test_empty_arrays() -> None:
    assert vmap(lambda a, b: a @ b)(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0,)
    assert vmap(lambda a, b: np.sum(a * b))(np.ones((4, 0)), np.ones((4, 0))).tolist() == [0.0] * 4
    assert vmap(lambda a: np.linalg.solve(a, np.ones(2)))(np.zeros((0, 2, 2))).shape == (0, 2)
    assert vmap(lambda x, m: np.sum(x[m]))(np.zeros((0, 2)), np.zeros((0, 2), bool)).shape == (0,)


def test_one_object_for_all_numbers_of_lanes() -> None:
    mapped = vmap(lambda x, w: x @ w, in_axes=(0, None))
    for count, width in ((5, 3), (2, 2), (1, 3), (4, 1), (1, 1), (3, 3)):
        x, w = RNG.normal(size=(count, width)), RNG.normal(size=width)
        np.testing.assert_allclose(mapped(x, w), x @ w)


# -- the page -----------------------------------------------------------------------------------

PAGE = [block for block in blocks((FOLDER / "vmap.md").read_text(), "python") if block.startswith("from transformer")]


@pytest.mark.parametrize("block", PAGE, ids=lambda block: block.splitlines()[0])
def test_examples_of_the_page(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What they assert holds; test_docs.py compares what they print with the page."""
    run_block(block)
    assert ("print(" in block) == bool(capsys.readouterr().out)
