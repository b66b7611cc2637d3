"""The loops of the programs in golden_loops/: as they are kept, and right.

Refresh with `pytest tests/test_golden_loops.py --update-golden`: a file is written only after what it
computes was compared with NumPy.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from importing import imported
from loop_cases import plain
from lowered import called

from transformer import tree
from transformer.api import argument_names
from transformer.lower.lowering import Kernel, lower
from transformer.pipeline import Generated, generate
from transformer.run.generating import on_demand, requested
from transformer.run.repeated import WRITTEN_OUT
from transformer.run.signature import describe
from transformer.run.static import StaticPaths

FOLDER = Path(__file__).parent / "golden_loops"
programs = imported(FOLDER / "programs.py", "loop_programs")

NAMES = pytest.mark.parametrize("name", programs.KEPT)


def lowered(name: str, seed: int) -> tuple[Generated, Kernel, tuple[Any, ...]]:
    """The kernel of a program as `jit` makes it: small sizes are numbers."""
    target, user, draw = programs.KEPT[name]
    arguments = draw(np.random.default_rng(seed))
    names, static = argument_names(user, len(arguments)), StaticPaths(frozenset(), WRITTEN_OUT)

    def attempt(described: Any) -> Generated:
        return generate(requested(target, described))

    made = on_demand(attempt, arguments, {}, names, static, describe(arguments, {}, names, static))
    return made, lower(made.function, made.reading.assumptions, name), arguments


def compare(name: str, seed: int) -> str:
    """The source of the loops, which give what NumPy gives."""
    target, user, _ = programs.KEPT[name]
    made, kernel, arguments = lowered(name, seed)
    found, _ = tree.flatten(called(made, plain(kernel), user, arguments))
    wanted, _ = tree.flatten(target(*copy.deepcopy(arguments)))
    for got, want in zip(found, wanted, strict=True):
        assert np.asarray(got).dtype == np.asarray(want).dtype
        np.testing.assert_allclose(got, want, rtol=1e-5 if np.asarray(want).dtype == "f4" else 1e-11, atol=1e-12)
    return kernel.source[kernel.source.index(f"def {name}("):]


@NAMES
def test_loops(name: str, request: pytest.FixtureRequest) -> None:
    source = compare(name, 0)
    path = FOLDER / f"{name}.txt"
    if request.config.getoption("--update-golden"):
        path.write_text(source)
    assert source == path.read_text()


@NAMES
def test_other_numbers(name: str) -> None:
    compare(name, 1)
