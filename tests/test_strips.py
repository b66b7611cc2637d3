"""Loops over whole arrays that go strip by strip: the same numbers, and memory of one strip."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from corpus.strips import (
    PROGRAMS,
    first_one_in_steps,
    paths_with_payments,
    shares_of_all,
    steps_in_steps,
    steps_of_all_points,
)
from lowered import as_loops, generated, source_of

from transformer import config, grad, jit
from transformer.lower.lowering import lower
from transformer.lower.ordering import strips
from transformer.transform.reverse import memory

IN_STRIPS = "for block in range"


@pytest.fixture(autouse=True)
def short_strips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strips, "WORTH_STRIPS", 1)
    monkeypatch.setattr(strips, "STRIP", 4)


def points(k: int) -> tuple[Any, ...]:
    return PROGRAMS[k].example(np.random.default_rng(k))


@pytest.mark.parametrize("k", range(len(PROGRAMS)), ids=[program.name for program in PROGRAMS])
def test_same_numbers(k: int) -> None:
    f, args = PROGRAMS[k].function, points(k)
    derivative = grad(f, argnums=PROGRAMS[k].wrt)
    np.testing.assert_allclose(as_loops(f, f, args), f(*args), rtol=1e-12)
    for got, want in zip(as_loops(derivative, f, args, threads=True), derivative(*args), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


def test_which_loops_do() -> None:
    """Those of which every element keeps to itself, whose sums over all no iteration needs, and whose iterations nobody
    counts. Where each iteration has arrays from outside, they do so if something is kept for the reverse."""
    found = {program.function for k, program in enumerate(PROGRAMS)
             if IN_STRIPS in source_of(program.function, program.function, points(k))}
    not_so = {first_one_in_steps, shares_of_all, paths_with_payments}
    assert found == {program.function for program in PROGRAMS} - not_so


def test_sums_behind_all_strips() -> None:
    """A gradient whose forward and reverse loops add up over all places is one nest over strips, in which nothing is
    kept of more places than those of a strip; parts of the sums have an axis for the strips."""
    k = [program.function for program in PROGRAMS].index(paths_with_payments)
    made = source_of(grad(paths_with_payments, argnums=(1, 2)), paths_with_payments, points(k))
    assert made.count(IN_STRIPS) == 1
    assert "parts[k, block]" in made


def test_large_records_of_one_strip(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes more memory than is kept unasked, but in strips does not, is kept of every iteration."""
    monkeypatch.setattr(strips, "STRIP", 64)
    monkeypatch.setattr(memory, "LARGE", 30_000)
    derivative, z = grad(paths_with_payments, argnums=2), np.zeros((16, 640))
    assert "blocks" in derivative.source_for(z, 0.1, 0.3)
    assert "blocks" not in jit(derivative).source_for(z, 0.1, 0.3)
    monkeypatch.setattr(strips, "WORTH_STRIPS", 1 << 13)
    assert "blocks" in jit(grad(paths_with_payments, argnums=1)).source_for(z, 0.1, 0.3)


def test_what_is_kept_for_the_reverse() -> None:
    """Two loops, one behind the other, and what is between them are done for one strip after the other: there is no
    more memory than for one of what the first one keeps in its three iterations."""
    made = generated(grad(steps_of_all_points), steps_of_all_points, points(0))
    lowered = lower(made.function, made.reading.assumptions).lowered
    kept = {each.type.sizes for each in lowered.outside if each not in lowered.results}
    assert kept == {(3, strips.STRIP)}


def test_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """By two threads, with memory of their own; and for other sizes, with the same code."""
    monkeypatch.setattr(config, "threads", 2)
    compiled, plain = jit(grad(steps_in_steps)), grad(steps_in_steps)
    for n in (5, 1, 0, 64):
        x = np.random.default_rng(n).normal(size=(n, 2))
        np.testing.assert_allclose(compiled(x), plain(x), rtol=1e-12)
    assert IN_STRIPS in compiled.source or "block in places" in compiled.source
