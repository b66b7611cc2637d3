"""`vmap` beside a loop over lanes: axes, pytrees, closures, control flow, writes, derivatives, and what it refuses."""

from __future__ import annotations

import copy
import functools
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from doc_blocks import FOLDER, blocks, run_block
from lane_loops import assert_alike, check_vmap

from transformer import (
    BadArgument,
    NotSupported,
    TransformError,
    checkpoint,
    config,
    custom_jvp,
    custom_vjp,
    grad,
    hessian,
    hvp,
    jit,
    jvp,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)

RNG = np.random.default_rng(0)
x5 = RNG.normal(size=5)
P5 = np.abs(x5) + 0.5
X = RNG.normal(size=(5, 3))
W = RNG.normal(size=(3, 3))
SQUARES = RNG.normal(size=(4, 3, 3)) + 3 * np.eye(3)
COUNTS = np.array([0, 1, 2, 3, 5])


@pytest.fixture(autouse=True)
def checked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(config, "check", True)
    with np.errstate(all="ignore"):
        yield


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


def shrunk(a: Any, b: Any, c: Any) -> Any:
    while a > 0.1:
        a = a * b
    return a + c


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


# -- lanes that part ----------------------------------------------------------------------------


def halved(z: Any) -> Any:
    n = 0
    while z > 1:
        z = z / 2
        n += 1
    return z, n


def early(x: Any) -> Any:
    for i in range(4):
        x = x * 1.5
        if x > 1:
            return x * 10
        if i == 2 and x < 0:
            break
        if x < -1:
            continue
        x = x + 0.1
    else:
        return x + 100
    return x


def zero_trips(x: Any, n: Any) -> Any:
    t, i = 1.0, -1
    for i in range(n):
        t = t * x
    return t * (i + 1)


def nested(x: Any, n: Any) -> Any:
    t = x
    for i in range(n):
        for j in range(i):
            t = np.sin(t) + j
        t = t * x
    return t


def sized(x: Any, n: Any) -> Any:
    y = np.zeros(n)
    for i in range(n):
        y[i] = x * i
    return np.sum(y**2)


def guarded(x: Any) -> Any:
    if x > 0:
        return np.log(x)
    return 0.0 * x


def bisected(lo: Any, hi: Any, x: Any) -> Any:
    if hi - lo < 1e-3:
        return 0.5 * (lo + hi) * x
    m = 0.5 * (lo + hi)
    if m * m < x:
        return bisected(m, hi, x)
    return bisected(lo, m, x)


def factorial(n: Any, x: Any) -> Any:
    return x if n <= 0 else x * factorial(n - 1, x)


PARTING: dict[str, tuple[Any, tuple[Any, ...], Any, int]] = {       # program, arguments, in_axes, differentiated
    "while": (lambda z: halved(z)[0] * z, (np.array([0.5, 3.0, 100.0, 7.0]),), 0, 0),
    "early return": (early, (np.array([-2.0, -0.5, 0.1, 0.5, 3.0]),), 0, 0),
    "zero trips": (zero_trips, (x5, COUNTS), 0, 0),
    "nested loops": (nested, (x5, COUNTS), 0, 0),
    "sizes": (sized, (x5, COUNTS), 0, 0),
    "a branch that may not be taken": (guarded, (np.array([-1.0, 0.0, 2.0]),), 0, 0),
    "recursion": (factorial, (COUNTS, x5), 0, 1),
    "recursion on values": (bisected, (0.0, 10.0, np.array([1.0, 2.0, 30.0])), (None, None, 0), 2),
    "a mask": (lambda x: np.sum(x[x > 0] ** 3), (X,), 0, 0),
    "a loop over rows": (lambda x, s: sum([v * s for v in x if v > 0], 0.0), (X, x5), 0, 1),
    "two on one condition": (lambda x: (x * 2 if x > 0 else -x) * (np.sin(x) if x > 0 else np.cos(x)), (x5,), 0, 0),
    "all and any": (lambda x: np.prod(x) if np.all(x > -1) and x[0] > 0 else np.sum(x), (X,), 0, 0),
}


