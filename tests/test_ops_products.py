"""Products and linear algebra: what the generated tests of every op do not reach.

Which rule is emitted for which ranks, NumPy's refusals, the forms in which products are written,
singular and symmetric matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from emission import Reading

from transformer.core.errors import TransformError
from transformer.ops.einsum import Einsum, normal_subscripts
from transformer.ops.factorizations import Cholesky, Eigh
from transformer.ops.linear_algebra import Det, Inv, Slogdet, Solve
from transformer.ops.products import Dot, Inner, Matmul, Tensordot


def computed(function: Callable[..., Any], *arguments: Any, symbolic: bool = False
             ) -> tuple[Any, list[str]]:
    """What a function emits for arrays, run by NumPy, and the names of the ops in it."""
    reading = Reading(*arguments, symbolic=symbolic)
    return reading.run(reading.emitted(function)), reading.names()


def arrays(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [rng.normal(size=shape)[()] for shape in shapes]


# -- the rules for matrices and vectors are what a person would write -----------------------------

READABLE = [
    (Matmul, (2, 3), (3, 4), ["transpose", "matmul"], ["transpose", "matmul"]),
    (Matmul, (2, 3), (3,), ["outer"], ["transpose", "matmul"]),
    (Matmul, (3,), (3, 4), ["matmul"], ["outer"]),
    (Matmul, (3,), (3,), ["multiply"], ["multiply"]),
    (Matmul, (5, 2, 3), (3, 4), ["transpose", "matmul"], ["tensordot"]),
    (Matmul, (5, 2, 3), (5, 3, 4), ["swapaxes", "matmul"], ["swapaxes", "matmul"]),
    (Dot, (2, 3), (3, 4), ["transpose", "matmul"], ["transpose", "matmul"]),
    (Dot, (), (3,), ["multiply"], ["multiply"]),
    (Inner, (2, 3), (4, 3), ["matmul"], ["transpose", "matmul"]),
    (Inner, (2, 3), (3,), ["outer"], ["matmul"]),
]


@pytest.mark.parametrize(("op", "left", "right", "to_left", "to_right"), READABLE)
def test_rules_are_short(op: Any, left: Any, right: Any, to_left: Any, to_right: Any) -> None:
    a, b = arrays(left, right)
    dy = op.run(a, b)
    for rule, expected in zip(op.vjp, (to_left, to_right)):
        found, names = computed(rule, dy, a, b)
        assert names == expected
        np.testing.assert_allclose(found, rule(dy, a, b))


# -- sizes and refusals ---------------------------------------------------------------------------

RIGHT = [
    (np.matmul, (2, 3), (3, 4)), (np.matmul, (5, 1, 2, 3), (4, 3, 2)), (np.dot, (2, 3), (4, 3, 2)),
    (np.inner, (2, 3), (4, 3)), (np.tensordot, (2, 3, 4), (3, 4, 2)), (np.vdot, (2, 3), (2, 3)),
    (np.kron, (2, 3), (3, 2)), (np.outer, (2, 3), (4,)), (np.cross, (2, 3), (3,)),
    (np.linalg.solve, (2, 3, 3), (2, 3, 4)), (np.linalg.solve, (2, 3, 3), (3,)),
]


@pytest.mark.parametrize(("function", "left", "right"), RIGHT)
def test_sizes_with_names(function: Any, left: Any, right: Any) -> None:
    a, b = arrays(left, right)
    found, _ = computed(function, a, b, symbolic=True)
    np.testing.assert_allclose(found, function(a, b))


WRONG = [
    (np.matmul, (2, 3), (2, 3)), (np.matmul, (), (3,)), (np.matmul, (2, 2, 3), (3, 3, 2)),
    (np.dot, (2, 3), (4, 5)), (np.dot, (2, 3), (2,)), (np.inner, (3,), (4,)), (np.vdot, (3,), (4,)),
    (np.tensordot, (2, 3), (3, 2)), (np.cross, (4,), (4,)), (np.linalg.solve, (3, 3), (2,)),
    (np.linalg.solve, (3, 3), (2, 3)), (np.linalg.solve, (3, 2), (3,)),
    (np.linalg.solve, (2, 2), ()),
]


@pytest.mark.parametrize(("function", "left", "right"), WRONG)
def test_what_numpy_refuses(function: Any, left: Any, right: Any) -> None:
    a, b = arrays(left, right)
    with pytest.raises(ValueError) as numpy:
        function(a, b)
    with pytest.raises(TransformError) as ours:
        computed(function, a, b)
    if function not in (np.cross, np.vdot) and right:
        assert ours.value.message.split(" with shapes")[0] in str(numpy.value)


@pytest.mark.parametrize(("function", "shape"), [
    (np.linalg.inv, (2, 3)), (np.linalg.det, (3,)), (np.linalg.cholesky, (2, 3)),
    (np.linalg.slogdet, ()), (np.linalg.eigh, (4,)), (np.linalg.qr, (2,)), (np.linalg.pinv, (2,)),
])
def test_matrices_that_numpy_refuses(function: Any, shape: Any) -> None:
    [a] = arrays(shape)
    with pytest.raises((ValueError, IndexError)):
        function(a)
    with pytest.raises(TransformError):
        computed(function, a)


def test_refusals_of_our_own() -> None:
    [a] = arrays((2, 3))
    for function, what in [(np.linalg.qr, "more columns"),
                           (lambda x: np.linalg.qr(x.T, mode="r"), "mode"),
                           (lambda x: np.einsum("ij->i", x, dtype=float), "dtype")]:
        with pytest.raises(TransformError, match=what):
            computed(function, a)
    with pytest.raises(TransformError, match="complex"):
        computed(np.linalg.eigh, np.eye(2) * 1j)
    with pytest.raises(TransformError, match="float16"):
        computed(np.linalg.inv, np.eye(2, dtype=np.float16))


# -- forms ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("subscripts", "ranks", "normal"), [
    ("ij,jk", [2, 2], "ij,jk->ik"), ("ji", [2], "ji->ij"), ("ii", [2], "ii->"), ("i->", [1], "i->"),
    ("... j, j", [3, 1], "abj,j->ab"), ("...ij,...jk->...ik", [3, 4], "bij,abjk->abik"),
    ("i...->...i", [2], "ia->ai"), (",i", [0, 1], ",i->i"), ("ba,c", [2, 1], "ba,c->abc"),
])
def test_subscripts_become_explicit(subscripts: str, ranks: list[int], normal: str) -> None:
    assert normal_subscripts(subscripts, ranks) == normal


FORMS: list[tuple[Callable[..., Any], list[tuple[int, ...]]]] = [
    (lambda a, b: np.einsum("ij,jk", a, b), [(2, 3), (3, 2)]),
    (lambda a, b: np.einsum("...j,kj->...k", a, b, optimize=True), [(2, 4, 3), (2, 3)]),
    (lambda a, b: np.einsum(a, [0, 1], b, [1, 2], [2, 0]), [(2, 3), (3, 2)]),
    (lambda a, b: np.einsum(a, [0, ...], b, [0]), [(2, 3), (2,)]),
    (lambda a, b: np.einsum("i,i->i", a, b), [(1,), (3,)]),
    (lambda a, b: np.tensordot(a, b, axes=1), [(2, 3), (3, 4)]),
    (lambda a, b: np.tensordot(a, b, axes=(-1, 0)), [(2, 3), (3, 4)]),
    (lambda a, b: np.tensordot(a, b, axes=([0, 1], [1, 0])), [(2, 3), (3, 2, 4)]),
    (lambda a, b: np.cross(a, b, axis=0), [(3, 2), (3, 2)]),
    (lambda a, b: np.vecdot(a, b), [(2, 3), (3,)]),
    (lambda a, b: a.dot(b), [(2, 3), (3,)]),
    (lambda a, b: np.linalg.matmul(a, b), [(2, 3), (3, 2)]),
    (lambda a, b: np.linalg.multi_dot([a, b, a]), [(2, 3), (3, 2)]),
    (lambda a: np.linalg.matrix_power(a, 5), [(2, 2)]),
    (lambda a: np.linalg.matrix_power(a, 0), [(2, 2)]),
    (lambda a: np.linalg.matrix_power(a, -3), [(2, 2)]),
    (lambda a: np.linalg.cholesky(a @ a.T + np.eye(2, like=a), upper=True), [(2, 2)]),
    (lambda a: np.linalg.eigh(a, UPLO="U")[0], [(3, 3)]),
    (lambda a: np.linalg.slogdet(a)[1], [(3, 3)]),
]


@pytest.mark.parametrize("k", range(len(FORMS)))
def test_forms_agree_with_numpy(k: int) -> None:
    function, shapes = FORMS[k]
    given = arrays(*shapes)
    found, _ = computed(function, *given)
    np.testing.assert_allclose(found, function(*given), rtol=1e-10)


def test_dtypes_are_numpys() -> None:
    rng = np.random.default_rng(0)
    kinds = [rng.normal(size=(2, 2)).astype(d) for d in ("f4", "f8", "i4", "c8")]
    for function in (np.matmul, np.dot, np.inner, np.outer, np.kron, np.vdot):
        for a in kinds:
            for b in kinds:
                assert computed(function, a, b)[0].dtype == function(a, b).dtype
    assert computed(lambda a: np.dot(a, 2.0), kinds[0])[0].dtype == np.dot(kinds[0], 2.0).dtype


# -- rules against differences where the generated tests do not go --------------------------------


def test_every_pair_of_ranks_of_a_product() -> None:
    shapes = [(3,), (2, 3), (4, 2, 3), (2, 1, 2, 3)]
    for op in (Matmul, Dot, Inner):
        for left in shapes:
            for right in shapes:
                right = (*right[:-2], *right[-2:][::-1]) if op is not Inner else right
                check_transpose(op, *arrays(left, right))


def check_transpose(op: Any, a: np.ndarray, b: np.ndarray, **attrs: Any) -> None:
    """`<dy, op(t, b)> == <to_a(dy), t>`, and the same for b."""
    y = op.run(a, b, **attrs)
    dy, ta, tb = arrays(np.shape(y), a.shape, b.shape)
    for k, t in enumerate((ta, tb)):
        tangent = op.run(t, b, **attrs) if k == 0 else op.run(a, t, **attrs)
        cotangent = op.vjp[k](dy, a, b, **attrs)
        np.testing.assert_allclose(np.sum(dy * tangent), np.sum(summed_to(cotangent, t) * t))


def summed_to(cotangent: Any, like: np.ndarray) -> Any:
    """What the engine does with every cotangent."""
    while np.ndim(cotangent) > like.ndim:
        cotangent = np.sum(cotangent, axis=0)
    for k, size in enumerate(like.shape):
        if size == 1:
            cotangent = np.sum(cotangent, axis=k, keepdims=True)
    return cotangent


def test_tensordot_over_any_axes() -> None:
    a, b = arrays((2, 3, 4), (4, 2, 3))
    for axes in [((2,), (0,)), ((0, 2), (1, 0)), ((2, 0, 1), (0, 1, 2)), ((1, 0), (2, 1)), 0]:
        check_transpose(Tensordot, a, b, axes=axes)


def test_einsum_with_sizes_of_one() -> None:
    a, b = arrays((1, 3), (2, 1))
    dy = arrays((2, 3))[0]
    to_a = Einsum.vjp[0](dy, 0, a, b, subscripts="ij,ij->ij")
    np.testing.assert_allclose(summed_to(to_a, a), np.sum(dy * b, axis=0, keepdims=True))


def test_the_derivative_at_a_singular_matrix_raises_or_is_right() -> None:
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    with pytest.raises(np.linalg.LinAlgError):
        Det.vjp[0](1.0, singular, 0.0)
    nearly = np.arange(1.0, 10.0).reshape(3, 3) + 1e-12 * np.eye(3)
    cofactors = np.array([[-3.0, 6.0, -3.0], [6.0, -12.0, 6.0], [-3.0, 6.0, -3.0]])
    np.testing.assert_allclose(Det.vjp[0](1.0, nearly, Det.run(nearly)), cofactors, rtol=1e-9)


def test_the_rule_of_cholesky_is_right_for_symmetric_tangents() -> None:
    a, dy = arrays((3, 3), (3, 3))
    a = a @ a.T + np.eye(3)
    gradient = Cholesky.vjp[0](dy, a, Cholesky.run(a))
    for i, j in [(0, 0), (1, 0), (2, 1)]:
        step = np.zeros((3, 3))
        step[i, j] = step[j, i] = 1e-6
        slope = np.sum(dy * (Cholesky.run(a + step) - Cholesky.run(a - step))) / 2e-6
        np.testing.assert_allclose(np.sum(gradient * step) / 1e-6, slope, rtol=1e-6, atol=1e-7)


def test_complex_matrices() -> None:
    """`Re(sum(u * J v)) == Re(sum((J' u) * v))`, with tangents from differences."""
    rng = np.random.default_rng(5)

    def draw(*shape: int) -> Any:
        return rng.normal(size=shape) + 1j * rng.normal(size=shape)

    a = draw(3, 3) + 3 * np.eye(3)
    t = draw(3, 3)
    for op in (Inv, Det, Slogdet):
        y = op.run(a)
        above, below = op.run(a + 1e-6 * t), op.run(a - 1e-6 * t)
        if op is Slogdet:
            u = (draw()[()], rng.normal())
            pairs = zip(u, above, below)
            left = sum(np.real(v * (p - q)) for v, p, q in pairs) / 2e-6
        else:
            u = draw(*np.shape(y))
            left = np.real(np.sum(u * (above - below))) / 2e-6
        np.testing.assert_allclose(left, np.real(np.sum(op.vjp[0](u, a, y) * t)), rtol=1e-6)


def test_stacks_of_vectors_are_solved() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(4, 3, 3)) + 3 * np.eye(3), rng.normal(size=3)
    y, dy = Solve.run(a, b), rng.normal(size=(4, 3))
    to_b = Solve.vjp[1](dy, a, b, y)
    np.testing.assert_allclose(to_b, [np.linalg.solve(m.T, d) for m, d in zip(a, dy)])
    to_a = Solve.vjp[0](dy, a, b, y)
    np.testing.assert_allclose(to_a, [-np.outer(d, x) for d, x in zip(to_b, y)])


def test_eigenvectors_of_a_multiple_eigenvalue_have_no_derivative() -> None:
    with np.errstate(divide="ignore", invalid="ignore"):
        _, tangent = Eigh.jvp[0](np.ones((2, 2)), np.eye(2), np.linalg.eigh(np.eye(2)))
    assert not np.all(np.isfinite(tangent))
