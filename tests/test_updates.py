"""`at`: functional updates beside writes in place to a copy; differentiated, batched and compiled."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lane_loops import check_vmap
from loop_cases import plain
from lowered import called, generated

from transformer import TransformError, at, check_grads, grad, jit, lax, tree, vmap
from transformer.lower.lowering import lower

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 2.0, size=5)
A = RNG.uniform(0.5, 2.0, size=(3, 4))
TWICE = np.array([0, 2, 2])
OUTSIDE = np.array([0, 9, -1, -9, 1, 1])

UFUNCS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "power": np.power,
          "min": np.minimum, "max": np.maximum}
INDICES: dict[str, tuple[Any, Any]] = {                    # array, index
    "a number": (X, 1),
    "a negative one": (X, -2),
    "a slice": (X, slice(1, 4)),
    "a slice backwards": (X, slice(None, None, -2)),
    "a mask": (X, X > 1),
    "integers": (X, TWICE),
    "a pair": (A, (1, 2)),
    "a row": (A, 1),
    "a column": (A, (slice(None), 2)),
    "an ellipsis": (A, (..., 0)),
    "mixed": (A, (slice(1, 3), np.array([0, 3, 3]))),
    "two arrays": (A, (np.array([0, 1, 1]), np.array([2, 0, 0]))),
    "nothing": (X, slice(2, 2)),
}


def with_ufunc(ufunc: Any, array: Any, index: Any, values: Any) -> Any:
    result = array.copy()
    ufunc.at(result, index, values)
    return result


@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize("method", UFUNCS)
def test_value(method: str, name: str) -> None:
    array, index = INDICES[name]
    before = array.copy()
    found = getattr(at(array)[index], method)(1.25)
    np.testing.assert_allclose(found, with_ufunc(UFUNCS[method], array, index, 1.25))
    np.testing.assert_array_equal(array, before)
    assert not np.shares_memory(found, array)


@pytest.mark.parametrize("name", INDICES)
def test_set_get_and_apply(name: str) -> None:
    array, index = INDICES[name]
    expected = array.copy()
    expected[index] = 7.0
    np.testing.assert_array_equal(at(array)[index].set(7.0), expected)
    np.testing.assert_array_equal(at(array)[index].get(), array[index])
    expected = array.copy()
    expected[index] = np.sin(array[index])
    np.testing.assert_array_equal(at(array)[index].apply(np.sin), expected)


@pytest.mark.parametrize("method", ["set", "add", "multiply", "divide", "power", "min", "max"])
def test_derivative_and_batch(method: str) -> None:
    def program(x: Any) -> Any:
        return getattr(at(x)[1:4], method)(x[0] * 1.5)

    def repeated(x: Any) -> Any:
        return getattr(at(x)[TWICE], method)(np.sum(x) * 0.3)
    both = (program,) if method == "set" else (program, repeated)
    rows = np.stack([X, X[::-1] * 1.1, X * 0.7 + 0.01])
    for each in both:
        if (each, method) != (repeated, method) or method in ("add",):
            check_grads(lambda x, each=each: np.sum(np.sin(each(x))), (X,), order=2)
        check_vmap(each, rows)
    check_vmap(grad(lambda x: np.sum(np.sin(program(x)))), rows)


@pytest.mark.parametrize("method", ["multiply", "divide", "power", "min", "max", "subtract"])
def test_derivative_of_elements_named_twice(method: str) -> None:
    """By differences, or refused at its place."""
    def total(x: Any) -> Any:
        return np.sum(np.sin(getattr(at(x)[TWICE], method)(x[1] * 0.9)))
    try:
        check_grads(total, (X,), order=1)
    except TransformError as refused:
        assert "File " in str(refused)


def test_indices_that_differ() -> None:
    rows = RNG.normal(size=(4, 5))
    places = np.array([0, 3, -1, 3])
    check_vmap(lambda x, k: at(x)[k].set(x[0] * 2), rows, places)
    check_vmap(lambda x, k: at(x)[k].add(x[0] * 2), X, places, in_axes=(None, 0))
    check_vmap(lambda x, m: at(x)[m].multiply(2.0), rows, rows > 0)
    check_vmap(lambda x, k: at(x)[k].add(1.0), rows, np.array([[0, 0], [1, 2], [4, 4], [3, 0]]))
    check_vmap(lambda x, k: at(x)[k].add(1.0, mode="drop"), rows, np.array([[0, 9], [-9, 2], [4, 4], [5, -5]]))
    check_vmap(lambda x, k: at(x)[k].get(mode="fill"), rows, np.array([[0, 9], [-9, 2], [4, 4], [5, -5]]))


# -- indices out of bounds ----------------------------------------------------------------------


def test_modes() -> None:
    np.testing.assert_array_equal(at(X)[OUTSIDE].get(mode="clip"), X[[0, 4, 4, 0, 1, 1]])
    filled = at(X)[OUTSIDE].get(mode="fill")
    np.testing.assert_array_equal(filled, [X[0], np.nan, X[4], np.nan, X[1], X[1]])
    np.testing.assert_array_equal(at(X)[OUTSIDE].get(mode="fill", fill_value=7.0)[[1, 3]], [7, 7])
    expected = X.copy()
    np.add.at(expected, [0, 4, 1, 1], 1.5)
    np.testing.assert_array_equal(at(X)[OUTSIDE].add(1.5, mode="drop"), expected)
    np.testing.assert_array_equal(at(X)[OUTSIDE].add(1.5, mode="fill"), expected)
    clipped = X.copy()
    np.add.at(clipped, [0, 4, 4, 0, 1, 1], 1.5)
    np.testing.assert_array_equal(at(X)[OUTSIDE].add(1.5, mode="clip"), clipped)
    np.testing.assert_array_equal(at(X)[9].set(1.0, mode="drop"), X)
    np.testing.assert_array_equal(at(X)[-9].set(1.0, mode="drop"), X)
    np.testing.assert_array_equal(at(X)[7].set(1.0, mode="clip"), [*X[:4], 1.0])
    np.testing.assert_array_equal(at(A)[np.array([0, 5]), 1].set(0.0, mode="drop")[:, 1], [0.0, *A[1:, 1]])
    np.testing.assert_array_equal(at(A)[..., 9].set(0.0, mode="drop"), A)
    assert at(np.arange(3))[5].get(mode="fill") == np.iinfo(int).min
    assert at(np.arange(3, dtype=np.uint8))[5].get(mode="fill") == 255
    assert bool(at(np.array([False]))[5].get(mode="fill")) is True


@pytest.mark.parametrize("mode", ["clip", "drop", "fill"])
def test_derivatives_out_of_bounds(mode: str) -> None:
    def updated(x: Any) -> Any:
        return np.sum(np.sin(at(x)[OUTSIDE].add(x[0] * 2, mode=mode)))

    def got(x: Any) -> Any:
        return np.sum(np.sin(at(x)[OUTSIDE].get(mode=mode, fill_value=0.5)))
    for program in (updated, got):
        check_grads(program, (X,), order=1)
        check_vmap(grad(program), np.stack([X, X * 2]))


@pytest.mark.parametrize("method", ["multiply", "divide", "min"])
def test_other_methods_out_of_bounds(method: str) -> None:
    def updated(x: Any) -> Any:
        return np.sum(np.sin(getattr(at(x)[OUTSIDE], method)(x[0] * 2 + 3, mode="drop")))

    expected = getattr(at(X)[np.array([0, 4, 1, 1])], method)(X[0] * 2 + 3)
    np.testing.assert_allclose(jit(updated)(X), np.sum(np.sin(expected)))
    check_grads(updated, (X,), order=1)
    check_vmap(updated, np.stack([X, X * 2]))


@pytest.mark.parametrize("mode", [None, "promise_in_bounds"])
def test_out_of_bounds_is_an_error(mode: str | None) -> None:
    with pytest.raises(IndexError):
        at(X)[9].set(1.0, mode=mode)
    with pytest.raises(IndexError):
        grad(lambda x: np.sum(at(x)[9].get(mode=mode)))(X)
    with pytest.raises(IndexError):
        vmap(lambda k: at(X)[k].set(1.0, mode=mode))(np.array([0, 9]))


def test_a_mode_that_is_none() -> None:
    with pytest.raises(ValueError, match="mode is 'wrap', expected 'clip', 'drop', 'fill' or"):
        at(X)[0].set(1.0, mode="wrap")
    with pytest.raises(ValueError, match="mode is 'wrap'") as caught:
        grad(lambda x: np.sum(at(x)[0].set(1.0, mode="wrap")))(X)
    assert isinstance(caught.value, TransformError) and caught.value.origin is not None


# -- in programs --------------------------------------------------------------------------------


def recurrence(x: Any) -> Any:
    f = np.zeros(5)
    f = at(f)[0].set(x[0])
    for i in range(1, 5):
        f = at(f)[i].set(x[i] + f[i - 1] ** 2)
    return f


def plain_recurrence(x: Any) -> Any:
    f = np.zeros(5)
    f[0] = x[0]
    for i in range(1, 5):
        f[i] = x[i] + f[i - 1] ** 2
    return f


def kept(x: Any) -> Any:
    """The array that is updated lives on."""
    y = at(x)[0].add(1.0)
    z = at(y)[0].multiply(x[0])
    return x, y, z


def test_in_programs() -> None:
    np.testing.assert_allclose(recurrence(X), plain_recurrence(X))
    check_grads(lambda x: np.sum(recurrence(x)), (X * 0.5,), order=2)
    rows = np.stack([X, X * 0.5])
    check_vmap(recurrence, rows)
    check_vmap(kept, rows)
    check_vmap(grad(lambda x: np.sum(recurrence(x))), rows)


def test_compiled() -> None:
    """The old array is dead, so that it is written in place; arguments stay as they are."""
    slope: Callable[..., Any] = grad(lambda x: np.sum(recurrence(x)))
    given = copy.deepcopy(X)
    np.testing.assert_allclose(jit(recurrence)(given), plain_recurrence(X))
    np.testing.assert_allclose(jit(vmap(slope))(np.stack([X, X])), [slope(X)] * 2)
    np.testing.assert_array_equal(given, X)
    for mine, theirs in zip(jit(kept)(given), kept(X), strict=True):
        np.testing.assert_allclose(mine, theirs)
    np.testing.assert_array_equal(given, X)


# -- in place --------------------------------------------------------------------------------------


def added(x: Any, n: int) -> Any:
    for i in range(n):
        x = at(x)[i].add(1.5)
    return x


def multiplied(x: Any, n: int) -> Any:
    for _ in range(n):
        x = at(x)[TWICE].multiply(1.5)
        x = at(x)[1:3].min(x[0])
    return x


def applied(x: Any, n: int) -> Any:
    for i in range(n):
        x = at(x)[i].apply(lambda part: part * part)
    return x


def in_a_while(x: Any, n: int) -> Any:
    i = 0
    while i < n and x[i] > 0.0:
        x = at(x)[i].add(x[i - 1])
        i += 1
    return x


def in_branches(x: Any, n: int) -> Any:
    for i in range(n):
        if x[i] > 1:
            x = at(x)[i].subtract(1.0)
        elif i > 0:
            x = at(x)[0].multiply(2.0)
    return x


def nested(x: Any, n: int) -> Any:
    for i in range(n):
        for j in range(i, n):
            x = at(x)[j].add(x[i])
        x = at(x)[i].multiply(0.5)
    return x


def two_names(x: Any, n: int) -> Any:
    a = x * 2
    b = a
    for i in range(n):
        a = at(a)[i].add(b[0])
        b = at(b)[0].add(a[i])
    return a, b


def read_late(x: Any, n: int) -> Any:
    """Elements of the old version are read after the update."""
    for i in range(n):
        y = at(x)[i].set(x[i - 1] * 2)
        x = at(y)[0].add(x[i])
    return x


def in_fori(x: Any, n: int) -> Any:
    return lax.fori_loop(0, n, lambda i, x: at(x)[i].set(x[i] * x[i - 1]), x)


def in_scan(x: Any, n: int) -> Any:
    return lax.scan(lambda x, i: (at(x)[i].add(x[0]), x[i]), x, np.arange(n))


IN_PLACE = [added, multiplied, applied, in_a_while, in_branches, nested, two_names, read_late, in_fori, in_scan]


def old_version(x: Any, n: int) -> Any:
    total = 0.0
    for i in range(n):
        y = at(x)[i].add(1.0)
        total = total + np.sum(y * x)
        x = y
    return x, total


def previous(x: Any, n: int) -> Any:
    before = x
    for i in range(n):
        before = x
        x = at(x)[i].add(before[0])
    return x, before


def swapped(x: Any, n: int) -> Any:
    a = x * 2
    b = a
    for i in range(n):
        a, b = at(b)[i].set(1.0), a
    return a, b


def from_the_first(x: Any, n: int) -> Any:
    first = x * 2
    for i in range(n):
        x = at(first)[i].set(x[i] * 3)
    return x, first


def all_versions(x: Any, n: int) -> Any:
    return lax.scan(lambda x, i: (at(x)[i].add(x[0]), x), x, np.arange(n))


KEPT = [old_version, previous, swapped, from_the_first, all_versions]
PAIRS = [two_names, in_scan, *KEPT]
SCANS = [in_scan, all_versions]


def copies_in_loops(source: str) -> list[str]:
    """The lines of loops that make or copy an array."""
    loops = [node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.For, ast.While))]
    calls = [node for loop in loops for node in ast.walk(loop) if isinstance(node, ast.Call)]
    return [ast.unparse(call) for call in calls if isinstance(call.func, ast.Attribute)
            and call.func.attr in ("copy", "empty", "empty_like", "zeros", "zeros_like", "array")]


def differences(total: Callable[[Any], Any]) -> Any:
    return np.array([(total(X + step) - total(X - step)) / 2e-6 for step in 1e-6 * np.eye(len(X))])


@pytest.mark.parametrize("program", [*IN_PLACE, *KEPT], ids=lambda program: program.__name__)
def test_versions_in_loops(program: Callable[..., Any]) -> None:
    """What may be written in place is, in the first array that is ours; what is read again lives on."""
    def total(x: Any, n: int) -> Any:
        found = program(x, n)
        return np.sum(found[0] ** 3) + np.sum(found[1] ** 2) if is_pair else np.sum(found ** 3)

    is_pair = program in PAIRS
    given, slope, rows = X.copy(), grad(total), vmap(program, in_axes=(0, None))
    made = [generated(target, user, (given, 3)) for target, user in ((program, program), (slope, total))]
    loops = [plain(lower(each.function, each.reading.assumptions)) for each in made]
    for n in (3, 1) if program in SCANS else (3, 0):
        arguments = given, n
        expected = tree.leaves(program(X, n))
        for mine, two, theirs in zip(tree.leaves(called(made[0], loops[0], program, arguments)),
                                     tree.leaves(rows(np.stack([given, given]), n)), expected, strict=True):
            np.testing.assert_allclose(mine, theirs)
            np.testing.assert_allclose(two, [theirs] * 2)
        wanted = differences(lambda x, n=n: total(x, n))
        np.testing.assert_allclose(slope(given, n), wanted, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(called(made[1], loops[1], total, arguments), wanted, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(given, X)
    if program in IN_PLACE:
        for source in (slope.source_for(given, 3), *(kernel.source for kernel in loops)):
            assert not copies_in_loops(source), source


def test_versions_in_compiled_loops() -> None:
    for program in (two_names, previous, swapped):
        given = X.copy()
        found = jit(program)(given, 3)
        for mine, theirs in zip(found, program(X, 3), strict=True):
            np.testing.assert_allclose(mine, theirs)
        np.testing.assert_array_equal(given, X)
        assert not np.shares_memory(*found)


def test_arrays_of_a_program_have_at() -> None:
    """They may be made by `transformer.numpy`, whose arrays have it."""
    np.testing.assert_array_equal(grad(lambda x: np.sum(x.at[0].set(1.0)))(np.ones(3)), [0.0, 1.0, 1.0])
