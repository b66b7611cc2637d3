"""Parameters that lie column by column, as arrays in Fortran's order do: the kernel takes their transposes.

    f(x)                          f(x)                           called as f(x.T)
        y = sum(x, axis=0)   →        x2 = transpose(x)
                                      y = sum(x2, axis=0)

So loops go along memory, as they do for other arrays: a sum over the first axis is one over a row.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from ...core.grammar import Function, Let, Var
from ...core.types import ArrayType
from ...ops.axes import Transpose


def with_turned(function: Function, turned: Collection[Var]) -> Function:
    """The function of the transposes of these parameters; the same one, if there are none."""
    if not turned:
        return function
    places = {param: Var(_reversed(param.type), param.name) if param in turned else param for param in function.params}
    views = [Let((param,), Transpose, (place,), {}, function.origin) for param, place in places.items()
             if param is not place]
    dims = {dim: (places[param], len(param.type.sizes) - 1 - axis if param in turned else axis)   # type: ignore[union-attr]
            for dim, (param, axis) in function.dims.items()}
    return replace(function, params=list(places.values()), body=[*views, *function.body], dims=dims)


def _reversed(type: Any) -> ArrayType:
    reversed: ArrayType = type.with_sizes(type.sizes[::-1])
    return reversed
