"""Tests in an emitted file that the arrays which the original writes share no memory with others.

    if np.shares_memory(x, y) or np.shares_memory(x, z):
        raise ValueError('x is written, and shares memory with y or z')
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ..core.grammar import Var
from .layout import Group, Item, Line
from .numbers import of_numpy


def memory_tests(interface: Any, name: Any) -> Iterator[Item]:
    """One test for each array that is written; `name` gives the tree of a parameter."""
    others: dict[Var, list[Var]] = {}
    for written, other in interface.apart:
        others.setdefault(written, []).append(other)
    for written, found in others.items():
        shared: list[ast.expr] = [_shares(name(written), name(other)) for other in found]
        test = shared[0] if len(shared) == 1 else ast.BoolOp(ast.Or(), shared)
        names = " or ".join(ast.unparse(name(other)) for other in found)
        text = f"{ast.unparse(name(written))} is written, and shares memory with {names}"
        error = ast.Call(ast.Name("ValueError"), [ast.Constant(text)], [])
        yield Group(ast.If(test, [], []), [Line(ast.Raise(error, None))])


def class_tests(interface: Any, name: Any) -> Iterator[Item]:
    """That what has to be an array without axes is one, and what has to be a number is none: the original
    changes the one for all its names, and binds the other anew."""
    for var, is_array in interface.classes:
        test: ast.expr = ast.Call(ast.Name("isinstance"), [name(var), of_numpy("ndarray")], [])
        what = "an array without axes, not a number" if is_array else "a number, not an array"
        error = ast.Call(ast.Name("TypeError"), [ast.Constant(f"{ast.unparse(name(var))} must be {what}")], [])
        test = ast.UnaryOp(ast.Not(), test) if is_array else test
        yield Group(ast.If(test, [], []), [Line(ast.Raise(error, None))])


def _shares(one: ast.expr, other: ast.expr) -> ast.expr:
    return ast.Call(of_numpy("shares_memory"), [one, other], [])
