"""The classes that are inner nodes of trees: how each is taken apart, rebuilt, reached and shown.

`transformer.tree` is the face of this module. A kind holds no reference to the class it serves, so
that a class made inside a function can be freed.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

Flatten = Callable[[Any], tuple[Iterable[Any], Hashable]]
Unflatten = Callable[[Any, Sequence[Any]], Any]


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
    def __init__(self, flatten: Flatten, unflatten: Unflatten, names: Sequence[str]) -> None:
        super().__init__(names)
        self.flatten = flatten
        self.unflatten = unflatten
        self.is_said, self.is_named = bool(names), bool(names)

    def split(self, tree: Any) -> tuple[Any, Sequence[Any]]:
        found, static = self.flatten(tree)
        children = tuple(found)
        if not self.is_named:
            self.is_named, self.names = True, self._attributes(static, len(children))
        if not self.is_said and len(children) != len(self.names):
            self.names = ()
        if self.names and len(children) != len(self.names):
            raise ValueError(
                f"{type(tree).__qualname__} is registered with the children "
                f"{', '.join(self.names)}, but its flatten returned {len(children)}"
            )
        return static, children

    def _attributes(self, static: Any, count: int) -> tuple[str, ...]:
        """The attributes in which a node holds its children: where those of one that is made for this are found. None
        where it does not take any object, or holds them elsewhere."""
        children = [object() for _ in range(count)]
        try:
            held = vars(self.unflatten(static, children))
        except Exception:                               # whatever a class of the user's raises
            return ()
        names = [name for child in children for name, value in held.items() if value is child]
        return tuple(names) if len(names) == count else ()

    def build(self, cls: type, static: Any, children: list[Any]) -> Any:
        return self.unflatten(static, children)

    def settings(self, static: Any) -> Sequence[tuple[str, Any]] | None:
        return () if static is None or static == () else None

    def accessors(self, static: Any, count: int) -> Sequence[str]:
        numbered = Kind.accessors(self, static, count)
        return super().accessors(static, count) if self.names else numbered

    def show(self, cls: type, static: Any, texts: list[str]) -> str:
        shown = [_keywords(self.names, texts)] if self.names else list(texts)
        if static is not None:
            shown.append(f"static={static!r}")
        return f"{cls.__name__}({', '.join(shown)})"


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
        raise ValueError(f"{cls.__qualname__} is already a container of trees")
    lasting[cls] = kind
