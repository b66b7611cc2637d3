"""The steps of a path through a pytree, as `jax.tree_util` has them: a path is a tuple of these."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class SequenceKey:
    """An item of a list or tuple, by its number.

    >>> str(SequenceKey(1))
    '[1]'
    """

    idx: int
    __tree_leaf__: ClassVar[bool] = True

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    @property
    def bare(self) -> Any:
        return self.idx


@dataclass(frozen=True)
class DictKey:
    """A value of a dictionary, by its key.

    >>> str(DictKey("w"))
    "['w']"
    """

    key: Any
    __tree_leaf__: ClassVar[bool] = True

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    @property
    def bare(self) -> Any:
        return self.key


@dataclass(frozen=True)
class GetAttrKey:
    """An attribute, by its name.

    >>> str(GetAttrKey("w"))
    '.w'
    """

    name: str
    __tree_leaf__: ClassVar[bool] = True

    def __str__(self) -> str:
        return f".{self.name}"

    @property
    def bare(self) -> Any:
        return self.name


@dataclass(frozen=True)
class FlattenedIndexKey:
    """A child of a registered class that does not name its children, by its number.

    >>> str(FlattenedIndexKey(1))
    '[<flat index 1>]'
    """

    key: int
    __tree_leaf__: ClassVar[bool] = True

    def __str__(self) -> str:
        return f"[<flat index {self.key}>]"

    @property
    def bare(self) -> Any:
        return self.key


def keystr(keys: Iterable[Any], *, simple: bool = False, separator: str = "") -> str:
    """A path as text; `simple` leaves brackets and quotes out. A path that is a text already stays that text.

    >>> keystr((DictKey("w"), SequenceKey(0)))
    "['w'][0]"
    >>> keystr((DictKey("w"), SequenceKey(0)), simple=True, separator="/")
    'w/0'
    """
    if isinstance(keys, str):
        return keys
    return separator.join([str(getattr(key, "bare", key) if simple else key) for key in keys])
