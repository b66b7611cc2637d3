"""The classes that are inner nodes of trees: how each is taken apart, rebuilt, reached and shown.

`transformer.tree` is the face of this module. A kind holds no reference to the class it serves, so
that a class made inside a function can be freed.
"""

from __future__ import annotations

import dataclasses
import operator
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from keyword import iskeyword
from typing import Any
from weakref import WeakKeyDictionary

from .key_paths import DictKey, FlattenedIndexKey, GetAttrKey, SequenceKey

Flatten = Callable[[Any], tuple[Iterable[Any], Hashable]]
Unflatten = Callable[[Any, Sequence[Any]], Any]
Key = tuple[Hashable, int] | None


class Kind:
    """Containers with numbered children and nothing else: `list`, and the base of all kinds.

    `static` is what a container knows besides its children: the keys of a dictionary, the static
    fields of a dataclass, what the `flatten` of a registered class returned.
    """

    def split(self, tree: Any) -> tuple[Any, Sequence[Any]]:
        """What is static in a container, and its children."""
        return None, tree

    def build(self, cls: type, static: Any, children: list[Any]) -> Any:
        return children

    def accessors(self, static: Any, count: int) -> Sequence[str]:
        """How Python writes the way from the container to each child."""
        return [f"[{k}]" for k in range(count)]

    def keys(self, static: Any, count: int) -> Sequence[Any]:
        """The steps from the container to each child, as `jax.tree_util` has them."""
        return [SequenceKey(k) for k in range(count)]

    def settings(self, static: Any) -> Sequence[tuple[str, Any]] | None:
        """What the children do not show of `static`, and how Python writes the way to each; None if there is no way."""
        return ()

    def show(self, cls: type, static: Any, texts: list[str]) -> str:
        """The container as text, given the texts of its children."""
        return f"[{', '.join(texts)}]"

    def matching_children(self, static: Any, tree: Any) -> Sequence[Any] | None:
        """The children of `tree` in the order of `static`, or None where they do not correspond."""
        found, children = self.split(tree)
        return children if found == static else None


class TupleKind(Kind):
    def build(self, cls: type, static: Any, children: list[Any]) -> Any:
        return tuple(children)

    def show(self, cls: type, static: Any, texts: list[str]) -> str:
        return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


class NoneKind(Kind):
    def split(self, tree: Any) -> tuple[Any, Sequence[Any]]:
        return None, ()

    def build(self, cls: type, static: Any, children: list[Any]) -> Any:
        return None

    def show(self, cls: type, static: Any, texts: list[str]) -> str:
        return "None"


class DictKind(Kind):
    """`dict` and `OrderedDict`; static are the keys, in their order."""

    def split(self, tree: Any) -> tuple[Any, Sequence[Any]]:
        return tuple(tree), list(tree.values())

    def build(self, cls: type, static: Any, children: list[Any]) -> Any:
        return cls(zip(static, children, strict=True))

    def accessors(self, static: Any, count: int) -> Sequence[str]:
        return [f"[{key!r}]" for key in static]

    def keys(self, static: Any, count: int) -> Sequence[Any]:
        return [DictKey(key) for key in static]

    def show(self, cls: type, static: Any, texts: list[str]) -> str:
        items = [f"{key!r}: {text}" for key, text in zip(static, texts, strict=True)]
        body = f"{{{', '.join(items)}}}"
        return body if cls is dict else f"{cls.__name__}({body})"

    def matching_children(self, static: Any, tree: Any) -> Sequence[Any] | None:
        same = len(tree) == len(static) and all(key in tree for key in static)
        return [tree[key] for key in static] if same else None


class DefaultDictKind(DictKind):
    """Static are the factory of missing values and the keys; another factory still matches."""

    def split(self, tree: Any) -> tuple[Any, Sequence[Any]]:
        return (tree.default_factory, tuple(tree)), list(tree.values())

    def build(self, cls: type, static: Any, children: list[Any]) -> Any:
        factory, keys = static
        return defaultdict(factory, zip(keys, children, strict=True))

    def accessors(self, static: Any, count: int) -> Sequence[str]:
        return super().accessors(static[1], count)

    def keys(self, static: Any, count: int) -> Sequence[Any]:
        return super().keys(static[1], count)

    def show(self, cls: type, static: Any, texts: list[str]) -> str:
        factory, keys = static
        name = getattr(factory, "__name__", repr(factory))
        return f"defaultdict({name}, {super().show(dict, keys, texts)})"

    def matching_children(self, static: Any, tree: Any) -> Sequence[Any] | None:
        return super().matching_children(static[1], tree)


