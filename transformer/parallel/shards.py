"""Results that lie on several devices."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..run.gpu.library import is_gpu_array
from .array import Array
from .on_device import on_host, read_only, there
from .sharded import rank
from .workers import failed, known

if TYPE_CHECKING:
    from .device import Device
    from .split import Split


class ShardedArray(NDArrayOperatorsMixin):
    """An array of which each device has a part: `shards`, along `axis`, which a shard has too if there are `several`
    places in it. It is put together when somebody looks at it as a whole (`gather`, or NumPy); handed to a `pmap`,
    the parts stay where they are. Of the whole there are `count` places, if the last ones were added to fill up.
    `maker` is the compiled function that made the parts, as long as nobody else has seen their memory. Other
    processes have `elsewhere` parts more: here are those of this process. `gpus` are the devices of the parts, where
    these are GPUs."""

    __array_priority__ = 100
    is_on_device = True

    def __init__(self, parts: Sequence[Any], axis: int = 0, several: bool = False, count: int | None = None,
                 maker: Any = None, elsewhere: int = 0, gpus: Sequence[Device] | None = None) -> None:
        self.gpus = gpus
        self.parts, self.axis, self.several, self._count, self.maker = parts, axis, several, count, maker
        self.elsewhere = elsewhere
        self._layout: Hashable = None

    @property
    def shards(self) -> list[Any]:
        """The parts, in the order of the devices, when all are known; nobody may write to them. Raises what a device
        raised."""
        self.maker = None
        if self.gpus is not None:
            return [Array(read_only(there(part, device)), device) for part, device in zip(self._known(), self.gpus)]
        return [protected(part) for part in self._known()]

    def on_host(self) -> list[Any]:
        """The parts as arrays of NumPy's."""
        return [on_host(part) if is_gpu_array(part) else part for part in self._known()]

    def _known(self) -> list[Any]:
        return [known(part) for part in self.parts]

    @property
    def is_own(self) -> bool:
        """Whether the parts may be written to when nobody needs this array any more."""
        return self.maker is not None and self.maker.is_compiled

    def give_up(self, error: BaseException) -> None:
        """From here on it is an error to look at the array."""
        self.parts = [failed("an array that was donated", error)] * len(self.parts)
        self._layout = None
        self.__dict__.pop("_whole", None)

    def gather(self) -> np.ndarray:
        """All parts in one array, which is kept, and cannot be written to."""
        return self._whole

    @cached_property
    def _whole(self) -> np.ndarray:
        whole: np.ndarray = (np.concatenate if self.several else np.stack)(self.on_host(), self.axis)
        if self._count is not None:
            whole = whole.take(range(self._count), self.axis)
        whole.setflags(write=False)
        return whole

    def lies_as(self, split: Split, axis: int) -> bool:
        """Whether each device has what it is to get by this split."""
        return self.axis % self.ndim == axis and len(self.parts) == split.devices \
            and self.several == (split.each is not None) and self.shape[axis] == split.count

    @property
    def layout(self) -> Hashable:
        """What a call of a pmap depends on; the same for the whole life of an array."""
        if self._layout is None:
            self._layout = self.dtype, self.shape, self.axis, self.several, len(self.parts)
        return self._layout

    def block_until_ready(self) -> ShardedArray:
        """Waits until all parts are computed. Raises what a device raised."""
        for part in self.shards if self.gpus is not None else self._known():
            if type(part) is Array:
                part.block_until_ready()
        return self

    def is_ready(self) -> bool:
        """Whether all parts are computed."""
        return all(getattr(getattr(part, "pending", part), "is_ready", True) for part in self.parts)

    @property
    def shape(self) -> tuple[int, ...]:
        part = known(self.parts[0])
        sizes = part.shape if rank(part) else np.shape(part)
        if self.several:
            place = self.axis % len(sizes)
            return (*sizes[:place], self._count or sizes[place] * len(self.parts), *sizes[place + 1:])
        place = self.axis % (len(sizes) + 1)
        return (*sizes[:place], len(self.parts), *sizes[place:])

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def dtype(self) -> np.dtype[Any]:
        part = known(self.parts[0])
        found: np.dtype[Any] = part.dtype if self.gpus is not None else np.asarray(part).dtype
        return found

    def __getattr__(self, name: str) -> Any:
        """Other attributes and methods of arrays are those of all parts in one."""
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"'ShardedArray' object has no attribute {name!r}")
        return getattr(self._whole, name)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __setitem__(self, at: Any, value: Any) -> None:
        raise TypeError("a sharded array is immutable; np.array(x) is a mutable copy")

    def __bool__(self) -> bool:
        return bool(self._whole)

    def __float__(self) -> float:
        return float(self._whole)

    def __int__(self) -> int:
        return int(self._whole)

    def __reduce__(self) -> Any:
        return np.array, (self._whole,)

    def __getitem__(self, at: Any) -> Any:
        if self.axis == 0 and not self.several and isinstance(at, int) and -len(self.parts) <= at < len(self.parts):
            return self.shards[at]
        return self._whole[at]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._whole, dtype=dtype) if copy or dtype is not None else self._whole

    __hash__: Any = None

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*map(_plain, inputs), **options)

    def __repr__(self) -> str:
        return f"ShardedArray({self._whole!r})"


def protected(part: Any) -> Any:
    """A part that cannot be written to."""
    if not isinstance(part, np.ndarray) or not part.flags.writeable:
        return part
    part = part.view()
    part.setflags(write=False)
    return part


def _plain(value: Any) -> Any:
    return value.gather() if isinstance(value, ShardedArray) else value
