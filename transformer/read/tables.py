"""Functions of NumPy and SciPy that make tables of numbers which are known: nodes and weights, filters, windows.

    x, w = np.polynomial.legendre.leggauss(4)
    b, a = scipy.signal.butter(2, 0.3)

They are called while the function is read. What they give is one array for the same numbers each time, which counts
as one from outside.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from .demand import static
from .errors import as_user_error
from .values import stripped

if TYPE_CHECKING:
    from .reader import Reader

MAKING_TABLES = re.compile(
    r"numpy\.polynomial\.\w+\.(leg|herm|herme|lag|cheb)gauss"
    r"|scipy\.special\.(\w+\.)?roots_\w+"
    r"|scipy\.signal\.(\w+\.)?(butter|cheby1|cheby2|ellip|bessel|iirfilter|firwin|savgol_coeffs)"
    r"|scipy\.signal\.windows\.\w+\.\w+"
    r"|scipy\.integrate\.\w+\.newton_cotes"
)
_MADE: dict[Any, Any] = {}


def makes_table(function: Any) -> bool:
    """Whether a function gives numbers that its arguments, which are no arrays, decide."""
    name = f"{getattr(function, '__module__', '')}.{getattr(function, '__name__', '')}"
    return MAKING_TABLES.fullmatch(name) is not None


def table(reader: Reader, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What such a function gives."""
    what = f"an argument of {function.__name__}"
    args = tuple(_known(reader, arg, what) for arg in args)
    kwargs = {name: _known(reader, arg, what) for name, arg in kwargs.items()}
    key = function, args, tuple(sorted(kwargs.items())), repr((args, kwargs))        # 1, 1.0 and True are three
    if key not in _MADE:
        with as_user_error(reader):
            _MADE[key] = _kept(function(*args, **kwargs))
    return _lifted(reader, _MADE[key], function.__name__)


def _known(reader: Reader, value: Any, what: str) -> Any:
    """An argument, which has to be known; lists as tuples."""
    if isinstance(value, list | tuple):
        return tuple(_known(reader, item, what) for item in value)
    return stripped(static(reader, value, what))


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
