"""A function compared with NumPy as a module for GPUs computes it: step by step, and with numba's types."""

from __future__ import annotations

import copy
from typing import Any

import gpu_simulator
import gpu_typed
import numpy as np
from test_golden_gpu import looped

from transformer import tree

EXACT = {np.dtype("f2"): 1e-2, np.dtype("f4"): 1e-4, np.dtype("c8"): 1e-4}


def check(target: Any, *arguments: Any, user: Any = None, typed: bool = True) -> str:
    """Calls a function, or a transformation of the user's, and compares results, dtypes, and what it writes; gives the
    source."""
    made = looped(target, user or target, arguments)
    given = {**made.namespace, **made.module.kernel.printed.given}
    for run in (gpu_simulator, gpu_typed)[:1 + typed]:
        entry = run.namespace(made.module.source, given)[made.module.entry.name]
        ours, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
        with np.errstate(all="ignore"):
            found, wanted = tree.leaves((entry(*ours), ours)), tree.leaves((target(*theirs), theirs))
        for got, want in zip(found, wanted, strict=True):
            got, want = np.asarray(got), np.asarray(want)
            assert got.dtype == want.dtype and got.shape == want.shape
            rounding = EXACT.get(want.dtype, 1e-9)
            np.testing.assert_allclose(got, want, rtol=rounding, atol=rounding)
    return made.module.source
