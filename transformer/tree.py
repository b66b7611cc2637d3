"""Pytrees: nested containers seen as a flat list of leaves and a structure.

A dictionary of parameters, a tuple of arrays, a NamedTuple of dictionaries: each is a tree whose
inner nodes are containers and whose leaves are everything else. A derivative is taken with respect
to the leaves and handed back in the same structure.

Containers are `tuple`, `list`, `dict`, `OrderedDict`, `defaultdict`, NamedTuples, dataclasses,
classes given to `register`, and `None`, which has no leaves. Other types are leaves; that includes
subclasses of containers, which are free to mean something else and may be registered.

>>> params = {"w": 1.0, "b": [2.0, 3.0]}
>>> flatten(params)
([1.0, 2.0, 3.0], {'w': *, 'b': [*, *]})
>>> map(lambda p: 10 * p, params)
{'w': 10.0, 'b': [20.0, 30.0]}

Keys of a dictionary keep their order of insertion. Two structures are equal only if their leaves
come in the same order, so that leaves of one fit the other; where two *trees* meet (`map`,
`Structure.leaves_of`), dictionaries are matched by key and the order of the first tree counts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

from transformer import containers
from transformer.containers import LEAVES, Kind, RegisteredKind, kind_of, lasting

__all__ = ["LEAF", "Structure", "all", "broadcast", "flatten", "flatten_with_path", "leaves", "leaves_with_path", "map",
           "map_with_path", "reduce", "register", "structure", "transpose", "unflatten"]

_SHOWN = 200  # characters of a structure in a message


class Structure:
    """A tree without its leaves. Not to be changed; hashable, comparable, picklable.

    `count` is the number of leaves, `children` the structures of the direct children, `cls` the
    class of the container and `static` what it knows besides its children (the keys of a
    dictionary, the static fields of a dataclass). `LEAF` is the structure of a leaf.
    """

    __slots__ = ("_hash", "_kind", "children", "cls", "count", "static")

    def __init__(self, kind: Kind, cls: type, static: Any, children: tuple[Structure, ...]) -> None:
        self._kind = kind
        self._hash: int | None = None
        self.cls = cls
        self.static = static
        self.children = children
        self.count: int = sum([child.count for child in children])

    @property
    def num_leaves(self) -> int:
        """`count`, as JAX calls it."""
        return self.count

    def accessors(self) -> Sequence[str]:
        """How Python writes the way to each direct child."""
        return self._kind.accessors(self.static, len(self.children))

    def paths(self) -> list[str]:
        """How Python writes the way to each leaf.

        >>> structure({"w": 1.0, "b": [2.0, 3.0]}).paths()
        ["['w']", "['b'][0]", "['b'][1]"]
        """
        pairs = zip(self.accessors(), self.children, strict=True)
        return [accessor + path for accessor, child in pairs for path in child.paths()]

    def key_paths(self) -> list[tuple[Any, ...]]:
        """The way to each leaf as a tuple of steps, as `jax.tree_util` has them.

        >>> structure({"b": [2.0]}).key_paths()
        [(DictKey(key='b'), SequenceKey(idx=0))]
        """
        pairs = zip(self._kind.keys(self.static, len(self.children)), self.children, strict=True)
        return [(step, *path) for step, child in pairs for path in child.key_paths()]

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """What a tree has where this structure has leaves: a tree itself, maybe.

        >>> structure({"w": 0, "b": 0}).flatten_up_to({"w": (1, 2), "b": None})
        [(1, 2), None]
        """
        found: list[Any] = []
        _collect(self, tree, "tree", found, True)
        return found

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """`transformer.tree.unflatten`."""
        return unflatten(self, leaves)

    def leaves_of(self, tree: Any, name: str = "tree") -> list[Any]:
        """The leaves of a tree of this structure, in the order of this structure.

        Raises ValueError, with the place written as an access to `name`, where they differ.

        >>> structure({"w": 0, "b": 0}).leaves_of({"b": 2, "w": 1})
        [1, 2]
        >>> structure({"w": 0, "b": [0, 0]}).leaves_of({"w": 1, "b": 2}, "tangents")
        Traceback (most recent call last):
        ValueError: tangents['b'] is a leaf of type int, expected [*, *]
        """
        found: list[Any] = []
        _collect(self, tree, name, found)
        return found

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Structure):
            return NotImplemented
        return (
            self.cls is other.cls
            and self.children == other.children
            and _same(self.static, other.static)
        )

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = self._find_hash()
        return self._hash

    def _find_hash(self) -> int:
        try:
            return hash((self.cls, self.static, self.children))
        except TypeError as error:
            raise TypeError(
                f"the static part {self.static!r} of {self.cls.__qualname__} is not hashable; "
                "make values that may change, or that contain arrays, children instead"
            ) from error

    def __repr__(self) -> str:
        return self._kind.show(self.cls, self.static, [repr(child) for child in self.children])

    def __reduce__(self) -> str | tuple[Any, ...]:
        return _restore, (self.cls, self.static, self.children)


class _Leaf(Structure):
    """The structure of every leaf: one object, equal to itself alone."""

    __slots__ = ()
    # Those of object, for speed: every call of a transformed function hashes its structures.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(self) -> None:
        super().__init__(LEAVES, object, None, ())
        self.count = 1

    def paths(self) -> list[str]:
        return [""]

    def key_paths(self) -> list[tuple[Any, ...]]:
        return [()]

    def __repr__(self) -> str:
        return "*"

    def __reduce__(self) -> str:
        return "LEAF"


LEAF: Structure = _Leaf()


IsLeaf = Callable[[Any], Any] | None


def flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], Structure]:
    """The leaves of a tree, from left to right, and its structure. A container for which `is_leaf` holds is a leaf.

    >>> flatten((1.0, None, {"x": 2.0}))
    ([1.0, 2.0], (*, None, {'x': *}))
    """
    found: list[Any] = []
    return found, _flatten(tree, found) if is_leaf is None else _flatten_until(tree, found, is_leaf)


def flatten_with_path(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[tuple[str, Any]], Structure]:
    """The pairs of path, as Python writes it, and leaf of a tree, and its structure.

    >>> flatten_with_path({"w": 1.0, "b": [2.0]})
    ([("['w']", 1.0), ("['b'][0]", 2.0)], {'w': *, 'b': [*]})
    """
    found, shape = flatten(tree, is_leaf)
    return list(zip(shape.paths(), found, strict=True)), shape


def unflatten(structure: Structure, leaves: Iterable[Any]) -> Any:
    """The tree of a structure with the given leaves; the inverse of `flatten`.

    Containers are new objects. A dataclass is rebuilt field by field, without its `__init__` and
    `__post_init__`: a gradient need not pass the checks that hold for the parameters.

    Raises ValueError if the number of leaves is not that of the structure.

    >>> unflatten(structure({"w": 0, "b": [0, 0]}), [1, 2, 3])
    {'w': 1, 'b': [2, 3]}
    """
    given = list(leaves)
    if len(given) != structure.count:
        raise ValueError(
            f"{_shorten(repr(structure))} has {structure.count} leaves, got {len(given)}"
        )
    return _build(structure, iter(given))


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Applies `f` to the leaves of a tree, together with those of further trees of the same structure.

    Dictionaries are matched by key. Raises ValueError if a further tree has another structure. With `is_leaf`, a
    container for which it holds is a leaf, and a further tree may have any tree where the first one has a leaf.

    >>> map(lambda p, g: p - 0.5 * g, {"w": 1.0, "b": 2.0}, {"b": 2.0, "w": 4.0})
    {'w': -1.0, 'b': 1.0}
    """
    first, shape = flatten(tree, is_leaf)
    others = [_corresponding(shape, other, f"tree {number}", is_leaf) for number, other in enumerate(rest, 2)]
    return _build(shape, iter([f(*parts) for parts in zip(first, *others, strict=True)]))


