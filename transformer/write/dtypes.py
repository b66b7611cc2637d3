"""Tests of the dtypes of arrays, for code that is right for some only.

What is compiled has its conversions written out. NumPy's code is right for floats of any precision, but not for
integers in their place: 0.5 becomes 0 in an array of them.

    if not x.dtype == w.dtype == np.float32:
        raise TypeError(f"x and w must be of float32, not {x.dtype} and {w.dtype}")
    if x.dtype.kind != "f":
        raise TypeError("x must be an array of floats")
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
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


KINDS = {"f": "floats", "c": "complex numbers", "b": "truth values", "i": "integers", "u": "integers"}


def kind_tests(params: Iterable[Var], name: Callable[[Var], ast.expr]) -> Iterator[Item]:
    """The statements, one for the arrays of each kind of numbers."""
    groups: dict[str, list[ast.expr]] = {}
    for param in params:
        if is_array(param) and param.type.dtype.kind in KINDS:           # type: ignore[union-attr]
            groups.setdefault(KINDS[param.type.dtype.kind], []).append(name(param))   # type: ignore[union-attr]
    for kind, found in groups.items():
        test = _is_of_another_kind([letter for letter in KINDS if KINDS[letter] == kind], found)
        who = [ast.unparse(tree) for tree in found]
        arrays = f"{who[0]} must be an array" if len(who) == 1 else f"{listed(who)} must be arrays"
        error = ast.Call(ast.Name("TypeError"), [ast.Constant(f"{arrays} of {kind}")], [])
        yield Group(ast.If(test, [], []), [Line(ast.Raise(error, None))])


def _is_of_another_kind(letters: list[str], found: list[ast.expr]) -> ast.expr:
    """`x.dtype.kind != "f"`, `any(each.dtype.kind != "f" for each in (w, x))`, `k.dtype.kind not in "iu"`."""
    one: ast.expr = found[0] if len(found) == 1 else ast.Name("each")
    kind = ast.Attribute(ast.Attribute(one, "dtype"), "kind")
    test = ast.Compare(kind, [ast.NotEq() if len(letters) == 1 else ast.NotIn()], [ast.Constant("".join(letters))])
    if len(found) == 1:
        return test
    each = ast.comprehension(ast.Name("each"), ast.Tuple(found), [], 0)
    return ast.Call(ast.Name("any"), [ast.GeneratorExp(test, [each])], [])


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
