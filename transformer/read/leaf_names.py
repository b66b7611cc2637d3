"""Names of the variables that stand for the leaves of an argument: the end of the way to a leaf, as long as needed.

>>> names = LeafNames(["model.layers[0].W", "model.layers[1].W", "model.scale"])
>>> names.name("model.scale", "scale", set()), names.name("model.layers[0].W", "W", set())
('scale', 'layers_0_W')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable


class LeafNames:
    """The names of leaves that are found at these `paths`."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._endings = Counter(ending for path in paths for ending in endings_of(path))

    def name(self, path: str, name: str, taken: Collection[str | None]) -> str:
        """The name of a leaf: that wished for, unless others would have it or it is `taken`; else the end of its path
        that no other leaf has."""
        return name if name not in taken and self._endings[(name,)] <= 1 else self._other_name(path, taken)

    def _other_name(self, path: str, taken: Collection[str | None]) -> str:
        ends = ["_".join(ending) for ending in endings_of(path) if self._endings[ending] == 1]
        wanted = next((end for end in ends if end.isidentifier() and end not in taken), "_".join(_words(path)))
        name, number = wanted, 1
        while name in taken:
            number += 1
            name = f"{wanted}{number}"
        return name


def name_of(way: str, outer: str) -> str:
    """The name of a child: its own where it has one, else that of its container with a number."""
    word = "_".join(_words(way))
    return word if word.isidentifier() else f"{outer}_{word}"


def endings_of(path: str) -> list[tuple[str, ...]]:
    """The last word of a path, its last two words, and so on.

    >>> endings_of("layers[0].W")
    [('W',), ('0', 'W'), ('layers', '0', 'W')]
    """
    words = tuple(_words(path))
    return [words[k:] for k in range(len(words) - 1, -1, -1)]


def _words(path: str) -> list[str]:
    text = "".join(character if character.isalnum() or character == "_" else " " for character in path)
    return text.split()
