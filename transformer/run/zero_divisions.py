"""Derivatives where Python's numbers cannot be divided: those at NumPy's numbers, which are infinite or nan.

``np.log(0.0)`` is -inf, and its derivative ``1.0 / x``, of a number of Python's, would raise. So the call is done again
with ``np.float64(0.0)`` in its place. Generated source stays as it is; nothing is done where nothing raises.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from .. import tree
from ..transform.derived import taken_apart

NUMPYS = {float: np.float64, complex: np.complex128}


def is_derivative(target: Any) -> bool:
    """Whether derivatives are among what a function computes."""
    return any(mode.differentiates for mode in taken_apart(target)[1])


def with_numpys(args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str], static: Collection[str]
                ) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The arguments of a call with NumPy's numbers for Python's, but for those in `static`; None where there are no
    numbers of Python's."""
    if not any(type(leaf) in NUMPYS for leaf in tree.leaves((args, kwargs))):
        return None
    made = {name: arg if name in static else tree.map(_numpys, arg) for name, arg in kwargs.items()}
    return tuple(arg if name in static else tree.map(_numpys, arg) for name, arg in zip(names, args)), made


def _numpys(leaf: Any) -> Any:
    kind = NUMPYS.get(type(leaf))
    return leaf if kind is None else kind(leaf)
