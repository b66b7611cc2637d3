"""Arguments cut into what each device gets, and results that lie on all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .. import tree
from ..core.errors import BadArgument
from ..transform.lane_axes import BY_KEYWORD, SHARED, Axes, as_shared, is_axis, spread
from .device import Device
from .sharded import Sharded
from .workers import known


class ShardedArray(NDArrayOperatorsMixin):
    """An array of which each device has a part: `shards`, along `axis`, which a shard has too if there are `several`
    places in it. It is put together when somebody looks at it as a whole (`gather`, or NumPy); handed to a `pmap`,
    the parts stay where they are. Of the whole there are `count` places, if the last ones were added to fill up."""

    __array_priority__ = 100

    def __init__(self, parts: Sequence[Any], axis: int = 0, several: bool = False, count: int | None = None) -> None:
        self._parts, self.axis, self.several, self._count = parts, axis, several, count

    @property
    def shards(self) -> list[Any]:
        """The parts, in the order of the devices, when all are known. Raises what a device raised."""
        return [known(part) for part in self._parts]

    def gather(self) -> np.ndarray:
        """All parts in one array."""
        return self._whole

    @cached_property
    def _whole(self) -> np.ndarray:
        if not self.several:
            return np.stack(self.shards, self.axis)
        whole: np.ndarray = np.concatenate(self.shards, self.axis)
        return whole if self._count is None else whole.take(range(self._count), self.axis)

    def lies_as(self, split: Split, axis: int) -> bool:
        """Whether each device has what it is to get by this split."""
        return self.axis % self.ndim == axis and len(self._parts) == split.devices \
            and self.several == (split.each is not None) and self.shape[axis] == split.count

    def block_until_ready(self) -> ShardedArray:
        """Waits until all parts are computed. Raises what a device raised."""
        _ = self.shards
        return self

    def is_ready(self) -> bool:
        """Whether all parts are computed."""
        return all(getattr(getattr(part, "pending", part), "is_ready", True) for part in self._parts)

    @property
    def shape(self) -> tuple[int, ...]:
        sizes = np.shape(known(self._parts[0]))
        if self.several:
            place = self.axis % len(sizes)
            return (*sizes[:place], self._count or sizes[place] * len(self._parts), *sizes[place + 1:])
        place = self.axis % (len(sizes) + 1)
        return (*sizes[:place], len(self._parts), *sizes[place:])

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def dtype(self) -> np.dtype[Any]:
        found: np.dtype[Any] = np.asarray(known(self._parts[0])).dtype
        return found

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, at: Any) -> Any:
        if self.axis == 0 and not self.several and isinstance(at, int) and -len(self._parts) <= at < len(self._parts):
            return known(self._parts[at])
        return self._whole[at]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._whole, dtype=dtype) if copy or dtype is not None else self._whole

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*map(_plain, inputs), **options)

    def __repr__(self) -> str:
        return f"ShardedArray({self._whole!r})"


def _plain(value: Any) -> Any:
    return value.gather() if isinstance(value, ShardedArray) else value


# -- arguments -------------------------------------------------------------------------------------


@dataclass
class Given:
    """The arguments of a call, in which what differs is `Sharded`; `of_one` are those of the first device."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    devices: list[Device]
    of_one: tuple[tuple[Any, ...], dict[str, Any]]
    split: Split


@dataclass(frozen=True)
class Split:
    """How `count` examples go to devices: one to each, or `each` examples. The last one is repeated where there are
    not enough."""

    count: int
    devices: int
    each: int | None

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


