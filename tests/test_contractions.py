"""Contractions in loops: by blocks of iterations where that is legal, in a better order, or as they are; and right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from both_modes import defined
from loop_cases import plain
from lowered import called, generated
from random_contractions import source

from transformer import grad, jit, tree
from transformer.lower.lowering import Kernel, lower
from transformer.lower.ordering import blocking


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of two iterations, for arrays of any size."""
    monkeypatch.setattr(blocking, "BLOCK", 2)
    monkeypatch.setattr(blocking, "WORTH_BLOCKS", 0)


def kernel_of(function: Any, user: Any, arguments: tuple[Any, ...], threads: bool = False) -> tuple[Any, Kernel]:
    made = generated(function, user, arguments)
    return made, plain(lower(made.function, made.reading.assumptions, threads=threads))


def agree(found: Any, wanted: Any) -> None:
    for got, want in zip(tree.flatten(found)[0], tree.flatten(wanted)[0], strict=True):
        assert np.asarray(got).dtype == np.asarray(want).dtype
        single = np.asarray(want).dtype.char in "fF"
        np.testing.assert_allclose(got, want, rtol=1e-4 if single else 1e-10, atol=1e-5 if single else 1e-11)


# -- programs: whether a library multiplies is the second entry ------------------------------------


def syrk(c, a, alpha, beta):
    c = c.copy()
    for i in range(a.shape[0]):
        c[i, :i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, :i + 1] += alpha * a[i, k] * a[:i + 1, k]
    return c


def syrk_of_integers(c, a):
    return syrk(c, a, 2, 3)


def syr2k(c, a, b, alpha):
    c = c.copy()
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            c[i, :i + 1] += a[:i + 1, k] * alpha * b[i, k] + b[:i + 1, k] * alpha * a[i, k]
    return c


def trmm(a, b):
    b = b.copy()
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1:, i], b[i + 1:, j])
    return b


def columns_of_lower(c, a, b):
    """A sum over the iterations, which is longer for the first rows; downwards."""
    c = c.copy()
    for i in range(a.shape[0] - 1, -1, -1):
        for j in range(i):
            for k in range(b.shape[1]):
                c[j, k] -= a[i, j] * b[i, k]
    return c


def upper(c, a, b):
    """Columns from the diagonal on, in a result that lies the other way."""
    c = c.copy()
    for i in range(a.shape[0]):
        for j in range(i, a.shape[0]):
            for k in range(a.shape[1]):
                c[j, i] += 2.0 * (a[i, k] * b[j, k])
    return c


def full(c, a, b):
    c = c.copy()
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def from_rows_before(b, a):
    """Every iteration reads what the ones before have written."""
    b = b.copy()
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i, :i], b[:i, j])
    return b


def read_in_between(c, a):
    """The result is read by a later iteration, before its product."""
    c, t = c.copy(), c[0].copy()
    for i in range(1, a.shape[0]):
        t[0] += c[i - 1, 0]
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += a[i, k] * a[j, k]
        c[0, 0] = 0.5 * t[0]
    return c, t


def of_itself(c):
    """The factors are elements of the result."""
    c = 0.1 * np.tanh(c)
    for i in range(c.shape[0]):
        for k in range(c.shape[0]):
            for j in range(i + 1):
                c[i, j] += c[i, k] * c[j, k]
    return c


def scaled_by_state(c, a, s):
    """What is multiplied is written by the iteration before."""
    c, s = c.copy(), s.copy()
    for i in range(a.shape[0] - 1):
        f = s[i]
        s[i + 1] += f * 0.5
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += f * a[i, k] * a[j, k]
    return c, s


def shorter_than_nothing(c, a):
    """The bounds of the inner loop are below 0 at first."""
    c = c.copy()
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(i - 2):
                c[i, j] += a[i, k] * a[j, k]
    return c


def three_factors(c, a, b):
    c = c.copy()
    for i in range(a.shape[0]):
        for j in range(i + 1):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k] * a[j, k]
    return c


def weighted_by_position(c, a, b):
    """Factors are made of the positions of loops."""
    c = c.copy()
    for i in range(a.shape[0]):
        f = 0.5 * i
        for j in range(i + 1):
            for k in range(a.shape[1]):
                c[i, j] += f * a[i, k] * b[j, k]
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] -= a[i, k] * b[j, k] * (k + 1)
    return c


def weighted_of_integers(c, a, b):
    c = c.copy()
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[j, i] += k * a[i, k] * b[j, k]
    return c


def weighted_sums(x, a):
    x = x.copy()
    for j in range(x.shape[0]):
        x[j] -= j * (x[:j] @ a[:j, j])
        x[j] = x[j] / a[j, j]
    return x


