"""Tests of the dtypes of arrays, for code that is right for some only: it is compiled with conversions written out.

    if not x.dtype == w.dtype == np.float32:
        raise TypeError(f"x and w must be of float32, not {x.dtype} and {w.dtype}")
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.grammar import Function, Var, is_array
from .expressions import dtype_tree
from .guards import listed
from .layout import Group, Item, Line


def dtype_tests(function: Function, halves: dict[Any, np.dtype[Any]], name: Callable[[Var], ast.expr]
                ) -> Iterator[Item]:
    """The statements, one for each dtype among the parameters; `halves` are the dtypes of those of 16 bits."""
    groups: dict[np.dtype[Any], list[ast.expr]] = {}
    for param in function.params:
        if is_array(param):
            dtype = halves.get(param, param.type.dtype)                  # type: ignore[union-attr]
            groups.setdefault(dtype, []).append(ast.Attribute(name(param), "dtype"))
    for dtype, found in groups.items():
        yield _test(dtype, found)


def _test(dtype: np.dtype[Any], found: list[ast.expr]) -> Item:
    names = [ast.unparse(ast.fix_missing_locations(tree)).removesuffix(".dtype") for tree in found]
    holes = [ast.FormattedValue(tree, -1) for tree in found]
    if len(found) == 1:
        test = ast.Compare(found[0], [ast.NotEq()], [dtype_tree(dtype)])
    else:
        same = ast.Compare(found[0], [ast.Eq()] * len(found), [*found[1:], dtype_tree(dtype)])
        test = ast.UnaryOp(ast.Not(), same)                              # type: ignore[assignment]
    who = names[0] if len(names) == 1 else listed(names)
    text = [ast.Constant(f"{who} must be of {dtype.name}, not "), *_joined(holes)]
    error = ast.Call(ast.Name("TypeError"), [ast.JoinedStr(text)], [])
    return Group(ast.If(test, [], []), [Line(ast.Raise(error, None))])


def _joined(holes: list[ast.FormattedValue]) -> Iterator[ast.expr]:
    for k, hole in enumerate(holes):
        if k:
            yield ast.Constant(" and " if k == len(holes) - 1 else ", ")
        yield hole
