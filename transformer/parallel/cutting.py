"""The arguments of a call, cut into what each device gets.

    in_axes=(None, 0) for (w, x), x of 8 rows, 4 devices        w: shared        x: rows 0…1, 2…3, 4…5, 6…7
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import tree
from ..core.errors import BadArgument
from ..transform.lane_axes import BY_KEYWORD, SHARED, Axes, as_shared, spread
from .device import Device
from .sharded import Sharded
from .workers import known


@dataclass(frozen=True)
class Split:
    """How `count` examples go to devices: one to each, or `each` examples. The last one is repeated where there are
    not enough. Other processes have devices `elsewhere`, and examples of their own for these."""

    count: int
    devices: int
    each: int | None
    elsewhere: int = 0

    @property
    def is_padded(self) -> bool:
        return self.each is not None and self.each * self.devices > self.count

    def part(self, array: Any, axis: int, k: int) -> Any:
        """What device `k` gets of an array."""
        before = (slice(None),) * axis
        if self.each is None:
            return array[(*before, k)]
        if (k + 1) * self.each <= self.count:
            return array[(*before, slice(k * self.each, (k + 1) * self.each))]
        return array[(*before, np.minimum(np.arange(k * self.each, (k + 1) * self.each), self.count - 1))]


PLAIN = frozenset({np.ndarray, np.float64, float, int})       # leaves, which need no tree around them


@dataclass
class Given:
    """The arguments of a call, in which what differs is `Sharded`; `of_one` are those of the first device."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    devices: Sequence[Device]
    of_one: tuple[tuple[Any, ...], dict[str, Any]]
    split: Split


@dataclass(frozen=True)
class Mapped:
    """A leaf of the arguments which devices share out: its axis, as given, with its name and who says so."""

    axis: int
    name: str
    whose: str

    def count(self, value: Any) -> tuple[int, int]:
        """The axis counted from the front, and how many examples there are."""
        shape = getattr(value, "shape", ())
        if not -len(shape) <= self.axis < len(shape):
            raise BadArgument(f"{self.whose or 'pmap'} maps {self.name} along its axis {self.axis}, but it has "
                              f"{len(shape)} axes", argument=self.name,
                              instead="Give an array with an axis for the devices, or "
                                      f"{as_shared(self.whose, 'give')}.")
        axis = self.axis % len(shape)
        return axis, shape[axis]


class Cutting:
    """Cuts the arguments of calls. `entries` gives the axes for arguments of these names, `names` the names for so
    many arguments; with `pad` a rest is filled up."""

    def __init__(self, entries: Callable[[Sequence[str]], list[tuple[Axes, str]]],
                 names: Callable[[int], list[str]], pad: bool) -> None:
        self.entries, self.names, self.pad = entries, names, pad
        self._plans: dict[Hashable, list[Mapped | None]] = {}

    def cut(self, args: tuple[Any, ...], kwargs: dict[str, Any], devices: Sequence[Device], elsewhere: int = 0
            ) -> Given:
        """Raises `BadArgument` where axes do not fit, or examples do not go round."""
        is_flat = not kwargs and all(type(arg) in PLAIN for arg in args)
        structure: Any
        leaves, structure = (args, len(args)) if is_flat else tree.flatten((args, kwargs))
        plan = self._plans.get(structure)
        if plan is None:
            plan = self._plans[structure] = self._plan(args, kwargs)
        found = [(entry, *entry.count(leaf)) for leaf, entry in zip(leaves, plan) if entry is not None]
        split = self._split([(entry.name, count) for entry, _, count in found], len(devices), elsewhere)
        axes = iter([axis for _, axis, _ in found])
        cut = [leaf if entry is None else Sharded(_parts(leaf, next(axes), split)) for leaf, entry in zip(leaves, plan)]
        first = [known(leaf.parts[0]) if type(leaf) is Sharded else leaf for leaf in cut]
        used = devices[:split.devices]
        if is_flat:
            return Given(tuple(cut), kwargs, used, (tuple(first), kwargs), split)
        args, kwargs = tree.unflatten(structure, cut)
        return Given(args, kwargs, used, tree.unflatten(structure, first), split)

    def _plan(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Mapped | None]:
        names = self.names(len(args))
        whole = [(arg, *entry, name) for arg, entry, name in zip(args, self.entries(names), names)]
        whole += [(arg, 0, BY_KEYWORD, name) for name, arg in kwargs.items()]
        return [entry for each in whole for entry in _entries(*each)]

    def _split(self, counts: list[tuple[str, int]], devices: int, elsewhere: int) -> Split:
        if not counts:
            raise BadArgument("pmap has nothing to map over", why="No argument has an axis of devices.",
                              instead="Give an axis in in_axes.")
        name, count = counts[0]
        for other, size in counts:
            if size != count:
                raise BadArgument(f"pmap maps {name} over {count} examples and {other} over {size}", argument=other,
                                  instead="Give arrays with as many parts, or None in in_axes for what is shared.")
        if elsewhere and count < devices:
            raise BadArgument(f"pmap maps {name} over {count} examples, and this process has {devices} of its devices",
                              argument=name, instead="Give examples for all devices of each process.")
        if count <= devices:
            return Split(count, count, None, elsewhere)
        if count % devices and not self.pad:
            raise BadArgument(f"pmap maps {name} over {count} examples, which {devices} devices cannot share evenly",
                              argument=name, instead=f"Give a multiple of {devices}, or say pad=True: then the last "
                                                     "example is repeated, and its results left out.")
        return Split(count, devices, -(-count // devices), elsewhere)


def _entries(arg: Any, axes: Axes, whose: str, name: str) -> list[Mapped | None]:
    entries = tree.leaves(spread(axes, arg, whose, name))
    return [None if entry is SHARED else Mapped(entry.axis, name + path, entry.whose)
            for entry, path in zip(entries, tree.structure(arg).paths())]


def _parts(leaf: Any, axis: int, split: Split) -> list[Any]:
    """What each device gets; what lies there already stays."""
    from .shards import ShardedArray
    if isinstance(leaf, ShardedArray) and leaf.lies_as(split, axis):
        return list(leaf.parts)
    array = np.asarray(leaf)
    return [split.part(array, axis, k) for k in range(split.devices)]