def lu(a):
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def own_rows(a):
    """What an iteration multiplies is in memory of its own, which becomes shorter."""
    c = 2.0 * a
    for i in range(a.shape[1]):
        r = np.sin(a[0, i:]) * a[0, i]
        for k in range(1, c.shape[0]):
            c[k, i:] -= a[k, i] * r
    return c


def own_rows_growing(a):
    c = 0.5 * a
    for i in range(a.shape[1]):
        r = np.cos(a[1, :i + 1])
        for k in range(c.shape[0]):
            c[k, :i + 1] += 2.0 * a[k, i] * r
    return c


def own_rows_before(a):
    """Where there are no iterations, the longest row would have -1 elements."""
    c = 0.5 * a
    for i in range(a.shape[1]):
        r = np.cos(a[0, :i])
        for k in range(c.shape[0]):
            c[k, :i] += a[k, i] * r
    return c


def covariance(data):
    n, m = data.shape
    result = np.zeros((m, m))
    for i in range(m):
        result[i:, i] = result[i, i:] = data[:, i] @ data[:, i:] / (n - 1.0)
    return result


def sums_looked_at(x, a):
    """What is added early would be seen by the iterations in between."""
    x = x.copy()
    for j in range(x.shape[0]):
        x[j] -= x[:j] @ a[:j, j]
        x[j] = x[j] / a[j, j] + 0.1 * x[x.shape[0] - 1]
    return x


def arrays(*shapes: Any, kind: str = "f8") -> Callable[[int, int], tuple[Any, ...]]:
    """Arguments for n and m, as a function of these."""
    def drawn(n: int, m: int) -> tuple[Any, ...]:
        rng = np.random.default_rng(0)
        sizes = {"n": n, "m": m}
        made = []
        for shape in shapes:
            x = rng.normal(size=tuple(sizes[axis] for axis in shape))
            if kind == "c16":
                x = x + 1j * rng.normal(size=x.shape)
            made.append((x * 4 if kind == "i8" else x).astype(kind) if shape else 1.5)
        if len(shapes) == 1 or shapes == ("n", "nn"):                    # of factorizations
            made[-1] = made[-1] + 3 * n * np.eye(n, dtype=kind)
        return tuple(made)

    return drawn


def one_array(n: int, m: int) -> tuple[Any, ...]:
    return (np.random.default_rng(n).normal(size=(n, m)),)


LIBRARY, LOOPS = True, False
CASES = {
    "syrk": (syrk, arrays("nn", "nm", "", ""), LIBRARY),
    "syrk_f32": (syrk, arrays("nn", "nm", "", "", kind="f4"), LIBRARY),
    "syrk_integers": (syrk_of_integers, arrays("nn", "nm", kind="i8"), LOOPS),
    "syr2k": (syr2k, arrays("nn", "nm", "nm", ""), LIBRARY),
    "trmm": (trmm, arrays("nn", "nm"), LIBRARY),
    "trmm_complex": (trmm, arrays("nn", "nm", kind="c16"), LOOPS),
    "columns_of_lower": (columns_of_lower, arrays("nm", "nn", "nm"), LIBRARY),
    "upper": (upper, arrays("nn", "nm", "nm"), LIBRARY),
    "full": (full, arrays("nn", "nm", "mn"), LIBRARY),
    "full_complex": (full, arrays("nn", "nm", "mn", kind="c16"), LIBRARY),
    "from_rows_before": (from_rows_before, arrays("nm", "nn"), LOOPS),
    "read_in_between": (read_in_between, arrays("nn", "nm"), LOOPS),
    "of_itself": (of_itself, arrays("nn"), LOOPS),
    "scaled_by_state": (scaled_by_state, arrays("nn", "nm", "n"), LOOPS),
    "shorter_than_nothing": (shorter_than_nothing, arrays("nn", "nm"), LOOPS),
    "three_factors": (three_factors, arrays("nn", "nm", "m"), LOOPS),
    "weighted_by_position": (weighted_by_position, arrays("nn", "nm", "nm"), LOOPS),
    "weighted_by_integers": (weighted_of_integers, arrays("nn", "nm", "nm", kind="i8"), LOOPS),
    "weighted_sums": (weighted_sums, arrays("n", "nn"), LOOPS),
    "lu": (lu, arrays("nn"), LOOPS),
    "covariance": (covariance, one_array, LIBRARY),
    "own_rows_before": (own_rows_before, one_array, LIBRARY),
    "own_rows": (own_rows, one_array, LIBRARY),
    "own_rows_growing": (own_rows_growing, one_array, LIBRARY),
    "sums_looked_at": (sums_looked_at, arrays("n", "nn"), LOOPS),
}


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    """For sizes that blocks divide and such that they do not; the source is the same for all of them."""
    function, draw, multiplied = CASES[name]
    made, kernel = kernel_of(function, function, draw(5, 3))
    assert ("np.dot" in kernel.source) is multiplied, kernel.source
    for n, m in ((5, 3), (4, 2), (7, 6)):
        arguments = draw(n, m)
        agree(called(made, kernel, function, arguments), function(*arguments))


