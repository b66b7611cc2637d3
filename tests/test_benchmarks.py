"""The programs that are timed, at sizes that take no time: lowered, they compute what they do as NumPy."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from loop_cases import plain  # noqa: E402
from lowered import called, generated  # noqa: E402

from benchmarks import headline, idioms, npbench  # noqa: E402
from benchmarks.contest.checking import disagreement  # noqa: E402
from transformer import jit  # noqa: E402
from transformer.lower.lowering import lower  # noqa: E402

CASES = {case.name: case for case in [*headline.CASES, *npbench.CASES, *idioms.CASES]}
COMPILED = ("call with five arrays of 4", "gradient of P[i] = f(P[i-1], P[i-2]), 1e5", "trisolv",
            "gradient of clipping")

BY_HAND = """
from benchmarks import headline
from benchmarks.contest.checking import disagreement
for case in headline.CASES:
    if case.hand is not None:
        args = case.example(case.tiny)
        wrong = disagreement(case.hand(*args), case.ours()(*args))
        assert not wrong, f"{case.name}: {wrong}"
print("all agree")
"""


def test_names_are_unique() -> None:
    assert len(CASES) == len(headline.CASES) + len(npbench.CASES) + len(idioms.CASES)


@pytest.mark.parametrize("name", CASES)
def test_lowered_is_what_numpy_computes(name: str) -> None:
    case, arguments = CASES[name], CASES[name].example(CASES[name].tiny)
    target = case.ours()
    found = lowered(target, case.program, arguments)
    assert not disagreement(found, target(*copy.deepcopy(arguments)), 1e-5 if "f32" in name else None)


def lowered(target: Any, user: Any, arguments: tuple[Any, ...]) -> Any:
    """What the explicit loops give, run by Python."""
    made = generated(target, user, arguments)
    with np.errstate(all="ignore"):
        return called(made, plain(lower(made.function, made.reading.assumptions)), user, arguments)


@pytest.mark.parametrize("name", COMPILED)
def test_compiled(name: str) -> None:
    case, arguments = CASES[name], CASES[name].example(CASES[name].tiny)
    assert not disagreement(jit(case.ours())(*copy.deepcopy(arguments)), case.ours()(*copy.deepcopy(arguments)))


def test_programs_write_to_copies() -> None:
    for case in CASES.values():
        if not case.is_derivative:
            arguments = case.example(case.tiny)
            before = copy.deepcopy(arguments)
            case.program(*arguments)
            assert not disagreement(arguments, before), case.name


def test_versions_by_hand() -> None:
    """As plain Python, so that nothing is compiled."""
    done = subprocess.run([sys.executable, "-c", BY_HAND], cwd=ROOT, env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
                          capture_output=True, text=True, timeout=300)
    assert done.stdout == "all agree\n", done.stderr