def map_with_path(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Applies `f` to the path of each leaf, as Python writes it, and to the leaf, together with those of further trees.

    >>> map_with_path(lambda path, p: p if path.endswith("['b']") else 0.5 * p, {"w": 1.0, "b": 2.0})
    {'w': 0.5, 'b': 2.0}
    """
    paths = iter(structure(tree, is_leaf).paths())
    return map(lambda *parts: f(next(paths), *parts), tree, *rest, is_leaf=is_leaf)


def reduce(f: Callable[[Any, Any], Any], tree: Any, *initializer: Any, is_leaf: IsLeaf = None) -> Any:
    """Computes ``f(f(f(initializer, leaf), leaf), ...)`` over all leaves, from left to right.

    Without `initializer` it begins with the first leaf. Raises TypeError if there is neither.

    >>> reduce(lambda total, p: total + p * p, {"w": 3.0, "b": [1.0, 2.0]}, 0.0)
    14.0
    """
    return functools.reduce(f, leaves(tree, is_leaf), *initializer)


def broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """A tree of the structure of `full_tree`, in which each leaf of `prefix_tree`, which ends above its leaves, stands
    at all leaves below.

    >>> broadcast({"w": 1, "b": 2}, {"w": (0.0, 0.0), "b": 0.0})
    {'w': (1, 1), 'b': 2}
    """
    found, shape = flatten(prefix_tree, is_leaf)
    parts = zip(found, shape.flatten_up_to(full_tree), strict=True)
    return unflatten(shape, [map(lambda _, leaf=leaf: leaf, part) for leaf, part in parts])


def all(tree: Any) -> bool:
    """Whether all leaves of a tree are true.

    >>> all({"w": True, "b": [1.0, 0.0]})
    False
    """
    return reduce(lambda so_far, leaf: so_far and bool(leaf), tree, True)


def transpose(outer: Structure, inner: Structure, tree: Any) -> Any:
    """Turns a tree of structure `outer`, whose leaves have structure `inner`, inside out: into a tree of structure
    `inner`, whose leaves have structure `outer`. Raises ValueError if it is not such a tree.

    >>> transpose(structure([0, 0]), structure({"a": 0, "b": 0}), [{"a": 1, "b": 2}, {"a": 3, "b": 4}])
    {'a': [1, 3], 'b': [2, 4]}
    """
    found, shape = flatten(tree)
    if shape.count != outer.count * inner.count:
        raise ValueError(f"the tree has {shape.count} leaves; there are {outer.count} outer ones of {inner.count} each")
    rows = [found[k * inner.count:(k + 1) * inner.count] for k in range(outer.count)]
    again = unflatten(outer, [unflatten(inner, row) for row in rows])
    if structure(again) != shape:
        raise ValueError(f"the tree is {_shorten(repr(shape))}, which is not {outer} with {inner} as leaves")
    return unflatten(inner, [unflatten(outer, column) for column in zip(*rows, strict=True)])


def leaves_with_path(tree: Any, is_leaf: IsLeaf = None) -> list[tuple[str, Any]]:
    """The pairs of path, as Python writes it, and leaf of a tree, from left to right.

    >>> leaves_with_path({"w": 1.0, "b": [2.0]})
    [("['w']", 1.0), ("['b'][0]", 2.0)]
    """
    return flatten_with_path(tree, is_leaf)[0]


def leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree, from left to right. A container for which `is_leaf` holds is a leaf.

    >>> leaves([1, (2, None), {"x": 3}])
    [1, 2, 3]
    """
    return flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: IsLeaf = None) -> Structure:
    """The structure of a tree. A container for which `is_leaf` holds is a leaf.

    >>> structure([1, (2,), None])
    [*, (*,), None]
    """
    return flatten(tree, is_leaf)[1]


