"""Functions of NumPy and Python that are read as they are written here, where they have no op.

They are ordinary Python. What they call has an op or is read in turn; a place in them is shown as the
place of the call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from functools import cache
from importlib import import_module
from itertools import takewhile
from typing import Any

import numpy as np

# Of what stands in several modules, the last one counts.
MODULES = (
    "writing", "counting", "facts", "folding", "numbers", "selecting", "series", "polynomials", "polynomial_series",
    "polynomial_objects", "bits", "ranks", "missing", "frequencies", "fitting", "heaps", "matrices", "scipy_linalg",
    "scipy_signal", "distances", "distributions", "densities", "windows", "complex_functions", "iterating", "roots",
    "systems", "integrating", "interpolating", "splines", "regular_grids", "images", "probabilities", "describing",
    "matrix_equations", "spectral", "initial_values",
)


def instead_of(function: Any) -> Callable[..., Any] | None:
    """What is read in place of a function; None where that is the function itself."""
    try:
        found = _functions().get(function) or _functions().get(_name_in_scipy(function))
    except TypeError:  # not hashable
        found = None
    return found or _of_object(function)


def gives_arrays(function: Any) -> bool:
    """Whether NumPy itself gives an array where a result has no axes: most of its functions give a number."""
    return isinstance(function, Hashable) and function in ARRAYS


ARRAYS = frozenset({np.apply_along_axis, np.apply_over_axes, np.asarray_chkfinite, np.block, np.cov, np.i0, np.isin,
                    np.linalg.tensorsolve, np.piecewise, np.select})


def _name_in_scipy(function: Any) -> str:
    """``"scipy.optimize.rosen"``, or ``"scipy.stats.norm.cdf"`` of a distribution: scipy is imported by those who use
    it."""
    home = (getattr(function, "__module__", None) or "").split(".")
    if home[0] != "scipy" or not hasattr(function, "__name__"):
        return ""
    owner = getattr(function, "__self__", None)
    kind = type(owner).__name__.removesuffix("_gen")
    is_of_scipy = owner is not None and getattr(sys.modules.get("scipy.stats"), kind, None) is owner
    public = takewhile(lambda part: not part.startswith("_"), home)
    return ".".join([*public, *([kind] if is_of_scipy else []), function.__name__])


def _of_object(function: Any) -> Callable[..., Any] | None:
    """What is read in place of a call of an object that was made before, and of its methods: of a distribution of
    SciPy's, ``scipy.stats.norm(mean, deviation)``, of a spline and of a polynomial."""
    if "scipy.stats" in sys.modules:
        from .densities import of_frozen

        if (found := of_frozen(function)) is not None:
            return found
    if "scipy.interpolate" in sys.modules:
        from .interpolating import of_made

        if (found := of_made(function)) is not None:
            return found
    from .polynomial_objects import of_made as of_polynomial

    return of_polynomial(function)


@cache
def _functions() -> dict[Any, Callable[..., Any]]:
    modules = (import_module(f"{__name__}.{name}") for name in MODULES)
    return {call: function for module in modules for call, function in module.CALLS.items()}


def functions_of_scipy() -> list[str]:
    """The functions of SciPy that are read."""
    return sorted(call for call in _functions() if isinstance(call, str))


@cache
def methods() -> dict[str, Callable[..., Any]]:
    """What is read in place of a method of arrays."""
    from . import numbers, selecting, writing

    return {**writing.METHODS, **selecting.METHODS, **numbers.METHODS}
