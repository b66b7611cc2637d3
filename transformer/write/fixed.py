"""Tests in an emitted file of what its arguments are beside their shapes.

A function read for ``kind="sum"`` and two layers knows nothing of other kinds and of further
layers, so its file refuses them:

    if kind != "sum" or not flag:
        raise ValueError("made for kind='sum', flag=True alone")
    if len(layers) != 2:
        raise ValueError("made for 2 items in layers alone")

The static fields of dataclasses are known beforehand, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from ..containers import kind_of
from ..core.errors import NotSupported
from .layout import Group, Item, Line
from .signature import ATOMS, is_leaf, literal

LONGEST = 50  # characters of values in a message
LAMBDA = (lambda: None).__name__
FUNCTIONS = (FunctionType, BuiltinFunctionType, np.ufunc, type)


def fixed_tests(interface: Any) -> list[Item]:
    """Tests of the containers among the arguments, and of what is known beforehand."""
    nodes = [pair for p in interface.parameters for pair in nodes_of(p.tree, p.name)]
    known = [(path, tree) for path, tree in nodes if tree is None or is_leaf(tree)]
    known += [(path + way, value) for path, tree in nodes for way, value in _settings(path, tree)]
    return [*_structure_tests(nodes), *_value_tests(known)]


def nodes_of(tree: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The containers in a tree and its leaves that are no variables, with the way to each."""
    if isinstance(tree, ATOMS):
        return
    yield path, tree
    if tree is None or is_leaf(tree):
        return
    kind = kind_of(type(tree))
    static, children = kind.split(tree)
    children = list(children)
    for way, child in zip(kind.accessors(static, len(children)), children, strict=True):
        yield from nodes_of(child, path + way)


def _settings(path: str, tree: Any) -> Sequence[tuple[str, Any]]:
    """The values of the static fields of a container, with the way to each."""
    if tree is None or is_leaf(tree):
        return ()
    kind = kind_of(type(tree))
    static, _ = kind.split(tree)
    found = kind.settings(static)
    if found is None:
        raise NotSupported(
            f"{path} is a {type(tree).__name__}, registered with {static!r} beside its children, which a standalone"
            " file cannot check",
            instead='Make it a dataclass with field(metadata={"static": True}), or pass it as a separate argument.')
    return found


def _structure_tests(nodes: list[tuple[str, Any]]) -> Iterator[Item]:
    """`len(xs) != 2`, `params.keys() != {"w", "b"}`: further items would be left out silently; and
    `type(layer).__name__ != "Dense"`: another class has other methods."""
    for path, tree in nodes:
        found = ast.parse(path, mode="eval").body
        if type(tree) in (list, tuple):
            length = ast.Call(ast.Name("len"), [found], [])
            test = ast.Compare(length, [ast.NotEq()], [ast.Constant(len(tree))])
            yield _refuse(test, f"made for {len(tree)} items in {path} alone")
        elif isinstance(tree, dict):
            yield _refuse(_has_other_keys(found, tree), _message_of_keys(path, tree))
        elif tree is not None and not is_leaf(tree):
            name = ast.Attribute(ast.Call(ast.Name("type"), [found], []), "__name__")
            test = ast.Compare(name, [ast.NotEq()], [ast.Constant(type(tree).__name__)])
            yield _refuse(test, f"made for {path} of the class {type(tree).__name__} alone")


def _has_other_keys(found: ast.expr, tree: dict[Any, Any]) -> ast.expr:
    keys = [literal(key) for key in tree]
    if not keys:
        return found
    if any(key is None for key in keys):
        raise NotSupported(
            "a dictionary has keys that cannot be written as source",
            instead="Use strings or numbers as keys.",
        )
    return ast.Compare(ast.Call(ast.Attribute(found, "keys"), [], []), [ast.NotEq()], [ast.Set(keys)])  # type: ignore[arg-type]


def _message_of_keys(path: str, tree: dict[Any, Any]) -> str:
    keys = ", ".join(map(str, tree)) or "none"
    return f"made for {path} with the keys {keys if len(keys) <= LONGEST else 'above'} alone"


def _value_tests(known: list[tuple[str, Any]]) -> Iterator[Item]:
    """One test of all values that are known beforehand; none where there are none."""
    if known:
        tests = [_differs(path, value) for path, value in known]
        yield _refuse(tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests), _message(known))


def _refuse(test: ast.expr, message: str) -> Item:
    error = ast.Call(ast.Name("ValueError"), [ast.Constant(message)], [])
    return Group(ast.If(test, [], []), [Line(ast.Raise(error, None))])


def _differs(path: str, value: Any) -> ast.expr:
    """`kind != "sum"`, `bias is not None`, `not flag`; functions are compared by name."""
    found = ast.parse(path, mode="eval").body
    if value is None or value is Ellipsis:
        return ast.Compare(found, [ast.IsNot()], [ast.Constant(value)])
    if isinstance(value, bool):
        return ast.UnaryOp(ast.Not(), found) if value else found
    if isinstance(value, FUNCTIONS):
        if value.__name__ == LAMBDA:
            raise NotSupported(f"{path} is a lambda, which a standalone file cannot identify",
                               instead="Give it a name: def f(x): ...")
        name = ast.Attribute(found, "__name__")
        return ast.Compare(name, [ast.NotEq()], [ast.Constant(value.__name__)])
    tree = literal(value)
    if tree is None:
        kind = type(value)
        raise NotSupported(
            f"{path} is a {kind.__name__}, which is not supported in a standalone file",
            instead="Pass numbers, strings, arrays, tuples, lists and dictionaries.",
        )
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