DIFFERENTIATED = ("syrk", "syrk_f32", "syr2k", "trmm", "columns_of_lower", "upper", "from_rows_before", "of_itself",
                  "lu", "own_rows", "own_rows_growing", "covariance")


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_gradients(name: str) -> None:
    user, draw, _ = CASES[name]

    def loss(*args):
        return np.sum(np.sin(user(*args)))

    arguments = draw(5, 3)
    positions = tuple(k for k, arg in enumerate(arguments) if isinstance(arg, np.ndarray))
    derivative: Any = grad(loss, positions)
    made, kernel = kernel_of(derivative, loss, arguments)
    for n, m in ((5, 3), (4, 2)):
        arguments = draw(n, m)
        agree(called(made, kernel, loss, arguments), derivative(*arguments))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("name", ["syrk", "trmm", "columns_of_lower", "upper"])
def test_sizes_of_one_and_none(name: str) -> None:
    function, draw, _ = CASES[name]
    for n, m in ((1, 3), (3, 1), (0, 3), (3, 0), (1, 1)):
        arguments = draw(n, m)
        made, kernel = kernel_of(function, function, arguments)
        agree(called(made, kernel, function, arguments), function(*arguments))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("name", ["own_rows", "own_rows_before", "own_rows_growing", "covariance"])
def test_rows_of_no_iterations(name: str) -> None:
    for n, m in ((3, 0), (3, 1), (2, 2)):
        arguments = one_array(n, m)
        made, kernel = kernel_of(CASES[name][0], CASES[name][0], arguments)
        agree(called(made, kernel, CASES[name][0], arguments), CASES[name][0](*arguments))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("name", ["syrk", "trmm", "columns_of_lower", "upper"])
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_what_is_outside_of_the_triangle(name: str, number: float) -> None:
    """Where NumPy gives a number there is one, whatever stands where the program does not read, or reads for others."""
    function, draw, _ = CASES[name]
    for k in range(2):
        c, a, *others = draw(6, 3)
        if a.shape[0] == a.shape[1]:                                     # the triangle that is not read
            a[np.triu_indices(6)] = number
        else:
            a[4] = number
        c[(0, 5) if c.shape[0] == c.shape[1] and k else (2, 1)] = number
        arguments = (c, a, *others)
        made, kernel = kernel_of(function, function, arguments)
        with np.errstate(invalid="ignore"):
            agree(called(made, kernel, function, arguments), function(*arguments))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("name", ["syrk", "trmm", "columns_of_lower", "lu"])
def test_threads(name: str) -> None:
    function, draw, _ = CASES[name]
    arguments = draw(7, 4)
    made, kernel = kernel_of(function, function, arguments, threads=True)
    agree(called(made, kernel, function, arguments), function(*arguments))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(24))
def test_random_nests(seed: int) -> None:
    """Every fourth one with its gradient."""
    user = defined(source(seed), f"<contraction {seed}>")["f"]
    rng = np.random.default_rng(seed)
    arguments = (*(0.4 * rng.normal(size=(5, 5)) for _ in range(3)), 0.7)

    def loss(c, a, b, s):
        first, second = user(c, a, b, s)
        return np.sum(np.sin(first)) + np.sum(second * second)

    function, own = (grad(loss, (0, 1, 2)), loss) if seed % 4 == 0 else (user, user)
    made, kernel = kernel_of(function, own, arguments)
    agree(called(made, kernel, own, arguments), function(*arguments))


def test_compiled() -> None:
    """At a size at which the library is called, also with arguments that lie the other way, and at one at which not."""
    compiled = jit(syrk)
    for n, m in ((70, 40), (5, 3)):
        c, a, alpha, beta = CASES["syrk"][1](n, m)
        for arguments in ((c, a, alpha, beta), (c.T, np.asfortranarray(a), alpha, beta)):
            agree(compiled(*arguments), syrk(*arguments))


def test_small_arrays_stay_loops() -> None:
    arguments = CASES["syrk"][1](5, 3)
    made, kernel = kernel_of(syrk, syrk, arguments)
    assert "np.dot" not in kernel.source
    agree(called(made, kernel, syrk, arguments), syrk(*arguments))
