"""Functions of NumPy and SciPy that make tables of numbers which are known: nodes and weights, filters, windows.

    x, w = np.polynomial.legendre.leggauss(4)
    b, a = scipy.signal.butter(2, 0.3)
    coefficients = scipy.special.bernoulli(n)

They are called while the function is read. What they give is one array for the same numbers each time, which counts
as one from outside.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.sizes import Size
from ..raising.demand import static
from ..raising.errors import as_user_error
from ..values import UNKNOWN, Value, known_of, stripped
from .pure import is_impure, public_name

if TYPE_CHECKING:
    from ..reader import Reader

HOMES = re.compile(r"(numpy\.polynomial|scipy\.(special|signal|linalg|stats|integrate|constants))\..*")
NUMBERS = (bool, int, float, complex, np.generic)
_MADE: dict[Any, Any] = {}


def makes_table(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a function of a library gives numbers that its arguments decide: known ones, integers, and texts."""
    return (HOMES.fullmatch(public_name(function)) is not None and not is_impure(function)
            and all(map(_can_be_known, (*args, *kwargs.values()))))


def _can_be_known(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_can_be_known, value))
    if isinstance(value, Value) and known_of(value) is UNKNOWN:
        return not value.ndim and value.dtype.kind in "iub"
    return value is None or isinstance(value, (*NUMBERS, str, Value, Size))


def table(reader: Reader, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What such a function gives; None where that is something else than numbers."""
    what = f"an argument of {function.__name__}"
    args = tuple(_known(reader, arg, what) for arg in args)
    kwargs = {name: _known(reader, arg, what) for name, arg in kwargs.items()}
    key = function, args, tuple(sorted(kwargs.items())), repr((args, kwargs))        # 1, 1.0 and True are three
    if key not in _MADE:
        with as_user_error(reader):
            made = function(*args, **kwargs)
        _MADE[key] = _kept(made) if _is_table(made) else None
    return _lifted(reader, _MADE[key], function.__name__)


def _known(reader: Reader, value: Any, what: str) -> Any:
    """An argument, which has to be known; lists as tuples."""
    if isinstance(value, list | tuple):
        return tuple(_known(reader, item, what) for item in value)
    return stripped(static(reader, value, what))


def _is_table(made: Any) -> bool:
    return all(map(_is_table, made)) if isinstance(made, tuple) else isinstance(made, (np.ndarray, *NUMBERS))


class _Copies:
    """An array of which each call gets a copy of its own, so that nobody changes it for the others."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __call__(self, name: str) -> np.ndarray:
        return self.array.copy()


def _kept(made: Any) -> Any:
    if isinstance(made, tuple):
        return tuple(map(_kept, made))
    return _Copies(made) if isinstance(made, np.ndarray) else made


def _lifted(reader: Reader, made: Any, name: str) -> Any:
    if isinstance(made, tuple):
        return tuple(_lifted(reader, item, name) for item in made)
    return reader.outside.lift(made.array, made, name, name) if isinstance(made, _Copies) else made