class FieldsKind(Kind):
    """Containers whose children have names."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    def accessors(self, static: Any, count: int) -> Sequence[str]:
        return [f".{name}" for name in self.names]

    def keys(self, static: Any, count: int) -> Sequence[Any]:
        return [GetAttrKey(name) for name in self.names]

    def show(self, cls: type, static: Any, texts: list[str]) -> str:
        return f"{cls.__name__}({_keywords(self.names, texts)})"


class NamedTupleKind(FieldsKind):
    def build(self, cls: type, static: Any, children: list[Any]) -> Any:
        return tuple.__new__(cls, children)


class DataclassKind(FieldsKind):
    """Static are the values of the fields declared with `field(metadata={"static": True})`."""

    def __init__(self, cls: type) -> None:
        fields = dataclasses.fields(cls)
        super().__init__([field.name for field in fields if not field.metadata.get("static")])
        self.static_names = tuple(f.name for f in fields if f.metadata.get("static"))

    def split(self, tree: Any) -> tuple[Any, Sequence[Any]]:
        static = tuple([getattr(tree, name) for name in self.static_names])
        return static, [getattr(tree, name) for name in self.names]

    def settings(self, static: Any) -> Sequence[tuple[str, Any]]:
        return [(f".{name}", value) for name, value in zip(self.static_names, static, strict=True)]

    def build(self, cls: type, static: Any, children: list[Any]) -> Any:
        tree: Any = object.__new__(cls)
        for name, value in zip(self.names + self.static_names, [*children, *static], strict=True):
            object.__setattr__(tree, name, value)
        return tree

    def show(self, cls: type, static: Any, texts: list[str]) -> str:
        shown = texts + [repr(value) for value in static]
        return f"{cls.__name__}({_keywords(self.names + self.static_names, shown)})"


class RegisteredKind(FieldsKind):
    """Where `names` are not said, the ways to the children are found on a node that is made for this; they may depend
    on what is static."""

    def __init__(self, flatten: Flatten, unflatten: Unflatten, names: Sequence[str]) -> None:
        super().__init__(names)
        self.flatten = flatten
        self.unflatten = unflatten
        self._ways: dict[Key, Sequence[str]] = {}
        self._goings: dict[Key, Callable[[Any], tuple[Any, ...]]] = {}
        self._told: set[Key] = set()

    def split(self, tree: Any) -> tuple[Any, Sequence[Any]]:
        found, static = self.flatten(tree)
        children = tuple(found)
        if not self.names:
            self._look(tree, static, children)
        elif len(children) != len(self.names):
            raise ValueError(
                f"{type(tree).__qualname__} is registered with the children "
                f"{', '.join(self.names)}, but its flatten returned {len(children)}"
            )
        return static, children

    def _look(self, tree: Any, static: Any, children: Sequence[Any]) -> None:
        """Finds the ways to the children; there are none where this node has its children elsewhere."""
        key = _key(static, len(children))
        if key not in self._ways:
            self._go(key, self._ways_in_new(*key) if key else ())
        if self._ways[key] and not _are_at(self._goings[key], tree, children):
            if key in self._told:
                raise ValueError(f"this {type(tree).__qualname__} does not store its children where other instances of "
                                 f"its class do: at {', '.join(self._ways[key])}. Pass names= where it is registered")
            self._go(key, ())

    def _go(self, key: Key, ways: Sequence[str]) -> None:
        self._ways[key] = ways
        self._goings[key] = eval(f"lambda node: ({''.join([f'node{way}, ' for way in ways])})")

    def _ways_in_new(self, static: Any, count: int) -> Sequence[str]:
        """None where the class does not take any object as a child, or holds it elsewhere."""
        children = [object() for _ in range(count)]
        try:
            held = _held(self.unflatten(static, children))
        except Exception:                               # whatever a class of the user's raises
            return ()
        ways = {id(value): way for way, value in reversed(held)}
        return [ways[id(child)] for child in children] if all(id(child) in ways for child in children) else ()

    def build(self, cls: type, static: Any, children: list[Any]) -> Any:
        try:
            return self.unflatten(static, children)
        except Exception as error:
            error.add_note(f"{cls.__qualname__} is made of other objects than arrays, too, where trees are taken apart "
                           "and put together: let its unflatten set the attributes of object.__new__(…)")
            raise

    def settings(self, static: Any) -> Sequence[tuple[str, Any]] | None:
        return () if static is None or static == () else None

    def accessors(self, static: Any, count: int) -> Sequence[str]:
        if self.names:
            return super().accessors(static, count)
        key = _key(static, count)
        self._told.add(key)
        ways = self._ways.get(key, ())
        return ways if len(ways) == count else Kind.accessors(self, static, count)

    def keys(self, static: Any, count: int) -> Sequence[Any]:
        return super().keys(static, count) if self.names else [FlattenedIndexKey(k) for k in range(count)]

    def show(self, cls: type, static: Any, texts: list[str]) -> str:
        names = [way[1:] for way in self.accessors(static, len(texts))]
        shown = [_keywords(names, texts)] if all(map(str.isidentifier, names)) else list(texts)
        if static is not None:
            shown.append(f"static={static!r}")
        return f"{cls.__name__}({', '.join(shown)})"


class KeyedKind(RegisteredKind):
    """A class whose `flatten` gives pairs of a step and a child: what the steps are depends on what is static."""

    def __init__(self, flatten_with_keys: Flatten, unflatten: Unflatten) -> None:
        super().__init__(self._children, unflatten, ())
        self.flatten_with_keys = flatten_with_keys
        self._steps: dict[Key, Sequence[Any]] = {}

    def _children(self, tree: Any) -> tuple[Iterable[Any], Hashable]:
        found, static = self.flatten_with_keys(tree)
        pairs = list(found)
        self._steps[_key(static, len(pairs))] = [step for step, _ in pairs]
        return [child for _, child in pairs], static

    def keys(self, static: Any, count: int) -> Sequence[Any]:
        return self._steps[_key(static, count)]


def _key(static: Any, count: int) -> Key:
    """On what it depends where a node has its children; None if what is static cannot be looked up."""
    try:
        hash(static)
    except TypeError:
        return None
    return static, count


def _held(node: Any) -> list[tuple[str, Any]]:
    """What an object holds in attributes, and in lists, tuples and dictionaries there, with the way to each."""
    slots = [name for base in type(node).__mro__ for name in vars(base).get("__slots__", ()) if hasattr(node, name)]
    held = {**{name: getattr(node, name) for name in slots}, **getattr(node, "__dict__", {})}
    own = [(f".{name}", value) for name, value in held.items() if name.isidentifier() and not iskeyword(name)]
    return own + [(f"{way}[{key!r}]", item) for way, value in own if isinstance(value, list | tuple | dict)
                  for key, item in (value.items() if isinstance(value, dict) else enumerate(value))
                  if isinstance(key, str | int)]


def _are_at(going: Callable[[Any], tuple[Any, ...]], node: Any, children: Sequence[Any]) -> bool:
    try:
        return all(map(operator.is_, going(node), children))
    except (AttributeError, LookupError, TypeError):
        return False


def _keywords(names: Sequence[str], texts: Sequence[str]) -> str:
    return ", ".join([f"{name}={text}" for name, text in zip(names, texts, strict=True)])


LEAVES = Kind()  # the kind of every class that is no container

# Read directly by `tree`, which is on the path of every call; classes that may be freed are not
# in it unless they were registered.
lasting: dict[type, Kind] = {
    tuple: TupleKind(),
    list: Kind(),
    dict: DictKind(),
    OrderedDict: DictKind(),
    defaultdict: DefaultDictKind(),
    type(None): NoneKind(),
}
_passing: WeakKeyDictionary[type, Kind] = WeakKeyDictionary()
_HEAP_TYPE = 1 << 9  # set in `__flags__` of every class that may be freed


def kind_of(cls: type) -> Kind:
    """The kind of a class; classes without one of their own are leaves."""
    kind = lasting.get(cls) or _passing.get(cls)
    if kind is None:
        kind = _classify(cls)
        if cls.__flags__ & _HEAP_TYPE:
            _passing[cls] = kind
        else:
            lasting[cls] = kind
    return kind


def _classify(cls: type) -> Kind:
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return NamedTupleKind(cls._fields)
    if hasattr(cls, "__tree_leaf__"):            # dataclasses of ours that stand for a leaf
        return LEAVES
    return DataclassKind(cls) if dataclasses.is_dataclass(cls) else LEAVES


def add(cls: type, kind: Kind) -> None:
    """Give a class a kind. Raises ValueError if it is a built-in container or was added before."""
    if lasting.get(cls, LEAVES) is not LEAVES:
        raise ValueError(f"{cls.__qualname__} is already registered as a pytree container")
    lasting[cls] = kind
