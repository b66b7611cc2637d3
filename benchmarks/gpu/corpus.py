"""Every program of the tests' corpus on the device, beside NumPy: its value, and its gradient.

In numba's simulator too: `NUMBA_ENABLE_CUDASIM=1 python -m benchmarks gpu --corpus`.
"""

from __future__ import annotations

import copy
import importlib
import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest.contenders import first_line, no_longer_than
from benchmarks.contest.running import progress
from transformer import grad, jit, tree
from transformer.core.errors import TransformError
from transformer.run.gpu.library import is_simulated

LONGEST = 60.0                      # seconds for a program, in which its kernels are compiled
AGREES, REFUSED, NO_GRADIENT = "agree", "are refused", "have no gradient"
DIFFERS, FAILS = "DIFFER", "FAIL"
TOLERANCE, TOLERANCE_F32, LEAST = 1e-9, 1e-4, 1e-11


def programs() -> list[Any]:
    sys.path.insert(0, str(Path(__file__).parent.parent.parent / "tests"))
    return [program for program in importlib.import_module("corpus").ALL if "expected" not in program.tags]


def run(only: str | None, every: int = 1) -> bool:
    """Prints what became of each kind, and all that is not as it should be; whether everything is."""
    parts = only.split(",") if only else [""]
    chosen = [program for program in programs() if any(part.strip() in program.name for part in parts)][::every]
    warnings.simplefilter("ignore")
    if is_simulated():
        importlib.import_module("numba_in_turns").install()
    return all([told("values", chosen, 0), told("gradients", chosen, 1)])


def told(kind: str, chosen: Sequence[Any], order: int) -> bool:
    counts: Counter[str] = Counter()
    for number, program in enumerate(chosen):
        progress(number, len(chosen), program.name)
        outcome, detail = became(program, order)
        counts[outcome] += 1
        if outcome in (DIFFERS, FAILS, REFUSED):
            print(f"{kind} of {program.name} {outcome}: {detail}", flush=True)
    progress(len(chosen), len(chosen), "")
    print(f"{kind} of {len(chosen)} programs: " + ", ".join(f"{n} {outcome}" for outcome, n in counts.items()))
    return not counts[DIFFERS] and not counts[FAILS]


def became(program: Any, order: int) -> tuple[str, str]:
    """What became of a program, and how one would tell it in a line."""
    try:
        with no_longer_than(LONGEST):
            return compared(program, order)
    except Exception as error:                  # the next one may do better
        return FAILS, first_line(error)


def compared(program: Any, order: int) -> tuple[str, str]:
    target = grad(program.function, argnums=program.wrt) if order else program.function
    ours, theirs = (copy.deepcopy(program.example(np.random.default_rng(0))) for _ in range(2))
    try:
        wanted = target(*theirs)
    except TransformError as error:
        return NO_GRADIENT, first_line(error)
    try:
        found = jit(target, device="cuda")(*ours)
    except TransformError as error:
        return REFUSED, first_line(error)
    wrong = difference((found, ours), (wanted, theirs), "f32" in program.tags)
    return (DIFFERS, wrong) if wrong else (AGREES, "")


def difference(found: Any, wanted: Any, is_wide: bool) -> str:
    """What is different first, in results or in arguments that were written to; nothing where all is the same."""
    ours, theirs = tree.leaves(found), tree.leaves(wanted)
    if len(ours) != len(theirs):
        return f"{len(ours)} leaves, not {len(theirs)}"
    return next(filter(None, (of_leaf(got, want, is_wide) for got, want in zip(ours, theirs))), "")


def of_leaf(got: Any, want: Any, is_wide: bool) -> str:
    if isinstance(want, str) or want is None:
        return "" if got == want else f"{got!r}, not {want!r}"
    one, other = np.asarray(got), np.asarray(want)
    if one.dtype != other.dtype or one.shape != other.shape:
        return f"{one.dtype}{one.shape}, not {other.dtype}{other.shape}"
    near = np.allclose(one, other, TOLERANCE_F32 if is_wide else TOLERANCE, LEAST, equal_nan=True)
    return "" if near else f"{one.ravel()[:4]}, not {other.ravel()[:4]}"
