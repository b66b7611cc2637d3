"""Compiled derivatives of functions that call themselves: what calls save is in lists, arrays are given to calls."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from corpus import Program, recursion, recursion_of_arrays, recursion_on_parts
from corpus.recursion_of_arrays import potential, prefix, soft_tree
from corpus.recursion_on_parts import memoized, paths, sorted_weighted
from lowered import generated
from test_lowered_programs import check, transformed
from thinned import some

from transformer import check_grads, grad, jit, jvp, vmap
from transformer.core.errors import NotSupported
from transformer.lower.lowering import lower

PROGRAMS = [*recursion.PROGRAMS, *recursion_on_parts.PROGRAMS, *recursion_of_arrays.PROGRAMS]
COMPILED = {"memoized", "soft_tree", "called_in_uncounted_loops", "recursive_horner_f32"}


def tree(w, lo, hi):
    if hi - lo == 1:
        return np.tanh(w[lo])
    mid = (lo + hi) // 2
    return np.sin(tree(w, lo, mid)) * tree(w, mid, hi)


def whole(w):
    return tree(w, 0, len(w))


def loops_of(target: Any, user: Any, *arguments: Any) -> str:
    made = generated(target, user, arguments)
    return lower(made.function, made.reading.assumptions).source


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("chunk", range(6))
def test_loops_are_right(chunk: int, order: int) -> None:
    """Every first derivative, and of every third program its value and the second one, as plain Python."""
    for program in (PROGRAMS if order == 1 else some(PROGRAMS, 3, order // 2))[chunk::6]:
        check(transformed(program, order), program, program.example(np.random.default_rng(0)), compiled=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.name in COMPILED], ids=lambda program: program.name)
def test_compiled_gradient(program: Program) -> None:
    check(transformed(program, 1), program, program.example(np.random.default_rng(1)), compiled=True)


def test_a_list_for_each_layout() -> None:
    """Made by the function that is called from outside, with a first item that says of what they are."""
    w = np.linspace(0.1, 0.9, 7)
    source = loops_of(grad(whole), whole, w)
    assert "    tree_kept = [(" in source.split("def whole")[1]
    assert len(re.findall(r"_kept\d*\.append\(\(", source)) == len(re.findall(r"_kept\d* = \[\(", source)) == 2
    compiled = jit(grad(whole))
    for size in (7, 2, 5, 7):                              # what one call has kept is gone in the next
        np.testing.assert_allclose(compiled(w[:size]), grad(whole)(w[:size]), rtol=1e-12)


def test_cotangents_are_handed_down() -> None:
    """No call makes zeros as large as the whole array."""
    gradient = grad(whole)
    gradient(np.linspace(0.1, 0.9, 9))
    reverse = gradient.source.split("def tree_reverse")[1].split("\ndef ")[0]
    assert "zeros" not in reverse and "dw[lo] +=" in reverse
    assert "np.empty(" not in loops_of(gradient, whole, np.linspace(0.1, 0.9, 9)).split("def tree_reverse")[1].split(
        "\ndef ")[0]


def test_arrays_are_written_where_they_are() -> None:
    """An array that nobody else looks at is given to a call, and comes back with its result."""
    rng = np.random.default_rng(2)
    for function, arguments in ((sorted_weighted, (rng.normal(size=9), rng.normal(size=9))), (memoized, (0.7, 8)),
                                (paths, (rng.uniform(0.5, 1.5, 4),)), (prefix, (rng.normal(size=9),))):
        source = loops_of(function, function, *arguments)
        inner = source.split(f"def {function.__name__}(")[0]
        assert ".copy()" not in inner, source
        np.testing.assert_allclose(jit(function)(*arguments), function(*arguments), rtol=1e-12)


def test_what_is_overwritten_is_kept_element_by_element() -> None:
    """No call keeps an array, or asks its caller for one that is overwritten: neither in lists nor in tuples."""
    rng = np.random.default_rng(5)
    for function, arguments in ((prefix, (rng.normal(size=9),)), (memoized, (0.7, 8)),
                                (paths, (rng.uniform(0.5, 1.5, 4),))):
        gradient = grad(function)
        gradient(*arguments)
        assert ".copy()" not in gradient.source.split(f"def {function.__name__}_grad")[0], gradient.source
        kept = re.findall(r"_kept\d* = \[(.*)\]", loops_of(gradient, function, *arguments))
        assert kept and not any("np.empty" in example for example in kept), kept


def twice_in_place(x, n):
    """What is read before and behind the writes of the calls inside."""
    if n == 0:
        x[0] = x[0] * x[1]
        return x[0]
    first = np.sin(x[0])
    inner = twice_in_place(x, n - 1)
    x[1] = x[1] * first + inner
    return x[0] * x[1]


def written_twice(x):
    y = x * 2.0
    return twice_in_place(y, 2) + np.sum(y * y)


def read_as_a_whole(x, n):
    if n == 0:
        return 1.0
    total = np.sum(x * x)
    x[n] = total * x[n - 1]
    return total + read_as_a_whole(x, n - 1)


def whole_and_written(x):
    y = x.copy()
    return read_as_a_whole(y, 2) * y[1]


def table_of_two(rows, other, n):
    """One array is written, the other one only read; they change places."""
    if n == 0:
        return rows[0] * other[1]
    rows[n] = rows[n] * other[n]
    return table_of_two(other, rows, n - 1) + rows[n]


def changing_tables(x):
    rows, other = x * 1.5, np.cos(x)
    return table_of_two(rows, other, 3) + np.sum(rows * other)


@pytest.mark.parametrize("function", [written_twice, whole_and_written, changing_tables])
def test_arrays_that_are_overwritten(function: Any) -> None:
    x = np.random.default_rng(6).uniform(0.5, 1.5, 4)
    check_grads(function, (x,), order=2)
    np.testing.assert_allclose(jit(grad(function))(x), grad(function)(x), rtol=1e-12)


def kept_as_it_was(x, n):
    """What comes in is looked at after the call that writes."""
    if n == 0:
        x[0] = 2.0 * x[1]
        return x[0]
    before = x[0]
    return kept_as_it_was(x, n - 1) * before + x[0]


def with_argument(x):
    y = x * 1.0
    value = kept_as_it_was(y, 2)
    return value + (y * x).sum()


def both_ways(x, n):
    """One call gets the array, and another one the array as it is after the first."""
    if n == 0:
        return x
    y = both_ways(x, n - 1)
    z = both_ways(y * 0.5, n - 1)
    return x + y * z


def summed(x):
    return both_ways(x, 3).sum()


@pytest.mark.parametrize("function, dtype", [(with_argument, "f4"), (summed, "f8")])
def test_nothing_is_written_that_is_looked_at(function: Any, dtype: str) -> None:
    x = np.random.default_rng(3).uniform(0.5, 1.5, 4).astype(dtype)
    before = x.copy()
    rtol = 1e-12 if dtype == "f8" else 1e-5
    np.testing.assert_allclose(jit(function)(x), function(x), rtol=rtol)
    found = jit(grad(function))(x)
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, grad(function)(x), rtol=rtol)
    np.testing.assert_array_equal(x, before)


def test_other_modes() -> None:
    rng = np.random.default_rng(4)
    x, q = rng.normal(size=6), rng.normal(size=6)
    value, tangent = jit(lambda x, q: jvp(potential, (x, q), (q, x)))(x, q)
    np.testing.assert_allclose((value, tangent), jvp(potential, (x, q), (q, x)), rtol=1e-12)
    lanes = rng.normal(size=(3, 7, 3)), rng.normal(size=(3, 7)), rng.normal(size=(3, 3))
    each = [grad(soft_tree, (0, 1, 2))(*arguments) for arguments in zip(*lanes, strict=True)]
    for found, expected in zip(jit(vmap(grad(soft_tree, (0, 1, 2))))(*lanes), zip(*each, strict=True), strict=True):
        np.testing.assert_allclose(found, np.stack(expected), rtol=1e-12)


def sets_of_rows(x, n):
    """Loops in loops whose numbers nobody knows before, in each call."""
    if n == 0:
        return x
    total = 0.0
    for i in range(n):
        k = 0
        while k < i + n:
            x = np.sin(x) + 0.1 * sets_of_rows(x, n - 1)
            k += 1
        total += x
    return total


def rows(x):
    return sets_of_rows(x, 2)


def middles_first(x):
    out = np.zeros(len(x))

    def visit(low, high, depth):
        if high <= low:
            return
        middle = (low + high) // 2
        out[middle] += np.sin(x[middle]) * depth
        visit(low, middle, depth + 1)
        visit(middle + 1, high, depth + 1)

    visit(0, len(x), 1)
    return out @ out


def test_sizes_that_are_equal_in_the_caller() -> None:
    """Of the tangents and the arguments, which are as long by a guard, what is called is given one."""
    def along(tangent, x):
        return jvp(grad(middles_first), (x,), (tangent,))[1]

    arguments = np.random.default_rng(0).standard_normal((2, 5))
    np.testing.assert_allclose(jit(along)(*arguments), along(*arguments), rtol=1e-12)


def test_refusal_has_a_place() -> None:
    with pytest.raises(NotSupported, match="rows of different lengths") as raised:
        jit(grad(rows))(0.3)
    assert "File " in str(raised.value)
