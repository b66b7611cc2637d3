"""The results of a driver, as the caller gets them: parts that stay on their devices, or what is the same on all.

    out_axes=(0, None) for (y, total)       y: a ShardedArray       total: a number of NumPy's
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..core.errors import BadArgument
from ..precision import narrowed
from ..run.gpu.library import fetched, is_gpu_array
from ..transform.batching.lane_axes import SHARED, Axes, spread
from .array import Array
from .device import Device
from .on_device import read_only, there
from .sharded import Sharded, rank
from .shards import ShardedArray
from .split import Split
from .workers import Pending, known

ALONE = frozenset({Sharded, np.ndarray, np.float64, np.float32, float})       # results without a tree around them


class Results:
    """Places the results of a driver along `out_axes`."""

    def __init__(self, out_axes: Axes) -> None:
        self.out_axes = out_axes
        self._entries: dict[Hashable, list[tuple[Any, str]]] = {}

    def placed(self, result: Any, split: Split, device: Device | None, hands_on: bool, waits: bool,
               narrow: bool = False, gpus: Sequence[Device] | None = None) -> Any:
        """The results; what is the same everywhere as an `Array` on the `device`, if there is one, or on all of the
        `gpus` that have it. With `waits` all of
        them are computed, or have failed; with `narrow` they have the dtypes that `Array`s may have. Raises
        `BadArgument` where what differs has no axis."""
        alone = type(result) in ALONE
        leaves, structure = ([result], tree.LEAF) if alone else tree.flatten(result)
        entries = self._entries.get(structure)
        if entries is None:
            axes = tree.leaves(spread(self.out_axes, result, "out_axes", "the result"))
            entries = self._entries[structure] = list(zip(axes, structure.paths()))
        is_alone = split.devices == 1 and split.each is not None and not split.elsewhere    # its lanes were compared
        made = [_common(leaf, path, device, gpus, is_alone) if axis is SHARED else
                _parted(leaf, axis.axis, split, hands_on, narrow and gpus is None, gpus)
                for leaf, (axis, path) in zip(leaves, entries)]
        if waits:
            _wait_for(made)
        return made[0] if alone else tree.unflatten(structure, made)


def _parted(leaf: Any, axis: int, split: Split, hands_on: bool, narrow: bool, gpus: Sequence[Device] | None
            ) -> ShardedArray:
    parts, maker = (leaf.parts, leaf.maker) if type(leaf) is Sharded else ([leaf] * split.devices, None)
    if narrow:
        parts = [narrowed(np.asarray(known(part))) for part in parts]
    count = split.count if split.is_padded else None
    return ShardedArray(parts, axis, split.each is not None, count, None if hands_on else maker,
                        split.elsewhere, gpus)


def _common(leaf: Any, path: str, device: Device | None, gpus: Sequence[Device] | None, is_alone: bool) -> Any:
    if type(leaf) is Sharded and not leaf.is_same and not is_alone:
        raise BadArgument(f"the result{path} differs from device to device, but its out_axes is None",
                          instead="Pass the axis for the devices, such as 0, or return the result of psum or pmean.")
    value = known(leaf.parts[0]) if type(leaf) is Sharded else leaf
    if device is None:
        return fetched(value) if is_gpu_array(value) else value
    if gpus is not None and type(leaf) is Sharded and rank(value):
        return _on_all(leaf, gpus, device)
    return Array(read_only(there(value, device)), device) if isinstance(value, (np.ndarray, np.generic)) \
        or is_gpu_array(value) else value


def _on_all(result: Sharded, gpus: Sequence[Device], device: Device) -> Array:
    """What all of these have as an `Array` on a device, which keeps their copies for the next call."""
    parts = result.values()
    own = parts[gpus.index(device) if device in gpus else 0]
    array = Array(read_only(there(own, device)), device)
    array.copies = tuple(gpus), parts
    return array


def _wait_for(made: list[Any]) -> None:
    """Waits until everything is computed. Raises nothing: errors come where values are looked at."""
    for leaf in made:
        for part in leaf.parts if type(leaf) is ShardedArray else ():
            pending = getattr(part, "pending", part)
            if isinstance(pending, Pending):
                pending.wait()
