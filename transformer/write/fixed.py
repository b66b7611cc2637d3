"""Tests in an emitted file of the arguments whose values are built into it.

A function read for ``kind="sum"`` knows nothing of other kinds, so its file refuses them:

    if kind != "sum" or not flag:
        raise ValueError("made for kind='sum', flag=True alone")
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from ..containers import kind_of
from ..core.errors import NotSupported
from .layout import Group, Item, Line
from .signature import ATOMS, is_leaf, literal

LONGEST = 50                      # characters of values in a message
FUNCTIONS = (FunctionType, BuiltinFunctionType, np.ufunc, type)


def fixed_tests(interface: Any) -> list[Item]:
    """One test of all arguments that are known beforehand; none where there are none."""
    known = [pair for parameter in interface.parameters for pair in known_leaves(parameter)]
    if not known:
        return []
    tests = [_differs(path, value) for path, value in known]
    test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)
    error = ast.Call(ast.Name("ValueError"), [ast.Constant(_message(known))], [])
    return [Group(ast.If(test, [], []), [Line(ast.Raise(error, None))])]


def known_leaves(parameter: Any) -> Iterator[tuple[str, Any]]:
    """The objects in a parameter that are no variables, and how Python reaches each."""
    yield from _known_leaves(parameter.tree, parameter.name)


def _known_leaves(tree: Any, path: str) -> Iterator[tuple[str, Any]]:
    if tree is None or is_leaf(tree):
        if not isinstance(tree, ATOMS):
            yield path, tree
        return
    kind = kind_of(type(tree))
    static, children = kind.split(tree)
    children = list(children)
    for way, child in zip(kind.accessors(static, len(children)), children, strict=True):
        yield from _known_leaves(child, path + way)


def _differs(path: str, value: Any) -> ast.expr:
    """`kind != "sum"`, `bias is not None`, `not flag`; functions are compared by name."""
    found = ast.parse(path, mode="eval").body
    if value is None or value is Ellipsis:
        return ast.Compare(found, [ast.IsNot()], [ast.Constant(value)])
    if isinstance(value, bool):
        return ast.UnaryOp(ast.Not(), found) if value else found
    if isinstance(value, FUNCTIONS):
        name = ast.Attribute(found, "__name__")
        return ast.Compare(name, [ast.NotEq()], [ast.Constant(value.__name__)])
    tree = literal(value)
    if tree is None:
        raise NotSupported(
            f"{path} is a {type(value).__name__}, which has no place in a file of its own",
            instead="Pass numbers, strings, arrays, tuples, lists and dictionaries.")
    return ast.Compare(found, [ast.NotEq()], [tree])


def _message(known: list[tuple[str, Any]]) -> str:
    """The values where they fit into a line, else the names of their parameters."""
    values = ", ".join(f"{path}={_shown(value)}" for path, value in known)
    if len(values) <= LONGEST:
        return f"made for {values} alone"
    names = dict.fromkeys(path.partition("[")[0].partition(".")[0] for path, _ in known)
    return f"made for other values of {', '.join(names)}"


def _shown(value: Any) -> str:
    return value.__name__ if isinstance(value, FUNCTIONS) else repr(value)
