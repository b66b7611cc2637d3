"""A record of every change that reading makes, so that a branch can be read and taken back.

What changes is a *place*: a name in a frame, the current version of an array, an item of a
dictionary, the contents of a list, an attribute. All writes go through `Journal.write`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

from ...core.grammar import Block
from ...core.naming import OwnName, ResultName
from ...ops.value import Value
from ..desugar.blocks import SILENT
from ..values import ABSENT, View, known_of


class Place:
    """Something that holds a value. `holder` is kept alive, so that its identity stays unique."""

    __slots__ = ("holder", "key")

    def __init__(self, holder: Any, key: Any = None) -> None:
        self.holder = holder
        self.key = key

    @property
    def identity(self) -> Hashable:
        return type(self), id(self.holder), self.key

    @property
    def name(self) -> str | None:
        """What a person calls what is held here."""
        return self.key if isinstance(self.key, str) else None

    def get(self) -> Any:
        raise NotImplementedError

    def set(self, value: Any) -> None:
        raise NotImplementedError

    def value(self) -> Any:
        """What is held, as a value that reading can work with."""
        return self.get()

    def of_value(self, value: Any) -> Any:
        """What `set` takes to make `value` give this."""
        return value


class Item(Place):
    """An item of a dictionary: of a name in a frame, or of a user's dictionary, whatever its class makes of items."""

    __slots__ = ()

    def get(self) -> Any:
        return dict.get(self.holder, self.key, ABSENT)

    def set(self, value: Any) -> None:
        if value is ABSENT:
            base_of_dict(self.holder).pop(self.holder, self.key, None)
        else:
            base_of_dict(self.holder).__setitem__(self.holder, self.key, value)


class Form(Item):
    """An item that becomes the same in another form: a list held in arrays."""

    __slots__ = ()

    @property
    def identity(self) -> Hashable:
        return Item, id(self.holder), self.key


class Field(Item):
    """An attribute of an object whose class holds another value for it, `default`."""

    __slots__ = ("default",)

    def __init__(self, holder: Any, key: Any, default: Any) -> None:
        super().__init__(holder, key)
        self.default = default

    def get(self) -> Any:
        return dict.get(self.holder, self.key, self.default)


class Keys(Place):
    """Which keys a dictionary has, in their order."""

    __slots__ = ()

    def get(self) -> Any:
        return tuple(dict.keys(self.holder))

    def set(self, value: Any) -> None:
        base = base_of_dict(self.holder)
        for key in value:
            if dict.__contains__(self.holder, key):
                base.__setitem__(self.holder, key, base.pop(self.holder, key))


def base_of_dict(holder: dict[Any, Any]) -> type[dict[Any, Any]]:
    """The class whose methods change a dictionary: `OrderedDict` has its own list of keys."""
    return OrderedDict if isinstance(holder, OrderedDict) else dict


class OwnNames(dict[str, Any]):
    """The names in a frame of a function of ours, which binds them wherever they are used."""


class Name(Item):
    """A name in a frame: `holder` is the dictionary of its names. Those of our own have points, as no name of a user's
    has, or are those of our own functions."""

    __slots__ = ()

    @property
    def name(self) -> str:
        name = self.key.removesuffix(SILENT).replace(".", "_")
        if self.key.endswith(SILENT):
            return ResultName(name)
        return OwnName(name) if "." in self.key or isinstance(self.holder, OwnNames) else name


class Cell(Place):
    """The current version of an array."""

    __slots__ = ()

    @property
    def name(self) -> str | None:
        return getattr(self.holder.atom, "name", None)

    def get(self) -> Any:
        return self.holder.atom

    def set(self, value: Any) -> None:
        self.holder.atom = value

    def value(self) -> Any:
        return Value(self.holder.atom)

    def of_value(self, value: Any) -> Any:
        return value.atom


class Contents(Place):
    """All that is in a list or set."""

    __slots__ = ()

    def get(self) -> Any:
        return tuple(self.holder)

    def set(self, value: Any) -> None:
        if isinstance(self.holder, list):
            list.__setitem__(self.holder, slice(None), value)
        else:
            self.holder.clear()
            self.holder.update(value)


class Attribute(Place):
    """An attribute of an object."""

    __slots__ = ()

    def get(self) -> Any:
        try:
            return object.__getattribute__(self.holder, self.key)
        except AttributeError:
            return ABSENT

    def set(self, value: Any) -> None:
        if value is not ABSENT:
            object.__setattr__(self.holder, self.key, value)
        elif self.get() is not ABSENT:
            object.__delattr__(self.holder, self.key)


class Seen(Place):
    """Which part of its base a view has seen: taken back with the block that it was read in."""

    __slots__ = ()

    def get(self) -> Any:
        return self.holder.seen

    def set(self, value: Any) -> None:
        self.holder.seen = value


class Journal:
    """The changes made so far, oldest first."""

    def __init__(self) -> None:
        self._entries: list[tuple[Place, Any, tuple[int, ...]]] = []
        self.watched: list[Block] = []           # blocks of which it is noted how long they were at each change

    def write(self, place: Place, value: Any) -> None:
        """Changes what a place holds."""
        self._note(place, place.get())
        place.set(value)

    def _note(self, place: Place, old: Any) -> None:
        self._entries.append((place, old, tuple(map(len, self.watched))))

    def write_item(self, holder: dict[Any, Any], key: Any, value: Any) -> None:
        """Changes an item of a user's dictionary; ABSENT takes it out."""
        if (key in holder) is (value is ABSENT):
            self._note(Keys(holder), tuple(holder))
        self.write(Item(holder, key), value)

    def note_seen(self, view: View) -> None:
        self._note(Seen(view), view.seen)

    def mark(self) -> int:
        return len(self._entries)

    def rollback(self, mark: int) -> None:
        """Takes back every change since the mark."""
        while len(self._entries) > mark:
            place, old, _ = self._entries.pop()
            place.set(old)

    def at_first(self, place: Place) -> Any:
        """What a place held before its first change."""
        return next((old for each, old, _ in self._entries if each.identity == place.identity), place.get())

    def changes(self, mark: int) -> dict[Hashable, tuple[Place, Any]]:
        """The places that now hold something else than at the mark, and what they held then."""
        first: dict[Hashable, tuple[Place, Any]] = {}
        for place, old, _ in self._entries[mark:]:
            if not isinstance(place, Seen):
                first.setdefault(place.identity, (place, old))
        return {key: (place, old) for key, (place, old) in first.items() if _differs(place.get(), old)}

    def entries(self, mark: int) -> list[tuple[Place, Any, tuple[int, ...]]]:
        """Each change since the mark: the place, what it held, and how long the watched blocks were."""
        return self._entries[mark:]

    def apply(self, contents: dict[Hashable, tuple[Place, Any]]) -> None:
        """Writes what places held at another time; the order of keys when the items are there."""
        for place, value in sorted(contents.values(), key=lambda pair: isinstance(pair[0], Keys)):
            self.write(place, value)


def held_now(places: dict[Hashable, tuple[Place, Any]]) -> dict[Hashable, tuple[Place, Any]]:
    """The same places, each with what it holds now."""
    return {key: (place, place.get()) for key, (place, _) in places.items()}


def _differs(new: Any, old: Any) -> bool:
    if isinstance(new, tuple) and isinstance(old, tuple) and len(new) == len(old):
        return any(map(_differs, new, old))
    return new is not old and not (
        isinstance(new, (int, str)) and type(new) is type(old) and known_of(new) == known_of(old)
    )
