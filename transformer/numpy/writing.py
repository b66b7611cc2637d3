"""NumPy's functions that write to their argument, as functions that give a changed copy: `inplace=False`, as in JAX."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["fill_diagonal", "place", "put", "put_along_axis"]


def put(a: Any, ind: Any, v: Any, mode: Any = None, *, inplace: bool = True) -> Any:
    """A copy of an array with values at places of the flattened array. Without a mode, a place out of bounds is an
    error; it may be ``"clip"`` or ``"wrap"``.

    >>> put(np.zeros(3), [0, 2], [1.0, 2.0], inplace=False)
    array([1., 0., 2.])
    """
    result = _copy("put", a, inplace)
    np.put(result, ind, v, "raise" if mode is None else mode)
    return result


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any, inplace: bool = True, *, mode: Any = None) -> Any:
    """A copy of an array with values at places along an axis. `mode` may be None or ``"promise_in_bounds"``.

    >>> put_along_axis(np.zeros((2, 2)), np.array([[1], [0]]), 5.0, 1, inplace=False)
    array([[0., 5.],
           [5., 0.]])
    """
    if mode not in (None, "promise_in_bounds"):
        raise ValueError(f"put_along_axis: mode is {mode!r}, which is neither None nor 'promise_in_bounds'")
    result = _copy("put_along_axis", arr, inplace)
    np.put_along_axis(result, indices, values, axis)
    return result


def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = True) -> Any:
    """A copy of an array with values where the mask holds, again and again.

    >>> place(np.zeros(4), np.array([True, True, False, True]), np.array([1.0, 2.0]), inplace=False)
    array([1., 2., 0., 1.])
    """
    result = _copy("place", arr, inplace)
    np.place(result, mask, vals)
    return result


def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = True) -> Any:
    """A copy of an array with other elements on its diagonal.

    >>> fill_diagonal(np.zeros((2, 2)), 5.0, inplace=False)
    array([[5., 0.],
           [0., 5.]])
    """
    result = _copy("fill_diagonal", a, inplace)
    np.fill_diagonal(result, val, wrap=wrap)
    return result


def _copy(name: str, array: Any, inplace: bool) -> Any:
    if inplace:
        raise ValueError(f"{name} cannot write to an Array: write x = {name}(x, …, inplace=False), or "
                         "x = x.at[...].set(...)")
    return np.asarray(array).copy()