@pytest.mark.parametrize("name", PARTING)
def test_lanes_that_part(name: str) -> None:
    program, args, axes, wrt = PARTING[name]
    check_vmap(program, *args, in_axes=axes)
    check_vmap(grad(program, argnums=wrt), *args, in_axes=axes)


def counted(x: Any) -> Any:
    above, below = x[x > 0], x[x < 0.5]
    count = len(above) + len(below) if x[0] > 0 else len(above) * len(below)
    for v in x:
        count = count + (1 if v > 0 else len(above))
    return np.sum(above) / (len(above) // 2 + 1) + min(len(above), 2) * np.sum(x) * count


def test_sizes_of_lanes_are_computed_with() -> None:
    check_vmap(counted, X)
    check_vmap(grad(counted), X)
    check_vmap(lambda x: (len(x[x > 0]) + len(x[x < 1]), len(x[x > 0]) // 2), X)
    check_vmap(lambda x: np.mean(x[x > 0]) if len(x[x > 0]) + 1 > 2 else x[0] * (x.shape[0] - len(x[x > 0])), X)


def test_other_results_of_lanes_that_part() -> None:
    check_vmap(halved, np.array([0.5, 3.0, 100.0, 7.0]))
    check_vmap(lambda x, n: (zero_trips(x, n), n), x5, COUNTS)


def test_statements_that_part_between_others() -> None:
    """Only what parts runs lane by lane: the products stay whole."""
    def mixed(x: Any) -> Any:
        y = W @ x
        while y[0] > 0.1:
            y = y * 0.5
        return W @ y
    assert check_vmap(mixed, X).source.count("for lane") == 1
    found = check_vmap(mixed, X).source
    assert "W.T" in found or "@ W" in found, found


# -- effects ------------------------------------------------------------------------------------


def test_prints_are_in_the_order_of_lanes(capsys: pytest.CaptureFixture[str]) -> None:
    def program(x: Any) -> Any:
        print("x is", x)
        return x * 2
    vmap(program)(np.array([1.5, 2.5]))
    assert capsys.readouterr().out == "x is 1.5\nx is 2.5\n"


def test_raise_and_assert_are_those_of_a_lane() -> None:
    def raising(x: Any) -> Any:
        if x < 0:
            raise ValueError(f"bad {x:.1f}")
        return x * 2

    def asserting(x: Any) -> Any:
        assert x > 0, "positive"
        return x * 2
    for program, error, text in ((raising, ValueError, "bad -3.0"), (asserting, AssertionError, "positive")):
        check_vmap(program, P5)
        check_vmap(grad(program), P5)
        for derived in (vmap(program), vmap(grad(program))):
            with pytest.raises(error, match=text):
                derived(np.array([1.0, -3.0, -4.0]))


def test_unbound_names_are_those_of_a_lane() -> None:
    def program(x: Any) -> Any:
        if x > 0:
            y = x
        return y  # noqa: F821
    check_vmap(program, P5)
    for lanes in (-P5, np.array([1.0, -1.0, 2.0])):                # also where the lane before has bound it
        with pytest.raises(UnboundLocalError):
            vmap(program)(lanes)

    def in_a_loop(x: Any) -> Any:
        for i in range(3):
            if x > i:
                y = x * i
        return y * 2  # noqa: F821
    check_vmap(in_a_loop, np.array([0.5, 1.5, 7.0]))
    check_vmap(grad(in_a_loop), np.array([0.5, 1.5, 7.0]))
    with pytest.raises(UnboundLocalError):
        vmap(in_a_loop)(np.array([0.5, -1.5, 7.0]))

    def called(xs: Any) -> Any:
        return sum([program(x) for x in xs], 0.0)
    with pytest.raises(UnboundLocalError):
        value_and_grad(called)(np.array([1.0, -1.0, 2.0]))


@pytest.mark.parametrize("k", [3, -4])
def test_indices_out_of_bounds(k: int) -> None:
    with pytest.raises(IndexError):
        vmap(lambda x, k: x[k])(X, np.array([0, 1, k, 0, 0]))


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


# -- derivatives --------------------------------------------------------------------------------


def wavy(w: Any, x: Any) -> Any:
    return np.sum(np.sin(w * x) * np.cumsum(w))


def test_per_sample_gradients() -> None:
    check_vmap(grad(wavy), X[0], X, in_axes=(None, 0))
    check_vmap(value_and_grad(wavy, argnums=(0, 1)), X, X)
    np.testing.assert_allclose(grad(lambda w: np.sum(vmap(wavy, in_axes=(None, 0))(w, X)))(X[0]),
                               np.sum(vmap(grad(wavy), in_axes=(None, 0))(X[0], X), axis=0))


@pytest.mark.parametrize("name", PARTING)
def test_gradient_of_vmap(name: str) -> None:
    program, args, axes, wrt = PARTING[name]

    def total(*args: Any) -> Any:
        return np.sum(np.sin(vmap(program, in_axes=axes)(*args)))
    axis = axes if isinstance(axes, int) else axes[wrt]
    count = len(args[wrt])
    slope = grad(lambda *one: np.sin(program(*one)), argnums=wrt)
    assert axis == 0
    expected = [slope(*copy.deepcopy(tuple(a[k] if isinstance(a, np.ndarray) else a for a in args)))
                for k in range(count)]
    np.testing.assert_allclose(grad(total, argnums=wrt)(*args), expected, rtol=1e-9, atol=1e-12)


def test_gradient_for_what_lanes_share() -> None:
    slope = grad(lambda b, a: np.sin(shrunk(a, b, 1.0)))
    found = grad(lambda b: np.sum(np.sin(vmap(shrunk, (0, None, None))(P5, b, 1.0))))(0.5)
    np.testing.assert_allclose(found, sum(slope(0.5, a) for a in P5))


def test_forward_and_pullback_inside_and_outside() -> None:
    check_vmap(lambda x: jvp(np.sin, (x,), (1.0,)), x5)
    check_vmap(lambda x: vjp(np.sin, x)[1](2.0)[0], x5)
    check_vmap(lambda x: linearize(np.sin, x)[1](2.0), x5)
    np.testing.assert_allclose(jvp(vmap(np.sin), (x5,), (P5,))[1], np.cos(x5) * P5)
    np.testing.assert_allclose(vjp(vmap(np.sin), x5)[1](P5)[0], np.cos(x5) * P5)
    jacobian = vmap(lambda t: jvp(np.cumprod, (X[0],), (t,))[1])(np.eye(3))
    pulled = vmap(lambda c: vjp(np.cumprod, X[0])[1](c)[0])(np.eye(3))
    np.testing.assert_allclose(jacobian.T, pulled)


def test_higher_orders() -> None:
    cube = vmap(grad(grad(lambda x: np.sin(x) * x)))
    np.testing.assert_allclose(cube(x5), 2 * np.cos(x5) - x5 * np.sin(x5))
    np.testing.assert_allclose(grad(lambda x: np.sum(vmap(grad(lambda z: z**3))(x)))(x5), 6 * x5)
    check_vmap(hessian(lambda v: np.sin(shrunk(v[0], v[1], v[2]))), np.stack([P5, P5 * 0 + 0.4, P5], axis=1))
    fourth = jit(vmap(grad(vmap_sum(grad(lambda z: z**4)))))
    np.testing.assert_allclose(fourth(X), 12 * X**2)


def vmap_sum(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: np.sum(vmap(function)(x))


def test_no_confusion_of_perturbations() -> None:
    def confusable(x: Any) -> Any:
        return grad(lambda x: x * grad(lambda y: x + y)(1.0))(x)
    assert confusable(1.0) == 1.0
    np.testing.assert_array_equal(vmap(confusable)(P5), np.ones(5))

    def closing(x: Any) -> Any:                                    # 3 x²
        return np.sum(vmap(lambda y: x * grad(lambda z: x * z * y)(y))(np.arange(3.0)))
    assert grad(closing)(2.0) == 12.0
    assert hessian(closing)(2.0) == 6.0
    np.testing.assert_allclose(vmap(grad(closing))(x5), 6 * x5)


@custom_jvp
def softplus(x: Any) -> Any:
    return np.log(1 + np.exp(x))


@softplus.defjvp
def softplus_jvp(primals: Any, tangents: Any) -> Any:
    return softplus(primals[0]), 100 * tangents[0]                 # no derivative, so that it shows


@custom_vjp
def clipped(x: Any) -> Any:
    return x * 1.0


clipped.defvjp(lambda x: (x * 1.0, None), lambda kept, dy: (np.clip(dy, -1, 1),))


@checkpoint
def twice(x: Any) -> Any:
    return np.sin(np.sin(x))


def test_rules_of_users() -> None:
    check_vmap(softplus, x5)
    np.testing.assert_array_equal(vmap(grad(softplus))(x5), np.full(5, 100.0))
    np.testing.assert_array_equal(vmap(grad(lambda x: 5 * clipped(x)))(x5), np.ones(5))
    check_vmap(grad(lambda x: np.sum(twice(x) ** 2)), X)
    np.testing.assert_allclose(grad(lambda x: np.sum(vmap(twice)(x)))(x5), np.cos(np.sin(x5)) * np.cos(x5))
    np.testing.assert_array_equal(vmap(grad(lambda x: stop_gradient(x) * x))(x5), x5)


# -- inside of programs -------------------------------------------------------------------------


def test_training_loop() -> None:
    """Gradients of each sample in every step, clipped one by one, as in private training."""
    Y = X @ np.array([1.0, -2.0, 0.5])

    def loss(w: Any, x: Any, y: Any) -> Any:
        return (x @ w - y) ** 2

    def train(w: Any, rate: Any, clip: Callable[..., Any]) -> Any:
        for _ in range(60):
            slopes = clip(w)
            w = w - rate * np.mean(slopes, axis=0)
        return w

    def all_at_once(w: Any) -> Any:
        slopes = vmap(grad(loss), in_axes=(None, 0, 0))(w, X, Y)
        norms = np.sqrt(np.sum(slopes**2, axis=1, keepdims=True))
        return slopes / np.maximum(1.0, norms)

    def one_by_one(w: Any) -> Any:
        slopes = [2 * (x @ w - y) * x for x, y in zip(X, Y)]
        return np.array([s / max(1.0, np.sqrt(s @ s)) for s in slopes])
    expected = train(np.zeros(3), 0.1, one_by_one)
    np.testing.assert_allclose(train(np.zeros(3), 0.1, all_at_once), expected)
    rates = np.array([0.05, 0.1, 0.2])
    found = vmap(lambda rate: train(np.zeros(3), rate, all_at_once))(rates)
    np.testing.assert_allclose(found, [train(np.zeros(3), rate, one_by_one) for rate in rates])


def test_newton_with_a_hessian() -> None:
    def energy(x: Any, a: Any) -> Any:
        return np.sum((x - a) ** 4 + (x - a) ** 2) + np.sum(x) ** 2

    def minimum(a: Any) -> Any:
        x = np.zeros(3)
        for _ in range(8):
            x = x - np.linalg.solve(hessian(energy)(x, a), grad(energy)(x, a))
        return x
    check_vmap(minimum, X)
    np.testing.assert_allclose(grad(energy)(minimum(X[0]), X[0]), np.zeros(3), atol=1e-9)
    check_vmap(grad(lambda a: np.sum(minimum(a))), X[:2])


def newton_root(a: Any) -> Any:
    x = a
    while abs(x * x - a) > 1e-12:
        x = x - (x * x - a) / (2 * x)
    return x


SHARED = {"root": jit(vmap(newton_root)), "slopes": jit(vmap(grad(newton_root)))}


def test_compiled() -> None:
    np.testing.assert_allclose(SHARED["root"](P5), np.sqrt(P5))
    np.testing.assert_allclose(SHARED["slopes"](P5), 0.5 / np.sqrt(P5))
    np.testing.assert_allclose(SHARED["slopes"](P5[:2]), 0.5 / np.sqrt(P5[:2]))
    assert SHARED["slopes"](P5[:0]).shape == (0,)
    per_sample = jit(vmap(grad(wavy), in_axes=(None, 0)))
    np.testing.assert_allclose(per_sample(X[0], X), vmap(grad(wavy), in_axes=(None, 0))(X[0], X))


def doubled(x: Any) -> Any:
    return x * 2 if x > 0 else x


@functools.partial(vmap, in_axes=(0, None))
def decorated(x: Any, w: Any) -> Any:
    return x * w


def test_pickling() -> None:
    for mapped in (vmap(doubled), vmap(grad(doubled)), jit(vmap(doubled))):
        found = pickle.loads(pickle.dumps(mapped))
        np.testing.assert_array_equal(found(x5), mapped(x5))
    assert pickle.loads(pickle.dumps(decorated)) is decorated


def test_is_a_function() -> None:
    assert vmap(doubled).__name__ == "doubled"
    assert "vmap of doubled" in repr(vmap(doubled))
    assert "def doubled_vmap(x):" in vmap(doubled).source_for(x5)
    assert set(vmap(doubled).stages(x5)) >= {"read", "vmap"}


# -- what is refused ----------------------------------------------------------------------------


def add(a: Any, b: Any) -> Any:
    return a + b


def affine(p: Any, x: Any) -> Any:
    return np.sum(p["w"] * x) + p["b"]


FOUR = np.ones(4)
BAD: dict[str, tuple[Callable[[], Any], type, str, str]] = {       # call, error, message, what to do
    "an axis out of range": (lambda: vmap(add, in_axes=(2, 0))(X, X), BadArgument,
                             "in_axes[0] is 2, but a has 2 axes", "from -2 to 1"),
    "a negative one": (lambda: vmap(add, in_axes=(0, -3))(X, X), BadArgument,
                       "in_axes[1] is -3, but b has 2 axes", "from -2 to 1"),
    "sizes": (lambda: vmap(add)(X, np.ones((4, 3))), BadArgument,
              "vmap maps a over 5 lanes and b over 4", "None in in_axes"),
    "sizes of leaves": (lambda: vmap(affine)({"w": X, "b": FOUR}, X), BadArgument,
                        "vmap maps p['w'] over 5 lanes and p['b'] over 4", "None in in_axes"),
    "a size that is given": (lambda: vmap(add, axis_size=4)(X, X), BadArgument,
                             "axis_size is 4, but vmap maps a over 5 lanes", "as many lanes"),
    "too few axes": (lambda: vmap(add, in_axes=(0,))(X, X), BadArgument,
                     "in_axes has 1 entry for 2 arguments passed by position: a, b", "one axis for each"),
    "too many axes": (lambda: vmap(add, in_axes=(0, 0, 0))(X, X), BadArgument,
                      "in_axes has 3 entries for 2 arguments passed by position: a, b", "one axis for each"),
    "another tree": (lambda: vmap(affine, in_axes=({"w": 0, "c": 0}, 0))({"w": X, "b": FOUR}, X), BadArgument,
                     "in_axes[0] is {'w': 0, 'c': 0}, which does not fit p: {'w': *, 'b': *}",
                     "a tree of its structure"),
    "a tuple for a dict": (lambda: vmap(affine, in_axes=((0, 0), 0))({"w": X, "b": FOUR}, X), BadArgument,
                           "in_axes[0] is (0, 0), which does not fit p: {", "a tree of its structure"),
    "a word": (lambda: vmap(add, in_axes=("a", 0))(X, X), BadArgument, "in_axes[0] is 'a', which is no axis",
               "Give an int, or None"),
    "a truth value": (lambda: vmap(add, in_axes=(True, 0))(X, X), BadArgument, "which is no axis", "an int, or None"),
    "a number": (lambda: vmap(add)(X, 2.0), BadArgument, "vmap maps b along its axis 0, but it is a number",
                 "None for it in in_axes[1]"),
    "an array without axes": (lambda: vmap(add)(X, np.array(2.0)), BadArgument, "but it is an array without axes",
                              "None for it in in_axes[1]"),
    "a keyword": (lambda: vmap(add, in_axes=(0,))(X, b=3.0), BadArgument,
                  "vmap maps b along its axis 0, but it is a number", "functools.partial"),
    "nothing": (lambda: vmap(add, in_axes=None)(X, X), BadArgument, "vmap has nothing to map over", "axis_size"),
    "a static index": (lambda: vmap(lambda x, k: [x, 2 * x][k])(FOUR, np.array([0, 1, 1, 0])), BadArgument,
                       "k has to be known when the function is read, and vmap maps it", "None for it"),
    "a static axis": (lambda: vmap(lambda x, k: np.sum(x, axis=k))(np.ones((4, 2, 2)), np.array([0, 1, 1, 0])),
                      BadArgument, "k has to be known", "None for it in in_axes[1]"),
    "a size": (lambda: vmap(lambda n: np.zeros(n))(np.array([1, 2])), NotSupported,
               "an array has another size in each lane, as n differs", "one size in all lanes"),
    "a shape": (lambda: vmap(lambda x, k: x.reshape(k, 2))(np.ones((4, 4)), np.array([2, 2, 2, 2])), NotSupported,
                "an array has another size in each lane", "one size in all lanes"),
    "a mask returned": (lambda: vmap(lambda x: x[x > 0])(X), NotSupported, "an array has another size in each lane",
                        "one size in all lanes"),
    "out_axes out of range": (lambda: vmap(add, out_axes=3)(X, X), BadArgument,
                              "out_axes is 3, but the result has 2 axes", "from -2 to 1"),
    "out_axes of a number": (lambda: vmap(lambda x: (x, 1.0), out_axes=(0, 2))(X), BadArgument,
                             "out_axes[1] is 2, but the result[1] has 1 axis", "from -1 to 0"),
    "out_axes of what differs": (lambda: vmap(add, out_axes=None)(X, X), BadArgument,
                                 "the result differs from lane to lane, but its out_axes is None", "such as 0"),
    "out_axes of a leaf that differs": (lambda: vmap(lambda x: {"a": x, "b": x}, out_axes={"a": 0, "b": None})(X),
                                        BadArgument, "the result['b'] differs from lane to lane", "such as 0"),
    "another tree of out_axes": (lambda: vmap(lambda x: (x, x), out_axes=(0, 0, 0))(X), BadArgument,
                                 "out_axes is (0, 0, 0), which does not fit the result: (*, *)", "of its structure"),
    "a word as out_axes": (lambda: vmap(add, out_axes="a")(X, X), BadArgument, "out_axes is 'a', which is no axis",
                           "Give an int, or None"),
    "branches of two kinds": (lambda: vmap(lambda x: (x, x) if x > 0 else x)(FOUR), NotSupported,
                              "the branches of this `if` give a tuple and f64", "same type"),
    "sizes of what is passed by keyword": (lambda: vmap(add)(X, b=np.ones((4, 3))), BadArgument,
                                           "vmap maps a over 5 lanes and b over 4", "functools.partial"),
    "sizes of further arguments": (lambda: vmap(lambda a, *rest: a)(X, X, FOUR), BadArgument,
                                   "vmap maps a over 5 lanes and rest[1] over 4", "as many lanes"),
    "sizes where lanes are nested": (lambda: jit(vmap(vmap(add)))(X, X[:, :2]), BadArgument,
                                     "vmap maps a over 3 lanes and b over 2", "as many lanes"),
    "the size of a direction": (lambda: vmap(hvp(lambda x, y=1.0: np.sum(x ** 3) * y))(X, X[:4]), BadArgument,
                                "vmap maps x over 5 lanes and dx over 4", "as many lanes"),
    "a tree for all arguments": (lambda: vmap(add, in_axes={"a": 0})(X, X), BadArgument,
                                 "in_axes is {'a': 0}, which does not fit a: an array", "one axis for all"),
    "an axis of a leaf": (lambda: vmap(affine, in_axes=({"w": 0, "b": 1}, 0))({"w": X, "b": x5}, X), BadArgument,
                          "in_axes[0]['b'] is 1, but p['b'] has 1 axis", "from -1 to 0"),
    "a word as axis_size": (lambda: vmap(add, axis_size="5")(X, X), BadArgument,
                            "axis_size is '5', which is no number of lanes", "an int"),
    "an axis_size below 0": (lambda: vmap(add, in_axes=None, axis_size=-1)(X, X), BadArgument,
                             "axis_size is -1, which is no number of lanes", "0 or more"),
    "no function": (lambda: vmap(3.0), BadArgument, "vmap takes a function, this is a", "vmap(f)(x)"),
    "too few arguments": (lambda: vmap(add)(X), BadArgument, "missing", "add(a, b)"),
    "no number": (lambda: vmap(grad(lambda x: x))(X), BadArgument, "grad needs a function that returns one number",
                  "Reduce it"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    call, error, message, instead = BAD[name]
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, TransformError)
    text = str(caught.value)
    assert message in text.split("\n")[0] and instead in text.split("\n", 1)[1], text
    assert caught.value.origin is not None and caught.value.origin.file == __file__, text


@pytest.mark.parametrize("call, marked", [
    (lambda: vmap(add)(X, FOUR), "b"), (lambda: vmap(add, in_axes=(0, 3))(X, X), "b"), (lambda: vmap(add)(2.0, X), "a"),
    (lambda: vmap(affine)({"w": X, "b": FOUR}, X), "p"), (lambda: vmap(add, in_axes=(0, "c"))(X, X), "b")])
def test_carets_are_under_the_argument(call: Callable[[], Any], marked: str) -> None:
    with pytest.raises(BadArgument) as caught:
        call()
    place = caught.value.origin
    assert place is not None and place.text[place.column:place.end_column] == f"{marked}: Any"


INSIDE: dict[str, tuple[Callable[..., Any], str]] = {
    "an axis": (lambda x: vmap(add, in_axes=(2, 0))(x, x), "in_axes[0] is 2, but a has 2 axes"),
    "sizes": (lambda x: vmap(add)(x, x[:2]), "vmap maps a over 5 lanes and b over 2"),
    "a number": (lambda x: vmap(add)(x, 2.0), "vmap maps b along its axis 0, but it is a number"),
    "what differs": (lambda x: vmap(add, in_axes=(0, None), out_axes=None)(x, 2.0), "but its out_axes is None"),
    "too few axes": (lambda x: vmap(add, in_axes=(0,))(x, 2.0), "in_axes has 1 entry for 2 arguments"),
}


@pytest.mark.parametrize("name", INSIDE)
def test_bad_input_inside_of_a_program(name: str) -> None:
    call, message = INSIDE[name]
    with pytest.raises(BadArgument) as caught:
        grad(lambda x: np.sum(call(x)))(X)
    assert message in str(caught.value) and caught.value.origin is not None


def test_a_call_that_fails_changes_nothing() -> None:
    mapped = vmap(add)
    for _ in range(2):
        with pytest.raises(BadArgument):
            mapped(X, FOUR)
        np.testing.assert_array_equal(mapped(X, x5), X + x5[:, None])


# -- the page -----------------------------------------------------------------------------------

PAGE = [block for block in blocks((FOLDER / "vmap.md").read_text(), "python") if block.startswith("from transformer")]


@pytest.mark.parametrize("block", PAGE, ids=lambda block: block.splitlines()[0])
def test_examples_of_the_page(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What they assert holds; test_docs.py compares what they print with the page."""
    run_block(block)
    assert ("print(" in block) == bool(capsys.readouterr().out)
