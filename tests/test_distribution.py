"""Loops across memory that are done the other way round: columns of matrices, triangles, what lies as loops go."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
from both_modes import defined
from loop_cases import plain
from lowered import called, generated
from random_columns import source

from transformer import grad, tree
from transformer.lower.lowering import lower
from transformer.lower.ordering import distribution

RNG = np.random.default_rng(0)


def lowered_source(function: Any, user: Any, *arguments: tuple[Any, ...], threads: bool = False) -> str:
    """The source made for the first of some lists of arguments, which gives for all of them what NumPy gives."""
    made = generated(function, user, arguments[0])
    kernel = plain(lower(made.function, made.reading.assumptions, threads=threads))
    for each in arguments:
        found, wanted = called(made, kernel, user, each), function(*each)
        for got, want in zip(tree.leaves(found), tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-10)
    return kernel.source[("\n" + kernel.source).rindex("\ndef "):]


def across(source: str, depth: int = 3) -> set[str]:
    """The elements in innermost loops that deep that lie across memory."""
    found: set[str] = set()

    def visit(node: ast.AST, around: list[str]) -> None:
        if isinstance(node, ast.For):
            around = [*around, node.target.id]                           # type: ignore[attr-defined]
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and len(around) >= depth:
            *places, _ = ({each.id for each in ast.walk(k) if isinstance(each, ast.Name)} for k in node.slice.elts)
            if around[-1] in set().union(*places):
                found.add(ast.unparse(node))
        for child in ast.iter_child_nodes(node):
            visit(child, around)

    visit(ast.parse(source), [])
    return found


def matrices(n: int, m: int) -> tuple[Any, ...]:
    return RNG.normal(size=(n, m)) + 3 * np.eye(n, m),


def orthogonal(a):
    a = a.copy()
    n = a.shape[1]
    q, r = np.zeros_like(a), np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


def lu(a):
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def loss_of_lu(a):
    return np.sum(np.sin(lu(a)))


def loss_of_orthogonal(a):
    q, r = orthogonal(a)
    return np.sum(np.sin(q)) + np.sum(r * r)


@pytest.mark.parametrize("function, user, shapes", [
    (orthogonal, orthogonal, [(6, 4), (4, 4), (5, 1)]),
    (grad(loss_of_orthogonal), loss_of_orthogonal, [(6, 4), (4, 4), (5, 1)]),
    (lu, lu, [(6, 6), (1, 1), (2, 2)]),
    (grad(loss_of_lu), loss_of_lu, [(6, 6), (1, 1), (2, 2)]),
], ids=["orthogonal", "gradient of orthogonal", "lu", "gradient of lu"])
def test_innermost_loops_go_along_memory(function: Any, user: Any, shapes: list[tuple[int, int]]) -> None:
    """What is kept for the reverse lies as the loops go, and nothing is copied because it is written too early."""
    made = lowered_source(function, user, *(matrices(*shape) for shape in shapes))
    assert not across(made), made
    assert "part" not in made, made


def triangle(a, c, s):
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            a[j + 1:i, j] += s * c[j + 1:i, j] * c[i, j]
    return a


def test_bounds_on_both_sides_stay() -> None:
    """Positions behind one and before another one are a range of neither alone."""
    lowered_source(triangle, triangle, (*matrices(6, 6), *matrices(6, 6), 0.5), (*matrices(1, 1), *matrices(1, 1), 0.5))


def read_later(a, r):
    """The sum of a column is that of the columns before it as well."""
    a, r = a.copy(), r.copy()
    for j in range(1, a.shape[1]):
        r[j] = np.sum(a[:, j] * a[:, j - 1])
        a[:, j] += r[j] * a[:, j - 1]
    return a, r


def kept_apart(a, b):
    """What is read again has changed."""
    a, b = a.copy(), b.copy()
    for k in range(a.shape[0]):
        for j in range(a.shape[1]):
            t = b[k, j]
            b[k, j] = 2.0
            a[:, j] += t * b[:, k]
    return a, b


@pytest.mark.parametrize("function, arguments", [(read_later, (RNG.normal(size=(4, 5)), np.zeros(5))),
                                                 (kept_apart, (*matrices(4, 4), *matrices(4, 4)))])
def test_order_that_matters_stays(function: Any, arguments: Any) -> None:
    assert across(lowered_source(function, function, arguments), 2)


def of_no_columns(a, b, c):
    a = a.copy()
    for i in range(c.shape[0]):
        for j in range(a.shape[0]):
            a[j, i] += b[j, 2] * c[i]
    return a


def test_nothing_is_read_for_loops_over_nothing() -> None:
    lowered_source(of_no_columns, of_no_columns, (RNG.normal(size=(4, 3)), RNG.normal(size=(4, 2)), np.zeros(0)))
    lowered_source(of_no_columns, of_no_columns, (RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3)), np.ones(3)))


def weights_of_patches(x, y):
    w = np.zeros((x.shape[2], y.shape[2]))
    for i in range(x.shape[0]):
        w += np.sum(x[i][:, :, np.newaxis] * y[i][:, np.newaxis], axis=0)
    return w


@pytest.mark.parametrize("items", [3, 100])
def test_few_items_are_added_to_a_sum_at_once(items: int) -> None:
    """Of many there is a sum of their own."""
    arguments = RNG.normal(size=(3, items, 4)), RNG.normal(size=(3, items, 5))
    made = lowered_source(weights_of_patches, weights_of_patches, arguments)
    assert ("total" in made.partition("\n")[0] or made.count("] = 0.0") > 1) == (items == 100), made


def through_a_row(a, c):
    return np.reshape(np.reshape(a, (a.shape[0], a.shape[1], 1, a.shape[2])) @ c, (a.shape[0], a.shape[1], c.shape[1]))


def test_a_product_is_written_where_it_is_copied() -> None:
    arguments = RNG.normal(size=(20, 20, 12)), RNG.normal(size=(12, 12))
    made = lowered_source(through_a_row, through_a_row, arguments)
    assert "np.dot" in made and "for" not in made, made


def test_two_readers_keep_the_product() -> None:
    def both(a, c):
        product = np.reshape(a, (a.shape[0], a.shape[1], 1, a.shape[2])) @ c
        return np.reshape(product, (a.shape[0], a.shape[1], c.shape[1])), product

    lowered_source(both, both, (RNG.normal(size=(20, 20, 12)), RNG.normal(size=(12, 12))))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(12))
def test_random_columns(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every third one with its gradient, every second one for threads."""
    monkeypatch.setattr(distribution, "SHORT", 0)
    user = defined(source(seed), f"<columns {seed}>")["f"]
    arguments = (*(0.4 * np.random.default_rng(seed).normal(size=(3, 4, 4))), 0.7)

    def loss(c, a, b, s):
        first, second = user(c, a, b, s)
        return np.sum(np.sin(first)) + np.sum(second * second)

    function, own = (grad(loss, (0, 1, 2)), loss) if seed % 3 == 0 else (user, user)
    lowered_source(function, own, arguments, threads=seed % 2 == 0)
