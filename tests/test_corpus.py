"""Every corpus program: its gradient, and of every fourth one its value with it, its jvp and its second derivative.

All of all: `TRANSFORMER_TEST_ALL=1 pytest tests/test_corpus.py`.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from corpus import ALL, Program
from differences import (
    assert_close,
    directional,
    flat,
    is_real,
    leaves,
    map_leaves,
    precision,
    random_tangents,
)
from thinned import ALL as ALL_OF_ALL
from thinned import some

from transformer import grad, jvp, value_and_grad

OTHER_SIZE = 5

SMOOTH = [program for program in ALL if "expected" not in program.tags]
SCALAR = [program for program in SMOOTH if "results" not in program.tags]
VALUED = {program.name for program in some(SCALAR, 4, 1)}
TWICE = [program for program in SCALAR if program.order >= 2]
KINKS = [program for program in ALL if "expected" in program.tags]


def each(programs: list[Program]) -> pytest.MarkDecorator:
    """Run a test for each of these programs, under the program's name."""
    return pytest.mark.parametrize("program", programs, ids=lambda program: program.name)


@functools.cache
def gradient_of(program: Program) -> Callable[..., Any]:
    """The gradient, made once and called with all the arguments that follow."""
    function: Callable[..., Any] = grad(program.function, argnums=program.wrt)
    return function


@functools.cache
def value_and_gradient_of(program: Program) -> Callable[..., Any]:
    function: Callable[..., Any] = value_and_grad(program.function, argnums=program.wrt)
    return function


def first_draw(program: Program) -> tuple[Any, ...]:
    return program.example(np.random.default_rng(0))


def draws(program: Program) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Arguments to try, each with a word that tells them apart."""
    yield "seed 0", first_draw(program)
    yield "seed 1", program.example(np.random.default_rng(1))
    if program.sized:
        yield f"size {OTHER_SIZE}", program.example(np.random.default_rng(2), size=OTHER_SIZE)


def tangents_for(program: Program, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return random_tangents(np.random.default_rng(7), arguments, program.wrt)


def narrowest(program: Program, arguments: tuple[Any, ...]) -> np.dtype[Any]:
    """The narrowest precision that the program works in."""
    return np.dtype(np.float32) if "f32" in program.tags else precision(arguments)


def at_wrt(program: Program, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(arguments[position] for position in program.wrt)


def in_order_of(tree: Any, other: Any) -> Any:
    """The leaves of ``other`` where ``tree`` has real leaves, dicts in the order of ``tree``."""
    return map_leaves(lambda leaf, found: found if is_real(leaf) else None, tree, other)


def assert_like(argument: Any, entry: Any, what: str) -> None:
    """Each leaf of a gradient has the dtype and shape of the leaf it belongs to."""

    def compare(leaf: Any, found: Any) -> None:
        wanted, got = np.asarray(leaf), np.asarray(found)
        assert got.dtype == wanted.dtype, f"{what}: dtype {got.dtype} for a {wanted.dtype}"
        assert got.shape == wanted.shape, f"{what}: shape {got.shape} for {wanted.shape}"

    map_leaves(compare, argument, entry)


def assert_unchanged(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> None:
    """A derivative leaves the arguments alone, also where the program itself writes to them."""
    for mine, other in zip(leaves(ours), leaves(theirs), strict=True):
        np.testing.assert_array_equal(mine, other)


def assert_same_value(ours: Any, theirs: Any, dtype: np.dtype[Any]) -> None:
    """A value may differ by rounding only, and has the same dtype."""
    rounding = 1e-5 if dtype == np.float32 else 1e-12
    for mine, other in zip(leaves(in_order_of(theirs, ours)), leaves(theirs), strict=True):
        if is_real(other):
            assert np.asarray(mine).dtype == np.asarray(other).dtype
            np.testing.assert_allclose(mine, other, rtol=rounding, atol=rounding)


def test_names_are_unique() -> None:
    names = [program.name for program in ALL]
    assert sorted(names) == sorted(set(names))


@each(SCALAR)
def test_gradient(program: Program, capsys: pytest.CaptureFixture[str]) -> None:
    for k, (where, arguments) in enumerate(draws(program)):
        dtype = narrowest(program, arguments)
        result = gradient(program, arguments, capsys)
        assert isinstance(result, tuple) and len(result) == len(program.wrt)
        chosen = at_wrt(program, arguments)
        assert_like(chosen, result, f"gradient of {program.name}, {where}")
        tangents = random_tangents(np.random.default_rng(k), arguments, program.wrt)    # a wrong entry shows along any
        along = flat(in_order_of(chosen, result)) @ flat(at_wrt(program, tangents))
        reference = directional(program.function, arguments, tangents, dtype)
        assert_close(along, reference, f"gradient of {program.name}, {where}", dtype)


def gradient(program: Program, arguments: tuple[Any, ...], capsys: pytest.CaptureFixture[str]) -> Any:
    """What `grad` gives, or of every fourth program `value_and_grad`, if its value is right."""
    result = right_value_and_gradient(program, arguments, capsys)[1] if program.name in VALUED else None
    return gradient_of(program)(*copy.deepcopy(arguments)) if result is None or ALL_OF_ALL else result


def right_value_and_gradient(program: Program, arguments: tuple[Any, ...], capsys: pytest.CaptureFixture[str]) -> Any:
    ours = copy.deepcopy(arguments)
    capsys.readouterr()
    expected = program.function(*copy.deepcopy(arguments))
    printed = capsys.readouterr().out
    value, result = value_and_gradient_of(program)(*ours)
    assert capsys.readouterr().out == printed
    assert np.ndim(value) == 0
    assert_same_value(value, expected, narrowest(program, arguments))
    assert_unchanged(ours, arguments)
    return value, result


@each(some(SMOOTH, 6, 2))
def test_jvp(program: Program) -> None:
    arguments = first_draw(program)
    dtype = narrowest(program, arguments)
    tangents = tangents_for(program, arguments)
    expected = program.function(*copy.deepcopy(arguments))
    value, tangent = jvp(program.function, copy.deepcopy(arguments), tangents)
    assert_same_value(value, expected, dtype)
    reference = directional(program.function, arguments, tangents, dtype)
    assert_close(in_order_of(expected, tangent), reference, f"jvp of {program.name}", dtype)


@each(some(TWICE, 6))
def test_second(program: Program) -> None:
    arguments = first_draw(program)
    dtype = narrowest(program, arguments)
    tangents = tangents_for(program, arguments)
    chosen = at_wrt(program, arguments)

    def first_derivative(*moved: Any) -> Any:
        return in_order_of(chosen, gradient_of(program)(*moved))

    _, tangent = jvp(gradient_of(program), copy.deepcopy(arguments), tangents)
    reference = directional(first_derivative, arguments, tangents, dtype)
    what = f"jvp of the gradient of {program.name}"
    assert_close(in_order_of(chosen, tangent), reference, what, dtype)


@each(KINKS)
def test_convention(program: Program) -> None:
    """At a kink the gradient is the convention's, and forward mode agrees with it."""
    arguments = first_draw(program)
    ones = tuple(map_leaves(np.ones_like, argument) for argument in arguments)
    with np.errstate(all="ignore"):
        result = gradient_of(program)(*copy.deepcopy(arguments))
        _, tangent = jvp(program.function, copy.deepcopy(arguments), ones)
    for entry, expected in zip(result, program.expected or (), strict=True):
        np.testing.assert_allclose(entry, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(tangent, np.sum(flat(program.expected)), rtol=1e-12, atol=1e-12)
