"""Random programs, always the same ones: their values and derivatives up to the third order.

`python -m tests.fuzz` draws others. What fails there becomes a program in `corpus/fuzzed.py`.
"""

from __future__ import annotations

import inspect
from unittest import mock

import corpus
import numpy as np
import pytest
from corpus.fuzzed import PROGRAMS
from fuzz.campaign import LANES, LISTED, LISTS, TYPED, TYPES, Chunk, Found, outcome_of, outcomes, smaller
from fuzz.checks import EVERY
from fuzz.dead import Spoiling
from fuzz.program import Program
from fuzz.reference import Rejected, slope
from thinned import ALL, some

from transformer.ops.table import lookup

CHUNKS, EACH = 8 if ALL else 5, 6
EACH_OF_LANES, EACH_OF_TYPES, EACH_OF_LISTS = 3, 6, 5
ALSO = EVERY, ("second", "dead"), ("layout", "saved"), ("sizes", "second", "other order"), ("loops",)    # in turns
LEAST_PASSED = 0.1  # programs that are rejected or refused test nothing; a chunk may be variations of one


@pytest.mark.parametrize("number", range(CHUNKS))
def test_random_programs(number: int) -> None:
    tally = outcomes(Chunk(number, EACH), ALSO[number % len(ALSO)])
    failures = [smaller(found, 20.0) for _, found in tally.of("failed")]
    assert not failures, "\n\n".join(f"{f.outcome.kind}: {f.outcome.detail}\n{f.program.text}" for f in failures)
    assert tally.statuses["passed"] >= LEAST_PASSED * EACH, tally.kinds


@pytest.mark.parametrize("number", range(100, 104))
def test_random_programs_under_vmap(number: int) -> None:
    """`vmap` is the loop, also of the gradient and in itself; Jacobians agree, Hessians are symmetric."""
    tally = outcomes(Chunk(number, EACH_OF_LANES), LANES)
    failures = [smaller(found, 20.0) for _, found in tally.of("failed")]
    assert not failures, "\n\n".join(f"{f.outcome.kind}: {f.outcome.detail}\n{f.program.text}" for f in failures)
    assert tally.statuses["passed"] >= LEAST_PASSED * EACH_OF_LANES, tally.kinds


@pytest.mark.parametrize("number", range(200, 202))
def test_random_programs_of_several_dtypes(number: int) -> None:
    """Source and compiled code give NumPy's numbers in NumPy's dtypes."""
    tally = outcomes(Chunk(number, EACH_OF_TYPES, tuple(TYPED)), TYPES)
    failures = [smaller(found, 20.0) for _, found in tally.of("failed")]
    assert not failures, "\n\n".join(f"{f.outcome.kind}: {f.outcome.detail}\n{f.program.text}" for f in failures)
    assert tally.statuses["passed"] >= LEAST_PASSED * EACH_OF_TYPES, tally.kinds


@pytest.mark.parametrize("number", range(300, 302))
def test_random_programs_that_change_lists(number: int) -> None:
    """Value, gradient and exceptions are those of Python, or there is a located error."""
    tally = outcomes(Chunk(number, EACH_OF_LISTS, tuple(LISTED)), LISTS)
    failures = [smaller(found, 20.0) for _, found in tally.of("failed")]
    assert not failures, "\n\n".join(f"{f.outcome.kind}: {f.outcome.detail}\n{f.program.text}" for f in failures)
    assert tally.statuses["passed"] >= LEAST_PASSED * EACH_OF_LISTS, tally.kinds


@pytest.mark.parametrize("known", some(PROGRAMS, 3), ids=lambda known: known.name)
def test_programs_that_failed(known: corpus.Program) -> None:
    """What was mended stays so, of one in three, in all that is checked of random programs."""
    names = inspect.signature(known.function).parameters
    program = Program("", dict(zip(names, known.example(np.random.default_rng(0)), strict=True)))
    program.function = known.function
    outcome = outcome_of(program)
    assert outcome.status != "failed", f"{outcome.kind}: {outcome.detail}"


@pytest.mark.parametrize("jump", [1e-5, 1e-3, 1.0])
def test_kinks_are_no_reference(jump: float) -> None:
    """Where two elements tie, a difference is the mean of two slopes, and says so."""
    at, along = np.array([0.3, 0.3]), np.array([1.0, 0.5])
    assert slope(lambda x: np.array([np.sum(np.sin(x))]), at, along).value == pytest.approx(1.5 * np.cos(0.3))
    with pytest.raises(Rejected, match="kink"):
        slope(lambda x: np.array([np.sum(np.sin(x)) + jump * np.max(x)]), at, along)


def test_failures_are_found_and_made_small() -> None:
    """A wrong sine is found, and all lines that have nothing to do with it are cut."""
    source = """
def program(x):
    a = np.cos(x[0])
    for i in range(3):
        a += 2 * np.sin(x[i])
    return a * a
"""
    program = Program(source.strip(), {"x": np.array([0.3, 0.5, 0.4])})
    assert outcome_of(program, ()).status == "passed"
    with mock.patch.object(lookup(np.sin)[0], "partials", (lambda t, x, y: t * 0.5,)):
        found = Found(program, outcome_of(program, ()))
        assert (found.outcome.status, found.outcome.kind) == ("failed", "gradient")
        small = smaller(found, 20.0).program.source
    assert "np.sin" in small and "cos" not in small and len(small.splitlines()) <= 5, small


def test_dead_arrays_are_spoiled() -> None:
    """Were a view forgotten that is still alive, the numbers would show it."""
    source = """
def program(x):
    y = np.sin(x)
    v = y[1:]
    s = np.sum(y * y)
    return s * np.sum(v ** 3)
"""
    program = Program(source.strip(), {"x": np.array([0.3, 0.5, 0.4])})
    assert outcome_of(program, ("dead",)).status == "passed"
    with mock.patch.object(Spoiling, "_is_ours", lambda *_: True):
        assert outcome_of(program, ("dead",)).kind == "gradient, dead arrays spoiled"