def register(
    cls: type,
    flatten: Callable[[Any], tuple[Iterable[Any], Hashable]],
    unflatten: Callable[[Any, Sequence[Any]], Any],
    names: Sequence[str] = (),
) -> None:
    """Makes instances of a class inner nodes of trees.

    Args:
        flatten: ``flatten(node)`` returns the children, and whatever else rebuilding takes, hashable and comparable.
        unflatten: ``unflatten(static, children)`` rebuilds the node, with any objects as children.
        names: the attributes that hold the children, used in paths and generated code. Without them they are found on a
            node made by `unflatten`, also in lists there, or children are numbered.

    Subclasses are not included. Raises ValueError for a class that is already a container.

    >>> class Line:
    ...     def __init__(self, slope, offset):
    ...         self.slope, self.offset = slope, offset
    >>> register(Line, lambda line: ((line.slope, line.offset), None),
    ...          lambda static, children: Line(*children), names=("slope", "offset"))
    >>> structure([Line(1.0, 2.0)])
    [Line(slope=*, offset=*)]
    """
    containers.add(cls, RegisteredKind(flatten, unflatten, names))


def _flatten(tree: Any, found: list[Any]) -> Structure:
    cls = type(tree)
    kind = lasting.get(cls) or kind_of(cls)
    if kind is LEAVES:
        found.append(tree)
        return LEAF
    static, children = kind.split(tree)
    return Structure(kind, cls, static, tuple([_flatten(child, found) for child in children]))


