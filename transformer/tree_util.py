"""`transformer.tree` under the names of `jax.tree_util`.

    @register_pytree_node_class
    class Line:
        def __init__(self, slope, offset): ...
        def tree_flatten(self): return (self.slope, self.offset), None
        @classmethod
        def tree_unflatten(cls, static, parts): return cls(*parts)

The order of the leaves of a dictionary is that of its keys, not the alphabet's as in JAX. Paths are tuples of steps, as
in JAX; those of `transformer.tree` are texts.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from . import containers, tree
from .key_paths import DictKey, FlattenedIndexKey, GetAttrKey, SequenceKey, keystr

T = TypeVar("T", bound=type)

Partial = functools.partial

PyTreeDef = tree.Structure

__all__ = ["DictKey", "FlattenedIndexKey", "GetAttrKey", "Partial", "PyTreeDef", "SequenceKey", "all_leaves", "keystr",
           "register_dataclass", "register_pytree_node", "register_pytree_node_class", "register_pytree_with_keys",
           "register_pytree_with_keys_class", "register_static", "tree_all", "tree_broadcast", "tree_flatten",
           "tree_flatten_with_path", "tree_leaves", "tree_leaves_with_path", "tree_map", "tree_map_with_path",
           "tree_reduce", "tree_structure", "tree_transpose", "tree_unflatten"]

tree_all = tree.all
tree_broadcast = tree.broadcast
tree_flatten = tree.flatten
tree_leaves = tree.leaves
tree_map = tree.map
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


def tree_flatten_with_path(nested: Any, is_leaf: tree.IsLeaf = None
                           ) -> tuple[list[tuple[tuple[Any, ...], Any]], tree.Structure]:
    """The pairs of path, a tuple of steps, and leaf of a tree, and its structure.

    >>> tree_flatten_with_path({"b": [2.0]})
    ([((DictKey(key='b'), SequenceKey(idx=0)), 2.0)], {'b': [*]})
    """
    found, shape = tree.flatten(nested, is_leaf)
    return list(zip(shape.key_paths(), found, strict=True)), shape


def tree_leaves_with_path(nested: Any, is_leaf: tree.IsLeaf = None) -> list[tuple[tuple[Any, ...], Any]]:
    """The pairs of path, a tuple of steps, and leaf of a tree."""
    return tree_flatten_with_path(nested, is_leaf)[0]


def tree_map_with_path(f: Callable[..., Any], nested: Any, *rest: Any, is_leaf: tree.IsLeaf = None) -> Any:
    """Applies `f` to the path of each leaf, a tuple of steps, and to the leaf, together with those of further trees.

    >>> tree_map_with_path(lambda path, x: f"{keystr(path)} = {x}", {"w": 1.0, "b": [2.0]})
    {'w': "['w'] = 1.0", 'b': ["['b'][0] = 2.0"]}
    """
    paths = iter(tree.structure(nested, is_leaf).key_paths())
    return tree.map(lambda *parts: f(next(paths), *parts), nested, *rest, is_leaf=is_leaf)


def all_leaves(iterable: Iterable[Any], is_leaf: tree.IsLeaf = None) -> bool:
    """Whether all of these are leaves.

    >>> all_leaves([1.0, "w"]), all_leaves([1.0, (2.0,)])
    (True, False)
    """
    return all(tree.structure(each, is_leaf) is tree.LEAF for each in iterable)


def register_pytree_with_keys(nodetype: type, flatten_with_keys: Callable[[Any], tuple[Iterable[Any], Hashable]],
                              unflatten_func: Callable[[Any, Sequence[Any]], Any], flatten_func: Any = None) -> None:
    """Registers a class whose children have steps in paths: ``flatten_with_keys(node)`` gives pairs of a step and a
    child, and what is static. `flatten_func`, which is faster in JAX, changes nothing."""
    containers.add(nodetype, containers.KeyedKind(flatten_with_keys, unflatten_func))


def register_pytree_with_keys_class(cls: T) -> T:
    """Registers a class by its methods `tree_flatten_with_keys` and `tree_unflatten`. Usable as a decorator."""
    register_pytree_with_keys(cls, lambda node: node.tree_flatten_with_keys(),
                              cls.tree_unflatten)  # type: ignore[attr-defined]
    return cls


def register_static(cls: T) -> T:
    """Registers a class whose instances, hashable and comparable, are static as a whole: they have no leaves."""
    tree.register(cls, lambda node: ((), node), lambda node, parts: node)
    return cls
