"""How numba compiles the functions of a kernel. Imports nothing, as what was compiled before is loaded by it."""

from __future__ import annotations

from typing import Any

COMPILED = {"error_model": "numpy", "nogil": True}
HOSTED = {**COMPILED, "nogil": False}                  # in which Python does something
REGROUPED = {**COMPILED, "fastmath": {"reassoc", "contract"}, "forceinline": True}
SHARED = {**COMPILED, "forceinline": True}             # which threads run
ALONE = {**SHARED, "alone": True}                      # and whose arrays share no memory
APART = {**COMPILED, "apart": True}                    # of arrays that share no memory
OF_LAPACK = "lapack "                 # begins the names of forms that call it (`run/compiling/lapack.py`)
OURS = "alone", "apart", "borrows", "form", "rows", "sizes"                # which are ours to know, and not numba's


def for_numba(options: dict[str, Any]) -> dict[str, Any]:
    """The options that numba knows."""
    return {name: value for name, value in options.items() if name not in OURS}
