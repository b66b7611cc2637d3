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
from ..core.on_devices import is_on_device
from ..run.gpu.devices import where
from ..run.gpu.library import is_gpu_array, stand_in
from ..run.gpu.streams import On
from ..transform.batching.batched import Batched
from ..transform.batching.lane_axes import SHARED, Axes, as_shared, spread
from .array import Array, device_among
from .device import NOTHING, Device
from .on_device import on_host
from .sharded import Sharded
from .shards import ShardedArray
from .split import Split
from .workers import known

PLAIN = frozenset({np.ndarray, np.float64, float, int})       # leaves, which need no tree around them


@dataclass
class Given:
    """The arguments of a call, in which what differs is `Sharded`; `of_one` are those of the first device. `held` are
    the arrays on devices among what was given, with whether they are donated; `is_owned` says whether there are arrays
    that their owner may write to."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    devices: Sequence[Device]
    of_one: tuple[tuple[Any, ...], dict[str, Any]]
    split: Split
    held: list[tuple[Any, bool]]
    is_owned: bool

    @property
    def device(self) -> Device | None:
        """The device of the `Array`s among them, if there are any."""
        return next((array.device for array, _ in self.held if type(array) is Array), None)


@dataclass(frozen=True)
class Mapped:
    """A leaf of the arguments that is divided among devices: its axis, as given, with its name and what says so."""

    axis: int
    name: str
    whose: str
    is_donated: bool

    def count(self, value: Any) -> tuple[int, int]:
        """The axis counted from the front, and how many examples there are."""
        shape = getattr(value, "shape", ())
        if not -len(shape) <= self.axis < len(shape):
            raise BadArgument(f"{self.whose or 'pmap'} maps {self.name} along its axis {self.axis}, but it has "
                              f"{len(shape)} axes", argument=self.name,
                              instead="Pass an array with an axis for the devices, or "
                                      f"{as_shared(self.whose, 'give')}.")
        axis = self.axis % len(shape)
        return axis, shape[axis]


@dataclass(frozen=True)
class Common:
    """A leaf of the arguments that devices share."""

    is_donated: bool


class Cutting:
    """Cuts the arguments of calls. Messages call the function `whose`; `mode` says which axes are divided among
    devices, `names` gives the names of so many arguments, `donated` are those whose memory nobody needs any more; with
    `pad`, an incomplete last part is filled up."""

    def __init__(self, whose: str, mode: Batched, names: Callable[[int], list[str]], donated: frozenset[str], pad: bool
                 ) -> None:
        self.whose, self.mode, self.names, self.donated, self.pad = whose, mode, names, donated, pad
        self._plans: dict[Hashable, list[Mapped | Common]] = {}

    def cut(self, args: tuple[Any, ...], kwargs: dict[str, Any], devices: Sequence[Device], elsewhere: int = 0
            ) -> Given:
        """Raises `BadArgument` where axes do not fit, or examples do not go round."""
        is_flat = not kwargs and all(type(arg) in PLAIN for arg in args)
        structure: Any
        leaves, structure = (args, len(args)) if is_flat else tree.flatten((args, kwargs))
        plan = self._plans.get(structure)
        if plan is None:
            plan = self._plans[structure] = self._plan(args, kwargs)
        held = [] if is_flat else self._held(leaves, plan)
        found = [(entry, *entry.count(leaf)) for leaf, entry in zip(leaves, plan) if type(entry) is Mapped]
        split = self._split([(entry.name, count) for entry, _, count in found], len(devices), elsewhere)
        axes, used = iter([axis for _, axis, _ in found]), devices[:split.devices]
        cut = [_sharded(leaf, next(axes), split, used, entry.is_donated and len(held) > 0 and _is_free(leaf, held))
               if type(entry) is Mapped else _common(leaf, used) for leaf, entry in zip(leaves, plan)]
        first = [known(leaf.parts[0]) if type(leaf) is Sharded else leaf for leaf in cut]
        if used[0].kind == "cuda":
            first = list(map(_typical, first))
        is_owned = any(isinstance(leaf, np.ndarray) for leaf in leaves)
        if is_flat:
            return Given(tuple(cut), kwargs, used, (tuple(first), kwargs), split, held, is_owned)
        args, kwargs = tree.unflatten(structure, cut)
        return Given(args, kwargs, used, tree.unflatten(structure, first), split, held, is_owned)

    def cutters(self, args: tuple[Any, ...], split: Split, used: Sequence[Device]) -> list[Callable[[Any], Any] | None]:
        """What cuts further arguments by position of the same kind; None for those that devices share."""
        names = self.names(len(args))
        return [_cutter(arg, _entries(arg, *entry, name, False), split, used)
                for arg, entry, name in zip(args, self.mode.entries(names), names)]

    def _plan(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Mapped | Common]:
        names = self.names(len(args))
        whole = [(arg, *entry, name) for arg, entry, name in zip(args, self.mode.entries(names), names)]
        whole += [(arg, *self.mode.by_keyword(name), name) for name, arg in kwargs.items()]
        return [entry for each in whole for entry in _entries(*each, each[-1] in self.donated)]

    def _held(self, leaves: Sequence[Any], plan: Sequence[Mapped | Common]) -> list[tuple[Any, bool]]:
        """The arrays on devices. Raises ValueError where two are on different ones."""
        held = [(leaf, entry.is_donated) for leaf, entry in zip(leaves, plan) if is_on_device(leaf)]
        arrays = [leaf for leaf, _ in held if type(leaf) is Array]
        if arrays:
            device_among(arrays, (), self.whose)
        return held

    def _split(self, counts: list[tuple[str, int]], devices: int, elsewhere: int) -> Split:
        if not counts:
            raise BadArgument("pmap has nothing to map over", why="No argument has a mapped axis.",
                              instead="Pass an axis in in_axes.")
        name, count = counts[0]
        if not count:
            raise BadArgument(f"pmap maps {name} over no examples", argument=name,
                              instead="Pass an array with one example for each device.")
        for other, size in counts:
            if size != count:
                raise BadArgument(f"pmap maps {name} over {count} examples and {other} over {size}", argument=other,
                                  instead="Pass arrays with the same number of examples, or None in in_axes for shared "
                                          "arguments.")
        if elsewhere and count < devices:
            raise BadArgument(f"pmap maps {name} over {count} examples, but this process has {devices} of its devices",
                              argument=name, instead="Pass examples for all devices of each process.")
        if count <= devices:
            return Split(count, count, None, elsewhere)
        if count % devices and not self.pad:
            raise BadArgument(f"pmap maps {name} over {count} examples, which {devices} devices cannot share evenly",
                              argument=name, instead=f"Pass a multiple of {devices}, or pad=True: then the last "
                                                     "example is repeated, and its extra results are dropped.")
        return Split(count, devices, -(-count // devices), elsewhere)


def _entries(arg: Any, axes: Axes, whose: str, name: str, is_donated: bool) -> list[Mapped | Common]:
    entries = tree.leaves(spread(axes, arg, whose, name))
    return [Common(is_donated) if entry is SHARED else Mapped(entry.axis, name + path, entry.whose, is_donated)
            for entry, path in zip(entries, tree.structure(arg).paths())]


def _cutter(arg: Any, entries: list[Mapped | Common], split: Split, used: Sequence[Device]
            ) -> Callable[[Any], Any] | None:
    leaves, structure = tree.flatten(arg)
    each = [_leaf_cutter(leaf, entry, split, used) for leaf, entry in zip(leaves, entries)]
    if not any(each):
        return None
    if structure is tree.LEAF:
        return each[0]
    return lambda arg: tree.unflatten(structure, [leaf if cut is None else cut(leaf)
                                                  for leaf, cut in zip(tree.leaves(arg), each)])


def _leaf_cutter(leaf: Any, entry: Mapped | Common, split: Split, used: Sequence[Device]
                 ) -> Callable[[Any], Any] | None:
    if not isinstance(entry, Mapped):
        return np.asarray if is_on_device(leaf) else None
    axis, _ = entry.count(leaf)
    if type(leaf) is ShardedArray:
        if not leaf.lies_as(split, axis):
            return lambda array: Sharded(split.parts(array.gather(), axis))
        return lambda array: _lying(array, used, False)
    return lambda array: Sharded(split.parts(array, axis))


def _typical(leaf: Any) -> Any:
    """What has the type and the shape of a leaf that may be on a GPU."""
    leaf = leaf._known() if type(leaf) is Array else leaf
    return stand_in(leaf) if is_gpu_array(leaf) else leaf


def _is_free(leaf: Any, held: Sequence[tuple[Any, bool]]) -> bool:
    """Whether the memory of what is donated may be written to: nobody else has it."""
    return type(leaf) is ShardedArray and leaf.is_own and sum(leaf is other for other, _ in held) == 1


def _sharded(leaf: Any, axis: int, split: Split, used: Sequence[Device], is_free: bool) -> Sharded:
    """What each device gets; what lies there already stays."""
    if type(leaf) is ShardedArray and leaf.lies_as(split, axis):
        return _lying(leaf, used, is_free)
    if used[0].kind != "cuda":
        return Sharded(split.parts(on_host(leaf) if is_gpu_array(leaf) else np.asarray(leaf), axis))
    array = leaf._known() if type(leaf) is Array else leaf if is_gpu_array(leaf) else np.asarray(leaf)
    with On(where(array)) if is_gpu_array(array) else NOTHING:
        return Sharded(split.parts(array, axis))


def _lying(array: ShardedArray, used: Sequence[Device], is_free: bool) -> Sharded:
    """The parts of an array. What other devices read than those that made it, nobody may write to: they are in no
    order."""
    if array.gpus is not None and used[0].kind != "cuda":
        return Sharded(array.on_host())
    if array.maker is not None and array.maker.devices != used:
        array.maker, is_free = None, False
    return Sharded(list(array.parts), is_free=is_free)


def _common(leaf: Any, used: Sequence[Device]) -> Any:
    if type(leaf) is Array and used[0].kind == "cuda":
        return leaf                              # goes from there to each
    return np.asarray(leaf) if is_on_device(leaf) else leaf
