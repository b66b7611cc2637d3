"""Neighbouring loops of a sweep that become one, and those that may not."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest
from lowered import as_loops, source_of

from transformer import grad, jit, tree


def recurrence(x: Any, a: Any, b: Any) -> Any:
    """Rows of the two rows before; its reverse adds each row to two others."""
    y = np.zeros_like(x)
    y[0] = x[0]
    y[1] = a * x[1] + b * y[0]
    for i in range(2, x.shape[0]):
        y[i] = a * x[i] + b * y[i - 1] - 0.3 * y[i - 2]
    return np.sum(y ** 2)


def backwards(a: Any) -> Any:
    """What the second loop reads, the first one has written at another place."""
    y, z = np.ones(a.shape[1], a.dtype), np.zeros(a.shape[1], a.dtype)
    for i in range(a.shape[0]):
        z[:] = a[i] * y
        y += 0.5 * z[::-1]
    return y, z


def ahead(a: Any) -> Any:
    """The second loop changes what the first one has yet to read."""
    y = np.ones(a.shape[1] + 1, a.dtype)
    z = np.zeros(a.shape[1], a.dtype)
    for i in range(a.shape[0]):
        z += a[i] * y[:-1]
        y[1:] *= 1.0 + 0.1 * a[i] * z
    return y, z


def behind(a: Any) -> Any:
    """The same, of what it has read."""
    y = np.ones(a.shape[1] + 1, a.dtype)
    z = np.zeros(a.shape[1], a.dtype)
    for i in range(a.shape[0]):
        z += a[i] * y[1:]
        y[:-1] *= 1.0 + 0.1 * a[i] * z
    return y, z


def rows_and_columns(a: Any) -> Any:
    """Sums along rows, and what is then changed in them."""
    a, totals = a.copy(), np.zeros(a.shape[0], a.dtype)
    for k in range(3):
        for i in range(a.shape[0]):
            totals[i] += a[i] @ a[i]
        for i in range(a.shape[0]):
            a[i] -= 0.1 * totals[i] * a[i]
    return a, totals


def between(a: Any) -> Any:
    """What lies between two loops over the same places changes what the first one reads, or nothing of it."""
    y, z = np.ones(a.shape[1], a.dtype), np.zeros(a.shape[1], a.dtype)
    w = np.zeros(1, a.dtype)
    for i in range(a.shape[0]):
        z += a[i] * y
        y[0] = z[-1] * a[i, 0]
        y *= 0.5 * a[i]
        z *= y
        w[0] += a[i, 0]
        y += z * a[i]
    return y, z, w


def sums_behind(a: Any) -> Any:
    """Both sums, and the row that is changed, along which they go."""
    y, z = np.ones(a.shape[1], a.dtype), np.zeros(a.shape[0], a.dtype)
    for i in range(a.shape[0]):
        z[i] += a[i] @ y
        z[0] -= y @ y
        y -= 0.1 * a[0] * y
    return y, z


def sums_ahead(a: Any) -> Any:
    """A sum of what the row behind it has yet to change, and one of what other iterations have changed."""
    y, z = np.ones(a.shape[1] + 1, a.dtype), np.zeros(a.shape[0], a.dtype)
    for i in range(a.shape[0]):
        z[i] += a[i] @ y[:-1]
        y[1:] *= 1.0 + 0.1 * z[i] * a[0]
        z[0] += y[:-1] @ a[i]
    return y, z


def staggered(a: Any) -> Any:
    """Fields between the places of others, as many or one fewer along each axis."""
    along, across, field = a * 0.5, a * 0.25, a + 0
    for _ in range(3):
        across[1:] -= 0.5 * (field[1:] - field[:-1])
        along[:, 1:] -= 0.5 * (field[:, 1:] - field[:, :-1])
        field[:-1, :-1] -= 0.7 * (along[:-1, 1:] - along[:-1, :-1] + across[1:, :-1] - across[:-1, :-1])
    return along, across, field


def handed_on(a: Any) -> Any:
    """The second loop reads what the iteration of the first one before has written."""
    y, z = np.ones(a.shape[1] + 1, a.dtype), np.zeros(a.shape[1], a.dtype)
    for i in range(a.shape[0]):
        y[1:] += a[i] * z
        z += y[1:] - y[:-1]
    return y, z


PROGRAMS = [staggered, handed_on, backwards, ahead, behind, rows_and_columns, between]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_results(program: Any, dtype: str) -> None:
    compiled, rtol = jit(program), 1e-4 if dtype == "f4" else 1e-11
    for shape in ((1, 1), (2, 3), (5, 4), (4, 9)):
        a = np.random.default_rng(0).normal(size=shape).astype(dtype)
        for made in (compiled, lambda a: as_loops(program, program, (a,))):
            for got, want in zip(tree.leaves(made(copy.copy(a))), tree.leaves(program(a)), strict=True):
                assert got.dtype == want.dtype
                np.testing.assert_allclose(got, want, rtol, 1e-3 * rtol)


@pytest.mark.parametrize("program", [sums_behind, sums_ahead])
def test_sums(program: Any) -> None:
    for shape in ((1, 1), (4, 9)):
        a = np.random.default_rng(0).normal(size=shape)
        for got, want in zip(as_loops(program, program, (a,)), program(a), strict=True):
            np.testing.assert_allclose(got, want, 1e-11)


@pytest.mark.parametrize("program", [ahead, behind, backwards])
def test_gradients(program: Any) -> None:
    def total(a):
        y, z = program(a)
        return np.sum(y * y) + np.sum(z)

    a = np.random.default_rng(1).normal(size=(4, 6))
    np.testing.assert_allclose(jit(grad(total))(a), grad(total)(a), 1e-10, 1e-12)


def test_a_reverse_sweep_goes_along_its_rows_once() -> None:
    """Nothing of a row is kept beside it."""
    derived, arguments = grad(recurrence), (np.random.default_rng(0).normal(size=(6, 5)), 0.5, 0.25)
    source = source_of(derived, recurrence, arguments)
    sweep = source[source.index("-1, -1):"):]
    sweep = sweep[:re.search(r"\n    \S", sweep).start()]                # type: ignore[union-attr]
    assert sweep.count("for ") == 1 and "part" not in sweep, source
    np.testing.assert_allclose(as_loops(derived, recurrence, arguments), derived(*arguments), 1e-11)


@pytest.mark.parametrize("program, loops", [(staggered, 2), (handed_on, 1), (backwards, 2), (ahead, 2), (behind, 1),
                                            (sums_behind, 1), (sums_ahead, 3)])
def test_loops_that_are_joined(program: Any, loops: int) -> None:
    source = source_of(program, program, (np.ones((4, 3)),))
    assert len(re.findall(r"^        for ", source[source.rindex("\n    for "):], re.MULTILINE)) == loops, source
