"""Functions of `transformer.tree` that call a function of the program: for the leaves there are, which is known."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ... import tree, tree_util

if TYPE_CHECKING:
    from ..reader import Reader


def mapped(reader: Reader, function: Any, first: Any, *rest: Any, is_leaf: Any = None) -> Any:
    """`tree.map`."""
    _see(reader, first, *rest)
    return tree.map(_reading(reader, function), first, *rest, is_leaf=_reading(reader, is_leaf))


def mapped_with_path(reader: Reader, function: Any, first: Any, *rest: Any, is_leaf: Any = None) -> Any:
    """`tree.map_with_path`."""
    _see(reader, first, *rest)
    return tree.map_with_path(_reading(reader, function), first, *rest, is_leaf=_reading(reader, is_leaf))


def mapped_with_keys(reader: Reader, function: Any, first: Any, *rest: Any, is_leaf: Any = None) -> Any:
    """`tree_util.tree_map_with_path`."""
    _see(reader, first, *rest)
    return tree_util.tree_map_with_path(_reading(reader, function), first, *rest, is_leaf=_reading(reader, is_leaf))


def reduced(reader: Reader, function: Any, nested: Any, *initializer: Any, is_leaf: Any = None) -> Any:
    """`tree.reduce`."""
    _see(reader, nested, *initializer)
    leaves = tree.leaves(nested, _reading(reader, is_leaf))
    return functools.reduce(_reading(reader, function), leaves, *initializer)


def all_true(reader: Reader, nested: Any) -> Any:
    """`tree.all`."""
    _see(reader, nested)
    return reader.call(all, (tree.leaves(nested),), {})


def _until(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a tree that asks `is_leaf`."""
    def called(reader: Reader, nested: Any, is_leaf: Any = None) -> Any:
        from .calls import call_static
        asked = {} if is_leaf is None else {"is_leaf": _reading(reader, is_leaf)}
        return call_static(reader, function, (nested,), asked)
    return called


def _see(reader: Reader, *trees: Any) -> None:
    """Notes that what trees from outside hold may change."""
    for each in trees:
        reader.outside.seen_whole(each)


def _reading(reader: Reader, function: Any) -> Any:
    return None if function is None else lambda *parts: reader.call(function, parts, {})


ASKING = (tree.flatten, tree.leaves, tree.structure, tree.flatten_with_path, tree.leaves_with_path,
          tree_util.tree_flatten_with_path, tree_util.tree_leaves_with_path)
TREES: dict[Any, Any] = {tree.map: mapped, tree.map_with_path: mapped_with_path, tree.reduce: reduced,
                         tree.all: all_true, tree_util.tree_map_with_path: mapped_with_keys,
                         **{function: _until(function) for function in ASKING}}
