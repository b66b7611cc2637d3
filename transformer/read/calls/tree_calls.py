"""Functions of `transformer.tree` that call a function of the program: for the leaves there are, which is known."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ... import tree

if TYPE_CHECKING:
    from ..reader import Reader


def mapped(reader: Reader, function: Any, first: Any, *rest: Any) -> Any:
    """`tree.map`."""
    return tree.map(lambda *parts: reader.call(function, parts, {}), first, *rest)


def mapped_with_path(reader: Reader, function: Any, first: Any, *rest: Any) -> Any:
    """`tree.map_with_path`."""
    return tree.map_with_path(lambda *parts: reader.call(function, parts, {}), first, *rest)


def reduced(reader: Reader, function: Any, nested: Any, *initializer: Any) -> Any:
    """`tree.reduce`."""
    return functools.reduce(lambda *parts: reader.call(function, parts, {}), tree.leaves(nested), *initializer)


def all_true(reader: Reader, nested: Any) -> Any:
    """`tree.all`."""
    return reader.call(all, (tree.leaves(nested),), {})


TREES: dict[Any, Any] = {tree.map: mapped, tree.map_with_path: mapped_with_path, tree.reduce: reduced,
                         tree.all: all_true}
