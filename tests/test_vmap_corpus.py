"""`vmap` of programs of the corpus, and of gradients, beside a loop over lanes: right, or refused at their place.

Every program: `TRANSFORMER_TEST_ALL=1 pytest tests/test_vmap_corpus.py`.
"""

from __future__ import annotations

import contextlib
import copy
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from corpus import ALL, Program
from lane_loops import Stack, assert_alike, assert_unchanged, looped
from thinned import some

from transformer import config, grad, vmap
from transformer.core.errors import NotSupported, TransformError

PROGRAMS = [program for program in ALL if "expected" not in program.tags]
LOOPS = [program for program in PROGRAMS if "loops" in program.tags]
VALUES, DERIVED = some(PROGRAMS, 12), [*some(PROGRAMS, 16, 1), *LOOPS]
CHUNKS = 16
LANES = 3


@pytest.fixture(autouse=True)
def checked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(config, "check", True)
    with np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        yield


def run(program: Program, order: int) -> str:
    """Compares all lanes at once with one after the other; says what came of it."""
    rng = np.random.default_rng(0)
    stack = Stack([program.example(rng) for _ in range(LANES)])
    if not any(stack.mapped):
        return "nothing has lanes"
    function: Any = grad(program.function, argnums=program.wrt) if order else program.function
    try:
        expected = looped(function, stack.lanes)
    except Exception:
        return "a lane fails"
    given = copy.deepcopy(stack.args)
    try:
        found = vmap(function, in_axes=stack.in_axes)(*given)
    except TransformError as refused:
        assert isinstance(refused, NotSupported) and "File " in str(refused), refused
        return "refused"
    assert_unchanged(given, stack.args)
    assert_alike(found, expected, rtol=1e-4 if "f32" in program.tags else 1e-9)
    return "right"


def run_all(programs: list[Program], order: int) -> None:
    """Nearly all of them are right, where lanes by themselves are: nothing hides behind refusals."""
    outcomes = []
    for program in programs:
        try:
            outcomes.append(run(program, order))
        except Exception as error:
            raise AssertionError(f"{program.name}: {error}") from error
    assert outcomes.count("refused") <= 0.1 * len(programs) and outcomes.count("right") > 0.5 * len(programs), outcomes


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_values(chunk: int) -> None:
    run_all(VALUES[chunk::CHUNKS], 0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_gradients(chunk: int) -> None:
    """Of every twelfth program, and of those whose loops were wrong once."""
    run_all(DERIVED[chunk::CHUNKS], 1)