def given(args: tuple[Any, ...], kwargs: dict[str, Any], names: Sequence[str], in_axes: Axes,
          devices: list[Device], pad: bool) -> Given:
    """Cuts the arguments of a call along their axes. Raises `BadArgument` where these do not fit."""
    entries = _entries(in_axes, len(args))
    cut = [_Argument(arg, axes, whose, name) for arg, (axes, whose), name in zip(args, entries, names)]
    named = {name: _Argument(arg, 0, BY_KEYWORD, name) for name, arg in kwargs.items()}
    split = _split([*cut, *named.values()], len(devices), pad)

    def all_of(take: Callable[[_Argument], Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return tuple(map(take, cut)), {name: take(each) for name, each in named.items()}

    of_one = all_of(lambda each: each.part(split, 0))
    return Given(*all_of(lambda each: each.sharded(split)), devices[:split.devices], of_one, split)


def _entries(in_axes: Axes, count: int) -> list[tuple[Axes, str]]:
    if is_axis(in_axes) or not isinstance(in_axes, (tuple, list)):
        return [(in_axes, "in_axes")] * count
    if len(in_axes) != count:
        raise BadArgument(f"in_axes has {len(in_axes)} entries for {count} arguments passed by position",
                          instead="Give one axis for each of them, None for what all devices share.")
    return [(axes, f"in_axes[{k}]") for k, axes in enumerate(in_axes)]


def _split(arguments: list[_Argument], devices: int, pad: bool) -> Split:
    """Which device gets what. Raises where arguments differ in how many examples there are, or these are more than
    devices and do not go round."""
    leaves = [leaf for each in arguments for leaf in each.leaves]
    found: list[tuple[str, int]] = [(leaf.name, leaf.count) for leaf in leaves if leaf.count is not None]
    if not found:
        raise BadArgument("pmap has nothing to map over", why="No argument has an axis of devices.",
                          instead="Give an axis in in_axes.")
    name, count = found[0]
    for other, size in found:
        if size != count:
            raise BadArgument(f"pmap maps {name} over {count} examples and {other} over {size}", argument=other,
                              instead="Give arrays with as many parts, or None in in_axes for what is shared.")
    if count <= devices:
        return Split(count, count, None)
    if count % devices and not pad:
        raise BadArgument(f"pmap maps {name} over {count} examples, which {devices} devices cannot share evenly",
                          argument=name, instead=f"Give a multiple of {devices}, or say pad=True: then the last "
                                                 "example is repeated, and its results left out.")
    return Split(count, devices, -(-count // devices))


class _Leaf:
    """A leaf of an argument; `count` is how many parts it has, None for what all devices share."""

    def __init__(self, value: Any, entry: Any, name: str) -> None:
        self.value, self.name = value, name
        self.count: int | None = None
        self.axis: int | None = None
        if entry is not SHARED:
            self._along(entry)

    def _along(self, entry: Any) -> None:
        shape = np.shape(self.value)
        if not -len(shape) <= entry.axis < len(shape):
            raise BadArgument(f"{entry.whose or 'pmap'} maps {self.name} along its axis {entry.axis}, but it has "
                              f"{len(shape)} axes", argument=self.name,
                              instead="Give an array with an axis for the devices, or "
                                      f"{as_shared(entry.whose, 'give')}.")
        self.axis = entry.axis % len(shape)
        self.count = np.shape(self.value)[entry.axis]

    def part(self, split: Split, k: int) -> Any:
        if self.axis is None:
            return self.value
        if isinstance(self.value, ShardedArray) and self.value.lies_as(split, self.axis):
            return self.value._parts[k]
        return split.part(np.asarray(self.value), self.axis, k)


class _Argument:
    """An argument with its leaves."""

    def __init__(self, arg: Any, axes: Axes, whose: str, name: str) -> None:
        leaves, self.structure = tree.flatten(arg)
        entries = tree.leaves(spread(axes, arg, whose, name))
        self.leaves = [_Leaf(leaf, entry, name + path)
                       for leaf, entry, path in zip(leaves, entries, self.structure.paths())]

    def part(self, split: Split, k: int) -> Any:
        return tree.unflatten(self.structure, [known(leaf.part(split, k)) for leaf in self.leaves])

    def sharded(self, split: Split) -> Any:
        return tree.unflatten(self.structure, [
            leaf.value if leaf.axis is None else Sharded([leaf.part(split, k) for k in range(split.devices)])
            for leaf in self.leaves])