def _flatten_until(tree: Any, found: list[Any], is_leaf: Callable[[Any], Any]) -> Structure:
    kind = kind_of(type(tree))
    if kind is LEAVES or is_leaf(tree):
        found.append(tree)
        return LEAF
    static, children = kind.split(tree)
    return Structure(kind, type(tree), static, tuple([_flatten_until(child, found, is_leaf) for child in children]))


def _corresponding(shape: Structure, tree: Any, name: str, is_leaf: IsLeaf) -> list[Any]:
    found: list[Any] = []
    _collect(shape, tree, name, found, is_leaf is not None)
    return found


def _build(shape: Structure, leaves: Iterator[Any]) -> Any:
    if shape is LEAF:
        return next(leaves)
    children = [_build(child, leaves) for child in shape.children]
    return shape._kind.build(shape.cls, shape.static, children)


def _restore(cls: type, static: Any, children: tuple[Structure, ...]) -> Structure:
    kind = kind_of(cls)
    if kind is LEAVES:
        raise ValueError(f"{cls.__qualname__} is not registered as a pytree container")
    return Structure(kind, cls, static, children)


def _collect(shape: Structure, tree: Any, place: str, found: list[Any], takes_trees: bool = False) -> None:
    """Append the leaves of `tree` in the order of `shape`, or the trees there; raise where the two differ."""
    kind = kind_of(type(tree))
    if shape is LEAF and (takes_trees or kind is LEAVES):
        found.append(tree)
        return
    if shape.cls is not type(tree):
        raise _mismatch(shape, tree, place)
    children = kind.matching_children(shape.static, tree)
    if children is None or len(children) != len(shape.children):
        raise _mismatch(shape, tree, place)
    for accessor, child, part in zip(shape.accessors(), shape.children, children, strict=True):
        _collect(child, part, place + accessor, found, takes_trees)


def _mismatch(shape: Structure, tree: Any, place: str) -> ValueError:
    met = structure(tree)
    found = f"a leaf of type {type(tree).__name__}" if met is LEAF else _shorten(repr(met))
    expected = "a leaf" if shape is LEAF else _shorten(repr(shape))
    return ValueError(f"{place} is {found}, expected {expected}")


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _same(a: Any, b: Any) -> bool:
    """Whether two static parts are one for a program: 1, 1.0 and True are three."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all([_same(x, y) for x, y in zip(a, b, strict=True)])
    if isinstance(a, float):
        return a.hex() == b.hex()
    return bool(a == b)
