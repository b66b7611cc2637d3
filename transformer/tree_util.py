"""`transformer.tree` under the names of `jax.tree_util`.

    @register_pytree_node_class
    class Line:
        def __init__(self, slope, offset): ...
        def tree_flatten(self): return (self.slope, self.offset), None
        @classmethod
        def tree_unflatten(cls, static, parts): return cls(*parts)

The order of the leaves of a dictionary is that of its keys, not the alphabet's as in JAX, and paths are texts.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from . import tree

T = TypeVar("T", bound=type)

Partial = functools.partial

tree_all = tree.all
tree_flatten = tree.flatten
tree_leaves = tree.leaves
tree_leaves_with_path = tree.leaves_with_path
tree_map = tree.map
tree_map_with_path = tree.map_with_path
tree_reduce = tree.reduce
tree_structure = tree.structure
tree_transpose = tree.transpose
tree_unflatten = tree.unflatten


def register_pytree_node(nodetype: type, flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]],
                         unflatten_func: Callable[[Any, Sequence[Any]], Any]) -> None:
    """`transformer.tree.register`."""
    tree.register(nodetype, flatten_func, unflatten_func)


def register_pytree_node_class(cls: T) -> T:
    """Registers a class by its methods `tree_flatten`, which gives the children and what is static, and
    `tree_unflatten`, a class method that takes what is static and the children. Usable as a decorator."""
    tree.register(cls, lambda node: node.tree_flatten(), cls.tree_unflatten)  # type: ignore[attr-defined]
    return cls


def register_dataclass(nodetype: T, data_fields: Sequence[str] | None = None,
                       meta_fields: Sequence[str] | None = None) -> T:
    """Registers a class of which `data_fields` are children and `meta_fields` static, as `jax.tree_util` does. Of a
    dataclass that says nothing, all fields are children; dataclasses need not be registered for that."""
    if data_fields is None and meta_fields is None and dataclasses.is_dataclass(nodetype):
        return nodetype
    data, static = tuple(data_fields or ()), tuple(meta_fields or ())

    def apart(node: Any) -> tuple[Iterable[Any], Hashable]:
        return [getattr(node, name) for name in data], tuple([getattr(node, name) for name in static])

    def together(meta: Any, parts: Sequence[Any]) -> Any:
        return nodetype(**dict(zip(data, parts, strict=True)), **dict(zip(static, meta, strict=True)))

    tree.register(nodetype, apart, together, names=data)
    return nodetype
